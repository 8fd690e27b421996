"""Laws of the bounds: weak duality, cvxpy's optimum, feasibility, forgery."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from hypothesis import assume, note
from hypothesis import strategies as st

from matrixlearn._array import EPS, as_numpy
from matrixlearn._certify import certify
from matrixlearn._choice import methods
from matrixlearn.exceptions import CertificateError
from matrixlearn.linalg import frobenius
from matrixlearn.problems import GameProblem, MulticonvexProblem, Problem
from matrixlearn.problems.played import Played
from matrixlearn.testing.asserts import (
    assert_at_most,
    assert_close,
    assert_in_dual_set,
    assert_in_spectral_set,
    fail,
    holds,
)
from matrixlearn.testing.laws.base import (
    ProblemOrClass,
    abstain,
    law_of,
    random_hermitian,
    random_member,
    random_multipliers,
    size_at,
    solved,
)
from matrixlearn.testing.laws.coordinates import in_coordinates
from matrixlearn.testing.reference import (
    as_matrix,
    assert_between,
    dense_constraints,
    dense_cost,
    linear_minimum,
    optimum,
    optimum_of,
    support,
    violations,
)
from matrixlearn.testing.strategies import rotation


@law_of(GameProblem)
def check_bounds_are_their_definition(p: Any, rng: np.random.Generator) -> None:
    """bound_from_vector(y).upper = c.y + sigma_S(C - A(y)) and bound_from_matrix(X).lower = <C, X> + min over Y of
    (c - A*(X)).y at the points that they return, y in Y and X in S, rounding on the safe side.
    """
    game = p.game
    C, A = dense_cost(game), dense_constraints(game)
    y = random_multipliers(game, rng) if rng.random() < 0.5 else rng.standard_normal(game.Y.size)
    bound = p.bound_from_vector(y)
    assert_in_dual_set(bound.point, game.Y, what="the point of the upper bound")
    defined = float(game.c @ bound.point) + support(game, C - np.tensordot(bound.point, A, axes=1))
    size = size_at(game, bound.point)
    assert_at_most(defined, bound.upper, atol=1e-15 * size, what="c.y + sigma_S(C - A(y)) and the upper bound")
    assert_at_most(bound.upper, defined, atol=1e-10 * size, what="upper bound and c.y + sigma_S(C - A(y))")

    X = random_member(game, rng) if rng.random() < 0.5 else random_hermitian(game, rng)
    bound = p.bound_from_matrix(X)
    assert_in_spectral_set(bound.point, game.S, what="the point of the lower bound")
    x = as_matrix(bound.point)
    gradient = game.c - np.real(np.einsum("jab,ba->j", A, x))
    defined = float(np.real(np.sum(C.conj() * x))) + linear_minimum(game.Y, gradient)
    if bound.lower == -np.inf:
        return  # says nothing: `check_agrees_with_cvxpy` asks that it can
    if game.Y.is_bounded:
        size = size_at(game, np.abs(game.Y.minimize(gradient)[1]))
    else:
        size = game.S.trace * frobenius(game.C)
    assert_at_most(bound.lower, defined, atol=1e-15 * size, what="lower bound and <C, X> + min (c - A*(X)).y")
    assert_at_most(defined, bound.lower, atol=1e-10 * size, what="<C, X> + min (c - A*(X)).y and lower bound")


@law_of(GameProblem)
def check_allowances(p: Any, rng: np.random.Generator) -> None:
    """game.rounding(y) >= eps (R ||C||_F + sum_j |y_j| (R ||A_j||_F + |c_j|)), what one rounding of the terms makes;
    and gap_floor is no more than the largest of these sums: a floor above them makes every gap small.
    """
    game = p.game
    points = [random_multipliers(game, rng) for _ in range(4)]
    sizes = [size_at(game, y) for y in points]
    for y, size in zip(points, sizes, strict=True):
        assert_at_most(EPS * size, game.rounding(y), what="one rounding of all terms, and game.rounding(y)")
    if max(sizes) > 0:
        assert_at_most(p.gap_floor, max(sizes), what="gap_floor, and the size of all that a value adds up")


@law_of(GameProblem, cost=2)
def check_certificate_is_sound(p: Any, rng: np.random.Generator) -> None:
    """Weak duality: lower(X) <= optimum <= upper(y) for all X in S and y in Y, cvxpy's optimum; and
    lower(X) <= value(X, y) <= upper(y).
    """
    game = p.game
    best = optimum(p)
    for _ in range(5):
        X, y = random_member(game, rng), random_multipliers(game, rng)
        certificate = certify(p, X=X, y=y)
        note(str(certificate))
        assert_at_most(certificate.lower, certificate.upper, what="lower and upper")
        if np.isfinite(best.error):
            assert_between(certificate, best)
        value = game.value(X, y)
        atol = 1e-11 * size_at(game, y)
        # a repaired point is another point: its bound says nothing of value(X, y)
        assert_at_most(game.lower(X)[0], value, atol=atol, what="lower(X) and value(X, y)")
        assert_at_most(value, certificate.upper, atol=atol, what="value(X, y) and upper(y)")


@law_of(Problem, unless=MulticonvexProblem)
def check_agrees_with_cvxpy(problem: ProblemOrClass, p: Any) -> None:
    """solve() is "optimal" with lower <= cvxpy's optimum <= upper and |value - optimum| <= tol."""
    tol = 1e-5
    best = optimum(p)
    abstain(problem, np.isfinite(best.value))  # where cvxpy says infeasible, there is no optimum to agree on
    solution = solved(p, tol=tol)
    note(solution.summary())
    holds(solution.status == "optimal", f"status {solution.status}, gap {solution.gap:.2e}: {solution.explain()}")
    assert_at_most(solution.lower, solution.upper, what="lower and upper")
    abstain(problem, best.is_sharp)
    assert_between(solution, best)
    atol = tol * max(best.size, solution.certificate.size) * (1 + tol) + best.error
    assert_close(solution.value, best.value, atol=atol, what="value and cvxpy's optimum")
    slack = 1e-12 * max(p.scale, solution.certificate.size)
    between = solution.lower - slack <= solution.value <= solution.upper + slack
    holds(between, f"value {solution.value} is not in [{solution.lower}, {solution.upper}]")


@law_of(MulticonvexProblem, max_iter=st.sampled_from([0, 1, 100]), cost=4)
def check_blocks_agree_with_cvxpy(problem: ProblemOrClass, p: Any, max_iter: int) -> None:
    """lower(X) <= the optimum over each block alone, cvxpy's, <= the objective at X <= upper(X), for every X; and
    solve() is "stationary": no block gains more than tol.
    """
    tol = 1e-5
    solution = solved(p, tol=tol, max_iter=max_iter)
    note(solution.summary())
    if max_iter == 100:
        holds(solution.status == "stationary", f"status {solution.status}: {solution.explain()}")
    slack = 1e-12 * p.scale
    assert_at_most(solution.lower, solution.value, what="lower and value")
    assert_at_most(solution.value, solution.upper, atol=slack, what="value and upper")
    sharp = 0
    for j in range(len(p.block_references(solution.matrix))):

        def program_of(j: int = j) -> Any:
            return p.block_references(solution.matrix)[j]

        block = optimum_of(program_of, p.gap_floor)
        if not block.is_sharp:
            continue
        sharp += 1
        assert_between(solution, block, f"block {j}: ")
    abstain(problem, sharp > 0)


@law_of(Problem, unless=MulticonvexProblem, max_iter=st.sampled_from([0, 1, 10, 100]), cost=4)
def check_every_method_is_sound(problem: ProblemOrClass, p: Any, max_iter: int) -> None:
    """However few iterations any method gets, its bounds hold cvxpy's optimum between them."""
    best = optimum(p)
    abstain(problem, np.isfinite(best.error))
    for method in methods(p):
        solution = solved(p, method=method, tol=1e-4, max_iter=max_iter)
        note(solution.summary())
        near = solution.gap <= 1e-4
        claims = near and solution.certificate.rigour == "checked" and solution.certificate.trace_bound is None
        holds((solution.status == "optimal") == claims, f"{method}: {solution.status} at the gap {solution.gap}")
        assert_between(solution, best, f"{method}: ")


@law_of(GameProblem, exponent=st.sampled_from([-8, -3, 0, 3, 8]), cost=3)
def check_value_is_equivariant(p: Any, seed: int, exponent: int) -> None:
    """v(k U C U^H, k c, k U A U^H) = k v(C, c, A) for rotations U and units k from 1e-8 to 1e8."""
    tol = 1e-6
    game = p.game
    k = 10.0**exponent
    assume(game.Y.is_bounded)
    n, vector = game.S.n, game.C.ndim == 1
    if vector or game.S.blocks:
        U = np.eye(n)[np.random.default_rng(seed).permutation(n)] if vector else np.eye(n)
    else:
        U = rotation(n, seed, np.iscomplexobj(as_numpy(game.image(np.ones(game.Y.size)))))
    there = solved(Played(in_coordinates(game, k, U)), tol=tol)
    holds(there.status == "optimal", f"{there.status} in units of {k:g}: gap {there.gap:.2e}\n{there.explain()}")
    still = solved(p, tol=tol)
    atol = 1e-12 * game.scale
    assert_at_most(there.lower / k, still.upper, atol=atol, what=f"lower in units of {k:g}, and upper")
    assert_at_most(still.lower, there.upper / k, atol=atol, what=f"lower, and upper in units of {k:g}")


@law_of(Problem, cost=2)
def check_certificate_verifies(p: Any, rng: np.random.Generator) -> None:
    """verify() accepts what solve() certified, and refuses a bound or a point that was tampered with."""
    certificate = solved(p, tol=1e-4).certificate
    fresh = certificate.verify()
    assume(np.isfinite(certificate.gap))
    size, width = max(p.scale, certificate.size), certificate.upper - certificate.lower
    assert_close(fresh.lower, certificate.lower, atol=1e-12 * size, what="the lower bound, verified")
    assert_close(fresh.upper, certificate.upper, atol=1e-12 * size, what="the upper bound, verified")
    step = 1e-6 * size + width or 1.0
    forged = [
        dataclasses.replace(certificate, lower=certificate.lower + step),
        dataclasses.replace(certificate, upper=certificate.upper - step),
        dataclasses.replace(certificate, lower=certificate.lower + step, upper=certificate.upper + 100 * step),
        dataclasses.replace(certificate, lower=float("nan")),
        dataclasses.replace(certificate, upper=float("nan")),
        dataclasses.replace(certificate, rigour="divine"),  # type: ignore[arg-type]  # as a forger would
    ]
    if fresh.trace_bound is not None:  # without a bound, or with a larger one, the claim is more than is proved
        forged += [dataclasses.replace(certificate, trace_bound=R) for R in (None, 2 * fresh.trace_bound)]
    if isinstance(p, GameProblem):
        X, y = random_member(p.game, rng), random_multipliers(p.game, rng)
        worse = certify(type(p)(**p.parameters()), X=X, y=y)  # by a problem that remembers nothing
        if worse.lower < certificate.lower - step:
            forged.append(dataclasses.replace(certificate, X=X))
        if worse.upper > certificate.upper + step:
            forged.append(dataclasses.replace(certificate, y=y))
    for forgery in forged:
        try:
            forgery.verify()
        except CertificateError:
            continue
        fail(f"verify() accepted a forged certificate: {forgery}; the data prove {fresh}")


@law_of(GameProblem, cost=2)
def check_repaired_points_are_feasible(p: Any, rng: np.random.Generator) -> None:
    """The points of a finite certificate satisfy every constraint of reference() on "X" and "y", to rounding."""
    proven = [
        certify(p, X=random_member(p.game, rng), y=random_multipliers(p.game, rng)),
        solved(p, tol=1e-3).certificate,
    ]
    for certificate in proven:
        if certificate.X is not None:
            assert_in_spectral_set(certificate.X, p.game.S)
        if certificate.y is not None:
            assert_in_dual_set(certificate.y, p.game.Y)
        # a lower bound of -inf is what an infeasible X proves; where Y bounds the multipliers, the
        # bound of an X that could not be repaired counts its violations in
        X = certificate.X if p.game.repaired(certificate.X) is certificate.X else None
        for constraint, violation, size in violations(p, X, certificate.y):
            assert_at_most(violation, 0.0, atol=1e-12 * size, what=f"violation of {constraint[:200]}")
