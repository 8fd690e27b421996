"""Checks that the parts of a game fit together, for games that nothing has checked in construction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn._array import namespace
from matrixlearn._validation import as_array, as_hermitian, as_real_vector, require_same_namespace
from matrixlearn.exceptions import ProblemError
from matrixlearn.maps import LinearMap
from matrixlearn.sets import KnapsackSet, ScaledSimplex, SpectralSet
from matrixlearn.typing import Array

if TYPE_CHECKING:
    from matrixlearn.problems.game import SpectralGame


def require_parts(game: SpectralGame) -> None:
    """S and Y are sets, and C = C^H and c are finite and of their sizes.

    Raises
    ------
    ProblemError
        Naming the part, and the sizes that differ.
    """
    S, Y = game.spectral_set, game.dual_set
    _require_kind("spectral_set", S, SpectralSet, "Spectraplex(n, trace) or another set of matrices")
    _require_kind("dual_set", Y, KnapsackSet, "KnapsackSet.simplex(m), .box(lower, upper) or another")
    _require_matrix("cost", game.cost, S)
    _require_kind("offset", game.offset, np.ndarray, f"a NumPy array of shape ({Y.size},)")
    _require_vector("offset", game.offset, Y)


def require_maps(game: SpectralGame) -> None:
    """C - A(y) and A*(X) are like C and c, at the y of A_1 and the X that it gives.

    Raises
    ------
    ProblemError
        Naming the map, and the sizes that differ.
    """
    F = game.forward(np.eye(1, game.dual_set.size)[0])
    _require_matrix("forward(y)", F, game.spectral_set)
    _require_vector("adjoint(X)", game.adjoint(F), game.dual_set)


def require_family(game: Any) -> None:
    """``family`` is a constraint family of the sizes of S and Y, its A_j are Hermitian, and of the library of C.

    Raises
    ------
    ProblemError
        Naming the part, and the sizes that differ.
    """
    family, S, Y = game.family, game.spectral_set, game.dual_set
    wrapped = "DenseMap(A) for an array (m, n, n), RankOneMap(P) for the rows a_j, (m, n), of a_j a_j^H"
    _require_kind("family", family, LinearMap, wrapped)
    m, n = family.shape
    if (m, n) != (Y.size, S.n):
        msg = (
            f"family holds {m} matrices of order {n}, but dual_set has m = {Y.size} coordinates and spectral_set "
            f"n = {S.n} dimensions"
        )
        raise ProblemError(msg)
    j = family.least_hermitian()
    A = as_hermitian(f"family.matrix({j})", family.matrix(j), n)
    require_same_namespace(cost=game.cost, family=A)


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
        msg = f"{name} has shape {tuple(matrix.shape)}, but spectral_set has n = {S.n} dimensions"
        raise ProblemError(msg)
    if len(shape) == 2:
        as_hermitian(name, matrix)
    else:
        as_array(name, matrix)


def _require_vector(name: str, vector: Any, Y: KnapsackSet) -> None:
    if np.shape(vector) != (Y.size,):
        msg = f"{name} has shape {np.shape(vector)}, but dual_set has m = {Y.size} coordinates"
        raise ProblemError(msg)
    as_real_vector(name, vector)
