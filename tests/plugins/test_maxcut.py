from matrixlearn_maxcut import MaxCut

from matrixlearn.testing import parametrize_with_checks


@parametrize_with_checks([MaxCut])
def test_maxcut(check):
    check()
