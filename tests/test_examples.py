"""Every example runs, offline, without a warning and in less than a minute."""

import runpy
import warnings
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_examples():
    assert {"plot_discrepancy.py", "plot_maxcut.py"} <= {path.name for path in EXAMPLES}


QUICK = {"plot_discrepancy", "plot_meg"}


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem in QUICK else pytest.mark.slow, id=path.stem) for path in EXAMPLES],
)
def test_the_example_runs(path, tmp_path, monkeypatch, capsys):
    """In this process, where every warning is an error: another interpreter takes two seconds for its imports."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    # plt.show() of Agg warns that it shows nothing: the one warning that is no fault of the example
    warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive", UserWarning)
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    matplotlib.pyplot.close("all")
    assert "optimal" in capsys.readouterr().out
