"""Constraint matrices with few entries each: the edges of a graph, entries that are prescribed, differences.

H_ij = Re tr(A_i U A_j V) costs the least (Fujisawa, Kojima and Nakata, 1997, "Exploiting sparsity in primal-dual
interior-point methods", their F1 and F3)

    for an A_j of many entries    through the product U A_j V, once for all i;
    for those of few              entry by entry,  sum over (a, b) of A_i and (c, d) of A_j of  a_ab U_bc a_cd V_da,

all pairs of entries in tiles, as two gathers and a product.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn.maps.base import LinearMap, furthest
from matrixlearn.maps.compressed import CompressedMap
from matrixlearn.maps.newton_terms import InCoordinates, NewtonTerms, in_coordinates

TILE = 256
"""Entries on either side of a tile: its pairs, 512 kB, stay in the cache."""

PAIR, FLOP, CALL = 5e-9, 2.5e-10, 5e-5
"""Seconds of a pair of entries, of a flop of U A V, and of a call from Python: measured, to choose by, within twice."""


@dataclass(frozen=True, eq=False)
class SparseMap(LinearMap):
    """A_j sparse: the rows of a scipy CSR array of shape (m, n^2).  NumPy only."""

    rows: Any
    """The matrices as rows of a CSR array, (m, n^2)."""
    n: int
    """The order of the matrices."""

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape[0], self.n

    @cached_property
    def norms(self) -> np.ndarray:
        # Hermitian: ||A||_2 <= ||A||_inf, exact for diagonal matrices
        members, sums = self._entries.row_sums(self.n)
        out = np.zeros(self.shape[0])
        np.maximum.at(out, members, sums)
        return out

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.sqrt(np.bincount(self._entries.member, np.abs(self.rows.data) ** 2, minlength=self.shape[0]))

    @cached_property
    def terms(self) -> int:
        return int(np.bincount(self.rows.indices, minlength=1).max())

    def least_hermitian(self) -> int:
        apart, size = abs(self.rows - self._adjoints), abs(self.rows)
        return furthest(apart.max(axis=1).toarray().ravel(), size.max(axis=1).toarray().ravel())

    def hermitian(self) -> SparseMap:
        """The (A_j + A_j^H) / 2."""
        return SparseMap((self.rows + self._adjoints) / 2, self.n)

    @property
    def _adjoints(self) -> Any:
        """The A_j^H, as ``rows``."""
        entries = self.rows.tocoo()
        member, position = entries.coords
        transposed = position % self.n * self.n + position // self.n
        return type(self.rows)((entries.data.conj(), (member, transposed)), shape=self.rows.shape)

    def at(self, index: np.ndarray) -> SparseMap:
        return SparseMap(self.rows[index, :], self.n)

    def principal(self, block: slice) -> SparseMap:
        inside = np.arange(self.n)[block]
        return SparseMap(self.rows[:, (inside[:, None] * self.n + inside).reshape(-1)], len(inside))

    def pattern(self) -> tuple[np.ndarray, np.ndarray]:
        places = np.unique(self.rows.indices)
        return places // self.n, places % self.n

    def compressed(self, V: np.ndarray) -> LinearMap:
        return CompressedMap(self, V)

    def matrix(self, j: int) -> np.ndarray:
        return np.asarray(self.rows[[j], :].todense()).reshape(self.n, self.n)

    def apply(self, y: np.ndarray) -> np.ndarray:
        return np.asarray(self.rows.T @ y).reshape(self.n, self.n)

    def adjoint(self, X: np.ndarray) -> np.ndarray:
        return np.real(self._conjugates @ np.ascontiguousarray(X).reshape(-1))

    @cached_property
    def _conjugates(self) -> Any:
        return self.rows.conj(copy=False)

    def schur(self, U: np.ndarray, V: np.ndarray) -> np.ndarray:
        m, few = self.shape[0], self._few
        if len(few) == m:
            return self._light.schur(U, V)
        H = np.empty((m, m))
        H[np.ix_(few, few)] = self._light.schur(U, V)
        for j, used, part in self._heavy:
            H[:, j] = H[j, :] = self.adjoint(U[:, used] @ np.asarray(part @ V))
        return H

    @cached_property
    def _in_coordinates(self) -> InCoordinates | None:
        return in_coordinates(lambda a, b: self.rows[:, a * self.n + b].toarray(), self.rows.data, *self.shape)

    def newton_terms(self, U: np.ndarray, V: np.ndarray) -> NewtonTerms:
        return super().newton_terms(U, V) if self._in_coordinates is None else self._in_coordinates.newton_terms(U, V)

    # -- which way --------------------------------------------------------------------------------

    @cached_property
    def _entries(self) -> Entries:
        return Entries.of(self.rows, self.n)

    @cached_property
    def _few(self) -> np.ndarray:
        """The j whose entries, each with each of the family, are cheaper than U A_j V."""
        m, n = self.shape
        entries, count = self._entries, np.diff(self.rows.indptr)
        used = np.bincount(entries.row_sums(n)[0], minlength=m)  # rows that hold anything
        product = CALL + FLOP * n * (2 * n * used + 2 * count) + PAIR * count.sum() / 2
        return np.flatnonzero(PAIR * count * count.sum() / 2 <= product)

    @cached_property
    def _light(self) -> Entries:
        return Entries.of(self.rows[self._few, :], self.n)

    @cached_property
    def _heavy(self) -> list[tuple[int, np.ndarray, Any]]:
        """(j, the rows that hold anything, those rows) of the others."""
        import scipy.sparse as sp  # late: import time

        entries, out = self._entries, []
        for j in map(int, np.setdiff1d(np.arange(self.shape[0]), self._few)):
            mine = slice(entries.start[j], entries.start[j + 1])
            used, row = np.unique(entries.a[mine], return_inverse=True)
            part = sp.csr_array((entries.value[mine], (row, entries.b[mine])), shape=(len(used), self.n))
            out.append((j, used, part))
        return out


@dataclass(frozen=True)
class Entries:
    """The entries (a, b, value) of sparse matrices, member by member: those of member j are start_j ... start_{j+1}."""

    a: np.ndarray
    b: np.ndarray
    value: np.ndarray
    start: np.ndarray

    @classmethod
    def of(cls, rows: Any, n: int) -> Entries:
        """Of the rows of an (m, n^2) CSR array."""
        return cls(rows.indices // n, rows.indices % n, rows.data, rows.indptr.astype(np.int64))

    @cached_property
    def member(self) -> np.ndarray:
        """j, for each entry."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def row_sums(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """(member, sum of the absolute values) of each row that holds anything."""
        rows, which = np.unique(self.member * n + self.a, return_inverse=True)
        return rows // n, np.bincount(which, np.abs(self.value), minlength=len(rows))

    @cached_property
    def _weights(self) -> Any:
        import scipy.sparse as sp

        N = len(self.value)
        return sp.csr_array((self.value, np.arange(N), self.start), shape=(len(self.start) - 1, N))

    def schur(self, U: np.ndarray, V: np.ndarray) -> np.ndarray:
        """H in tiles, those below the diagonal by symmetry: rows are gathered, which is a copy of each."""
        m, kind = len(self.start) - 1, np.result_type(U, V)
        H = np.zeros((m, m))
        tiles = []
        for members, entries in self._tiles:
            a, b = self.a[entries], self.b[entries]
            U_b, V_a = np.take(U.T.astype(kind, copy=False), b, axis=1), np.take(V, a, axis=1)  # U_bc, V_ca in row c
            tiles.append((members, a, b, U_b, V_a, self._weights[members, entries]))
        for k, (rows, a, b, _, _, weights) in enumerate(tiles):
            for columns, _, _, U_b, V_a, others in tiles[k:]:
                pairs = np.take(U_b, a, axis=0)
                pairs *= np.take(V_a, b, axis=0)
                part = np.real(others @ (weights @ pairs).T)
                H[columns, rows], H[rows, columns] = part, part.T
        return H

    @cached_property
    def _tiles(self) -> list[tuple[slice, slice]]:
        """Members and their entries, about TILE at a time."""
        out, first = [], 0
        while first < len(self.start) - 1:
            end = int(np.searchsorted(self.start, self.start[first] + TILE, side="right")) - 1
            last = max(first + 1, end)
            out.append((slice(first, last), slice(self.start[first], self.start[last])))
            first = last
        return out
