"""What proofs cost: the share of a solve's CPU time that goes into bounds and the last certificate, at n = 200.

    python -m benchmarks.contract.proof_share [--size 200] [--repeats 5]

`Incumbent.offered`, `Incumbent.shown`, `Incumbent.first` and `settled` are timed, each with all that it calls; the
least share of the repeats is the one that the rest of the machine disturbed least.
"""

import argparse
import time

import numpy as np
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from benchmarks._common import gaussian_shift, header
from matrixlearn import _solve
from matrixlearn.engines.incumbent import Incumbent


class Clock:
    """CPU seconds inside of the outermost of the functions that it has wrapped."""

    def __init__(self):
        self.seconds, self.depth = 0.0, 0

    def timed(self, function):
        def call(*args, **kwargs):
            self.depth += 1
            began = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                self.depth -= 1
                if self.depth == 0:
                    self.seconds += time.process_time() - began

        return call


def linear(n, senses):
    """64 rows that a random X of trace n meets, exactly or with room, and the trace."""
    rng = np.random.default_rng(n)
    G = rng.standard_normal((64, n, n))
    A = (G + G.transpose(0, 2, 1)) / 2
    X = rng.standard_normal((n, n))
    X = X @ X.T / n
    b = np.einsum("jab,ab->j", A, X) + (0.0 if senses == "==" else 1.0)
    C = rng.standard_normal((n, n))
    rows = np.concatenate([A, np.eye(n)[None]])
    return ml.LinearSDP.with_senses((C + C.T) / 2, rows, np.append(b, np.trace(X)), [senses] * 64 + ["=="])


def graph(n):
    W = np.triu(np.random.default_rng(n).random((n, n)) < 0.06, 1).astype(float)
    return MaxCut(W + W.T)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    n, clock = given.size, Clock()
    Incumbent.offered = clock.timed(Incumbent.offered)
    Incumbent.shown = clock.timed(Incumbent.shown)
    Incumbent.first = classmethod(clock.timed(Incumbent.first.__func__))
    _solve.settled = clock.timed(_solve.settled)
    cases = {
        "LinearSDP, 64 rows <=": lambda: linear(n, "<="),
        "LinearSDP, 64 rows ==": lambda: linear(n, "=="),
        "Discrepancy": lambda: Discrepancy(*gaussian_shift(n, n, n)),
        "MaxCut": lambda: graph(n),
    }
    header(f"shares of proofs in a solve, n = {n}, the least of {given.repeats}")
    print("| problem | tol | solve, s | proofs | engine |\n|---|---|---|---|---|")
    for name, make in cases.items():
        for tol in (1e-3, 1e-6):
            ml.solve(make(), tol=tol)
            measured = []
            for _ in range(given.repeats):
                problem, clock.seconds, began = make(), 0.0, time.process_time()
                solution = ml.solve(problem, tol=tol)
                seconds = time.process_time() - began
                measured.append((clock.seconds / seconds, seconds))
            assert solution.status == "optimal", solution.explain()
            share, seconds = min(measured)
            print(f"| {name} | {tol:.0e} | {seconds:.3f} | {share:.1%} | `{solution.method}` |", flush=True)


if __name__ == "__main__":
    main()
