"""Every example runs, offline, without a warning and in less than a minute."""

import os
import subprocess
import sys
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
def test_the_example_runs(path, tmp_path):
    # plt.show() of Agg warns that it shows nothing: the one warning that is no fault of the example
    warnings = ["-W", "error", "-W", "ignore:FigureCanvasAgg is non-interactive:UserWarning"]
    result = subprocess.run(
        [sys.executable, *warnings, str(path)],
        env={**os.environ, "MPLBACKEND": "Agg"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "optimal" in result.stdout
