"""The law of the library: bounds bracket the optimum that cvxpy finds, and the gap that was asked for is met.

`benchmarks/engines/random_instances.py` runs the same on 200 fixed seeds for each class.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matrixlearn as ml
from matrixlearn.testing.reference import optimum

CLASSES = [ml.registered_problems()[name] for name in ("sdp", "discrepancy", "maxcut")]
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("cls", CLASSES)
@given(seed=seeds)
def test_bounds_bracket_the_optimum_and_the_gap_is_met(cls, seed):
    problem = cls.random(np.random.default_rng(seed))
    judge = optimum(problem)
    for method, tol in (("auto", 1e-4), ("mmw", 5e-2), ("reference", 1e-3)):
        solution = ml.solve(problem, method, tol=tol, max_iter=20_000)
        assert solution.lower <= judge.value + judge.error
        assert solution.upper >= judge.value - judge.error
        assert solution.lower <= solution.upper
        if method != "reference":  # a peer may miss its own accuracy; its bounds hold all the same
            assert solution.status == "optimal"
            assert solution.gap <= tol
        solution.certificate.verify()


@pytest.mark.parametrize("cls", CLASSES)
@given(seed=seeds)
def test_interior_point_reaches_high_accuracy(cls, seed):
    solution = ml.solve(cls.random(np.random.default_rng(seed)), "interior-point", tol=1e-8)
    assert solution.status == "optimal"
    assert solution.iterations <= 40


@pytest.mark.parametrize("cls", CLASSES)
@given(seed=seeds)
def test_a_warm_start_keeps_what_was_proven(cls, seed):
    problem = cls.random(np.random.default_rng(seed))
    first = ml.solve(problem, "mmw", tol=1e-9, max_iter=5)
    second = ml.solve(problem, tol=1e-6, max_iter=0, warm_start=first)
    assert second.lower >= first.lower - 1e-12 * abs(first.lower)
    assert second.upper <= first.upper + 1e-12 * abs(first.upper)
