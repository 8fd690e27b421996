"""Every engine on random instances that are small and nasty: does "optimal" mean optimal, and does nothing break?

    python benchmarks/engines/reliability.py [count=300] [--engines pdhg ...] [--seconds 0.5]

Instance `seed`: a discrepancy (two of five), a linear program over matrices, a MaxCut, or a program with rows of all
senses, which may lack an interior or repeat rows; sizes 1 to 12, data times a
scale of 1e-6 to 1e6, features made dependent or points repeated in a third each, more points than dimensions and fewer.
The judge is cvxpy by two solvers on the instance at scale 1 (`matrixlearn.testing`), its value scaled, with its error.
A failure is an exception, a warning, a NaN, bounds that cross, or bounds, of whatever status, that do not hold the
judge's value. Not reaching tol in the time given is no failure; it is counted.
"""

import argparse
import math
import time
import warnings
from collections import Counter

import numpy as np
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from benchmarks._common import header
from matrixlearn.testing.reference import optimum

TOLS = {
    "interior-point": 1e-6,
    "column-generation": 1e-6,
    "auto": 1e-6,
    "low-rank": 1e-6,
    "pdhg": 1e-3,
    "subspace": 1e-6,
}


def points(rng, m, N):
    """(m, N), now and then of low rank or with repeated rows."""
    X = rng.standard_normal((m, N)) + rng.uniform(-1, 1, N)
    kind = rng.integers(3)
    if kind == 0 and N > 1:
        X = X[:, : max(1, N // 2)] @ rng.standard_normal((max(1, N // 2), N))
    if kind == 1 and m > 1:
        X[m // 2 :] = X[: m - m // 2]
    return X


def of_all_senses(rng):
    """A program that some X meets; in a third X is singular, in another a row is repeated, twice as large."""
    n = int(rng.integers(2, 9))
    m = int(rng.integers(1, 1 + n * (n + 1) // 3))
    G = rng.standard_normal((m + 1, n, n)) + (1j * rng.standard_normal((m + 1, n, n)) if rng.random() < 0.3 else 0)
    G, kind = (G + G.conj().transpose(0, 2, 1)) / 2, rng.integers(3)
    root = rng.standard_normal((n, n if kind else max(1, n // 2)))
    X, A = root @ root.T, 10.0 ** rng.uniform(-3, 3, (m, 1, 1)) * G[1:]
    senses = rng.choice(["<=", ">=", "=="], m)
    room = np.array([{"<=": 1.0, ">=": -1.0, "==": 0.0}[sense] for sense in senses])
    b = np.real(np.einsum("jab,ba->j", A, X)) + room * rng.uniform(0.05, 1, m) * np.linalg.norm(A, axis=(1, 2))
    if kind == 1:
        A, b, senses = np.concatenate([A, 2 * A[:1]]), np.append(b, 2 * b[0]), np.append(senses, senses[0])
    return G[0], A, b, [str(sense) for sense in senses], float(np.trace(X)) * rng.uniform(1.1, 30)


def instance(seed):
    """(the problem at scale 1, the problem, the factor between their values)."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-6, 6)
    kind = seed % 5
    if kind < 2:
        N, m, n = (int(k) for k in rng.integers(1, 13, 3))
        X, T = points(rng, m, N), points(rng, n, N)
        cap = None if rng.random() < 0.7 else float(rng.uniform(1.0, 4.0))
        return Discrepancy(X, T, max_weight=cap), Discrepancy(scale * X, scale * T, max_weight=cap), scale**2
    if kind == 2:
        base = ml.LinearSDP.random(rng)
        return base, ml.LinearSDP(scale * base.C, base.A, base.b, base.trace_bound), scale
    if kind == 3:
        base = MaxCut.random(rng)
        return base, MaxCut(scale * base.weights), scale
    C, A, b, senses, R = of_all_senses(rng)
    base, problem = (ml.LinearSDP.with_senses(k * C, A, b, senses, R) for k in (1.0, scale))
    return base, problem, scale


def failures(solution, judge, factor, tol):
    """What is wrong with a solution, in words."""
    lower, upper = solution.lower / factor, solution.upper / factor
    if math.isnan(solution.value) or math.isnan(lower) or math.isnan(upper):
        yield "NaN"
    if not lower <= upper:
        yield f"lower {lower} > upper {upper}"
    if math.isfinite(judge.value) and (lower > judge.value + judge.error or upper < judge.value - judge.error):
        yield f"[{lower}, {upper}] does not hold {judge.value} +- {judge.error:.1e} ({solution.status})"
    if (solution.status == "optimal") != (solution.gap <= tol):
        yield f"status {solution.status} with gap {solution.gap:.1e}"


def tried(problem, method, tol, seconds):
    """(solution or None, what was raised or warned)."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return ml.solve(problem, method, tol=tol, time_limit=seconds), ""
        except ml.exceptions.CapabilityError:
            return None, ""
        except Exception as error:  # whatever it is, it is the failure that is looked for
            return None, f"{type(error).__name__}: {error}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=300)
    parser.add_argument("--engines", nargs="+")
    parser.add_argument("--seconds", type=float, default=0.5)
    given = parser.parse_args()
    header(f"reliability: {given.count} instances, at most {given.seconds:g} s each")
    drawn = [instance(seed) for seed in range(given.count)]
    judges = [optimum(base) for base, _, _ in drawn]
    print(f"judges sharp: {sum(judge.is_sharp for judge in judges)} of {given.count}", flush=True)
    names = given.engines or ["auto", *sorted({name for _, p, _ in drawn for name in ml.methods(p)} - {"reference"})]
    for name in names:
        statuses, bad, start = Counter(), [], time.process_time()
        tol = TOLS.get(name, 1e-2)
        for seed, ((_, problem, factor), judge) in enumerate(zip(drawn, judges, strict=True)):
            solution, raised = tried(problem, name, tol, given.seconds)
            if raised:
                bad.append((seed, raised))
            elif solution is None:
                statuses["refused"] += 1
            else:
                statuses[str(solution.status)] += 1
                bad += [(seed, words) for words in failures(solution, judge, factor, tol)]
        spent = time.process_time() - start
        print(f"{name:18} tol {tol:g}: {len(bad)} failures; {dict(statuses)}; {spent:.0f} s", flush=True)
        for seed, words in bad[:5]:
            print(f"    seed {seed}: {words[:150]}", flush=True)


if __name__ == "__main__":
    main()
