"""The shape of the sources: lines, long modules, ``type: ignore``, late imports of our own, circles of imports, names.

python benchmarks/contract/shape.py [checkout ...]
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PARTS = ("matrixlearn", "plugins")


def modules(root: Path) -> dict[str, Path]:
    """Files by the name that they are imported by."""
    found = {}
    for part in PARTS:
        for path in sorted((root / part).rglob("*.py")):
            names = path.relative_to(root if part == "matrixlearn" else root / part).with_suffix("").parts
            found[".".join(names[:-1] if names[-1] == "__init__" else names)] = path
    return found


def imports(node: ast.AST) -> Iterator[ast.ImportFrom]:
    """Every import that runs, late ones included; those for type checkers do not."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.ImportFrom) and child.module:
            yield child
        yield from imports(child)


def circles(trees: dict[str, ast.Module]) -> int:
    """Modules that a chain of imports leads back to, a package and its own modules left out."""
    edges: dict[str, set[str]] = {}
    for module, tree in trees.items():
        named = ((f"{each.module}.{alias.name}", each.module) for each in imports(tree) for alias in each.names)
        targets = {long if long in trees else short for long, short in named}
        edges[module] = {t for t in targets if t in trees and t != module and not module.startswith(f"{t}.")}
    count = 0
    for module in edges:
        reached, ahead = set(), list(edges[module])
        while ahead:
            if (target := ahead.pop()) not in reached:
                reached.add(target)
                ahead += edges[target]
        count += module in reached
    return count


def public(tree: ast.Module, name: str) -> int:
    """Public members of a class, annotated attributes included."""
    cls = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    found = [node.name for node in cls.body if isinstance(node, ast.FunctionDef)]
    found += [
        node.target.id for node in cls.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]
    return sum(not each.startswith("_") for each in found)


def main() -> None:
    for root in map(Path, sys.argv[1:] or ["."]):
        paths = modules(root)
        texts = {module: path.read_text() for module, path in paths.items()}
        trees = {module: ast.parse(text) for module, text in texts.items()}
        core = {
            module: len(text.splitlines()) for module, text in texts.items() if module.split(".")[0] == "matrixlearn"
        }
        functions = [f for tree in trees.values() for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)]
        late = {
            id(each) for f in functions for each in ast.walk(f)
            if isinstance(each, ast.ImportFrom) and str(each.module).startswith("matrixlearn")
        }  # fmt: skip
        lengths = {module: len(text.splitlines()) for module, text in texts.items()}
        core = {module: n for module, n in lengths.items() if module.split(".")[0] == "matrixlearn"}
        print(f"# {root}")
        print("lines of the core             ", sum(core.values()), "in", len(core), "modules")
        print("modules over 400 lines        ", {k: n for k, n in lengths.items() if n > 400})
        print("type: ignore                  ", sum(text.count("type: ignore") for text in texts.values()))
        print("late imports of our own       ", len(late))
        print("modules in circles of imports ", circles(trees))
        print("members of Problem            ", public(trees["matrixlearn.problems.base"], "Problem"))
        print("members of Engine             ", public(trees["matrixlearn.engines.base"], "Engine"))


if __name__ == "__main__":
    main()
