"""Mirror maps: losses -> matrix, and the numerics of computing them."""

from matrixlearn.exponents.base import Accumulating, Exponent, OnSet, Remembering, brought_near
from matrixlearn.exponents.clipped_logdet import ClippedLogDet, clipped_reciprocal
from matrixlearn.exponents.dense import DenseExponent
from matrixlearn.exponents.diagonal import DiagonalExponent
from matrixlearn.exponents.eigen_update import EigenUpdateExponent, InverseIterationExponent
from matrixlearn.exponents.entropy import entropy_on
from matrixlearn.exponents.half_exponent import ActionExponent, HalfExponent, SketchedExponent, TaylorExponent
from matrixlearn.exponents.kernelized import (
    KernelizedExponent,
    kernel_coordinates,
    span_coordinates,
)
from matrixlearn.exponents.logdet import LogDetExponent
from matrixlearn.exponents.signed import SignedExponent

__all__ = [
    "Accumulating",
    "ActionExponent",
    "ClippedLogDet",
    "DenseExponent",
    "DiagonalExponent",
    "EigenUpdateExponent",
    "Exponent",
    "HalfExponent",
    "InverseIterationExponent",
    "KernelizedExponent",
    "LogDetExponent",
    "OnSet",
    "Remembering",
    "SignedExponent",
    "SketchedExponent",
    "TaylorExponent",
    "brought_near",
    "clipped_reciprocal",
    "entropy_on",
    "kernel_coordinates",
    "span_coordinates",
]
