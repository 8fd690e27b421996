"""Instances X_t, and what a round asks of one: <W, X>, G <- G + s X, the range of its eigenvalues.

    Dense      any square matrix, through sym(X) = (X + X^H) / 2, as (2.2) allows
    Sparse     the same, scipy.sparse
    LowRank    sum_k s_k u_k u_k^H                     O(d^2 k), a pair O(1)
    Pair       (e_a - e_b)(e_a - e_b)^T                the squared distance of two objects under the kernel W

The inner product is <W, X> = Re tr(W^H X) throughout: tr(X^T W) would flip the sign of every
imaginary part. A low-rank instance forms no d x d matrix: it writes into the losses that it is given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.linalg import sym
from matrixlearn.validation import as_array, as_number


@runtime_checkable
class Instance(Protocol):
    """A Hermitian d x d matrix, as a round uses it."""

    @property
    def d(self) -> int:
        """Side length."""

    @property
    def is_complex(self) -> bool:
        """Whether it has imaginary parts."""

    def inner(self, W: np.ndarray) -> float:
        """<W, X>."""

    def add_to(self, G: np.ndarray, step: float) -> None:
        """G <- G + step X, in place."""

    @property
    def spread(self) -> float:
        """At least lambda_max(X) - lambda_min(X), the r of Lemma 3.1."""

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """(U, s) with X = U diag(s) U^H, U of shape (d, k)."""


@dataclass(frozen=True, eq=False)
class Dense:
    """A square matrix, (d, d), through its Hermitian part: ``X`` is sym(X)."""

    X: Any
    """sym(X), (d, d)."""

    def __post_init__(self) -> None:
        X = np.asarray(as_array("X", self.X))
        if X.ndim != 2 or X.shape[0] != X.shape[1]:
            msg = f"X must be a square matrix, got shape {X.shape}"
            raise ProblemError(msg)
        object.__setattr__(self, "X", sym(X))

    @property
    def d(self) -> int:
        """Side length."""
        return len(self.X)

    @property
    def is_complex(self) -> bool:
        """Whether X has imaginary parts."""
        return np.iscomplexobj(self.X)

    def inner(self, W: np.ndarray) -> float:
        """<W, X>."""
        return float(np.real(np.vdot(self.X, W)))

    def add_to(self, G: np.ndarray, step: float) -> None:
        """G <- G + step X, in place."""
        G += step * self.X

    @property
    def spread(self) -> float:
        """sqrt(2) ||X - tr(X)/d I||_F: an upper bound, without a decomposition.  (a - b)^2 <= 2 (a^2 + b^2)."""
        centre = float(np.real(np.trace(self.X))) / self.d
        about = float(np.linalg.norm(self.X)) ** 2 - self.d * centre**2
        return float(np.sqrt(2 * max(about, 0.0))) if self.d > 1 else 0.0

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """(U, s) with X = U diag(s) U^H, an eigendecomposition."""
        s, U = np.linalg.eigh(self.X)
        return U, s


@dataclass(frozen=True, eq=False)
class Sparse:
    """A Hermitian sparse matrix, by its entries."""

    rows: np.ndarray
    """Of the entries, (k,), none listed twice."""
    columns: np.ndarray
    """Of the entries, (k,)."""
    values: np.ndarray
    """Of the entries, (k,)."""
    d: int
    """Side length."""

    @property
    def is_complex(self) -> bool:
        """Whether an entry has an imaginary part."""
        return np.iscomplexobj(self.values)

    def inner(self, W: np.ndarray) -> float:
        """<W, X>, k products."""
        return float(np.real(np.vdot(self.values, W[self.rows, self.columns])))

    def add_to(self, G: np.ndarray, step: float) -> None:
        """G <- G + step X, in place."""
        G[self.rows, self.columns] += step * self.values  # no entry is listed twice

    @property
    def spread(self) -> float:
        """sqrt(2) ||X - (tr X / d) I||_F, at least lambda_max(X) - lambda_min(X)."""
        centre = float(np.real(np.sum(self.values[self.rows == self.columns]))) / self.d
        about = float(np.linalg.norm(self.values)) ** 2 - self.d * centre**2
        return float(np.sqrt(2 * max(about, 0.0))) if self.d > 1 else 0.0

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """(U, s) with X = U diag(s) U^H, an eigendecomposition of the dense matrix."""
        X = np.zeros((self.d, self.d), dtype=self.values.dtype)
        X[self.rows, self.columns] = self.values
        return Dense(X).factors()


@dataclass(frozen=True, eq=False)
class LowRank:
    """sum_k s_k u_k u_k^H.

    Parameters
    ----------
    U : array, shape (d,) or (d, k)
        The columns u_k.
    s : array, shape (k,), optional
        Their real weights; ones by default.
    """

    U: Any
    s: Any = None

    def __post_init__(self) -> None:
        U = as_array("U", self.U)
        U = U[:, None] if U.ndim == 1 else U
        s = np.ones(U.shape[-1]) if self.s is None else np.asarray(as_array("s", self.s))
        if U.ndim != 2 or s.shape != (U.shape[1],) or np.iscomplexobj(s):
            msg = f"U must have shape (d, k) and s, real, shape (k,), got {U.shape} and {s.shape}"
            raise ProblemError(msg)
        object.__setattr__(self, "U", np.asarray(U))
        object.__setattr__(self, "s", s)

    @property
    def d(self) -> int:
        """Side length."""
        return int(self.U.shape[0])

    @property
    def is_complex(self) -> bool:
        """Whether a factor has imaginary parts."""
        return np.iscomplexobj(self.U)

    def inner(self, W: np.ndarray) -> float:
        """<W, X>, through the factors."""
        return float(np.real(np.sum(self.U.conj() * (W @ self.U), axis=0)) @ self.s)

    def add_to(self, G: np.ndarray, step: float) -> None:
        """G <- G + step X, in place."""
        if isinstance(G, np.ndarray) and G.flags.c_contiguous and G.dtype == self.U.dtype:
            _rank_one_updates(G, self.U, step * self.s)
            return
        for u, s in zip(self.U.T, self.s, strict=True):
            for i in np.flatnonzero(u):  # row by row: no d x d temporary
                G[i] += (step * s * u[i]) * u.conj()

    @cached_property
    def spread(self) -> float:
        """lambda_max - lambda_min, exactly: those of s_k R R^H in k dimensions, with 0 where k < d."""
        R: Any = np.linalg.qr(self.U, mode="r")
        w = np.linalg.eigvalsh((R * self.s) @ R.conj().T)
        if len(w) < self.d:
            w = np.append(w, 0.0)
        return float(np.max(w) - np.min(w))

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """The factors as they are."""
        return self.U, self.s


def _rank_one_updates(G: np.ndarray, U: np.ndarray, s: np.ndarray) -> None:
    """G <- G + sum_k s_k u_k u_k^H by BLAS, in place, for a C-ordered G of the dtype of U."""
    from scipy.linalg import blas  # late: a third of the package's import time

    for u, weight in zip(U.T, s, strict=True):
        if np.iscomplexobj(u):  # BLAS sees G^T, and (u u^H)^T = conj(u) conj(u)^H
            v = u.conj()
            blas.zgerc(weight, v, v, a=G.T, overwrite_a=1)
        else:
            blas.dger(weight, u, u, a=G.T, overwrite_a=1)


@dataclass(frozen=True)
class Pair:
    """(e_a - e_b)(e_a - e_b)^T: <W, X> = ||x_a - x_b||^2 for the kernel W_ij = x_i . x_j.

    Parameters
    ----------
    a, b : int
        Two objects; the same one gives X = 0, from which nothing can be learned.
    d : int
        The number of objects.
    weight : float
        Multiplies X; 1/2 gives the entries that the paper prints in Section 5.1 (half the squared distance:
        labels must then be halved too).
    """

    a: int
    b: int
    d: int
    weight: float = 1.0

    is_complex = False
    """False: its entries are real."""

    def __post_init__(self) -> None:
        whole = isinstance(self.a, int | np.integer) and isinstance(self.b, int | np.integer)
        if not (whole and 0 <= self.a < self.d and 0 <= self.b < self.d):
            msg = f"a and b must be objects 0 to {self.d - 1}, got ({self.a!r}, {self.b!r})"
            raise ProblemError(msg)
        if not math.isfinite(as_number("weight", self.weight)):
            msg = f"weight must be finite, got {self.weight!r}"
            raise ProblemError(msg)
        if self.a == self.b:
            msg = f"a and b must differ, got ({self.a}, {self.b}): a distance of an object to itself says nothing"
            raise ProblemError(msg)

    def inner(self, W: np.ndarray) -> float:
        """<W, X>, of four entries."""
        a, b = self.a, self.b
        return self.weight * float(W[a, a].real + W[b, b].real - 2 * W[a, b].real)

    def add_to(self, G: np.ndarray, step: float) -> None:
        """G <- G + step X, in place."""
        s, a, b = step * self.weight, self.a, self.b
        G[a, a] += s
        G[b, b] += s
        G[a, b] -= s
        G[b, a] -= s

    @property
    def spread(self) -> float:
        """lambda_max(X) - lambda_min(X), in closed form."""
        return 2 * abs(self.weight)

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """(U, s) with X = U diag(s) U^H, U of one column or two."""
        u = np.zeros((self.d, 1))
        u[self.a], u[self.b] = 1.0, -1.0
        return u, np.array([self.weight])


def as_instance(X: Any, d: int | None = None, name: str = "X") -> Instance:
    """An instance of whatever the user gives: a matrix, a sparse matrix, a vector u for u u^H, an `Instance`.

    Raises
    ------
    ProblemError
        For NaN, or a size other than d.
    """
    out: Instance
    if isinstance(X, Dense | Sparse | LowRank | Pair):  # before the Protocol, whose check takes longer than a pair
        out = X
    elif hasattr(X, "tocoo"):
        out = _sparse(X, name)
    elif isinstance(X, Instance):  # before the arrays: a Pauli string can be one too
        out = X
    else:
        array = np.asarray(as_array(name, X))
        if array.ndim == 1:
            out = LowRank(array)
        elif array.ndim == 2 and array.shape[0] == array.shape[1]:
            out = Dense(array)
        else:
            msg = f"{name} must be a square matrix, a vector u (for u u^H) or an Instance, got shape {array.shape}"
            raise ProblemError(msg)
    if d is not None and out.d != d:
        msg = f"{name} must be a {d} x {d} instance, got {out.d} x {out.d}"
        raise ProblemError(msg)
    return out


def _sparse(X: Any, name: str) -> Sparse:
    if X.ndim != 2 or X.shape[0] != X.shape[1]:
        msg = f"{name} must be square, got shape {X.shape}"
        raise ProblemError(msg)
    if X.nnz and not np.all(np.isfinite(X.tocoo().data)):
        msg = f"{name} holds NaN or infinite values; remove or impute them first"
        raise ProblemError(msg)
    half = ((X + X.conj().T) * 0.5).tocsr()
    half.sum_duplicates()
    entries = half.tocoo()
    dtype = np.complex128 if np.iscomplexobj(entries.data) else np.float64
    return Sparse(entries.row, entries.col, entries.data.astype(dtype), X.shape[0])
