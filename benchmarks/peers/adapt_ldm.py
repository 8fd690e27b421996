"""ADAPT's LDM (linear discrepancy minimization, CVXOPT underneath) beside ours: CPU seconds, one thread.

    python benchmarks/peers/adapt_ldm.py --adapt /path/to/python-with-adapt [--size 1000x100] [--limit 400]

Gaussian shift, m = n points in N dimensions. ADAPT lives in an environment of its own (it needs TensorFlow), whose
Python is asked for the weights; their ||M(z)|| is computed here. Imports are not counted.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from benchmarks._common import gaussian_shift, header

PROGRAM = """
import sys, time
import numpy as np
from adapt.instance_based import LDM
from sklearn.linear_model import Ridge
data = np.load(sys.argv[1])
start = time.process_time()
weights = LDM(Ridge(), Xt=data["T"], verbose=0).fit_weights(data["S"], data["T"])
np.savez(sys.argv[2], weights=weights, seconds=time.process_time() - start)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adapt", required=True)
    parser.add_argument("--size", default="1000x100")
    parser.add_argument("--limit", type=float, default=400)
    given = parser.parse_args()
    m, N = (int(part) for part in given.size.split("x"))
    header(f"Gaussian shift, m = n = {m}, N = {N}: certified gap 1e-6 beside ADAPT's LDM, CPU seconds")
    S, T = gaussian_shift(m, m, N)
    ml.solve(Discrepancy(S[:20], T[:20]))
    start = time.process_time()
    problem = Discrepancy(S, T)
    solution = ml.solve(problem, tol=1e-6)
    ours = time.process_time() - start
    print(f"ours: {ours:.2f} s, {solution.method}, gap {solution.gap:.1e}, value {solution.upper:.8g}", flush=True)
    with tempfile.TemporaryDirectory() as place:
        data, answer = Path(place) / "data.npz", Path(place) / "answer.npz"
        np.savez(data, S=S, T=T)
        try:
            subprocess.run([given.adapt, "-c", PROGRAM, data, answer], timeout=given.limit, check=True)
        except subprocess.TimeoutExpired:
            print(f"ADAPT: more than {given.limit:g} s")
            return
        with np.load(answer) as found:
            z, seconds = found["weights"].ravel(), float(found["seconds"])
    value = ml.certify(problem, y=np.clip(z, 0, None) / np.clip(z, 0, None).sum()).upper
    print(f"ADAPT: {seconds:.2f} s, ||M(z)|| {value:.8g}, weights sum to {z.sum():.6g}; ratio {seconds / ours:.1f}")


if __name__ == "__main__":
    main()
