"""Regularised linear models beside the solvers that people have, at equal certified gap; and what their defaults leave.

    python benchmarks/erm/peers.py [--data FOLDER] [--cases landmine-logistic ...] [--repeats 5] [--engines]

FOLDER (by default that of the environment variable MATRIXLEARN_DATA) holds ``landmine/landmine.npz`` and
``sentiment/*.npz``; without them, random data of the same shapes are drawn. CPU seconds, one thread, medians of runs in
turn. Ours: construction of `ERM` and `solve`, method "auto", to the certified relative gap 1e-6. A peer runs at the
first of a ladder of tolerances at which its objective is within the same gap of our lower bound: it is not asked for a
bound of its own.
``--engines`` compares our own engines on the same problems.
"""

import argparse
import statistics
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from matrixlearn_erm import ERM

import matrixlearn as ml
from benchmarks._common import header
from benchmarks._data import DATA
from matrixlearn.certificate import relative_gap
from matrixlearn.penalties import ElasticNet

TOL = 1e-6
LADDER = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)


class Case(NamedTuple):
    """A problem and its peers: name -> (tolerance, or None for the default) -> weights."""

    make: object
    loss: str
    penalty: ElasticNet
    peers: tuple


def landmine(folder):
    if folder is None:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((14820, 9))
        y = np.where(X @ rng.standard_normal(9) + 2 * rng.standard_normal(14820) > 5, 1.0, -1.0)
    else:
        with np.load(folder / "landmine" / "landmine.npz") as data:
            X, y = data["X"], np.where(data["y"] > 0, 1.0, -1.0)
    X = (X - X.mean(0)) / X.std(0)
    return np.hstack([X, np.ones((len(X), 1))]), y


def sentiment(folder, domains=("books", "dvd", "electronics", "kitchen")):
    """Words that occur, rows of length 1."""
    if folder is None:
        rng = np.random.default_rng(0)
        X = sp.random(2000 * len(domains), 35846, density=0.0025, rng=rng, format="csr")
        y = np.where(X @ rng.standard_normal(35846) > 0, 1.0, -1.0)
    else:
        parts, labels = [], []
        for domain in domains:
            with np.load(folder / "sentiment" / f"{domain}.npz") as data:
                shape = tuple(data["shape"])
                parts.append(sp.csr_matrix((data["data"].astype(float), data["indices"], data["indptr"]), shape=shape))
                labels.append(data["label"].astype(float))
        X, y = sp.vstack(parts).tocsr(), np.concatenate(labels)
    X.data[:] = 1.0
    X.indices = X.indices.astype(np.int32)
    X.indptr = X.indptr.astype(np.int32)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.csr_matrix(sp.diags(1 / np.maximum(lengths, 1e-300)) @ X), y


def scikit_logistic(solver):
    def fit(A, b, penalty, tol):
        from sklearn.linear_model import LogisticRegression

        given = {} if tol is None else {"tol": tol, "max_iter": 1000 if solver == "saga" else 100_000}
        model = LogisticRegression(
            C=1 / (len(b) * penalty.ridge), solver=solver, fit_intercept=False, random_state=0, **given
        )
        return model.fit(A, b).coef_.ravel()

    return fit


def linear_svc(A, b, penalty, tol):
    from sklearn.svm import LinearSVC

    given = {} if tol is None else {"tol": tol, "max_iter": 100_000}
    C = 1 / (len(b) * penalty.ridge)
    model = LinearSVC(C=C, loss="hinge", dual=True, fit_intercept=False, random_state=0, **given)
    return model.fit(A, b).coef_.ravel()


def sgd(loss):
    def fit(A, b, penalty, tol):
        from sklearn.linear_model import SGDClassifier

        given = {} if tol is None else {"tol": tol, "max_iter": 1000}
        model = SGDClassifier(loss=loss, alpha=penalty.ridge, fit_intercept=False, random_state=0, **given)
        return model.fit(A, b).coef_.ravel()

    return fit


def cyanure(loss, penalty_name):
    def fit(A, b, penalty, tol):
        from cyanure.estimators import Classifier

        weight = penalty.ridge if penalty_name == "l2" else penalty.l1
        given = {} if tol is None else {"tol": tol, "max_iter": 5000}
        model = Classifier(
            loss=loss, penalty=penalty_name, lambda_1=weight, fit_intercept=False, n_threads=1, verbose=False, **given
        )
        A = A.copy() if sp.issparse(A) else np.asfortranarray(A)
        return np.asarray(model.fit(A, b).get_weights()).ravel()

    return fit


def skglm(A, b, penalty, tol):
    from skglm import SparseLogisticRegression

    given = {} if tol is None else {"tol": tol, "max_iter": 100}
    model = SparseLogisticRegression(alpha=penalty.l1, fit_intercept=False, **given)
    return model.fit(A.tocsc() if sp.issparse(A) else A, b).coef_.ravel()


LOGISTIC = (
    ("lbfgs", scikit_logistic("lbfgs")),
    ("liblinear", scikit_logistic("liblinear")),
    ("newton-cholesky", scikit_logistic("newton-cholesky")),
    ("newton-cg", scikit_logistic("newton-cg")),
    ("saga", scikit_logistic("saga")),
    ("cyanure", cyanure("logistic", "l2")),
    ("SGDClassifier", sgd("log_loss")),
)
SPARSE_LOGISTIC = tuple(peer for peer in LOGISTIC if peer[0] != "newton-cholesky")  # it would make a dense Hessian
HINGE = (("LinearSVC", linear_svc), ("SGDClassifier", sgd("hinge")))
LASSO = (("skglm", skglm), ("cyanure", cyanure("logistic", "l1")))
CASES = {
    "landmine-logistic": Case(landmine, "logistic", ElasticNet(1e-4), LOGISTIC),
    "landmine-hinge": Case(landmine, "hinge", ElasticNet(1e-4), HINGE),
    "landmine-hinge-1e-2": Case(landmine, "hinge", ElasticNet(1e-2), HINGE),
    "sentiment-logistic": Case(sentiment, "logistic", ElasticNet(1e-4), SPARSE_LOGISTIC),
    "sentiment-hinge": Case(sentiment, "hinge", ElasticNet(1e-4), HINGE),
    "kitchen-l1": Case(lambda folder: sentiment(folder, ("kitchen",)), "logistic", ElasticNet(l1=0.02), LASSO),
}


def seconds(work):
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def reached(problem, lower, x):
    """The gap of a peer's weights to our lower bound."""
    return relative_gap(lower, problem.bound_from_matrix(np.asarray(x, dtype=float)).upper, problem.gap_floor)


def rung(problem, lower, fit, A, b, penalty, limit=120.0):
    """The first tolerance of the ladder at which the peer is there, and the gap that it leaves."""
    best, spent = (None, np.inf), 0.0
    for tol in LADDER:
        took, x = seconds(lambda tol=tol: fit(A, b, penalty, tol))
        gap, spent = reached(problem, lower, x), spent + took
        if gap < best[1]:
            best = (tol, gap)
        if gap <= TOL or spent > limit:
            break
    return best


def compare(name, case, folder, repeats):
    A, b = case.make(folder)
    penalty = case.penalty
    if penalty.l1:  # a fraction of the least weight at which all weights are 0
        penalty = ElasticNet(l1=penalty.l1 * float(np.max(np.abs(A.T @ b))) / (2 * len(b)))
    problem = ERM(A, b, case.loss, penalty)
    lower = ml.solve(problem, tol=1e-9, time_limit=60).lower
    print(f"\n## {name}: {A.shape[0]} x {A.shape[1]}, {case.loss}, {penalty}")
    print(f"{'method':>18} {'median s':>9} {'range':>17} {'gap':>8} {'ratio':>7}   {'default gap':>11}")
    ours = lambda: ml.solve(ERM(A, b, case.loss, penalty), tol=TOL)
    runs = {"matrixlearn": (ours, None, ours().gap, np.nan)}
    for peer, fit in case.peers:
        default = reached(problem, lower, fit(A, b, penalty, None))
        tol, gap = rung(problem, lower, fit, A, b, penalty)
        runs[peer] = (lambda fit=fit, tol=tol: fit(A, b, penalty, tol), tol, gap, default)
    times = {peer: [] for peer in runs}
    for turn in range(repeats):
        for peer, (work, *_) in runs.items():
            if turn and times[peer][0] > 20:
                continue
            times[peer].append(seconds(work)[0])
    base = statistics.median(times["matrixlearn"])
    for peer, (_, tol, gap, default) in runs.items():
        middle, least, most = statistics.median(times[peer]), min(times[peer]), max(times[peer])
        missed = "" if gap <= TOL else "  (not reached)"
        print(
            f"{peer:>18} {middle:9.4f} {least:8.4f}-{most:8.4f} {gap:8.1e} {middle / base:7.2f}   {default:11.1e}"
            f"{'' if tol is None else f'  tol {tol:g}'}{missed}"
        )
    print(f"{'':>18} {ours().explain().splitlines()[0]}")


def engines(name, case, folder):
    A, b = case.make(folder)
    penalty = case.penalty
    if penalty.l1:
        penalty = ElasticNet(l1=penalty.l1 * float(np.max(np.abs(A.T @ b))) / (2 * len(b)))
    print(f"\n## {name}, our engines, 20 s each at the most")
    for method in ml.methods(ERM(A, b, case.loss, penalty)):
        if method != "reference":
            took, found = seconds(
                lambda method=method: ml.solve(ERM(A, b, case.loss, penalty), method=method, tol=TOL, time_limit=20)
            )
            print(f"{method:>18} {took:9.4f} s, gap {found.gap:.1e}, {found.iterations} iterations")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--engines", action="store_true")
    given = parser.parse_args()
    folder = given.data if (given.data / "landmine").exists() else None
    header("regularised linear models" + ("" if folder else ", random data"))
    warnings.simplefilter("ignore")
    for name in given.cases:
        if given.engines:
            engines(name, CASES[name], folder)
        else:
            compare(name, CASES[name], folder, given.repeats)


if __name__ == "__main__":
    main()
