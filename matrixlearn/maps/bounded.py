"""Values of a linear map with bounds on their rounding errors, for proofs.

    |adjoint_bounded(X)_j - <A_j, X>| <= error_j,        ||apply(y) - A(y)||_2 <= apply_error(y)

A sum of N products in any order is off by at most (N + 2) eps times the sum of their absolute values (Higham 2002,
section 3.1; eps = 2 u leaves room for second order). Sums are split row by row, so that N is 2 n and not n^2.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from matrixlearn._array import EPS, as_numpy
from matrixlearn.linalg import adjoint, congruence, is_complex
from matrixlearn.maps.base import CHUNK, DenseMap, LinearMap
from matrixlearn.maps.compressed import CompressedMap
from matrixlearn.maps.rank_one import RankOneMap
from matrixlearn.maps.scaled import ScaledMap
from matrixlearn.maps.sparse import SparseMap
from matrixlearn.maps.stacked import StackedMap

ROOM = 1 + 1e-8
"""Covers the rounding of a norm."""

COMPLEX = 2.0
"""Times what a complex product rounds more than a real one (sqrt(2) gamma_2 for gamma_1, at most)."""


@singledispatch
def on_numpy(family: LinearMap) -> LinearMap:
    """The same matrices as NumPy arrays."""
    m = family.shape[0]
    return DenseMap(np.stack([as_numpy(family.matrix(j)) for j in range(m)]))


@on_numpy.register(SparseMap)
@on_numpy.register(CompressedMap)
def _(family: LinearMap) -> LinearMap:
    return family


@on_numpy.register
def _(family: RankOneMap) -> LinearMap:
    return family if isinstance(family.P, np.ndarray) else RankOneMap(as_numpy(family.P))


@on_numpy.register
def _(family: DenseMap) -> LinearMap:
    return family if isinstance(family.A, np.ndarray) else DenseMap(as_numpy(family.A))


@on_numpy.register
def _(family: ScaledMap) -> LinearMap:
    base = on_numpy(family.base)
    return family if base is family.base else ScaledMap(base, family.factors)


def _factor(complex_data: bool) -> float:
    return (COMPLEX if complex_data else 1.0) * EPS


@singledispatch
def adjoint_bounded(family: LinearMap, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(<A_j, X>, bounds on their errors), (m,) each; by default with no structure, n^2 products in one sum."""
    n = family.shape[1]
    return family.adjoint(X), _factor(True) * (n * n + 2) * family.sizes * float(np.linalg.norm(X))


@adjoint_bounded.register
def _(family: DenseMap, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    (m, n), A = family.shape, family.A
    values, chunk = np.empty(m), max(1, CHUNK // (n * n))
    for start in range(0, m, chunk):
        part = A[start : start + chunk]
        values[start : start + chunk] = np.sum(np.einsum("jab,ab->ja", part.conj(), X).real, axis=1)
    kind = is_complex(A) or is_complex(X)
    return values, _factor(kind) * (2 * n + 4) * family.sizes * float(np.linalg.norm(X))


@adjoint_bounded.register
def _(family: RankOneMap, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n = family.shape[1]
    kind = is_complex(family.P) or is_complex(X)
    return family.adjoint(X), _factor(kind) * (2 * n + 6) * family.sizes * (1 + n * EPS) * float(np.linalg.norm(X))


@adjoint_bounded.register
def _(family: SparseMap, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    terms = np.diff(family.rows.indptr)
    kind = is_complex(family.rows.data) or is_complex(X)
    return family.adjoint(X), _factor(kind) * (terms + 2) * family.sizes * float(np.linalg.norm(X))


@adjoint_bounded.register
def _(family: ScaledMap, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, error = adjoint_bounded(family.base, X)
    return family.factors * values, np.abs(family.factors) * (error + EPS * np.abs(values))


@adjoint_bounded.register
def _(family: CompressedMap, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, error = adjoint_bounded(family.base, congruence(X, adjoint(family.V)))
    moved = congruence_error(X, adjoint(family.V))
    return values, error + moved * family.base.sizes


@adjoint_bounded.register
def _(family: StackedMap, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    parts = adjoint_bounded(family.first, X), adjoint_bounded(family.second, X)
    return np.concatenate([parts[0][0], parts[1][0]]), np.concatenate([parts[0][1], parts[1][1]])


def congruence_error(A: np.ndarray, V: np.ndarray) -> float:
    """A bound on what rounding does to V^H A V, in the Frobenius norm.

    There are two products, of as many terms as a column of V has entries (a 0 adds no rounding), and a mean. Entry by
    entry they err by at most that many roundings of |V|^T |A| |V|.
    """
    kind, most = is_complex(A) or is_complex(V), int(np.max(np.count_nonzero(V, axis=0), initial=0))
    size = np.abs(V).T @ np.abs(A) @ np.abs(V)
    return _factor(kind) * (2 * most + 6) * float(np.linalg.norm(size)) * (1 + len(A) * EPS)


@singledispatch
def apply_error(family: LinearMap, y: np.ndarray) -> float:
    """A bound on ||fl(A(y)) - A(y)||_F: k terms to an entry, each of at most three factors."""
    return _factor(True) * (family.terms + 6) * float(np.abs(y) @ family.sizes) * (1 + len(y) * EPS)


@apply_error.register
def _(family: CompressedMap, y: np.ndarray) -> float:
    gram = family.V.conj().T @ family.V
    return float(np.linalg.norm(gram, 2)) * ROOM * apply_error(family.base, y) + congruence_error(
        family.base.apply(y), family.V
    )


@singledispatch
def gram_bounded(family: LinearMap) -> tuple[np.ndarray, float]:
    """(G_ij = <A_i, A_j>, a bound on the norm of its error); by default through the Schur matrix at I."""
    n = family.shape[1]
    eye = np.eye(n)
    G = family.schur(eye, eye)
    return (G + G.T) / 2, _factor(True) * (n * n + 2 * n + 8) * float(np.sum(family.sizes**2))


@gram_bounded.register
def _(family: DenseMap) -> tuple[np.ndarray, float]:
    m, n = family.shape
    flat = family.A.reshape(m, n * n)
    G = np.real(flat.conj() @ flat.T)
    kind = is_complex(family.A)
    return (G + G.T) / 2, _factor(kind) * (n * n + 4) * float(np.sum(family.sizes**2))


@gram_bounded.register
def _(family: RankOneMap) -> tuple[np.ndarray, float]:
    n = family.shape[1]
    inner = family.P.conj() @ family.P.T
    G = np.real(inner) ** 2 + np.imag(inner) ** 2
    return (G + G.T) / 2, _factor(is_complex(family.P)) * (2 * n + 8) * float(np.sum(family.sizes**2))


@gram_bounded.register
def _(family: SparseMap) -> tuple[np.ndarray, float]:
    G = np.real((family.rows.conj() @ family.rows.T).toarray())
    most = int(np.diff(family.rows.indptr).max(initial=0))
    kind = is_complex(family.rows.data)
    return (G + G.T) / 2, _factor(kind) * (most + 4) * float(np.sum(family.sizes**2))


@gram_bounded.register
def _(family: ScaledMap) -> tuple[np.ndarray, float]:
    G, error = gram_bounded(family.base)
    largest = float(np.max(np.abs(family.factors), initial=0.0))
    return np.outer(family.factors, family.factors) * G, largest**2 * (error + 3 * EPS * float(np.linalg.norm(G)))
