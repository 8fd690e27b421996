"""The weight step of FETR, Section 6.1: n = 10^4 instances uniform on [0, 1]^d, d and m growing, l = 0.01, u = 100.

    python benchmarks/fetr/weights.py [repetitions]

CPU seconds for X^T X W + eta S1 W S2 = X^T Y with random precisions S1 and S2 (eigenvalues log-uniform on [l, u],
known by their eigendecompositions, as the covariance step leaves them), moments given; the median of 3 repetitions, all
solvers one after the other in each. "dense" is `solve_weights`, from S1 and S2 as matrices, factorizations included.
"joint" is the step that the engine takes: the one-sided equation X^T X W + eta W T2 = X^T Y, with T2 = S2 here, in the
eigenbasis of X^T X, which is computed once for all steps and not counted.
The residual is relative to X^T Y. Closed form up to d m = 3,000 and gradient descent up to d = 100 only.
"""

import sys
import time

import numpy as np
from matrixlearn_fetr import (
    BartelsStewart,
    Diagonalised,
    GradientDescent,
    Kronecker,
    Moments,
    Prior,
    SpectralPrecision,
    Tridiagonalised,
    WeightEquation,
    solve_weights,
)

from benchmarks._common import header

SIZES = ((10, 10), (50, 20), (100, 30), (100, 100), (200, 100), (300, 150), (600, 300), (1000, 500))
LOW, HIGH, ETA, N = 0.01, 100.0, 1.0, 10_000


def precision(rng, n):
    values = np.exp(rng.uniform(np.log(LOW), np.log(HIGH), n))
    return SpectralPrecision(HIGH, values, np.linalg.qr(rng.standard_normal((n, n)))[0])


def from_matrices(equation, R):
    """Ours, where S1 and S2 come as matrices."""
    return solve_weights(equation.moments.gram, *matrices[id(equation)], R, ETA)


def one_sided(equation, R):
    """The joint engine's step."""
    identity = SpectralPrecision.identity(equation.prior.feature.n)
    return Diagonalised()(WeightEquation(equation.moments, Prior(identity, equation.prior.task, ETA)), R)


matrices = {}


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    header("FETR's weight step: CPU seconds (residual)")
    solvers = {
        "closed form": (Kronecker(), lambda d, m: d * m <= 3000),
        "gradient": (GradientDescent(tol=1e-8, max_iter=20_000), lambda d, m: d <= 100),
        "Bartels-Stewart": (BartelsStewart(), lambda d, m: True),
        "ours, dense": (from_matrices, lambda d, m: True),
        "eigenvectors": (Diagonalised(), lambda d, m: True),
        "ours": (Tridiagonalised(), lambda d, m: True),
        "joint": (one_sided, lambda d, m: True),
    }
    print(f"{'d':>5} {'m':>4}" + "".join(f"{name:>18}" for name in solvers) + "   Bartels-Stewart / dense, ours, joint")
    for d, m in SIZES:
        seconds = {name: [] for name in solvers}
        residual = {}
        for repetition in range(repetitions):
            rng = np.random.default_rng([d, m, repetition])
            X = rng.uniform(0, 1, (N, d))
            moments = Moments.of_shared(X, X @ rng.standard_normal((d, m)) + rng.standard_normal((N, m)))
            equation = WeightEquation(moments, Prior(precision(rng, d), precision(rng, m), ETA))
            moments.spectrum  # noqa: B018 - once for all steps
            matrices[id(equation)] = equation.prior.feature.dense(), equation.prior.task.dense()
            for name, (solver, suits) in solvers.items():
                if not suits(d, m):
                    continue
                began = time.process_time()
                W = solver(equation, moments.cross)
                seconds[name].append(time.process_time() - began)
                off = np.linalg.norm(moments.cross - equation.apply(W)) / np.linalg.norm(moments.cross)
                if name == "joint":
                    off = np.linalg.norm(moments.cross - moments.apply(W) - ETA * W @ equation.prior.task)
                    off /= np.linalg.norm(moments.cross)
                residual[name] = max(off, residual.get(name, 0.0))
        at = {name: np.median(values) for name, values in seconds.items() if values}
        cells = [f"{at[n]:.4f} ({residual[n]:.0e})" if n in at else "-" for n in solvers]
        ratios = [at["Bartels-Stewart"] / at[name] for name in ("ours, dense", "ours", "joint")]
        print(f"{d:5} {m:4}" + "".join(f"{c:>18}" for c in cells), "".join(f"{r:8.1f}" for r in ratios), flush=True)


if __name__ == "__main__":
    main()
