"""A linear program over matrices, as cvxpy writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import cvxpy


def program(C: np.ndarray, A: list[np.ndarray], b: np.ndarray, equal: np.ndarray, R: float | None) -> cvxpy.Problem:
    """max C . X subject to A_j . X <= b_j (= b_j where ``equal``), X >= 0, Tr X <= R; the rows come last."""
    import cvxpy as cp

    hermitian = np.iscomplexobj(C) or any(np.iscomplexobj(a) for a in A)
    X = cp.Variable(C.shape, name="X", hermitian=hermitian, symmetric=not hermitian)
    real = cp.real if hermitian else lambda expression: expression  # cvxpy refuses the real part of a real one
    constraints = [X >> 0]
    if R is not None:
        constraints.append(real(cp.trace(X)) <= R)
    for a, bj, tight in zip(A, b, equal, strict=True):
        left = real(cp.trace(a @ X))
        constraints.append(left == bj if tight else left <= bj)
    return cp.Problem(cp.Maximize(real(cp.trace(C @ X))), constraints)
