"""The thesis's two adaptation tasks, the weights that minimize their discrepancy, and what a regression makes of them.

    h minimizes  sum_i z_i (y_i - h(x_i))^2 + lambda ||h||^2,    z uniform, or from `Discrepancy`, on the source

Hypotheses are linear in the features in which the discrepancy is measured, without an intercept: those of its
guarantee. lambda is in units of the mean square norm of the target, and the same for all models.
"""

import time
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import scipy.sparse as sp
from _common import thesis_samples
from _kept import RESULTS, Kept
from large import distinct, reviews, spread
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml

RIDGES = 10.0 ** np.arange(-5, 1.1, 0.5)

BOOKS, KITCHEN = 500, 200
"""Labelled reviews of the source and of the target."""

FEATURES = 3000

kept_weights, kept_errors = Kept(RESULTS / "weights.jsonl"), Kept(RESULTS / "errors.jsonl")


@dataclass(frozen=True)
class Task:
    """A labelled source (X, y); a target T, whose labels only one model sees; test points (E, y_E) of the target."""

    X: np.ndarray
    y: np.ndarray
    T: np.ndarray
    y_T: np.ndarray
    E: np.ndarray
    y_E: np.ndarray
    alike: np.ndarray
    """Which source points are of the target's own domain."""

    @cached_property
    def points(self):
        """All points in the coordinates of their span."""
        return Discrepancy(self.X, self.T).points

    def labelled_by(self, f):
        """The same points with other labels: f(y) for each of the three."""
        return replace(self, y=f(self.y), y_T=f(self.y_T), y_E=f(self.y_E))


def artificial(draw, n, m=100, N=200, test=500):
    """Section 6.1: f(x) = sum |x_i|; a constant feature stands for the intercept."""
    S, T = thesis_samples(m, n + test, N, seed=200 + draw)
    y, y_T = (np.abs(P).sum(axis=1) for P in (S, T))
    S, T = (np.column_stack([P, np.full(len(P), np.sqrt(N))]) for P in (S, T))
    return Task(S, y, T[:n], y_T[:n], T[n:], y_T[n:], np.zeros(m, dtype=bool))


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


def of_reviews(features, draw, n, label="stars"):
    """Section 6.2: 500 reviews of books and 200 of kitchen goods; n others of kitchen, and the rest as test."""
    rng = np.random.default_rng(draw)
    (B, stars_b), (K, stars_k) = domain("books"), domain("kitchen")
    if label == "smoothed stars":
        smooth = np.array(kept_errors([label], smoothed_stars))
        stars_b, stars_k = smooth[: len(stars_b)], smooth[len(stars_b) :]
    pick, order = rng.permutation(B.shape[0])[:BOOKS], rng.permutation(K.shape[0])
    labelled, target, test = order[:KITCHEN], order[KITCHEN : KITCHEN + n], order[1500:]
    m = BOOKS + KITCHEN
    P = features(sp.csr_array(sp.vstack([B[pick], K[labelled], K[target], K[test]])), m + n)
    y = np.concatenate([stars_b[pick], stars_k[labelled]])
    task = Task(P[:m], y, P[m : m + n], stars_k[target], P[m + n :], stars_k[test], np.arange(m) >= BOOKS)
    return task.labelled_by(lambda label: label - y.mean())


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


def weigh(task, cap):
    """The certified weights, with what they cost, as JSON holds it."""
    start = time.process_time()
    m = len(task.X)
    problem = Discrepancy(task.points[:m], task.points[m:], max_weight=cap)
    solution = ml.solve(problem, tol=1e-3)
    return {
        "weights": solution.y.tolist(),
        "upper": solution.upper,
        "lower": solution.lower,
        "uniform": problem.uniform_value(),
        "method": solution.method,
        "iterations": solution.iterations,
        "seconds": time.process_time() - start,
    }


def ridge(X, y, z, E):
    """Predictions for each ridge, (ridges, len(E)): weighted, by the Gram matrix."""
    root = np.sqrt(z)[:, None]
    w, V = np.linalg.eigh(root * (X @ X.T) * root.T)
    inside = V.T @ (root[:, 0] * y)
    across = (E @ X.T) * root[:, 0] @ V
    return np.stack([across @ (inside / (np.maximum(w, 0) + r)) for r in RIDGES])


def errors_of(task, weights):
    """RMSE on the test points for each ridge, {model: (ridges,)}; ``weights`` by name."""
    scale = np.sqrt(np.mean(np.sum(task.T**2, axis=1)))
    X, T, E = task.X / scale, task.T / scale, task.E / scale
    training = {name: (X[z > 0], task.y[z > 0], z[z > 0]) for name, z in weights.items()}
    training["trained on the target"] = T, task.y_T, np.full(len(T), 1 / len(T))
    return {
        name: np.sqrt(np.mean((ridge(*given, E) - task.y_E) ** 2, axis=1)).tolist() for name, given in training.items()
    }
