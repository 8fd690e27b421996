"""Convex losses f(p, b) of a prediction p and a label b, with their conjugates and proximal maps."""

from matrixlearn.losses.base import Loss
from matrixlearn.losses.logistic import Logistic
from matrixlearn.losses.named import LOSSES, loss_named
from matrixlearn.losses.quadratic import (
    Absolute,
    Hinge,
    Huber,
    PiecewiseQuadratic,
    SmoothedHinge,
    Square,
    SquaredHinge,
)

__all__ = [
    "LOSSES",
    "Absolute",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "PiecewiseQuadratic",
    "SmoothedHinge",
    "Square",
    "SquaredHinge",
    "loss_named",
]
