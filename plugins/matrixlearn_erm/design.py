"""The rows a_i, dense or CSR: products, norms, and what rounding may do to them. Nothing is densified."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from matrixlearn.exceptions import ProblemError
from matrixlearn.validation import as_array, as_samples

UNIT = float(np.finfo(np.float64).eps) / 2
"""u, the unit roundoff."""


PIECE = 4096
"""Rows that are weighted at a time, so that they are in the cache when they are multiplied."""


def gamma(terms: float) -> float:
    """gamma_m = m u / (1 - m u): a computed sum of m products is off by at most that times the sum of their sizes.

    Whatever the order of the sum: Higham, Accuracy and Stability of Numerical Algorithms (2002), section 3.1.
    """
    return terms * UNIT / (1 - terms * UNIT)


def as_design(name: str, value: Any) -> Any:
    """A real array (n, d), or a CSR matrix with sorted rows and without duplicates; the user's is not written to.

    Raises
    ------
    ProblemError
        For other shapes, NaN, infinite or complex entries.
    """
    if not sp.issparse(value):
        return np.ascontiguousarray(as_samples(name, value))
    if value.ndim != 2 or 0 in value.shape:
        msg = f"{name} must be two-dimensional (samples, features) and not empty, got shape {tuple(value.shape)}"
        raise ProblemError(msg)
    rows = sp.csr_array(value)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.data.size:
        data = np.asarray(as_array(name, rows.data))
        if np.iscomplexobj(data):
            msg = f"{name} must be real, got {data.dtype}"
            raise ProblemError(msg)
        if data is not rows.data:
            rows = sp.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
    return rows


@dataclass(frozen=True, eq=False)
class Design:
    """The matrix A whose rows are a_i."""

    A: Any

    is_here: ClassVar[bool] = True
    """Whether the rows are in this process."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return int(self.A.shape[0]), int(self.A.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether A is CSR."""
        return bool(sp.issparse(self.A))

    @property
    def transposed(self) -> Any:
        """A.T, a view: CSR would be a third faster, and takes as long to make as twenty products."""
        return self.A.T

    @cached_property
    def columns(self) -> Any:
        """A.T of sparse rows as CSR: what chooses features fast."""
        return sp.csr_array(self.A.T)

    @cached_property
    def squared(self) -> Any:
        """The squares of the entries."""
        if not self.is_sparse:
            return self.A * self.A
        return sp.csr_array((self.A.data**2, self.A.indices, self.A.indptr), shape=self.shape)

    def gram(self, weights: np.ndarray) -> np.ndarray:
        """A' diag(weights) A, shape (d, d)."""
        if not self.is_sparse:
            H = np.zeros((self.shape[1], self.shape[1]))
            for first in range(0, self.shape[0], PIECE):
                rows = self.A[first : first + PIECE]
                H += (rows * weights[first : first + PIECE, None]).T @ rows
            return H
        return np.asarray((self.transposed @ sp.csr_array(self.A.multiply(weights[:, None]))).toarray())

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """The diagonal of A' diag(weights) A, shape (d,)."""
        return (
            np.asarray(self.squared.T @ weights) if self.is_sparse else np.einsum("ij,ij,i->j", self.A, self.A, weights)
        )

    def at(self, columns: np.ndarray) -> Design:
        """Some features."""
        if not self.is_sparse:
            return Design(self.A[:, columns])
        return Design(sp.csr_array(self.columns[columns].T))

    def apply(self, x: np.ndarray) -> np.ndarray:
        """A x, shape (n,)."""
        return np.asarray(self.A @ x)

    def adjoint(self, y: np.ndarray) -> np.ndarray:
        """A' y, shape (d,)."""
        return np.asarray(self.transposed @ y)

    @cached_property
    def row_terms(self) -> int:
        """The most entries of a row."""
        return int(np.max(np.diff(self.A.indptr))) if self.is_sparse else self.shape[1]

    @cached_property
    def norms(self) -> np.ndarray:
        """Upper bounds of ||a_i||, to rounding, shape (n,)."""
        if self.is_sparse:
            squares = np.asarray(self.squared @ np.ones(self.shape[1]))
        else:
            squares = np.einsum("ij,ij->i", self.A, self.A)
        return np.sqrt(squares * (1 + 4 * gamma(self.row_terms + 2)))
