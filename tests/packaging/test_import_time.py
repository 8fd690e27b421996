"""Importing matrixlearn, listing problems and constructing them loads nothing that is not used.

The clock is not tested (it depends on the machine); what makes it slow is. docs/measurements.md has times.
"""

import subprocess
import sys

import pytest

HEAVY = ("scipy", "networkx", "cvxpy", "matplotlib", "sklearn", "rich", "click", "hypothesis", "pytest", "pandas")


def loaded_by(code):
    """The packages of `HEAVY` that the code leaves imported, in a fresh interpreter."""
    script = f"{code}\nimport sys\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=240)
    return set(result.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import matrixlearn",
        "import matrixlearn as ml; list(ml.registered_problems())",
        "import matrixlearn_discrepancy, matrixlearn_maxcut",
        "import matrixlearn as ml; [ml.registered_problems()[name] for name in ('sdp', 'discrepancy', 'maxcut')]",
        "import matrixlearn as ml, numpy as np; ml.LinearSDP(np.eye(2), [np.eye(2)], np.ones(1), 1.0)",
    ],
)
def test_nothing_heavy_is_loaded(code):
    assert loaded_by(code) == set()


def test_the_probe_sees_what_is_loaded():
    assert loaded_by("import scipy.linalg, networkx") >= {"scipy", "networkx"}


def test_a_solve_loads_scipy_and_no_more():
    code = "import matrixlearn as ml, numpy as np; ml.solve(ml.LinearSDP(np.eye(2), [np.eye(2)], np.ones(1), 1.0))"
    assert loaded_by(code) == {"scipy"}
