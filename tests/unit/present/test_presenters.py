"""Presenters: found beside a problem, late, by the nearest class; what a stranger's does not break anything."""

import numpy as np
import pytest

import matrixlearn as ml
from matrixlearn.exceptions import PluginLoadError
from matrixlearn.present import Presenter, presented_by, presenter_of
from matrixlearn.problems.base import Problem
from matrixlearn.solution import Solution


def program(**changes):
    class Mine(ml.LinearSDP):
        pass

    return Mine(np.diag([2.0, 1.0]), np.eye(2)[None], np.array([1.0]), 3.0, **changes)


def test_a_problem_has_no_members_for_people():
    members = {"describe", "plot", "arguments", "from_arguments", "demo"}
    for name in ml.registered_problems():
        assert not members & set(dir(ml.registered_problems()[name])), name
    assert not members & set(dir(Problem))


def test_a_subclass_is_presented_as_its_base_until_it_says_otherwise():
    problem = program()
    assert type(presenter_of(problem)) is type(presenter_of(ml.LinearSDP))
    assert presenter_of(problem).problem_class is type(problem)

    class Short(Presenter):
        def describe(self, solution):
            return [f"note       {len(solution.y)} rows"]

    presented_by(Short)(type(problem))
    assert "  note       1 rows" in ml.solve(problem).summary()
    assert "note" not in ml.solve(ml.LinearSDP(np.eye(2), np.eye(2)[None], np.ones(1), 3.0)).summary()


def test_a_problem_without_one_is_shown_by_its_numbers():
    class Bare(Problem):
        scale = 1.0

    assert type(presenter_of(Bare)) is Presenter
    assert presenter_of(Bare).demo() is None and presenter_of(Bare).arguments == ()


@pytest.mark.parametrize("name", ["no_such_module:X", "matrixlearn:nothing", "matrixlearn.present:Argument", ""])
def test_a_presenter_that_is_none_is_named(name):
    problem = program()
    presented_by(name)(type(problem))
    with pytest.raises(PluginLoadError, match=repr(name)):
        presenter_of(problem)


def test_columns_are_the_matrix_and_its_halves_where_it_is_complex():
    solution = ml.solve(program(), tol=1e-6)
    columns = presenter_of(solution.problem).columns(solution)
    np.testing.assert_array_equal(np.column_stack([columns["1"], columns["2"]]), solution.matrix)
    C = np.array([[1.0, 1j], [-1j, 1.0]])
    solution = ml.solve(ml.LinearSDP(C, np.eye(2)[None], np.array([1.0]), 3.0), tol=1e-6)
    columns = presenter_of(solution.problem).columns(solution)
    assert list(columns) == ["1 real", "1 imag", "2 real", "2 imag"]
    np.testing.assert_allclose(columns["2 imag"], np.imag(solution.matrix[:, 1]))


def test_columns_of_a_vector_answer():
    solution = ml.solve(program(), max_iter=0)
    bare = Solution.__new__(Solution)
    object.__setattr__(bare, "certificate", ml.Certificate(0.0, 1.0, "checked", None, np.ones(2), solution.problem))
    np.testing.assert_array_equal(Presenter(ml.LinearSDP).columns(bare)["y"], np.ones(2))
