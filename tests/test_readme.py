"""The code blocks of README.md and of the docs run, and its shell lines install what exists."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def blocks(page: Path, language: str) -> list[str]:
    return [code for found, code in FENCE.findall(page.read_text()) if found == language]


RUNNABLE = [page for page in PAGES if blocks(page, "python")]


@pytest.fixture
def own_registry(monkeypatch):
    """What a page registers is forgotten after it."""
    from matrixlearn import registry

    monkeypatch.setattr(registry.PROBLEMS, "_registered", dict(registry.PROBLEMS._registered))


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: page.name)
@pytest.mark.usefixtures("own_registry")
def test_code_blocks_run_in_order(page, monkeypatch, tmp_path, capsys):
    """All blocks of a page share one namespace, as a reader who types them would have."""
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    module = type(sys)(f"page_{page.stem.replace('-', '_')}")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # dataclasses look their module up
    for number, code in enumerate(blocks(page, "python"), 1):
        exec(compile(code, f"{page.name}, block {number}", "exec"), module.__dict__)
    assert capsys.readouterr().err == ""


def test_the_readme_has_the_examples_that_it_promises():
    solve, plugin = blocks(ROOT / "README.md", "python")
    assert len(solve.strip().splitlines()) <= 13
    assert "certificate.verify()" in solve
    body = plugin.split("@ml.register")[1].split("\n\n\n")[0]
    assert len([line for line in body.splitlines() if line.strip()]) <= 25


def test_the_readme_plugin_conforms(own_registry, monkeypatch):
    from matrixlearn.testing import check_problem

    module = type(sys)("page_plugin")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(blocks(ROOT / "README.md", "python")[1], module.__dict__)
    problem = module.EOptimalDesign
    check_problem(problem, max_examples=3)


def test_shell_lines_name_extras_and_commands_that_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [line for block in blocks(ROOT / "README.md", "sh") for line in block.splitlines()]
    installs = [line for line in lines if "pip install" in line]
    assert len(installs) == 2
    for line in installs:
        for extra in re.search(r"\.\[([\w,]+)\]", line).group(1).split(","):
            assert extra in project["optional-dependencies"]
    assert "matrixlearn" in project["scripts"]


def test_links_of_the_pages_lead_somewhere():
    for page in (*PAGES, ROOT / "plugins" / "README.md", ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#:]+?)(?:#[\w-]+)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
