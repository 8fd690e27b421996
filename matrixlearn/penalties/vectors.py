"""Penalties of a vector: the elastic net, and groups of entries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.exceptions import ProblemError
from matrixlearn.penalties.base import Penalty, at_least_zero
from matrixlearn.validation import as_array


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """psi(x) = ridge ||x||^2 / 2 + l1 ||x||_1,  psi*(v) = ||S_l1(v)||^2 / 2 ridge.

    S_t(v) = sign(v) max(|v| - t, 0). With ridge = 0 psi* is 0 on ||v||_inf <= l1, and inf elsewhere.

    Parameters
    ----------
    ridge, l1 : float
        >= 0. ``ElasticNet(ridge)`` is a ridge, ``ElasticNet(l1=mu)`` the lasso's penalty.
    """

    ridge: float = 0.0
    l1: float = 0.0

    name = "elastic-net"
    dual_factor = 1.0
    """Of the largest entry, or of the largest group, beside ||v||."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ridge", at_least_zero("ridge", self.ridge))
        object.__setattr__(self, "l1", at_least_zero("l1", self.l1))

    @property
    def weight(self) -> float:
        return self.l1

    rounding = 4 * EPS
    """Of sums of absolute values and squares."""

    def norm(self, x: np.ndarray) -> float:
        return float(np.sum(np.abs(x)))

    def dual_norm(self, v: np.ndarray) -> float:
        return float(np.max(np.abs(v), initial=0.0))

    def shrink(self, v: np.ndarray, by: float) -> np.ndarray:
        return v - np.clip(v, -by, by)

    def subgradient(self, x: np.ndarray) -> np.ndarray:
        return np.sign(x)

    def norm_as_cvxpy(self, x: Any) -> Any:
        import cvxpy as cp

        return cp.norm1(x)


@dataclass(frozen=True, eq=False)
class Group(Penalty):
    """psi(x) = ridge ||x||^2 / 2 + mu sum over groups g of ||x_g||,  N°(v) = max ||v_g||.

    Parameters
    ----------
    mu : float
        >= 0.
    groups : array of int, shape (d,)
        The group of each entry; groups do not overlap.
    ridge : float
        >= 0.
    """

    mu: float
    groups: Any
    ridge: float = 0.0

    name = "group"
    dual_factor = 1.0
    """Of the largest entry, or of the largest group, beside ||v||."""

    @property
    def weight(self) -> float:
        return self.mu

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", at_least_zero("mu", self.mu))
        object.__setattr__(self, "ridge", at_least_zero("ridge", self.ridge))
        groups = np.asarray(as_array("groups", self.groups))
        if groups.ndim != 1:
            msg = f"groups must hold one label for each weight, shape (d,), got shape {groups.shape}"
            raise ProblemError(msg)
        object.__setattr__(self, "groups", groups)

    @cached_property
    def _index(self) -> np.ndarray:
        """The groups numbered from 0."""
        return np.unique(self.groups, return_inverse=True)[1]

    def _sizes(self, x: np.ndarray) -> np.ndarray:
        """||x_g||, one a group."""
        return np.sqrt(np.bincount(self._index, weights=x * x))

    @property
    def rounding(self) -> float:
        return (len(self.groups) + 4) * EPS

    def check(self, d: int) -> None:
        if len(self.groups) != d:
            msg = f"groups must name a group for each of the {d} weights, got {len(self.groups)}"
            raise ProblemError(msg)

    def norm(self, x: np.ndarray) -> float:
        return float(np.sum(self._sizes(x)))

    def dual_norm(self, v: np.ndarray) -> float:
        return float(np.max(self._sizes(v), initial=0.0))

    def shrink(self, v: np.ndarray, by: float) -> np.ndarray:
        sizes = self._sizes(v)
        kept = np.maximum(sizes - by, 0.0) / np.where(sizes > 0, sizes, 1.0)
        return v * kept[self._index]

    def subgradient(self, x: np.ndarray) -> np.ndarray:
        sizes = self._sizes(x)
        return x / np.where(sizes > 0, sizes, 1.0)[self._index]

    def norm_as_cvxpy(self, x: Any) -> Any:
        import cvxpy as cp

        return sum(cp.norm(x[np.flatnonzero(self._index == g)]) for g in range(int(self._index.max()) + 1))
