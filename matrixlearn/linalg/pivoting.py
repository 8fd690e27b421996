"""The columns of a matrix in the order in which QR with pivoting takes them: the first are well independent."""

from __future__ import annotations

import numpy as np

from matrixlearn.linalg._lapack import lapack


def pivot_order(A: np.ndarray) -> np.ndarray:
    """Indices of the columns, each the one whose part orthogonal to those before it is largest."""
    routine = lapack().zgeqp3 if np.iscomplexobj(A) else lapack().dgeqp3
    return np.asarray(routine(np.asfortranarray(A))[1]) - 1
