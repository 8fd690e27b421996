"""Rows of a linear program that combine to a given matrix, such as I: they bound the trace."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from matrixlearn.linalg import frobenius, inner, sym
from matrixlearn.maps import LinearMap

NEARLY = 1e-12
"""Part of the target below which a multiple of a row in it is rounding."""


def combinations(family: LinearMap, sizes: np.ndarray, equal: np.ndarray, target: np.ndarray) -> Iterator[np.ndarray]:
    """z with A(z) about the target, z_j >= 0 outside E: of the equalities alone, and of all rows; ``sizes`` are those
    of the A_j.
    """
    every = np.ones(len(equal), dtype=bool)
    for rows in (equal, every) if not np.all(equal) else (every,):
        if np.any(rows):
            z, residual = combination(family, rows, target)
            z = np.where(np.abs(z) * sizes > NEARLY * frobenius(target), z, 0.0)
            if residual <= 1e-9 * frobenius(target) and np.all(equal | (z >= 0)):
                yield z


def combination(family: LinearMap, rows: np.ndarray, target: np.ndarray, most: int = 30) -> tuple[np.ndarray, float]:
    """(y, ||target - sum_j y_j A_j||_F) by conjugate gradients on the normal equations, y_j = 0 outside ``rows``: exact
    after as many steps as there are different singular values, which are few where a program states what its X must be.
    """
    y, residual = np.zeros(family.shape[0]), target
    gradient = np.where(rows, family.adjoint(residual), 0.0)
    direction, square = gradient, float(gradient @ gradient)
    rounding = 1e-24 * square
    for _ in range(most):
        image = family.apply(direction)
        curvature = inner(image, image)
        if not (square > rounding and curvature > 0):
            break
        step = square / curvature
        y, residual = y + step * direction, residual - step * sym(image)
        gradient, before = np.where(rows, family.adjoint(residual), 0.0), square
        square = float(gradient @ gradient)
        direction = gradient + square / before * direction
    return y, frobenius(residual)
