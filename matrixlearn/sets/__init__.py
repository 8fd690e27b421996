"""Where the two players live: spectral sets S for the matrix, polytopes Y for the vector."""

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
