"""Families whose optimum is a formula, and how far a double of it may be off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from matrixlearn.testing.exact.complementary import Rng
from matrixlearn.testing.exact.kinds import unit
from matrixlearn.testing.exact.program import ExactProgram

ULPS = Fraction(1, 2**48)
"""The relative error of a formula that is evaluated in doubles."""


def around(value: float) -> dict[str, Any]:
    """``low`` and ``high`` of a formula's value, of a matrix of trace one."""
    exact, room = Fraction(value), abs(Fraction(value)) * ULPS
    return {"low": exact - room, "high": exact + room, "trace": 1.0}


def theta_of_cycle(n: int) -> ExactProgram:
    """Lovasz's theta of an odd cycle, n cos(pi/n) / (1 + cos(pi/n)): its rows say tr X = 1."""
    A = np.array([*(unit(n, i, (i + 1) % n) for i in range(n)), np.eye(n)])
    cosine = np.cos(np.pi / n)
    b = np.append(np.zeros(n), 1.0)
    return ExactProgram(
        "theta of a cycle", np.ones((n, n)), A, b, ("==",) * (n + 1), rows="sparse", **around(n * cosine / (1 + cosine))
    )


def quadratic_over_linear(k: float) -> ExactProgram:
    """min X_00 + k^2 X_11, X_01 >= 1: 2 k."""
    X = np.array([[k, 1.0], [1.0, 1 / k]])
    program = ExactProgram(
        "min X00 + k^2 X11", -np.diag([1.0, k * k]), np.array([unit(2, 0, 1)]), np.array([1.0]), (">=",),
        X=X, y=np.array([-2 * k]),
    )  # fmt: skip
    return replace(program, low=-Fraction(2 * k), high=-Fraction(2 * k))


def arrow(n: int) -> ExactProgram:
    """max sum_i 2 X_0i with X_ii = 1: X_0i = 1 for all i."""
    C = np.zeros((n, n))
    C[0, 1:] = C[1:, 0] = 1.0
    A = np.array([unit(n, i, i) for i in range(n)])
    y = np.append(n - 1.0, np.ones(n - 1))
    return ExactProgram("unit diagonal", C, A, np.ones(n), ("==",) * n, X=np.ones((n, n)), y=y).evaluated()


def largest_eigenvalue(n: int) -> ExactProgram:
    """max C . X, tr X = 1, C the path's adjacency: 2 cos(pi / (n + 1))."""
    C = np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    return ExactProgram(
        "largest eigenvalue", C, np.eye(n)[None], np.ones(1), ("==",), **around(2 * np.cos(np.pi / (n + 1)))
    )


def distance(n: int) -> ExactProgram:
    """max -X_nn, X_0j = c_j, X_00 = 1: the Schur complement says X_jj >= c_j^2; sum_j c_j^2 for integers c."""
    c = np.arange(1.0, n)
    A = np.array([unit(n, 0, 0), *(unit(n, 0, j) for j in range(1, n))])
    v = np.append(1.0, c)
    # -(sum_j X_jj) + 2 sum_j c_j X_0j <= (c.c) X_00
    y = np.append(c @ c, -2 * c)
    return ExactProgram(
        "Schur complement", -np.diag(np.append(0.0, np.ones(n - 1))), A, v, ("==",) * n, X=np.outer(v, v), y=y
    ).evaluated()


CLOSED_FORMS: tuple[Callable[[Rng], ExactProgram], ...] = (
    lambda rng: theta_of_cycle(int(rng.choice([3, 5, 7, 9]))),
    lambda rng: quadratic_over_linear(2.0 ** int(rng.integers(0, 20))),
    lambda rng: arrow(int(rng.integers(2, 8))),
    lambda rng: largest_eigenvalue(int(rng.integers(2, 8))),
    lambda rng: distance(int(rng.integers(2, 7))),
)
