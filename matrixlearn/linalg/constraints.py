"""Former names of `matrixlearn.maps`; they go."""

from matrixlearn.maps import DenseMap as DenseFamily
from matrixlearn.maps import LinearMap as ConstraintFamily
from matrixlearn.maps import RankOneMap as RankOneFamily
from matrixlearn.maps import ScaledMap as SignedFamily
from matrixlearn.maps.base import CHUNK

__all__ = ["CHUNK", "ConstraintFamily", "DenseFamily", "RankOneFamily", "SignedFamily"]
