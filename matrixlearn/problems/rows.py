"""The rows of a program as people hold them, and the constraint family that suits them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from matrixlearn._array import is_sparse, namespace
from matrixlearn._validation import as_array, as_hermitian, require_numpy, require_same_namespace
from matrixlearn.exceptions import ProblemError
from matrixlearn.linalg import is_complex
from matrixlearn.linalg.constraints import ConstraintFamily, DenseFamily, RankOneFamily
from matrixlearn.linalg.sparse_family import SparseFamily


def constraint_family(A: Any, n: int) -> ConstraintFamily:
    """The family that suits ``A``: rank one for an (m, n) array, sparse for a list of scipy sparse
    matrices, dense for an (m, n, n) array or a list of matrices.
    """
    if isinstance(A, ConstraintFamily):
        if A.shape[1] != n:
            msg = f"A must hold matrices of shape ({n}, {n}), as C, got a {type(A).__name__} of order {A.shape[1]}"
            raise ProblemError(msg)
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
        import scipy.sparse as sp  # late: a third of the package's import time

        parts = []
        for j, a in enumerate(A):
            checked = as_hermitian(f"A[{j}]", a, n)
            require_numpy(f"A[{j}]", checked)
            parts.append(checked.tocoo() if is_sparse(checked) else sp.coo_array(checked))
        columns = np.concatenate([part.row.astype(np.int64) * n + part.col for part in parts])
        members = np.repeat(np.arange(len(parts)), [part.nnz for part in parts])
        values = np.concatenate([part.data for part in parts])
        return SparseFamily(sp.coo_array((values, (members, columns)), shape=(len(parts), n * n)).tocsr(), n)
    if isinstance(A, Sequence) and len(A) > 0 and getattr(A[0], "ndim", 0) == 2:
        matrices = [as_hermitian(f"A[{j}]", a, n) for j, a in enumerate(A)]
        require_same_namespace(**{f"A[{j}]": a for j, a in enumerate(matrices)})
        xp = namespace(matrices[0])
        if any(is_complex(a) for a in matrices):
            matrices = [xp.astype(a, xp.complex128) for a in matrices]
        return DenseFamily(xp.stack(matrices))
    array = as_array("A", A)
    if array.ndim == 2 and array.shape[1] == n:
        return RankOneFamily(array)
    if array.ndim != 3 or tuple(array.shape[1:]) != (n, n):
        msg = (
            f"A must have the shape (m, {n}, {n}), or (m, {n}) for rank-one constraints a_j a_j^H, or be a "
            f"list of matrices; got shape {tuple(array.shape)}"
        )
        raise ProblemError(msg)
    xp = namespace(array)
    return DenseFamily(xp.stack([as_hermitian(f"A[{j}]", array[j, ...], n) for j in range(array.shape[0])]))
