from matrixlearn import LinearSDP
from matrixlearn.testing import parametrize_with_checks


@parametrize_with_checks([LinearSDP])
def test_linear_sdp(check):
    check()
