"""Discrepancy at real scale: books -> kitchen, certified gap, CPU time and peak memory, each case in its own process.

    python benchmarks/engines/large.py [thesis] [all] [all-centred] [--tol 1e-3] [--method auto]

thesis       500 + 200 labelled, 800 target reviews, the 3,000 most common features standardised: 1500 dimensions,
             where the thesis's code crashed. Time also as a multiple of one numpy.linalg.eigh of that size.
all          2,000 books + 2,000 kitchen reviews, all 35,846 features, each divided by its standard deviation; sparse.
all-centred  the same with the mean taken off, in the Gram matrix: the features stay sparse.

--crossover  where subspace overtakes interior-point (`AHEAD_FROM` of engines.subspace).
"""

import argparse
import resource
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from benchmarks._common import header
from benchmarks._data import DATA


def reviews(name):
    """(counts in CSR, star ratings) of one domain."""
    with np.load(DATA / "sentiment" / f"{name}.npz") as data:
        X = sp.csr_array((data["data"], data["indices"].astype(np.int64), data["indptr"]), shape=data["shape"])
        return X.astype(float), data["rating"].astype(float)


def distinct(X):
    """Row numbers of a CSR X without its repeats: 22 to 44 reviews of a domain are printed twice."""
    rows = {}
    for i, (a, b) in enumerate(pairwise(X.indptr)):
        rows.setdefault((X.indices[a:b].tobytes(), X.data[a:b].tobytes()), i)
    return np.array(list(rows.values()))


def spread(P):
    """(mean, standard deviation) of the columns of a sparse P; 1 where a column is constant."""
    mean = np.asarray(P.mean(axis=0)).ravel()
    std = np.sqrt(np.maximum(np.asarray(P.multiply(P).mean(axis=0)).ravel() - mean**2, 0))
    return mean, np.where(std > 0, std, 1.0)


def thesis(n=800, features=3000, seed=0):
    """Section 6.2: 500 books and 200 kitchen reviews, n others of kitchen."""
    rng = np.random.default_rng(seed)
    B, K = (reviews(name)[0][:, :features] for name in ("books", "kitchen"))
    order = rng.permutation(K.shape[0])
    S = sp.vstack([B[rng.permutation(B.shape[0])[:500]], K[order[:200]]]).toarray()
    T = K[order[200 : 200 + n]].toarray()
    mean, std = spread(sp.csr_array(np.concatenate([S, T])))
    return Discrepancy((S - mean) / std, (T - mean) / std)


def everything(centred=False):
    B, K = reviews("books")[0], reviews("kitchen")[0]
    P = sp.vstack([B, K], format="csr")
    mean, std = spread(P)
    P = sp.csr_array(P @ sp.diags_array(1 / std))
    m = B.shape[0]
    if not centred:
        return Discrepancy(P[:m], P[m:])
    across = P @ (mean / std)
    gram = (P @ P.T).toarray()
    gram += (mean / std) @ (mean / std) - across - across[:, None]
    return Discrepancy(P[:m], P[m:], kernel=gram)


CASES = {"thesis": thesis, "all": everything, "all-centred": lambda: everything(True)}


def one(case, tol, method):
    start = time.process_time()
    problem = CASES[case]()
    built = time.process_time() - start
    start = time.process_time()
    solution = ml.solve(
        problem,
        method,
        tol=tol,
        callback=lambda event: print(f"    {event.seconds:7.1f} s  gap {event.gap:.1e}", flush=True),
    )
    spent = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    start = time.process_time()
    np.linalg.eigh(problem.game.C)
    once = time.process_time() - start
    m, n = problem.X_source.shape[0], problem.X_target.shape[0]
    print(
        f"{case}: m = {m}, n = {n}, N = {problem.X_source.shape[1]}, rank {problem.rank}: {solution.status}, "
        f"certified gap {solution.gap:.1e}\n  {solution.method}: {spent:.1f} CPU s ({spent / once:.0f} times one "
        f"eigh of that size, {once:.2f} s), {solution.iterations} iterations; construction {built:.1f} CPU s; "
        f"peak memory {peak:.2f} GiB\n  " + "\n  ".join(solution.notes)
    )


def crossover(tol):
    from benchmarks.engines.all import of_reviews

    print("reviews m = n, features: interior-point / subspace, CPU seconds")
    for m, features in ((75, 150), (100, 200), (150, 250), (150, 300), (200, 400), (300, 600), (100, 600), (600, 600)):
        problem = of_reviews(m, m, features)
        cells = []
        for method in ("interior-point", "subspace"):
            start = time.process_time()
            ml.solve(problem, method, tol=tol)
            cells.append(time.process_time() - start)
        print(f"{m:5d} {problem.rank:5d}   {cells[0]:.3f} / {cells[1]:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=["thesis", "all"])
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--alone", action="store_true", help="in this process")
    parser.add_argument("--crossover", action="store_true")
    given = parser.parse_args()
    if given.alone:
        one(given.cases[0], given.tol, given.method)
        return
    header(f"discrepancy at scale, certified gap {given.tol:g}")
    if given.crossover:
        crossover(given.tol)
        return
    for case in given.cases:
        sys.stdout.flush()
        command = [sys.executable, __file__, case, "--alone", "--tol", str(given.tol), "--method", given.method]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
