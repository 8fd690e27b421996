"""Eigenvectors at the ends of a spectrum, from Householder's tridiagonal form.

A decomposition of a symmetric A is made in three steps,

    Q^T A Q = T,  Q a product of reflections;      T = Z diag(w) Z^T,  T tridiagonal;      V = Q Z,

the first a quarter of the time, the last 2 n^2 operations for each vector. Few columns of Z at the ends are found by
relatively robust representations in O(n) each, many by divide and conquer, all at once; eigenvalues are counted by
Sylvester's inertia in O(n). Either way ||A V - V diag(w)|| is of the order n eps ||A||, ||V^T V - I|| of n eps.

References
----------
Dhillon and Parlett (2004), "Multiple representations to compute orthogonal eigenvectors of symmetric tridiagonal
matrices"; Cuppen (1981), divide and conquer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrixlearn._array import EPS, as_numpy, columns
from matrixlearn.linalg._hermitian import eigh, eigvalsh
from matrixlearn.linalg._lapack import lapack
from matrixlearn.typing import Array

TRIDIAGONAL_FROM = 50
"""Size from which few vectors are found sooner than all."""
FEW = 0.15
"""Share of the vectors up to which representations find them sooner than divide and conquer."""
FEW_VALUES = 0.05
"""Share of the eigenvalues up to which the same finds them sooner than all are found."""


def at_ends(x: np.ndarray, low: int, high: int) -> np.ndarray:
    """The first ``low`` and the last ``high`` entries of x."""
    return np.concatenate([x[:low], x[len(x) - high :]])


@dataclass(frozen=True, eq=False)
class Values:
    """Eigenvalues, ascending, (k,)."""

    w: np.ndarray

    def extremes(self, accuracy: float = 0.0) -> np.ndarray:
        """The lowest and the largest, to an absolute accuracy or to rounding."""
        return self.w[[0, -1]]

    def above(self, t: float) -> int:
        """How many are above t."""
        return int(np.sum(self.w > t))

    def values(self, low: int, high: int) -> np.ndarray:
        """The ``low`` lowest and the ``high`` largest."""
        return at_ends(self.w, low, high)


@dataclass(frozen=True, eq=False)
class Pairs(Values):
    """Eigenvalues and their vectors, columns, (n, k)."""

    V: Array

    @classmethod
    def of(cls, A: Array) -> Pairs:
        """All of a Hermitian matrix."""
        w, V = eigh(A)
        return cls(as_numpy(w), V)

    def ends(self, low: int, high: int) -> Pairs:
        """The ``low`` lowest and the ``high`` largest."""
        k = len(self.w)
        if low + high == k:
            return self
        return Pairs(self.values(low, high), columns(self.V, at_ends(np.arange(k), low, high)))


@dataclass(frozen=True, eq=False)
class Tridiagonal:
    """T, by its main and side diagonal, and the reflections of Q: the methods of `Pairs`, on demand."""

    A: np.ndarray
    main: np.ndarray
    side: np.ndarray
    reflections: np.ndarray
    scales: np.ndarray

    @classmethod
    def of(cls, A: np.ndarray) -> Tridiagonal:
        n = len(A)
        # the j-th reflection leaves j + 1 coordinates: with a column before it that leaves all, scale 0, it lies where
        # LAPACK multiplies by it
        room = np.zeros((n, n + 1), order="F")
        room[:, 1:] = A.T
        _, main, side, scales, _ = lapack().dsytrd(room[:, 1:], lower=1, lwork=64 * n, overwrite_a=1)
        return cls(A, main, side, room[:, :n], np.append(0.0, scales))

    @cached_property
    def w(self) -> np.ndarray:
        w, failed = lapack().dsterf(self.main, self.side)
        return as_numpy(eigvalsh(self.A)) if failed else w

    def extremes(self, accuracy: float = 0.0) -> np.ndarray:
        n, bisected = len(self.main), lapack().dstebz
        found = [bisected(self.main, self.side, 2, 0.0, 0.0, i, i, accuracy, "E") for i in (1, n)]
        failed = any(info for *_, info in found)
        return self.w[[0, -1]] if failed else np.array([w[0] for _, w, *_ in found])

    @cached_property
    def bound(self) -> float:
        """A number >= ||A||_2: Gershgorin's of T."""
        return float(np.max(np.abs(self.main)) + 2 * np.max(np.abs(self.side)))

    def above(self, t: float) -> int:
        past = 2 * self.bound
        if t >= past:
            return 0
        return int(lapack().dstebz(self.main, self.side, 1, t, past, 0, 0, 2 * (past - t), "E")[0])  # no bisection

    def values(self, low: int, high: int) -> np.ndarray:
        few = self._represented(low, high) if low + high <= FEW_VALUES * len(self.main) else None
        return at_ends(self.w, low, high) if few is None else few.w

    def ends(self, low: int, high: int) -> Pairs:
        k = low + high
        of_T = (self._represented(low, high) if k <= FEW * len(self.main) else None) or self._divided(low, high)
        if of_T is None:
            return Pairs.of(self.A).ends(low, high)
        V, *_ = lapack().dormqr("L", "N", self.reflections, self.scales, of_T.V, lwork=64 * max(k, 1), overwrite_c=1)
        return Pairs(of_T.w, V)

    def _represented(self, low: int, high: int) -> Pairs | None:
        """Pairs of T, each end by itself; None where they are not the outermost or not orthogonal but for rounding, as
        can be in a cluster.
        """
        n, rounding = len(self.main), 100 * len(self.main) * EPS
        w, Z = np.empty(low + high), np.empty((n, low + high), order="F")
        for to, first, last in ((slice(low), 1, low), (slice(low, None), n - high + 1, n)):
            if first <= last:
                side = np.append(self.side, 0.0)  # it is overwritten
                m, values, vectors, failed = lapack().dstemr(self.main, side, 2, 0.0, 0.0, first, last)
                if failed:
                    return None
                w[to], Z[:, to] = values[:m], vectors[:, :m]
        inner, allowance = Z.T @ Z, rounding * self.bound
        inner.flat[:: low + high + 1] -= 1.0
        orthogonal = bool(np.max(np.abs(inner), initial=0.0) <= rounding)
        highest = high == 0 or self.above(w[low] + allowance) < high
        lowest = low == 0 or n - self.above(w[low - 1] - allowance) < low
        return Pairs(w, Z) if orthogonal and highest and lowest else None

    def _divided(self, low: int, high: int) -> Pairs | None:
        """Pairs of T out of all."""
        w, Z, failed = lapack().dstevd(self.main, self.side)
        return None if failed else Pairs(w, Z).ends(low, high)


def tridiagonal(A: Array) -> Tridiagonal | None:
    """The form of a larger real matrix of NumPy's; None where everything is had sooner at once, or no numbers are."""
    if isinstance(A, np.ndarray) and A.dtype == np.float64 and len(A) >= TRIDIAGONAL_FROM:
        T = Tridiagonal.of(A)
        if np.isfinite(T.main).all() and np.isfinite(T.side).all():
            return T
    return None


def values_of(A: Array) -> Values | Tridiagonal:
    """The eigenvalues of a Hermitian matrix, or what finds some of them."""
    return tridiagonal(A) or Values(as_numpy(eigvalsh(A)))


def pairs_of(A: Array) -> Pairs | Tridiagonal:
    """The eigenpairs of a Hermitian matrix, or what finds some of them."""
    return tridiagonal(A) or Pairs.of(A)
