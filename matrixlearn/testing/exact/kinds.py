"""Kinds of programs with an exactly known outcome, each drawn by a generator of random numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from matrixlearn.testing.exact.complementary import (
    Rng,
    both_interiors,
    complementary,
    drawn_size,
    inner,
    integer_row,
    no_dual_interior,
    no_interior,
    no_primal_interior,
    one_point,
)
from matrixlearn.testing.exact.program import ExactProgram

Kind = Callable[[Rng], ExactProgram]


def only_zero(rng: Rng) -> ExactProgram:
    """P . X = 0 with P > 0, among rows that hold at 0."""
    n = drawn_size(rng)
    C = integer_row(rng, n, is_complex=False, is_sparse=False)
    v = rng.integers(-2, 3, n).astype(float)
    P = np.eye(n) + np.outer(v, v)
    A, b, senses, y = [P], [0.0], [str(rng.choice(["==", "<="]))], [float(np.abs(C).sum())]
    for _ in range(int(rng.integers(0, 4))):
        A.append(integer_row(rng, n, is_complex=False, is_sparse=False))
        b.append(float(rng.integers(0, 3)))
        senses.append("<=" if b[-1] else str(rng.choice(["<=", "=="])))
        y.append(0.0)
    return ExactProgram(
        "only X = 0", C, np.array(A), np.array(b), tuple(senses), X=np.zeros((n, n)), y=np.array(y)
    ).evaluated()


def tiny_coefficient(rng: Rng) -> ExactProgram:
    """X_00 + e X_11 == h with e about 1e-6: the multiplier is 1/e, and what h misses counts so many times."""
    n, power = int(rng.integers(2, 6)), int(rng.integers(10, 31))
    e = 2.0**-power
    h = float(rng.choice([0.0, 1.0, 4.0])) * e * 2.0 ** -int(rng.integers(0, 4))
    a = np.zeros((n, n))
    a[0, 0], a[1, 1] = 1.0, e
    C = np.zeros((n, n))
    C[1, 1] = 1.0
    X = np.zeros((n, n))
    X[1, 1] = h / e
    return ExactProgram(
        "tiny coefficient", C, np.array([a, np.eye(n)]), np.array([h, 8.0]), (str(rng.choice(["==", "<="])), "<="), X=X,
        y=np.array([1 / e, 0.0]),
    ).evaluated()  # fmt: skip


def large_multipliers(rng: Rng) -> ExactProgram:
    """y* of 2^10 to 2^24 on equalities whose matrices are of size one."""
    n = int(rng.integers(2, 7))
    program = complementary(rng, n, rows=int(rng.integers(1, n + 2)), primal=bool(rng.integers(2)), dual=True)
    factor = np.where(program.equalities, 2.0 ** rng.integers(10, 25, len(program.b)), 1.0)
    y = factor * program.y
    C = program.C + np.tensordot(y - program.y, program.A, axes=1)
    return replace(program, C=C, y=y, kind="large multipliers").evaluated()


def nearly_dependent(rng: Rng) -> ExactProgram:
    """An equality that is another one plus 2^-k times a third."""
    n, k = int(rng.integers(2, 7)), int(rng.integers(10, 41))
    program = complementary(rng, n, rows=int(rng.integers(2, n + 2)), primal=bool(rng.integers(2)), dual=True)
    program = replace(program, senses=("==", "==", *program.senses[2:]))
    A, y, e = program.A.copy(), program.y, 2.0**-k
    A[1] = A[0] + e * A[1]
    b = program.b.copy()
    b[:2] = [inner(A[0], program.X), inner(A[0], program.X) + e * inner(program.A[1], program.X)]
    C = np.tensordot(y, A, axes=1) - (np.tensordot(program.y, program.A, axes=1) - program.C)
    return replace(program, A=A, b=b, C=C, kind="nearly dependent rows").evaluated()


def thin_interior(rng: Rng) -> ExactProgram:
    """Slack 2^-k in every inequality, and an equality written so."""
    n, k = drawn_size(rng), int(rng.integers(8, 31))
    program = complementary(rng, n, rows=int(rng.integers(1, n + 2)), primal=False, dual=True)
    slack = 2.0**-k
    for j in np.flatnonzero(program.equalities):
        program = program.halved(int(j))
    b = program.b.copy()
    loose = (program.y == 0) & ~program.equalities
    b[loose] += slack * program.signs[loose]
    return replace(program, b=b, kind="thin interior").evaluated()


def strongly_infeasible(rng: Rng) -> ExactProgram:
    """A*(z) >= 0 and b.z = -d, d one or about 1e-6 or 1e-7."""
    n = int(rng.integers(1, 8))
    base = complementary(
        rng, n, rows=int(rng.integers(1, n + 2)), primal=bool(rng.integers(2)), dual=bool(rng.integers(2))
    )
    size = int(rng.integers(0, n + 1))
    V = rng.integers(-1, 2, (n, size)).astype(float)
    z = np.where(base.equalities, rng.integers(-2, 3, len(base.b)), base.signs * rng.integers(0, 3, len(base.b)))
    d = float(rng.choice([1.0, 2.0**-20, 2.0**-23]))
    last = V @ V.T - np.tensordot(z, base.A, axes=1)
    right = -d - float(z @ base.b)
    sense = str(rng.choice(["<=", "=="]))
    return ExactProgram(
        f"infeasible by {d:.0e}", base.C, np.concatenate([base.A, last[None]]), np.append(base.b, right),
        (*base.senses, sense), "infeasible", y=np.append(z, 1.0),
    ).evaluated()  # fmt: skip


def infeasible_by_a_minor(rng: Rng) -> ExactProgram:
    """X_00 = X_11 = 1, X_01 >= 1 + d."""
    n, d = int(rng.integers(2, 5)), 2.0 ** -int(rng.integers(2, 40))
    A = np.zeros((3, n, n))
    A[0, 0, 0] = A[1, 1, 1] = 1.0
    A[2, 0, 1] = A[2, 1, 0] = 0.5
    return ExactProgram(
        "infeasible by a minor", integer_row(rng, n, is_complex=False, is_sparse=False), A,
        np.array([1.0, 1.0, 1.0 + d]), ("==", "==", ">="), "infeasible", y=np.array([1.0, 1.0, -2.0]),
    ).evaluated()  # fmt: skip


def weakly_infeasible(rng: Rng) -> ExactProgram:
    """X_00 = 0, X_01 = 1, and a chain of faces before it: nearly met by matrices without bound."""
    k = int(rng.integers(1, 4))
    n = k + 2
    A, b, faces = [unit(n, 0, 0)], [0.0], [[0]]
    for i in range(1, k):
        A.append(unit(n, i, i) - unit(n, i - 1, i + 1))
        b.append(0.0)
        faces.append([i])
    A.append(unit(n, k - 1, k))
    b.append(float(rng.integers(1, 4)))
    C = integer_row(rng, n, is_complex=False, is_sparse=False)
    y = np.zeros(k + 1)
    y[-1] = -1.0
    return ExactProgram(
        "weakly infeasible", C, np.array(A), np.array(b), ("==",) * (k + 1), "infeasible", y=y,
        faces=tuple(np.eye(k + 1)[j].ravel() for j in faces),
    ).evaluated()  # fmt: skip


def unit(n: int, i: int, j: int) -> np.ndarray:
    """A with A . X = X_ij."""
    A = np.zeros((n, n))
    A[i, j] += 0.5
    A[j, i] += 0.5
    return A


def chain(rng: Rng) -> ExactProgram:
    """Up to eight squares, one after the other."""
    return chain_of(int(rng.integers(1, 9)))


def chain_of(k: int) -> ExactProgram:
    """x_0^2 <= x_1, x_1^2 <= x_2, ..., x_{k-1}^2 <= 0 in 2 x 2 blocks: max x_0 = 0, and 2^k digits are lost."""
    n, A, b = 2 * k, [], []
    for i in range(k):
        A.append(unit(n, 2 * i + 1, 2 * i + 1))
        b.append(1.0)
        A.append(unit(n, 2 * i, 2 * i) - (unit(n, 2 * i + 2, 2 * i + 3) if i < k - 1 else 0.0))
        b.append(0.0)
    X = np.zeros((n, n))
    X[1::2, 1::2] = np.eye(k)
    order = [2 * i + 1 for i in range(k)][::-1]
    # X* lies in the relative interior of the last face only with x = 0; the optimum is 0 on it
    return ExactProgram(
        "chain", unit(n, 0, 1), np.array(A), np.array(b), ("==",) * len(b), X=X, y=np.zeros(len(b)),
        faces=tuple(np.eye(len(b))[j] for j in order),
    ).evaluated()  # fmt: skip


def duality_gap(rng: Rng) -> ExactProgram:
    """max -a X_00 with X_11 = 0, X_00 + 2 X_12 = 1 is -a; on the whole cone the dual program says 0."""
    n, a = int(rng.integers(3, 6)), float(rng.integers(1, 5))
    A = [unit(n, 1, 1), unit(n, 0, 0) + 2 * unit(n, 1, 2)]
    X = unit(n, 0, 0)
    return ExactProgram(
        "duality gap", -a * unit(n, 0, 0), np.array(A), np.array([0.0, 1.0]), ("==", "=="), X=X, y=np.array([0.0, -a]),
        faces=(np.array([1.0, 0.0]),),
    ).evaluated()  # fmt: skip


def faces_in_faces(rng: Rng) -> ExactProgram:
    """X_00 = 0, X_ii = X_{i-1,i+1}: one after the other is 0, and then X_{k-1,k+1} is."""
    k = int(rng.integers(1, 6))
    n = k + 2
    A = [unit(n, 0, 0), *(unit(n, i, i) - unit(n, i - 1, i + 1) for i in range(1, k)), unit(n, n - 1, n - 1)]
    X = unit(n, n - 1, n - 1)
    return ExactProgram(
        "faces in faces", 2 * unit(n, k - 1, n - 1), np.array(A), np.array([0.0] * k + [1.0]), ("==",) * (k + 1), X=X,
        y=np.zeros(k + 1), faces=tuple(np.eye(k + 1)[j] for j in range(k)),
    ).evaluated()  # fmt: skip


def unbounded(rng: Rng) -> ExactProgram:
    """A ray D >= 0 with A(D) = 0 and C . D > 0."""
    n = int(rng.integers(1, 8))
    base = complementary(rng, n, rows=int(rng.integers(1, n + 2)), primal=bool(rng.integers(2)), dual=False)
    L = np.tril(rng.integers(-1, 2, (n, n)), -1) + np.eye(n)
    rank = int(rng.integers(1, n + 1))
    D = L[:, :rank] @ L[:, :rank].T  # D_00 = 1
    A, C = base.A.copy(), base.C.copy()
    for j, a in enumerate(A):
        a[0, 0] -= inner(a, D)
        if base.senses[j] != "==" and rng.random() < 0.3:
            a[0, 0] -= base.signs[j]
    C[0, 0] += float(rng.choice([1.0, 2.0**-10])) - inner(C, D)
    b = np.array([inner(a, base.X) for a in A])
    slack = ~base.equalities & (rng.random(len(b)) < 0.5)
    b = b + slack * base.signs
    return ExactProgram("unbounded", C, A, b, base.senses, "unbounded", X=base.X, ray=D).evaluated()


def not_attained(rng: Rng) -> ExactProgram:
    """min X_00 with X_01 = t: 0, which no X reaches."""
    t = float(rng.integers(1, 4))
    n = int(rng.integers(2, 4))
    return ExactProgram(
        "not attained",
        -unit(n, 0, 0),
        np.array([unit(n, 0, 1)]),
        np.array([t]),
        ("==",),
        trace=1e3,
        low=Fraction(0),
        high=Fraction(0),
    )


def nearly_semidefinite(rng: Rng) -> ExactProgram:
    """2 X_01 with X_00 = e X_11 and tr X = 1: 2 sqrt(e) / (1 + e), e from 2^-50 to 2^-4, a square."""
    half = int(rng.integers(2, 26))
    e, root = Fraction(1, 4**half), Fraction(1, 2**half)
    optimum = 2 * root / (1 + e)
    A = np.array([unit(2, 0, 0) - float(e) * unit(2, 1, 1), np.eye(2)])
    senses = (str(rng.choice(["==", "<="])), str(rng.choice(["==", "<="])))
    return ExactProgram(
        "nearly semidefinite", 2 * unit(2, 0, 1), A, np.array([0.0, 1.0]), senses, trace=1.0, low=optimum, high=optimum
    )


def trace_too_small(rng: Rng) -> ExactProgram:
    """tr X >= t beyond the trace bound."""
    n = drawn_size(rng)
    base = complementary(rng, n, rows=int(rng.integers(1, n + 2)), primal=True, dual=False)
    t = float(rng.integers(2, 50))
    R = t * (1 - float(rng.choice([2.0**-1, 2.0**-10, 2.0**-20])))
    program = base.with_row(np.eye(n), t, str(rng.choice([">=", "=="])))
    # the bound itself is what makes it infeasible, so that there is no proof by rows
    return replace(
        program, kind="trace bound too small", outcome="infeasible", X=None, y=None, trace_bound=R
    ).evaluated()


def trace_bound_met(rng: Rng) -> ExactProgram:
    """tr X = R, as one row or as two, or tr X >= R: no interior below R."""
    n = drawn_size(rng)
    base = complementary(rng, n, rows=int(rng.integers(1, n + 2)), primal=True, dual=False)
    if not inner(np.eye(n), base.X):
        return replace(base, kind="trace bound met")
    t = inner(np.eye(n), base.X)
    program = base.with_row(np.eye(n), t, str(rng.choice([">=", "=="])))
    if rng.random() < 0.4:
        program = program.with_row(np.eye(n), t, "<=")
    return replace(program, kind="trace bound met", trace_bound=t if rng.random() < 0.7 else None)


def trace_bound_binds(rng: Rng) -> ExactProgram:
    """C = A*(y*) + p I - S* with p > 0 and tr X* = R."""
    n = drawn_size(rng)
    rows, is_complex = int(rng.integers(1, n + 2)), rng.random() < 0.2
    program = complementary(rng, n, rows=rows, primal=True, dual=False, is_complex=is_complex)
    t, p = inner(np.eye(n), program.X), float(rng.integers(1, 5))
    if not t:
        return replace(program, kind="trace bound binds")
    bound = replace(program, C=program.C + p * np.eye(n), price=p, trace_bound=t, kind="trace bound binds")
    return bound.evaluated()


KINDS: tuple[Kind, ...] = (
    both_interiors,
    both_interiors,
    no_primal_interior,
    no_primal_interior,
    no_dual_interior,
    no_interior,
    one_point,
    only_zero,
    tiny_coefficient,
    large_multipliers,
    nearly_dependent,
    thin_interior,
    strongly_infeasible,
    infeasible_by_a_minor,
    weakly_infeasible,
    chain,
    duality_gap,
    faces_in_faces,
    unbounded,
    not_attained,
    nearly_semidefinite,
    trace_too_small,
    trace_bound_met,
)
