import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def run_python():
    """Run Python in a neutral folder, with folders put in front of its path; returns what it printed."""

    def run(*arguments, path=(), cwd, **environment):
        variables = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "MATRIXLEARN", "COV_"))}
        variables |= {"PYTHONPATH": os.pathsep.join(map(str, path)), "OPENBLAS_NUM_THREADS": "1", **environment}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=cwd,
            env=variables,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


@pytest.fixture(scope="session")
def pip_install(run_python, tmp_path_factory):
    """Install a project or a wheel into a fresh folder, without its dependencies and without a network."""

    def install(what):
        target = tmp_path_factory.mktemp("site")
        options = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--no-cache-dir"]
        run_python("-m", "pip", "install", "-q", *options, "--target", str(target), str(what), cwd=target)
        return target

    return install
