"""Scale invariance: the same answer for features, costs and right-hand sides times k, k = 1e-8 ... 1e8.
python benchmarks/engines/scale.py
"""

import networkx as nx
import numpy as np
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from benchmarks._common import gaussian_shift, header


def main() -> None:
    header("scale invariance, tol 1e-7")
    Xs, Xt = gaussian_shift(40, 60, 8)
    W = nx.to_numpy_array(nx.gnp_random_graph(8, 0.5, seed=3))
    base = ml.LinearSDP.random(np.random.default_rng(3))
    makers = {
        "Discrepancy, features x k": (lambda k: Discrepancy(k * Xs, k * Xt), 2),
        "MaxCut, weights x k": (lambda k: MaxCut(k * W), 1),
        "LinearSDP, C x k": (lambda k: ml.LinearSDP(k * base.C, base.A, base.b, base.trace_bound), 1),
        "LinearSDP, b and R x k": (lambda k: ml.LinearSDP(base.C, base.A, k * base.b, k * base.trace_bound), 1),
    }
    for name, (make, power) in makers.items():
        reference = ml.solve(make(1.0), tol=1e-7)
        worst, statuses = 0.0, set()
        for exponent in range(-8, 9, 2):
            k = 10.0**exponent
            solution = ml.solve(make(k), tol=1e-7)
            worst = max(worst, abs(solution.value / k**power / reference.value - 1))
            statuses.add(str(solution.status))
        print(f"{name:28s} largest relative difference {worst:.1e}, statuses {sorted(statuses)}")


if __name__ == "__main__":
    main()
