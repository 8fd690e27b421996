"""Laws of the life of an answer: nothing is written to, the same again, saved and loaded."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import assume

from matrixlearn._array import as_numpy, from_numpy
from matrixlearn._certify import certify
from matrixlearn.exceptions import MatrixLearnError, PluginError
from matrixlearn.present import presenter_of
from matrixlearn.problems import GameProblem, Problem
from matrixlearn.registry import registered_problems
from matrixlearn.solution import Solution
from matrixlearn.testing.asserts import (
    assert_at_most,
    assert_close,
    assert_same,
    holds,
)
from matrixlearn.testing.laws.base import (
    ProblemOrClass,
    class_of,
    float_array,
    law_of,
    random_member,
    random_multipliers,
    solved,
)


@law_of(Problem, cost=4)
def check_words_and_picture(p: Any) -> None:
    """summary(), the columns of a file and the picture of an answer are made; of one before any iteration too."""
    presenter = presenter_of(p)
    for options in ({"tol": 1e-2}, {"max_iter": 0}):
        solution = solved(p, **options)
        _made("summary()", options, solution.summary)
        _made("columns()", options, presenter.columns, solution)
        axes = _axes()
        if axes is not None:
            _made("plot()", options, presenter.plot, solution, axes)


def _made(name: str, options: dict[str, Any], make: Any, *given: Any) -> None:
    """Call it; what it refuses by an error of the library, such as columns that an answer has not, it may refuse."""
    try:
        make(*given)
    except MatrixLearnError:
        pass
    except Exception as error:
        msg = f"{name} of an answer with {options} raises {type(error).__name__}: {error}"
        raise AssertionError(msg) from error


def _axes() -> Any:
    """Something to draw on, without a window; None without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    return Figure().subplots()


@law_of(Problem, cost=2)
def check_never_mutates(p: Any, rng: np.random.Generator) -> None:
    """Construction, solve and certify write to no array of the user: read-only input works and is unchanged."""
    given = dict(p.parameters())
    arrays = {name: array for name, value in given.items() if (array := float_array(value)) is not None}
    kept = {name: array.copy() for name, array in arrays.items()}
    type(p)(**{**given, **arrays})  # writable: a silent change shows in the comparison below
    for name, array in arrays.items():
        assert_same(array, kept[name], f"{name} after construction")
        array.flags.writeable = False  # from here on a write raises
    copy = type(p)(**{**given, **arrays})
    if isinstance(p, GameProblem):
        X, y = np.array(as_numpy(random_member(p.game, rng))), random_multipliers(p.game, rng).copy()
        X_kept, y_kept, cost = X.copy(), y.copy(), np.array(as_numpy(copy.game.C))
        for array in (X, y):
            array.flags.writeable = False
        X_in = from_numpy(X, copy.game.C)
        copy.game.image(y), copy.game.A.adjoint(X_in), copy.game.repaired(X_in)
        if X.ndim == 2:
            copy.game.A.schur(X_in, X_in)
        certify(copy, X=X_in, y=y)
        solved(copy, tol=1e-2)
        assert_same(X, X_kept, "X after certify")
        assert_same(y, y_kept, "y after certify")
        assert_same(copy.game.C, cost, "cost after solve")
        forward = copy.game.image(0 * y)
        assert_same(np.asarray(as_numpy(forward)) + 0.0, cost + 0.0, "forward(0) after solve, and C")
    else:
        solved(copy, tol=1e-2)
    for name, array in arrays.items():
        assert_same(array, kept[name], f"{name} after solve")


@law_of(Problem, cost=2)
def check_data_are_its_own(p: Any) -> None:
    """A problem keeps the data that it was given: writing to the user's arrays afterwards changes no bound."""
    answer = solved(p, tol=1e-2)
    given = dict(p.parameters())
    arrays = {name: array for name, value in given.items() if (array := float_array(value)) is not None}
    copy = type(p)(**{**given, **arrays})
    for array in arrays.values():
        array *= 3.0  # the user's arrays, after construction
        array += 1.0
    before = certify(p, X=answer.matrix, y=answer.y)
    after = certify(copy, X=answer.matrix, y=answer.y)
    for name in ("lower", "upper"):
        first, second = getattr(before, name), getattr(after, name)
        if first != second:  # infinite ones have no difference
            atol = 1e-9 * max(before.size, abs(first))
            assert_close(second, first, atol=atol, what=f"the {name} bound after the arrays were written to")


@law_of(Problem, cost=3)
def check_deterministic(p: Any) -> None:
    """The same data, the same answer: what is drawn is drawn from a seed, and each answer lies in the other's bounds.

    Not the same bits: copies of the data are aligned otherwise, and iterations amplify the order of sums.
    """
    with _seeded_draws_only():
        first, second = solved(p, tol=1e-4), solved(type(p)(**p.parameters()), tol=1e-4)
    answers = ((first.status, first.method), (second.status, second.method))
    holds(answers[0] == answers[1], f"{answers[0]} the first time, {answers[1]} the second")
    if first.status == "optimal":
        atol = 1e-12 * p.scale
        assert_at_most(first.lower, second.upper, atol=atol, what="the first lower and the second upper bound")
        assert_at_most(second.lower, first.upper, atol=atol, what="the second lower and the first upper bound")


@law_of(Problem, cost=3)
def check_warm_start(p: Any) -> None:
    """An answer proves itself again: solve(p, warm_start=solve(p)) needs no iteration and is no worse."""
    first = solved(p, tol=1e-4)
    assume(first.status in ("optimal", "stationary"))
    again = solved(p, tol=1e-4, warm_start=first)
    atol = 1e-12 * max(p.scale, first.certificate.size)
    holds(again.status == first.status, f"status {again.status} from a start that is {first.status}")
    holds(again.iterations == 0, f"{again.iterations} iterations from a start that is {first.status}")
    assert_at_most(first.lower, again.lower, atol=atol, what="the old and the new lower bound")
    assert_at_most(again.upper, first.upper, atol=atol, what="the new and the old upper bound")


@law_of(Problem, cost=3)
def check_save_and_load(problem: ProblemOrClass, p: Any) -> None:
    """load(save(s)) = s, its problem included, and its certificate verifies; the class is registered as its name."""
    cls = class_of(problem)
    holds(cls.name, f"{cls.__name__} has no name: give the class the name of its entry point")
    for name in registered_problems():
        with contextlib.suppress(PluginError):  # another plugin's failure is not this one's
            if registered_problems()[name] is cls:
                holds(name == cls.name, f"{cls.__name__} is registered as {name!r}, but its name is {cls.name!r}")
    solution = solved(p, tol=1e-3)
    with tempfile.TemporaryDirectory() as folder, registered_problems().offering(cls):
        path = Path(folder) / "answer.npz"
        solution.save(path)
        loaded = Solution.load(path)
    holds(type(loaded.problem) is cls, f"the problem of a loaded solution is a {type(loaded.problem).__name__}")
    for name in ("matrix", "y"):
        assert_same(getattr(loaded, name), getattr(solution, name), name)
    for name in ("status", "value", "lower", "upper", "method", "tol", "iterations", "seconds", "notes"):
        now, then = getattr(loaded, name), getattr(solution, name)
        holds(now == then, f"{name} was {then!r}, loaded {now!r}")
    loaded.certificate.verify()
    now, then = (s.summary() for s in (loaded, solution))
    holds(_agree(now, then), f"{now}\nis not\n{then}")


def _agree(now: str, then: str) -> bool:
    """Equal texts but for the rounding of their numbers, which may be computed again."""
    number = r"-?\d+\.?\d*(?:e[+-]?\d+)?"
    values = [np.array(re.findall(number, text), dtype=float) for text in (now, then)]
    same = re.sub(number, "", now) == re.sub(number, "", then) and len(values[0]) == len(values[1])
    return same and bool(np.allclose(values[0], values[1], rtol=1e-5, atol=1e-9))


@contextlib.contextmanager
def _seeded_draws_only() -> Iterator[None]:
    """A generator without a seed is refused, and NumPy's global one must come back as it was."""
    make = np.random.default_rng

    def seeded(seed: Any = None) -> np.random.Generator:
        holds(seed is not None, "default_rng() was asked for a generator without a seed: equal calls would differ")
        return make(seed)

    before = _global_state()
    np.random.default_rng = seeded
    try:
        yield
    finally:
        np.random.default_rng = make
    holds(_global_state() == before, "NumPy's global generator was drawn from")


def _global_state() -> str:
    state: Any = np.random.get_state()  # noqa: NPY002 - what must not be used
    return f"{state[1].tolist()} {state[2:]}"
