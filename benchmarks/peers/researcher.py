"""A researcher's own semidefinite programs: `LinearSDP` beside cvxpy's CLARABEL and SCS.

    theta          max J.X     tr X = 1, X_ij = 0 on the edges                 (Lovasz; counties, SDPLIB's theta graphs)
    distances      max tr X    |X_ii + X_jj - 2 X_ij - d_ij^2| <= 2 % of d^2, X 1 = 0   (stations, 6 nearest neighbours)
    correlation    min max |X_ij - G_ij|   X_ii = 1, ten entries fixed         (G of pairs of stations, indefinite)
    eigenvalue     min over free y of lambda_max(A_0 + sum_k y_k A_k)         (covariances of months)

    python benchmarks/peers/researcher.py [PROBLEM ...]  each solver in a process of its own, LIMIT CPU seconds at most

CPU seconds with one thread from the data to the answer (cvxpy's compilation included), and the distance of the value
from the optimum that `LinearSDP` certifies to 1e-7, where it does.
"""

import argparse
import gzip
import itertools
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np
import scipy.sparse as sp

from benchmarks._common import header
from benchmarks._data import DATA

SOLVERS = ("ours 1e-3", "ours 1e-6", "CLARABEL", "SCS")


def symmetric(n, entries):
    """A sparse symmetric matrix from {(i, j): value} with i <= j."""
    i, j, v = (np.array(c) for c in zip(*((a, b, x) for (a, b), x in entries.items()), strict=True))
    off = i != j
    rows, columns = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
    return sp.coo_array((np.concatenate([v, v[off]]).astype(float), (rows, columns)), shape=(n, n))


def stations(n):
    """Positions in km of n stations, and their monthly anomalies, (n, 12 * 103), NaN where none was read."""
    data = np.load(DATA / "colorado_climate" / "colorado_monthly.npz")
    tmax = data["tmax"].astype(float)
    most = np.argsort(np.isnan(tmax).sum((0, 1)), kind="stable")[:n]
    lon, lat = data["lon_lat"][most].T
    km = np.stack([(lon - lon.mean()) * 111.2 * np.cos(np.radians(lat.mean())), (lat - lat.mean()) * 111.2], 1)
    tmax = tmax[:, :, most]
    return km, (tmax - np.nanmean(tmax, 0)).reshape(-1, n).T


# -- the four programs: (C, A, b, senses, R), to be maximized -------------------------------------


def theta(n):
    if n == 20:
        graph = np.load(DATA / "chickenpox" / "chickenpox.npz")
        edges = {tuple(sorted(map(int, e))) for e in graph["edges"] if e[0] != e[1]}
    else:
        name = {50: "theta1", 100: "theta2", 200: "theta4"}[n]
        with gzip.open(DATA / "sdplib" / f"{name}.dat-s.gz", "rt") as file:
            rows = [line.split() for line in file if line.strip() and line[0] not in '"*']
        entries = [tuple(int(float(x)) for x in row[:4]) for row in rows[4:]]
        edges = {(i - 1, j - 1) for k, _, i, j in entries if k >= 1 and i != j}
    A = [symmetric(n, {(i, i): 1.0 for i in range(n)})] + [symmetric(n, {e: 1.0}) for e in sorted(edges)]
    return np.ones((n, n)), A, np.eye(1, len(A))[0], "==", 1.0


def distances(n):
    from scipy.sparse.csgraph import shortest_path

    km, _ = stations(n)
    km = km / 100
    D2 = np.sum((km[:, None] - km[None]) ** 2, -1)
    noisy = D2 * (1 + 0.01 * np.random.default_rng(0).uniform(-1, 1, D2.shape))
    near = np.argsort(D2, 1)[:, 1:7]
    order = np.argsort(km[:, 0])  # and a path, so that the graph holds together
    pairs = {tuple(sorted((i, int(j)))) for i in range(n) for j in near[i]}
    pairs |= {tuple(sorted((int(a), int(b)))) for a, b in itertools.pairwise(order)}
    pairs = [p for p in sorted(pairs) if D2[p] > 1e-6]
    A, b, senses = [], [], []
    for i, j in pairs:
        A += [symmetric(n, {(i, i): 1.0, (j, j): 1.0, (i, j): -1.0})] * 2
        b += [1.02 * noisy[i, j], 0.98 * noisy[i, j]]
        senses += ["<=", ">="]
    A.append(sp.coo_array(np.ones((n, n)) / n))
    b, senses = [*b, 0.0], [*senses, "=="]
    length = np.zeros((n, n))
    for i, j in pairs:
        length[i, j] = np.sqrt(1.02 * noisy[i, j])
    R = np.sum(shortest_path(length, directed=False) ** 2) / (2 * n)  # tr X is the mean of all squared distances
    return np.eye(n), A, np.array(b), senses, float(R)


def correlation(n):
    _, anomalies = stations(2 * n)
    anomalies = anomalies[n:]  # the stations with gaps
    there = np.isfinite(anomalies).astype(float)
    x = np.nan_to_num(anomalies)
    pairs = np.maximum(there @ there.T, 1)  # months that both have, each pair by its own
    mean, square = x @ there.T / pairs, x**2 @ there.T / pairs
    deviation = np.sqrt(np.maximum(square - mean**2, 1e-9))
    G = np.where(there @ there.T >= 24, (x @ x.T / pairs - mean * mean.T) / (deviation * deviation.T), 0.0)
    fixed = {(0, j) for j in range(1, 11)}
    N = n + 1  # X and t in one block-diagonal matrix
    A, b, senses = [], [], []
    for i in range(n):
        A.append(symmetric(N, {(i, i): 1.0}))
        b, senses = [*b, 1.0], [*senses, "=="]
        for j in range(i + 1, n):
            if (i, j) in fixed:
                A.append(symmetric(N, {(i, j): 0.5}))
                b, senses = [*b, 0.9 * G[i, j]], [*senses, "=="]
            else:
                A += [symmetric(N, {(i, j): 0.5, (n, n): s}) for s in (-1.0, 1.0)]
                b, senses = [*b, G[i, j], G[i, j]], [*senses, "<=", ">="]
    return -np.diag(np.eye(N)[n]), A, np.array(b), senses, n + 2.0


def eigenvalue(n):
    _, anomalies = stations(n)
    months = np.nan_to_num(anomalies.reshape(n, -1, 12))
    covariances = [months[:, :, k] @ months[:, :, k].T / months.shape[1] for k in range(12)]
    C = np.mean(covariances, 0)
    A = [np.eye(n)] + [C - S for S in covariances[:11]]
    return C, A, np.eye(1, 12)[0], "==", 1.0


PROBLEMS = {
    "theta": (theta, (20, 50, 100, 200)),
    "distances": (distances, (20, 100, 200)),
    "correlation": (correlation, (12, 20, 40, 60)),
    "eigenvalue": (eigenvalue, (20, 100, 200, 350)),
}


# -- the solvers ----------------------------------------------------------------------------------


def ours(program, tol):
    import matrixlearn as ml

    C, A, b, senses, R = program
    answer = ml.solve(ml.LinearSDP.with_senses(C, A, b, senses, R), tol=tol)
    return {"value": answer.value, "status": str(answer.status), "gap": answer.gap, "method": answer.method,
            "iterations": answer.iterations, "notes": answer.notes}  # fmt: skip


def by_cvxpy(program, solver):
    """As she would write it: X, one constraint a kind, vectorized."""
    import cvxpy as cp

    C, A, b, senses, R = program
    n = C.shape[0]
    X = cp.Variable((n, n), symmetric=True)
    rows = sp.csr_array(sp.vstack([sp.csr_array(sp.csr_array(a).reshape(1, n * n)) for a in A]))
    x = cp.vec(X, order="C")
    each = np.array([senses] * len(A) if isinstance(senses, str) else senses)
    constraints = [X >> 0]
    for sense in np.unique(each):
        which = np.flatnonzero(each == sense)
        left, right = rows[which] @ x, b[which]
        constraints.append(left == right if sense == "==" else left <= right if sense == "<=" else left >= right)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(C, X))), constraints)
    if R == 1 and not sp.issparse(A[0]):  # eigenvalue: 11 variables instead of n^2 / 2
        y = cp.Variable(len(A) - 1)
        problem = cp.Problem(cp.Minimize(cp.lambda_max(C - sum(y[k] * a for k, a in enumerate(A[1:])))))
    problem.solve(solver=solver)
    return {"value": float(problem.value), "status": problem.status, "solver_seconds": problem.solver_stats.solve_time}


def one(problem, n, solver, limit):
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
    program = PROBLEMS[problem][0](n)
    import cvxpy  # noqa: F401 - both imports outside the clock

    import matrixlearn  # noqa: F401

    began = time.process_time()
    out = ours(program, float(solver.split()[1])) if solver.startswith("ours") else by_cvxpy(program, solver)
    return {"m": len(program[1]), "cpu": time.process_time() - began, **out}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", default=list(PROBLEMS))
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--sizes", type=int, nargs="*")
    parser.add_argument("--solvers", nargs="*", default=SOLVERS)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        problem, n, solver = given.one
        print(json.dumps(one(problem, int(n), solver, given.limit), default=str))
        return
    header("A researcher's programs")
    print(f"{'problem':<12}{'n':>4}{'m':>6}  {'solver':<10}{'CPU s':>8}  {'status':<20}{'value':>16}  {'gap':>8}")
    for problem in given.problems:
        for n in given.sizes or PROBLEMS[problem][1]:
            for solver in given.solvers:
                command = [sys.executable, __file__, "--limit", str(given.limit), "--one", problem, str(n), solver]
                try:
                    done = subprocess.run(
                        command, capture_output=True, text=True, timeout=20 * given.limit, check=False, env=os.environ
                    )
                    out = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
                    why = (
                        ""
                        if out
                        else (done.stderr.strip().splitlines() or [f"no answer in {given.limit:g} CPU s"])[-1][:60]
                    )
                except subprocess.TimeoutExpired:
                    out, why = None, "no answer"
                if out is None:
                    print(f"{problem:<12}{n:>4}{'':>6}  {solver:<10}{'-':>8}  {why}", flush=True)
                    continue
                gap = f"{out['gap']:.1e}" if "gap" in out else ""
                print(
                    f"{problem:<12}{n:>4}{out['m']:>6}  {solver:<10}{out['cpu']:>8.2f}  {out['status']:<20}"
                    f"{out['value']:>16.8g}  {gap:>8}  {out.get('method', '')} {out.get('iterations', '')}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
