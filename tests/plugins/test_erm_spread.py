"""Empirical risk over rows on machines: that of the rows, and the same bits wherever they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_erm import ERM
from matrixlearn_erm.design import Design
from matrixlearn_erm.spread import SpreadDesign

import matrixlearn as ml
from matrixlearn.exceptions import CapabilityError, MatrixLearnError, ProblemError
from matrixlearn.machines import Dask, Local, Shards

seeds = st.integers(0, 2**31 - 2)
CASES = [
    ("logistic", "ridge(ridge=0.05)", "newton-cg"),
    ("logistic", "elastic-net(ridge=0.01, l1=0.05)", "newton-cg"),
    ("hinge", "ridge(ridge=0.05)", "chambolle-pock"),
    ("square", "nuclear(mu=0.2, shape=(2, 3), ridge=0.01)", "chambolle-pock"),
    ("square", "ridge(ridge=0.05)", "papc"),
    ("hinge", "ridge(ridge=0.05)", "disdca"),
    ("logistic", "elastic-net(ridge=0.05, l1=0.02)", "disdca"),
    ("square", "group(mu=0.1, groups=(0, 0, 1, 1, 2, 2), ridge=0.05)", "dadm"),
]


def rows(i, sizes=(30, 5, 80)):
    rng = np.random.default_rng(i)
    X = rng.standard_normal((sizes[i], 6))
    return X, np.where(X[:, 0] + 0.5 * rng.standard_normal(sizes[i]) > 0, 1.0, -1.0)


SHARDS = Shards.loaded(rows, range(3))
A, B = (np.concatenate(parts) for parts in zip(*map(rows, range(3)), strict=True))


@given(seeds)
def test_a_spread_design_is_the_design_of_all_rows(seed):
    rng = np.random.default_rng(seed)
    sizes, d = rng.integers(1, 6, rng.integers(1, 4)), int(rng.integers(1, 5))
    whole = rng.standard_normal((int(sizes.sum()), d))
    parts = np.split(whole, np.cumsum(sizes)[:-1])
    spread = SpreadDesign(None, Local().hold(Shards.loaded(lambda i: parts[i], range(len(sizes)))))
    columns = np.flatnonzero(rng.random(d) < 0.7)
    for one, other in ((Design(whole), spread), (Design(whole).at(columns), spread.at(columns))):
        n, k = one.shape
        assert other.shape == (n, k)
        x, y, weights = rng.standard_normal(k), rng.standard_normal(n), rng.random(n)
        np.testing.assert_allclose(other.apply(x), one.apply(x), atol=1e-12)
        np.testing.assert_allclose(other.adjoint(y), one.adjoint(y), atol=1e-12)
        np.testing.assert_allclose(other.gram(weights), one.gram(weights), atol=1e-12)
        np.testing.assert_allclose(other.squares(weights), one.squares(weights), atol=1e-12)
    assert np.all(spread.norms >= np.linalg.norm(whole, axis=1) * (1 - 1e-15))
    np.testing.assert_allclose(spread.norms, np.linalg.norm(whole, axis=1))


@pytest.mark.parametrize(("loss", "penalty", "method"), CASES)
def test_the_optimum_is_that_of_the_rows(loss, penalty, method):
    here, there = ERM(A, B, loss, penalty), ERM(SHARDS, None, loss, penalty)
    a, b = ml.solve(here, tol=1e-6), ml.solve(there, method, tol=1e-4)
    assert b.status == "optimal"
    assert b.lower <= a.upper * (1 + 1e-9) and a.lower <= b.upper * (1 + 1e-9)
    x, y = np.random.default_rng(0).standard_normal(6), 0.3 * B
    for name, point in (("bound_from_matrix", x), ("bound_from_vector", y)):
        one, other = getattr(here, name)(point), getattr(there, name)(point)
        assert (other.lower, other.upper) == pytest.approx((one.lower, one.upper), rel=1e-9)


@pytest.mark.parametrize(("loss", "penalty", "method"), CASES)
def test_dask_gives_the_bits_of_local(client, loss, penalty, method):
    one, other = (ERM(SHARDS, None, loss, penalty, machines=machines) for machines in (Local(), Dask(client)))
    a, b = (ml.solve(problem, method, tol=1e-8, max_iter=6) for problem in (one, other))
    np.testing.assert_array_equal(a.matrix, b.matrix)
    np.testing.assert_array_equal(a.y, b.y)
    assert (a.lower, a.upper) == (b.lower, b.upper)
    assert other.design.held.ledger.moved > 0
    assert "case " in b.summary()


def test_engines_that_look_at_samples_refuse_by_name_and_weights_come_with_shards():
    problem = ERM(SHARDS, None, "logistic", "ridge(ridge=0.1)")
    assert {"newton-cg", "chambolle-pock"} <= set(ml.methods(problem))
    for method in ("sdca", "svrg", "spdc", "dual-interior-point"):
        with pytest.raises(CapabilityError, match=f"{method} looks at single samples; on machines newton-cg"):
            ml.solve(problem, method)
    with pytest.raises(ProblemError, match="b and sample_weight are not to be given"):
        ERM(SHARDS, B, "logistic", "ridge(ridge=0.1)")
    with pytest.raises(ProblemError, match="label"):
        ERM(Shards.loaded(lambda i: (np.ones((2, 1)), np.array([0.0, 1.0])), [0]), None, "logistic", "ridge(ridge=0.1)")
    weight = np.random.default_rng(1).random(len(B)) + 0.1
    task = np.repeat(np.arange(3), (30, 5, 80))
    weighted = ERM(Shards.of(A, B, task, weight), None, "logistic", "ridge(ridge=0.1)")
    here = ERM(A, B, "logistic", "ridge(ridge=0.1)", sample_weight=weight)
    x = np.linspace(-1, 1, 6)
    assert weighted.bound_from_matrix(x).upper == pytest.approx(here.bound_from_matrix(x).upper)


def test_rows_at_hand_are_saved_and_functions_are_not(tmp_path):
    """A file has the rows of `Shards.of`, and proves the same; it never names a function to be called."""
    task = np.repeat([0, 1, 2], (30, 5, 80))
    at_hand = ml.solve(ERM(Shards.of(A, B, task), None, "logistic", "ridge(ridge=0.05)"))
    at_hand.save(tmp_path / "answer.npz")
    loaded = ml.Solution.load(tmp_path / "answer.npz")
    assert loaded.status == "optimal"
    assert loaded.certificate.verify().upper == pytest.approx(at_hand.upper, rel=1e-12)
    elsewhere = ml.solve(ERM(SHARDS, None, "logistic", "ridge(ridge=0.05)"))
    with pytest.raises(MatrixLearnError, match="a file cannot hold A, which is of the class Shards"):
        elsewhere.save(tmp_path / "elsewhere.npz")
    assert not (tmp_path / "elsewhere.npz").exists()
    elsewhere.save(tmp_path / "elsewhere.csv")


def test_an_answer_to_other_files_is_not_replaced(tmp_path):
    from matrixlearn._outputs import place_for

    solution = ml.solve(ERM(SHARDS, None, "logistic", "ridge(ridge=0.05)"))
    path = tmp_path / "answer.json"
    solution.save(path)
    assert place_for(solution, path) == path
    other = ml.solve(ERM(Shards.loaded(rows, [0, 1]), None, "logistic", "ridge(ridge=0.05)"))
    assert place_for(other, path) != path


def test_rows_are_dealt_to_workers_from_the_command_line(tmp_path, monkeypatch):
    from click.testing import CliRunner
    from matrixlearn_erm import present

    from matrixlearn._commands import cli

    monkeypatch.setattr(present, "machines_of", lambda given: Local(hub=True, seed=given["workers"]))
    np.savez(tmp_path / "data.npz", A=A, b=B, task=np.arange(len(B)) % 4)
    found = CliRunner().invoke(
        cli,
        ["solve", "erm", str(tmp_path / "data.npz"), "--loss", "logistic", "--penalty", "ridge(ridge=0.05)"]
        + ["--workers", "2", "--tol", "1e-8", "-o", str(tmp_path / "x.npz")],
    )
    assert found.exit_code == 0, found.output
    at_once = ml.solve(ERM(A, B, "logistic", "ridge(ridge=0.05)"), tol=1e-8)
    assert ml.Solution.load(tmp_path / "x.npz").value == pytest.approx(at_once.value, rel=1e-7)
