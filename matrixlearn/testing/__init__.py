"""The conformance kit for plugin authors (needs the extra ``test``: hypothesis, cvxpy, pytest).

A plugin's whole test is

    from matrixlearn.testing import parametrize_with_checks

    @parametrize_with_checks([MyProblem])
    def test_my_problem(check):
        check()

and ``check_problem(MyProblem)`` does the same without pytest. Each check is one law, stated in its
docstring; `checks` holds them all. ``check_engine(MyEngine, SomeProblem)`` does it for an engine.
"""

from matrixlearn.testing import _extra  # noqa: F401  # isort: skip  (first: it says what is missing)
from matrixlearn.testing import asserts, checks, reference, strategies
from matrixlearn.testing.checks import CHECKS, check_problem, checks_for, parametrize_with_checks, run_checks
from matrixlearn.testing.laws.engine import check_engine

__all__ = [
    "CHECKS",
    "asserts",
    "check_engine",
    "check_problem",
    "checks",
    "checks_for",
    "parametrize_with_checks",
    "reference",
    "run_checks",
    "strategies",
]
