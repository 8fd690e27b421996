"""The base class of the estimators of FETR, for any loss: the parameters, the solve, what is learned, the picture.

    predict(x, task i) = w_i . x + b_i,       W ~ MN(w_0 1^T, S1^-1, S2^-1),      l I <= S1, S2 <= u I

`Fixed` takes eta and the bounds as given, `ByCrossValidation` chooses them.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from matrixlearn import Solution, Status, solve
from matrixlearn.late import needed_by
from matrixlearn.multitask import Rows, number_at_least, splits
from matrixlearn_fetr.mixed import STRUCTURES, WIDEST
from matrixlearn_fetr.picture import draw_relations
from matrixlearn_fetr.relations import estimate_of
from matrixlearn_fetr.training import MixedTraining, Training

MEANS = ("auto", "shared", "zero")


class Relations(ABC):
    """All estimators of FETR."""

    training: ClassVar[type[Training]]
    """The loss."""

    mean: str
    fit_intercept: bool
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

    def _fitted(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients, shape (d, m), and intercepts, shape (m,); sets what a solution says."""
        training, solution = self._solved(self._training(rows))
        return training.linear(self._learned(training, solution))

    def _training(self, rows: Rows) -> Training:
        return self.training(rows, self.tasks_, self.fit_intercept)

    @abstractmethod
    def _solved(self, training: Training) -> tuple[Training, Solution]:
        """The rows and the solution, for the strengths that are given or that are chosen here."""

    def _solve(
        self,
        training: Training,
        eta: float,
        bounds: tuple[float, float],
        tol: float,
        warm_start: Solution | None = None,
    ) -> Solution:
        lower, upper = bounds
        problem = training.problem.with_prior(eta=eta, lower=lower, upper=upper, mean=self._around)
        return solve(problem, method=self.method, tol=tol, max_iter=self.max_iter, warm_start=warm_start)

    @property
    def _around(self) -> str:
        """What "auto" stands for: tasks with rows of their own are alike; targets of the same rows need not be."""
        if self.mean != "auto":
            return self.mean
        return "zero" if self.tasks_ is None else "shared"

    def _learned(self, training: Training, solution: Solution) -> np.ndarray:
        """W; sets what a solution says."""
        if solution.status is Status.STOPPED:
            msg = f"fit stopped: gap {solution.gap:.2e}, {solution.status.advice}"
            warnings.warn(msg, ConvergenceWarning, stacklevel=5)
        estimate = training.estimate(solution)
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
            The labels of ``fit`` and ``feature_names_in_`` by default. More than 40 of either are drawn in an order
            that puts like ones side by side, and not named.

        Returns
        -------
        matplotlib.figure.Figure
        """
        check_is_fitted(self)
        with needed_by("plot()"):
            import matplotlib.pyplot as plt
        tasks: Any = self.tasks_ if task_names is None else task_names
        features: Any = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names
        figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
        draw_relations(axes[0], "features", self.feature_relations_, features)
        image = draw_relations(axes[1], "tasks", self.task_relations_, tasks)
        figure.colorbar(image, ax=axes[:2], shrink=0.7, ticks=[-1, 0, 1]).ax.set_title("correlation", fontsize=9)
        history = self.solution_.history
        axes[2].plot(history.column("seconds"), history.column("upper"), marker="o", markersize=4, color="C3")
        axes[2].set(xlabel="seconds", ylabel="objective", title=f"{self.solution_.method}: {self.solution_.status}")
        return figure


class Fixed(Relations):
    """eta and the bounds as given."""

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
        task_column: int | str | None = None,
    ) -> None:
        self.eta = eta
        self.lower = lower
        self.upper = upper
        self.mean = mean
        self.fit_intercept = fit_intercept
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.task_column = task_column

    def _solved(self, training: Training) -> tuple[Training, Solution]:
        return training, self._solve(training, self.eta, (self.lower, self.upper), self.tol)


class ByCrossValidation(Relations):
    """The strengths of the least error on rows held out: eta and bounds of a grid, or those of a mixed model (`mixed`).

    For each pair of bounds the etas are solved in ascending order, each from the last one's solution, and so is the
    final fit up to the chosen eta: a large eta leaves a point where the precisions are at their upper bound, which
    holds the weights at their mean whatever eta comes next. All of it but the last fit is solved to
    ``path_tol`` only.
    """

    structures: Sequence[str] = ()
    """Mixed models beside the grid, by the names of `STRUCTURES`."""

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
        path_tol: float = 1e-4,
        max_iter: int = 300,
        task_column: int | str | None = None,
    ) -> None:
        self.etas = etas
        self.bounds = bounds
        self.cv = cv
        self.random_state = random_state
        self.mean = mean
        self.fit_intercept = fit_intercept
        self.method = method
        self.tol = tol
        self.path_tol = path_tol
        self.max_iter = max_iter
        self.task_column = task_column

    def _check(self) -> None:
        super()._check()
        unknown = [name for name in self.structures if name not in STRUCTURES]
        if unknown:
            msg = f"structures must be some of {tuple(STRUCTURES)}, got {unknown[0]!r}"
            raise ValueError(msg)
        number_at_least("path_tol", self.path_tol, 0, strictly=True)
        if len(self.etas) == 0 or len(self.bounds) == 0:
            msg = f"etas and bounds must not be empty, got {self.etas!r} and {self.bounds!r}"
            raise ValueError(msg)
        for eta in self.etas:
            number_at_least("each of etas", eta, 0, strictly=True)

    def _solved(self, training: Training) -> tuple[Training, Solution]:
        folds = splits(training.rows, self.cv, self.random_state)
        errors = [self._errors(training.rows, train, test) for train, test in folds]
        self.error_path_ = np.moveaxis(np.array(errors), 0, 2)
        best = self.error_path_.mean(axis=2)
        models = self._mixed(training)
        self.structure_errors_ = {
            name: np.array([self._mixed_error(training.rows, name, train, test) for train, test in folds])
            for name in models
        }
        mean = {name: float(np.mean(of_folds)) for name, of_folds in self.structure_errors_.items()}
        leading = min(mean, key=lambda name: mean[name], default=None)
        self.structure_ = leading if leading is not None and mean[leading] < np.min(best) else None
        if self.structure_ is not None:
            self.eta_, self.lower_, self.upper_ = 1.0, 1.0, 1.0
            chosen = models[self.structure_]
            return chosen, solve(chosen.problem, tol=self.tol, max_iter=self.max_iter)
        at, k = divmod(int(np.argmin(best)), len(self.etas))
        (self.lower_, self.upper_), self.eta_ = self.bounds[at], self.etas[k]
        way = [None, *self._path(training, self.bounds[at], [eta for eta in self.etas if eta < self.eta_])]
        return training, self._solve(training, self.eta_, self.bounds[at], self.tol, warm_start=way[-1])

    def _mixed(self, training: Training) -> dict[str, MixedTraining]:
        """Mixed models of all rows, by the names of their structures."""
        if self.mean == "zero":
            return {}
        narrow = training.rows.X.shape[1] < WIDEST
        models = {name: training.mixed(STRUCTURES[name]) for name in self.structures if name != "full" or narrow}
        return {name: model for name, model in models.items() if model is not None}

    def _mixed_error(self, rows: Rows, name: str, train: np.ndarray, test: np.ndarray) -> float:
        model, held = self._training(rows.take(train)).mixed(STRUCTURES[name]), rows.take(test)
        return np.inf if model is None else model.error(held, held.predicted(*model.of_model), rows)

    def _path(self, training: Training, bounds: tuple[float, float], etas: Iterable[float]) -> Iterator[Solution]:
        """Solutions for the etas in ascending order, each from the one before."""
        solution = None
        for eta in sorted(etas):
            solution = self._solve(training, eta, bounds, max(self.tol, self.path_tol), warm_start=solution)
            yield solution

    def _errors(self, rows: Rows, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """The error on the test rows, (bounds, etas)."""
        seen, held = self._training(rows.take(train)), rows.take(test)
        errors = np.empty((len(self.bounds), len(self.etas)))
        for at, bounds in enumerate(self.bounds):
            for k, solution in zip(np.argsort(self.etas), self._path(seen, bounds, self.etas), strict=True):
                W, intercept = seen.linear(estimate_of(solution).weights)
                errors[at, k] = seen.error(held, held.predicted(W, intercept), rows)
        return errors
