"""Former name of `matrixlearn.maps.NewtonTerms`; it goes."""

from matrixlearn.maps import Basis as Span
from matrixlearn.maps import NewtonTerms as Moments

__all__ = ["Moments", "Span"]
