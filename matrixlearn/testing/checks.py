"""The laws of a problem, one `check_` function each; the docstring's first sentence is the mathematics.

A check takes a problem class, of which it draws random instances, or a problem, which it checks itself.
Where two numbers should agree, one comes from the problem and the other from a definition written down
a second time (`matrixlearn.testing.reference`), or from cvxpy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from unittest import SkipTest

from matrixlearn.exceptions import ProblemError
from matrixlearn.problems import Problem
from matrixlearn.testing.laws.base import Check, ProblemOrClass, applies, class_of, draws_instances
from matrixlearn.testing.laws.life import (
    check_data_are_its_own,
    check_deterministic,
    check_never_mutates,
    check_save_and_load,
    check_warm_start,
    check_words_and_picture,
)
from matrixlearn.testing.laws.play import (
    check_exponent,
    check_linear_minimizer,
    check_mirror_map,
    check_oracles,
    check_play,
    check_sets,
)
from matrixlearn.testing.laws.proof import (
    check_agrees_with_cvxpy,
    check_allowances,
    check_blocks_agree_with_cvxpy,
    check_bounds_are_their_definition,
    check_certificate_is_sound,
    check_certificate_verifies,
    check_every_method_is_sound,
    check_repaired_points_are_feasible,
    check_value_is_equivariant,
)
from matrixlearn.testing.laws.spec import (
    check_adjoint_identity,
    check_documented,
    check_frozen,
    check_hostile_input,
    check_image_is_affine,
    check_norms,
    check_random_is_a_function_of_the_seed,
    check_rebuilds,
    check_reference_is_its_own,
    check_schur,
    check_shapes,
)
from matrixlearn.testing.limits import PER_LAW, law_limited
from matrixlearn.testing.strategies import override_examples

CHECKS: tuple[Check, ...] = (
    check_documented,
    check_random_is_a_function_of_the_seed,
    check_shapes,
    check_frozen,
    check_rebuilds,
    check_reference_is_its_own,
    check_hostile_input,
    check_image_is_affine,
    check_adjoint_identity,
    check_schur,
    check_norms,
    check_linear_minimizer,
    check_sets,
    check_exponent,
    check_mirror_map,
    check_oracles,
    check_play,
    check_bounds_are_their_definition,
    check_allowances,
    check_certificate_is_sound,
    check_agrees_with_cvxpy,
    check_blocks_agree_with_cvxpy,
    check_every_method_is_sound,
    check_value_is_equivariant,
    check_certificate_verifies,
    check_repaired_points_are_feasible,
    check_words_and_picture,
    check_never_mutates,
    check_data_are_its_own,
    check_deterministic,
    check_warm_start,
    check_save_and_load,
)
"""All checks, in the order in which `run_checks` runs them: a failure early explains those after it."""

__all__ = [
    "CHECKS",
    "check_problem",
    "checks_for",
    "parametrize_with_checks",
    "run_checks",
    *(check.__name__ for check in CHECKS),
]


def checks_for(problem: ProblemOrClass) -> list[Check]:
    """The checks that apply to a problem or a problem class.

    Raises
    ------
    ProblemError
        Where it is neither: there is nothing to check.
    """
    if not issubclass(class_of(problem), Problem):
        msg = f"{class_of(problem).__name__} is no subclass of matrixlearn.problems.Problem: there is nothing to check"
        raise ProblemError(msg)
    return [check for check in CHECKS if applies(check, problem)]


def run_checks(
    problem: ProblemOrClass, max_examples: int = 25, *, seconds: float = PER_LAW
) -> Iterator[tuple[str, BaseException | None]]:
    """Run the checks one by one: (name, None) where a law holds (or no judge can say), else (name, error).

    Parameters
    ----------
    problem : Problem or type of Problem
    max_examples : int
        Random instances for a cheap check; dear ones take fewer.
    seconds : float
        For each check. It is asked before every solve, and is the most that one may take: a check that spends them
        fails by its name.
    """
    for check in checks_for(problem):
        error: BaseException | None = None
        try:
            with override_examples(max_examples), law_limited(seconds):
                check(problem)
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except SkipTest:  # the judge does not know
            pass
        except BaseException as caught:  # hypothesis's and pytest's failures are no Exceptions
            error = caught
        yield check.__name__, error


def check_problem(problem: ProblemOrClass, max_examples: int = 25) -> None:
    """Run every check on a problem class; for a problem, on that problem and on its class, if that has a `random`.

    Raises
    ------
    AssertionError
        Naming every law that does not hold; the first failure is its cause.
    """
    targets: list[ProblemOrClass] = [problem]
    if not isinstance(problem, type) and draws_instances(problem):
        targets.append(type(problem))
    failures = [
        (f"{check} ({'the class' if isinstance(target, type) else 'this problem'})", error)
        for target in targets
        for check, error in run_checks(target, max_examples)
        if error is not None
    ]
    if failures:
        lines = [
            f"{name}: {str(error).splitlines()[0] if str(error) else type(error).__name__}" for name, error in failures
        ]
        msg = f"{len(failures)} check(s) failed:\n  " + "\n  ".join(lines)
        raise AssertionError(msg) from failures[0][1]


def parametrize_with_checks(
    problem_classes: Sequence[ProblemOrClass],
    *,
    expected_failed_checks: Mapping[str, str] | Callable[[ProblemOrClass], Mapping[str, str]] | None = None,
) -> Any:
    """``pytest.mark.parametrize`` of the argument ``check`` over all classes and checks.

    Parameters
    ----------
    problem_classes : sequence of problem classes (or problems)
    expected_failed_checks : mapping {name of a check: reason}, or function class -> mapping, optional
        Checks to be marked as expected failures.

    Examples
    --------
    >>> from matrixlearn.testing import parametrize_with_checks
    >>> @parametrize_with_checks([MyProblem])  # doctest: +SKIP
    ... def test_my_problem(check):
    ...     check()
    """
    import pytest

    parameters = []
    for problem in problem_classes:
        cls = class_of(problem)
        expected = expected_failed_checks(problem) if callable(expected_failed_checks) else expected_failed_checks
        applicable = checks_for(problem)
        unknown = set(expected or {}) - {check.__name__ for check in applicable}
        if unknown:
            msg = f"expected_failed_checks names {sorted(unknown)}, which are no checks of {cls.__name__}"
            raise ValueError(msg)
        for check in applicable:
            reason = (expected or {}).get(check.__name__)
            marks = [] if reason is None else [pytest.mark.xfail(reason=reason)]
            name = f"{cls.name or cls.__name__}-{check.__name__}"
            parameters.append(pytest.param(functools.partial(check, problem), id=name, marks=marks))
    return pytest.mark.parametrize("check", parameters)
