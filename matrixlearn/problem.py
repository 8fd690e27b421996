"""Base classes and building blocks for plugin authors."""

from matrixlearn._memory import require_memory
from matrixlearn._validation import (
    as_array,
    as_hermitian,
    as_number,
    as_real_vector,
    as_samples,
    as_weights,
    require_real,
)
from matrixlearn.files import read_arrays
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.maps import (
    DenseMap,
    LinearMap,
    RankOneMap,
    SparseMap,
)
from matrixlearn.problems import (
    Bound,
    Game,
    GameProblem,
    LinearSDP,
    MulticonvexProblem,
    Play,
    Problem,
    UnitDiagonalProblem,
)
from matrixlearn.sets import (
    KnapsackSet,
    ScaledSimplex,
    SpectralBall,
    SpectralSet,
    Spectraplex,
    TraceBall,
)

__all__ = [
    "Bound",
    "DenseMap",
    "FactoredMatrix",
    "Game",
    "GameProblem",
    "KnapsackSet",
    "LinearMap",
    "LinearSDP",
    "MulticonvexProblem",
    "Play",
    "Problem",
    "RankOneMap",
    "ScaledSimplex",
    "SparseMap",
    "SpectralBall",
    "SpectralSet",
    "Spectraplex",
    "TraceBall",
    "UnitDiagonalProblem",
    "as_array",
    "as_hermitian",
    "as_number",
    "as_real_vector",
    "as_samples",
    "as_weights",
    "read_arrays",
    "require_memory",
    "require_real",
]
