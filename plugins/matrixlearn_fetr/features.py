"""Orthogonal random features: a nonlinear FETR is a linear one behind them.

    z(x) = (cos(w_1 x), ..., cos(w_n x), sin(w_1 x), ..., sin(w_n x)) / sqrt(n)
    E z(x)^T z(x') = exp(-gamma ||x - x'||^2)

The frequencies of random Fourier features are n draws from N(0, 2 gamma I). Here each has the same law, so that the
kernel is met exactly in the mean, but within a block of d they are orthogonal (Felix et al., "Orthogonal random
features", 2016): directions from one Haar matrix, lengths independent. At distance r the mean of n frequencies has
the variance, with t = gamma r^2,

    (1 - exp(-2 t))^2 / (2 n)  +  c(t) times the share of ordered pairs within a block,
    c(t) = 1F1(d; d/2; -t) - exp(-2 t)

where the first term is that of plain features; c < 0 unless the kernel itself is nearly 0.

scikit-learn's `RBFSampler` and `Nystroem` serve in the same place. It is imported here, and its absence is reported by
the package.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data


class OrthogonalFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """z(x)^T z(x') ~ exp(-gamma ||x - x'||^2), unbiased, with orthogonal frequencies.

    Parameters
    ----------
    n_frequencies : int, default=50
        n >= 1; each gives two features, a cosine and a sine.
    gamma : float or "scale", default="scale"
        Of the kernel; "scale" is 1 / (d Var(X)).
    random_state : int, RandomState or None
        Of the frequencies.

    Attributes
    ----------
    frequencies_ : ndarray, shape (d, n_frequencies)
        One frequency a column.
    gamma_ : float
        The gamma used.
    n_features_in_ : int
        d.

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_fetr import OrthogonalFeatures
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> Z = OrthogonalFeatures(1000, gamma=0.5, random_state=0).fit_transform(X)
    >>> bool(abs(Z[0] @ Z[1] - np.exp(-0.5)) < 0.02)
    True
    """

    def __init__(self, n_frequencies: int = 50, *, gamma: float | str = "scale", random_state: Any = None) -> None:
        self.n_frequencies = n_frequencies
        self.gamma = gamma
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> OrthogonalFeatures:
        """Draw the frequencies.

        Parameters
        ----------
        X : array-like, shape (n, d)
        y : ignored

        Returns
        -------
        self
        """
        X = validate_data(self, X, dtype=np.float64)
        n = self.n_frequencies
        if not isinstance(n, int | np.integer) or n < 1:
            msg = f"n_frequencies must be a whole number >= 1, got {n!r}"
            raise ValueError(msg)
        self.gamma_ = self._gamma(X)
        random, d, missing = check_random_state(self.random_state), X.shape[1], n
        blocks = []
        while missing > 0:
            # columns of Q up to sign, which neither a cosine nor a product of sines sees: Haar enough
            Q = np.linalg.qr(random.standard_normal((d, d)))[0][:, :missing]
            blocks.append(Q * np.sqrt(random.chisquare(d, Q.shape[1])))
            missing -= Q.shape[1]
        self.frequencies_ = np.sqrt(2 * self.gamma_) * np.hstack(blocks)
        self._n_features_out = 2 * n
        return self

    def transform(self, X: Any) -> np.ndarray:
        """z(x) of each row, shape (n_samples, 2 n_frequencies); every row has norm 1."""
        check_is_fitted(self, "frequencies_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        n = self.frequencies_.shape[1]
        angles, Z = X @ self.frequencies_, np.empty((len(X), 2 * n))
        np.cos(angles, out=Z[:, :n])
        np.sin(angles, out=Z[:, n:])
        Z /= np.sqrt(n)
        return Z

    def _gamma(self, X: np.ndarray) -> float:
        if self.gamma == "scale":
            variance = float(X.var())
            return 1 / (X.shape[1] * variance) if variance > 0 else 1.0
        if isinstance(self.gamma, str) or not 0 < self.gamma < np.inf:
            msg = f'gamma must be a positive number or "scale", got {self.gamma!r}'
            raise ValueError(msg)
        return float(self.gamma)
