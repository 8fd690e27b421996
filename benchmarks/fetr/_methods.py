"""What the three comparisons of FETR with its rivals share: methods, choice of parameters inside the training rows."""

import benchmarks._common  # noqa: F401, I001  (one BLAS thread)
import itertools
import warnings

import numpy as np
from matrixlearn_fetr import (
    FETRRegressorCV,
    MeanRegularizedRidge,
    MTFLRegressor,
    MTFRLRegressor,
    MTRLRegressor,
    PooledRidge,
    SingleTaskRidge,
)
from matrixlearn.multitask import dealt
from matrixlearn.multitask import normalized_error
from matrixlearn.multitask import Rows
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning

PENALTIES = tuple(float(a) for a in 10.0 ** np.arange(-2, 4.5, 0.5))
PUBLISHED = {"etas": tuple(float(e) for e in 10.0 ** np.arange(-5, 4)), "bounds": ((1e-3, 1e3),)}
"""The grid of Section 6.3."""
WIDER = {
    "etas": (0.01, 0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0),
    "bounds": ((1e-3, 1e3), (1e-1, 1e1)),
}


class Chosen(RegressorMixin, BaseEstimator):
    """The estimator with the parameters of ``grid`` that have the least normalized error over folds of the rows."""

    def __init__(self, estimator, grid, cv=3, prior=0.0):
        self.estimator = estimator
        self.grid = grid
        self.cv = cv
        self.prior = prior

    def fit(self, X, y, task=None):
        number = None if task is None else np.unique(task, return_inverse=True)[1]
        Y = y if task is not None else np.reshape(y, (len(y), -1))
        rows = Rows(X, Y, number, Y.shape[1] if task is None else number.max() + 1)
        fold = dealt(rows, self.cv, np.random.RandomState(0))
        errors = {}
        for values in itertools.product(*self.grid.values()):
            parameters = dict(zip(self.grid, values, strict=True))
            error = 0.0
            for k in range(self.cv):
                train, test = fold != k, fold == k
                model = clone(self.estimator).set_params(**parameters)
                held, of = rows.take(np.flatnonzero(test)), rows
                if task is None:
                    predicted = np.reshape(model.fit(X[train], Y[train]).predict(X[test]), held.Y.shape)
                else:
                    predicted = model.fit(X[train], y[train], task[train]).predict(X[test], task[test])
                error += normalized_error(held, predicted, of, self.prior)
            errors[values] = error
        self.best_ = dict(zip(self.grid, min(errors, key=errors.get), strict=True))
        best = clone(self.estimator).set_params(**self.best_)
        self.model_ = best.fit(X, y) if task is None else best.fit(X, y, task)
        return self

    def predict(self, X, task=None):
        return self.model_.predict(X) if task is None else self.model_.predict(X, task)


def methods(fit_intercept=True, tol=1e-4, max_iter=100, cv=3, only=None):
    """Name -> estimator that chooses its own parameters; those of ``only``, where it is given."""
    free = {"fit_intercept": fit_intercept}
    fetr = dict(tol=tol, max_iter=max_iter, cv=cv, **free)
    every = {
        "STL": Chosen(SingleTaskRidge(**free), {"alpha": PENALTIES}, cv),
        "MTFL": Chosen(MTFLRegressor(**free), {"alpha": PENALTIES}, cv),
        "MTRL": Chosen(MTRLRegressor(**free), {"lambda1": (0.0, 1.0, 10.0, 100.0), "lambda2": PENALTIES}, cv),
        "MTFRL": Chosen(MTFRLRegressor(**free), {"eta": (0.1, 1.0, 10.0, 100.0, 1000.0), "fudge": (1e-3, 1e-1)}, cv),
        "FETR": FETRRegressorCV(mean="zero", **PUBLISHED, **fetr),
        "FETR, bounds chosen": FETRRegressorCV(mean="zero", **WIDER, **fetr),
        "FETR, shared mean": FETRRegressorCV(mean="shared", **PUBLISHED, **fetr),
        "FETR, shared, bounds": FETRRegressorCV(mean="shared", **WIDER, **fetr),
        "FETR, as it comes": FETRRegressorCV(**free),
        "pooled ridge": Chosen(PooledRidge(**free), {"alpha": PENALTIES}, cv),
        "mean-regularised": Chosen(MeanRegularizedRidge(**free), {"alpha": PENALTIES, "beta": (0.01, 1.0, 100.0)}, cv),
    }
    return {name: model for name, model in every.items() if not only or name in only}


def quietly(model, *data):
    """Fit; a solve that its limit ends is as good as the published one that a count of rounds ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*data)


def choice(model):
    """The parameters chosen, in a few characters."""
    if hasattr(model, "best_"):
        return " ".join(f"{k}={v:.3g}" for k, v in model.best_.items())
    if hasattr(model, "eta_"):
        return f"eta={model.eta_:g} u={model.upper_:g}"
    return ""
