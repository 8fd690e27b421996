"""Pain 3 (cs.stackexchange 88701): the kernel dies on max-cut with 500 vertices in a general conic solver.

Reduced to 120 vertices for the suite; n = 500 is in benchmarks/.
"""

import time
import tracemalloc

import networkx as nx
import numpy as np
import pytest
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml


def test_certified_to_a_millionth_in_seconds_and_in_a_few_matrices():
    n = 120
    graph = nx.gnp_random_graph(n, 0.1, seed=11)
    tracemalloc.start()
    began = time.process_time()
    solution = ml.solve(MaxCut(graph), tol=1e-6)
    seconds = time.process_time() - began
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert solution.status == "optimal" and solution.gap <= 1e-6
    assert seconds < 5.0  # 0.2 s when the machine is idle
    assert peak < 60 * n * n * 8
    # the bounds, from the graph alone
    laplacian = nx.laplacian_matrix(graph).toarray() / 4
    X, y = solution.matrix, solution.y
    np.testing.assert_allclose(np.diag(X), 1.0, rtol=1e-14)
    assert np.linalg.eigvalsh(X)[0] > -1e-12
    assert float(np.sum(laplacian * X)) == pytest.approx(solution.value, rel=1e-12)
    dual = y.sum() + n * np.linalg.eigvalsh(laplacian - np.diag(y))[-1]
    assert solution.value <= dual <= solution.upper * (1 + 1e-12)
