"""Small nasty instances, every engine: the bounds hold the judge's optimum, nothing is raised, warned or NaN.

The long version is benchmarks/engines/reliability.py.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from matrixlearn._choice import PREFERRED
from matrixlearn.testing.reference import optimum

METHODS = ["auto", *(name for name in PREFERRED if name not in ("reference", "mirror"))]


def points(rng, m, N):
    """(m, N), now and then of low rank or with repeated rows."""
    X = rng.standard_normal((m, N)) + rng.uniform(-1, 1, N)
    kind = rng.integers(3)
    if kind == 0:
        X = X[:, : max(1, N // 2)] @ rng.standard_normal((max(1, N // 2), N))
    elif kind == 1 and m > 1:
        X[m // 2 :] = X[: m - m // 2]
    return X


def instance(seed, scale):
    """(the problem at scale 1, the problem, the factor between their values)."""
    rng = np.random.default_rng(seed)
    if seed % 3 == 0:
        N, m, n = (int(k) for k in rng.integers(1, 13, 3))
        X, T = points(rng, m, N), points(rng, n, N)
        cap = None if rng.random() < 0.7 else float(rng.uniform(1.0, 4.0))
        return Discrepancy(X, T, max_weight=cap), Discrepancy(scale * X, scale * T, max_weight=cap), scale**2
    if seed % 3 == 1:
        base = ml.LinearSDP.random(rng)
        return base, ml.LinearSDP(scale * base.C, base.A, base.b, base.trace_bound), scale
    base = MaxCut.random(rng)
    return base, MaxCut(scale * base.weights), scale


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=settings().max_examples // 2)
@given(seed=st.integers(0, 59), scale=st.sampled_from([1e-6, 1.0, 1e6]))
def test_no_small_instance_is_answered_wrongly(method, seed, scale):
    base, problem, factor = instance(seed, scale)
    if method != "auto" and method not in ml.methods(problem):
        return
    tol = 1e-6 if method in ("auto", "interior-point", "column-generation") else 1e-2
    solution = ml.solve(problem, method, tol=tol, max_iter=60)
    judge = optimum(base)
    lower, upper = solution.lower / factor, solution.upper / factor
    assert lower <= upper and not math.isnan(solution.value)
    assert (solution.status == "optimal") == (solution.gap <= tol)
    if math.isfinite(judge.value):
        assert lower <= judge.value + judge.error, solution.summary()
        assert upper >= judge.value - judge.error, solution.summary()
