"""FETR in scikit-learn's form: regression, with eta and the bounds chosen by cross-validation, and classification.

    predict(x, task i) = w_i . x + b_i,       W ~ MN(w_0 1^T, S1^-1, S2^-1),      l I <= S1, S2 <= u I

scikit-learn is imported here and in `multitask`, `baselines` and `features`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from matrixlearn import Solution, Status, solve
from matrixlearn_fetr.data import Moments
from matrixlearn_fetr.multitask import Centre, MultitaskRegressor, Rows, number_at_least
from matrixlearn_fetr.problem import FETR

NAMED = 40
"""The most features or tasks whose names are written."""
MEANS = ("auto", "shared", "zero")


class Relations:
    """What all estimators of FETR share: the parameters of a solve, what is learned, the picture."""

    mean: str
    method: str
    tol: float
    max_iter: int
    tasks_: np.ndarray | None

    def _check(self) -> None:
        number_at_least("tol", self.tol, 0, strictly=True)
        number_at_least("max_iter", self.max_iter, 0)
        if self.mean not in MEANS:
            msg = f"mean must be one of {MEANS}, got {self.mean!r}"
            raise ValueError(msg)

    @property
    def _around(self) -> str:
        """What "auto" stands for: tasks with rows of their own are alike; targets of the same rows need not be."""
        if self.mean != "auto":
            return self.mean
        return "zero" if self.tasks_ is None else "shared"

    def _solve(self, problem: FETR, warm_start: Solution | None = None) -> Solution:
        return solve(problem, method=self.method, tol=self.tol, max_iter=self.max_iter, warm_start=warm_start)

    def _learned(self, solution: Solution) -> np.ndarray:
        """W; sets what a solution says."""
        if solution.status is Status.STOPPED:
            msg = f"fit stopped: gap {solution.gap:.2e}, {solution.status.advice}"
            warnings.warn(msg, ConvergenceWarning, stacklevel=5)
        estimate = solution.problem.estimate(solution)  # type: ignore[attr-defined]
        self.solution_ = solution
        self.n_iter_ = max(1, solution.iterations)
        self.mean_ = estimate.mean
        self.feature_covariance_, self.task_covariance_ = estimate.feature_covariance, estimate.task_covariance
        self.feature_relations_, self.task_relations_ = estimate.feature_relations, estimate.task_relations
        return np.asarray(estimate.weights)

    def plot(self, task_names: Sequence[Any] | None = None, feature_names: Sequence[Any] | None = None) -> Any:
        """Correlations of features and of tasks, as Figure 4 of the paper, and the objective against seconds.

        Parameters
        ----------
        task_names, feature_names : sequence, optional
            The labels of ``fit`` and ``feature_names_in_`` by default.

        Returns
        -------
        matplotlib.figure.Figure
        """
        check_is_fitted(self)
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            from matrixlearn.exceptions import MissingExtraError

            msg = "plot() needs matplotlib: pip install 'matrixlearn[plot]'"
            raise MissingExtraError(msg) from error
        tasks: Any = self.tasks_ if task_names is None else task_names
        features: Any = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names
        figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
        sides = ("features", self.feature_relations_, features), ("tasks", self.task_relations_, tasks)
        for ax, (title, relations, names) in zip(axes, sides, strict=False):
            picture = ax.imshow(relations, cmap="RdBu_r", vmin=-1, vmax=1)
            ax.set_title(title)
            written = names is not None and len(names) == len(relations) <= NAMED
            labels = [str(name) for name in names] if written else []
            size = min(8.0, 150 / len(relations))
            ax.set_xticks(range(len(labels)), labels, rotation=90, fontsize=size)
            ax.set_yticks(range(len(labels)), labels, fontsize=size)
        figure.colorbar(picture, ax=axes[:2], shrink=0.7, label="correlation")
        history = self.solution_.history
        axes[2].plot(history.column("seconds"), history.column("upper"), marker="o", markersize=4, color="C3")
        axes[2].set(xlabel="seconds", ylabel="objective", title=f"{self.solution_.method}: {self.solution_.status}")
        return figure


class FETRBase(Relations, MultitaskRegressor):
    """Regression with the squared loss."""

    def _solved(
        self, moments: Moments, eta: float, bounds: tuple[float, float], warm_start: Solution | None = None
    ) -> Solution:
        lower, upper = bounds
        problem = FETR(
            gram=moments.gram,
            cross=moments.cross,
            square=moments.square,
            eta=eta,
            lower=lower,
            upper=upper,
            mean=self._around,
            task=self.tasks_,
        )
        return self._solve(problem, warm_start)


class FETRRegressor(FETRBase):
    """min over W, S1, S2 of sum_i ||y_i - X_i w_i||^2 + eta tr(S1 V S2 V^T) - eta (m log det S1 + d log det S2).

    With lower I <= S1, S2 <= upper I; V = W - w_0 1^T for a shared mean, V = W for none. Bounds and covariances
    depend on the units of features and targets: standardize both.

    Parameters
    ----------
    eta : float, default=1.0
        Weight of the prior, > 0.
    lower, upper : float, default=1e-3, 1e3
        0 < lower <= upper, the bounds of the eigenvalues of both precision matrices.
    mean : {"auto", "shared", "zero"}, default="auto"
        Around what the weights of the tasks scatter: a mean that is learned too, or 0, as published. "auto" is
        "shared" where rows have tasks (one target, several populations), "zero" where targets share their rows.
    fit_intercept : bool, default=True
        An intercept for each task, free of the prior. False where X has a column of ones.
    method : str, default="auto"
        An engine of `FETR`: "joint", or "alternating" as published.
    tol : float, default=1e-6
        Certified relative gap at which the point counts as stationary.
    max_iter : int, default=300
        A ConvergenceWarning where they do not suffice.

    Attributes
    ----------
    coef_ : ndarray, shape (m, d) or (d,)
    intercept_ : ndarray, shape (m,), or float
    mean_ : ndarray, shape (d,)
        w_0; zeros where the mean is zero.
    feature_covariance_, task_covariance_ : ndarray, shapes (d, d) and (m, m)
        S1^-1 and S2^-1. Where d and m differ, the best pair has one of them at a bound, a multiple of the identity:
        the prior acts through products of their eigenvalues, and the larger log-det takes what it can.
    feature_relations_, task_relations_ : ndarray, shapes (d, d) and (m, m)
        Correlations of features and of tasks that those products imply, on both sides.
    solution_ : matrixlearn.Solution
        The certificate.
    n_iter_ : int
    tasks_ : ndarray, shape (m,), or None
        The labels, where ``fit`` was given ``task``.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_fetr import FETRRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, w = rng.standard_normal((60, 5)), rng.standard_normal(5)
    >>> task = np.repeat(["a", "b", "c"], 20)
    >>> y = X @ w + 0.1 * rng.standard_normal(60)
    >>> model = FETRRegressor(eta=0.1).fit(X, y, task)
    >>> bool(np.abs(model.mean_ - w).max() < 0.1), str(model.solution_.status)
    (True, 'stationary')
    """

    def __init__(
        self,
        eta: float = 1.0,
        *,
        lower: float = 1e-3,
        upper: float = 1e3,
        mean: str = "auto",
        fit_intercept: bool = True,
        method: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 300,
    ) -> None:
        self.eta = eta
        self.lower = lower
        self.upper = upper
        self.mean = mean
        self.fit_intercept = fit_intercept
        self.method = method
        self.tol = tol
        self.max_iter = max_iter

    def _weights(self, rows: Rows) -> np.ndarray:
        return self._learned(self._solved(rows.moments(), self.eta, (self.lower, self.upper)))


class FETRRegressorCV(FETRBase):
    """`FETRRegressor` with eta and the bounds chosen by cross-validation.

    For each pair of bounds the etas are solved in ascending order, each from the last one's solution, and so is the
    final fit up to the chosen eta: a large eta leaves a point where the precisions are at their upper bound, which
    holds the weights at their mean whatever eta comes next. Judged by the normalized mean squared error: that of each
    task over its variance, averaged over tasks.

    Parameters
    ----------
    etas : sequence of float, default=(0.01, 0.1, 1, 10, 100, 1000)
    bounds : sequence of (lower, upper), default=((1e-3, 1e3), (1e-2, 1e2), (1e-1, 1e1))
    cv : int, splitter or iterable, default=5
        A number of folds, dealt at random within each task; or what scikit-learn accepts, its groups being the
        tasks.
    random_state : int, RandomState or None, default=0
        Deals the folds.
    mean, fit_intercept, method, tol, max_iter
        As in `FETRRegressor`.

    Attributes
    ----------
    eta_, lower_, upper_ : float
        The choice.
    nmse_path_ : ndarray, shape (n_bounds, n_etas, n_folds)
    coef_, intercept_, mean_, feature_covariance_, task_covariance_, feature_relations_, task_relations_, solution_,
    n_iter_, tasks_, n_features_in_
        As in `FETRRegressor`, fitted to all rows.
    """

    def __init__(
        self,
        *,
        etas: Sequence[float] = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
        bounds: Sequence[tuple[float, float]] = ((1e-3, 1e3), (1e-2, 1e2), (1e-1, 1e1)),
        cv: Any = 5,
        random_state: Any = 0,
        mean: str = "auto",
        fit_intercept: bool = True,
        method: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 300,
    ) -> None:
        self.etas = etas
        self.bounds = bounds
        self.cv = cv
        self.random_state = random_state
        self.mean = mean
        self.fit_intercept = fit_intercept
        self.method = method
        self.tol = tol
        self.max_iter = max_iter

    def _check(self) -> None:
        super()._check()
        if len(self.etas) == 0 or len(self.bounds) == 0:
            msg = f"etas and bounds must not be empty, got {self.etas!r} and {self.bounds!r}"
            raise ValueError(msg)
        for eta in self.etas:
            number_at_least("each of etas", eta, 0, strictly=True)

    def _prepare(self, rows: Rows) -> None:
        folds = list(self._folds(rows))
        self.nmse_path_ = np.array(
            [[self._errors(rows, train, test, bounds) for train, test in folds] for bounds in self.bounds]
        ).swapaxes(1, 2)
        mean = self.nmse_path_.mean(axis=2)
        at, k = divmod(int(np.argmin(mean)), len(self.etas))
        (self.lower_, self.upper_), self.eta_ = self.bounds[at], self.etas[k]

    def _weights(self, rows: Rows) -> np.ndarray:
        *_, last = self._path(rows, (self.lower_, self.upper_), most=self.eta_)
        return self._learned(last[1])

    def _path(self, rows: Rows, bounds: tuple[float, float], most: float = np.inf) -> Iterable[tuple[float, Solution]]:
        """Solutions for the etas up to ``most``, each from the one before."""
        moments, solution = rows.moments(), None
        for eta in sorted(eta for eta in self.etas if eta <= most):
            solution = self._solved(moments, eta, bounds, warm_start=solution)
            yield eta, solution

    def _errors(self, rows: Rows, train: np.ndarray, test: np.ndarray, bounds: tuple[float, float]) -> list[float]:
        """The normalized error on the test rows for each of etas."""
        seen, held = rows.take(train), rows.take(test)
        centre = Centre(np.zeros((1, rows.X.shape[1])), np.zeros(rows.tasks))
        if self.fit_intercept:
            seen, centre = seen.centred()
        errors = {}
        for eta, solution in self._path(seen, bounds):
            W = solution.problem.estimate(solution).weights  # type: ignore[attr-defined]
            errors[eta] = normalized_error(held, held.predicted(W, centre.intercept(W)), of=rows)
        return [errors[eta] for eta in self.etas]

    def _folds(self, rows: Rows) -> Iterable[tuple[np.ndarray, np.ndarray]]:
        n, groups = len(rows.X), rows.task
        if isinstance(self.cv, int | np.integer):
            fold = dealt(rows, int(self.cv), check_random_state(self.random_state))
            return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(self.cv) if np.any(fold == k)]
        splits = list(check_cv(self.cv).split(rows.X, rows.Y, groups))
        for train, _ in splits:
            if groups is not None and len(np.unique(groups[np.arange(n)[train]])) < rows.tasks:
                msg = "cv leaves a task without training rows; a number of folds keeps some of each"
                raise ValueError(msg)
        return splits


def dealt(rows: Rows, folds: int, rng: np.random.RandomState) -> np.ndarray:
    """The fold of each row, shape (n,): dealt in turn within each task; -1, never held out, for a task's only row."""
    n = len(rows.X)
    if not 2 <= folds <= n:
        msg = f"cv must be a number of folds from 2 to n_samples = {n}, got {folds}"
        raise ValueError(msg)
    fold = np.full(n, -1)
    turn = 0
    for of_task in [np.arange(n)] if rows.task is None else rows.of_task:
        if len(of_task) > 1:
            fold[rng.permutation(of_task)] = (turn + np.arange(len(of_task))) % folds
            turn += len(of_task)
    if np.all(fold < 0):
        msg = "cross-validation needs a task of two rows or more; FETRRegressor takes eta as given"
        raise ValueError(msg)
    return fold


def normalized_error(held: Rows, predicted: np.ndarray, of: Rows) -> float:
    """Mean over tasks of the mean squared error over the task's variance in ``of``; 1 stands for a variance of 0."""
    squared = (held.Y - predicted) ** 2
    if held.task is None:
        return float(np.mean(squared.mean(axis=0) / _or_one(of.Y.var(axis=0))))
    variance = _or_one(np.array([of.Y[i].var() for i in of.of_task]))
    there = [i for i in range(held.tasks) if np.any(held.task == i)]
    return float(np.mean([squared[held.task == i].mean() / variance[i] for i in there]))


def _or_one(variance: np.ndarray) -> np.ndarray:
    return np.where(variance > 0, variance, 1.0)
