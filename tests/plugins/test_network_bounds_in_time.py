"""Bounds that take iterations of their own keep the time limit of the solve."""

import numpy as np
from matrixlearn_network import ConcaveJointlySparse, complete

import matrixlearn as ml
from matrixlearn import clock


def test_a_bound_of_a_large_problem_keeps_the_time_limit(cpu_clock):
    """The bound solves a problem of its own, which ends with the time; what it has by then is a bound."""
    rng = np.random.default_rng(0)
    m, d, n = 40, 40, 20
    task = np.repeat(np.arange(m), n)
    X = rng.standard_normal((m * n, d))
    problem = ConcaveJointlySparse(X, X[:, 0] + rng.standard_normal(m * n), complete(m), eta=0.01, task=task)
    began = clock.clock_time()
    solution = ml.solve(problem, tol=1e-9, time_limit=0.5)
    assert clock.clock_time() - began < 20
    assert 0 < solution.lower <= solution.upper
