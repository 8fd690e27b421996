"""Importing matrixlearn, listing problems and constructing them loads nothing that is not used.

The clock is not tested (it depends on the machine); what makes it slow is. docs/measurements.md has times.
"""

import subprocess
import sys

HEAVY = ("scipy", "networkx", "cvxpy", "matplotlib", "sklearn", "rich", "click", "hypothesis", "pytest", "pandas")


def loaded_by(code):
    """The packages of `HEAVY` that the code leaves imported, in a fresh interpreter."""
    script = f"{code}\nimport sys\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=240)
    return set(result.stdout.split())


def test_nothing_heavy_is_loaded():
    """Modules stay: what is loaded after the last step is what any step loads."""
    steps = (
        "import matrixlearn as ml, numpy as np",
        "list(ml.registered_problems())",
        "import matrixlearn_discrepancy, matrixlearn_maxcut",
        "[ml.registered_problems()[name] for name in ('sdp', 'discrepancy', 'maxcut')]",
        "ml.LinearSDP(np.eye(2), [np.eye(2)], np.ones(1), 1.0)",
    )
    assert loaded_by("\n".join(steps)) == set()


ESTIMATORS = {
    "matrixlearn_definiteboost": "DefiniteBoostKernel",
    "matrixlearn_discrepancy": "DiscrepancyRegressor",
    "matrixlearn_erm": "ERMRegressor",
    "matrixlearn_fetr": "FETRClassifier",
    "matrixlearn_meg": "MEGRegressor",
    "matrixlearn_network": "GraphRegressor",
}


def test_an_estimator_loads_scikit_learn_and_its_plugin_does_not():
    plugins = "\n".join(f"import {name}; {name}.__all__" for name in ESTIMATORS)
    assert "sklearn" not in loaded_by(plugins)
    found = "\n".join(f"{name}.{estimator}" for name, estimator in ESTIMATORS.items())
    assert "sklearn" in loaded_by(f"{plugins}\n{found}")


def test_the_probe_sees_what_is_loaded():
    assert loaded_by("import scipy.linalg, networkx") >= {"scipy", "networkx"}


def test_a_solve_loads_scipy_and_no_more():
    code = "import matrixlearn as ml, numpy as np; ml.solve(ml.LinearSDP(np.eye(2), [np.eye(2)], np.ones(1), 1.0))"
    assert loaded_by(code) == {"scipy"}
