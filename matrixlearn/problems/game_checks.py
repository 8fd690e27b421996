"""Checks that the parts of a game fit together, for games that nothing has checked in construction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn._array import namespace
from matrixlearn.exceptions import ProblemError
from matrixlearn.maps import LinearMap
from matrixlearn.sets import KnapsackSet, ScaledSimplex, SpectralSet
from matrixlearn.typing import Array
from matrixlearn.validation import as_array, as_hermitian, as_real_vector, require_same_namespace

if TYPE_CHECKING:
    from matrixlearn.problems.game import Game


def require_game(game: Game) -> None:
    """S and Y are sets, C = C^H and c are finite and of their sizes, and A is a map between them with Hermitian A_j.

    Raises
    ------
    ProblemError
        Naming the part, and the sizes that differ.
    """
    S, Y, A = game.S, game.Y, game.A
    _require_kind("S", S, SpectralSet, "Spectraplex(n, trace) or another set of matrices")
    _require_kind("Y", Y, KnapsackSet, "KnapsackSet.simplex(m), .box(lower, upper) or another")
    _require_matrix("C", game.C, S)
    _require_kind("c", game.c, np.ndarray, f"a NumPy array of shape ({Y.size},)")
    _require_vector("c", game.c, Y)
    wrapped = "DenseMap(A) for an array (m, n, n), RankOneMap(P) for the rows a_j, (m, n), of a_j a_j^H"
    _require_kind("A", A, LinearMap, wrapped)
    m, n = A.shape
    if (m, n) != (Y.size, S.n):
        msg = f"A holds {m} matrices of order {n}, but Y has m = {Y.size} coordinates and S has n = {S.n} dimensions"
        raise ProblemError(msg)
    j = A.least_hermitian()
    _require_matrix(f"A.matrix({j})", A.matrix(j), S)
    require_same_namespace(C=game.C, A=A.matrix(j))
    F = A.apply(np.eye(1, m)[0])
    _require_matrix("A.apply(y)", F, S)
    _require_vector("A.adjoint(X)", A.adjoint(F), Y)


def _require_kind(name: str, part: Any, kind: type, instead: str) -> None:
    if not isinstance(part, kind):
        shape = f" of shape {tuple(part.shape)}" if hasattr(part, "shape") else ""
        msg = f"{name} must be a {kind.__name__}, got {type(part).__name__}{shape}: give {instead}"
        raise ProblemError(msg)


def _require_matrix(name: str, matrix: Array, S: SpectralSet) -> None:
    """Hermitian and n x n; a real vector where S is diagonal."""
    shape = (S.n,) if isinstance(S, ScaledSimplex) else (S.n, S.n)
    try:
        namespace(matrix)
    except TypeError as error:
        msg = f"{name} must be an array of shape {shape}, got {type(matrix).__name__}"
        raise ProblemError(msg) from error
    if tuple(matrix.shape) != shape:
        msg = f"{name} has shape {tuple(matrix.shape)}, but S has n = {S.n} dimensions"
        raise ProblemError(msg)
    if len(shape) == 2:
        as_hermitian(name, matrix)
    else:
        as_array(name, matrix)


def _require_vector(name: str, vector: Any, Y: KnapsackSet) -> None:
    if np.shape(vector) != (Y.size,):
        msg = f"{name} has shape {np.shape(vector)}, but Y has m = {Y.size} coordinates"
        raise ProblemError(msg)
    as_real_vector(name, vector)
