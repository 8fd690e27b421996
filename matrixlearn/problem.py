"""Base classes and building blocks for plugin authors."""

from matrixlearn._memory import require_memory
from matrixlearn._validation import (
    as_array,
    as_hermitian,
    as_number,
    as_real_vector,
    as_samples,
    as_weights,
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
    FamilyGame,
    LinearSDP,
    MulticonvexProblem,
    Problem,
    SpectralGame,
    UnitDiagonalGame,
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
    "FamilyGame",
    "KnapsackSet",
    "LinearMap",
    "LinearSDP",
    "MulticonvexProblem",
    "Problem",
    "RankOneMap",
    "ScaledSimplex",
    "SparseMap",
    "SpectralBall",
    "SpectralGame",
    "SpectralSet",
    "Spectraplex",
    "TraceBall",
    "UnitDiagonalGame",
    "as_array",
    "as_hermitian",
    "as_number",
    "as_real_vector",
    "as_samples",
    "as_weights",
    "read_arrays",
    "require_memory",
]
