"""Programs of X* and S* with complementary ranges, so that X* S* = 0 exactly.

A unimodular integer T has the inverse W^H: X* lives on the first columns of T and S* on the last of W. With b = A(X*),
or slack where y*_j = 0, and C = A*(y*) - S*, both are optimal.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from matrixlearn.testing.exact.program import ExactProgram

Rng = np.random.Generator


def unimodular(rng: Rng, n: int, is_complex: bool = False, operations: int | None = None) -> tuple[np.ndarray, ...]:
    """An integer matrix of determinant 1, and its inverse."""
    T = np.eye(n, dtype=complex if is_complex else float)
    inverse = T.copy()
    for _ in range(0 if n == 1 else n if operations is None else operations):
        i, j = rng.choice(n, 2, replace=False)
        k = rng.choice([1, -1, 1j, -1j] if is_complex else [1.0, -1.0])
        T[i] += k * T[j]
        inverse[:, j] -= k * inverse[:, i]
    return T, inverse


def integer_row(rng: Rng, n: int, is_complex: bool, is_sparse: bool) -> np.ndarray:
    """A Hermitian matrix of small integers, of up to three entries where sparse."""
    G = rng.integers(-3, 4, (n, n)).astype(complex if is_complex else float)
    if is_complex:
        G += 1j * rng.integers(-2, 3, (n, n))
    if is_sparse:
        kept = np.zeros(n * n, dtype=bool)
        kept[rng.choice(n * n, min(3, n * n), replace=False)] = True
        G = np.where(kept.reshape(n, n), G, 0)
    upper = np.triu(G, 1)
    return upper + upper.conj().T + np.diag(np.diag(G).real)


def inner(A: np.ndarray, X: np.ndarray) -> float:
    """Re tr(A^H X), exact for small integers."""
    return float(np.sum(A.conj() * X).real)


def complementary(
    rng: Rng, n: int, *, rows: int, primal: bool, dual: bool, is_complex: bool = False, form: str = "dense"
) -> ExactProgram:
    """X* and S* of complementary ranges; ``primal`` and ``dual`` interiors where they are asked for.

    D > 0 with D_00 = 1 is the way from X* into the interior: A_00 of each row is moved until A . D is 0 for an equality
    and on the inner side for an active inequality.
    """
    T, inverse = unimodular(rng, n, is_complex)
    W = inverse.conj().T
    rank = int(rng.integers(0, n + 1)) if n > 1 else int(rng.integers(0, 2))
    corank = int(rng.integers(0, n - rank + 1))
    X = (T[:, :rank] * rng.integers(1, 4, rank)) @ T[:, :rank].conj().T
    S = (W[:, n - corank :] * rng.integers(1, 4, corank)) @ W[:, n - corank :].conj().T
    L = np.tril(rng.integers(-1, 2, (n, n)), -1) + np.eye(n)
    D = L @ L.T
    A: list[np.ndarray] = []
    b, senses, y, factors = [], [], [], []
    a: np.ndarray
    v: np.ndarray
    for _ in range(rows):
        sense, active = str(rng.choice(["<=", ">=", "=="])), rng.random() < 0.6
        side = {"<=": 1.0, ">=": -1.0, "==": 0.0}[sense]
        if form == "rank one":
            v = rng.integers(-1, 3, n) + (1j * rng.integers(-1, 2, n) if is_complex else 0.0)
            a = np.outer(v, v.conj())
            factors.append(v)
            if primal and sense == "==":
                sense, side = ">=", -1.0
            active = active and (not primal or side < 0)
        else:
            a = integer_row(rng, n, is_complex, form == "sparse")
            if primal and (side == 0 or active):
                a[0, 0] -= inner(a, D) + side
        reached = inner(a, X)
        slack = 0.0 if side == 0 or active else side * (float(rng.integers(1, 9)) + abs(inner(a, D)))
        A.append(a)
        b.append(reached + slack)
        senses.append(sense)
        y.append(float(rng.integers(-4, 5)) if side == 0 else side * float(rng.integers(0, 5)) * (slack == 0))
    if not primal and rank < n:
        v = W[:, rank:] @ rng.integers(-1, 2, n - rank)
        A.append(np.outer(v, v.conj()))
        factors.append(v)
        b.append(0.0)
        senses.append("==")
        y.append(float(rng.integers(-2, 3)))
    if dual:
        A.append(np.eye(n).astype(T.dtype))
        b.append(inner(np.eye(n), X + D) + float(rng.integers(1, 9)))
        senses.append("<=")
        y.append(0.0)
    rows_of = np.array(A).reshape(-1, n, n)
    C = np.tensordot(np.array(y), rows_of, axes=1) - S
    program = ExactProgram(
        kind=f"{'' if primal else 'no '}primal, {'' if dual else 'no '}dual interior",
        C=C, A=rows_of, b=np.array(b), senses=tuple(senses), X=X, y=np.array(y),
        rows="dense" if form == "rank one" and dual else form,
        factors=np.array(factors) if form == "rank one" and not dual else None,
    )  # fmt: skip
    return program.evaluated()


def drawn_size(rng: Rng) -> int:
    """One to twelve."""
    return int(rng.integers(1, 8)) if rng.random() < 0.8 else int(rng.integers(8, 13))


def _drawn(rng: Rng, primal: bool, dual: bool) -> ExactProgram:
    n = drawn_size(rng)
    rows = int(rng.integers(1, 1 + max(1, n * (n + 1) // 3)))
    form = str(rng.choice(["dense", "sparse", "rank one"]))
    program = complementary(rng, n, rows=rows, primal=primal, dual=dual, is_complex=rng.random() < 0.25, form=form)
    return program if dual else _with_free_coordinate(rng, program)


def _with_free_coordinate(rng: Rng, program: ExactProgram) -> ExactProgram:
    """One coordinate more that no row and no cost reads: a ray of optimal matrices."""
    free = ExactProgram(
        "free", np.zeros((1, 1)), np.zeros((0, 1, 1)), np.zeros(0), (), X=np.zeros((1, 1)), y=np.zeros(0)
    )
    wider = replace(program.beside(free), kind=program.kind, rows="dense")
    return wider.congruent(*unimodular(rng, wider.n, operations=2))


def both_interiors(rng: Rng) -> ExactProgram:
    """Slater's condition on both sides."""
    return _drawn(rng, primal=True, dual=True)


def no_primal_interior(rng: Rng) -> ExactProgram:
    """A row v^H X v = 0, or inequalities that meet."""
    return _drawn(rng, primal=False, dual=True)


def no_dual_interior(rng: Rng) -> ExactProgram:
    """Optimal matrices without end."""
    return _drawn(rng, primal=True, dual=False)


def no_interior(rng: Rng) -> ExactProgram:
    """Neither."""
    return _drawn(rng, primal=False, dual=False)


def one_point(rng: Rng) -> ExactProgram:
    """As many equalities as X has entries: one feasible X."""
    n = int(rng.integers(1, 6))
    program = complementary(rng, n, rows=n * (n + 1) // 2 + 1, primal=False, dual=False)
    b = np.array([inner(a, program.X) for a in program.A])
    return replace(program, b=b, senses=("==",) * len(b), kind="one feasible point").evaluated()
