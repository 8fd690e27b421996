"""mmw with its exponent routine as the only difference, to certified gaps of 10 % and 5 %.

    python benchmarks/engines/mmw_exponents.py [--limit 60]

CPU seconds of one thread, rounds, and the gap reached; MaxCut on Gset (n = 800) and discrepancies (`_common`, seed 0).
"""

import argparse
import functools
import time

from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from benchmarks._common import gaussian_shift, header, thesis_samples
from benchmarks.peers.maxcut import weights
from matrixlearn.engines import MatrixMultiplicativeWeights
from matrixlearn.exponents import EigenUpdateExponent, SketchedExponent

ROUTINES = {
    "dense": None,
    "eigen-update": EigenUpdateExponent,
    "sketch, 30": functools.partial(SketchedExponent, columns=30),
    "sketch, 100": functools.partial(SketchedExponent, columns=100),
}
INSTANCES = {
    "G11": lambda: MaxCut(weights("G11")),
    "G1": lambda: MaxCut(weights("G1")),
    "gaussian 400+400, N=300": lambda: Discrepancy(*gaussian_shift(400, 400, 300)),
    "thesis 80+120, N=200": lambda: Discrepancy(*thesis_samples(80, 120, 200)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=60.0)
    limit = parser.parse_args().limit
    header(f"mmw by exponent routine, at most {limit:g} s each, random_state 0")
    print(f"{'instance':24} {'tol':>5} {'routine':13} {'status':8} {'gap':>7} {'rounds':>7} {'seconds':>8}")
    for instance, make in INSTANCES.items():
        for tol in (0.1, 0.05):
            for routine, exponent in ROUTINES.items():
                problem = make()
                start = time.process_time()
                solution = ml.solve(problem, MatrixMultiplicativeWeights(exponent=exponent), tol=tol, time_limit=limit)
                seconds = time.process_time() - start
                print(
                    f"{instance:24} {tol:5g} {routine:13} {solution.status:8} {solution.gap:7.4f} "
                    f"{solution.iterations:7d} {seconds:8.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
