"""The von Neumann mirror map of a spectral set, by the routine that suits its structure."""

from __future__ import annotations

from functools import singledispatch

from matrixlearn.exponents.base import Exponent
from matrixlearn.exponents.dense import DenseExponent
from matrixlearn.exponents.diagonal import DiagonalExponent
from matrixlearn.exponents.signed import SignedExponent
from matrixlearn.sets import ScaledSimplex, SpectralBall, SpectralSet


@singledispatch
def entropy_on(spectral_set: SpectralSet) -> Exponent:
    """The exponent routine of a set; a set of your own registers one: ``entropy_on.register(MySet, MyExponent)``."""
    return DenseExponent(spectral_set)


entropy_on.register(SpectralBall, SignedExponent)
entropy_on.register(ScaledSimplex, DiagonalExponent)
