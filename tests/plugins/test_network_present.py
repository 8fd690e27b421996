"""The Swedish towns, the demonstration, and the problem on the command line."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matrixlearn_network import GraphMultitask, demo
from matrixlearn_network.data import load_sweden

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError
from matrixlearn.present import presenter_of

mpl.use("Agg")


def test_a_town_is_seen_by_the_means_of_all_others():
    towns = load_sweden()
    F, T, lat = towns.regions(), towns.temperature, towns.lat_lon[:, 0]
    south = np.flatnonzero(lat < np.quantile(lat, 1 / 3))
    others = [k for k in south if k != south[0]]
    np.testing.assert_allclose(F[south[0], :, 0], T[others].mean(axis=0))
    north = int(np.argmax(lat))
    np.testing.assert_allclose(F[north, :, 0], T[south].mean(axis=0))
    assert 1000 < np.ptp(towns.kilometres[:, 1]) < 1600


def test_the_demonstration_tells_that_neighbours_help_and_what_they_sent(monkeypatch):
    monkeypatch.setattr(demo.seasons, "__defaults__", (1, 6))
    said = []
    figure = presenter_of(GraphMultitask).demo()(said.append)
    lines = (line.rsplit(None, 1) for line in said if line.startswith("  ") and line.split()[-1][:2] in ("0.", "1."))
    errors = {name.strip(): float(value) for name, value in lines}
    assert errors["near their neighbours"] == min(errors.values())
    assert len(errors) == 4
    assert any("moments: 1 rounds" in line for line in said) and any("between neighbours" in line for line in said)
    assert len(figure.axes) >= 3


def test_the_demonstration_goes_by_the_name_of_its_plugin_too(monkeypatch):
    from click.testing import CliRunner

    from matrixlearn._commands import cli

    monkeypatch.setattr(demo, "run", lambda say: say("45 towns"))
    for name in ("network", "graph-multitask"):
        assert "45 towns" in CliRunner().invoke(cli, ["demo", name]).output
    assert "no problem is called 'nothing'" in CliRunner().invoke(cli, ["demo", "nothing"]).output


def test_rows_and_graph_come_from_a_file(tmp_path):
    rng = np.random.default_rng(0)
    X, task = rng.standard_normal((12, 2)), np.repeat(np.arange(3), 4)
    path, said = tmp_path / "rows.npz", []
    np.savez(path, X=X, y=X[:, 0], task=task, graph=np.ones((3, 3)) - np.eye(3))
    presenter = presenter_of(GraphMultitask)
    problem = presenter.from_arguments({"data": path, "tau": 2.0}, said.append)
    assert (problem.eta, problem.tau, len(problem.tasks)) == (0.01, 2.0, 3)
    assert "12 rows of 3 tasks" in said[0]
    solution = ml.solve(problem, tol=1e-6)
    columns = presenter.columns(solution)
    np.testing.assert_array_equal(columns["w2"], solution.matrix[1])
    assert columns["task"] == [0, 1, 2]
    assert "3 with 12 rows in 2 features, 3 edges" in solution.summary()
    with pytest.raises(ProblemError, match="loss must be one of"):
        presenter.from_arguments({"data": path, "loss": "cubic"}, said.append)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("gspartan", {"rank": 2, "mix": 0.5, "base": 0.5, "tie": 0.1}),
        ("jointly-sparse", {"eta": 0.05, "rho": 0.1}),
        ("concave-jointly-sparse", {"eta": 0.01, "penalty": "l20", "epsilon": 5.0}),
    ],
)
def test_sparse_tasks_come_from_a_file_and_are_told(tmp_path, name, settings):
    rng = np.random.default_rng(0)
    X, task = rng.standard_normal((60, 4)), np.repeat(np.arange(6), 10)
    path, said = tmp_path / "rows.npz", []
    np.savez(path, X=X, y=X[:, 0] + 0.1 * rng.standard_normal(60), task=task, graph=np.ones((6, 6)) - np.eye(6))
    cls = ml.registered_problems()[name]
    problem = presenter_of(cls).from_arguments({"data": path, **settings}, said.append)
    assert type(problem) is cls and all(getattr(problem, key) == value for key, value in settings.items())
    solution = ml.solve(problem, tol=1e-5)
    columns = presenter_of(cls).columns(solution)
    np.testing.assert_array_equal(columns["w1"], problem.weights(solution)[0])
    told = solution.summary()
    assert "6 with 60 rows in 4 features, 15 edges" in told
    assert ("1 base models used" if name == "gspartan" else "1 features used, 1 to 1 by a task") in told
    assert presenter_of(cls).plot(solution, Figure().subplots())


def test_rows_go_to_workers_from_the_command_line(tmp_path):
    from click.testing import CliRunner

    from matrixlearn._commands import cli

    pytest.importorskip("distributed")
    rng = np.random.default_rng(0)
    X, task = rng.standard_normal((12, 2)), np.repeat(np.arange(3), 4)
    path = str(tmp_path / "rows.npz")
    np.savez(path, X=X, y=X[:, 0], task=task, graph=np.ones((3, 3)) - np.eye(3))
    answers = {}
    for name, options in {"here": [], "there": ["--workers", "1"]}.items():
        answer = str(tmp_path / f"{name}.npz")
        done = CliRunner().invoke(cli, ["solve", "graph-multitask", path, *options, "--tol", "1e-6", "-o", answer])
        assert done.exit_code == 0, done.output
        answers[name] = ml.Solution.load(answer)
    np.testing.assert_array_equal(answers["here"].matrix, answers["there"].matrix)
    assert "MB moved" in answers["there"].explain() and "MB moved" not in answers["here"].explain()
    both = CliRunner().invoke(cli, ["solve", "graph-multitask", path, "--workers", "1", "--machines", "tcp://x:1"])
    assert both.exit_code == 1 and "not both" in both.output
