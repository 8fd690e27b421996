"""Former name of `matrixlearn.maps.CompressedMap`; it goes."""

from matrixlearn.maps import CompressedMap as CompressedFamily

__all__ = ["CompressedFamily"]
