"""Related tasks without a map, and counties with one: errors beside the first baselines and beside FETR.

    python benchmarks/network/no_map.py [school|parkinsons|chickenpox|sentiment] [--draws 5] [--data FOLDER]

All choose their parameters on validation rows that are the same for all; errors are those of the test rows.

school      exam scores of 139 schools from 21 features of a pupil; 10 or 25 pupils of each learn, as many validate.
            Graph: the 4 schools nearest in free meals, verbal reasoning, gender and denomination
parkinsons  motor and total UPDRS of 42 patients from 16 measures of the voice and the time: 84 tasks; 10 or 30
            recordings of each learn, as many validate. Graph: the targets of a patient, and the patients of a target
chickenpox  next week's cases in 20 Hungarian counties from the last four weeks; 52 or 200 of the first 300 weeks
            learn, 100 validate, weeks 310 on test. Graph: the map of the counties, as given
sentiment   positive or negative reviews of 4 kinds of goods from the 300 commonest words, logistic; 100 or 400 of
            each learn, as many validate. Graph: books with films, electronics with kitchenware
"""

import itertools
import warnings

import numpy as np
import scipy.sparse as sp
from matrixlearn_fetr import FETRClassifier, FETRRegressor
from matrixlearn_network import Graph, complete, neighbours
from sklearn.exceptions import ConvergenceWarning

from benchmarks.fetr._tables import school, table
from benchmarks.network._tables import report, run_named
from benchmarks.network.learning import choose

FETR_ETAS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


def beside_fetr(data, graphs, error, loss="square"):
    """`choose`, and FETR around a shared mean or 0; the last feature is 1, in whose place FETR has intercepts."""
    X, y, task = data
    fetr, found = FETRRegressor if loss == "square" else FETRClassifier, []
    for eta, mean in itertools.product(FETR_ETAS, ("shared", "zero")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = fetr(eta=eta, mean=mean, tol=1e-4, max_iter=200).fit(X[:, :-1], y, task)
        W = np.vstack([np.reshape(model.coef_, (-1, X.shape[1] - 1)).T, np.reshape(model.intercept_, -1)])
        found.append((*error(W), eta, np.nan))
    return choose(data, graphs, error, loss=loss) | {"FETR": min(found)}


def dealt(task, learn, rng):
    """For each row 0 to learn, 1 to validate, 2 to test: the same numbers of each task."""
    part = np.full(len(task), 2)
    for k in np.unique(task):
        rows = rng.permutation(np.flatnonzero(task == k))
        part[rows[:learn]], part[rows[learn : 2 * learn]] = 0, 1
    return part


def by_rows(title, data, graphs, sizes, draws, deviation, loss="square"):
    """The table of one set of rows with tasks; errors are over the variance within tasks, or shares of wrong signs."""
    X, y, task = data
    for learn in sizes:
        rows = []
        for seed in range(draws):
            part = dealt(task, learn, np.random.default_rng(seed))

            def error(W, part=part):
                p = np.einsum("nd,dn->n", X, W[:, task])
                off = (p - y) ** 2 / deviation**2 if loss == "square" else p * y <= 0
                return tuple(np.mean([np.mean(off[(part == which) & (task == k)]) for k in range(W.shape[1])])
                             for which in (1, 2))  # fmt: skip

            train = part == 0
            rows.append(beside_fetr((X[train], y[train], task[train]), graphs, error, loss))
        report(f"{title}, {learn} rows", rows)


def standardized(X):
    """Features of mean 0 and variance 1, and a 1."""
    return np.column_stack([(X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12), np.ones(len(X))])


def run_school(folder, draws):
    X, y, task = school(folder)
    large = np.flatnonzero(np.bincount(task) >= 60)
    kept = np.isin(task, large)
    X, y, task = X[kept], y[kept] - y[kept].mean(), np.unique(task[kept], return_inverse=True)[1]
    m = len(large)
    of_school = np.array([X[task == k][:, [3, 4, *range(21, 27)]].mean(axis=0) for k in range(m)])
    places = (of_school - of_school.mean(axis=0)) / np.maximum(of_school.std(axis=0), 1e-12)
    graphs = {"mean-regularised": complete(m), "graph": neighbours(places)}
    print(f"School: {m} schools of 60 pupils and more")
    by_rows("School", (standardized(X[:, :21]), y, task), graphs, (10, 25), draws, y.std())


def run_parkinsons(folder, draws):
    names, values = table(folder / "parkinsons" / "parkinsons_updrs.csv.gz")
    subject = np.unique(values[:, 0], return_inverse=True)[1]
    X = standardized(values[:, [3, *range(6, 22)]])
    Y = values[:, 4:6]
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    m = subject.max() + 1
    targets = np.kron(np.eye(2), np.ones((m, m)) / m) + np.kron(1 - np.eye(2), np.eye(m))
    graph = Graph(targets - np.diag(np.diag(targets))).scaled()
    data = np.vstack([X, X]), np.concatenate([Y[:, 0], Y[:, 1]]), np.concatenate([subject, subject + m])
    graphs = {"mean-regularised": complete(2 * m), "graph": graph}
    by_rows("Parkinsons", data, graphs, (10, 30), draws, 1.0)


def run_chickenpox(folder, draws):
    with np.load(folder / "chickenpox" / "chickenpox.npz") as data:
        cases, edges = data["X"], data["edges"].astype(int)
    m, lags = cases.shape[1], 4
    A = np.zeros((m, m))
    A[edges[:, 0], edges[:, 1]] = 1.0
    graphs = {"mean-regularised": complete(m), "graph": Graph(np.maximum(A, A.T) - np.eye(m)).scaled()}
    F = np.stack([*(cases[lags - k - 1 : len(cases) - k - 1] for k in range(lags)), np.ones_like(cases[lags:])], axis=2)
    Y, later = cases[lags:], np.arange(310, len(cases) - lags)
    for learn in (52, 200):
        rows = []
        for seed in range(draws):
            order = np.random.default_rng(seed).permutation(300)
            train, held = order[:learn], order[learn : learn + 100]

            def error(W, held=held):
                off = (np.einsum("tmd,dm->tm", F, W) - Y) ** 2
                return np.mean(off[held]), np.mean(off[later]) / np.var(Y[later])

            task = np.tile(np.arange(m), learn)
            rows.append(beside_fetr((F[train].reshape(-1, lags + 1), Y[train].reshape(-1), task), graphs, error))
        report(f"chickenpox, {learn} weeks", rows)
    persistent = np.mean((F[later][:, :, 0] - Y[later]) ** 2) / np.var(Y[later])
    print(f"{'':24}next week as this one {persistent:.3f}")


def run_sentiment(folder, draws):
    X, y, task = [], [], []
    for k, name in enumerate(("books", "dvd", "electronics", "kitchen")):
        with np.load(folder / "sentiment" / f"{name}.npz") as data:
            counts = sp.csr_array((data["data"], data["indices"], data["indptr"]), shape=data["shape"])[:, :300]
            words = np.unique((counts > 0).toarray(), axis=0, return_index=True)[1]  # no repeats
            X.append((counts[words] > 0).toarray().astype(float))
            y.append(data["label"][words].astype(float))
            task.append(np.full(len(words), k))
    X, y, task = np.vstack(X), np.concatenate(y), np.concatenate(task)
    X = np.column_stack([X / np.maximum(np.linalg.norm(X, axis=1), 1e-12)[:, None] * 10, np.ones(len(X))])
    pairs = np.kron(np.eye(2), np.ones((2, 2))) - np.eye(4)
    graphs = {"mean-regularised": complete(4), "graph": Graph(pairs + 0.1 * (1 - np.eye(4) - pairs)).scaled()}
    by_rows("sentiment, wrong", (X, y, task), graphs, (100, 400), draws, 1.0, "logistic")


def main() -> None:
    runs = {
        "school": run_school,
        "parkinsons": run_parkinsons,
        "chickenpox": run_chickenpox,
        "sentiment": run_sentiment,
    }
    run_named(runs, "related tasks beside the first baselines, mean of draws (standard deviation)", 5)


if __name__ == "__main__":
    main()
