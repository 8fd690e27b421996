"""Benchmarks are scripts of this repository: listed in their index, with no path that exists on one machine only."""

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(p for p in (ROOT / "benchmarks").glob("*/*.py") if not p.name.startswith("_"))


def test_every_script_in_a_folder_is_in_the_index():
    listed = set(re.findall(r"\]\(([\w/]+\.py)\)", (ROOT / "benchmarks" / "README.md").read_text()))
    assert listed == {str(p.relative_to(ROOT / "benchmarks")) for p in SCRIPTS}


def test_no_script_names_a_path_outside_the_repository():
    paths = re.compile(r"[\"'\s](/(?:work|home|root|tmp|data|mnt)/|\.\./shared)")
    assert [str(p) for p in SCRIPTS if paths.search(p.read_text())] == []


@pytest.fixture
def script(monkeypatch, capsys):
    """(name, arguments) -> what a script of benchmarks/fetr prints, run in this process."""

    def run(name, *arguments):
        monkeypatch.syspath_prepend(ROOT)
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_module(f"benchmarks.fetr.{name}", run_name="__main__")
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize(
    ("name", "source"), [("school", "github.com/jiayuzhou/MALSAR"), ("sarcos", "gaussianprocess.org/gpml/data")]
)
def test_data_that_are_missing_are_named_with_their_source(name, source, tmp_path, script):
    with pytest.raises(SystemExit) as ended:
        script(name, "--data", tmp_path)
    assert str(tmp_path) in ended.value.code and source in ended.value.code


def test_the_tables_are_made_from_the_public_files(tmp_path, script):
    rng = np.random.default_rng(0)
    cells = [np.empty((1, 9), dtype=object) for _ in range(2)]
    for k in range(9):
        X = np.column_stack([rng.standard_normal((12, 27)), np.ones(12)])
        cells[0][0, k], cells[1][0, k] = X, X[:, :1] + 0.1 * rng.standard_normal((12, 1))
    savemat(tmp_path / "school.mat", {"X": cells[0], "Y": cells[1]})
    savemat(tmp_path / "sarcos_inv_test.mat", {"sarcos_inv_test": rng.standard_normal((60, 28))})
    savemat(tmp_path / "sarcos_inv.mat", {"sarcos_inv": rng.standard_normal((90, 28))})
    table = script("school", "--folds", 2, "--only", "STL", "--data", tmp_path / "school.mat")
    (error,) = re.findall(r"^STL +([\d.]+)", table, re.M)
    assert 0 < float(error) < 1
    table = script("sarcos", "--splits", 1, "--train", 30, "--only", "STL", "--data", tmp_path)
    assert len(re.findall(r"^STL ", table, re.M)) == 4  # 30 rows and the official 90, in two units
    assert "90 training rows" in table
