"""Former name of `matrixlearn.maps.SparseMap`; it goes."""

from matrixlearn.maps import SparseMap as SparseFamily

__all__ = ["SparseFamily"]
