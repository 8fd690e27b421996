"""`certify` takes points from anywhere: tiny, huge, NaN. It names what is wrong with one, or its bounds are true."""

import math

import numpy as np
import pytest
from matrixlearn_definiteboost import DefiniteBoost, MinMaxSDP
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut
from matrixlearn_meg import MEGRegression
from matrixlearn_quantum import StateTomography

import matrixlearn as ml

pytestmark = pytest.mark.usefixtures("cpu_clock")

PROBLEMS = (ml.LinearSDP, Discrepancy, MaxCut, DefiniteBoost, MinMaxSDP, MEGRegression, StateTomography)
SIZES = (0.0, 5e-324, 1e-310, 1e-160, 1e49, 1e150, math.inf, -math.inf, math.nan)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("cls", PROBLEMS)
def test_a_point_of_any_size_is_refused_by_name_or_bounded_honestly(cls, size):
    for seed in range(2):
        problem = cls.random(np.random.default_rng(seed))
        best = ml.solve(problem, tol=1e-4, time_limit=5)
        X, y = best.certificate.X, best.y
        n, m = (0 if X is None else X.shape[0]), (0 if y is None else len(y))
        points = [(sign * np.diag(np.full(n, size)), None) for sign in (1.0, -1.0) if n and X.ndim == 2]
        points += [(None, np.full(m, sign * size)) for sign in (1.0, -1.0) if m]
        for X, y in points:
            try:
                found = ml.certify(problem, X=X, y=y)
            except ml.exceptions.ProblemError:
                continue
            slack = 1e-9 * max(abs(best.value), 1.0)
            assert found.lower <= best.upper + slack and found.upper >= best.lower - slack  # never for NaN


@pytest.mark.parametrize("cls", PROBLEMS)
def test_nan_is_named(cls):
    problem = cls.random(np.random.default_rng(0))
    best = ml.solve(problem, tol=1e-2, time_limit=5)
    if best.y is not None:
        with pytest.raises(ml.exceptions.ProblemError, match="y holds"):
            ml.certify(problem, y=np.full(len(best.y), np.nan))
