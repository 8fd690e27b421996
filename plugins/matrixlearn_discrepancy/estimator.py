"""Kernel ridge regression on a source that is reweighted to look like the target.

    z      minimizes  ||sum_j p_j phi(x_j) phi(x_j)^T - sum_i z_i phi(x_i) phi(x_i)^T||_2,     z_i <= max_weight / m
    h      minimizes  m sum_i z_i (y_i - h(x_i))^2 + alpha ||h||^2

phi belongs to one kernel, the same in both lines: only then does a small discrepancy bound the loss
(`discrepancy_bound`). scikit-learn is imported here and nowhere else.
"""

from __future__ import annotations

import contextlib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import _check_sample_weight, check_array, check_is_fitted, validate_data

from matrixlearn import Solution, Status, solve
from matrixlearn_discrepancy.problem import Discrepancy, effective_sample_size

FEW = 0.2
"""The effective share of the points below which a fit leans on a handful."""


class FewPointsWarning(UserWarning):
    """The weights put almost everything on a handful of points: (sum w)^2 / sum w^2 < 0.2 m."""


class Reweighted(ABC):
    """A fit on a source whose weights a subclass finds, by a model that another has."""

    kernel: str | Callable[[Any, Any], Any]
    degree: float
    coef0: float

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        X_target: Any = None,
        sample_domain: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Fit on the labelled source (X, y), weighted towards the target.

        Parameters
        ----------
        X : array-like, shape (m, n_features)
            Source points; with ``sample_domain``, source and target points.
        y : array-like, shape (m,) or (m, n_targets)
            Labels; those of target rows are not looked at and may be NaN.
        X_target : array-like, shape (n, n_features), optional
            Unlabelled points of the target. Without a target the weights are uniform. Cross-validation hands all of it
            to every fit (``params={"X_target": ...}``), unless it has as many rows as X: what has, scikit-learn takes
            for something said of the rows of X and slices with them. Give such a target by ``sample_domain``.
        sample_domain : array-like, shape (m,), optional
            The other way to give a target: > 0 for source rows of X, < 0 for target rows (skada's form).
        sample_weight : array-like, shape (m,), optional
            Importance of the rows, e.g. the quality of a label; multiplies the weights of the
            discrepancy. Rows of weight 0 are left out, target rows included.

        Returns
        -------
        self
        """
        self._check()
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            msg = "kernel must be a name or a function here; Discrepancy takes a Gram matrix"
            raise ValueError(msg)
        X, y, X_target, importance = self._split(X, y, X_target, sample_domain, sample_weight)
        if not np.any(importance > 0):
            msg = "sample_weight leaves no source row with a positive weight"
            raise ValueError(msg)
        self.solution_: Solution | None = None
        used = importance > 0
        z = np.zeros(len(X))
        z[used] = self._weigh(X[used], y[used], X_target, importance[used])
        # m z_i: with uniform weights the objective is KernelRidge's, sample_weight included
        factors = z * importance * np.count_nonzero(used)
        self.weights_ = factors / factors.sum()
        self.effective_sample_size_ = effective_sample_size(self.weights_)
        self.n_iter_ = 0 if self.solution_ is None else self.solution_.iterations
        self._warn()
        self._learn(X, y, factors)
        return self

    def _split(
        self, X: Any, y: Any, X_target: Any, sample_domain: Any, sample_weight: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray]:
        """Validated source, labels, target or None, and the importance of the source rows."""
        if X_target is not None and sample_domain is not None:
            msg = "pass X_target or sample_domain, not both: each says what the target is"
            raise ValueError(msg)
        if sample_domain is None:
            X, y = self._validated(X, y)
            importance = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            if X_target is not None:
                X_target = validate_data(self, X_target, reset=False, dtype=np.float64)
            return X, y, X_target, importance
        X = validate_data(self, X, dtype=np.float64)
        importance = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        domain = check_array(sample_domain, ensure_2d=False, input_name="sample_domain")
        y = np.asarray(y)
        if domain.shape != (len(X),) or len(y) != len(X):
            msg = f"X, y and sample_domain must have one row each: {len(X)}, {len(y)} and {domain.shape}"
            raise ValueError(msg)
        source, target = domain > 0, (domain < 0) & (importance > 0)
        if not (np.any(source) and np.any(target) and np.all(domain != 0)):
            msg = f"sample_domain must name both domains (> 0 source, < 0 target), got the values {np.unique(domain)}"
            raise ValueError(msg)
        return X[source], self._labels(y[source]), X[target], importance[source]

    @abstractmethod
    def _check(self) -> None:
        """Raise ValueError for unusable parameters."""

    @property
    @abstractmethod
    def _ridge_and_width(self) -> tuple[float, float | None]:
        """alpha and gamma of the fit."""

    @abstractmethod
    def _weigh(self, X: np.ndarray, y: np.ndarray, X_target: np.ndarray | None, importance: np.ndarray) -> np.ndarray:
        """z, shape (m,), summing to one; sets ``solution_``. Uniform without a target."""

    def _warn(self) -> None:
        m = len(self.weights_)
        if self.solution_ is None:
            return
        if self.solution_.status is not Status.OPTIMAL:
            msg = (
                f"the weights are {self.solution_.status}: gap {self.solution_.gap:.2e}, {self.solution_.status.advice}"
            )
            warnings.warn(msg, ConvergenceWarning, stacklevel=3)
        if self.effective_sample_size_ < FEW * m:
            msg = (
                f"the fit leans on a handful of points: effective sample size {self.effective_sample_size_:.1f} of "
                f"{m}; a max_weight of 2 or 3 usually generalizes better"
            )
            warnings.warn(msg, FewPointsWarning, stacklevel=3)

    def _gram(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """K(a_i, b_j), shape (len(A), len(B))."""
        if callable(self.kernel):
            return np.asarray(self.kernel(A, B), dtype=np.float64)
        gamma = self._ridge_and_width[1]
        return pairwise_kernels(
            A, B, metric=self.kernel, filter_params=True, gamma=gamma, degree=self.degree, coef0=self.coef0
        )

    @abstractmethod
    def _validated(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """Rows and labels, checked."""

    @abstractmethod
    def _labels(self, y: np.ndarray) -> np.ndarray:
        """The labels of some rows that have been checked, themselves checked."""

    @abstractmethod
    def _learn(self, X: np.ndarray, y: np.ndarray, factors: np.ndarray) -> None:
        """Fit to rows that count ``factors``, (m,)."""


class FixedWeights(Reweighted):
    """The certified minimizer of the discrepancy under one cap, on the way to uniform weights."""

    gamma: float | None
    alpha: float
    max_weight: float | None
    uniform_share: float
    method: str
    tol: float
    time_limit: float | None

    def _check(self) -> None:
        positive("alpha", self.alpha)
        if not (isinstance(self.uniform_share, int | float | np.number) and 0 <= self.uniform_share <= 1):
            msg = f"uniform_share must lie between 0 and 1, got {self.uniform_share!r}"
            raise ValueError(msg)

    @property
    def _ridge_and_width(self) -> tuple[float, float | None]:
        return self.alpha, self.gamma

    def _weigh(self, X: np.ndarray, y: np.ndarray, X_target: np.ndarray | None, importance: np.ndarray) -> np.ndarray:
        """The certified minimizer of the discrepancy, on the way to uniform weights."""
        m = len(X)
        if X_target is None:
            return np.full(m, 1.0 / m)
        problem = Discrepancy(
            X, X_target, kernel=None if self.kernel == "linear" else self._gram, max_weight=self.max_weight
        )
        self.solution_ = solve(problem, method=self.method, tol=self.tol, time_limit=self.time_limit)
        return (1 - self.uniform_share) * np.asarray(self.solution_.y) + self.uniform_share / m


class ReweightedRegressor(MultiOutputMixin, RegressorMixin, Reweighted, BaseEstimator):
    """Kernel ridge regression."""

    fit_intercept: bool

    def _validated(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        X, y = validate_data(self, X, y, y_numeric=True, multi_output=True, dtype=np.float64)
        return X, np.asarray(y, dtype=np.float64)

    def _labels(self, y: np.ndarray) -> np.ndarray:
        return np.asarray(check_array(y, ensure_2d=False, dtype=np.float64, input_name="y"))

    def _learn(self, X: np.ndarray, y: np.ndarray, factors: np.ndarray) -> None:
        """The minimizer h; an intercept centres labels and features with the weights.

        With s = sqrt(factors), b = s (y - mean) and A the rows s (phi(x_i) - mu):
        (A A^T + alpha I) (d / s) = b.
        """
        w, s, alpha = self.weights_, np.sqrt(factors)[:, None], self._ridge_and_width[0]
        Y = y.reshape(len(y), -1)
        mean = w @ Y if self.fit_intercept else np.zeros(Y.shape[1])
        b = s * (Y - mean)
        if self.kernel == "linear":
            mu = w @ X if self.fit_intercept else np.zeros(X.shape[1])
            d, coef = _ridge(s * (X - mu), b, alpha)
            d, intercept = s * d, mean - mu @ coef
        else:
            K = self._gram(X, X)
            row = w @ K if self.fit_intercept else np.zeros(len(X))
            centred = K - row - row[:, None] + row @ w
            d = s * _kernel_ridge(s * centred * s.T, b, alpha)
            # sum_i d_i <phi_i - mu, phi(x) - mu> in terms of the points themselves
            intercept = mean - row @ (d - w[:, None] * d.sum(axis=0))
        if self.fit_intercept:
            d = d - w[:, None] * d.sum(axis=0)
        one = y.ndim == 1
        self.X_fit_ = X
        self.dual_coef_ = d[:, 0] if one else d
        self.intercept_ = float(intercept[0]) if one else intercept
        if self.kernel == "linear":
            self.coef_ = coef[:, 0] if one else coef.T

    def predict(self, X: Any) -> np.ndarray:
        """h(x) = sum_i dual_coef_i K(x_i, x) + intercept, shape (n,) or (n, n_targets)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        if self.kernel == "linear":
            return X @ self.coef_.T + self.intercept_
        return self._gram(X, self.X_fit_) @ self.dual_coef_ + self.intercept_


class DiscrepancyRegressor(FixedWeights, ReweightedRegressor):
    """min over h of m sum_i z_i (y_i - h(x_i))^2 + alpha ||h||^2, with z from `Discrepancy`.

    Kernel ridge regression with the source weights that minimize the discrepancy to the target. Uniform
    weights give scikit-learn's ``KernelRidge``.

    Parameters
    ----------
    kernel : str or callable, default="linear"
        "linear", "rbf", "laplacian", "polynomial", ... of ``sklearn.metrics.pairwise.pairwise_kernels``,
        or a function (A, B) -> Gram matrix. Positive semidefinite.
    gamma : float, optional
        Of the kernel; 1 / n_features by default, as in scikit-learn.
    degree : float, default=3
        Of the polynomial kernel.
    coef0 : float, default=1
        Of the polynomial kernel.
    alpha : float, default=1.0
        The ridge, > 0; the thesis's lambda is alpha / m.
    max_weight : float or None, default=2.0
        Caps each weight at this multiple of the uniform one, >= 1. None is the thesis's form: the exact
        minimizer, which may lean on few points.
    uniform_share : float, default=0.0
        How far to go back to uniform weights, in [0, 1]: (1 - uniform_share) z + uniform_share / m. The discrepancy is
        convex, so that it rises in proportion at most, and the sample that the fit rests on grows: on reviews, half way
        from a cap of 2 is all that beats no reweighting (docs/thesis.md, Figure 6.4).
    fit_intercept : bool, default=True
        Centre features and labels with the weights, which leaves the intercept free of the ridge. The
        guarantee of `discrepancy_bound` is for False: the discrepancy is that of h without an intercept.
    method : str, default="auto"
        An engine, see ``matrixlearn.methods``.
    tol : float, default=1e-3
        Certified relative gap of the discrepancy.
    time_limit : float, optional
        Seconds for the weights; the best weights so far serve after that, with a ConvergenceWarning.

    Attributes
    ----------
    weights_ : ndarray, shape (m,)
        The weights of the source rows in the fit, >= 0, summing to one.
    solution_ : matrixlearn.Solution or None
        The weights' certificate; None where no target was given.
    effective_sample_size_ : float
        (sum w)^2 / sum w^2: m for uniform weights, 1 for a single point.
    coef_ : ndarray, shape (n_features,) or (n_targets, n_features)
        For the linear kernel only.
    dual_coef_ : ndarray, shape (m,) or (m, n_targets)
        h(x) = sum_i dual_coef_i K(x_i, x) + intercept_.
    intercept_ : float or ndarray, shape (n_targets,)
    X_fit_ : ndarray, shape (m, n_features)
        The source rows.
    n_iter_ : int
        Iterations of the engine; 0 where no target was given.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_discrepancy import DiscrepancyRegressor
    >>> X_source, X_target = np.array([[-1.0], [0.5], [2.0]]), np.array([[1.0]])
    >>> model = DiscrepancyRegressor(max_weight=None, fit_intercept=False)
    >>> model = model.fit(X_source, np.abs(X_source[:, 0]), X_target=X_target)
    >>> bool(model.solution_.gap <= 1e-3)
    True

    In a pipeline, let the steps before transform the target too (needs metadata routing):
    ``Pipeline([("scale", StandardScaler()), ("fit", DiscrepancyRegressor().set_fit_request(X_target=True))],
    transform_input=["X_target"])``.
    """

    def __init__(
        self,
        kernel: str | Callable[[Any, Any], Any] = "linear",
        *,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        alpha: float = 1.0,
        max_weight: float | None = 2.0,
        uniform_share: float = 0.0,
        fit_intercept: bool = True,
        method: str = "auto",
        tol: float = 1e-3,
        time_limit: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alpha = alpha
        self.max_weight = max_weight
        self.uniform_share = uniform_share
        self.fit_intercept = fit_intercept
        self.method = method
        self.tol = tol
        self.time_limit = time_limit


def positive(name: str, value: Any) -> None:
    """Raise ValueError unless it is a positive and finite number."""
    if not (isinstance(value, int | float | np.number) and 0 < value < np.inf):
        msg = f"{name} must be a positive number, got {value!r}"
        raise ValueError(msg)


def _ridge(A: np.ndarray, b: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """((A A^T + alpha I)^-1 b, A^T (A A^T + alpha I)^-1 b), by the singular values of A."""
    U, sigma, Vt = scipy.linalg.svd(A, full_matrices=False)
    inside = U.T @ b
    damped = inside / (sigma**2 + alpha)[:, None]
    return U @ damped + (b - U @ inside) / alpha, Vt.T @ (sigma[:, None] * damped)


def _kernel_ridge(K: np.ndarray, b: np.ndarray, alpha: float) -> np.ndarray:
    """(K + alpha I)^-1 b for K >= 0."""
    A = K + alpha * np.eye(len(K))
    with contextlib.suppress(scipy.linalg.LinAlgError):
        factor = scipy.linalg.cho_factor(A, lower=True)
        reciprocal, _ = scipy.linalg.lapack.dpocon(factor[0], np.linalg.norm(A, 1), uplo="L")
        if reciprocal > np.finfo(float).eps:
            return scipy.linalg.cho_solve(factor, b)
    # alpha is below the rounding of K, whose eigenvalues are then >= 0 only by definition
    values, V = np.linalg.eigh((K + K.T) / 2)
    return V @ ((V.T @ b) / (np.maximum(values, 0.0) + alpha)[:, None])
