"""What `pip install matrixlearn` brings: the core and every plugin, and nothing else."""

import json
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGINS = {path.name for path in (ROOT / "plugins").glob("matrixlearn_*")}


@pytest.fixture(scope="module")
def wheel(run_python, tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    run_python("-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT), cwd=out)
    (path,) = out.glob("*.whl")
    return path


def test_the_top_level_names_are_the_core_the_plugins_and_the_metadata(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    top = {name.split("/")[0] for name in names}
    info = {name for name in top if name.endswith(".dist-info")}
    assert len(info) == 1
    assert top == {"matrixlearn", *PLUGINS} | info


def test_the_wheel_holds_every_module_and_the_type_markers(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, prefix in ((ROOT / "matrixlearn", ROOT), *((ROOT / "plugins" / p, ROOT / "plugins") for p in PLUGINS)):
        for path in folder.rglob("*.py"):
            assert path.relative_to(prefix).as_posix() in names
        assert f"{folder.name}/py.typed" in names


def test_the_wheel_holds_code_data_and_metadata_only(wheel):
    inside = [Path(name) for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    code = [path for path in inside if "data" not in path.parts]
    assert {path.suffix for path in code} <= {".py", ".typed"}
    assert sum(path.stat().st_size for path in ROOT.glob("plugins/*/data/*")) < 2_000_000


def test_the_installed_wheel_lists_and_solves(wheel, pip_install, run_python, tmp_path):
    site = pip_install(wheel)
    script = """
import json, pathlib, numpy as np, matrixlearn as ml
from matrixlearn_maxcut import MaxCut
solution = ml.solve(MaxCut(np.ones((3, 3))), tol=1e-6)
where = {name: ml.registered_problems()[name].__module__ for name in ml.registered_problems()}
files = [ml.__file__, ml.registered_problems()["maxcut"].random.__func__.__code__.co_filename]
told = {"files": files, "modules": sorted(where.values()), "value": solution.value, "status": solution.status}
print(json.dumps(told))
"""
    told = json.loads(run_python("-c", script, path=[site], cwd=tmp_path))
    assert all(Path(file).is_relative_to(site) for file in told["files"])
    assert {"matrixlearn", *PLUGINS} <= {module.split(".")[0] for module in told["modules"]}
    assert told["status"] == "optimal"
    assert told["value"] == pytest.approx(9 / 4, rel=1e-5)  # the triangle: three vectors at 120 degrees
