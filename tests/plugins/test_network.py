"""The conformance kit on GraphMultitask and its engines."""

from matrixlearn_network import GraphMultitask

from matrixlearn.testing import parametrize_with_checks


@parametrize_with_checks([GraphMultitask])
def test_kit(check):
    check()
