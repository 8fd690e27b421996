from matrixlearn_definiteboost import DefiniteBoost, MinMaxSDP

from matrixlearn.testing import parametrize_with_checks


@parametrize_with_checks([DefiniteBoost, MinMaxSDP])
def test_definiteboost(check):
    check()
