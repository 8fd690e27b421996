"""The von Neumann mirror map from the eigenvectors that it needs, and those of the last call.

From one round to the next G moves little, and X(G) holds, to an accuracy e, no more eigenvectors than have a weight
above e / 4n of the largest: a gap of ln(4n / e). The others are not computed. The block V of the last call is updated
by subspace iteration with a Chebyshev filter and Rayleigh-Ritz, and the update is checked before it is believed: with
G V = V Theta + E, E orthogonal to V, for the columns used, and no other eigenvalue within the gap,

    || X - X(G) ||_*  <=  R (||E||_2 + 2 (n - u) exp(-gap)),

since X is 1-Lipschitz from the spectral to the trace norm (R = 1: the entropy is 1-strongly convex in the trace norm),
dropping E from G moves it by ||E||_2, and what is left out weighs (n - u) exp(-gap) of the whole. That no other
eigenvalue lies within the gap a Cholesky factorization of the deflated matrix proves: n^3 / 3, a thirtieth of a
decomposition. Where the check fails, or too many eigenvectors have weight, all are decomposed anew.

`InverseIterationExponent` is `EigenUpdate` as the thesis has it (Section 5.4.1): inverse iteration on all eigenvectors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.exponents.dense import DenseExponent, spectral_function
from matrixlearn.exponents.signed import signed_gibbs_weights
from matrixlearn.linalg import cholesky, eigh
from matrixlearn.linalg.krylov import krylov_spaces

MOST = 0.2
"""The share of all eigenvectors from which a full decomposition is quicker (benchmarks/engines/exponents.py)."""

DEGREE, SWEEPS = 10, 3
"""Of the filter, and how many filters before a full decomposition would have been quicker."""


@dataclass(frozen=True, eq=False)
class EigenUpdateExponent(DenseExponent):
    """The mirror map on a `Spectraplex`, a `TraceBall` or a `SpectralBall`, with a memory.  NumPy only.

    Parameters
    ----------
    on : SpectralSet
        Blocks are decomposed together.
    accuracy : float
        Of X in the trace norm, relative to R.
    """

    accuracy: float = 1e-6
    basis: np.ndarray | None = field(default=None, repr=False)
    """Eigenvectors with weight, and some beyond them to converge by, (n, r)."""
    values: np.ndarray | None = field(default=None, repr=False)
    """The eigenvalues that belong to the basis, (r,)."""
    used: int = 0
    """How many of them X is made of."""
    at: Any = field(default=None, repr=False)
    """The losses that they belong to."""
    updated: bool = False
    """Whether they came from the last ones; a full decomposition otherwise."""
    updates: int = 0
    """How often eigenvectors were updated so far."""
    decompositions: int = 0
    """How often each has happened so far."""

    @property
    def remarks(self) -> str:
        """How often it fell back, for `Solution.explain`."""
        return f"updated {self.updates} times, decomposed anew {self.decompositions} times"

    def weights(self, exponents: np.ndarray) -> np.ndarray:
        if len(self.on.signs) == 2:
            return signed_gibbs_weights(exponents, self.on.trace)
        return super().weights(exponents)

    def __call__(self, G: np.ndarray) -> np.ndarray:
        here = self if self.at is G else self.near(G)
        assert here.basis is not None and here.values is not None
        order = np.argsort(here.values[: here.used])  # ascending, so that -G descends
        X = spectral_function(here.basis[:, order], self.weights(-here.values[order]))
        return self.on.hermitian_blocks(X) if self.on.blocks else X

    def near(self, G: np.ndarray) -> EigenUpdateExponent:
        """The eigenvectors at G, by an update where it passes its check."""
        H = self.on.hermitian_blocks(G)
        found = self._updated(H) if self._has_start else None
        if found is None:
            return replace(self._decomposed(H), at=G, decompositions=self.decompositions + 1)
        return replace(found, at=G, updates=self.updates + 1)

    @property
    def _has_start(self) -> bool:
        """Whether there are eigenvectors to update, and few enough for an update to pay."""
        return self.basis is not None and self.basis.shape[1] <= MOST * self.on.n

    @property
    def _gap(self) -> float:
        """How far below the largest an exponent may be left out."""
        return math.log(4 * self.on.n / self.accuracy)

    def _size(self, values: np.ndarray) -> np.ndarray:
        """The exponents by which eigenvectors have weight: -lambda, or |lambda| on the signed pair."""
        return np.abs(values) if len(self.on.signs) == 2 else -values

    def _decomposed(self, H: np.ndarray) -> EigenUpdateExponent:
        values, V = eigh(H)
        size = self._size(values)
        order = np.argsort(-size, kind="stable")
        used = int(np.sum(size >= size[order[0]] - self._gap))
        kept = order[: min(len(order), used + max(8, used // 4))]
        return replace(self, basis=V[:, kept], values=values[kept], used=used, updated=False)

    def _updated(self, H: np.ndarray) -> EigenUpdateExponent | None:
        V, values = self.basis, self.values
        assert V is not None and values is not None
        bound = _beyond(H)
        for _ in range(SWEEPS):
            W = np.linalg.qr(self._filtered(H, V, values, bound))[0]
            HW = H @ W
            values, U = np.linalg.eigh(W.conj().T @ HW)
            size = self._size(values)
            order = np.argsort(-size, kind="stable")
            values, size, U = values[order], size[order], U[:, order]
            V = W @ U
            used = int(np.sum(size >= size[0] - self._gap))
            if used > len(size) - 4:
                return None  # more eigenvectors have weight than are kept
            residual = HW @ U[:, :used] - V[:, :used] * values[:used]
            error = float(np.linalg.norm(residual))
            if error <= self.accuracy / 2:
                cut = size[0] - self._gap - error
                if not self._holds_no_more(H, V[:, :used], values[:used], cut, bound):
                    return None
                return replace(self, basis=V, values=values, used=used, updated=True)
        return None

    def _filtered(self, H: np.ndarray, V: np.ndarray, values: np.ndarray, bound: float) -> np.ndarray:
        """T_m of H mapped so that the interval of the unwanted eigenvalues becomes [-1, 1], times V."""
        edge = float(np.min(self._size(values)))
        low, high = (-edge, edge) if len(self.on.signs) == 2 else (-edge, bound)
        middle, half = (low + high) / 2, (high - low) / 2
        if not half > 0:
            return V
        size = np.sqrt(np.maximum(np.abs((values - middle) / half), 1.0) ** 2 - 1) + np.maximum(
            np.abs((values - middle) / half), 1.0
        )
        before, now = V, (H @ V - middle * V) / (half * size)  # columns scaled: T_m grows as size^m
        for _ in range(DEGREE - 1):
            before, now = now, (2 / (half * size)) * (H @ now - middle * now) - before / size**2
        return now

    def _holds_no_more(self, H: np.ndarray, V: np.ndarray, values: np.ndarray, cut: float, bound: float) -> bool:
        """Whether H without the columns used has no exponent above ``cut``: one Cholesky factorization a sign."""
        diagonal = np.diag_indices_from(H)
        for sign in self.on.signs:
            lifted = sign * H + (V * (bound - sign * values)) @ V.conj().T
            lifted[diagonal] += cut
            if cholesky(lifted) is None:
                return False
        return True


@dataclass(frozen=True, eq=False)
class InverseIterationExponent(EigenUpdateExponent):
    """The same map, all eigenvectors updated as the thesis has it:

        v_j <- (G - mu_j I)^{-1} v_j,   mu_j = v_j^H G v_j,   then orthogonalized anew, from those of the last call

    With V orthogonal, V^H G V = Lambda + E gives || X - X(G) ||_* <= R ||E||_2: where ||E||_F is not within
    ``accuracy`` after `SWEEPS` sweeps, all are decomposed anew, and `remarks` counts it. A sweep solves n systems,
    n / 3 times the work of one: for teaching, and for comparison.
    """

    @property
    def _has_start(self) -> bool:
        return self.basis is not None

    def _decomposed(self, H: np.ndarray) -> EigenUpdateExponent:
        values, V = eigh(H)
        return replace(self, basis=V, values=values, used=len(values), updated=False)

    def _updated(self, H: np.ndarray) -> EigenUpdateExponent | None:
        V, eye = self.basis, np.eye(self.on.n)
        assert V is not None
        for sweep in range(SWEEPS + 1):
            rotated = V.conj().T @ H @ V
            values = np.real(np.diagonal(rotated))
            size = float(np.linalg.norm(rotated))
            if np.linalg.norm(rotated - np.diag(values)) <= self.accuracy + 4 * self.on.n * EPS * size:
                return replace(self, basis=V, values=values, used=len(values), updated=True)
            if sweep < SWEEPS:
                V = np.linalg.qr(np.stack([_nearer(H - mu * eye, v) for mu, v in zip(values, V.T, strict=True)], 1))[0]
        return None


def _nearer(shifted: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(G - mu I)^{-1} v, of norm 1; v where mu is an eigenvalue to the last digit."""
    try:
        solved = np.linalg.solve(shifted, v)
    except np.linalg.LinAlgError:
        return v
    size = float(np.linalg.norm(solved))
    return solved / size if 0 < size < math.inf else v


def _beyond(H: np.ndarray) -> float:
    """A number at or above ||H||_2, as a rule, and close to it: the filter is slow where it is not, and grows what it
    should damp where it is below.
    """
    start = np.random.default_rng(0).standard_normal(len(H))
    *_, space = krylov_spaces(H, start, 12)
    return float(np.max(np.abs(space.ritz[[0, -1]]) + space.residuals[[0, -1]]))
