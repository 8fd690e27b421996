"""Laws of the spec: what a class says of itself, its data and its two linear maps."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from collections.abc import Callable
from typing import Any
from unittest import SkipTest

import numpy as np
from hypothesis import strategies as st

from matrixlearn._array import as_numpy
from matrixlearn.linalg import frobenius
from matrixlearn.problems import GameProblem, Problem
from matrixlearn.sets import ScaledSimplex
from matrixlearn.testing.asserts import (
    assert_at_most,
    assert_close,
    assert_hermitian,
    assert_same,
    fail,
    holds,
)
from matrixlearn.testing.laws.base import (
    ProblemOrClass,
    class_of,
    draws_instances,
    float_array,
    law_of,
    random_hermitian,
    random_member,
    random_multipliers,
    size_at,
)
from matrixlearn.testing.reference import as_matrix, dense_constraints, dense_cost
from matrixlearn.testing.strategies import random_instance


@law_of(Problem)
def check_documented(problem: ProblemOrClass) -> None:
    """The docstring opens with the formula (min, max, or a relation) and its Parameters name every argument."""
    cls = class_of(problem)
    text = inspect.getdoc(cls) if cls.__doc__ else None
    if not text:
        fail(f"{cls.__name__} has no docstring")
        return
    opening = text.split("Parameters\n")[0]
    formula = re.search(r"\b(min|max|minimi[sz]e|maximi[sz]e|argmin|argmax)\b|[=<>]", opening)
    holds(formula, f"the docstring of {cls.__name__} has no formula before its Parameters:\n{opening}")
    holds(re.search(r"^Parameters\n-{4,}$", text, re.M), f"the docstring of {cls.__name__} has no section Parameters")
    for name in inspect.signature(cls).parameters:
        named = re.search(rf"^{name}\b.* : |^(\w+, )*{name}(, \w+)* : ", text, re.M)
        holds(named, f"the Parameters of {cls.__name__} do not name {name!r}")


@law_of(Problem, cost=5)
def check_frozen(p: Any) -> None:
    """A problem is a value: no attribute of it can be set."""
    for name in p.parameters():
        try:
            setattr(p, name, None)
        except AttributeError:
            continue
        fail(f"{type(p).__name__}.{name} was set: make the class a frozen dataclass")


@law_of(Problem)
def check_rebuilds(p: Any, rng: np.random.Generator) -> None:
    """type(p)(**p.parameters()) = p, and so is what pickle returns: the same bounds from the same points, to rounding
    (copies of arrays are aligned otherwise, and BLAS may sum them in another order).
    """
    copies = {"parameters()": type(p)(**p.parameters()), "pickle": pickle.loads(pickle.dumps(p))}
    for how, other in copies.items():
        assert_close(other.scale, p.scale, atol=1e-12 * p.scale, what=f"the scale after {how}")
        if isinstance(p, GameProblem):
            X, y = random_member(p.game, rng), random_multipliers(p.game, rng)
            size, R = size_at(p.game, y), p.game.S.trace
            a = frobenius(X) * max(frobenius(p.game.A.matrix(j)) for j in range(len(y)))
            assert_close(other.game.image(y), p.game.image(y), atol=1e-12 * size / R, what=f"image(y) after {how}")
            assert_close(other.game.A.adjoint(X), p.game.A.adjoint(X), atol=1e-12 * a, what=f"A*(X) after {how}")
            upper, lower = p.bound_from_vector(y).upper, p.bound_from_matrix(X).lower
            assert_close(other.bound_from_vector(y).upper, upper, atol=1e-10 * size, what=f"upper bound after {how}")
            again = other.bound_from_matrix(X).lower
            if np.isfinite(lower) and np.isfinite(again):  # a repair may succeed by a hair
                size = size_at(p.game, p.game.lower(X)[1]) if p.game.Y.is_bounded else max(p.scale, abs(lower))
                assert_close(again, lower, atol=1e-10 * size, what=f"lower bound after {how}")


@law_of(Problem)
def check_random_is_a_function_of_the_seed(problem: ProblemOrClass, seed: int) -> None:
    """random(default_rng(s)) is a function of s: drawn twice, the same data."""
    if isinstance(problem, Problem) and not draws_instances(problem):
        msg = f"a {type(problem).__name__} is made for the occasion: its class draws no others"
        raise SkipTest(msg)
    cls = class_of(problem)
    first, second = random_instance(cls, seed).parameters(), random_instance(cls, seed).parameters()
    holds(first.keys() == second.keys(), "random() draws other parameters the second time")
    for name, value in first.items():
        if value is None or isinstance(value, str | bool | int | float):
            holds(value == second[name], f"random() draws another {name} the second time")
        else:
            assert_same(value, second[name], f"random()'s {name}")


@law_of(GameProblem, cost=5)
def check_reference_is_its_own(p: Any) -> None:
    """reference() = the problem in words of its own, cvxpy's: from the data, and from no part of the game.

    A mistake that both linear maps share, or a wrong radius of S, would be in a reference that is made of them.
    """
    blind = copy.copy(p)
    for name in ("game", "_game"):
        vars(blind).pop(name, None)
    object.__setattr__(blind, "__class__", _without_game(type(p)))
    try:
        blind.reference()
    except _AskedForTheGameError:
        fail(
            f"the reference() of {type(p).__name__} is made of its game: write one from the data, in the words of "
            "the problem (docs/write-a-plugin.md)"
        )


class _AskedForTheGameError(Exception):
    """A reference asked for the game."""


def _without_game(cls: Any) -> Any:
    """The class, but for the game."""

    def refuse(self: Any) -> Any:
        raise _AskedForTheGameError

    return type(cls.__name__, (cls,), {"game": property(refuse)})


@law_of(Problem, bad=st.sampled_from([float("nan"), float("inf")]))
def check_hostile_input(p: Any, rng: np.random.Generator, bad: float) -> None:
    """NaN or infinity in a numeric argument is a ValueError that names the argument."""
    given = dict(p.parameters())
    for name, value in given.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            _refuses(type(p), given, name, float("nan"))  # infinity may mean that there is no limit
            continue
        array = float_array(value)
        if array is None or array.size == 0:
            continue
        array.reshape(-1)[rng.integers(array.size)] = bad
        if array.ndim >= 2 and array.shape[-1] == array.shape[-2]:
            symmetric = array + np.swapaxes(array, -1, -2)  # so that asymmetry is not what is complained of
            if not np.any(np.isfinite(symmetric) != np.isfinite(np.swapaxes(symmetric, -1, -2))):
                array = symmetric
        _refuses(type(p), given, name, array, bad)


def _refuses(cls: Any, given: dict[str, Any], name: str, value: Any, bad: float = float("nan")) -> None:
    """The class raises a ValueError that names the argument."""
    try:
        cls(**{**given, name: value})
    except ValueError as error:
        said = re.search(rf"\b{re.escape(name)}\b", str(error))
        holds(said, f"{bad} in {name!r} raises {error!r}, which does not name the argument")
    else:
        fail(f"{bad} in {name!r} was accepted")


@law_of(GameProblem)
def check_shapes(p: Any, rng: np.random.Generator) -> None:
    """C = C^H is (n, n); c, A.norms and A*(X) are (m,); C - A(y) is like C; 0 < scale < inf; Y is bounded."""
    game = p.game
    n, m = game.S.n, game.Y.size
    shape = (n,) if isinstance(game.S, ScaledSimplex) else (n, n)
    sizes = f"S has n = {n} and Y has size m = {m}"
    holds(tuple(game.A.shape) == (m, n), f"A has the shape (m, n) = {game.A.shape}, but {sizes}")
    asked: tuple[tuple[str, Callable[[], Any], tuple[int, ...]], ...] = (  # the data first: they size the points
        ("C", lambda: game.C, shape),
        ("c", lambda: game.c, (m,)),
        ("A.norms", lambda: game.A.norms, (m,)),
        ("image(y)", lambda: game.image(random_multipliers(game, rng)), shape),
        ("A.matrix(0)", lambda: game.A.matrix(0), shape),
        ("A.adjoint(X)", lambda: game.A.adjoint(random_member(game, rng)), (m,)),
    )
    for what, of, expected in asked:
        array = of()
        holds(hasattr(array, "shape"), f"{what} must be an array, got a {type(array).__name__}")
        got = tuple(array.shape)
        holds(got == expected, f"{what} must have shape {expected}, got {got}: {sizes}")
        holds(np.all(np.isfinite(as_numpy(array))), f"{what} is not finite")
    if len(shape) == 2:
        assert_hermitian(game.C, what="C")
        assert_hermitian(game.A.matrix(m - 1), what="A.matrix(m - 1)")
    for what, vector in (("c", game.c), ("A.adjoint(X)", game.A.adjoint(random_member(game, rng)))):
        holds(isinstance(vector, np.ndarray), f"{what} must be a NumPy array, got {type(vector).__name__}")
        holds(vector.dtype == np.float64, f"{what} must be float64, got {vector.dtype}")
    holds(0 < game.scale < float("inf"), f"scale must be positive and finite, got {game.scale}")
    bounded = game.Y.is_bounded
    holds(bounded, "Y must be bounded: give every y_j an upper bound, or all of them a row (weighted_simplex)")


@law_of(GameProblem)
def check_image_is_affine(p: Any, rng: np.random.Generator) -> None:
    """image(y) = C - sum_j y_j A_j for every y: at 0, at unit vectors, and between."""
    game = p.game
    y = rng.standard_normal(game.Y.size) * 10.0 ** rng.uniform(-3, 3)
    if rng.random() < 0.3:
        y = y * (rng.random(len(y)) < 0.3)  # sparse, as an oracle answers
    atol = 1e-13 * (len(y) + game.S.n) * size_at(game, y) / game.S.trace
    expected = dense_cost(game) - np.tensordot(y, dense_constraints(game), axes=1)
    assert_close(as_matrix(game.image(y)), expected, atol=atol, what="C - A(y) and C - sum_j y_j A_j")
    zero = np.asarray(as_numpy(game.image(0 * y)))
    assert_same(zero + 0.0, np.asarray(as_numpy(game.C)) + 0.0 * zero, "C - A(0) and C")


@law_of(GameProblem)
def check_adjoint_identity(p: Any, rng: np.random.Generator) -> None:
    """<A(y), X> = y . A*(X) for every Hermitian X and every y, with A(y) = C - image(y)."""
    game = p.game
    X, m = random_hermitian(game, rng), game.Y.size
    spread = (frobenius(game.C) or 1.0) / float(np.max(game.A.norms, initial=0.0) or 1.0)
    y = spread * rng.standard_normal(m)
    # conjugated on the left, and not by the library's inner product
    A_of_y = np.asarray(as_numpy(game.C)) - np.asarray(as_numpy(game.image(y)))
    left = float(np.real(np.sum(A_of_y.conj() * np.asarray(as_numpy(X)))))
    size = size_at(game, y) / game.S.trace * frobenius(X)
    assert_close(left, y @ game.A.adjoint(X), atol=1e-12 * size, what="<A(y), X> and y . A*(X)")


@law_of(GameProblem)
def check_schur(p: Any, rng: np.random.Generator) -> None:
    """schur(U, V)_ij = Re tr(A_i U A_j V) for Hermitian U and V."""
    game = p.game
    if game.C.ndim == 1:
        return  # the diagonal case has no Schur matrix
    U, V = random_hermitian(game, rng), random_hermitian(game, rng)
    A, u, v = dense_constraints(game), np.asarray(as_numpy(U)), np.asarray(as_numpy(V))
    expected = np.real(np.einsum("iab,jba->ij", A, u @ A @ v))
    size = frobenius(U) * frobenius(V) * float(np.max(np.linalg.norm(A, axis=(1, 2)), initial=0.0)) ** 2
    assert_close(game.A.schur(U, V), expected, atol=1e-12 * size, what="A.schur(U, V) and Re tr(A_i U A_j V)")


@law_of(GameProblem)
def check_norms(p: Any) -> None:
    """A.norms_j >= ||A_j||_2, and cost_norm >= ||C||_2."""
    game = p.game
    norms = np.max(np.abs(np.linalg.eigvalsh(dense_constraints(game))), axis=1)
    for j, (claimed, norm) in enumerate(zip(game.A.norms, norms, strict=True)):
        assert_at_most(norm, float(claimed), atol=1e-12 * norm, what=f"||A_{j}||_2 and A.norms[{j}]")
    norm = float(np.max(np.abs(np.linalg.eigvalsh(dense_cost(game)))))
    assert_at_most(norm, game.cost_norm, atol=1e-12 * norm, what="||C||_2 and cost_norm")
