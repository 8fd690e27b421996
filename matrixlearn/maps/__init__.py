"""Linear maps y -> A(y) = sum_j y_j A_j between vectors and Hermitian matrices."""

from matrixlearn.maps.base import DenseMap, LinearMap
from matrixlearn.maps.compressed import CompressedMap
from matrixlearn.maps.diagonal import DiagonalMap
from matrixlearn.maps.newton_terms import Basis, NewtonTerms
from matrixlearn.maps.rank_one import RankOneMap
from matrixlearn.maps.scaled import ScaledMap
from matrixlearn.maps.sparse import SparseMap
from matrixlearn.maps.stacked import StackedMap

__all__ = [
    "Basis",
    "CompressedMap",
    "DenseMap",
    "DiagonalMap",
    "LinearMap",
    "NewtonTerms",
    "RankOneMap",
    "ScaledMap",
    "SparseMap",
    "StackedMap",
]
