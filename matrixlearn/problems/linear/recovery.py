"""An optimal pair in few digits, from points that are near it.

    (A(z) - C) V = 0,   A(z) - C >= 0,   X = V W V^T,  W >= 0,   <A_j, X> = b_j where z_j > 0 or j in E
        =>      <C, X> = b.z:  both are optimal

z is a multiplier vector of few digits next to y, proved without rounding, or y itself; V spans the null space of its
slack, in whole numbers. Of the X that live on it, the one next to the given X is taken. Neither has to be proved here:
`OpenProgram` proves what points are worth, and these have bounds that meet where no tolerance of an engine does.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from matrixlearn.linalg.verified import INF
from matrixlearn.maps import CompressedMap
from matrixlearn.problems.linear.digits import exact_multipliers, is_exactly_feasible
from matrixlearn.problems.linear.kernel import with_kernel
from matrixlearn.problems.linear.proof import Proof
from matrixlearn.problems.linear.span import LARGEST, MOST, whole_ranges, within

NULL = 1e-7
"""Part of the largest eigenvalue of the slack below which one counts as 0."""

PARTS = (0.0, 2.0**-12, 2.0**-8, 2.0**-4, 2.0**-2, 2.0**-1)
"""Of a multiplier, in the order in which they are tried."""

GAPS = 1e2, 3
"""The least ratio of neighbouring eigenvalues of X that are taken for a gap, and how many gaps are looked at."""

JOINING = 12
"""The most rows that join those of the multipliers."""

ROUNDED = 1e-13
"""Part of its size that a row may be short of its right side by and count as exceeded: rounding."""

USED = 1e-6
"""Part of the largest term of the slack below which a multiplier counts as 0."""


def recovered(proof: Proof, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
    """(X', z) next to a nearly optimal pair, either None where none is found."""
    if len(X) > LARGEST or isinstance(proof.family, CompressedMap):
        return None, None
    y, ranges = proof.signed(y), list(whole_ranges(X, GAPS))
    z = _multipliers(proof, y, ranges)
    if z is None and proof.upper(y)[0] == INF:  # X may run away, along a ray
        return None, None
    terms = np.abs(y if z is None else z) * proof.family.sizes
    used = terms > (USED * float(np.max(terms, initial=0.0)) if z is None else 0.0)
    for V in [*_null_space(proof.slack(y if z is None else z)[0]), *ranges]:
        found = within(proof, X, V, _met(proof, X, V, proof.equal | used))
        if found is not None:
            return found.point, z
    return None, z


def _multipliers(proof: Proof, y: np.ndarray, ranges: list[np.ndarray]) -> np.ndarray | None:
    """The best z of few digits next to y with A(z) - C >= 0, proved; (A(z) - C) V = 0 for a range V of X, where that
    is better.
    """
    found = [z for V in ranges if (z := with_kernel(proof, y, V)) is not None and is_exactly_feasible(proof, z)]
    found += [z for z in (exact_multipliers(proof, y),) if z is not None]
    return min((lessened(proof, z) for z in found), key=lambda z: proof.value(z)[0], default=None)


def _null_space(F: np.ndarray) -> Iterator[np.ndarray]:
    """The null space of a slack but for rounding, in whole numbers."""
    w, U = np.linalg.eigh(F)
    null = w <= NULL * float(w[-1]) if w[-1] > 0 else np.ones(len(w), dtype=bool)
    return whole_ranges(U[:, null] @ U[:, null].conj().T)


def lessened(proof: Proof, z: np.ndarray) -> np.ndarray:
    """z with less of the inequalities that cost b_j z_j > 0, as long as A(z) - C >= 0 is proved without rounding.

    Where a row leaves X little room, z_j grows as 1 / b_j until an interior point has far less than b_j for mu.
    """
    costs = np.where(proof.equal, 0.0, proof.b * z)
    for j in sorted(np.flatnonzero(costs > 0), key=lambda j: proof.b[j] / proof.family.sizes[j]):
        for part in PARTS:
            less = z.copy()
            less[j] *= part
            if is_exactly_feasible(proof, less):
                z = less
                break
    return z


def _met(proof: Proof, X: np.ndarray, V: np.ndarray, equal: np.ndarray) -> np.ndarray:
    """The rows ``equal``, and those that the nearest X' in {V W V^H} meets with equality so as to meet them at all.

    A row that X' exceeds joins, the furthest first: of two that are the sides of one, l <= <A, X> <= u, either will do.
    """
    m, r = len(equal), V.shape[1]
    if m * r**2 > MOST:
        return equal
    back = np.linalg.pinv(V)
    near = _entries(back @ X @ back.conj().T)
    rows = np.stack([_entries(V.conj().T @ proof.family.matrix(j) @ V) for j in range(m)])
    sizes = np.linalg.norm(rows, axis=1) * float(np.linalg.norm(near)) + np.abs(proof.b)
    out = equal.copy()
    for _ in range(JOINING):
        W = near + np.linalg.lstsq(rows[out], proof.b[out] - rows[out] @ near, rcond=None)[0]
        beyond = np.where(out, -INF, (rows @ W - proof.b) / np.where(sizes > 0, sizes, 1.0))
        worst = int(np.argmax(beyond))
        if not beyond[worst] > -ROUNDED:
            break
        out[worst] = True
    return out


def _entries(M: np.ndarray) -> np.ndarray:
    """The real and imaginary parts as one vector: <M, N> is a product of such."""
    return np.concatenate([np.real(M).reshape(-1), np.imag(M).reshape(-1)])
