"""The powering operator (5.12) in mmw: losses as sums of rank-one matrices, never formed, beside losses that are.

    python benchmarks/engines/powering.py [--limit 60]

CPU seconds of one thread to a certified gap of 10 % on discrepancies of q = m + n points: the exact exponent; sketches
of 30 columns of losses that are formed, and through their q rows (`RankOneLosses`); rounds, and milliseconds a round.
"""

import argparse
import functools
import time

import numpy as np
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from benchmarks._common import gaussian_shift, header, thesis_samples
from matrixlearn.engines import MatrixMultiplicativeWeights
from matrixlearn.exponents import SketchedExponent
from matrixlearn.problems import GameProblem
from matrixlearn.problems.rank_one import RankOneLosses

INSTANCES = {
    "thesis 80 + 120, N = 200": lambda: Discrepancy(*thesis_samples(80, 120, 200)),
    "gaussian 400 + 400, N = 300": lambda: Discrepancy(*gaussian_shift(400, 400, 300)),
    "gaussian 200 + 300, N = 2000": lambda: Discrepancy(*gaussian_shift(200, 300, 2000)),
    "gaussian 600 + 600, N = 2000": lambda: Discrepancy(*gaussian_shift(600, 600, 2000)),
}
SKETCH = functools.partial(SketchedExponent, columns=30)


class ByFactors(GameProblem):
    """min over weights z of ||M(z)||_2, the losses through their factors."""

    objective = "minimize"

    def __init__(self, problem):
        m, n = len(problem.X_source), len(problem.X_target)
        self.of = RankOneLosses(problem.game, problem.points[m:], np.full(n, 1 / n))

    @property
    def game(self):
        return self.of


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=60.0)
    limit = parser.parse_args().limit
    header(f"the powering operator in mmw, at most {limit:g} s each")
    print(f"{'instance':30} {'rank':>5} {'routine':20} {'gap':>7} {'rounds':>7} {'seconds':>8} {'ms a round':>11}")
    for name, make in INSTANCES.items():
        problem = make()
        for routine, played, exponent in (
            ("exact", problem, None),
            ("sketch, formed", problem, SKETCH),
            ("sketch, by factors", ByFactors(problem), SKETCH),
        ):
            start = time.process_time()
            answer = ml.solve(played, MatrixMultiplicativeWeights(exponent=exponent), tol=0.1, time_limit=limit)
            seconds = time.process_time() - start
            print(
                f"{name:30} {problem.rank:5d} {routine:20} {answer.gap:7.4f} {answer.iterations:7d} {seconds:8.2f} "
                f"{1e3 * seconds / max(1, answer.iterations):11.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
