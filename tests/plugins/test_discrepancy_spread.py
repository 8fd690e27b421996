"""A discrepancy of points on machines: that of the points, to the last bit the same wherever they are."""

import os
import signal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_discrepancy import Discrepancy, SpreadDiscrepancy

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError
from matrixlearn.machines import Dask, Machines, Shards, SpreadMap

seeds = st.integers(0, 2**31 - 2)
OTHERS = ("mirror-prox", "mmw", "smoothing", "subgradient", "pdhg")
"""Engines in which no point travels."""


def points(seed, count=60, scale=1.0, shift=0.0, N=4):
    return shift + scale * np.random.default_rng(seed).standard_normal((count, N))


SOURCE = Shards.loaded(points, [(i, 40 + i) for i in range(4)])
TARGET = Shards.loaded(points, [(10 + i, 30, 1.3, 0.6) for i in range(3)])


@given(seeds, st.sampled_from([None, 1.0, 2.0]))
def test_the_bounds_hold_for_the_discrepancy_of_the_points(seed, cap):
    rng = np.random.default_rng(seed)
    N, machines = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    parts = [rng.standard_normal((rng.integers(1, 8), N)) for _ in range(machines)]
    T = rng.standard_normal((5, N)) * rng.uniform(0.3, 1.5, N)
    one = SpreadDiscrepancy(Shards.loaded(lambda i: parts[i], range(machines)), T, cap)
    whole = ml.solve(Discrepancy(np.vstack(parts), T, max_weight=cap), tol=1e-6)
    method = "mirror-prox" if cap == 1.0 else "column-generation"  # one y only: no interior
    solution = ml.solve(one, method, tol=1e-4, max_iter=400)
    slack = 1e-9 * (1 + whole.upper)
    assert solution.lower <= whole.upper + slack and whole.lower <= solution.upper + slack
    assert solution.status == "optimal" or method == "mirror-prox"
    assert one.uniform_value() == pytest.approx(whole.problem.uniform_value())


def test_dask_gives_the_bits_of_local(client):
    one, other = SpreadDiscrepancy(SOURCE, TARGET, 2.0), SpreadDiscrepancy(SOURCE, TARGET, 2.0, Dask(client))
    for method in ("auto", "mirror-prox"):
        a, b = (ml.solve(problem, method, tol=1e-3, max_iter=12) for problem in (one, other))
        np.testing.assert_array_equal(a.matrix, b.matrix)
        np.testing.assert_array_equal(a.y, b.y)
        assert (a.lower, a.upper, a.method) == (b.lower, b.upper, b.method)
    assert other.family.held.ledger.moved > 0
    assert "uniform    " in b.summary()


@pytest.mark.parametrize("method", OTHERS)
def test_no_point_travels(method, monkeypatch):
    problem = SpreadDiscrepancy(SOURCE, TARGET, 2.0)

    def refuse(family, index):
        pytest.fail("points were to travel")

    monkeypatch.setattr(SpreadMap, "at", refuse)
    solution = ml.solve(problem, method, tol=1e-2)
    assert solution.gap < 1 and np.isfinite(solution.upper)


def test_column_generation_has_few_points_come():
    source = Shards.loaded(points, [(i, 5000) for i in range(2)])
    problem = SpreadDiscrepancy(source, TARGET)
    came = []
    original = SpreadMap.at
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SpreadMap, "at", lambda family, index: came.append(len(index)) or original(family, index))
        solution = ml.solve(problem, tol=1e-3)
    assert (solution.method, solution.status) == ("column-generation", "optimal")
    assert max(came) < 200


def test_a_worker_that_is_killed_changes_no_bit(client):
    problem = SpreadDiscrepancy(SOURCE, TARGET, 2.0, Dask(client))
    pid = next(iter(client.run(os.getpid).values()))

    def kill(event):
        if event.iteration == 2:
            os.kill(pid, signal.SIGKILL)

    a = ml.solve(problem, "mirror-prox", tol=1e-3, max_iter=12, callback=kill)
    b = ml.solve(SpreadDiscrepancy(SOURCE, TARGET, 2.0), "mirror-prox", tol=1e-3, max_iter=12)
    np.testing.assert_array_equal(a.y, b.y)
    assert (a.lower, a.upper) == (b.lower, b.upper)


def test_bad_input():
    with pytest.raises(ProblemError, match=r"source must be Shards, got ndarray; Discrepancy takes points at hand"):
        SpreadDiscrepancy(np.ones((3, 2)), TARGET)
    with pytest.raises(ProblemError, match=r"same features, got 4 and 2 columns"):
        SpreadDiscrepancy(SOURCE, np.ones((3, 2)))
    with pytest.raises(ProblemError, match="max_weight must be >= 1"):
        SpreadDiscrepancy(SOURCE, TARGET, 0.5)
    with pytest.raises(ProblemError, match=r"target must hold finite|target.*NaN"):
        SpreadDiscrepancy(SOURCE, np.full((3, 4), np.nan))
    with pytest.raises(ProblemError, match=r"X of machine 0.*NaN"):
        SpreadDiscrepancy(Shards.loaded(lambda i: np.full((3, 4), np.nan), range(1)), TARGET)
    assert isinstance(SpreadDiscrepancy(SOURCE, TARGET).machines, Machines)


def test_files_by_a_pattern_from_the_command_line(tmp_path):
    """Each file is a machine; the answer goes to .csv, as no file holds points that stay where they are."""
    from click.testing import CliRunner

    from matrixlearn._commands import cli

    for i in range(3):
        np.save(tmp_path / f"source-{i}.npy", points(i))
    np.save(tmp_path / "target.npy", points(9, shift=0.5))
    given = ["solve", "discrepancy", "--source", str(tmp_path / "source-*.npy"), "--max-weight", "2"]
    given += ["--target", str(tmp_path / "target.npy"), "--tol", "1e-6"]
    found = CliRunner().invoke(cli, [*given, "-o", str(tmp_path / "weights.csv")])
    assert found.exit_code == 0 and "source: 3 files" in found.output, found.output
    weights = np.loadtxt(tmp_path / "weights.csv", skiprows=1)
    whole = Discrepancy(np.vstack([points(i) for i in range(3)]), points(9, shift=0.5), max_weight=2)
    assert ml.certify(whole, y=weights).upper == pytest.approx(ml.solve(whole, tol=1e-6).value, rel=1e-5)
    refused = CliRunner().invoke(cli, [*given, "-o", str(tmp_path / "all.npz")])
    assert refused.exit_code != 0 and "a file cannot hold source" in refused.output and "optimal" not in refused.output
    none = CliRunner().invoke(cli, ["solve", "discrepancy", "--source", str(tmp_path / "no*.npy"), "--target", "x.npy"])
    assert "does not exist" in none.output
