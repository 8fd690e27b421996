"""Logistic FETR: the weight step beside scipy's L-BFGS, and landmines (29 tasks) beside pooled and separate models.

python benchmarks/fetr/logistic.py
"""

import time

import numpy as np
from matrixlearn_fetr import LogisticFETR, LogisticLoss, OwnRows, Prior, SharedRows
from matrixlearn_fetr.covariance import joint_precisions
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import matrixlearn as ml
from benchmarks._common import header
from benchmarks._data import DATA
from matrixlearn.multitask import SpectralPrecision

LANDMINE = DATA / "landmine" / "landmine.npz"
ETAS = 10.0 ** np.arange(-2, 3)


def weight_step(name, rows, signs):
    """To a certified gap of 1e-9 of the loss at 0, from the ridge solution, under the best precisions for that."""
    (d, m), loss = rows.shape, LogisticLoss(rows, signs)
    one = SpectralPrecision.identity
    ridge = loss.step(np.zeros((d, m)), Prior(one(d), one(m), 1.0))[0]
    pair = joint_precisions(ridge, 1e-3, 1e3)
    prior = Prior(pair.feature, pair.task, 1.0)
    W, at_most, began = ridge, np.inf, time.process_time()
    while at_most > 1e-9 * loss.size:
        D, _, at_most = loss.step(W, prior)
        W = W + D
    ours = time.process_time() - began
    total = lambda V: loss.value(V) + float(np.vdot(V, prior.apply(V)))

    def objective(v):
        V = v.reshape(d, m)
        return total(V), -2 * (loss.residual(V) - prior.apply(V)).reshape(-1)

    began = time.process_time()
    options = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-8}
    peer = minimize(objective, ridge.reshape(-1), jac=True, method="L-BFGS-B", options=options)
    theirs = time.process_time() - began
    above = max(0.0, peer.fun - total(W)) / loss.size
    print(f"{name:28s} d {d:4d} m {m:4d}   Newton {ours:6.2f} s, gap 1e-9   L-BFGS {theirs:6.2f} s, {above:.0e} above")


def synthetic():
    rng = np.random.default_rng(0)
    for n, d, m in ((4000, 40, 7), (4000, 200, 20)):
        X = rng.standard_normal((n, d))
        margin = X @ rng.standard_normal((d, 2)) @ rng.standard_normal((2, m)) + 3 * rng.standard_normal((n, m))
        weight_step(f"shared, n = {n}", SharedRows(X, m), np.where(margin > 0, 1.0, -1.0))
    for n, d, m in ((15_000, 28, 139), (100_000, 28, 2000)):
        X, code = rng.standard_normal((n, d)), rng.choice(m, n, p=rng.dirichlet(np.full(m, 3.0)))
        W = rng.standard_normal((d, 2)) @ rng.standard_normal((2, m)) + rng.standard_normal((d, 1))
        margin = np.sum(X * W.T[code], axis=1) + 3 * rng.standard_normal(n)
        weight_step(f"own rows, n = {n}", OwnRows(X, code, m), np.where(margin > 0, 1.0, -1.0))


def logistic(Z, y, eta):
    """Weights of sum log(1 + exp(-y w . x)) + eta ||w||^2."""
    return LogisticRegression(C=1 / (2 * eta), fit_intercept=False, max_iter=2000).fit(Z, y).coef_[0]


def separate(Z, y, task, eta):
    return np.stack([logistic(Z[task == t], y[task == t], eta) for t in np.unique(task)], axis=1)


def pooled(Z, y, task, eta):
    return np.repeat(logistic(Z, y, eta)[:, None], len(np.unique(task)), axis=1)


def fetr(mean, lower, upper):
    def fit(Z, y, task, eta):
        order = np.argsort(task, kind="stable")  # tasks in the order of their labels
        problem = LogisticFETR(Z[order], y[order], eta, lower, upper, mean, task[order])
        return problem.estimate(ml.solve(problem, tol=1e-6, max_iter=200)).weights

    return fit


METHODS = {"pooled": pooled, "one for each task": separate} | {
    f"FETR, mean {mean}, l = {lower:g}, u = {upper:g}": fetr(mean, lower, upper)
    for mean in ("zero", "shared")
    for lower, upper in ((1e-3, 1e3), (0.1, 10.0))
}


def thirds(y, task, rng):
    """Of every task and class 50 % for test (0), 40 % for training (1), 10 % for validation (2)."""
    part = np.zeros(len(y), dtype=int)
    for t in np.unique(task):
        for label in (0, 1):
            rows = rng.permutation(np.flatnonzero((task == t) & (y == label)))
            part[rows[: len(rows) // 2]] = 1
            part[rows[: len(rows) // 10]] = 2
    return part


def landmines(seeds=5):
    """eta (1 / 2C for scikit-learn) from 0.01 ... 100 by the mean AUC on validation."""
    data = np.load(LANDMINE)
    X, y, task = data["X"].astype(float), data["y"].ravel(), data["task"].ravel()
    code = np.unique(task, return_inverse=True)[1]
    scores = {}

    def auc(W, Z, rows):
        p = np.sum(Z * W.T[code], axis=1)
        parts = [rows & (code == i) for i in range(W.shape[1])]
        return np.mean([roc_auc_score(y[i], p[i]) for i in parts if len(np.unique(y[i])) == 2])

    for seed in range(seeds):
        part = thirds(y, task, np.random.default_rng(seed))
        train = part == 1
        Z = np.column_stack([(X - X[train].mean(axis=0)) / X[train].std(axis=0), np.ones(len(X))])
        for name, method in METHODS.items():
            fitted = [method(Z[train], y[train], task[train], eta) for eta in ETAS]
            best = np.argmax([auc(W, Z, part == 2) for W in fitted])
            scores.setdefault(name, []).append((auc(fitted[best], Z, part == 0), ETAS[best]))
    print(f"\nlandmines: mean AUC over 29 tasks, half of the rows, mean (sd) over {seeds} random splits")
    for name, values in scores.items():
        aucs, etas = np.array(values).T
        print(f"{name:38s} {aucs.mean():.4f} ({aucs.std():.4f})   eta {sorted({f'{e:g}' for e in etas})}")


if __name__ == "__main__":
    header("Logistic FETR")
    synthetic()
    landmines()
