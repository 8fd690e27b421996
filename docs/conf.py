"""Sphinx configuration: builds offline, and every warning is an error (`sphinx-build -W`)."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import types
from importlib.metadata import version as distribution_version
from typing import Any

from jinja2 import FileSystemBytecodeCache
from numpydoc import docscrape, docscrape_sphinx

project = "matrixlearn"
author = "The matrixlearn developers"
copyright = "2026, the matrixlearn developers"
release = version = distribution_version("matrixlearn")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}  # autosummary writes .rst
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "py:obj"
highlight_language = "none"  # a literal block in a docstring is a formula

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the types are in the numpydoc sections, with their shapes
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
# numpydoc compiles its one template for every docstring, a quarter of the build; from a cache it is read
docscrape_sphinx.SandboxedEnvironment = functools.partial(
    docscrape_sphinx.SandboxedEnvironment, bytecode_cache=FileSystemBytecodeCache()
)

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "download_all_examples": False,
    "min_reported_time": 60,
    "show_signature": False,
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "matrixlearn"
html_static_path = ["_static"]
html_css_files = ["matrixlearn.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_align": "left",
}
html_sidebars = {"*": [], "gallery/**": [], "api/**": ["sidebar-nav-bs"]}  # code of 120 characters needs the room

_CODE = re.compile(r"(``.+?``|`.+?`)")


def _escape(line: str) -> str:
    """Docstrings are plain text with formulas: ``|y|``, ``A*(X)`` and ``X_`` are no markup."""
    parts = _CODE.split(line)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([|*])", r"\\\1", parts[i])
        parts[i] = re.sub(r"_(?!\w)", r"\\_", parts[i])
        parts[i] = re.sub(r"(?<=\w) \. (?=\w)", " • ", parts[i])  # C . X is no end of a sentence
    return re.sub(r"(?:``)?docs/([\w-]+)\.md(?:``)?", r":doc:`/\1`", "".join(parts))


def formulas(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Show an indented block after an empty line as it stands: it is a formula or a table."""
    out: list[str] = []
    literal, session, previous = False, False, ""  # the last line that is not empty
    for i, line in enumerate(lines):
        session = bool(line.strip()) and (session or line.lstrip().startswith(">>>"))  # to be copied as it stands
        indented = line.startswith("    ")
        after_gap = i > 0 and not lines[i - 1].strip()
        if indented and not literal and after_gap and previous and not previous.startswith((" ", "-", "..")):
            out += ["::", ""]
            literal = True
        if line.strip():
            literal = literal and indented
            previous = line
        is_field = re.match(r"^[\w, *]+ : ", line) or re.match(r"^-+$", line) or line.lstrip().startswith("..")
        out.append(line if literal or session or is_field else _escape(line))
    lines[:] = out


@functools.cache
def described(module: str, name: str) -> frozenset[str]:
    """Parameters and attributes that the docstring of a class, or of one of its bases, has a text for."""
    found: set[str] = set()
    for base in getattr(importlib.import_module(module), name).__mro__:
        if base.__doc__ and base.__module__ != "builtins":
            text = docscrape.NumpyDocString(inspect.cleandoc(base.__doc__))
            found.update(*(re.findall(r"\w+", entry.name) for entry in (*text["Parameters"], *text["Attributes"])))
    return frozenset(found)


def once(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """What the docstring of the class describes is no member once more, without a text of its own."""
    inside = app.env.temp_data
    module, cls = inside.get("autodoc:module"), inside.get("autodoc:class")
    has_text = isinstance(obj, property | functools.cached_property | types.FunctionType) and obj.__doc__
    return True if module and cls and not has_text and name in described(module, cls) else None


def headers(app: Any) -> None:
    """README.md in a folder makes no gallery of it: examples/plugin_template is a distribution."""
    app.config.sphinx_gallery_conf["source_suffix"] = {".rst": "restructuredtext"}


def setup(app: Any) -> None:
    app.connect("builder-inited", headers, priority=400)  # before the gallery is made
    app.connect("autodoc-skip-member", once)
    app.connect("autodoc-process-docstring", formulas, priority=400)  # before numpydoc
