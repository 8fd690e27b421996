"""Lanczos: an operator on the Krylov space of a vector, and what it says of the ends of the spectrum.

    G Q_k = Q_k T_k + beta_k q_{k+1} e_k^T,     Q_k^H Q_k = I,  T_k real, tridiagonal

Each Ritz value theta of T_k, with the last entry s_k of its vector, lies within beta_k |s_k| of an eigenvalue, and
between the ends of the spectrum. Full reorthogonalization: k products with G and 2 n k^2 flops.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn._array import namespace
from matrixlearn.linalg._hermitian import conjugate, frobenius, is_complex, real
from matrixlearn.linalg._lapack import lapack
from matrixlearn.typing import Array


@dataclass(frozen=True)
class KrylovSpace:
    """The decomposition after k steps."""

    basis: Array
    """Q_k^T, (k, n)."""
    ritz: np.ndarray
    """Eigenvalues of T_k, ascending."""
    vectors: np.ndarray
    """Their eigenvectors, (k, k)."""
    beta: float
    """0 where the space holds all that there is."""

    @property
    def residuals(self) -> np.ndarray:
        """beta |s_k| of each Ritz value, (k,)."""
        return np.asarray(self.beta * np.abs(self.vectors[-1]))


def krylov_spaces(G: Any, v: Array, most: int) -> Iterator[KrylovSpace]:
    """The Krylov spaces of G and v != 0, each a quarter larger than the last, up to ``most`` or all of it.

    Parameters
    ----------
    G : array, sparse array or linear operator, shape (n, n)
        Hermitian; anything with ``@`` and a dtype.
    v : array, shape (n,)
    """
    n = v.shape[0]
    most = min(most, n)
    q = v / frobenius(v)
    basis = _rows(most, n, q, G)
    plain = not is_complex(basis)
    diagonal, off, shown_at, size = np.empty(most), np.empty(most), 4, 0.0
    for k in range(1, most + 1):
        basis[k - 1, :] = q
        w = (G @ q).reshape(n) if isinstance(q, np.ndarray) else G @ q
        against = basis[:k, :]
        dual = against if plain else conjugate(against)
        inside = dual @ w
        w = w - against.mT @ inside
        w = w - against.mT @ (dual @ w)  # twice is enough
        diagonal[k - 1] = float(inside[k - 1] if plain else real(inside)[k - 1])
        beta, size = frobenius(w), max(size, abs(diagonal[k - 1]))
        exhausted = k == n or beta <= 1e-14 * size
        if exhausted or k in (most, shown_at):
            shown_at = k + max(4, k // 4)
            ritz, vectors = _eigenpairs(diagonal[:k], off[: k - 1])
            yield KrylovSpace(basis[:k, :], ritz, vectors, 0.0 if exhausted else beta)
        if exhausted:
            return
        off[k - 1] = beta
        q, size = w / beta, max(size, beta)


def _rows(most: int, n: int, q: Array, G: Any) -> Array:
    """Room for vectors like q, complex where G is."""
    if isinstance(q, np.ndarray):
        return np.empty((most, n), dtype=np.result_type(q, G.dtype, float))
    xp = namespace(q)
    return xp.empty((most, n), dtype=xp.result_type(q.dtype, G.dtype))


def _eigenpairs(diagonal: np.ndarray, off: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, ascending, and eigenvectors of a symmetric tridiagonal matrix."""
    if len(diagonal) == 1:
        return diagonal.copy(), np.ones((1, 1))
    ritz, vectors, failed = lapack().dstevd(diagonal, off)
    return np.linalg.eigh(np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1)) if failed else (ritz, vectors)


@dataclass(frozen=True)
class SpectralInterval:
    """Where the eigenvalues lie:  low <= lambda_min <= lowest,  highest <= lambda_max <= high.

    ``lowest`` and ``highest`` are Ritz values, true always; ``low`` and ``high`` are the better of Gershgorin's, true
    always, and of a Ritz value moved out far enough to be true with probability 1 - 1e-10 (`spectral_span`).
    """

    low: float
    lowest: float
    highest: float
    high: float

    def negated(self) -> SpectralInterval:
        """Of -G."""
        return SpectralInterval(-self.high, -self.highest, -self.lowest, -self.low)


MISSED = 1e-10
"""Probability with which an end of the spectrum may lie outside of a `SpectralInterval`."""


ACCURACY, MOST = 0.5, 300
"""Of the ends of the spectrum, absolute, and the most steps to them: exp(-t G) is t times as sharp."""


def spectral_span(G: Any) -> SpectralInterval:
    """The ends of the spectrum to `ACCURACY`, as far as `MOST` steps of Lanczos go.

    From a random start, k steps leave an end farther than e of the range from its Ritz value with a probability of
    at most 1.648 sqrt(n) exp(-(2k - 1) sqrt(e)), whatever the gaps (Kuczynski and Wozniakowski, 1992). Where `MOST`
    steps do not bring that distance below `ACCURACY`, ten times the residual is believed, if it is smaller.
    """
    n = G.shape[0]
    start = np.random.default_rng(0).standard_normal(n)
    for space in krylov_spaces(G, start, MOST):
        k = len(space.ritz)
        lowest, highest = float(space.ritz[0]), float(space.ritz[-1])
        share = (math.log(1.648 * math.sqrt(n) / MISSED) / (2 * k - 1)) ** 2
        margin = share / (1 - 2 * share) * (highest - lowest) if share < 0.5 else math.inf
        if margin <= ACCURACY:
            break
    margins = np.minimum(margin, 10 * space.residuals[[0, -1]]) if margin > ACCURACY else np.full(2, margin)
    rounding = 1e-14 * max(abs(lowest), abs(highest))
    low, high = lowest - float(margins[0]) - rounding, highest + float(margins[1]) + rounding
    if isinstance(G, np.ndarray) or hasattr(G, "tocsr"):
        diagonal = np.real(G.diagonal())
        radius = np.asarray(abs(G).sum(axis=1)).reshape(n) - np.abs(diagonal)
        low = max(low, float(np.min(diagonal - radius)) - rounding)
        high = min(high, float(np.max(diagonal + radius)) + rounding)
    return SpectralInterval(min(low, lowest), lowest, highest, max(high, highest))
