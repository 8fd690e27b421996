"""Base classes and building blocks for plugin authors."""

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
from matrixlearn.linalg.constraints import (
    ConstraintFamily,
    DenseFamily,
    RankOneFamily,
)
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.linalg.sparse_family import SparseFamily
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
    "ConstraintFamily",
    "DenseFamily",
    "FactoredMatrix",
    "FamilyGame",
    "KnapsackSet",
    "LinearSDP",
    "MulticonvexProblem",
    "Problem",
    "RankOneFamily",
    "ScaledSimplex",
    "SparseFamily",
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
    "require_real",
]
