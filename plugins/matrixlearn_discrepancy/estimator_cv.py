"""`DiscrepancyRegressor` with its settings chosen, and no reweighting where nothing speaks for it.

kernel width, alpha     generalized cross-validation on the source, with uniform weights
max_weight, share       by a rule (`selection`) among certified weights and uniform ones
a stronger alpha        where the weights stay uniform, and rows like those of the target are then predicted better
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from matrixlearn_discrepancy.estimator import ReweightedRegressor, positive
from matrixlearn_discrepancy.path import discrepancy_path
from matrixlearn_discrepancy.problem import Discrepancy
from matrixlearn_discrepancy.selection import UNIFORM, Choice, Evidence, Rule, Trials
from matrixlearn_discrepancy.smoother import Smoother

WIDTHLESS = ("linear",)
"""Kernels that `gamma` is no parameter of."""


class DiscrepancyRegressorCV(ReweightedRegressor):
    """`DiscrepancyRegressor` with kernel width, ridge and weights chosen, without labels of the target.

    Width and ridge are those of generalized cross-validation on the source, with uniform weights. Then the weights of
    least discrepancy under each cap, as they are and mixed with uniform ones, stand beside uniform weights, and
    ``rule`` chooses: by default uniform weights, unless two pieces of evidence speak against them. With an intercept,
    the linear discrepancy has a constant feature: the means of both samples count too. Where the weights stay uniform,
    a stronger ridge may take their place: that which predicts rows like those of the target better when they are left
    out, by half a standard error or more.

    Parameters
    ----------
    kernel : str or callable, default="linear"
        As in `DiscrepancyRegressor`.
    gammas : sequence of float, or None
        Widths of the kernel; 0.1, 0.3, 1 and 3 times 1 / n_features by default.
    degree, coef0
        As in `DiscrepancyRegressor`.
    alphas : sequence of float, or None
        Ridges; powers of ten from 1e-3 to 1e4, two a decade, times the mean of K(x, x) by default.
    max_weights : sequence of float or None, default=(1.5, 2, 3)
        Caps, in multiples of the uniform weight.
    uniform_shares : sequence of float, default=(0, 0.5)
        In [0, 1): how far each is taken back to uniform weights.
    rule : Rule, optional
        `Evidence` by default; or `ImportanceWeighted`, `DiscrepancyBound`, or an object with their method.
    fit_intercept, method, tol, time_limit
        As in `DiscrepancyRegressor`; the time limit is for each cap.

    Attributes
    ----------
    alpha_ : float
    source_alpha_ : float
        The ridge that cross-validation on the source alone chose, <= alpha_.
    gamma_ : float or None
    max_weight_ : float or None
        The cap; 1 for uniform weights.
    uniform_share_ : float
        1 for uniform weights.
    choice_ : Choice
        What was chosen and why, see `summary`.
    trials_ : Trials or None
        What the rule has seen; None where no target was given.
    path_ : list of matrixlearn.Solution
        The certified weights of each cap.
    solution_ : matrixlearn.Solution or None
        Those that were chosen; None for uniform weights.
    weights_, effective_sample_size_, coef_, dual_coef_, intercept_, X_fit_, n_iter_, n_features_in_
        As in `DiscrepancyRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_discrepancy import DiscrepancyRegressorCV
    >>> rng = np.random.default_rng(0)
    >>> X, target = rng.normal(0.0, 1.0, (100, 1)), rng.normal(1.5, 0.3, (100, 1))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(100)
    >>> model = DiscrepancyRegressorCV().fit(X, y, X_target=target)  # no line fits all of a sine
    >>> model.max_weight_, model.uniform_share_
    (3, 0.0)
    """

    alpha_: float
    source_alpha_: float

    def __init__(
        self,
        kernel: str | Callable[[Any, Any], Any] = "linear",
        *,
        gammas: Sequence[float] | None = None,
        degree: float = 3,
        coef0: float = 1,
        alphas: Sequence[float] | None = None,
        max_weights: Sequence[float | None] = (1.5, 2, 3),
        uniform_shares: Sequence[float] = (0.0, 0.5),
        rule: Rule | None = None,
        fit_intercept: bool = True,
        method: str = "auto",
        tol: float = 1e-2,
        time_limit: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.gammas = gammas
        self.degree = degree
        self.coef0 = coef0
        self.alphas = alphas
        self.max_weights = max_weights
        self.uniform_shares = uniform_shares
        self.rule = rule
        self.fit_intercept = fit_intercept
        self.method = method
        self.tol = tol
        self.time_limit = time_limit

    def summary(self) -> str:
        """What was chosen, and why."""
        shares = "uniform weights" if self.choice_.number == UNIFORM else self._words()
        width = "" if self.gamma_ is None else f", kernel width gamma = {self.gamma_:.3g}"
        lines = [
            f"weights    {shares}: {self.choice_.reason}",
            f"sample     effective size {self.effective_sample_size_:.0f} of {len(self.weights_)}",
            f"ridge      alpha = {self.alpha_:.3g}{width}, {self._ridge_words()}",
        ]
        if self.solution_ is not None:
            proof = self.solution_
            lines.append(f"proof      {proof.lower:.4g} <= min ||M(z)||_2 <= {proof.upper:.4g} under this cap")
        return "\n".join(lines)

    def _ridge_words(self) -> str:
        if self.alpha_ == self.source_alpha_:
            return "by generalized cross-validation on the source"
        return f"which predicts rows like the target's better than the {self.source_alpha_:.3g} chosen on the source"

    def _words(self) -> str:
        cap = "no cap" if self.max_weight_ is None else f"max_weight = {self.max_weight_:g}"
        return f"{cap}, uniform_share = {self.uniform_share_:g}"

    def _check(self) -> None:
        for name in ("gammas", "alphas"):
            values = getattr(self, name)
            if values is not None and len(values) == 0:
                msg = f"{name} must not be empty; None stands for a default grid"
                raise ValueError(msg)
            for value in () if values is None else values:
                positive(f"each of {name}", value)
        for share in self.uniform_shares:
            if not 0 <= share < 1:
                msg = (
                    f"each of uniform_shares must lie in [0, 1), got {share!r}; uniform weights are always a candidate"
                )
                raise ValueError(msg)
        if self.rule is not None and not isinstance(self.rule, Rule):
            msg = f"rule must have a method choose(trials), as Evidence() has, got {self.rule!r}"
            raise ValueError(msg)

    @property
    def _ridge_and_width(self) -> tuple[float, float | None]:
        return self.alpha_, self.gamma_

    def _weigh(self, X: np.ndarray, y: np.ndarray, X_target: np.ndarray | None, importance: np.ndarray) -> np.ndarray:
        m, Y = len(X), y.reshape(len(y), -1)
        uniform = np.full(m, 1.0 / m)
        counts = importance / importance.sum()
        self._choose_fit(X, Y, importance)
        self.path_, self.trials_ = [], None
        self.max_weight_: float | None = 1.0
        self.uniform_share_ = 1.0
        if X_target is None:
            self.choice_ = Choice(UNIFORM, "no target was given")
            return uniform
        problem = self._problem(X, X_target)
        options = {"method": self.method, "tol": self.tol, "time_limit": self.time_limit}
        self.path_ = discrepancy_path(problem, self.max_weights, **options)
        ways = [(k, share) for k in range(len(self.path_)) for share in self.uniform_shares]
        found = [uniform, *((1 - s) * np.asarray(self.path_[k].y) + s * uniform for k, s in ways)]
        gram, across = self._gram(X, X), self._gram(X_target, X)
        fits = [Smoother(gram, across, z * counts / (z @ counts), self.fit_intercept) for z in found]
        norms = [problem.game.upper(z) for z in found]
        # a smoother's weights sum to one: its ridge is that of rows whose mean importance is one
        unit = float(np.mean(importance))
        self.trials_ = Trials(X, X_target, Y, fits, norms, self.alpha_ / unit)
        self.choice_ = (self.rule or Evidence()).choose(self.trials_)
        if self.choice_.number != UNIFORM:
            k, self.uniform_share_ = ways[self.choice_.number - 1]
            self.max_weight_, self.solution_ = self.max_weights[k], self.path_[k]
        else:
            ridges = {alpha / unit: alpha for alpha in self._ridges(fits[UNIFORM].size)}
            self.alpha_ = ridges.get(self.trials_.stronger_ridge(list(ridges)), self.alpha_)
        return found[self.choice_.number]

    def _problem(self, X: np.ndarray, X_target: np.ndarray) -> Discrepancy:
        """The discrepancy of the hypotheses. An intercept is the weight of a constant feature, here of the mean square
        of the others; the other kernels hold a constant, or nearly so.
        """
        if self.kernel != "linear":
            return Discrepancy(X, X_target, kernel=self._gram)
        if not self.fit_intercept:
            return Discrepancy(X, X_target)
        constant = np.sqrt(np.mean(X**2)) or 1.0
        X, X_target = (np.column_stack([part, np.full(len(part), constant)]) for part in (X, X_target))
        return Discrepancy(X, X_target)

    def _choose_fit(self, X: np.ndarray, Y: np.ndarray, importance: np.ndarray) -> None:
        """Sets ``gamma_`` and ``alpha_``: the least generalized cross-validated error."""
        chosen: tuple[float, float | None] = (1.0, None)
        best, unit = np.inf, float(np.mean(importance))
        counts, rows = importance / importance.sum(), max(float(importance.sum()), float(len(X)))
        for gamma in self._widths(X.shape[1]):
            self.alpha_, self.gamma_ = 1.0, gamma
            gram = self._gram(X, X)
            fit = Smoother(gram, gram[:0], counts, self.fit_intercept)
            for alpha in self._ridges(fit.size):
                error = fit.cross_validated(Y, alpha / unit, rows)
                if error <= best:  # the stronger ridge of two that are alike
                    best, chosen = error, (alpha, gamma)
        self.alpha_, self.gamma_ = chosen
        self.source_alpha_ = self.alpha_

    def _widths(self, features: int) -> Sequence[float | None]:
        if callable(self.kernel) or self.kernel in WIDTHLESS:
            return (None,)
        return [c / features for c in (0.1, 0.3, 1.0, 3.0)] if self.gammas is None else self.gammas

    def _ridges(self, size: float) -> Sequence[float]:
        if self.alphas is not None:
            return self.alphas
        return [float(a) for a in (size if size > 0 else 1.0) * 10.0 ** np.arange(-3, 4.1, 0.5)]
