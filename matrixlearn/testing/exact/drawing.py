"""A program by its seed: a kind, and ways to write the same program otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from matrixlearn.testing.exact.closed_forms import CLOSED_FORMS
from matrixlearn.testing.exact.complementary import Rng, complementary, unimodular
from matrixlearn.testing.exact.kinds import KINDS, chain_of, trace_bound_binds
from matrixlearn.testing.exact.program import ExactProgram

LARGEST = 2.0**48
"""Of a coefficient against the least beside it: what exceeds it would be no double before long."""


def exact_program(seed: int) -> ExactProgram:
    """The program of a seed: kinds take turns, what is done to them is drawn."""
    rng = np.random.default_rng(seed)
    program = KINDS[seed % len(KINDS)](rng)
    if seed % 31 == 30:
        program = CLOSED_FORMS[seed // 31 % len(CLOSED_FORMS)](rng)
    if seed % 37 == 36:
        program = trace_bound_binds(rng)
    if seed % 97 == 96:
        program = large(rng)
    program = disguised(rng, program)
    return bounded(rng, program)


def large(rng: Rng) -> ExactProgram:
    """Order 30."""
    program = complementary(
        rng, 30, rows=int(rng.integers(5, 40)), primal=bool(rng.integers(2)), dual=True, form="sparse"
    )
    return replace(program, kind=program.kind + ", n = 30")


def disguised(rng: Rng, program: ExactProgram) -> ExactProgram:
    """The same program: another basis, other rows, other units; each with a chance."""
    if program.trace_bound is None and program.n < 7 and rng.random() < 0.08:
        small = complementary(rng, int(rng.integers(1, 4)), rows=2, primal=True, dual=True)
        if program.X is not None or program.outcome == "infeasible":
            program = replace(program.beside(small), kind=program.kind)
    if program.trace_bound is None:
        if rng.random() < 0.4 and program.n > 1:
            program = _safe(
                program, program.congruent(*unimodular(rng, program.n, operations=int(rng.integers(1, program.n + 1))))
            )
        if rng.random() < 0.25:
            d = 2.0 ** rng.integers(-6, 7, program.n) if rng.random() < 0.5 else 2.0 ** rng.integers(-13, 14, program.n)
            program = _safe(program, program.congruent(np.diag(d), np.diag(1 / d)))
    equal = np.flatnonzero(program.equalities)
    if len(equal) > 1 and rng.random() < 0.4:
        program = _safe(program, mixed(rng, program, int(rng.integers(1, 2 * len(equal) + 1))))
    for _ in range(int(rng.integers(0, 3))):
        if rng.random() < 0.4 and len(program.b):
            program = program.repeated(int(rng.integers(len(program.b))), float(rng.choice([1.0, 2.0, 3.0])))
    if len(equal) and rng.random() < 0.2:
        for j in equal if rng.random() < 0.5 else equal[:1]:
            program = program.halved(int(j))
    if len(program.b) and rng.random() < 0.3:
        program = program.flipped(rng.random(len(program.b)) < 0.3)
    if rng.random() < 0.3:
        program = program.permuted(rng.permutation(len(program.b)))
    if rng.random() < 0.25:
        program = program.scaled_rows(4.0 ** rng.integers(-10, 11, len(program.b)))
    if rng.random() < 0.25:
        program = program.in_units(*(2.0 ** rng.integers(-26, 27, 2)))
    if program.rows == "dense" and rng.random() < 0.3:
        program = replace(program, rows="sparse")
    return program


def mixed(rng: Rng, program: ExactProgram, operations: int) -> ExactProgram:
    """Equalities added to rows, so often: an integer matrix of determinant 1."""
    equal = np.flatnonzero(program.equalities)
    for _ in range(operations):
        j = int(rng.choice(equal))
        i = int(rng.choice(equal if rng.random() < 0.8 else len(program.b)))
        if i != j:
            program = program.added(i, j, float(rng.choice([1, -1, 2, -2])))
    return program


def mixed_chain(k: int, seed: int) -> ExactProgram:
    """The chain of k squares, its 2 k equalities mixed."""
    return mixed(np.random.default_rng(seed), chain_of(k), 12 * k)


def bounded(rng: Rng, program: ExactProgram) -> ExactProgram:
    """With a trace bound from the trace of X* to 1e10 times that, or with none."""
    if program.trace_bound is not None or program.kind == "not attained" or rng.random() < 0.5:
        return program
    trace = program.roomy_trace if program.X is None else float(np.trace(program.X).real)
    times = float(rng.choice([1.0, 2.0, 1e2, 1e4, 1e6, 1e10]))
    room = 1 + 2.0**-50 if times == 1 else 1.0  # the sum of the diagonal is rounded
    return replace(program, trace_bound=times * trace * room if trace else times)


def _safe(before: ExactProgram, after: ExactProgram) -> ExactProgram:
    """``after``, unless its numbers are about to be rounded."""
    sizes = np.abs(
        np.concatenate([after.C.ravel(), after.A.ravel(), after.b, np.zeros(1) if after.y is None else after.y])
    )
    sizes = sizes[sizes > 0]
    return after if not len(sizes) or np.max(sizes) / np.min(sizes) < LARGEST else before
