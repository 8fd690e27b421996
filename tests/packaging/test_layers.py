"""Arrows point one way: every module imports from its own layer and those below, read from the sources."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGINS = sorted((ROOT / "plugins").glob("matrixlearn_*"))

# from the bottom up; a name stands for the module and for all inside it
LAYERS = (
    ("matrixlearn.typing", "matrixlearn.exceptions", "matrixlearn._threads", "matrixlearn.clock"),
    ("matrixlearn.late",),
    ("matrixlearn._array", "matrixlearn.memory"),
    ("matrixlearn.files",),
    ("matrixlearn.linalg", "matrixlearn.maps"),
    ("matrixlearn._packing",),
    ("matrixlearn.present",),
    ("matrixlearn.sets", "matrixlearn.validation", "matrixlearn._spelled"),
    ("matrixlearn.losses", "matrixlearn.penalties"),
    ("matrixlearn.exponents",),
    ("matrixlearn.problems.game",),
    ("matrixlearn.oracles",),
    ("matrixlearn.problems",),
    ("matrixlearn.machines", "matrixlearn.multitask"),
    ("matrixlearn.certificate", "matrixlearn.callbacks"),
    ("matrixlearn.engines",),
    ("matrixlearn.reductions",),
    ("matrixlearn.registry",),
    ("matrixlearn._saved",),
    ("matrixlearn._checkpoint",),
    ("matrixlearn.solution",),
    ("matrixlearn._settings", "matrixlearn._certify", "matrixlearn._choice"),
    ("matrixlearn._solve",),
    ("matrixlearn",),  # the table of contents
    ("matrixlearn.testing",),
    ("matrixlearn._outputs",),
    ("matrixlearn._commands",),
    ("matrixlearn.cli",),
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
# the one name that the table of contents imports from above, in a function, when it is asked for
LATE = {("matrixlearn", "matrixlearn.testing")}


def module_name(path, root):
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


CORE = {module_name(path, ROOT): path for path in (ROOT / "matrixlearn").rglob("*.py")}


def imports(path):
    """(module, name or None) of every import that runs, late ones included; those for type checkers do not."""

    def visit(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{path}: relative import"
                yield from ((child.module, alias.name) for alias in child.names)
            elif isinstance(child, ast.Import):
                yield from ((alias.name, None) for alias in child.names)
            yield from visit(child)

    return list(visit(ast.parse(path.read_text())))


def layer(module):
    """The rank of the longest name in LAYERS that holds the module."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in RANK and (length > 1 or len(parts) == 1):
            return RANK[name]
    pytest.fail(f"{module} is in no layer: add it to LAYERS where it belongs")


@pytest.mark.parametrize("module", sorted(CORE))
def test_imports_point_down(module):
    upward = []
    for source, name in imports(CORE[module]):
        if source.split(".")[0] != "matrixlearn":
            continue
        target = f"{source}.{name}" if f"{source}.{name}" in CORE else source
        if layer(target) > layer(module) and (module, target) not in LATE:
            upward.append(target)
    assert upward == []


def test_modules_of_a_layer_do_not_import_in_circles():
    edges = {
        module: {f"{s}.{n}" if f"{s}.{n}" in CORE else s for s, n in imports(path) if s.startswith("matrixlearn")}
        for module, path in CORE.items()
    }
    done, active = set(), []

    def visit(module):
        assert module not in active, f"circle: {' -> '.join([*active[active.index(module) :], module])}"
        if module in done:
            return
        active.append(module)
        for target in sorted(edges.get(module, ())):
            package = module.startswith(f"{target}.") or target == module  # a package is initialised before its modules
            if not package and (module, target) not in LATE:
                visit(target)
        active.pop()
        done.add(module)

    for module in sorted(CORE):
        visit(module)


@pytest.mark.parametrize("module", sorted(CORE))
def test_the_core_names_no_plugin(module):
    text = CORE[module].read_text()
    assert [plugin.name for plugin in PLUGINS if plugin.name in text] == []
    docstrings = {
        ast.get_docstring(node, clean=False)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    }
    literals = {
        node.value.lower()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in docstrings
    }
    names = {plugin.name.removeprefix("matrixlearn_") for plugin in PLUGINS}
    assert literals & names == set()


@pytest.mark.parametrize(
    "path", [p for plugin in PLUGINS for p in plugin.rglob("*.py")], ids=lambda p: p.parent.name + "/" + p.name
)
def test_plugins_use_public_modules_of_the_core_and_no_other_plugin(path):
    own = next(parent.name for parent in path.parents if parent.parent == ROOT / "plugins")
    for source, name in imports(path):
        top = source.split(".")[0]
        assert not (top.startswith("matrixlearn_") and top != own), f"{own} imports the plugin {top}"
        if top == "matrixlearn":
            private = [
                part for part in (*source.split("."), name or "") if part.startswith("_") and part != "__version__"
            ]
            assert private == [], f"{path.name} imports {source}.{name}"


def test_only_one_module_imports_the_array_library():
    users = {
        module for module, path in CORE.items() if any(s.split(".")[0] == "array_api_compat" for s, _ in imports(path))
    }
    assert users == {"matrixlearn._array"}


def test_no_module_is_long():
    lengths = {module: len(path.read_text().splitlines()) for module, path in CORE.items()}
    assert {module: length for module, length in lengths.items() if length > 500} == {}
