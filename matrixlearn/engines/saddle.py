"""Functions that several engines for saddle points use: the geometry of S and Y, and the values of iterates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from matrixlearn.engines.incumbent import Incumbent
from matrixlearn.engines.spectrum import Spectrum
from matrixlearn.linalg.projections import onto_nuclear_ball, onto_simplex, onto_trace_ball
from matrixlearn.problems.game import Game
from matrixlearn.sets import KnapsackSet, ScaledSimplex, SpectralBall, SpectralSet, Spectraplex, TraceBall
from matrixlearn.typing import Array


@singledispatch
def nearest_eigenvalues(spectral_set: SpectralSet, w: np.ndarray) -> np.ndarray:
    """The nearest eigenvalues to w, (n,), that S allows; a set of your own registers its function."""
    raise NotImplementedError


@nearest_eigenvalues.register(Spectraplex)
@nearest_eigenvalues.register(ScaledSimplex)
def _(spectral_set: SpectralSet, w: np.ndarray) -> np.ndarray:
    return onto_simplex(w, spectral_set.trace)


@nearest_eigenvalues.register(TraceBall)
def _(spectral_set: SpectralSet, w: np.ndarray) -> np.ndarray:
    return onto_trace_ball(w, spectral_set.trace)


@nearest_eigenvalues.register(SpectralBall)
def _(spectral_set: SpectralSet, w: np.ndarray) -> np.ndarray:
    return onto_nuclear_ball(w, spectral_set.trace)


def nearest(spectral_set: SpectralSet, F: Array) -> Array:
    """The Euclidean projection of F on S: one eigendecomposition a block."""
    spectrum = Spectrum.of(spectral_set, F)
    return spectrum.with_values(nearest_eigenvalues(spectral_set, spectrum.w))


@dataclass(frozen=True, eq=False)
class ScaledSet:
    """Y in the coordinates z = d o y, in which its Euclidean norm is the metric ||d o y||_2."""

    d: np.ndarray
    inner: KnapsackSet

    @classmethod
    def of(cls, Y: KnapsackSet, d: np.ndarray) -> ScaledSet:
        """Y scaled by the positive numbers d."""
        weights = None if Y.weights is None else Y.weights / d
        return cls(d, KnapsackSet(Y.lower * d, Y.upper * d, weights, Y.row_lower, Y.row_upper))

    def nearest(self, z: np.ndarray) -> np.ndarray:
        """The Euclidean projection of z on it."""
        return self.inner.project(z)


def metric(game: Game) -> np.ndarray:
    """d_j = ||A_j||_2, so that every A_j / d_j has norm one; the largest where A_j = 0."""
    norms = game.A.norms
    largest = float(np.max(norms))
    return np.where(norms > 1e-8 * largest, norms, largest) if largest > 0 else np.ones(len(norms))


def lower_value(game: Game, X: Array) -> float:
    """The lower bound that X in S proves, itself or repaired, without an allowance for rounding."""
    value, repaired = game.lower(X)[0], game.repaired(X)
    return value if repaired is X else max(value, game.lower(repaired)[0])


def proven_width(game: Game, X: Array, y: np.ndarray, image: Array) -> float:
    """upper - lower that X and y prove but for rounding, image = C - A(y): one list of eigenvalues."""
    upper = float(game.c @ y) + game.S.support(image)
    return max(upper - lower_value(game, X), 0.0)


def rounded_out(game: Game, y: np.ndarray, incumbent: Incumbent) -> str:
    """Why to stop where the bounds differ by no more than rounding may; empty where they differ by more."""
    if incumbent.upper - incumbent.lower > 4 * game.rounding(y):
        return ""
    return "the bounds differ by their allowance for rounding: numerical limit"


def projects(spectral_set: Any) -> bool:
    """Whether `nearest_eigenvalues` knows the set."""
    return nearest_eigenvalues.dispatch(type(spectral_set)) is not nearest_eigenvalues.dispatch(object)


def diameter(Y: KnapsackSet, d: np.ndarray) -> float:
    """A number D >= ||d o (y - y')||_2 for all y, y' in a bounded Y: of its box, or of the simplex around it."""
    sides = Y.upper - Y.lower
    if Y.weights is None or not np.isfinite(Y.row_upper):
        return float(np.linalg.norm(d * sides))
    room = max(Y.row_upper - float(Y.weights @ Y.lower), 0.0)
    sides = d * np.minimum(sides, room / Y.weights)
    largest = np.sort(d * room / Y.weights)[-2:]  # the longest edge between two vertices
    return float(min(np.linalg.norm(sides), np.linalg.norm(largest)))
