"""The published schedule against its theorem, and the adaptive one against both.

(a) Small games, every guess of Algorithm 1 to the end: T of Theorem 4.3.2 is never exceeded, and a guess
    that never fails proves v <= (1 + delta) alpha by its average.
(b) The thesis's artificial data at N = 50, m + n = 100: rounds of the adaptive schedule to a gap of delta,
    beside T for the certified optimum.
    python benchmarks/engines/theory.py
"""

import math

import numpy as np
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from benchmarks._common import header, thesis_samples
from matrixlearn.engines import MatrixMultiplicativeWeights, Theory
from matrixlearn.oracles import SortedListOracle


def main() -> None:
    header("theory")
    for seed in range(3):
        rng = np.random.default_rng(seed)
        game = Discrepancy(rng.standard_normal((6, 3)) + 0.3, rng.standard_normal((8, 3)))
        exact = ml.solve(game, tol=1e-8)
        for delta in (0.5, 0.3):
            schedule = Theory(delta=delta)
            solution = ml.solve(
                game, MatrixMultiplicativeWeights(schedule, oracle=SortedListOracle), tol=1e-9, max_iter=400_000
            )
            T = schedule.rounds_for(game.game, exact.value)
            holds = solution.upper <= (1 + delta) * (1 + delta) * exact.value
            print(
                f"(a) seed {seed} delta {delta}: {solution.iterations} rounds in all, T at the optimum {T}; "
                f"upper / v = {solution.upper / exact.value:.4f} (<= (1 + delta)^2: {holds}); {solution.notes[-2]}"
            )
    for seed in range(3):
        game = Discrepancy(*thesis_samples(40, 60, 50, seed))
        exact = ml.solve(game, tol=1e-8)
        for delta in (0.1, 0.03):
            solution = ml.solve(game, "mmw", tol=delta)
            T = Theory(delta=delta).rounds_for(game.game, exact.value)
            print(
                f"(b) seed {seed} delta {delta}: adaptive {solution.iterations} rounds ({solution.status}), "
                f"T = {T} for one guess, a {T / max(1, solution.iterations):,.0f}th of it"
            )
            assert math.isfinite(solution.gap)


if __name__ == "__main__":
    main()
