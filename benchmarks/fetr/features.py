"""Nonlinear FETR behind 2,000 random features on SARCOS: seconds an iteration, and what it predicts.

    python benchmarks/fetr/features.py [seeds]

Only the 4,449 rows of SARCOS's test file are at hand: each seed splits them 60 / 20 / 20 into training, validation and
test. Inputs and targets standardized on the training rows; gamma from 0.003 ... 0.03 and eta (or alpha) from 1e-4 ... 1
chosen by the mean nMSE on validation; features centred, no other intercept.
"""

import sys
import time

import numpy as np
from matrixlearn_fetr import FETR, Diagonalised, FewTasks, Moments, OrthogonalFeatures, Prior, WeightEquation
from sklearn.kernel_approximation import RBFSampler
from sklearn.kernel_ridge import KernelRidge

import matrixlearn as ml
from benchmarks._common import header
from benchmarks._data import DATA

SARCOS = DATA / "sarcos" / "sarcos_inv_test.npz"
GAMMAS = (0.003, 0.01, 0.03)
ETAS = (1e-4, 3e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 1e-1, 1.0)
BOUNDS = {"FETR": (1e-3, 1e3), "FETR, l = 0.5, u = 2": (0.5, 2.0)}
"""As published, and near ridge."""


def split(seed):
    data = np.load(SARCOS)
    X, Y = data["X"], data["Y"]
    order = np.random.default_rng(seed).permutation(len(X))
    rows = np.split(order, [int(0.6 * len(X)), int(0.8 * len(X))])
    X, Y = (A - A[rows[0]].mean(axis=0) for A in (X, Y))
    X, Y = (A / A[rows[0]].std(axis=0) for A in (X, Y))
    return [(X[i], Y[i]) for i in rows]


def nmse(prediction, Y):
    return float(np.mean(np.mean((prediction - Y) ** 2, axis=0) / Y.var(axis=0)))


def behind(features, train, valid, test):
    """Method -> (validation, test) nMSE behind features, for every eta; FETR warm from the last eta; and seconds."""
    Y, Z = train[1], features.fit_transform(train[0])
    mean = Z.mean(axis=0)
    V, T = features.transform(valid[0]) - mean, features.transform(test[0]) - mean
    moments = Moments.of_shared(Z - mean, Y)
    values, E = moments.spectrum
    scores, seconds = {}, []

    def note(name, W, eta):
        scores.setdefault(name, []).append((nmse(V @ W, valid[1]), nmse(T @ W, test[1]), eta))

    for eta in ETAS:
        note("ridge", E @ ((E.T @ moments.cross) / (values + eta)[:, None]), eta)
    for name, (lower, upper) in BOUNDS.items():
        last = None
        for eta in ETAS[::-1]:
            options = {"eta": eta, "lower": lower, "upper": upper}
            problem = FETR(gram=moments.gram, cross=moments.cross, square=moments.square, **options)
            problem.moments.__dict__["spectrum"] = moments.spectrum
            began = time.process_time()
            last = ml.solve(problem, tol=1e-4, max_iter=15, warm_start=last)
            seconds.append((time.process_time() - began) / (last.iterations + 1))
            note(name, last.matrix, eta)
    return scores, seconds


def accuracy(seeds):
    names = {
        "orthogonal": lambda gamma, seed: OrthogonalFeatures(1000, gamma=gamma, random_state=seed),
        "RBFSampler": lambda gamma, seed: RBFSampler(gamma=gamma, n_components=2000, random_state=seed),
    }
    results, seconds = {}, []
    for seed in range(seeds):
        train, valid, test = split(seed)
        every = {}
        W = np.linalg.lstsq(*train, rcond=None)[0]
        every["linear least squares"] = [(0.0, nmse(test[0] @ W, test[1]), 0.0)]
        for gamma in GAMMAS:
            for name, features in names.items():
                scores, took = behind(features(gamma, seed), train, valid, test)
                for method, found in scores.items():
                    every.setdefault(f"{method}; {name}", []).extend(found)
                seconds += took
            for alpha in ETAS:
                exact = KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma).fit(*train)
                score = nmse(exact.predict(valid[0]), valid[1]), nmse(exact.predict(test[0]), test[1]), alpha
                every.setdefault("kernel ridge, exact", []).append(score)
        for name, scores in every.items():
            results.setdefault(name, []).append(min(scores)[1:])
    print("\nmean nMSE on test, chosen on validation")
    for name, scores in results.items():
        errors = np.array([score for score, _ in scores])
        print(f"{name:34s} {errors.mean():.4f} ({errors.std():.4f})   eta {sorted({f'{e:g}' for _, e in scores})}")
    print(f"\nFETR, d = 2000, m = 7: {np.median(seconds):.3f} s of CPU an iteration, its certificate included (median)")


def steps():
    """One weight step of each solver for the same equation."""
    (X, Y), *_ = split(0)
    print("\nseconds of CPU for one weight step, m = 7 (the Gram matrix and its one decomposition apart)")
    for d in (500, 1000, 2000):
        Z = OrthogonalFeatures(d // 2, gamma=0.01, random_state=0).fit_transform(X)
        began = time.process_time()
        moments = Moments.of_shared(Z - Z.mean(axis=0), Y)
        gram = time.process_time() - began
        assert len(moments.spectrum[0]) == d
        once = time.process_time() - began - gram
        problem = FETR(gram=moments.gram, cross=moments.cross, square=moments.square, eta=1e-3)
        pair = problem.estimate(ml.solve(problem, max_iter=2)).precisions
        equation = WeightEquation(moments, Prior(pair.feature, pair.task, 1e-3))
        line, answers = "", []
        for solver in (FewTasks(), Diagonalised()):
            began = time.process_time()
            answers.append(solver(equation, moments.cross))
            line += f"   {solver.name} {time.process_time() - began:.3f}"
        difference = np.linalg.norm(answers[0] - answers[1]) / np.linalg.norm(answers[1])
        print(f"d = {d:4d}: Gram {gram:.2f}, decomposition {once:.2f}{line}   difference {difference:.1e}")


if __name__ == "__main__":
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    header(f"2,000 random features on SARCOS, {seeds} seeds")
    steps()
    accuracy(seeds)
