"""Pain: a time limit of a second took a minute where one iteration did. Inner pieces ask the clock."""

import time

import numpy as np
import pytest
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from matrixlearn.clock import TimeIsUp, ask_the_clock, time_limited

pytestmark = pytest.mark.usefixtures("cpu_clock")


def wide(points=1500, features=20):
    rng = np.random.default_rng(0)
    return Discrepancy(rng.standard_normal((points, features)) + 0.5, 1.5 * rng.standard_normal((points, features)))


@pytest.mark.parametrize("method", ["sa-da", "interior-point"])
def test_a_limit_holds_within_an_iteration(method):
    """An iteration of either takes seconds here (sa-da: two quadratic programs of sixty factorizations)."""
    began = time.process_time()
    solution = ml.solve(wide(), method, tol=1e-12, time_limit=0.2)
    assert time.process_time() - began < 2.2  # and what it had not begun
    assert solution.status == "stopped" and solution.ended == "time_limit = 0.2 s reached"
    assert -np.inf < solution.lower <= solution.upper < np.inf
    solution.verify()


def test_the_earlier_of_two_ends_counts_and_is_gone_afterwards():
    with time_limited(1e6), time_limited(-1.0):
        with pytest.raises(TimeIsUp):
            ask_the_clock()
        with time_limited(1e6), pytest.raises(TimeIsUp):
            ask_the_clock()
    ask_the_clock()


def test_what_swallows_errors_does_not_swallow_the_end_of_the_time():
    assert not issubclass(TimeIsUp, Exception)
