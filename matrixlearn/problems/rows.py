"""The rows of a program as people hold them, and the constraint family that suits them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from matrixlearn._array import is_sparse, namespace
from matrixlearn.exceptions import ProblemError
from matrixlearn.linalg import adjoint, is_complex
from matrixlearn.maps import DenseMap, LinearMap, RankOneMap, SparseMap
from matrixlearn.validation import as_array, as_hermitian, require_numpy, require_same_namespace, require_square


def entries(n: int, *terms: tuple[int, int, complex]) -> Any:
    """A with A . X = sum over the terms of Re(conj(v) X_ij): a row of a program, written by the entries of X in it.

    Parameters
    ----------
    n : int
        Side length.
    *terms : tuples (i, j, v)
        v times X_ij, counted from 0; those of one entry add up, and X_ji is X_ij. For complex X, v = 1 is the real part
        and v = 1j the imaginary one.

    Returns
    -------
    scipy.sparse.csr_array, shape (n, n)
        Hermitian: (v e_i e_j^T + conj(v) e_j e_i^T) / 2, summed.

    Raises
    ------
    ProblemError
        For a term that is none, or an index outside X.
    """
    import scipy.sparse as sp

    for term in terms:
        if not (isinstance(term, Sequence) and len(term) == 3 and all(_is_index(k, n) for k in term[:2])):
            msg = f"a term is (i, j, v) with whole numbers 0 <= i, j < {n}, got {term!r}"
            raise ProblemError(msg)
    i, j = np.array([term[:2] for term in terms], dtype=np.int64).reshape(-1, 2).T
    v = as_array("v", [term[2] for term in terms]) if terms else np.zeros(0)
    values = np.concatenate([v, v.conj()]) / 2
    return sp.csr_array((values, (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(n, n))


def _is_index(k: Any, n: int) -> bool:
    return isinstance(k, Integral) and 0 <= int(k) < n


def constraint_family(A: Any, n: int) -> LinearMap:
    """The family that suits ``A``: rank one for an (m, n) array, sparse for a list of scipy sparse
    matrices, dense for an (m, n, n) array or a list of matrices.
    """
    if isinstance(A, LinearMap):
        if A.shape[1] != n:
            msg = f"A must hold matrices of shape ({n}, {n}), as C, got a {type(A).__name__} of order {A.shape[1]}"
            raise ProblemError(msg)
        j = A.least_hermitian()
        as_hermitian(f"A.matrix({j})", A.matrix(j), n)
        return A
    if isinstance(A, Iterator | Mapping):
        msg = f"A must be an array or a list of matrices, one for each constraint; got a {type(A).__name__}"
        raise ProblemError(msg)
    if isinstance(A, np.ndarray) and A.dtype == object and A.ndim == 1:
        A = list(A)
    if is_sparse(A) or (isinstance(A, Sequence) and len(A) > 0 and any(is_sparse(a) for a in A)):
        if is_sparse(A):
            msg = "A must be a list of sparse matrices, one for each constraint, not one sparse matrix"
            raise ProblemError(msg)
        return _sparse_family(A, n)
    if isinstance(A, Sequence) and len(A) > 0 and getattr(A[0], "ndim", 0) == 2:
        matrices = [as_hermitian(f"A[{j}]", a, n) for j, a in enumerate(A)]
        require_same_namespace(**{f"A[{j}]": a for j, a in enumerate(matrices)})
        xp = namespace(matrices[0])
        if any(is_complex(a) for a in matrices):
            matrices = [xp.astype(a, xp.complex128) for a in matrices]
        return DenseMap(xp.stack(matrices))
    array = as_array("A", A)
    if array.ndim == 2 and array.shape[1] == n:
        if array.shape[0] == n and bool(namespace(array).all(array == adjoint(array))):
            msg = (
                f"A is one symmetric matrix of shape ({n}, {n}): for one constraint pass [A]; for {n} rank-one ones "
                f"a_j a_j^H, its rows a_j, pass RankOneMap(A)"
            )
            raise ProblemError(msg)
        return RankOneMap(array)
    if array.ndim != 3 or tuple(array.shape[1:]) != (n, n):
        msg = (
            f"A must have the shape (m, {n}, {n}), or (m, {n}) for rank-one constraints a_j a_j^H, or be a "
            f"list of matrices; got shape {tuple(array.shape)}"
        )
        raise ProblemError(msg)
    xp = namespace(array)
    return DenseMap(xp.stack([as_hermitian(f"A[{j}]", array[j, ...], n) for j in range(array.shape[0])]))


def _sparse_family(A: Sequence[Any], n: int) -> SparseMap:
    """Of matrices of which some are sparse; never n^2 numbers for one that is."""
    import scipy.sparse as sp  # late: a third of the package's import time

    members, columns, values = [], [], []
    for j, a in enumerate(A):
        name = f"A[{j}]"
        if is_sparse(a):
            require_square(name, a, n)
            part = a.tocoo()
            value = as_array(name, part.data) if part.nnz else np.zeros(0)
        else:
            checked = as_hermitian(name, a, n)
            require_numpy(name, checked)
            part = sp.coo_array(checked)
            value = part.data
        members.append(np.full(len(value), j))
        columns.append(part.row.astype(np.int64) * n + part.col)
        values.append(value)
    where = np.concatenate(members), np.concatenate(columns)
    rows = sp.csr_array((np.concatenate(values), where), shape=(len(A), n * n))
    rows.eliminate_zeros()
    family = SparseMap(rows, n)
    j = family.least_hermitian()
    worst = family.matrix(j)
    return family if as_hermitian(f"A[{j}]", worst, n) is worst else family.hermitian()
