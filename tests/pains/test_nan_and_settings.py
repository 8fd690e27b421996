"""Pain 21 (scs-python PR #205, scs PR #389, pounce #113, osqp #70): NaN or inf in data or settings run to
the end and come back as NaN, "solved", "infeasible" or LinAlgError.

Every number that a user can pass, one NaN at a time: refused by name before any work.
"""

import numpy as np
import pytest
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml

RNG = np.random.default_rng(21)
ARRAYS = {
    "discrepancy": (
        Discrepancy,
        {
            "X_source": RNG.standard_normal((4, 2)),
            "X_target": RNG.standard_normal((3, 2)),
            "target_weights": np.full(3, 1 / 3),
            "kernel": np.eye(7),
        },
    ),
    "sdp": (
        ml.LinearSDP,
        {
            "C": np.eye(2),
            "A": np.stack([np.eye(2), np.diag([1.0, 2.0])]),
            "b": np.ones(2),
            "trace_bound": 2.0,
            "interior": 0.1 * np.eye(2),
        },
    ),
    "maxcut": (MaxCut, {"graph": 1 - np.eye(3)}),
}
CASES = [(name, key) for name, (_, data) in ARRAYS.items() for key in data]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("name", "key"), CASES)
def test_every_argument_of_every_problem(name, key, bad, monkeypatch):
    problem, data = ARRAYS[name]
    monkeypatch.setattr(np.linalg, "eigh", lambda *a, **k: pytest.fail("work was done before the check"))
    value = np.array(data[key], dtype=float)
    value[(0,) * value.ndim] = bad
    with pytest.raises(ValueError, match=key):
        problem(**{**data, key: value})


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("side", ["X", "y"])
def test_points_to_certify(side, bad):
    problem = ml.LinearSDP(np.eye(2), [np.eye(2)], [1.0], 2.0)
    point = np.array([[bad, 0.0], [0.0, 1.0]]) if side == "X" else np.array([bad])
    with pytest.raises(ValueError, match=f"{side} holds 1 NaN or infinite"):
        ml.certify(problem, **{side: point})


@pytest.mark.parametrize("option", ["tol", "max_iter", "time_limit"])
def test_settings(option):
    problem = ml.LinearSDP(np.eye(2), [np.eye(2)], [1.0], 2.0)
    with pytest.raises(ValueError, match=option):
        ml.solve(problem, **{option: float("nan")})


def test_misshaped_points_are_named():
    problem = ml.LinearSDP(np.eye(2), [np.eye(2)], [1.0], 2.0)
    with pytest.raises(ValueError, match=r"X must have shape \(2, 2\)"):
        ml.certify(problem, X=np.eye(3))
    with pytest.raises(ValueError, match=r"y must be a real vector of shape \(1,\)"):
        ml.certify(problem, y=np.ones(2))
