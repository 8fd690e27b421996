"""Which weights, without labels of the target: rules that choose among uniform weights and others.

Each rule sees the same `Trials` and answers with a `Choice`. What was measured of them is in docs/when-it-helps.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from matrixlearn_discrepancy.problem import effective_sample_size
from matrixlearn_discrepancy.smoother import Smoother

UNIFORM = 0
"""The number of uniform weights among the trials."""

LARGEST_RATIO = 20.0
"""Odds of the target are cut here: a row that no source row resembles must not decide alone."""


@dataclass(frozen=True, eq=False)
class Trials:
    """Fits of the same rows with the same ridge and several weights, uniform ones first.

    Parameters
    ----------
    X, X_target : array, shapes (m, N) and (n, N)
    y : array, shape (m, k)
    smoothers : sequence of Smoother
        One for each choice of weights.
    norms : sequence of float
        ||M(z)||_2 of each.
    alpha : float
        The ridge.
    """

    X: np.ndarray
    X_target: np.ndarray
    y: np.ndarray
    smoothers: Sequence[Smoother]
    norms: Sequence[float]
    alpha: float

    @cached_property
    def losses(self) -> np.ndarray:
        """Squared errors of each row, left out, (trials, m)."""
        return np.stack([np.sum(fit.left_out(self.y, self.alpha) ** 2, axis=1) for fit in self.smoothers])

    @cached_property
    def ratio(self) -> np.ndarray:
        """p_target(x_i) / p_source(x_i), summing to one, (m,): `density_ratio`."""
        return density_ratio(self.X, self.X_target)

    @cached_property
    def gains(self) -> tuple[np.ndarray, np.ndarray]:
        """By how much each beats uniform weights on the rows left out, weighed by `ratio`, and the standard errors."""
        return _weighed(self.losses[UNIFORM] - self.losses, self.ratio)

    def stronger_ridge(self, alphas: Sequence[float]) -> float:
        """The ridge of the largest gain on rows like those of the target, with uniform weights.

        Of those above ``alpha``, and only where the gain is half a standard error or more; else ``alpha``. A ridge
        that is chosen on the source is too weak for a target at its edge, where errors grow; evidence that it is too
        strong is less than noise (docs/when-it-helps.md).
        """
        stronger = [alpha for alpha in alphas if alpha > self.alpha]
        if not stronger:
            return self.alpha
        fit = self.smoothers[UNIFORM]
        losses = [np.sum(fit.left_out(self.y, alpha) ** 2, axis=1) for alpha in stronger]
        gains, errors = _weighed(self.losses[UNIFORM] - np.stack(losses), self.ratio)
        better = gains > 0.5 * errors
        return stronger[int(np.argmax(np.where(better, gains, -np.inf)))] if np.any(better) else self.alpha

    @cached_property
    def signals(self) -> np.ndarray:
        """mean over the target of (h_z - h_uniform)^2, over what noise in the labels alone would make of it, (trials,).

        About 1 where uniform weights are as right as these (Hausman, 1978); 0 for uniform weights themselves.
        """
        uniform = self.smoothers[UNIFORM].across(self.alpha)
        noise = self.losses[UNIFORM]
        out = np.zeros(len(self.smoothers))
        for k, fit in enumerate(self.smoothers[1:], start=1):
            apart = fit.across(self.alpha) - uniform
            expected = float(np.sum(apart**2 @ noise))
            out[k] = float(np.sum((apart @ self.y) ** 2)) / expected if expected > 0 else 0.0
        return out


def _weighed(saved: np.ndarray, ratio: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of what each trial saves, (trials, m), under a density ratio, and their standard errors."""
    mean = saved @ ratio
    return mean, np.sqrt((saved - mean[:, None]) ** 2 @ ratio**2)


@dataclass(frozen=True)
class Choice:
    """The number of the trial, and why."""

    number: int
    """Of the trial."""
    reason: str
    """Why it was chosen, in words."""


@runtime_checkable
class Rule(Protocol):
    """A rule that chooses among trials."""

    def choose(self, trials: Trials) -> Choice:
        """One of the trials."""


@dataclass(frozen=True)
class Evidence(Rule):
    """Uniform weights, unless two pieces of evidence speak against them; then the weights of the largest gain.

    The predictions on the target must move by more than noise in the labels explains (`Trials.signals`), and rows like
    those of the target must be predicted better when left out (`Trials.gains`). The first alone also answers to
    changes that do not help; the second alone is too noisy.

    Parameters
    ----------
    signal : float
        The least ratio of the squared move to that of noise.
    gain : float
        The least gain, in standard errors.
    """

    signal: float = 1.25
    gain: float = 0.5

    def choose(self, trials: Trials) -> Choice:
        gains, errors = trials.gains
        moved, better = trials.signals >= self.signal, gains > self.gain * errors
        both = moved & better
        if np.any(both):
            k = int(np.argmax(np.where(both, gains, -np.inf)))
            return Choice(
                k,
                f"predictions on the target move by {trials.signals[k]:.2f} times what noise explains, and rows like "
                f"the target's are predicted better by {gains[k] / errors[k]:.1f} standard errors",
            )
        missing = [
            "predictions on the target move no more than noise explains"
            if not np.any(moved)
            else "no weights predict rows like the target's better by more than chance",
        ]
        if np.any(moved) and np.any(better):
            missing = ["no weights both move predictions by more than noise and predict rows like the target's better"]
        return Choice(UNIFORM, missing[0])


@dataclass(frozen=True)
class ImportanceWeighted(Rule):
    """The least error of rows left out, weighed by the density ratio (Sugiyama, Krauledat and Mueller, 2007).

    Parameters
    ----------
    gain : float
        What it must be ahead of uniform weights, in standard errors; 0 for the published form.
    """

    gain: float = 0.0

    def choose(self, trials: Trials) -> Choice:
        gains, errors = trials.gains
        k = int(np.argmax(np.where(gains > self.gain * errors, gains, -np.inf)))
        if not gains[k] > self.gain * errors[k]:
            return Choice(UNIFORM, "no weights predict rows like the target's better")
        return Choice(k, f"rows like the target's are predicted better by {gains[k] / errors[k]:.1f} standard errors")


@dataclass(frozen=True)
class DiscrepancyBound(Rule):
    """The least  sum_i z_i l_i + Lambda^2 ||M(z)||_2 + C / sqrt(effective sample size).

    The thesis's bound with what it leaves out, the sample. l_i is the loss of row i, left out; Lambda the norm of the
    fit; C the standard deviation of the losses, so that the last term is the standard error of the first.
    """

    def choose(self, trials: Trials) -> Choice:
        fits = zip(trials.smoothers, trials.norms, trials.losses, strict=True)
        bounds = [
            fit.weights @ loss
            + fit.norm(trials.y, trials.alpha) ** 2 * norm
            + float(np.std(trials.losses[UNIFORM])) / np.sqrt(effective_sample_size(fit.weights))
            for fit, norm, loss in fits
        ]
        k = int(np.argmin(bounds))
        return Choice(k, f"the bound is {bounds[k]:.3g}, and {bounds[UNIFORM]:.3g} for uniform weights")


def density_ratio(X: np.ndarray, X_target: np.ndarray) -> np.ndarray:
    """Odds of the target under a logistic regression that tells the domains apart, by 5 folds, (m,).

    Cut at 20 times those of equal domains, and scaled to sum to one.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    m, n = len(X), len(X_target)
    folds = min(5, m, n)
    if folds < 2:
        return np.full(m, 1.0 / m)
    side = np.repeat([0, 1], [m, n])
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000))
    split = StratifiedKFold(folds, shuffle=True, random_state=0)
    chance = cross_val_predict(model, np.concatenate([X, X_target]), side, cv=split, method="predict_proba")[:m, 1]
    odds = np.minimum(chance / np.maximum(1 - chance, 1e-12) * m / n, LARGEST_RATIO)
    return np.asarray(odds / odds.sum())
