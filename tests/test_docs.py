"""Every public name is in docs/api.md and has a docstring; every name there exists."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import re
import textwrap
import types
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
DOCS = TESTS.parent / "docs"
API = (DOCS / "api.md").read_text()

MODULES = (
    "matrixlearn",
    "matrixlearn.callbacks",
    "matrixlearn.engines",
    "matrixlearn.exceptions",
    "matrixlearn.exponents",
    "matrixlearn.files",
    "matrixlearn.linalg",
    "matrixlearn.losses",
    "matrixlearn.maps",
    "matrixlearn.machines",
    "matrixlearn.multitask",
    "matrixlearn.oracles",
    "matrixlearn.present",
    "matrixlearn.penalties",
    "matrixlearn.memory",
    "matrixlearn.problems",
    "matrixlearn.reductions",
    "matrixlearn.sets",
    "matrixlearn.testing",
    "matrixlearn.validation",
    "matrixlearn_definiteboost",
    "matrixlearn_discrepancy",
    "matrixlearn_erm",
    "matrixlearn_fetr",
    "matrixlearn_maxcut",
    "matrixlearn_meg",
    "matrixlearn_network",
    "matrixlearn_quantum",
)


def documented() -> dict[str, set[str]]:
    """Names by module, from the autosummary tables."""
    found: dict[str, set[str]] = {}
    for module, table in re.findall(r"currentmodule:: (\S+)\n(.*?)```", API, re.S):
        found.setdefault(module, set()).update(re.findall(r"^   (\w+)$", table, re.M))
    return found


def public(name: str) -> dict[str, object]:
    """The public functions and classes of a module; modules and constants have no page of their own."""
    module = importlib.import_module(name)
    if hasattr(module, "__all__"):
        members = {key: getattr(module, key) for key in module.__all__}
    else:
        members = {key: value for key, value in vars(module).items() if not key.startswith("_")}
        members = {key: value for key, value in members.items() if getattr(value, "__module__", "") == name}
    return {key: value for key, value in members.items() if isinstance(value, type | types.FunctionType)}


@pytest.mark.parametrize("module", MODULES)
def test_the_tables_list_what_the_module_offers(module):
    offered, listed = public(module), documented()[module]
    elsewhere = {name for names in documented().values() for name in names}
    assert offered
    assert set(offered) <= elsewhere, f"not in docs/api.md: {set(offered) - elsewhere}"
    assert listed <= set(offered), f"in docs/api.md but not public: {listed - set(offered)}"


@pytest.mark.parametrize("module", MODULES)
def test_public_names_have_docstrings(module):
    for name, value in public(module).items():
        assert value.__doc__, f"{module}.{name} has no docstring"


def test_every_table_is_tested():
    assert set(documented()) == set(MODULES)


def test_every_erratum_names_a_test_that_exists_or_says_later():
    rows = [line for line in (DOCS / "errata.md").read_text().splitlines() if line.startswith("| ")]
    rows = [row for row in rows if not row.startswith("| where")]
    assert len(rows) >= 20
    for row in rows:
        tested = row.rstrip(" |").rsplit("|", 1)[1]
        files = re.findall(r"`([\w/]+\.py)`", tested)
        assert files or "later" in tested or "the same" in tested, row
        for file in files:
            assert (TESTS / file).exists(), f"docs/errata.md names {file}"


def texts_below(cls: type) -> set[str]:
    """Fields of a class with a string below them."""
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0].body
    found = set()
    for field, text in itertools.pairwise(body):
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            targets = [field.target] if isinstance(field, ast.AnnAssign) else getattr(field, "targets", [])
            found.update(target.id for target in targets if isinstance(target, ast.Name))
    return found


def without_text(cls: type) -> set[str]:
    """Public members that no docstring has a word for: their own, an inherited one, or that of the class."""
    own = [base for base in cls.__mro__ if base.__module__.startswith("matrixlearn")]
    names = {name for base in own for name in (*vars(base), *vars(base).get("__annotations__", {}))}
    names = {name for name in names if not name.startswith("_") and not name.endswith("_request")}  # scikit-learn's
    described = " ".join(base.__doc__ or "" for base in own)
    for base in own:
        names -= texts_below(base)
        names -= {name for name, member in vars(base).items() if getattr(member, "__doc__", "") and not field(member)}
    return {name for name in names if not re.search(rf"^ +(?:\w+, )*{name}(?:, \w+)*(?: : |$)", described, re.M)}


def field(member: object) -> bool:
    """Whether a member is a value, whose docstring is that of its type."""
    return not hasattr(type(member), "__get__")


@pytest.mark.parametrize("module", MODULES)
def test_members_of_public_classes_have_texts(module):
    classes = [value for value in public(module).values() if isinstance(value, type)]
    assert {f"{cls.__name__}: {sorted(bare)}" for cls in classes if (bare := without_text(cls))} == set()
