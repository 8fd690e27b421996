"""The linear map of the constraint matrices S_1, ..., S_m, by the structure that makes it cheap.

Two forms: dense stacks, and differences of two rank-one matrices, S_j = p_j p_j^H - q_j q_j^H, which hold
squared distances (p = e_a - e_b) and comparisons of two of them. Beside what every map has, both give

    ranges = (lambda_min, lambda_max) of each,
    rotated(V, ...) = blocks of V^H S_j V                   (what a Hessian of the dual is made of).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrixlearn.clock import ask_the_clock
from matrixlearn.linalg import eigvalsh
from matrixlearn.maps import DenseMap, LinearMap, RankOneMap
from matrixlearn.maps.bounded import adjoint_bounded, apply_error
from matrixlearn_definiteboost.dual import EPS

CHUNK = 2_000_000
"""Entries of a stack whose eigenvalues are taken at once: 16 MB."""


class Constraints(LinearMap):
    """y -> sum_j y_j S_j, with the eigenvalues of each S_j."""

    @property
    @abstractmethod
    def is_complex(self) -> bool:
        """Whether any entry may be complex."""

    @property
    @abstractmethod
    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest and the largest eigenvalue of each S_j, (m,) and (m,)."""

    @abstractmethod
    def rotated(self, V: np.ndarray, which: np.ndarray, rows: slice, columns: slice) -> np.ndarray:
        """A block of V^H S_j V for the indices j in ``which``, (k, rows, columns)."""

    @cached_property
    def norms(self) -> np.ndarray:
        """||S_j||_2, (m,)."""
        low, high = self.ranges
        return np.maximum(np.abs(low), np.abs(high))


class DenseConstraints(Constraints, DenseMap):
    """A stack of Hermitian matrices, (m, d, d)."""

    @property
    def is_complex(self) -> bool:
        return np.iscomplexobj(self.A)

    def apply(self, y: np.ndarray) -> np.ndarray:
        used = np.flatnonzero(y)
        if 2 * len(used) < len(y):  # most multipliers are zero
            return np.tensordot(y[used], self.A[used], axes=1)
        return np.asarray(super().apply(y))

    @cached_property
    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        m, d = self.shape
        size = max(1, CHUNK // (d * d))
        w = np.concatenate([eigvalsh(self.A[start : start + size]) for start in range(0, m, size)])
        return w[:, 0], w[:, -1]

    def rotated(self, V: np.ndarray, which: np.ndarray, rows: slice, columns: slice) -> np.ndarray:
        ask_the_clock()
        return np.asarray((V[:, rows].conj().T @ self.A[which]) @ V[:, columns])


@dataclass(frozen=True, eq=False)
class VectorConstraints(Constraints):
    """S_j = p_j p_j^H - q_j q_j^H for the rows of P and Q, (m, d); never an m x d^2 array but where a Hessian asks."""

    P: np.ndarray
    Q: np.ndarray | None = None

    @cached_property
    def sizes(self) -> np.ndarray:
        """|p_j|^2 + |q_j|^2: bounds of ||S_j||_F, and of what its rounding is relative to."""
        return np.asarray(sum(part.sizes for _, part in self.parts))

    @cached_property
    def parts(self) -> list[tuple[float, RankOneMap]]:
        """The signs and maps of the rank-one parts."""
        plus = [(1.0, RankOneMap(self.P))]
        return plus if self.Q is None else [*plus, (-1.0, RankOneMap(self.Q))]

    @property
    def shape(self) -> tuple[int, int]:
        return self.P.shape[0], self.P.shape[1]

    @property
    def is_complex(self) -> bool:
        return np.iscomplexobj(self.P) or (self.Q is not None and np.iscomplexobj(self.Q))

    def matrix(self, j: int) -> np.ndarray:
        return np.asarray(sum(sign * np.asarray(part.matrix(j)) for sign, part in self.parts))

    def apply(self, y: np.ndarray) -> np.ndarray:
        return np.asarray(sum(sign * np.asarray(part.apply(y)) for sign, part in self.parts))

    def adjoint(self, W: np.ndarray) -> np.ndarray:
        return np.asarray(sum(sign * part.adjoint(W) for sign, part in self.parts))

    @cached_property
    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """Of p p^H - q q^H: (a - b)/2 -+ sqrt((a + b)^2/4 - |p.q|^2), a = |p|^2, b = |q|^2, and 0s."""
        d = self.shape[1]
        a = np.einsum("jk,jk->j", self.P.conj(), self.P).real
        if self.Q is None:
            return (a if d == 1 else np.zeros(len(a))), a
        b = np.einsum("jk,jk->j", self.Q.conj(), self.Q).real
        if d == 1:
            return a - b, a - b
        product = np.abs(np.einsum("jk,jk->j", self.P.conj(), self.Q)) ** 2
        root = np.sqrt(np.maximum(((a + b) / 2) ** 2 - product, ((a - b) / 2) ** 2))
        return (a - b) / 2 - root, (a - b) / 2 + root

    def rotated(self, V: np.ndarray, which: np.ndarray, rows: slice, columns: slice) -> np.ndarray:
        out = 0.0
        for sign, part in self.parts:
            P = part.P[which]  # columns of (V^H p)(V^H p)^H
            out = out + sign * (P @ V[:, rows].conj())[:, :, None] * (P.conj() @ V[:, columns])[:, None, :]
        return np.asarray(out)


@adjoint_bounded.register
def _(family: VectorConstraints, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    each = [(sign, *adjoint_bounded(part, X)) for sign, part in family.parts]
    values, error = (sum(sign * value for sign, value, _ in each), sum(lost for *_, lost in each))
    return np.asarray(values), np.asarray(error) + EPS * np.asarray(sum(np.abs(value) for _, value, _ in each))


@apply_error.register
def _(family: VectorConstraints, y: np.ndarray) -> float:
    each = sum(apply_error(part, y) for _, part in family.parts)
    return float(each) + 2 * EPS * float(np.abs(y) @ family.sizes)
