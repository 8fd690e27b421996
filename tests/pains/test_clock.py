"""Pain: a time limit of a second took a minute where one iteration did. Inner pieces ask the clock."""

import time

import numpy as np
import pytest
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from matrixlearn.clock import TimeIsUp, ask_the_clock, ending_after, time_limited

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


def test_what_follows_a_run_looks_for_nothing_after_the_end(monkeypatch):
    """A certificate of DefiniteBoost moves points and searches for a strictly feasible matrix; both take long."""
    from matrixlearn_definiteboost import DefiniteBoost
    from matrixlearn_definiteboost.interior import InteriorSearch
    from matrixlearn_definiteboost.proof import ProjectionProof

    late, steps, moves = [], InteriorSearch.advanced, ProjectionProof._step

    def noted(name, function):
        return lambda *given: late.append(name) or function(*given)

    monkeypatch.setattr(InteriorSearch, "advanced", noted("a step of the search", steps))
    monkeypatch.setattr(ProjectionProof, "_step", noted("a move", moves))
    P = np.random.default_rng(0).standard_normal((3, 6))
    data = P[:, :, None] * P[:, None, :], np.full(3, 0.1)
    point = ml.solve(DefiniteBoost(*data), "mirror", tol=1e-9, max_iter=20).certificate.y
    near = ml.solve(DefiniteBoost(*data), "corrective", tol=1e-6).matrix
    outside = (1 - 1e-3) * near + 1e-3 * np.eye(6) / 6  # misses a little
    late.clear()
    ml.certify(DefiniteBoost(*data), X=outside, y=point)
    assert late  # with time there is a search
    late.clear()
    with ending_after(-1.0):
        ml.certify(DefiniteBoost(*data), X=outside, y=point)
    assert late == []


def test_the_earlier_of_two_ends_counts_and_is_gone_afterwards():
    with time_limited(1e6), time_limited(-1.0):
        with pytest.raises(TimeIsUp):
            ask_the_clock()
        with time_limited(1e6), pytest.raises(TimeIsUp):
            ask_the_clock()
    ask_the_clock()


def test_what_swallows_errors_does_not_swallow_the_end_of_the_time():
    assert not issubclass(TimeIsUp, Exception)
