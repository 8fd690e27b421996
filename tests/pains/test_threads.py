"""Pain 30 (OpenBLAS #5517, openqp PR #307): two BLAS threads make small decompositions many times slower.

`solve` works on small matrices with one thread, whatever the environment says, and restores it. What runs in
the process is asked, not how long it takes: a clock says little on a busy machine.
"""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import json
import numpy as np
from threadpoolctl import threadpool_info
import matrixlearn as ml
from matrixlearn_discrepancy import Discrepancy

def threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

rng = np.random.default_rng(30)
inside, before = [], threads()
problem = Discrepancy(rng.standard_normal((30, 10)), rng.standard_normal((20, 10)))
solution = ml.solve(problem, tol=1e-6, callback=lambda event: inside.append(max(threads())))
try:
    ml.solve(problem, callback=lambda event: 1 / 0)
except ZeroDivisionError:
    pass
print(json.dumps([before, inside, threads(), solution.value, solution.iterations]))
"""


def answer(threads):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    return json.loads(done.stdout)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two processors")
def test_small_problems_run_on_one_thread_and_the_setting_comes_back():
    before, inside, after, *result = answer(2)
    assert max(before) == 2  # the environment is in force
    assert inside and set(inside) == {1}
    assert set(after) == set(before)  # also after an error in a callback
    assert answer(1)[3] == pytest.approx(result[0], rel=2e-6)  # the same answer, to the gap
