from matrixlearn_discrepancy import Discrepancy

from matrixlearn.testing import parametrize_with_checks


@parametrize_with_checks([Discrepancy])
def test_discrepancy(check):
    check()
