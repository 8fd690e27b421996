"""What FETR accepts, and the errors that it gives for the rest."""

import numpy as np
import pytest
import scipy.sparse as sp
from matrixlearn_fetr import FETR, FETRRegressor, LogisticFETR

import matrixlearn as ml
from matrixlearn.exceptions import CapabilityError, ProblemError

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((8, 3)), rng.standard_normal((8, 2))
NAN = np.where(np.arange(16).reshape(8, 2) == 5, np.nan, Y)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"Y": NAN}, r"^Y holds 1 NaN.*with_missing\(X, Y\) takes NaN.*rows that it has"),
        ({"Y": np.where(NAN != NAN, np.inf, Y)}, "^Y holds 1 NaN or infinite"),
        ({"X": np.where(X[2, 1] == X, np.nan, X)}, "^X holds 1 NaN"),
        ({"X": sp.csr_array(np.where(X[2, 1] == X, np.inf, X))}, "^X holds 1 NaN or infinite"),
        ({"lower": 2.0, "upper": 1.0}, "upper must be finite and at least lower"),
        ({"lower": 0.0}, "lower must be positive"),
        ({"lower": -1.0}, "lower must be positive"),
        ({"upper": np.inf}, "upper must be finite"),
        ({"eta": -1.0}, "eta must be positive"),
        ({"eta": 0.0}, "eta must be positive"),
        ({"eta": "strong"}, "eta must be a number"),
        ({"mean": "median"}, "mean must be one of"),
        ({"Y": Y[:5]}, "one row each, got 8 and 5"),
        ({"X": X[0]}, "X must be two-dimensional"),
        ({"X": 1j * X}, "X must be real"),
        ({"X": sp.csr_array(1j * X)}, "X must be real"),
        ({"X": sp.csr_array((0, 3)), "Y": np.zeros((0, 2))}, "X is empty"),
        ({"Y": None}, "Y must hold numbers, got None"),
        ({"task": ["a", "b", "c"]}, "task must have a label for each of the 2"),
        ({"task": ["a", "a"]}, "task must name each of the 2 tasks once"),
        ({"Y": Y[:, 0], "task": np.zeros((8, 1))}, "task must be a vector"),
        ({"Y": Y[:, 0], "task": [np.nan] * 8}, "task holds NaN"),
        ({"Y": Y[:, 0], "task": ["a", "b"]}, "for each of the 8"),
        ({"X": None}, "must be given, and not both"),
        ({"gram": np.eye(3)}, "must be given, and not both"),
    ],
)
def test_bad_input_is_named(arguments, says):
    with pytest.raises(ProblemError, match=says):
        FETR(**{"X": X, "Y": Y, **arguments})


@pytest.mark.parametrize(
    ("xs", "ys", "options", "says"),
    [
        ([X, X[:0]], [Y[:, 0], Y[:0, 0]], {"task": ["a", "b"]}, r"X\[1\] \(task b\) has no rows"),
        ([X, X[:, :2]], [Y[:, 0], Y[:, 1]], {}, r"same features, but X\[0\] has 3 and X\[1\] 2"),
        ([X, X], [Y[:, 0]], {}, "Y must be a list of 2"),
        ([X, X], [Y[:, 0], Y[:5, 1]], {}, r"X\[1\] and Y\[1\] must have one row each"),
        ([X, X], [Y, Y], {}, r"Y\[0\] must be a vector"),
        ([X, X], [Y[:, 0], NAN[:, 1]], {}, r"Y\[1\] holds 1 NaN"),
        ([X, X], [Y[:, 0], Y[:, 1]], {"task": ["a", "a"]}, "name each of the 2 tasks in X once"),
    ],
)
def test_bad_lists_are_named(xs, ys, options, says):
    with pytest.raises(ProblemError, match=says):
        FETR(xs, ys, **options)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"gram": np.eye(2)}, "gram must have shape"),
        ({"gram": np.triu(np.ones((3, 3)))}, "gram must be symmetric"),
        ({"cross": np.ones(3)}, "cross must have shape"),
        ({"square": -np.ones(2)}, "square must hold 2 numbers >= 0"),
        ({"square": None}, "square must hold numbers"),
    ],
)
def test_bad_moments_are_named(change, says):
    given = {"gram": X.T @ X, "cross": X.T @ Y, "square": np.sum(Y**2, axis=0)}
    with pytest.raises(ProblemError, match=says):
        FETR(**{**given, **change})


def test_bad_batches_are_named():
    with pytest.raises(ProblemError, match="batches is empty"):
        FETR.from_batches([])
    with pytest.raises(ProblemError, match="block 1 has"):
        FETR.from_batches([(X, Y), (X[:, :2], Y)])
    with pytest.raises(ProblemError, match="Y of block 0 holds 1 NaN"):
        FETR.from_batches([(X, NAN)])


def test_integers_sparse_matrices_and_single_precision_are_taken():
    whole = np.round(3 * X).astype(int)
    expected = ml.solve(FETR(whole.astype(float), Y), tol=1e-9)
    for same in (whole, sp.csr_matrix(whole), sp.coo_array(whole), whole.astype(np.float32), whole.tolist()):
        problem = FETR(same, Y)
        assert ml.solve(problem, tol=1e-9).value == pytest.approx(expected.value)
    assert sp.issparse(FETR(sp.csr_array(whole), Y).X)
    rows = FETR([sp.csr_array(whole), whole[:3]], [Y[:, 0], Y[:3, 1]])
    assert sp.issparse(rows.X)
    assert ml.solve(rows, tol=1e-8).status == "stationary"


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("names", [None, ["left", "right"]])
def test_missing_targets_are_rows_that_a_task_has_not(form, names):
    known = rng.random(Y.shape) < 0.7
    known[0] = True
    problem = FETR.with_missing(form(X), np.where(known, Y, np.nan), eta=0.5, task=names)
    listed = FETR([X[k] for k in known.T], [Y[k, i] for i, k in enumerate(known.T)], 0.5)
    assert problem.tasks.tolist() == (names or [0, 1])
    assert ml.solve(problem, tol=1e-9).value == pytest.approx(ml.solve(listed, tol=1e-9).value, rel=1e-7)
    labels = np.where(known, Y > 0, np.nan)
    assert LogisticFETR.with_missing(form(X), labels).loss.size == pytest.approx(np.log(2) * known.sum())
    assert FETR.with_missing(form(X), Y).moments.is_shared
    with pytest.raises(ProblemError, match=r"X\[1\] \(task 1\) has no rows"):
        FETR.with_missing(X, np.where(np.arange(2) == 1, np.nan, Y))
    with pytest.raises(ProblemError, match=r"Y.* holds 1 NaN or infinite"):
        FETR.with_missing(X, np.where(NAN != NAN, np.inf, np.where(known, Y, np.nan)))


def test_a_sparse_problem_is_saved_and_loaded(tmp_path):
    solution = ml.solve(FETR(sp.csr_array(X), Y, task=["a", "b"]))
    solution.save(tmp_path / "fetr.npz")
    loaded = ml.Solution.load(tmp_path / "fetr.npz")
    assert loaded.certificate.verify().upper == pytest.approx(solution.upper)
    assert loaded.problem.tasks.tolist() == ["a", "b"]


def test_labels_may_be_strings_and_keep_their_order():
    label = np.array(["oak", "ash", "oak", "elm", "ash", "oak", "elm", "elm"])
    problem = FETR(X, Y[:, 0], task=label)
    assert problem.tasks.tolist() == ["oak", "ash", "elm"]
    assert problem.shape == (3, 3)
    for i, name in enumerate(problem.tasks):
        rows = label == name
        np.testing.assert_allclose(problem.moments.gram[i], X[rows].T @ X[rows])
        np.testing.assert_allclose(problem.moments.cross[:, i], X[rows].T @ Y[rows, 0])
    assert problem.moments.square.sum() == pytest.approx(np.sum(Y[:, 0] ** 2))
    mixed = FETR(X, Y[:, 0], task=np.array([1, "b"] * 4, dtype=object))
    assert mixed.tasks.tolist() == ["1", "b"]


def test_one_vector_is_one_task_and_arrays_are_left_alone():
    kept, target = X.copy(), Y[:, 0].copy()
    kept.flags.writeable = target.flags.writeable = False
    problem = FETR(kept, target, task=["only"])
    assert problem.shape == (3, 1)
    assert ml.solve(problem, tol=1e-8).matrix.shape == (3, 1)


def test_points_are_checked_and_the_whole_problem_is_not_convex():
    problem = FETR(X, Y)
    with pytest.raises(ProblemError, match=r"shape \(3, 2\), got \(2, 2\)"):
        problem.estimate(np.ones((2, 2)))
    with pytest.raises(CapabilityError, match="block_references"):
        problem.reference()
    own = ["joint", "pruning", "alternating", "gradient", "flip-flop", "proximal-gradient"]
    assert ml.methods(problem)[:6] == own


@pytest.mark.parametrize("scale", [1.0, 1e8, 1e12])
@pytest.mark.parametrize("mean", ["zero", "shared"])
def test_units_of_the_features_beside_which_the_prior_vanishes(scale, mean):
    """Collinear features of rows of their own: singular to rounding where eta is small beside the squares of X."""
    rng = np.random.default_rng(0)
    task, W = rng.integers(0, 5, 200), rng.standard_normal((8, 5))
    X = rng.standard_normal((200, 8))
    X[:, 7] = X[:, 6]
    y = np.einsum("ij,ji->i", X, W[:, task]) + 0.1 * rng.standard_normal(200)
    model = FETRRegressor(eta=1.0, mean=mean).fit(scale * X, y, task=task)
    predicted = model.predict(scale * X, task=task)
    assert np.mean((predicted - y) ** 2) < 0.02 * np.var(y)


class Unknown:
    """A value like pandas' NA: equal to nothing, unequal to nothing, neither true nor false."""

    def __eq__(self, other):
        return self

    def __bool__(self):
        raise TypeError

    __hash__ = None


@pytest.mark.parametrize(
    ("task", "says"),
    [
        (["a", None] * 4, "task holds NaN, infinity or nothing, None at row 1"),
        (np.array(["a", Unknown()] * 4, dtype=object), "task holds NaN, infinity or nothing, .* at row 1"),
        (np.array(["a", np.nan] * 4, dtype=object), "task holds NaN, infinity or nothing, nan at row 1"),
        ([0.0, np.inf] * 4, r"task holds NaN, infinity or nothing, .*inf.* at row 1"),
        (np.array(["2020-01-01", "NaT"] * 4, dtype="datetime64[D]"), "task holds NaN, infinity or nothing, .*NaT"),
    ],
)
def test_missing_labels_are_named(task, says):
    for make in (lambda: FETR(X, Y[:, 0], task=task), lambda: FETRRegressor().fit(X, Y[:, 0], task)):
        with pytest.raises(ProblemError, match=says):
            make()


@pytest.mark.parametrize(
    ("task", "says"),
    [
        (np.array(["a", 1] * 4, dtype=object), "task must hold labels of one kind"),
        (["a", "b"], r"task must hold one label for each of the 8 rows, got shape \(2,\)"),
        (np.zeros((8, 2)), r"task must hold one label for each of the 8 rows, got shape \(8, 2\)"),
    ],
)
def test_labels_of_no_row_are_named_by_estimators(task, says):
    fitted = FETRRegressor().fit(X, Y[:, 0], ["a", "b"] * 4)
    for call in (lambda: FETRRegressor().fit(X, Y[:, 0], task), lambda: fitted.predict(X, task)):
        with pytest.raises(ValueError, match=says):
            call()


def test_one_label_is_for_all_rows():
    fitted = FETRRegressor().fit(X, Y[:, 0], ["a", "b"] * 4)
    np.testing.assert_allclose(fitted.predict(X, "a"), fitted.predict(X, ["a"] * 8))


def test_labels_of_any_kind_are_the_same_tasks():
    names = np.array(["a", "b", "c", "a"] * 2)
    first = FETRRegressor().fit(X, Y[:, 0], names)
    number = np.unique(names, return_inverse=True)[1]
    dates = np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[D]")
    pairs = np.empty(8, dtype=object)
    pairs[:] = [("x", int(k)) for k in number]
    for task in (
        names.astype(object),
        names.tolist(),
        number,
        number.astype(float),
        dates[number],
        pairs,
        names[:, None],
    ):
        other = FETRRegressor().fit(X, Y[:, 0], task)
        np.testing.assert_allclose(other.coef_, first.coef_, atol=1e-9 * np.abs(first.coef_).max())
        np.testing.assert_allclose(other.predict(X, task), first.predict(X, names), atol=1e-8)


@pytest.mark.parametrize("mean", ["zero", "shared"])
def test_units_and_shapes_that_are_no_trouble(mean):
    """No exception, finite weights, and a certificate: units of 1e12, single rows, constant and repeated columns."""
    task = np.repeat([0, 1], 4)
    y = Y[:, 0]
    cases = [
        (1e12 * X, y, task),
        (X, 1e12 * y, task),
        (X, 1e-12 * y, task),
        (1e12 * X, 1e12 * y, task),
        (X * [1e8, 1.0, 1e-8], y, task),
        (np.column_stack([X, np.full(8, 2.0), np.zeros(8), X]), y, task),
        (np.ones((8, 2)), y, task),
        (X, y, np.zeros(8)),
        (X, y, np.arange(8)),
        (X, y, np.repeat([0, 1], [7, 1])),
        (X[:1], y[:1], task[:1]),
        (X, np.zeros(8), task),
        (np.hstack([X] * 5 + [X**2]), y, task),
        (1e12 * X, Y, None),
    ]
    if mean == "zero":  # a shared mean of 1e12 is subtracted from weights that differ from it by 1
        cases += [(1e-12 * X, Y, None), (1e-12 * X, y, task)]
    for rows, target, label in cases:
        for intercept in (False, True):
            model = FETRRegressor(mean=mean, fit_intercept=intercept).fit(rows, target, label)
            assert np.all(np.isfinite(model.coef_)) and str(model.solution_.status) == "stationary"


def test_products_that_overflow_are_named_by_what_was_given():
    for rows, target in ((1e100 * X, Y), (X, 1e151 * Y)):
        with pytest.raises(ProblemError, match=r"^X and y hold values whose products overflow"):
            FETRRegressor().fit(rows, target)
