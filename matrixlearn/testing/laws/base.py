"""What a check is, and the random points that checks ask about."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any
from unittest import SkipTest

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from matrixlearn._array import as_numpy, from_numpy
from matrixlearn._solve import solve
from matrixlearn.linalg import frobenius
from matrixlearn.problems import Game, Problem
from matrixlearn.solution import Solution
from matrixlearn.testing.limits import LawIsLate, named, time_left
from matrixlearn.testing.strategies import for_all, generators, instances, seeds

ProblemOrClass = Problem | type[Problem]
Check = Callable[[ProblemOrClass], None]

_kinds: dict[str, tuple[Any, Any]] = {}
"""By the name of a check, the kind of problem that it is about, and the kinds that it is not."""


def law_of(needs: Any, unless: Any = (), cost: int = 1, **strategies: Any) -> Callable[[Callable[..., None]], Check]:
    """Make a law the check of a kind of problem, but for some; it skips every other kind.

    A law holds for all that it names: ``p``, an instance; ``seed`` or ``rng``, a generator; what ``strategies`` draw by
    name. ``problem`` is what is checked, a class or an instance. There are 1 / ``cost`` of the profile's examples.
    """

    def decorate(law: Callable[..., None]) -> Check:
        asked, name = inspect.signature(law).parameters, law.__name__

        def check(problem: ProblemOrClass) -> None:
            if not applies(check, problem):
                msg = f"{name} is about a {needs.__name__}"
                raise SkipTest(msg)
            known = {"p": instances(problem), "problem": st.just(problem), "rng": generators(), "seed": seeds()}
            drawn = {key: strategy for key, strategy in (known | strategies).items() if key in asked}
            with named(name):
                for_all(cost=cost, **drawn)(law)()

        check.__name__, check.__qualname__, check.__module__, check.__doc__ = name, name, law.__module__, law.__doc__
        _kinds[name] = needs, unless
        return check

    return decorate


def applies(check: Check, problem: ProblemOrClass) -> bool:
    """Whether the check is about problems of this kind."""
    cls, (needs, unless) = class_of(problem), _kinds[check.__name__]
    return issubclass(cls, needs) and not issubclass(cls, unless)


def abstain(problem: ProblemOrClass, judge_knows: Any) -> None:
    """Where the judge does not know: draw another instance, or skip where there is but one."""
    if isinstance(problem, Problem) and not judge_knows:
        msg = "cvxpy's solvers do not agree on this problem well enough to judge it"
        raise SkipTest(msg)
    assume(judge_knows)


def solved(problem: Any, **options: Any) -> Solution:
    """`solve`, which must not take long: a problem whose bounds never meet would keep its checks running for ever."""
    seconds = time_left()
    solution = solve(problem, time_limit=seconds, **options)
    if solution.ended.startswith("time_limit"):
        msg = (
            f"solve() with {options} did not end in {seconds:.3g} s: {solution.method} proved "
            f"{solution.lower:.6g} <= optimum <= {solution.upper:.6g}; does every point that is good prove a bound?"
        )
        raise LawIsLate(msg)
    return solution


def class_of(problem: ProblemOrClass) -> Any:
    """The class of a problem, or the class itself."""
    return problem if isinstance(problem, type) else type(problem)


def random_hermitian(game: Game, rng: np.random.Generator) -> Any:
    """A Hermitian matrix of any size of entries, complex where the data are; a vector in the diagonal case."""
    n, scale = game.S.n, 10.0 ** rng.uniform(-3, 3)
    if game.C.ndim == 1:
        return from_numpy(scale * rng.standard_normal(n), game.C)
    G = rng.standard_normal((n, n))
    if np.iscomplexobj(as_numpy(game.image(np.ones(game.Y.size)))):
        G = G + 1j * rng.standard_normal((n, n))
    if rng.random() < 0.2:
        grade = 10.0 ** rng.uniform(-9, 0, n)  # near a face of the cone, in the standard basis
        G = G * np.outer(grade, grade)
    return from_numpy(scale * (G + G.conj().T) / 2, game.C)


def random_member(game: Game, rng: np.random.Generator) -> Any:
    """A point of S: the interior, extreme points and what is between."""
    S = game.S
    a, b, c = (float(weight) for weight in rng.dirichlet([0.5, 0.5, 0.5]))
    if rng.random() < 0.3:
        a, b, c = 0.0, 0.0, 1.0
    return (
        a * S.project(random_hermitian(game, rng))
        + b * S.center(game.C)
        + c * S.best_response(random_hermitian(game, rng))
    )


def random_multipliers(game: Game, rng: np.random.Generator) -> np.ndarray:
    """A point of Y."""
    Y = game.Y
    if not Y.is_bounded:
        spread = game.cost_norm / float(np.max(game.A.norms, initial=0.0) or 1.0)
        return Y.project(spread * rng.standard_normal(Y.size))
    vertices = [Y.minimize(rng.standard_normal(Y.size))[1] for _ in range(2)]
    weights = rng.dirichlet([0.5, 0.5, 0.5])
    return Y.project(weights[0] * Y.center() + weights[1] * vertices[0] + weights[2] * vertices[1])


def size_at(game: Game, y: np.ndarray) -> float:
    """The size of what a value of the game at y adds up, for tolerances."""
    R, norms = game.S.trace, [frobenius(game.A.matrix(j)) for j in range(len(y))]
    return float(R * frobenius(game.C) + np.abs(y) @ (R * np.array(norms) + np.abs(game.c)))


def draws_instances(problem: ProblemOrClass) -> bool:
    """Whether its class says how a random one is drawn."""
    return inspect.getattr_static(class_of(problem), "random") is not vars(Problem)["random"]


def float_array(value: Any) -> np.ndarray | None:
    """A writable copy, where the argument is an array of floats."""
    if value is None or isinstance(value, str | bool | int | float) or callable(value):
        return None
    try:
        array = np.array(as_numpy(value))
    except (TypeError, ValueError):
        return None
    return array if array.dtype.kind in "fc" else None
