"""How strongly to shrink: the variances of a mixed model by restricted maximum likelihood (REML).

    y_i = A_i (beta + u_i) + e_i,     u_i ~ N(0, sigma^2 Omega),     e_i ~ N(0, sigma^2 I),     beta of a flat prior

A_i has a column of ones first, where there are intercepts: they scatter as slopes do. sigma^2 and beta have closed
forms for given Omega = R R^T, and what is left, the profiled deviance of Bates et al. (2015),

    sum_i log det(I + R^T G_i R) + log det H + (n - p) log q,      G_i = A_i^T A_i,

is minimized over R. Marginal likelihood integrates the weights out, and so does not collapse where tasks have few
rows, as a maximum over weights and covariances together can. Given Omega, the weights are those of FETR in the features
A R with eta = 1 and both precisions the identity (`training.MixedTraining`): a convex problem.

References
----------
Bates, Maechler, Bolker and Walker, "Fitting linear mixed-effects models using lme4", J. Stat. Softw. 67, 2015.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.optimize

from matrixlearn.multitask import Moments

EPS = float(np.finfo(np.float64).eps)

LEAST = 1e-3
"""No standard deviation is below this share of the noise's, in features of mean square 1: a mean needs them all."""

WIDEST = 40
"""Columns of A up to which a full Omega is among the structures: it has p (p + 1) / 2 parameters."""


@dataclass(frozen=True)
class Structure:
    """Which Omega are considered: R is linear in the parameters."""

    entries: Callable[[int, bool], np.ndarray]
    """The parameter that each entry of R holds, -1 for an entry of 0, for p columns with or without an intercept."""


def _isotropic(p: int, intercept: bool) -> np.ndarray:
    out = np.full((p, p), -1)
    out[np.diag_indices(p)] = np.minimum(np.arange(p), 1) if intercept else 0
    return out


def _diagonal(p: int, intercept: bool) -> np.ndarray:
    out = np.full((p, p), -1)
    out[np.diag_indices(p)] = np.arange(p)
    return out


def _full(p: int, intercept: bool) -> np.ndarray:
    out = np.full((p, p), -1)
    out[np.tril_indices(p)] = np.arange(p * (p + 1) // 2)
    return out


STRUCTURES = {"isotropic": Structure(_isotropic), "diagonal": Structure(_diagonal), "full": Structure(_full)}
"""One variance for intercepts and one for all slopes; one for each feature; and any covariance."""


@dataclass(frozen=True, eq=False)
class MixedModel:
    """The model at one Omega.

    Parameters
    ----------
    moments : Moments
        Of the rows A_i, one Gram matrix for each task.
    count : float
        n, what all rows count together.
    root : array, shape (p, p)
        R.
    """

    moments: Moments
    count: float
    root: np.ndarray

    @cached_property
    def _inside(self) -> np.ndarray:
        """I + R^T G_i R, (m, p, p)."""
        return np.asarray(np.eye(len(self.root)) + self.root.T @ self.moments.gram @ self.root)

    @cached_property
    def spread(self) -> np.ndarray:
        """R (I + R^T G_i R)^-1 R^T: the covariance of u_i given beta, over sigma^2; (m, p, p)."""
        return np.asarray(self.root @ np.linalg.solve(self._inside, np.broadcast_to(self.root.T, self._inside.shape)))

    @cached_property
    def _shares(self) -> np.ndarray:
        """H_i = G_i - G_i K_i G_i, K_i the spread: what task i says of beta; (m, p, p)."""
        G = self.moments.gram
        return np.asarray(G - G @ self.spread @ G)

    @cached_property
    def _pulls(self) -> np.ndarray:
        """c_i - G_i K_i c_i in rows, (m, p)."""
        c = self.moments.cross.T[:, :, None]
        return np.asarray((c - self.moments.gram @ (self.spread @ c))[:, :, 0])

    @cached_property
    def _spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of H = sum_i H_i, without those of rounding."""
        values, vectors = np.linalg.eigh(self._shares.sum(axis=0))
        used = values > 100 * EPS * len(values) * values[-1]
        return values[used], vectors[:, used]

    @cached_property
    def mean(self) -> np.ndarray:
        """beta, (p,)."""
        values, vectors = self._spectrum
        return np.asarray(vectors @ ((vectors.T @ self._pulls.sum(axis=0)) / values))

    @cached_property
    def deviations(self) -> np.ndarray:
        """u_i in rows, (m, p)."""
        rest = self.moments.cross.T - self.moments.gram @ self.mean
        return np.asarray((self.spread @ rest[:, :, None])[:, :, 0])

    @cached_property
    def freedom(self) -> float:
        """n - p, p being the rank of H."""
        return self.count - len(self._spectrum[0])

    @cached_property
    def misfit(self) -> float:
        """q: the squared residuals and, by their prior, the squared deviations at their best."""
        c, total = self.moments.cross.T, float(np.sum(self.moments.square))
        explained = float(np.einsum("ij,ijk,ik->", c, self.spread, c) + self._pulls.sum(axis=0) @ self.mean)
        return max(total - explained, EPS * total, np.finfo(float).tiny)

    @property
    def noise(self) -> float:
        """sigma^2."""
        return self.misfit / self.freedom

    @property
    def deviance(self) -> float:
        """-2 log of the restricted likelihood, less a constant."""
        logdet = float(np.sum(np.linalg.slogdet(self._inside)[1]) + np.sum(np.log(self._spectrum[0])))
        return logdet + self.freedom * float(np.log(self.misfit))

    def gradient(self) -> np.ndarray:
        """Of the deviance by R, (p, p)."""
        values, vectors = self._spectrum
        H, through = self._shares, self._shares @ vectors
        by_omega = H.sum(axis=0) - ((through / values) @ through.transpose(0, 2, 1)).sum(axis=0)
        rest = self._pulls - H @ self.mean
        return np.asarray(2 * (by_omega - rest.T @ rest / self.noise) @ self.root)


def estimate(moments: Moments, count: float, structure: Structure, intercept: bool) -> MixedModel | None:
    """The model of the largest restricted likelihood; None where the rows do not determine it.

    Parameters
    ----------
    moments : Moments
        With one Gram matrix for each task.
    count : float
        n.
    structure : Structure
    intercept : bool
        Whether the first column of the rows is one of ones.
    """
    p, m = moments.shape
    size = np.sqrt(np.einsum("ijj->j", moments.gram) / count)
    size = np.where(size > 0, size, 1.0)
    at = structure.entries(p, intercept)
    held = at >= 0

    def root(parameters: np.ndarray) -> np.ndarray:
        return np.asarray(np.where(held, parameters[at], 0.0) / size[:, None])

    first = np.zeros(at.max() + 1)
    first[np.diag(at)] = 0.3
    if m < 2 or MixedModel(moments, count, root(first)).freedom <= 0:
        return None

    def deviance(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        model = MixedModel(moments, count, root(parameters))
        slope = model.gradient() / size[:, None]
        return model.deviance, np.bincount(at[held], slope[held], len(parameters))

    found = scipy.optimize.minimize(
        deviance, first, jac=True, method="L-BFGS-B", options={"maxiter": 100, "ftol": 1e-7}
    )
    return MixedModel(moments, count, _floored(root(found.x) * size[:, None]) / size[:, None])


def _floored(root: np.ndarray) -> np.ndarray:
    """A root of the same Omega with no singular value below `LEAST`."""
    left, values, right = np.linalg.svd(root)
    return np.asarray((left * np.maximum(values, LEAST)) @ right)
