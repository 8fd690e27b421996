"""sum_j d_j x_j x_j^H as an operator: products with vectors through its factors, no n x n array.

    M U = P^T (d o (conj(P) U))           4 q n flops a column, q nonzero d_j
                                          2 n^2 once M is formed, which takes 2 q n^2

K products with k columns are cheaper through the factors where K k (2 q - n) < q n: the branches O(K m n N + K m^2 N)
and O(K m N^2 + K m^2 N) of the thesis, Section 5.4.2 (its m columns, q = m + n points and N features). Its update
(5.12) adds z_l where M(z) = M_0 - sum z_l x_l x_l^T subtracts: d_l = -z_l here (docs/errata.md, (2.16)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class RankOneSum:
    """sum_j d_j x_j x_j^H.

    Parameters
    ----------
    P : ndarray or scipy sparse array (no sparse matrix), shape (q, n)
        The rows x_j^T.
    d : ndarray, shape (q,)
    """

    P: Any
    d: np.ndarray

    __array_ufunc__ = None  # NumPy leaves sums and products with its arrays to this class

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.P.shape[1], self.P.shape[1]

    @property
    def dtype(self) -> Any:
        """That of the rows."""
        return self.P.dtype

    def __matmul__(self, U: np.ndarray) -> np.ndarray:
        weights = self.d if U.ndim == 1 else self.d[:, None]
        return np.asarray(self.P.T @ (weights * (self.P.conj() @ U)))

    def __mul__(self, factor: float) -> RankOneSum:
        return RankOneSum(self.P, factor * self.d)

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Any:
        """A sum of the same rows, or with a sparse array without entries: the empty sum of losses; else an array."""
        if isinstance(other, RankOneSum) and other.P is self.P:
            return RankOneSum(self.P, self.d + other.d)
        if getattr(other, "nnz", None) == 0:
            return self
        return self.toarray() + (other.toarray() if isinstance(other, RankOneSum) else other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -1.0 * other

    def inner(self, X: np.ndarray) -> float:
        """<M, X> = sum_j d_j x_j^H X x_j for a Hermitian X."""
        forms = (self.P.conj() * (self.P @ X.T)).sum(axis=1)
        return float(self.d @ np.real(forms))

    def toarray(self) -> np.ndarray:
        """M as an (n, n) array."""
        conjugate = self.P.conj()
        weighted = self.P.T * self.d if isinstance(self.P, np.ndarray) else self.P.T.multiply(self.d).tocsr()
        M = weighted @ conjugate
        return np.asarray(M) if isinstance(M, np.ndarray) else M.toarray()

    def for_products(self, columns: int) -> Any:
        """Itself or `toarray`, whichever takes fewer flops for that many products with one vector."""
        used = np.flatnonzero(self.d)
        q = len(used) if isinstance(self.P, np.ndarray) else self.P.nnz / max(1, self.shape[0])
        if columns * (2 * q - self.shape[0]) >= q * self.shape[0]:
            return self.toarray()
        return self if len(used) == len(self.d) else RankOneSum(self.P[used], self.d[used])
