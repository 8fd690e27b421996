"""The cost of a round of matrix multiplicative weights on a Discrepancy in N = 500 dimensions, in units
of one numpy.linalg.eigh of that size; everything counted: checks, line searches, certificates.
    python benchmarks/engines/mmw_cost.py
"""

import time

import numpy as np
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from benchmarks._common import header


def main() -> None:
    header("cost of an mmw round, N = 500, CPU seconds")
    rng = np.random.default_rng(0)
    N = 500
    source = rng.standard_normal((150, N)) * np.linspace(0.2, 2, N) + 0.3
    game = Discrepancy(source, rng.standard_normal((600, N)))
    F = game.game.image(np.full(150, 1 / 150))
    ml.solve(game, "mmw", tol=1e-12, max_iter=3)

    def eigh():
        start = time.process_time()
        np.linalg.eigh(F)
        return time.process_time() - start

    for rounds in (100, 200, 400):
        before = [eigh() for _ in range(5)]
        start = time.process_time()
        solution = ml.solve(game, "mmw", tol=1e-12, max_iter=rounds)
        each = (time.process_time() - start) / rounds
        unit = float(np.median(before + [eigh() for _ in range(5)]))
        print(
            f"{rounds} rounds: {each * 1e3:.1f} ms a round, eigh {unit * 1e3:.1f} ms, ratio {each / unit:.2f} "
            f"({len(solution.history)} checks, gap {solution.gap:.1e})"
        )


if __name__ == "__main__":
    main()
