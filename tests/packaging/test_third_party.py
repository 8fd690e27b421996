"""A stranger's distribution, copied from examples/plugin_template, installed and used like ours."""

import ast
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

TEMPLATE = Path(__file__).parents[2] / "examples" / "plugin_template"
PROBLEM = TEMPLATE / "src" / "matrixlearn_template_design" / "problem.py"


@pytest.fixture(scope="module")
def site(pip_install, tmp_path_factory):
    copy = tmp_path_factory.mktemp("stranger") / "plugin_template"
    shutil.copytree(TEMPLATE, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "dist", "build"))
    return pip_install(copy)


def test_the_problem_is_at_most_sixty_lines():
    assert len(PROBLEM.read_text().splitlines()) <= 60


def test_the_author_writes_few_methods():
    (cls,) = (node for node in ast.parse(PROBLEM.read_text()).body if isinstance(node, ast.ClassDef))
    methods = [node for node in cls.body if isinstance(node, ast.FunctionDef)]
    assert len([m for m in methods if not m.decorator_list]) <= 3  # the check of the data, forward, adjoint
    assert len(methods) <= 9


def test_the_conformance_test_is_three_statements():
    body = ast.parse((TEMPLATE / "tests" / "test_conformance.py").read_text()).body
    assert len(body) == 3  # two imports and the test


def test_it_is_listed_with_its_distribution(site, run_python, tmp_path):
    script = """
import json, sys, matrixlearn as ml
listed = ml.registered_problems()
names, origin = sorted(listed), listed.origin("e-optimal-design")
early = [m for m in sys.modules if m.startswith("matrixlearn_")]
print(json.dumps({"names": names, "origin": origin, "early": early}))
"""
    told = json.loads(run_python("-c", script, path=[site], cwd=tmp_path))
    assert {"e-optimal-design", "maxcut", "sdp"} <= set(told["names"])
    assert told["origin"] == "matrixlearn-template-design"
    assert told["early"] == []  # listing imports nobody


def test_it_solves_to_the_known_optimum(site, run_python, tmp_path):
    # for the unit vectors lambda_min(diag(w)) = min w, so that w is uniform and the optimum -1/n
    script = """
import json, numpy as np, matrixlearn as ml
problem = ml.registered_problems()["e-optimal-design"](np.eye(5))
solution = ml.solve(problem, tol=1e-6)
print(json.dumps({"status": solution.status, "value": solution.value, "w": list(solution.y)}))
"""
    told = json.loads(run_python("-c", script, path=[site], cwd=tmp_path))
    assert told["status"] == "optimal"
    assert told["value"] == pytest.approx(-1 / 5, rel=1e-5)
    assert np.allclose(told["w"], 0.2, atol=1e-4)


def test_it_passes_the_kit(site, run_python, tmp_path):
    script = """
import json, matrixlearn as ml
from matrixlearn.testing import run_checks
cls = ml.registered_problems()["e-optimal-design"]
print(json.dumps({name: None if error is None else str(error) for name, error in run_checks(cls, max_examples=2)}))
"""
    told = json.loads(run_python("-c", script, path=[site], cwd=tmp_path))
    assert len(told) >= 20
    assert {name: error for name, error in told.items() if error} == {}
