"""FETR on the conformance kit."""

from matrixlearn_fetr import FETR

from matrixlearn.testing import parametrize_with_checks


@parametrize_with_checks([FETR])
def test_fetr(check):
    check()
