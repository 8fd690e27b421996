"""Weighted kernel ridge regression as a linear map of the labels, for every ridge from one decomposition.

    h(x) = sum_i s_i(x) y_i,     h minimizes  m sum_i z_i (y_i - h(x_i))^2 + alpha ||h||^2

With r = sqrt(m z) and diag(r) K diag(r) = V diag(lambda) V^T, the Gram matrix centred by z where there is an
intercept (r is then no column of V), what row i is off the fit without it is

    y_i - h_(-i)(x_i) = sum_k V_ik (V^T r (y - mean))_k / (lambda_k + alpha) / (r_i sum_k V_ik^2 / (lambda_k + alpha)).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np


class Smoother:
    """The fits of one kernel and one choice of weights.

    Parameters
    ----------
    gram : array, shape (m, m)
        K of the source.
    across : array, shape (n, m)
        K of the points that are predicted with the source.
    weights : array, shape (m,)
        z, >= 0 and summing to one.
    fit_intercept : bool
    """

    def __init__(self, gram: np.ndarray, across: np.ndarray, weights: np.ndarray, fit_intercept: bool) -> None:
        self.weights, self.fit_intercept = weights, fit_intercept
        self._root = np.sqrt(len(weights) * weights)
        self._inside = self._centred(gram, gram)
        self._across = self._centred(across, gram)

    def _centred(self, rows: np.ndarray, gram: np.ndarray) -> np.ndarray:
        """<phi(x) - mu, phi(x_i) - mu> for each row of inner products."""
        if not self.fit_intercept:
            return rows
        z = self.weights
        mean = z @ gram
        return np.asarray(rows - mean - (rows @ z)[:, None] + mean @ z)

    @cached_property
    def _spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """lambda and V."""
        r = self._root
        B = r[:, None] * self._inside * r
        if not self.fit_intercept:
            values, vectors = np.linalg.eigh(B)
            return np.maximum(values, 0.0), vectors
        above = 2 * float(np.trace(B)) or 1.0
        values, vectors = np.linalg.eigh(B + above * np.outer(r, r) / len(r))  # r becomes the last eigenvector
        return np.maximum(values[:-1], 0.0), vectors[:, :-1]

    def _along(self, y: np.ndarray) -> np.ndarray:
        """V^T r (y - mean)."""
        mean = self.weights @ y if self.fit_intercept else 0.0
        return np.asarray(self._spectrum[1].T @ (self._root[:, None] * (y - mean)))

    @property
    def size(self) -> float:
        """sum_i z_i K(x_i, x_i), centred: the unit of a ridge."""
        return float(self.weights @ np.diag(self._inside))

    def cross_validated(self, y: np.ndarray, alpha: float, rows: float) -> float:
        """sum_i z_i (y_i - h(x_i))^2 / (1 - tr H / rows)^2, H the map from labels to fits.

        Generalized cross-validation (Golub, Heath and Wahba, 1979): the mean error of `left_out` with the mean of h_ii
        in the place of each. Rows count as their weights say: a row that is there twice is a row of weight two.
        """
        values, vectors = self._spectrum
        used = self._root > 0
        left = alpha * (vectors @ (self._along(y) / (values + alpha)[:, None]))  # r (y - h)
        freedom = float(np.sum(values / (values + alpha))) + self.fit_intercept
        error = float(np.sum(left[used] ** 2)) / len(y)
        # with as many parameters as rows it is 0 / 0: the limit for an interpolation is not known here
        return error / (1 - freedom / rows) ** 2 if freedom < rows * (1 - 1e-9) else np.inf

    def left_out(self, y: np.ndarray, alpha: float) -> np.ndarray:
        """y_i less what is predicted of it without it, of the shape of y, (m, k)."""
        values, vectors = self._spectrum
        along = vectors @ (self._along(y) / (values + alpha)[:, None])
        used = self._root > 0
        fit = (self._inside[~used] * self._root) @ along  # a row without weight is out of sight as it is
        out = np.empty_like(y, dtype=float)
        out[~used] = y[~used] - fit - (self.weights @ y if self.fit_intercept else 0.0)
        share = self._root * (vectors**2 @ (1 / (values + alpha)))
        out[used] = along[used] / np.maximum(share[used], np.finfo(float).tiny)[:, None]
        return out

    def across(self, alpha: float) -> np.ndarray:
        """s_i(x) for the points that are predicted, (n, m)."""
        values, vectors = self._spectrum
        out = (self._across * self._root @ vectors / (values + alpha)) @ vectors.T * self._root
        if self.fit_intercept:
            out += np.outer(1 - out.sum(axis=1), self.weights)
        return np.asarray(out)

    def norm(self, y: np.ndarray, alpha: float) -> float:
        """||h||, of all columns of y together."""
        values = self._spectrum[0][:, None]
        return float(np.sqrt(np.sum(values * (self._along(y) / (values + alpha)) ** 2)))
