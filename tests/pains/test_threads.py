"""Pain 30 (OpenBLAS #5517, openqp PR #307): two BLAS threads make small decompositions many times slower.

`solve` works on small matrices with one thread, whatever the environment says, and restores it. What runs in
the process is asked, not how long it takes: a clock says little on a busy machine.
"""

import json
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import matrixlearn as ml

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

OVERLAP = """
import json, threading
import numpy as np
from threadpoolctl import threadpool_info
import matrixlearn as ml
from matrixlearn_discrepancy import Discrepancy

def threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

rng = np.random.default_rng(31)
problem = Discrepancy(rng.standard_normal((30, 10)), rng.standard_normal((20, 10)))
ml.solve(problem)
first_in, second_in, first_out = (threading.Event() for _ in range(3))
before, inside = threads(), []

def first(event):
    first_in.set()
    second_in.wait(60)

def second(event):
    second_in.set()
    first_out.wait(60)
    inside.append(max(threads()))

one = threading.Thread(target=lambda: ml.solve(problem, callback=first))
two = threading.Thread(target=lambda: ml.solve(problem, callback=second))
one.start()
first_in.wait(60)
two.start()
one.join()
first_out.set()
two.join()
print(json.dumps([before, inside, threads()]))
"""


def answer(threads, program=PROGRAM):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    return json.loads(done.stdout)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two processors")
def test_small_problems_run_on_one_thread_and_the_setting_comes_back():
    before, inside, after, *result = answer(2)
    assert max(before) == 2  # the environment is in force
    assert inside and set(inside) == {1}
    assert set(after) == set(before)  # also after an error in a callback
    assert answer(1)[3] == pytest.approx(result[0], rel=2e-6)  # the same answer, to the gap


def test_the_filters_of_warnings_come_back_from_solves_that_overlap():
    problems = [ml.LinearSDP.random(np.random.default_rng(seed)) for seed in range(8)]
    before = list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda problem: ml.solve(problem, "reference"), problems))
    assert warnings.filters == before


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two processors")
def test_of_solves_that_overlap_the_last_one_brings_the_setting_back():
    """The first to begin ends while the second is at work: one thread until that ends too, and then two again."""
    before, inside, after = answer(2, OVERLAP)
    assert set(before) == {2}
    assert inside and set(inside) == {1}
    assert after == before


def test_solves_in_threads_answer_as_they_do_alone():
    problems = [
        of.random(np.random.default_rng(seed))
        for seed in range(5)
        for of in (
            ml.LinearSDP,
            *(ml.registered_problems()[name] for name in ("discrepancy", "maxcut", "meg", "definiteboost")),
        )
    ]
    alone = [ml.solve(problem, tol=1e-4, max_iter=50) for problem in problems]
    with ThreadPoolExecutor(8) as pool:
        beside = list(pool.map(lambda problem: ml.solve(problem, tol=1e-4, max_iter=50), problems))
    for one, other in zip(alone, beside, strict=True):
        atol = 1e-9 * one.problem.scale
        assert other.status == one.status
        assert other.lower == pytest.approx(one.lower, rel=1e-9, abs=atol)
        assert other.upper == pytest.approx(one.upper, rel=1e-9, abs=atol)
        other.certificate.verify()
