"""Benchmarks are scripts of this repository: listed in their index, with no path that exists on one machine only."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(p for p in (ROOT / "benchmarks").glob("*/*.py") if not p.name.startswith("_"))


def test_every_script_in_a_folder_is_in_the_index():
    listed = set(re.findall(r"\]\(([\w/]+\.py)\)", (ROOT / "benchmarks" / "README.md").read_text()))
    assert listed == {str(p.relative_to(ROOT / "benchmarks")) for p in SCRIPTS}


def test_no_script_names_a_path_outside_the_repository():
    paths = re.compile(r"[\"'\s](/(?:work|home|root|tmp|data|mnt)/|\.\./shared)")
    assert [str(p) for p in SCRIPTS if paths.search(p.read_text())] == []
