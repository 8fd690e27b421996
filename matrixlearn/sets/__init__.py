"""The sets of a game: spectral sets S of matrices, polytopes Y of vectors."""

from matrixlearn.sets.knapsack import KnapsackSet
from matrixlearn.sets.spectral import (
    ScaledSimplex,
    SpectralBall,
    SpectralSet,
    Spectraplex,
    TraceBall,
)

__all__ = [
    "KnapsackSet",
    "ScaledSimplex",
    "SpectralBall",
    "SpectralSet",
    "Spectraplex",
    "TraceBall",
]
