"""The first message that a plugin author reads names what is wrong, not where NumPy stumbled over it."""

from dataclasses import dataclass
from functools import cached_property

import cvxpy as cp
import numpy as np
import pytest

from matrixlearn.exceptions import ProblemError
from matrixlearn.maps import RankOneMap
from matrixlearn.problems import Game, GameProblem, Problem
from matrixlearn.sets import KnapsackSet, Spectraplex
from matrixlearn.testing import check_problem, checks_for, parametrize_with_checks, run_checks
from matrixlearn.validation import as_samples


@dataclass(frozen=True, eq=False)
class Design(GameProblem):
    """min over y of lambda_max(-sum_j y_j a_j a_j^T).

    Parameters
    ----------
    rows : array, shape (m, n)
    """

    rows: np.ndarray
    name = "design"

    def __post_init__(self):
        object.__setattr__(self, "rows", as_samples("rows", self.rows))

    def parts(self):
        m, n = self.rows.shape
        return {
            "C": np.zeros((n, n)),
            "A": RankOneMap(self.rows),
            "c": np.zeros(m),
            "S": Spectraplex(n, 1.0),
            "Y": KnapsackSet.simplex(m),
        }

    @cached_property
    def game(self):
        return Game(**self.parts())

    def reference(self):
        w, t = cp.Variable(len(self.rows), name="y"), cp.Variable()
        least = t * np.eye(self.rows.shape[1]) + self.rows.T @ cp.diag(w) @ self.rows
        return cp.Problem(cp.Minimize(t), [least >> 0, w >= 0, cp.sum(w) == 1])

    @classmethod
    def random(cls, rng):
        return cls(rng.standard_normal((5, 3)))


class MatrixTooLarge(Design):
    def parts(self):
        return super().parts() | {"S": Spectraplex(1 + self.rows.shape[1], 1.0)}


class OneMultiplierTooMany(Design):
    def parts(self):
        return super().parts() | {"Y": KnapsackSet.simplex(1 + len(self.rows))}


class CostsTooShort(Design):
    def parts(self):
        return super().parts() | {"c": np.zeros(2)}


class MultipliersUnbounded(Design):
    def parts(self):
        return super().parts() | {"Y": KnapsackSet.orthant(len(self.rows))}


class Listed(RankOneMap):
    def adjoint(self, X):
        return list(super().adjoint(X))


class AdjointIsAList(Design):
    def parts(self):
        return super().parts() | {"A": Listed(self.rows)}


class CostIsANumber(Design):
    def parts(self):
        return super().parts() | {"C": 0.0}


class RandomIsNoClassMethod(Design):
    def random(self, rng):
        return Design.random(rng)


class RandomOfAnother(Design):
    @classmethod
    def random(cls, rng):
        return Design.random(rng)


class OneOff(Design):
    random = Problem.__dict__["random"]


class RandomRaises(Design):
    @classmethod
    def random(cls, rng):
        return cls(np.zeros((0, 3)))


@pytest.mark.parametrize(
    ("cls", "said"),
    [
        (MatrixTooLarge, r"A has the shape \(m, n\) = \(5, 3\), but S has n = 4"),
        (OneMultiplierTooMany, r"A has the shape .* but S has n = 3 and Y has size m = 6"),
        (CostsTooShort, r"c must have shape \(5,\), got \(2,\)"),
        (MultipliersUnbounded, "Y must be bounded"),
        (AdjointIsAList, r"A.adjoint\(X\) must be an array, got a list"),
        (CostIsANumber, "C must be an array, got a float"),
        (RandomIsNoClassMethod, r"RandomIsNoClassMethod.random\(.*\) raises TypeError: .*missing"),
        (RandomOfAnother, "RandomOfAnother.* must return a RandomOfAnother, got a Design"),
        (RandomRaises, "random.* raises ProblemError: rows is empty"),
        (OneOff, r"OneOff draws no random instances: give it a classmethod random\(cls, rng\)"),
    ],
)
def test_the_first_failure_names_the_mistake(cls, said):
    cls.__doc__ = Design.__doc__
    failed = (error for _, error in run_checks(cls, max_examples=3) if error is not None)
    with pytest.raises(AssertionError, match=said):
        raise next(failed)


@pytest.mark.parametrize("call", [check_problem, checks_for, lambda cls: parametrize_with_checks([cls])])
def test_there_is_nothing_to_check_in_another_class(call):
    with pytest.raises(ProblemError, match="is no subclass of"):
        call(dict)


def test_the_right_one_passes():
    assert [name for name, error in run_checks(Design, max_examples=3) if error is not None] == []


def test_a_problem_of_which_nothing_is_drawn_is_checked_alone():
    OneOff.__doc__ = Design.__doc__
    problem = OneOff(np.random.default_rng(0).standard_normal((5, 3)))
    check_problem(problem, max_examples=3)
    with pytest.raises(AssertionError, match="draws no random instances"):
        check_problem(OneOff, max_examples=3)
