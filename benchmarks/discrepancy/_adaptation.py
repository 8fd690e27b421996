"""The thesis's two adaptation tasks, the weights that minimize their discrepancy, and what a regression makes of them.

    h minimizes  sum_i z_i (y_i - h(x_i))^2 + lambda ||h||^2,    z uniform, or from `Discrepancy`, on the source

Hypotheses are linear in the features in which the discrepancy is measured, without an intercept: those of its
guarantee. lambda is in units of the mean square norm of the target, and the same for all models.
"""

import time
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
import scipy.sparse as sp
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from benchmarks._common import thesis_samples
from benchmarks._kept import RESULTS, Kept
from benchmarks.engines.large import distinct, reviews, spread

RIDGES = 10.0 ** np.arange(-5, 1.1, 0.5)

BOOKS, KITCHEN = 500, 200
"""Labelled reviews of the source and of the target."""

FEATURES = 3000

kept_weights, kept_errors = Kept(RESULTS / "weights.jsonl"), Kept(RESULTS / "errors.jsonl")


@dataclass(frozen=True)
class Task:
    """A labelled source (X, Y); a target T, whose labels only one model sees; test points (E, Y_E) of the target.

    Labels have a column for each of the tasks that share the points.
    """

    X: np.ndarray
    Y: np.ndarray
    T: np.ndarray
    Y_T: np.ndarray
    E: np.ndarray
    Y_E: np.ndarray
    own: dict[str, np.ndarray] = field(default_factory=dict)
    """Weights of models that use a part of the source only, by name."""

    @cached_property
    def uncapped(self):
        return Discrepancy(self.X, self.T)

    def discrepancy(self, cap):
        """The same points, decomposed once, with another cap."""
        return self.uncapped.with_max_weight(cap)


def artificial(draw, n, m=100, N=200, test=500):
    """Section 6.1: f(x) = sum |x_i|; a constant feature stands for the intercept."""
    S, T = thesis_samples(m, n + test, N, seed=200 + draw)
    Y, Y_T = (np.abs(P).sum(axis=1, keepdims=True) for P in (S, T))
    S, T = (np.column_stack([P, np.full(len(P), np.sqrt(N))]) for P in (S, T))
    return Task(S, Y, T[:n], Y_T[:n], T[n:], Y_T[n:])


@lru_cache
def domain(name):
    """(counts of the most common features, star ratings), without repeats."""
    X, stars = reviews(name)
    rows = distinct(X)
    return X[rows][:, :FEATURES], stars[rows]


def standardised(P, seen):
    """Mean 0 and variance 1 over the first ``seen`` rows, as in the thesis."""
    mean, std = spread(P[:seen])
    return (P.toarray() - mean) / std


def unit_length(P, seen):
    """log(1 + count), each review of length 1: K(x, x) = 1, the radius of the guarantee."""
    P = sp.csr_array(P, copy=True)
    P.data = np.log1p(P.data)
    return P.toarray() / np.sqrt(P.multiply(P).sum(axis=1))[:, None]


def of_reviews(features, draw, n):
    """Section 6.2: 500 reviews of books and 200 of kitchen goods; n others of kitchen, and the rest as test.

    Labels: the stars, and the smoothed stars, less their mean on the source.
    """
    rng = np.random.default_rng(draw)
    (B, stars_b), (K, stars_k) = domain("books"), domain("kitchen")
    smooth = np.array(kept_errors(["smoothed stars"], smoothed_stars))
    Y_B, Y_K = np.split(np.column_stack([np.concatenate([stars_b, stars_k]), smooth]), [len(stars_b)])
    pick, order = rng.permutation(B.shape[0])[:BOOKS], rng.permutation(K.shape[0])
    labelled, target, test = order[:KITCHEN], order[KITCHEN : KITCHEN + n], order[1500:]
    m = BOOKS + KITCHEN
    P = features(sp.csr_array(sp.vstack([B[pick], K[labelled], K[target], K[test]])), m + n)
    Y = np.concatenate([Y_B[pick], Y_K[labelled]])
    mean = Y.mean(axis=0)
    alone = {"kitchen labels alone": np.repeat([0.0, 1 / KITCHEN], [BOOKS, KITCHEN])}
    return Task(P[:m], Y - mean, P[m : m + n], Y_K[target] - mean, P[m + n :], Y_K[test] - mean, alone)


def smoothed_stars():
    """The thesis's continuous labels: stars fitted by Gaussian kernel regression, on all reviews of both domains.

    Of width sqrt(N); the ridge by leave-one-out.
    """
    (B, stars_b), (K, stars_k) = domain("books"), domain("kitchen")
    P = standardised(sp.csr_array(sp.vstack([B, K])), B.shape[0] + K.shape[0])
    stars = np.concatenate([stars_b, stars_k])
    squares = np.sum(P * P, axis=1)
    gram = np.exp(-np.maximum(squares + squares[:, None] - 2 * P @ P.T, 0) / (2 * FEATURES))
    w, V = np.linalg.eigh(gram)
    coefficients = V.T @ (stars - stars.mean())
    fits, errors = [], []
    for r in 10.0 ** np.arange(-3, 3.1, 0.5):
        damping = w / (w + r)
        fits.append(stars.mean() + V @ (damping * coefficients))
        errors.append(np.mean(((stars - fits[-1]) / (1 - (V * V) @ damping)) ** 2))
    best = int(np.argmin(errors))
    print(
        f"smoothed stars: leave-one-out RMSE {np.sqrt(errors[best]):.3f} (stars alone {stars.std():.3f}), "
        f"standard deviation {fits[best].std():.3f}, R2 of the fit {1 - np.var(stars - fits[best]) / np.var(stars):.2f}"
    )
    return fits[best].tolist()


def weigh(task, cap=None, method="auto", tol=1e-3, **options):
    """The certified weights, with what they cost, as JSON holds it."""
    problem = task.discrepancy(cap)
    start = time.process_time()
    solution = ml.solve(problem, method, tol=tol, **options)
    return {
        "weights": solution.y.tolist(),
        "upper": solution.upper,
        "lower": solution.lower,
        "uniform": problem.uniform_value(),
        "method": solution.method,
        "iterations": solution.iterations,
        "seconds": time.process_time() - start,
    }


def ridge(gram, Y, z, across):
    """Predictions, (ridges, test points, labels); ``across`` holds the inner products with the test points."""
    used = z > 0
    root = np.sqrt(z[used])[:, None]
    w, V = np.linalg.eigh(root * gram[np.ix_(used, used)] * root.T)
    inside = V.T @ (root * Y[used])
    rotated = across[:, used] * root.T @ V
    return np.stack([rotated @ (inside / (np.maximum(w, 0) + r)[:, None]) for r in RIDGES])


def errors_of(task, weights):
    """RMSE on the test points, {model: (labels, ridges)}; ``weights`` on the source by name."""
    scale = np.mean(np.sum(task.T**2, axis=1))
    m, n = len(task.X), len(task.T)
    weights = {"uniform": np.full(m, 1 / m), **weights, **task.own}
    source = task.X @ task.X.T / scale, task.E @ task.X.T / scale
    fits = {name: ridge(source[0], task.Y, z, source[1]) for name, z in weights.items()}
    fits["trained on the target"] = ridge(
        task.T @ task.T.T / scale, task.Y_T, np.full(n, 1 / n), task.E @ task.T.T / scale
    )
    return {name: np.sqrt(np.mean((fit - task.Y_E) ** 2, axis=1)).T.tolist() for name, fit in fits.items()}
