"""The command line: what it prints, what it writes, and with which status it ends."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_discrepancy.present import WeightsPresenter

import matrixlearn as ml
from matrixlearn import registry
from matrixlearn._commands import UNDECIDED, cli
from matrixlearn.cli import main
from matrixlearn.exceptions import PluginLoadError
from matrixlearn.problems import Problem

OUTER, SPOKES = [(i, (i + 1) % 5) for i in range(5)], [(i, i + 5) for i in range(5)]
PETERSEN = OUTER + SPOKES + [(5 + i, 5 + (i + 2) % 5) for i in range(5)]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a command in an empty folder; the result has exit_code and output (both streams)."""
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments, status=0):
        result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == status, result.output
        return result.output

    return invoke


@pytest.fixture
def samples(tmp_path):
    rng = np.random.default_rng(0)
    source, target = rng.standard_normal((20, 3)), rng.standard_normal((15, 3)) + 0.5
    np.savez(tmp_path / "a.npz", X=source, other=np.zeros(2))
    np.savez(tmp_path / "b.npz", target)
    return source, target


# -- list -----------------------------------------------------------------------------------------


def test_list_shows_name_class_formula_and_origin(run):
    lines = run("list").splitlines()
    name = next(i for i, line in enumerate(lines) if line.startswith("discrepancy "))
    assert "matrixlearn_discrepancy.Discrepancy" in lines[name] and "(from matrixlearn)" in lines[name]
    assert lines[name + 1].strip() == Discrepancy.__doc__.splitlines()[0]
    assert any(line.startswith("sdp ") for line in lines)


class _Broken(registry.Registry):
    def __iter__(self):
        yield "hopeless"
        yield from super().__iter__()

    def __getitem__(self, name):
        if name == "hopeless":
            msg = "the problem 'hopeless' of the distribution 'elsewhere' could not be loaded: No module named 'moon'"
            raise PluginLoadError(msg)
        return super().__getitem__(name)


def test_a_broken_plugin_is_listed_with_its_error_and_stops_nobody_else(run, monkeypatch):
    broken = _Broken("matrixlearn.problems", Problem, ml.LinearSDP)
    monkeypatch.setattr("matrixlearn._commands.registered_problems", lambda: broken)
    output = run("list")
    line = next(line for line in output.splitlines() if line.startswith("hopeless "))
    assert "broken: " in line and "No module named 'moon'" in line
    assert "discrepancy " in output
    assert "maxcut" in run("solve", "--help")
    assert "No module named 'moon'" in run("check", "hopeless", status=1)


# -- solve and verify -----------------------------------------------------------------------------


def test_solve_discrepancy_writes_what_solve_returns(run, samples):
    output = run("solve", "discrepancy", "--source", "a.npz", "--target", "b.npz", "--max-weight", 2, "--tol", 1e-5)
    expected = ml.solve(Discrepancy(*samples, max_weight=2.0), tol=1e-5)
    assert "optimal" in output and "certified" in output and "written to solution.npz" in output
    solution = ml.Solution.load("solution.npz")
    assert solution.value == pytest.approx(expected.value, rel=1e-4)
    assert solution.problem.max_weight == 2.0 and solution.tol == 1e-5
    assert "the data prove" in run("verify", "solution.npz")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("edges.txt", "# names may be anything\n" + "\n".join(f"v{i} v{j}" for i, j in PETERSEN)),
        ("weighted.txt", "\n".join(f"{i} {j} 1.0" for i, j in PETERSEN)),
        ("gset.txt", "10 15\n" + "\n".join(f"{i + 1} {j + 1} 1" for i, j in PETERSEN)),
        (
            "graph.mtx",
            "%%MatrixMarket matrix coordinate pattern symmetric\n10 10 15\n"
            + "\n".join(f"{max(i, j) + 1} {min(i, j) + 1}" for i, j in PETERSEN),
        ),
    ],
)
def test_solve_maxcut_reads_each_format(run, tmp_path, name, text):
    (tmp_path / name).write_text(text + "\n")
    output = run("solve", "maxcut", name, "-o", "petersen.npz", "--tol", 1e-6, "--no-progress")
    # the relaxation of the Petersen graph: n/4 (d - lambda_min) = 10/4 (3 + 2); its maximum cut is 12
    assert ml.Solution.load("petersen.npz").value == pytest.approx(12.5, rel=1e-5)
    assert "weight 12;" in output


def test_solve_ends_undecided_at_a_limit_and_keeps_the_bounds(run, samples):
    output = run("solve", "discrepancy", "--source", "a.npz", "--target", "b.npz", "--time-limit", 0, status=UNDECIDED)
    assert "stopped" in output
    solution = ml.Solution.load("solution.npz")
    assert solution.status == "stopped" and solution.lower < solution.upper
    run("verify", "solution.npz")


def test_verify_refuses_a_solution_that_claims_too_much(run, samples):
    run("solve", "discrepancy", "--source", "a.npz", "--target", "b.npz")
    with np.load("solution.npz") as data:
        arrays = dict(data)
    arrays["meta"] = np.array(str(arrays["meta"]).replace('"lower": 0', '"lower": 1'))
    np.savez("forged.npz", **arrays)
    assert "not the claimed" in run("verify", "forged.npz", status=1)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["solve", "discrepancy", "--source", "a.npz"], 2, "--target"),
        (["solve", "discrepancy", "--source", "a.npz", "--target", "none.npz"], 2, "none.npz"),
        (["solve", "discrepancy", "--source", "a.npz", "--target", "text.csv"], 1, "text.csv"),
        (["solve", "discrepancy", "--source", "a.npz", "--target", "b.npz", "--max-weight", "0.5"], 1, "max_weight"),
        (["solve", "discrepancy", "--source", "a.npz", "--target", "b.npz", "--method", "magic"], 1, "magic"),
        (["solve", "maxcut", "text.csv"], 1, "line 1"),
        (["solve", "discrepancy", "--source", "a.npz", "--target", "b.npz", "-o", "x/y.npz"], 2, "no folder"),
        (["demo", "-o", "x/y.png"], 2, "no folder"),
        (["solve", "no-such-problem"], 2, "no-such-problem"),
        (["verify", "a.npz"], 1, "not a matrixlearn solution"),
        (["check", "no-such-problem"], 1, "no problem is called 'no-such-problem'; known: "),
    ],
)
def test_mistakes_end_with_a_message_that_names_them(run, samples, tmp_path, arguments, status, message):
    (tmp_path / "text.csv").write_text("this is no number\n")
    assert message in run(*arguments, status=status)


def test_solve_help_shows_what_the_problem_reads(run):
    output = run("solve", "discrepancy", "--help")
    assert "--max-weight" in output and "--source" in output and "[required]" in output
    output = run("solve", "maxcut", "--help")
    assert "GRAPH" in output and "Gset" in output


# -- check ----------------------------------------------------------------------------------------


def test_check_runs_the_laws_and_tells_each(run):
    output = run("check", "maxcut", "--max-examples", 1)
    assert output.count("ok      check_") > 10 and "FAILED" not in output


def test_check_ends_with_status_one_where_a_law_fails(run, monkeypatch):
    def laws(problem, max_examples):
        yield "check_first", None
        yield "check_second", AssertionError("adjoint: 1.0 is not 2.0")

    monkeypatch.setattr("matrixlearn.testing.run_checks", laws)
    output = run("check", "maxcut", status=1)
    assert "ok      check_first" in output and "FAILED  check_second" in output
    assert "adjoint: 1.0 is not 2.0" in output and "1 check(s) of maxcut failed" in output


# -- demo -----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
def test_demo_tells_its_numbers_and_saves_a_picture(run, tmp_path):
    output = run("demo", "--output", "picture.png")
    assert output.count("gap") == 2 and output.count("optimal") == 2
    for word in ("uniform", "exact weights", "cap 2", "target labels", "effective size", "mean"):
        assert word in output
    assert (tmp_path / "picture.png").read_bytes()[1:4] == b"PNG"


def test_demo_needs_a_problem_that_has_one(run, monkeypatch):
    monkeypatch.setattr("matrixlearn._commands.registered_problems", lambda: {"sdp": ml.LinearSDP})
    assert "no registered problem" in run("demo", status=1)


@pytest.mark.parametrize(("name", "status", "message"), [("p.magic", 2, "one of avif"), ("p.png", 1, "draws none")])
def test_demo_says_why_there_is_no_picture(run, monkeypatch, name, status, message):
    monkeypatch.setattr(WeightsPresenter, "demo", lambda self: lambda say: None)
    assert message in run("demo", "-o", name, status=status)


def test_a_picture_without_matplotlib_says_how_to_get_it(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    assert "matrixlearn[plot]" in run("demo", "-o", "p.png", status=1)


def test_demo_without_scikit_learn_says_how_to_get_it(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert "matrixlearn[sklearn]" in run("demo", status=1)


def test_check_without_the_kit_says_how_to_get_it(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matrixlearn.testing", None)
    assert "matrixlearn[test]" in run("check", "maxcut", status=1)


# -- the core ------------------------------------------------------------------------------------


def test_without_click_the_command_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "click", None)
    monkeypatch.delitem(sys.modules, "matrixlearn._commands")
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert "pip install 'matrixlearn[cli]'" in capsys.readouterr().err


def test_main_runs_the_commands(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["matrixlearn", "list"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    assert "discrepancy" in capsys.readouterr().out


def test_the_command_line_knows_no_problem_by_name():
    source = Path(ml.__file__).with_name("_commands.py").read_text()
    words = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
    assert not words & set(ml.registered_problems())
    assert not any(name in source for name in ("matrixlearn_", "Discrepancy", "MaxCut"))


def test_the_installed_command_runs():
    program = Path(sys.executable).with_name("matrixlearn")
    result = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert ml.__version__ in result.stdout
