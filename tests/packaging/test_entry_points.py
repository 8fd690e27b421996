"""A plugin is a folder and one line: the folders and the lines must agree."""

import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from matrixlearn.problems import Problem
from matrixlearn.registry import registered_engines, registered_problems
from matrixlearn.testing.laws.engine import check_engine_is_found, check_engine_refuses_by_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
GROUPS = PROJECT["project"]["entry-points"]
ENTRIES = PROJECT["project"]["entry-points"]["matrixlearn.problems"]
FOLDERS = sorted(path.name for path in (ROOT / "plugins").iterdir() if (path / "__init__.py").exists())


def test_every_folder_has_an_entry_point_and_every_entry_point_a_folder():
    assert {value.split(":")[0] for value in ENTRIES.values()} == set(FOLDERS)


def test_plugins_holds_nothing_that_would_land_beside_the_packages():
    strays = {path.name for path in (ROOT / "plugins").iterdir() if path.name not in FOLDERS} - {"__pycache__"}
    assert all(name.endswith(".md") for name in strays)  # the wheel leaves these out


def test_the_installed_metadata_are_those_of_the_checkout():
    ours = {
        group: {
            entry.name: entry.value
            for entry in entry_points(group=group)
            if entry.dist is not None and entry.dist.name == "matrixlearn"
        }
        for group in GROUPS
    }
    assert ours == GROUPS, "entry points changed since the last `pip install -e .`: install again"


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_an_entry_point_names_a_problem_of_that_name(name):
    (entry,) = {e.value: e for e in entry_points(group="matrixlearn.problems", name=name)}.values()
    cls = entry.load()
    assert issubclass(cls, Problem)
    assert cls.name == name


@pytest.mark.parametrize("name", sorted(GROUPS["matrixlearn.engines"]))
def test_an_entry_point_names_an_engine_of_that_name_that_says_what_it_is_for(name):
    check_engine_is_found(registered_engines()[name])
    check_engine_refuses_by_name(registered_engines()[name])


def test_the_engines_that_problems_name_are_registered():
    for problem in registered_problems().values():
        assert set(problem.engines) <= set(registered_engines())


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_plugin_is_typed_and_has_a_conformance_test(folder):
    assert (ROOT / "plugins" / folder / "py.typed").exists()
    test = ROOT / "tests" / "plugins" / f"test_{folder.removeprefix('matrixlearn_')}.py"
    assert "parametrize_with_checks" in test.read_text()


def test_the_tools_look_at_every_plugin():
    assert set(PROJECT["tool"]["mypy"]["packages"]) == {"matrixlearn", *FOLDERS}
    assert set(PROJECT["tool"]["coverage"]["run"]["source_pkgs"]) == {"matrixlearn", *FOLDERS}


def test_tests_are_no_packages():
    assert not list((ROOT / "tests").rglob("__init__.py"))
