"""DefiniteBoost as a cvxpy program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import cvxpy

    from matrixlearn_definiteboost.problem import DefiniteBoost


def program(p: DefiniteBoost) -> cvxpy.Problem:
    """The entropy through the sums of the largest eigenvalues (cvxpy's exact form); complex W as a real one
    of twice the size, whose eigenvalues, and so whose entropy, are those of W twice.
    """
    import cvxpy as cp

    d, hermitian = p.d, np.iscomplexobj(p.log_initial)
    A = cp.Variable((d, d), symmetric=True, name="re")
    B = cp.Variable((d, d), name="im") if hermitian else np.zeros((d, d))
    W = cp.bmat([[A, -B], [B, A]]) if hermitian else A
    constraints = [cp.trace(A) == 1, W >> 0]
    if hermitian:
        constraints.append(B == -B.T)

    def product(S: np.ndarray) -> Any:
        real = cp.sum(cp.multiply(S.real, A))
        return real + cp.sum(cp.multiply(S.imag, B)) if hermitian else real

    entropy = cp.von_neumann_entr(cp.hermitian_wrap(W)) / 2 if hermitian else cp.von_neumann_entr(W)
    objective = -entropy - product(p.log_initial) if d > 1 else -product(p.log_initial)
    t = cp.hstack([product(p.family.matrix(j)) for j in range(p.m)])
    held = np.flatnonzero(np.isfinite(p.lower_bounds))
    if p.slack is None:
        constraints.append(t <= p.upper)
        if len(held):
            constraints.append(t[held] >= p.lower_bounds[held])
    else:
        objective += p.slack @ cp.pos(t - p.upper)
        if len(held):
            objective += p.slack[held] @ cp.pos(p.lower_bounds[held] - t[held])
    return cp.Problem(cp.Minimize(objective), constraints)
