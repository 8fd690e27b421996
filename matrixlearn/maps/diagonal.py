"""The matrices e_j e_j^T of a prescribed diagonal: A(y) = Diag(y), A*(X) = diag(X).  NumPy only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn._array import is_sparse
from matrixlearn.linalg import real_product
from matrixlearn.maps.base import LinearMap
from matrixlearn.maps.sparse import SparseMap


@dataclass(frozen=True)
class DiagonalMap(LinearMap):
    """y -> Diag(y), of order n."""

    n: int
    """The order, and the number of matrices."""

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n

    @cached_property
    def norms(self) -> np.ndarray:
        return np.ones(self.n)

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.ones(self.n)

    def size_at(self, y: np.ndarray) -> float:
        return float(np.linalg.norm(y))

    @property
    def terms(self) -> int:
        return 1

    def pattern(self) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(self.n), np.arange(self.n)

    def apply(self, y: np.ndarray) -> np.ndarray:
        return np.diag(y)

    def adjoint(self, X: Any) -> np.ndarray:
        return np.array(np.real(X.diagonal()))

    def subtracted(self, C: Any, y: np.ndarray) -> Any:
        if is_sparse(C):
            import scipy.sparse as sp  # late: import time

            return sp.csr_array(C - sp.diags_array(y))
        out = C.copy()
        out[np.diag_indices_from(out)] -= y
        return out

    def at(self, index: np.ndarray) -> SparseMap:
        import scipy.sparse as sp  # late: import time

        n, k = self.n, len(index)
        return SparseMap(sp.csr_array((np.ones(k), (np.arange(k), index * (n + 1))), shape=(k, n * n)), n)

    def schur(self, U: np.ndarray, V: np.ndarray) -> np.ndarray:
        return np.asarray(real_product(U, V))
