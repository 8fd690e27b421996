"""FETR-NN: one network for all tasks, with FETR's prior on its last layer (Section 5).

    min over theta, W, b and l I <= S1, S2 <= u I of
        sum_k ||y_k - W^T g(x_k; theta) - b||^2 + eta tr(S1 W S2 W^T) - eta (m log det S1 + p log det S2)

The trunk g: R^d -> R^p and the last layer (W, b) move by back-propagation, the two precision matrices by the steps of
`covariance` after every epoch. PyTorch and scikit-learn are imported here; the package reports their absence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from matrixlearn.multitask import SpectralPrecision
from matrixlearn_fetr.covariance import (
    PrecisionPair,
    feature_precision,
    joint_precisions,
    task_precision,
)

# -- the covariance step ---------------------------------------------------------------------------

Update = Callable[[np.ndarray, PrecisionPair, float, float], PrecisionPair]
"""(W, the last pair, lower, upper) -> the next pair."""


def joint(W: np.ndarray, last: PrecisionPair, lower: float, upper: float) -> PrecisionPair:
    """The best pair, whatever the last one was."""
    return joint_precisions(W, lower, upper)


def alternating(W: np.ndarray, last: PrecisionPair, lower: float, upper: float) -> PrecisionPair:
    """The best S1 for the last S2, then the best S2 for it: Algorithms 1 and 2, once."""
    feature = feature_precision(W, last.task, lower, upper)
    return PrecisionPair(feature, task_precision(W, feature, lower, upper))


def flip_flop(W: np.ndarray, last: PrecisionPair, lower: float, upper: float) -> PrecisionPair:
    """S1^-1 = W S2 W^T / m + I / u, then S2^-1 = W^T S1 W / p + I / u, not bounded from below: MTFRL-NN's.

    The fudge factor is 1 / u, so that u bounds the precisions of all three updates.
    """
    feature = _fudged(W, last.task, upper)
    return PrecisionPair(feature, _fudged(W.T, feature, upper))


def _fudged(W: np.ndarray, other: SpectralPrecision, upper: float) -> SpectralPrecision:
    vectors, root, _ = np.linalg.svd(W @ other.power(0.5), full_matrices=False)
    return SpectralPrecision(upper, 1 / (root**2 / W.shape[1] + 1 / upper), vectors)


PRIORS: dict[str, Update] = {"joint": joint, "alternating": alternating, "flip-flop": flip_flop}


# -- the network -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Standard:
    """x -> (x - mean) / scale, column by column; a constant column is only shifted."""

    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray) -> Standard:
        """Zero mean and unit variance on X."""
        scale = X.std(axis=0)
        return cls(X.mean(axis=0), np.where(scale > 0, scale, 1.0))

    def forward(self, X: np.ndarray) -> torch.Tensor:
        """Standardized, in the network's precision."""
        return torch.from_numpy((X - self.mean) / self.scale).to(torch.float32)

    def back(self, Z: torch.Tensor) -> np.ndarray:
        """In the units of X."""
        return Z.numpy().astype(float) * self.scale + self.mean


class FETRNetwork(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Layers of rectifiers that the tasks share, and a last one with FETR's prior.

    Features and targets are standardized inside: the squares of all tasks then count alike, and eta, lower and upper
    are about targets of variance one. Predictions are in the units of y.

    Parameters
    ----------
    hidden : sequence of int, default=(256, 100)
        Units of the hidden layers; the paper's by default.
    eta : float, default=1e-3
        Weight of the prior, >= 0; 0 is a plain multitask network.
    lower, upper : float, default=1e-3, 1e3
        0 < lower <= upper, bounds of the eigenvalues of S1 and S2. Equal ones make the prior eta lower^2 ||W||^2.
    covariances : {"joint", "alternating", "flip-flop"}, default="joint"
        How S1 and S2 follow W after every epoch: the best pair; one round of the published alternation; the
        flip-flop update with fudge factor 1 / upper, which is MTFRL on the last layer.
    epochs : int, default=150
    batch_size : int, default=128
    learning_rate : float, default=2e-3
        Of Adam, at first; it falls to 0 along a cosine.
    random_state : int, RandomState or None
        Of first weights and batches.

    Attributes
    ----------
    network_ : torch.nn.Sequential
        Of standardized features and targets.
    coef_ : ndarray, shape (p, m)
        W, weights of the last layer.
    feature_covariance_, task_covariance_ : ndarray, shapes (p, p) and (m, m)
        S1^-1 and S2^-1.
    loss_curve_ : ndarray, shape (epochs,)
        The objective over the number of rows without its log-dets, averaged over the batches of each epoch.
    n_features_in_ : int
        d.

    References
    ----------
    Zhao, Stretcu, Smola and Gordon, "Efficient multitask feature and relationship learning" (UAI 2019), Section 5.
    """

    def __init__(
        self,
        hidden: Sequence[int] = (256, 100),
        *,
        eta: float = 1e-3,
        lower: float = 1e-3,
        upper: float = 1e3,
        covariances: str = "joint",
        epochs: int = 150,
        batch_size: int = 128,
        learning_rate: float = 2e-3,
        random_state: Any = None,
    ) -> None:
        self.hidden = hidden
        self.eta = eta
        self.lower = lower
        self.upper = upper
        self.covariances = covariances
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> FETRNetwork:
        """Train for all epochs.

        Parameters
        ----------
        X : array-like, shape (n, d)
        y : array-like, shape (n, m) or (n,)

        Returns
        -------
        self
        """
        self._check()
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)
        self._is_vector = y.ndim == 1
        Y = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
        self._x, self._y = Standard.of(X), Standard.of(Y)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with _reproducible(seed):
            self._train(self._x.forward(X), self._y.forward(Y))
        return self

    def _train(self, X: torch.Tensor, Y: torch.Tensor) -> None:
        sizes, m, n = [X.shape[1], *self.hidden], Y.shape[1], len(X)
        layers: list[torch.nn.Module] = []
        for before, after in pairwise(sizes):
            layers += [torch.nn.Linear(before, after), torch.nn.ReLU()]
        last = torch.nn.Linear(sizes[-1], m)
        network = torch.nn.Sequential(*layers, last)
        optimizer = torch.optim.Adam(network.parameters(), lr=self.learning_rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, self.epochs)
        size = float(np.clip(1.0, self.lower, self.upper))
        pair = PrecisionPair(SpectralPrecision.identity(sizes[-1], size), SpectralPrecision.identity(m, size))
        curve = []
        for _ in range(self.epochs):
            left, right = (torch.from_numpy(S.power(0.5).dense()).to(X.dtype) for S in (pair.feature, pair.task))
            total = 0.0
            for rows in torch.randperm(n).split(self.batch_size):
                loss = (network(X[rows]) - Y[rows]).square().sum() / len(rows)
                if self.eta > 0:
                    loss = loss + self.eta / n * (left @ last.weight.T @ right).square().sum()
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                total += float(loss.detach()) * len(rows)
            schedule.step()
            curve.append(total / n)
            pair = PRIORS[self.covariances](_weights(last), pair, self.lower, self.upper)
        self.network_, self.loss_curve_ = network, np.array(curve)
        self.coef_ = _weights(last)
        self.feature_covariance_, self.task_covariance_ = pair.feature.inverse.dense(), pair.task.inverse.dense()

    def predict(self, X: Any) -> np.ndarray:
        """W^T g(x) + b in the units of y, shape (n, m) or (n,)."""
        check_is_fitted(self, "network_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        with torch.no_grad():
            Y = self._y.back(self.network_(self._x.forward(X)))
        return Y[:, 0] if self._is_vector else Y

    def features(self, X: Any) -> np.ndarray:
        """g(x), shape (n, p): what the trunk has learned, for a linear FETR on top of it."""
        check_is_fitted(self, "network_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        with torch.no_grad():
            return self.network_[:-1](self._x.forward(X)).numpy().astype(float)

    def _check(self) -> None:
        if not self.hidden or any(not isinstance(k, int | np.integer) or k < 1 for k in self.hidden):
            msg = f"hidden must hold whole numbers >= 1, one for each hidden layer, got {self.hidden!r}"
            raise ValueError(msg)
        for name in ("epochs", "batch_size"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < 1:
                msg = f"{name} must be a whole number >= 1, got {value!r}"
                raise ValueError(msg)
        if not 0 <= self.eta < np.inf:
            msg = f"eta must be >= 0 and finite, got {self.eta!r}"
            raise ValueError(msg)
        if not 0 < self.learning_rate < np.inf:
            msg = f"learning_rate must be positive and finite, got {self.learning_rate!r}"
            raise ValueError(msg)
        if not 0 < self.lower <= self.upper < np.inf:
            msg = f"lower and upper must satisfy 0 < lower <= upper < inf, got {self.lower!r} and {self.upper!r}"
            raise ValueError(msg)
        if self.covariances not in PRIORS:
            msg = f"covariances must be one of {sorted(PRIORS)}, got {self.covariances!r}"
            raise ValueError(msg)


def _weights(layer: torch.nn.Linear) -> np.ndarray:
    """W, (p, m)."""
    return layer.weight.detach().numpy().T.astype(float)


@contextmanager
def _reproducible(seed: int) -> Iterator[None]:
    """Random numbers from the seed, the caller's untouched; one thread, since two make layers so small slower."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(threads)
