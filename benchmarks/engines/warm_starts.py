"""Warm starts: iterations from an earlier answer, beside those of cold starts, for what `auto` takes.

    python benchmarks/engines/warm_starts.py [--noise 1e-4] [--tol 1e-6] [--same 10] [--neighbours 20] [--only WORD ...]

Same: instances of ten seeds, from the answer at 1e-3 to tol; the column "after 1e-3" says what the cold runs took once
they were there. Neighbours: the data of seed 0 times 1 + noise, twenty times, from the answer of seed 0 at tol. A step
of `subspace` or `column-generation` is one of the interior point inside. "off" counts warm answers that are not
"optimal", or further from the cold ones than both gaps allow.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from matrixlearn_definiteboost import MinMaxSDP
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut
from matrixlearn_meg import MEGRegression

import matrixlearn as ml
from benchmarks._common import header
from matrixlearn.problems import Problem

ROUGH = 1e-3

Make = Callable[[int, float, np.random.Generator], Problem]
"""(seed of the data, noise, its generator) to a problem."""


def linear(n: int, m: int, sense: str) -> Make:
    """Dense symmetric rows that a positive definite X meets, and a bound on its trace."""

    def make(seed: int, e: float, noise: np.random.Generator) -> Problem:
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((m, n, n))
        A, X = A + A.swapaxes(1, 2), rng.standard_normal((n, n))
        X, C = X @ X.T / n + 0.1 * np.eye(n), rng.standard_normal((n, n))
        C = C + C.T + e * (N := noise.standard_normal((n, n))) + e * N.T
        b = np.append(np.einsum("jab,ab->j", A, X) + (0.1 if sense == "<=" else 0.0), 2 * np.trace(X))
        A, b = np.concatenate([A, np.eye(n)[None]]), b * (1 + e * noise.standard_normal(m + 1))
        return ml.LinearSDP.with_senses(C, A, b, [sense] * m + ["<="])

    return make


def discrepancy(source: int, target: int, n: int, cap: float | None = None) -> Make:
    """Samples of two Gaussians."""

    def make(seed: int, e: float, noise: np.random.Generator) -> Problem:
        rng = np.random.default_rng(seed)
        x, z = rng.normal(0.0, 1.0, (source, n)), rng.normal(0.3, 0.8, (target, n))
        return Discrepancy(x + e * noise.standard_normal(x.shape), z, max_weight=cap)

    return make


def maxcut(n: int, density: float) -> Make:
    """A random graph; the noise is that of its weights."""

    def make(seed: int, e: float, noise: np.random.Generator) -> Problem:
        W = np.triu(np.random.default_rng(seed).random((n, n)) < density, 1) * (1 + e * noise.random((n, n)))
        return MaxCut(W + W.T)

    return make


def minmax(m: int, n: int) -> Make:
    """Random constraints."""

    def make(seed: int, e: float, noise: np.random.Generator) -> Problem:
        A = np.random.default_rng(seed).standard_normal((m, n, n))
        return MinMaxSDP(A + e * noise.standard_normal(A.shape))

    return make


def regression(T: int, d: int, loss: str) -> Make:
    """Symmetric instances of a density matrix, and a tenth of noise."""

    def make(seed: int, e: float, noise: np.random.Generator) -> Problem:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((T, d, d))
        X, W = X + X.swapaxes(1, 2), np.diag(np.arange(1.0, d + 1)) / (d * (d + 1) / 2)
        y = np.einsum("tab,ab->t", X, W) + 0.1 * rng.standard_normal(T)
        return MEGRegression(X, y * (1 + e * noise.standard_normal(T)), loss=loss)

    return make


CASES: tuple[tuple[str, str, Make], ...] = (
    ("LinearSDP <=, 12, 15 rows", "interior-point", linear(12, 15, "<=")),
    ("LinearSDP <=, 40, 60 rows", "interior-point", linear(40, 60, "<=")),
    ("LinearSDP ==, 12, 15 rows", "interior-point", linear(12, 15, "==")),
    ("LinearSDP ==, 40, 60 rows", "interior-point", linear(40, 60, "==")),
    ("Discrepancy 60 x 10", "interior-point", discrepancy(60, 40, 10)),
    ("Discrepancy 200 x 40", "interior-point", discrepancy(200, 150, 40)),
    ("Discrepancy 60 x 10, capped", "interior-point", discrepancy(60, 40, 10, 2.0)),
    ("Discrepancy 60 x 10", "subspace", discrepancy(60, 40, 10)),
    ("Discrepancy 200 x 40", "subspace", discrepancy(200, 150, 40)),
    ("Discrepancy 500 x 10", "column-generation", discrepancy(500, 100, 10)),
    ("MaxCut 40", "interior-point", maxcut(40, 0.2)),
    ("MaxCut 90", "interior-point", maxcut(90, 0.1)),
    ("MaxCut 150", "low-rank", maxcut(150, 0.2)),
    ("MaxCut 600", "low-rank", maxcut(600, 0.05)),
    ("MinMaxSDP 20, 8", "interior-point", minmax(20, 8)),
    ("MinMaxSDP 60, 30", "interior-point", minmax(60, 30)),
    ("MEG square, 60 x 6", "newton", regression(60, 6, "square")),
    ("MEG absolute, 60 x 6", "newton", regression(60, 6, "absolute")),
    ("MEG absolute, 200 x 15", "newton", regression(200, 15, "absolute")),
)


@dataclass
class Tally:
    """Iterations over some instances."""

    cold: int = 0
    warm: int = 0
    after: int = 0
    """Of the cold ones, those after the first check at `ROUGH`."""
    off: int = 0

    def add(self, problem: Problem, method: str, tol: float, start: ml.Solution) -> None:
        """Solve a problem from both starts."""
        cold, warm = (ml.solve(problem, method, tol=tol, warm_start=at) for at in (None, start))
        self.cold, self.warm = self.cold + cold.iterations, self.warm + warm.iterations
        rough = next((event.iteration for event in cold.history if event.gap <= ROUGH), cold.iterations)
        self.after += cold.iterations - rough
        size = max(abs(cold.value), cold.certificate.size, problem.gap_floor)
        self.off += warm.status != "optimal" or abs(warm.value - cold.value) > 2 * tol * size

    def __str__(self) -> str:
        return f"{self.cold:7d}{self.warm:7d}{self.warm / self.cold:7.0%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--noise", type=float, default=1e-4)
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--same", type=int, default=10)
    parser.add_argument("--neighbours", type=int, default=20)
    parser.add_argument("--only", nargs="+", default=[""], help="words of a problem or an engine")
    given = parser.parse_args()
    header(f"Warm starts: {given.same} problems from {ROUGH:g} to {given.tol:g}, {given.neighbours} neighbours")
    print(
        f"{'':46}{'same: cold':>11}{'warm':>7}{'':>7}{'after 1e-3':>12}{'neighbours: cold':>18}{'warm':>7}{'off':>12}"
    )
    for name, method, make in CASES:
        if not any(word in f"{name}, {method}" for word in given.only):
            continue
        same, near = Tally(), Tally()
        for seed in range(given.same):
            problem = make(seed, 0.0, np.random.default_rng(0))
            same.add(problem, method, given.tol, ml.solve(problem, method, tol=ROUGH))
        start = ml.solve(make(0, 0.0, np.random.default_rng(0)), method, tol=given.tol)
        for seed in range(given.neighbours):
            near.add(make(0, given.noise, np.random.default_rng(1000 + seed)), method, given.tol, start)
        after = f"{same.after / same.cold:11.0%}"
        print(f"{name:28}{method:18}   {same!s} {after}{'':10}{near!s}{same.off + near.off:5d}", flush=True)


if __name__ == "__main__":
    main()
