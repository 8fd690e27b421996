"""Metrics from pairs: DefiniteBoost, MEG's LogDet update and metric-learn's ITML, on the same pairs and folds.

metric-learn 0.7 needs scikit-learn < 1.8, so its own environment:

    python3 -m venv .venv-itml
    .venv-itml/bin/pip install metric-learn==0.7.0 "scikit-learn<1.8" -e ".[sklearn]"
    .venv-itml/bin/python benchmarks/definiteboost/itml.py [repeats, 5 by default]

Stratified 5-fold cross-validation, ``repeats`` times (seeds 0, 1, ...). Every learner sees the training fold
standardized, and the same 400 pairs of it, half of them of one class. Then 3-nearest-neighbour accuracy on the test
fold, and process seconds of the fit alone. Nothing is tuned for any of them, but for the row that says so: there the
price of a violation is chosen by 3-fold cross-validation within the training fold, and the seconds are those of all.
"""

import sys
import time
import warnings

from benchmarks._common import header  # first: it sets one BLAS thread
from benchmarks._data import DATA

# isort: split
import numpy as np
from matrixlearn_definiteboost import DefiniteBoostKernel
from matrixlearn_meg import DivergenceWarning, LowRank, MEGLearner
from metric_learn import ITML
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler


def webcam():
    """295 images of 10 kinds of things, SURF bags of words; rows sum to one, 40 principal components."""
    with np.load(DATA / "office_caltech_surf" / "webcam.npz", allow_pickle=False) as data:
        X, y = data["X"].astype(float), data["y"]
    return PCA(40, random_state=0).fit_transform(X / X.sum(axis=1, keepdims=True)), y


def jura():
    """359 places of the Swiss Jura: the rock from seven metals (their logarithms)."""
    parts = [
        np.genfromtxt(DATA / "jura" / f"jura_{part}.csv.gz", delimiter=",", names=True, dtype=None, encoding="utf8")
        for part in ("pred", "val")
    ]
    table = np.concatenate(parts)
    X = np.log(np.column_stack([table[metal] for metal in ("Cd", "Co", "Cr", "Cu", "Ni", "Pb", "Zn")]))
    rock = np.unique(table["Rock"], return_inverse=True)[1]
    common = np.isin(rock, np.flatnonzero(np.bincount(rock) >= 10))  # one kind occurs six times
    return X[common], rock[common]


SETS = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "jura": jura,
    "webcam": webcam,
}


def pairs_of(X, y, rng, wanted=200):
    """``wanted`` of one class and as many of two, each of two different points."""
    kinds = {1: [], -1: []}
    while min(map(len, kinds.values())) < wanted:
        a, b = (int(i) for i in rng.choice(len(y), 2, replace=False))
        if np.array_equal(X[a], X[b]):  # iris lists one flower twice
            continue
        kinds[1 if y[a] == y[b] else -1].append((a, b))
    pairs = np.array(kinds[1][:wanted] + kinds[-1][:wanted])
    order = rng.permutation(len(pairs))
    return pairs[order], np.repeat([1, -1], wanted)[order]


# -- learners: (X, pairs, signs) -> L with M = L^T L ------------------------------------------------


def euclidean(X, pairs, signs, y):
    return np.eye(X.shape[1])


def itml(X, pairs, signs, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own note that it did not converge
        return ITML(random_state=0).fit(X[pairs], signs).components_


def definiteboost(X, pairs, signs, y, **settings):
    return DefiniteBoostKernel(tol=1e-2, time_limit=10.0, **settings).fit(X[pairs], signs).components_


def definiteboost_tuned(X, pairs, signs, y):
    """slack among three, by 3-fold nearest-neighbour accuracy within the training points."""

    def score(slack):
        L = definiteboost(X, pairs, signs, y, slack=slack)  # pairs reach across these folds, as they do for all
        return np.mean([accuracy(X[a] @ L.T, y[a], X[b] @ L.T, y[b]) for a, b in StratifiedKFold(3).split(X, y)])

    return definiteboost(X, pairs, signs, y, slack=max((0.01, 0.1, 1.0), key=score))


def logdet_online(X, pairs, signs, y):
    """LogDet in one pass over the pairs (Jain et al., 2008): a pair on the wrong side of its bound is a round.

    W_1 = I in units of the mean distance, eta = 1 (implicit steps stay in the cone), and the bounds that ITML takes:
    percentiles 5 and 95 of the distances of the pairs.
    """
    u = X[pairs[:, 0]] - X[pairs[:, 1]]
    unit = float(np.mean(np.sum(u**2, axis=1)))
    u = u / np.sqrt(unit)
    near, far = np.percentile(np.sum(u**2, axis=1), (5, 95))
    learner = MEGLearner(X.shape[1], 1.0, update="logdet", W1=np.eye(X.shape[1]))
    warnings.simplefilter("ignore", DivergenceWarning)  # only pairs on the wrong side are rounds: losses must be large
    for v, sign in zip(u, signs, strict=True):
        squared = float(v @ learner.W @ v)
        if squared > near if sign > 0 else squared < far:
            learner.learn([(LowRank(v), near if sign > 0 else far)])
    return np.linalg.cholesky(learner.W).T


LEARNERS = {
    "Euclidean, standardized": euclidean,
    "ITML": itml,
    "DefiniteBoostKernel": definiteboost,
    "  slack chosen in the fold": definiteboost_tuned,
    "MEGLearner, LogDet, 1 pass": logdet_online,
}


def accuracy(X, y, X_test, y_test):
    return float(np.mean(KNeighborsClassifier(3).fit(X, y).predict(X_test) == y_test))


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    header(f"metrics from pairs, 3-NN accuracy in {repeats} times 5 folds (mean, sd of the repeats), seconds of a fit")
    for name, load in SETS.items():
        X, y = load()
        print(f"\n{name}: {len(X)} points, {X.shape[1]} features, {len(np.unique(y))} classes")
        scores = {learner: np.zeros((repeats, 5)) for learner in ("Euclidean, raw", *LEARNERS)}
        seconds = {learner: [] for learner in scores}
        for seed in range(repeats):
            folds = StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y)
            for fold, (train, test) in enumerate(folds):
                scores["Euclidean, raw"][seed, fold] = accuracy(X[train], y[train], X[test], y[test])
                scaler = StandardScaler().fit(X[train])
                A, B = scaler.transform(X[train]), scaler.transform(X[test])
                pairs, signs = pairs_of(A, y[train], np.random.default_rng([seed, fold]))
                for learner, fit in LEARNERS.items():
                    began = time.process_time()
                    L = fit(A, pairs, signs, y[train])
                    seconds[learner].append(time.process_time() - began)
                    scores[learner][seed, fold] = accuracy(A @ L.T, y[train], B @ L.T, y[test])
        for learner, table in scores.items():
            took = f"{np.median(seconds[learner]):8.3f} s" if seconds[learner] else ""
            means = table.mean(axis=1)
            print(f"  {learner:<28} {means.mean():.3f} +- {means.std():.3f} {took}")


if __name__ == "__main__":
    main()
