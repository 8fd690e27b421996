"""mmw with the routines of every problem: rounds and seconds to certified gaps of 10 % and 1 %, the default beside it.

python benchmarks/engines/plays.py [--limit SECONDS]
"""

import argparse

import numpy as np
from matrixlearn_definiteboost import DefiniteBoost, MinMaxSDP
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_fetr import FETR, LogisticFETR
from matrixlearn_maxcut import MaxCut
from matrixlearn_meg import MEGRegression
from matrixlearn_quantum import StateTomography, all_settings, random_state, sample_counts

import matrixlearn as ml
from benchmarks._common import gaussian_shift, header


def symmetric(rng, *shape):
    A = rng.standard_normal(shape)
    return (A + np.swapaxes(A, -1, -2)) / 2


def regression(loss, rng):
    """200 dyads in 20 dimensions, labels of a density matrix of rank 3 with noise."""
    X, U = rng.standard_normal((200, 20)), rng.standard_normal((20, 3))
    p = np.einsum("ti,ij,tj->t", X, U @ U.T / np.sum(U * U), X)
    y = p + 0.3 * rng.standard_normal(200)
    return MEGRegression(X, np.where(p > np.median(p), 1.0, -1.0) if loss == "logistic" else y, loss, 0.3)


def program(rng, equalities):
    """30 rows in 20 dimensions, the trace among them; 15 of them equalities."""
    A, root = np.stack([np.eye(20), *symmetric(rng, 29, 20, 20)]), rng.standard_normal((20, 20))
    b = np.einsum("jab,ab->j", A, np.eye(20) + root @ root.T / 20)
    equal = (np.arange(30) < 15) & equalities
    return ml.LinearSDP(symmetric(rng, 20, 20), A, np.where(equal, b, b + 0.5), equalities=equal)


def problems(rng):
    """(name, problem), of sizes at which a round takes less than a millisecond."""
    edges = np.triu(rng.random((100, 100)) < 0.1, 1).astype(float)
    X, W = rng.standard_normal((200, 20)), rng.standard_normal((20, 3)) @ rng.standard_normal((3, 10))
    tasks = X @ W + rng.standard_normal((200, 10))
    state = random_state(4, 2, rng)
    yield "Discrepancy, 200 x 20", Discrepancy(*gaussian_shift(200, 200, 20))
    yield "MaxCut, 100 vertices", MaxCut(edges + edges.T)
    yield "LinearSDP, 30 rows", program(rng, False)
    yield "LinearSDP, 15 equalities", program(rng, True)
    for loss in ("square", "absolute", "huber", "logistic"):
        yield f"MEGRegression, {loss}", regression(loss, rng)
    yield "DefiniteBoost, 40 constraints", DefiniteBoost(symmetric(rng, 40, 20, 20), upper=0.3)
    yield "MinMaxSDP, 40 constraints", MinMaxSDP(symmetric(rng, 40, 20, 20))
    yield (
        "StateTomography, 4 qubits",
        StateTomography(all_settings(4), sample_counts(state, all_settings(4), 2000, rng)),
    )
    yield "FETR, 20 x 10", FETR(X, tasks)
    yield "FETR, 20 x 10, eta = 100", FETR(X, tasks, eta=100.0)
    yield "LogisticFETR, 20 x 10", LogisticFETR(X, np.where(tasks > 0, 1.0, -1.0))


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--limit", type=float, default=20.0)
    limit = arguments.parse_args().limit
    header(f"mmw with the routines of every problem, at most {limit:g} s each, seed 0")
    print("\n| problem | exponent, oracle | rounds to 1e-1 | to 1e-2 | seconds | certified gap | default | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for name, problem in problems(np.random.default_rng(0)):
        ml.solve(problem, "mmw", tol=0.5, max_iter=2)  # what is cached by the problem is not counted
        rough, fine = (ml.solve(problem, "mmw", tol=tol, time_limit=limit) for tol in (1e-1, 1e-2))
        best = ml.solve(problem, tol=1e-2, time_limit=limit)
        rounds = [str(s.iterations) if s.status in ("optimal", "stationary") else "-" for s in (rough, fine)]
        print(
            f"| {name} | {', '.join(problem.routines)} | {' | '.join(rounds)} | {fine.seconds:.3f} | {fine.gap:.1e} "
            f"| {best.method} | {best.seconds:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
