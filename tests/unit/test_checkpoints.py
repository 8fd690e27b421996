"""Checkpoints: the same iterates as without a break, whatever the engine; files that are none are refused by name."""

import os
import pickle

import numpy as np
import pytest

import matrixlearn as ml
from matrixlearn._checkpoint import MAGIC
from matrixlearn.exceptions import MatrixLearnError

pytestmark = pytest.mark.usefixtures("cpu_clock")

CASES = [
    ("sdp", "interior-point"), ("sdp", "pdhg"), ("sdp", "mmw"), ("discrepancy", "mirror-prox"),
    ("discrepancy", "column-generation"), ("discrepancy", "sa-da"), ("maxcut", "low-rank"), ("maxcut", "smoothing"),
    ("definiteboost", "definiteboost"), ("fetr", "alternating"), ("graph-multitask", "gd"), ("gspartan", "bcd"),
    ("meg", "online"), ("meg", "mirror"), ("tomography", "factored"), ("jointly-sparse", "joint-admm"),
    ("erm", "sdca"), ("erm", "svrg"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "method"), CASES)
def test_the_iterates_are_those_of_a_solve_without_a_break(name, method, tmp_path):
    problem = ml.registered_problems()[name].random(np.random.default_rng(1 if name == "erm" else 5))
    path, asked = tmp_path / "state", {"method": method, "tol": 1e-9, "max_iter": 90}
    whole = ml.solve(problem, **asked)
    at = whole.history[len(whole.history) // 2].iteration
    first = ml.solve(problem, **asked, checkpoint=path, callback=lambda event: event.iteration >= at)
    rest = ml.solve(problem, **asked, resume=path, checkpoint=path)
    assert first.iterations <= rest.iterations == whole.iterations
    size = 1e-9 * (1 + whole.certificate.size + abs(whole.value))
    assert rest.status == whole.status and rest.value == pytest.approx(whole.value, abs=size)
    for mine, theirs in ((rest.lower, whole.lower), (rest.upper, whole.upper)):
        assert mine == theirs or mine == pytest.approx(theirs, abs=size)
    assert [event.iteration for event in rest.history] == [event.iteration for event in whole.history]
    assert np.all(np.diff(rest.history.column("seconds")) >= 0)


@pytest.fixture
def kept(tmp_path):
    problem = ml.LinearSDP.random(np.random.default_rng(5))
    ml.solve(problem, "pdhg", tol=1e-12, max_iter=40, checkpoint=tmp_path / "state")
    return problem, tmp_path / "state"


def test_another_problem_or_engine_is_refused_by_name(kept):
    problem, path = kept
    other = ml.LinearSDP.random(np.random.default_rng(6))
    with pytest.raises(MatrixLearnError, match=r"state is a checkpoint of another problem"):
        ml.solve(other, "pdhg", resume=path)
    with pytest.raises(MatrixLearnError, match=r"state is a checkpoint of HybridGradient.*InteriorPoint"):
        ml.solve(problem, "interior-point", resume=path)
    with pytest.raises(FileNotFoundError):
        ml.solve(problem, "pdhg", resume=path.with_name("none"))


def test_damaged_files_are_refused_by_name(kept):
    problem, path = kept
    raw = path.read_bytes()
    for damaged in (b"", b"text", raw[: len(raw) // 2], raw[:-3], MAGIC):
        path.write_bytes(damaged)
        with pytest.raises(MatrixLearnError, match=r"state is no (whole )?checkpoint"):
            ml.solve(problem, "pdhg", resume=path)


class Forged:
    def __reduce__(self):
        return os.system, ("touch forged",)


def test_a_forged_file_runs_nothing(kept, tmp_path, monkeypatch):
    problem, path = kept
    monkeypatch.chdir(tmp_path)
    raw = path.read_bytes()
    head = raw[: raw.index(b".", len(MAGIC)) + 1]
    inside = b"\x80\x04cmatrixlearn.files\nos.system\n\x8c\x0ctouch forged\x85R."
    for content in (MAGIC + pickle.dumps(Forged()), head + pickle.dumps(Forged()), head + inside):
        path.write_bytes(content)
        with pytest.raises(MatrixLearnError):
            ml.solve(problem, "pdhg", resume=path)
    assert not (tmp_path / "forged").exists()


def test_what_is_known_at_a_time_limit_goes_on(tmp_path):
    problem, path = ml.LinearSDP.random(np.random.default_rng(5)), tmp_path / "state"
    whole = ml.solve(problem, "pdhg", tol=1e-6)
    share = max(0.05, whole.seconds / 4)  # of a machine that may be busy
    solution = ml.solve(problem, "pdhg", tol=1e-6, time_limit=share, checkpoint=path)
    for _ in range(200):
        if solution.status == "optimal":
            break
        before = solution.iterations
        solution = ml.solve(
            problem, "pdhg", tol=1e-6, time_limit=share, checkpoint=path, resume=path if path.exists() else None
        )
        assert solution.iterations >= before
    assert solution.status == "optimal" and solution.iterations == whole.iterations
