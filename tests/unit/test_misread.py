"""What could be read in two ways is refused, or said; nothing is silently something else."""

import numpy as np
import pytest
from matrixlearn_definiteboost import DefiniteBoostKernel
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_fetr import FETRRegressor

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError, UnseenTaskWarning
from matrixlearn.maps import RankOneMap

PAIRS = np.array([[0, 1], [2, 3], [0, 2], [1, 3]])


# -- labels and distances ---------------------------------------------------------------------------


@pytest.mark.parametrize("measurements", ["auto", "signs"])
@pytest.mark.parametrize("y", [[True, True, False, False], [1, 1, 0, 0], [0.0, 0.0, 0.0, 0.0]])
def test_labels_of_0_and_1_are_not_taken_for_distances(measurements, y):
    with pytest.raises(ProblemError, match=r"0 and 1 or booleans.* np.where\(y, 1, -1\)"):
        DefiniteBoostKernel(measurements=measurements).fit(PAIRS, y)


def test_distances_of_0_and_1_are_where_they_are_said_to_be():
    said = DefiniteBoostKernel(measurements="distances", slack=None).fit(PAIRS, [0.0, 0.0, 1.0, 1.0])
    np.testing.assert_allclose(said.distances()[tuple(PAIRS.T)], [0, 0, 1, 1], atol=1e-3)


def test_all_equal_points_are_named():
    points = np.array([[[0.0], [1.0]], [[2.0], [2.0]], [[1.0], [3.0]], [[0.0], [-0.0]]])
    with pytest.raises(ProblemError, match=r"drop the rows \[1, 3\]"):
        DefiniteBoostKernel().fit(points, [1, 1, -1, 1])
    with pytest.raises(ProblemError, match=r"drop the rows \[0, 2\]"):
        DefiniteBoostKernel().fit([[0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 2, 2]])


def test_all_contradicting_pairs_are_named():
    pairs = [[0, 1], [1, 2], [1, 0], [2, 1], [0, 2]]
    named = r"rows \[0, 2\]: y = \[1.0, -1.0\]; rows \[1, 3\]: y = \[-1.0, 1.0\]"
    with pytest.raises(ProblemError, match=rf"{named}; hard constraints are infeasible: give a slack"):
        DefiniteBoostKernel(slack=None).fit(pairs, [1, -1, -1, 1, 1])
    with pytest.warns(UserWarning, match=f"{named}$"):
        DefiniteBoostKernel(tol=1e-2).fit(pairs, [1, -1, -1, 1, 1])
    DefiniteBoostKernel(tol=1e-2).fit(pairs, [1, -1, 1, -1, 1])  # said twice, and the same
    distances = np.array([0.5, 0.7, 0.6, 0.7, 0.4])
    DefiniteBoostKernel(tol=1e-2).fit(pairs, distances)  # measured twice, with noise that has a price
    with pytest.raises(ProblemError, match=r"rows \[0, 2\]: y = \[0.5, 0.6\]; hard"):
        DefiniteBoostKernel(slack=None).fit(pairs, distances)


def test_another_kind_of_measurement_is_refused():
    with pytest.raises(ProblemError, match="measurements must be 'auto'"):
        DefiniteBoostKernel(measurements="labels").fit(PAIRS, [1, 1, -1, -1])


# -- columns by name --------------------------------------------------------------------------------


class Frame:
    """As much of a data frame as a problem looks at."""

    def __init__(self, values, columns):
        self.values, self.columns = np.asarray(values), columns

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)

    def __getitem__(self, names):
        return Frame(self.values[:, [self.columns.index(name) for name in names]], names)


def test_columns_are_matched_by_name():
    rng = np.random.default_rng(0)
    S, T, order = rng.standard_normal((8, 3)) * [1, 10, 100], rng.standard_normal((6, 3)) * [1, 10, 100], [2, 0, 1]
    names = ["a", "b", "c"]
    mixed = Discrepancy(Frame(S, names), Frame(T[:, order], [names[k] for k in order]))
    assert ml.solve(mixed, tol=1e-6).value == pytest.approx(ml.solve(Discrepancy(S, T), tol=1e-6).value, rel=1e-5)


@pytest.mark.parametrize(("columns", "why"), [(["a", "d", "c"], "b, d in one only"), (["a", "b"], "c in one only")])
def test_other_columns_are_refused(columns, why):
    with pytest.raises(ProblemError, match=f"columns of the same names, got {why}"):
        Discrepancy(Frame(np.ones((2, 3)), ["a", "b", "c"]), Frame(np.ones((2, len(columns))), columns))


def test_a_name_that_stands_for_two_columns_is_refused():
    with pytest.raises(ProblemError, match="stands for several"):  # in another order
        Discrepancy(Frame(np.ones((2, 3)), ["a", "a", "b"]), Frame(np.ones((2, 3)), ["a", "b", "a"]))


# -- one matrix, or rows of rank one ----------------------------------------------------------------


def test_one_symmetric_matrix_is_not_taken_for_rows():
    C, A = np.diag([1.0, 2.0]), np.array([[2.0, 1.0], [1.0, 3.0]])
    with pytest.raises(ProblemError, match=r"one symmetric matrix of shape \(2, 2\): for one constraint pass \[A\]"):
        ml.LinearSDP(C, A, [1.0, 1.0], 1.0)
    with pytest.raises(ProblemError, match="one symmetric matrix"):
        ml.LinearSDP([[1.0]], [[2.0]], [1.0], 1.0)
    one, rows = ml.LinearSDP(C, [A], [1.0], 1.0), ml.LinearSDP(C, RankOneMap(A), [1.0, 1.0], 1.0)
    np.testing.assert_allclose(one.constraint(0), A)
    np.testing.assert_allclose(rows.constraint(1), np.outer(A[1], A[1]))
    skew = ml.LinearSDP(C, [[1.0, 2.0], [0.0, 1.0]], [1.0, 1.0], 1.0)  # not symmetric: rows, as documented
    np.testing.assert_allclose(skew.constraint(0), [[1, 2], [2, 4]])


# -- tasks ------------------------------------------------------------------------------------------


def test_a_misspelt_task_is_named():
    rng = np.random.default_rng(0)
    X, task = rng.standard_normal((20, 2)), np.repeat(["oslo", "bergen"], 10)
    model = FETRRegressor(mean="shared").fit(X, X @ [1.0, 2.0], task)
    with pytest.warns(UnseenTaskWarning, match=r"did not see: \['olso'\]; they are predicted by what all tasks share"):
        model.predict(X[:2], ["oslo", "olso"])


def test_one_label_is_that_of_all_rows():
    rng = np.random.default_rng(0)
    X, task = rng.standard_normal((20, 2)), np.repeat(["oslo", "bergen"], 10)
    model = FETRRegressor().fit(X, X @ [1.0, 2.0], task)
    np.testing.assert_allclose(model.predict(X[:3], "oslo"), model.predict(X[:3], ["oslo"] * 3))
    numbered = FETRRegressor().fit(X, X @ [1.0, 2.0], np.repeat([0, 1], 10))
    np.testing.assert_allclose(numbered.predict(X[:3], 1), numbered.predict(X[:3], [1] * 3))
