"""Numbers of any size: answered, or refused at the door with the argument's name; never another error, never a part."""

import numpy as np
import pytest
from matrixlearn_definiteboost import DefiniteBoost
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_fetr import FETR
from matrixlearn_maxcut import MaxCut
from matrixlearn_meg import MEGRegression

import matrixlearn as ml
from matrixlearn.engines import Reference, reference
from matrixlearn.exceptions import MatrixLearnError, ProblemError
from matrixlearn.multitask import solve_weights
from matrixlearn.sets import KnapsackSet
from matrixlearn.testing.laws.base import float_array

pytestmark = pytest.mark.usefixtures("cpu_clock")

OTHERS = [name for name in ml.registered_problems() if name != "sdp"]


@pytest.mark.parametrize(("k", "flow"), [(1e51, "overflow"), (1e-101, "underflow")])
def test_the_range_is_checked_at_the_door(k, flow):
    with pytest.raises(ProblemError, match=rf"X_source.* products {flow}.* between 1e-100 and 1e\+50"):
        Discrepancy(k * np.ones((2, 2)), np.ones((2, 2)))
    Discrepancy(np.zeros((2, 2)), np.ones((2, 2)))  # 0 has no unit


@pytest.mark.parametrize("exponent", [-99, -60, -30, 30, 49])
@pytest.mark.parametrize("name", OTHERS)
def test_data_in_any_units_are_answered_or_refused(name, exponent):
    """Arrays one by one in other units, and all together: any error but one of ours fails, and any warning."""
    drawn = ml.registered_problems()[name].random(np.random.default_rng(0))
    given = dict(drawn.parameters())
    arrays = {key: array for key, value in given.items() if (array := float_array(value)) is not None}
    for changed in [*([key] for key in arrays), list(arrays)]:
        try:
            problem = type(drawn)(**{**given, **{key: 10.0**exponent * arrays[key] for key in changed}})
            solution = ml.solve(problem, tol=1e-2, max_iter=5)
        except MatrixLearnError:
            continue
        assert not np.isnan([solution.lower, solution.upper]).any()


@pytest.mark.parametrize("eta", [1e-12, 1e-20, 1e-50])
def test_a_prior_below_rounding(eta):
    rng = np.random.default_rng(0)
    problem = FETR([rng.standard_normal((2, 4)) for _ in range(3)], [rng.standard_normal(2) for _ in range(3)], eta)
    solution = ml.solve(problem, tol=1e-3, max_iter=20)
    fit = problem.moments.square.sum()
    assert solution.value <= problem.objective_at(problem.first_points()[0][0], None) + 1e-9 * fit


def test_a_prior_out_of_range_is_refused():
    X, Y = np.eye(3), np.ones((3, 2))
    for name in ("eta", "upper"):
        with pytest.raises(ProblemError, match=name):
            FETR(X, Y, **{name: 1e60})


def test_weights_beside_which_others_are_nothing():
    X, y = np.stack([np.eye(2), np.diag([1.0, -1.0])]), np.array([1.0, 0.5])
    with pytest.raises(ProblemError, match=r"sample_weight holds 1e-300 at row 1.* set it to 0"):
        MEGRegression(X, y, "absolute", sample_weight=[1.0, 1e-300])
    left_out, light = (MEGRegression(X, y, "absolute", sample_weight=[1.0, w]) for w in (0.0, 1e-90))
    assert ml.solve(light, tol=1e-6).value == pytest.approx(ml.solve(left_out, tol=1e-6).value, abs=1e-6)


# -- points -----------------------------------------------------------------------------------------


def boost():
    return DefiniteBoost([np.diag([1.0, -1.0, 0.0]), np.diag([0.0, 1.0, -1.0])], -0.1)


@pytest.mark.parametrize(
    "X", [np.float64(1.0), np.ones((1, 1)), np.ones(3), np.eye(7), np.ones((3, 4)), np.ones((2, 3, 3))]
)
def test_a_matrix_of_another_shape_is_refused(X):
    with pytest.raises(ProblemError, match=r"X must"):
        ml.certify(boost(), X=X)


def test_a_matrix_that_is_not_symmetric_is_refused():
    with pytest.raises(ProblemError, match="X must be symmetric"):
        ml.certify(boost(), X=np.eye(3) + np.eye(3, k=1))


@pytest.mark.parametrize("y", [[1.0], 1.0, [1.0, 2.0, 3.0], [[1.0, 2.0]], [1j, 1j]])
def test_a_vector_of_another_shape_is_refused(y):
    with pytest.raises(ProblemError, match="y must be a real vector"):
        ml.certify(boost(), y=y)


@pytest.mark.parametrize("name", sorted(ml.registered_problems()))
def test_a_vector_of_another_length_is_refused_by_every_problem(name):
    problem = ml.registered_problems()[name].random(np.random.default_rng(0))
    y = ml.solve(problem, tol=1e-1, time_limit=5).y
    for size in () if y is None else (len(y) + 1, 1 if len(y) > 1 else 2):
        with pytest.raises(ProblemError, match="y must"):
            ml.certify(problem, y=np.ones(size))


def test_the_real_part_of_a_complex_point_proves_as_much():
    problem = MaxCut(np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 0.5], [1.0, 0.5, 0.0]]))
    z = np.exp(2j * np.pi * np.array([0.0, 0.3, 0.6]))
    X = np.outer(z, z.conj())
    assert ml.certify(problem, X=X).lower == pytest.approx(ml.certify(problem, X=X.real).lower, rel=1e-12)


# -- imaginary parts are not dropped ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("lower", lambda: DefiniteBoost([np.diag([1.0, -1.0])], 0.5, lower=np.array([-0.5 + 1j]))),
        ("gram", lambda: FETR(gram=np.eye(2) + 0j, cross=np.ones((2, 2)), square=np.ones(2))),
        ("gram", lambda: solve_weights(np.eye(2) + 0j, np.eye(2), np.eye(2), np.ones((2, 2)))),
        ("lower", lambda: KnapsackSet(np.array([1j]), np.array([2.0]))),
    ],
)
def test_complex_numbers_where_real_ones_are_asked_for(name, make):
    with pytest.raises(ProblemError, match=rf"{name}.* real"):  # a ComplexWarning is an error, in all tests
        make()


# -- memory -----------------------------------------------------------------------------------------


def test_the_judge_does_not_ask_for_more_memory_than_there_is(monkeypatch):
    monkeypatch.setattr(reference, "available_memory", lambda: 2.0**34)
    large = MaxCut(np.ones((400, 400)))
    assert "reference" not in ml.methods(large) and "reference" in ml.methods(MaxCut(np.ones((50, 50))))
    with pytest.raises(ml.exceptions.CapabilityError, match=r"order n = 400: 311 GiB, and 16 GiB are available"):
        ml.solve(large, method="reference")
    assert "available" not in Reference(solver="SCS").objection(large)
