"""The answers of the command line: written where and as what was said, never over a better one, never lost."""

import csv
import importlib
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

import matrixlearn as ml
from matrixlearn import _commands
from matrixlearn._commands import UNDECIDED, cli
from matrixlearn.exceptions import ProblemError
from matrixlearn.present import Argument, Presenter, presented_by, presenter_of
from matrixlearn.solution import Solution

PENTAGON = "5 5\n1 2 1\n2 3 1\n3 4 1\n4 5 1\n1 5 1\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a command in a folder with the graph of the pentagon; gives the output, of both streams."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.txt").write_text(PENTAGON)

    def invoke(*arguments, status=0, stdin=None):
        result = CliRunner().invoke(cli, [str(argument) for argument in arguments], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == status, result.output
        return result.output

    return invoke


# -- what is written --------------------------------------------------------------------------------------


def test_maxcut_writes_the_sides_of_the_cut(run, tmp_path):
    assert "written to cut.csv" in run("solve", "maxcut", "g.txt", "-o", "cut.csv")
    rows = list(csv.reader((tmp_path / "cut.csv").read_text().splitlines()))
    side = {int(vertex): int(side) for vertex, side in rows[1:]}
    edges = [tuple(map(int, line.split()[:2])) for line in PENTAGON.splitlines()[1:]]
    assert rows[0] == ["vertex", "side"] and sum(side[i] != side[j] for i, j in edges) == 4
    run("solve", "maxcut", "g.txt", "-o", "cut.json")
    said = json.loads((tmp_path / "cut.json").read_text())
    assert dict(zip(said["answer"]["vertex"], said["answer"]["side"], strict=True)) == {
        str(v): s for v, s in side.items()
    }
    assert said["lower"] - 1e-7 <= 4.52254249 <= said["upper"] + 1e-7


def test_the_format_that_was_read_is_said(run):
    assert "read g.txt as Gset: 5 vertices, 5 edges" in run("solve", "maxcut", "g.txt")


def test_standard_input_is_a_file(run):
    output = run("solve", "maxcut", "-", "-o", "a.npz", stdin=PENTAGON)
    assert "read standard input as Gset" in output
    assert ml.Solution.load("a.npz").value == pytest.approx(4.52254249, rel=1e-3)
    assert "standard input, line 1" in run("solve", "maxcut", "-", stdin="5 5\n1 2 1\n", status=1)
    assert "read once" in run("solve", "discrepancy", "--source", "-", "--target", "-", stdin="1\n", status=1)


def test_a_plot_is_drawn(run, tmp_path):
    run("solve", "maxcut", "g.txt", "--plot", "p.svg")
    assert "</svg>" in (tmp_path / "p.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["-o", "answer.txt"], 2, r"\.npz"),
        (["-o", "answer"], 2, r"\.npz"),
        (["-o", "none/answer.npz"], 2, "no folder"),
        (["-o", "n" * 300 + ".npz"], 2, "cannot be written|too long|name"),
        (["--plot", "p.magic"], 2, "another end"),
        (["--plot", "none/p.png"], 2, "no folder"),
        (["--tol", "2"], 2, "2.0 is not in the range"),
        (["--tol", "1"], 2, "range"),
        (["--tol", "0"], 2, "range"),
        (["--tol", "nan"], 1, "tol"),
    ],
)
def test_what_cannot_be_is_noticed_before_the_solve(run, monkeypatch, arguments, status, words):
    monkeypatch.setattr(
        _commands,
        "solve",
        lambda *given, **options: (
            pytest.fail("solved") if not np.isnan(options["tol"]) else ml.solve(*given, **options)
        ),
    )
    output = run("solve", "maxcut", "g.txt", *arguments, status=status)
    assert any(word in output for word in words.replace("\\", "").split("|")), output


def test_a_folder_that_takes_no_files_is_noticed_before_the_solve(run, monkeypatch):
    def refuse(dir=None):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("matrixlearn._outputs.tempfile.TemporaryFile", refuse)
    monkeypatch.setattr(_commands, "solve", lambda *given, **options: pytest.fail("solved"))
    assert "Read-only file system" in run("solve", "maxcut", "g.txt", status=2)


def test_an_answer_that_cannot_be_written_after_the_solve_is_not_lost(run, monkeypatch, tmp_path):
    save = Solution.save

    def full(self, path):
        if str(path) == "solution.npz":
            raise OSError(28, "No space left on device")
        save(self, path)

    monkeypatch.setattr(Solution, "save", full)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    output = run("solve", "maxcut", "g.txt", status=1)
    place = output.split("the answer is in ")[1].strip()
    assert "solution.npz could not be written" in output and ml.Solution.load(place).status == "optimal"


# -- what is kept -----------------------------------------------------------------------------------------


def test_a_better_answer_is_not_replaced(run, tmp_path):
    run("solve", "maxcut", "g.txt", "--tol", 1e-6)
    best = ml.Solution.load("solution.npz").gap
    output = run("solve", "maxcut", "g.txt", "--time-limit", 0, "--tol", 1e-8, status=UNDECIDED)
    assert "solution.npz is kept" in output and "written to solution-2.npz" in output
    assert ml.Solution.load("solution.npz").gap == best < ml.Solution.load("solution-2.npz").gap
    run("solve", "maxcut", "g.txt", "--tol", 1e-8, "-o", "solution-2.npz")  # better than what is there
    assert ml.Solution.load("solution-2.npz").gap <= 1e-8
    run("solve", "maxcut", "g.txt", "--time-limit", 0, "--overwrite", "--tol", 1e-8, status=UNDECIDED)
    assert ml.Solution.load("solution.npz").gap > best
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["g.txt", "solution-2.npz", "solution.npz"]


def test_an_answer_to_other_data_or_something_else_is_not_replaced(run, tmp_path):
    run("solve", "maxcut", "g.txt", "-o", "a.json")
    (tmp_path / "g.txt").write_text(PENTAGON.replace("1 5 1", "1 5 2"))
    assert "written to a-2.json" in run("solve", "maxcut", "g.txt", "-o", "a.json", "--tol", 1e-6)
    assert "written to a-2.json" in run("solve", "maxcut", "g.txt", "-o", "a-2.json", "--tol", 1e-6)
    for name, content in (("b.csv", b"1,2\n"), ("b.npz", b"no archive"), ("b.json", b"[]")):
        (tmp_path / name).write_bytes(content)
        assert f"written to {name.replace('.', '-2.')}" in run("solve", "maxcut", "g.txt", "-o", name)
        assert (tmp_path / name).read_bytes() == content


# -- why it ended -----------------------------------------------------------------------------------------


def test_the_reason_why_it_stopped_is_printed(run):
    output = run("solve", "maxcut", "g.txt", "--time-limit", 0, "--tol", 1e-8, status=UNDECIDED)
    assert "ended      time_limit = 0 s reached" in output and "give more time" in output


def test_more_time_is_not_the_advice_where_it_does_not_help():
    solution = ml.solve(ml.LinearSDP(np.diag([2.0, 1.0]), np.eye(2)[None], [1.0], 3.0), max_iter=0, tol=1e-9)
    stuck = ml.Solution(**{**vars(solution), "notes": ("ended: the numerical limit is reached",)})
    assert stuck.status == "stopped" and "ended      the numerical limit is reached" in stuck.summary()
    assert "more time" not in stuck.summary() and "more time" in solution.summary()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_sigterm_keeps_what_is_certified(tmp_path):
    n = 120
    edges = [(i, j) for i in range(1, n) for j in range(i + 1, n + 1) if (i * j + i + j) % 7 < 3]
    (tmp_path / "g.rud").write_text(f"{n} {len(edges)}\n" + "".join(f"{i} {j} 1\n" for i, j in edges))
    command = ["solve", "maxcut", "g.rud", "--method", "subgradient", "--tol", "1e-9"]
    script = f"import sys; sys.argv = ['matrixlearn', *{command!r}]; from matrixlearn.cli import main; main()"
    with subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as solving:
        assert "read g.rud as Gset" in solving.stdout.readline()
        time.sleep(1.5)
        solving.send_signal(signal.SIGTERM)
        output = solving.communicate(timeout=240)[0]
    assert solving.returncode == UNDECIDED, output
    assert "interrupted" in output
    solution = ml.Solution.load(tmp_path / "solution.npz")
    assert solution.lower > -np.inf and solution.upper < np.inf
    solution.verify()


def test_a_tol_of_one_or_more_is_refused_in_python_too():
    problem = ml.LinearSDP(np.eye(2), np.eye(2)[None], [1.0], 3.0)
    for tol in (1, 2.0):
        with pytest.raises(ProblemError, match="tol must be a positive number below 1"):
            ml.solve(problem, tol=tol)


# -- every problem, every plugin --------------------------------------------------------------------------


def test_every_registered_problem_has_a_solve(run):
    listed = run("solve", "--help")
    for name in ml.registered_problems():
        assert f"  {name} " in listed
        if presenter_of(ml.registered_problems()[name]).arguments:
            assert "--plot" in run("solve", name, "--help")
        else:  # it says which class to use
            assert ml.registered_problems()[name].__name__ in run("solve", name, status=1)


def test_problems_from_archives(run):
    rng = np.random.default_rng(0)
    np.savez("minmax.npz", constraints=rng.normal(size=(3, 2, 2)))
    np.savez("states.npz", settings=np.array(["X", "Y", "Z"]), counts=[[5, 5], [4, 6], [9, 1]])
    np.savez("tasks.npz", X=rng.normal(size=(20, 3)), Y=rng.normal(size=(20, 2)))
    np.savez("meg.npz", X=rng.normal(size=(9, 2)), y=rng.random(9))
    for name, file in (("minmax", "minmax"), ("tomography", "states"), ("fetr", "tasks"), ("meg", "meg")):
        assert "written to" in run("solve", name, f"{file}.npz", "-o", f"{name}.json"), name
        assert f"{file}.npz" in run("solve", name, "g.txt", status=1).replace("g.txt", f"{file}.npz")
    assert "meg.npz is a zip archive" in run("solve", "sdp", "meg.npz", status=1)
    assert "minmax.npz must hold arrays among X, y" in run("solve", "meg", "minmax.npz", status=1)
    np.savez("odd.npz", settings=np.zeros(3), counts=np.zeros((3, 2)))
    assert "odd.npz" in run("solve", "tomography", "odd.npz", status=1)
    np.savez("odd.npz", X=np.array(["a"]), y=np.zeros(1))
    assert "odd.npz" in run("solve", "meg", "odd.npz", status=1)


def test_a_demonstration_that_there_is_not_names_those_that_are(run):
    output = run("demo", "maxcut", status=1)
    assert "'maxcut' has no demonstration; those that have one: discrepancy, graph-multitask, meg" in output


def broken(kind):
    """A presenter that is bad in one way."""

    class Bad(Presenter):
        if kind == "arguments":
            arguments = 5
        elif kind == "an argument":
            arguments = (Argument("x y\n", "help", type="file"), "graph")
        elif kind == "arguments that exit":
            arguments = property(lambda self: sys.exit(3))

        def demo(self):
            raise SystemExit(kind)

    return Bad


@pytest.mark.parametrize("kind", ["arguments", "an argument", "arguments that exit", "demo"])
def test_a_bad_presenter_costs_a_line_of_warning(run, monkeypatch, kind):
    @presented_by(broken(kind))
    class Bad(ml.LinearSDP):
        name = "aaa"

    monkeypatch.setattr(
        "matrixlearn.registry.PROBLEMS._registered", {**ml.registered_problems()._registered, "aaa": Bad}
    )
    output = run("solve", "--help")
    assert "maxcut" in output and "Traceback" not in output
    assert len([line for line in output.splitlines() if line.startswith("warning: ")]) == (kind != "demo")
    assert "optimal" in run("solve", "maxcut", "g.txt")
    output = run("demo", "maxcut", status=1)
    assert "discrepancy, graph-multitask, meg" in output
    assert len([line for line in output.splitlines() if line.startswith("warning: ")]) == 1


def test_a_plugin_that_exits_at_import_costs_a_line_of_warning(run, tmp_path, monkeypatch):
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit('not today')\n")
    info = tmp_path / "leaving-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: leaving\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[matrixlearn.problems]\naway = leaving:X\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    output = run("solve", "--help")
    assert "maxcut" in output
    assert [line for line in output.splitlines() if "not today" in line] == [
        "warning: a plugin is left out: the problem 'away' of the distribution 'leaving' (leaving:X) could not be "
        "loaded: SystemExit: not today"
    ]
    assert "broken: " in run("list") and "not today" in run("solve", "away", status=1)
