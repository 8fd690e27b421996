"""Batch MEG regression: the laws of a problem, cvxpy's optimum, and instances in every form."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_meg import LowRank, MEGLearner, MEGRegression, Pair
from random_matrices import density

import matrixlearn as ml
from matrixlearn.exceptions import CapabilityError, ProblemError
from matrixlearn.losses import Huber
from matrixlearn.testing import parametrize_with_checks

seeds = st.integers(0, 2**32 - 1)


@parametrize_with_checks([MEGRegression])
def test_meg(check):
    check()


def test_it_is_registered_and_brings_its_engines():
    assert ml.registered_problems()["meg"] is MEGRegression
    problem = MEGRegression.random(np.random.default_rng(0))
    assert ml.methods(problem) == ["newton", "online", "mmw", "mirror", "reference"]
    for engine in problem.engines:
        with pytest.raises(CapabilityError, match="is for MEGRegression"):
            ml.solve(ml.LinearSDP(np.eye(2), [np.eye(2)], [1.0], 1.0), method=engine)


@given(seeds, st.sampled_from(["square", "absolute", "huber", "logistic"]), st.booleans())
def test_one_pass_is_the_learner_and_is_certified(seed, loss, complex_entries):
    rng = np.random.default_rng(seed)
    d, T = int(rng.integers(2, 5)), int(rng.integers(1, 20))
    X = rng.standard_normal((T, d) if rng.random() < 0.5 else (T, d, d))
    X = X + 1j * rng.standard_normal(X.shape) if complex_entries else X
    y = rng.choice([-1.0, 1.0], T)
    problem = MEGRegression(X, y, loss)
    best = ml.solve(problem, tol=1e-2)
    once = ml.solve(problem, method="online", tol=1e-12)
    assert once.iterations <= T + 1 and (once.status == "optimal" or once.iterations == T + 1)
    assert once.lower <= best.upper and best.lower <= once.upper
    learner = MEGLearner(d, loss=loss).partial_fit(problem.X, y)
    # the last matrix, and those of the checks, were offered: none of them is better than what is returned
    assert once.upper <= problem.value_of(learner.W) * (1 + 1e-9) + 1e-9 or once.status == "optimal"


@given(seeds, st.booleans())
def test_any_multipliers_and_any_matrix_prove_bounds(seed, noisy):
    rng = np.random.default_rng(seed)
    problem = MEGRegression.random(rng)
    best = ml.solve(problem, tol=1e-5)
    box = problem.dual_set
    for _ in range(5):
        W = density(rng, problem.d, np.iscomplexobj(problem.X))
        u = box.lower + rng.random(box.size) * (box.upper - box.lower) if noisy else problem.multipliers_at(W)
        found = ml.certify(problem, X=W, y=u)
        assert found.lower <= best.upper and best.lower <= found.upper
    at = problem.multipliers_at(W)  # Fenchel-Young: the bound of W is the bound of its own multipliers
    slack = 1e-9 * problem.scale
    assert problem.bound_from_vector(at).lower == pytest.approx(problem.bound_from_matrix(W).lower, abs=slack)


def test_all_forms_of_instances_are_one_problem():
    rng = np.random.default_rng(1)
    pairs = [(0, 1), (1, 2), (0, 3), (2, 3), (0, 2)]
    y = rng.uniform(0, 1, 5)
    rows = np.zeros((5, 4))
    for t, (a, b) in enumerate(pairs):
        rows[t, a], rows[t, b] = 1, -1
    matrices = rows[:, :, None] * rows[:, None, :]
    forms = [
        rows,
        matrices,
        [Pair(a, b, 4) for a, b in pairs],
        [LowRank(r) for r in rows],
        [scipy.sparse.csr_array(M) for M in matrices],
        [Pair(0, 1, 4), *matrices[1:]],
    ]
    values = [ml.solve(MEGRegression(form, y), tol=1e-6).value for form in forms]
    np.testing.assert_allclose(values, values[0], rtol=1e-5)


@pytest.mark.parametrize("loss", ["square", "absolute", "huber", "logistic"])
def test_instances_of_zeros_and_a_single_dimension_have_an_answer(loss):
    zeros = ml.solve(MEGRegression(np.zeros((2, 3)), [1.0, 1.0], loss), tol=1e-9)
    expected = {"square": 1.0, "absolute": 1.0, "huber": 0.5, "logistic": np.log(2)}[loss]
    assert zeros.status == "optimal" and zeros.value == pytest.approx(expected)
    assert ml.solve(MEGRegression(np.array([[2.0], [0.5]]), [1.0, -1.0], loss), tol=1e-9).status == "optimal"


def test_labels_that_the_centre_predicts_need_no_round():
    solution = ml.solve(MEGRegression(np.eye(3)[None], [1.0]))
    assert solution.status == "optimal" and solution.iterations == 0 and solution.value == 0
    one = ml.solve(MEGRegression([[2.0]], [1.0]), tol=1e-9)  # one object
    assert one.value == 9.0 and one.matrix.tolist() == [[1.0]]


def test_many_passes_of_the_online_learner_approach_the_batch_optimum():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((30, 4))
    y = np.einsum("ti,ij,tj->t", X, density(rng, 4), X)
    problem = MEGRegression(X, y)
    learner = MEGLearner(4, "adaptive")
    for _ in range(60):
        learner.partial_fit(X, y)
    assert problem.value_of(learner.W) < 1e-2 * problem.value_of(np.eye(4) / 4)
    assert ml.solve(problem, tol=1e-4).lower <= problem.value_of(learner.W)


def test_words_and_picture():
    plt = pytest.importorskip("matplotlib.pyplot")
    rng = np.random.default_rng(5)
    solution = ml.solve(MEGRegression(rng.standard_normal((9, 3)), rng.uniform(0, 3, 9)), tol=1e-4)
    assert "effective rank" in solution.summary()
    figure = solution.plot()
    assert len(figure.axes) == 3
    plt.close(figure)
    figure = ml.solve(solution.problem, method="online").plot()  # Figure 2
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[2].lines}
    assert list(lines) == ["MEG", "comparator U", "bound (Lemma 3.2)"]
    assert np.all(lines["MEG"] <= lines["bound (Lemma 3.2)"] * (1 + 1e-9))
    plt.close(figure)
    learner = MEGLearner(3, 0.1, comparator=np.eye(3) / 3).learn([(np.diag([1.0, 2.0, 3.0]), 1.0)] * 5)
    axes = plt.figure().gca()
    learner.meter.plot(axes)
    assert [line.get_label() for line in axes.lines] == ["MEG", "comparator U", "bound (Lemma 3.2)"]
    plt.close("all")


def test_the_command_line_reads_arrays(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from matrixlearn._commands import cli

    def run(*arguments):
        return CliRunner().invoke(cli, ["solve", "meg", *map(str, arguments)])

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((9, 3)), rng.standard_normal(9)
    np.savez("data.npz", X=X, y=y)
    found = run("data.npz", "--loss", "huber", "--delta", 0.3, "--tol", 1e-6)
    assert found.exit_code == 0 and "optimal" in found.output
    solution = ml.Solution.load("solution.npz")
    assert solution.problem.loss == Huber(0.3) and solution.problem.delta == 0.3
    assert solution.value == pytest.approx(ml.solve(MEGRegression(X, y, "huber", 0.3), tol=1e-6).value, rel=2e-6)
    once = run("data.npz", "--method", "online")
    assert once.exit_code == 3 and "online" in once.output
    np.savez("lacking.npz", X=X)
    np.savez("strange.npz", X=X, y=y, z=y)
    np.save("single.npy", X)
    Path("text.npz").write_text("no")
    for name, message in (
        ("lacking.npz", "must hold X and y, got X only"),
        ("strange.npz", "must hold arrays among X, y, got z"),
        ("single.npy", "not an .npz file"),
        ("text.npz", "not an .npz archive"),
    ):
        refused = run(name)
        assert refused.exit_code == 1 and message in refused.output, refused.output
    assert "hinge" in run("data.npz", "--loss", "hinge").output


@pytest.mark.parametrize(
    ("X", "y", "more", "message"),
    [
        (np.ones((2, 3, 4)), [1.0, 1.0], {}, r"X must have shape \(T, d, d\)"),
        (np.ones(3), [1.0, 1.0, 1.0], {}, "X must have shape"),
        (np.ones((2, 3)), [1.0], {}, "X and y must have one row each, got 2 and 1"),
        (np.ones((2, 3)), [1.0, np.nan], {}, "y holds 1 NaN"),
        (np.full((2, 3), np.inf), [1.0, 1.0], {}, "X holds 6 NaN or infinite"),
        (np.zeros((0, 3)), [], {}, "X is empty"),
        (np.ones((2, 3)), [1.0, 0.5], {"loss": "logistic"}, "labels -1 and 1"),
        (np.ones((2, 3)), [1.0, 0.5], {"loss": "hinges"}, "loss must be one of"),
        (np.ones((2, 3)), [1.0, 0.5], {"loss": "huber", "delta": 0.0}, "delta must be positive"),
        ([Pair(0, 1, 3), np.eye(2)], [1.0, 1.0], {}, r"X\[1\] must be 3 x 3"),
        ([Pair(0, 1, 3), np.full((3, 3), np.nan)], [1.0, 1.0], {}, r"X\[1\] holds 9 NaN"),
        ([np.eye(2), np.eye(3)], [1.0, 1.0], {}, "X is ragged"),
        ([], [], {}, "X is empty"),
        (np.ones((2, 3)), ["a", "b"], {}, "y must hold numbers"),
        (np.ones((2, 3)), [1.0, 1j], {}, "y must be a real vector"),
        (np.ones((2, 3)), [1.0, 1.0], {"loss": ["square"]}, "loss must be one of"),
        (np.ones((2, 3)), [1.0, 1.0], {"loss": "huber", "delta": np.nan}, "delta must be a number"),
    ],
)
def test_bad_input(X, y, more, message):
    with pytest.raises(ProblemError, match=message):
        MEGRegression(X, y, **more)


def test_the_demonstration_tells_its_numbers_and_saves_a_picture(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from matrixlearn._commands import cli

    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(cli, ["demo", "meg", "-o", "picture.png"])
    assert shown.exit_code == 0, shown.output
    for word in ("CC BY 4.0", "3520 rounds", "Lemma 3.1", "optimal", "at once", "picture in picture.png"):
        assert word in shown.output
    assert Path("picture.png").read_bytes()[1:4] == b"PNG"
    errors = [float(line.split()[-1]) for line in shown.output.splitlines()[-4:-1]]
    assert errors[0] > errors[1] > errors[2]  # nothing learned, online, at once
    refused = CliRunner().invoke(cli, ["demo", "sdp"])
    assert refused.exit_code == 1 and "'sdp' has no demonstration" in refused.output


def test_the_data_of_the_demonstration_are_standardized_series():
    from matrixlearn_meg.data import load_beijing_days

    series = load_beijing_days()
    assert series.z.shape == (614, 48) == (len(series.date), len(series.names))
    np.testing.assert_allclose(series.z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(series.z.std(axis=0), 1, atol=1e-12)
    assert series.names[12] == ("NO2", "Aotizhongxin") and np.all(np.diff(series.date) > np.timedelta64(0))
