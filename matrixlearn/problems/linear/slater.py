"""What a strictly feasible matrix bounds by Slater's condition: the multipliers, and how far an X is moved.

For a strictly feasible X_s with the slacks s_j = b_j - <A_j, X_s> > 0,

    s.y <= b.y - <C, X_s>       for every y with A(y) - C >= 0,

so that an optimal y lies in {y >= 0, s.y <= K}, K any upper bound on the optimum less <C, X_s>. Where there are
equalities, Z = A(y) - C >= 0 has <Z, X_s> <= K too, hence a trace of at most K / lambda_min(X_s), and the free y_E are
the coordinates of Z + C - A_I(y_I) in the A_E: a box holds them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matrixlearn._array import EPS, as_numpy
from matrixlearn.maps import LinearMap
from matrixlearn.sets import KnapsackSet
from matrixlearn.typing import Array


def optimal_multipliers(
    C: Array, family: LinearMap, b: np.ndarray, equal: np.ndarray, interior: Array, room: float
) -> KnapsackSet:
    """A bounded set that holds an optimal y; ``room`` is K.

    Without equalities, {y >= 0, s.y <= K}. Else the box 0 <= y_i <= K / s_i outside E and, with P_j the dual basis of
    the A_j in E, <P_j, A_k> = [j = k],

        |y_j - <P_j, C>|  <=  ||P_j||_F K / lambda_min(X_s) + sum over i outside E of |<P_j, A_i>| K / s_i
    """
    slack = b - family.adjoint(interior)
    if not np.any(equal):
        return KnapsackSet.weighted_simplex(slack, room)
    most = np.where(equal, 0.0, room / np.where(equal, 1.0, slack))
    E = np.flatnonzero(equal)
    rows = np.stack([family.adjoint(family.matrix(int(j))) for j in E])
    inverse = np.linalg.pinv(rows[:, E], hermitian=True)
    trace = room / float(np.linalg.eigvalsh(as_numpy(interior))[0])
    reach = np.sqrt(np.maximum(np.diagonal(inverse), 0.0)) * trace + np.abs(inverse @ rows) @ most
    middle = inverse @ family.adjoint(C)[E]
    low, high = np.zeros(len(b)), most
    low[E], high[E] = middle - reach, middle + reach
    return KnapsackSet.box(low, high)


def mixing(family: LinearMap, b: np.ndarray, interior: Array) -> Callable[[Array], Array]:
    """X -> (1 - theta) X + theta X_s with all inequalities met."""
    inside = b - family.adjoint(interior)

    def mixed(X: Array) -> Array:
        slack = b - family.adjoint(X)
        bad = slack < 0
        if not np.any(bad):
            return X
        theta = min(1.0, float(np.max(slack[bad] / (slack[bad] - inside[bad]))) * (1 + 4 * EPS))
        return (1 - theta) * X + theta * interior

    return mixed
