"""What factors W = U V^T prove: lasso duality, one factor at a time, in floating point.

    F(U, V) = 1/2 sum_s ||X_s U v_s - y_s||^2 + tie/2 sum over edges a_e ||U (v_i - v_j)||^2
              + mix sum V + base sum |U|,     V >= 0

With V fixed, F is a lasso in U; its residuals are r_s = X_s U v_s - y_s and, on edges, z_e = U (v_i - v_j). For
every t >= 0 for which t times the gradient of the smooth part is within the ball of the other norm,

    min over U of F >= -t C + t (1 - t) Q + mix sum V,
    Q = 1/2 sum ||r_s||^2 + tie/2 sum a_e ||z_e||^2,     C = Q + sum r_s . y_s,     t ||grad_U||_inf <= base

and with U fixed likewise, where only the largest of -grad_V counts: t max(-grad_V) <= mix, as V >= 0. The residuals are
taken as they were computed, since the bound holds for any; what rounding did to gradients and sums is allowed for
(`bounds`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrixlearn_network.bounds import EPS, LOSS_ERROR, Pass
from matrixlearn_network.graph import Graph


@dataclass(frozen=True)
class Terms:
    """The weights of the terms of F: those of V, of U, and of the graph."""

    mix: float
    base: float
    tie: float


@dataclass(frozen=True, eq=False)
class Factors:
    """W = U V^T.

    Parameters
    ----------
    U : array, shape (d, k)
        Base models, its columns.
    V : array, shape (m, k)
        Weights of the tasks, its rows, >= 0.
    """

    U: np.ndarray
    V: np.ndarray

    @classmethod
    def of(cls, point: np.ndarray, d: int) -> Factors:
        """From [U; V], shape (d + m, k)."""
        return cls(point[:d], point[d:])

    @property
    def stacked(self) -> np.ndarray:
        """[U; V], shape (d + m, k)."""
        return np.vstack([self.U, self.V])

    @cached_property
    def W(self) -> np.ndarray:
        """(d, m)."""
        return self.U @ self.V.T

    @property
    def off(self) -> np.ndarray:
        """By how much, in norm, rounding may have moved the columns of W, (m,)."""
        return (self.U.shape[1] + 2) * EPS * np.linalg.norm(np.abs(self.U) @ np.abs(self.V.T), axis=0)

    def balance(self, terms: Terms) -> np.ndarray:
        """The c > 0, (k,), with which U diag(c) and V diag(1 / c) cost least: both terms of a column are equal."""
        of_U, of_V = terms.base * np.abs(self.U).sum(axis=0), terms.mix * self.V.sum(axis=0)
        both = (of_U > 0) & (of_V > 0)
        return np.sqrt(np.where(both, of_V, 1.0) / np.where(both, of_U, 1.0))


def value_of(one: Pass, sizes: np.ndarray, at: Factors, graph: Graph, terms: Terms) -> float:
    """F, from a pass over the rows at W; ``sizes`` (m,) is what the rows of each machine count."""
    norms = terms.mix * float(at.V.sum()) + terms.base * float(np.abs(at.U).sum())
    return float(sizes @ one.value) + terms.tie / 2 * graph.roughness(at.V @ at.U.T) + norms


def block_bounds(one: Pass, sizes: np.ndarray, at: Factors, graph: Graph, terms: Terms) -> tuple[float, float]:
    """(lower, upper): no factor alone gets F below ``lower``, and F is at most ``upper``."""
    (d, k), m = at.U.shape, len(at.V)
    i, j, a = graph.once
    gamma = (m + d + k + len(a) + LOSS_ERROR) * EPS
    apart = at.V[i] - at.V[j]
    Z = apart @ at.U.T
    off = (k + 2) * EPS * (np.abs(apart) @ np.abs(at.U.T))
    on_edges = terms.tie / 2 * float(a @ np.sum(Z**2, axis=1))
    half = float(sizes @ one.value) + on_edges  # Q
    linear = float(sizes @ one.conjugate) + on_edges * (1 + gamma * d)  # C, from above
    of_U, of_V = terms.base * float(np.abs(at.U).sum()), terms.mix * float(at.V.sum())
    highest = float(sizes @ one.highest) + terms.tie / 2 * float(a @ np.sum((np.abs(Z) + off) ** 2, axis=1))
    upper = (highest + of_U + of_V) * (1 + gamma * (d + k))

    # the gradient of the smooth part in W, what it adds up, and what rounding did to it
    pull = terms.tie * a[:, None] * Z
    slopes = sizes[:, None] * one.slope + graph.incidence @ pull
    terms_of_slopes = sizes[:, None] * np.abs(one.slope) + abs(graph.incidence) @ np.abs(pull)
    error = sizes * one.slope_error
    U, V, lengths = np.abs(at.U), at.V, np.linalg.norm(at.U, axis=0)
    by_U = np.abs(slopes.T @ V) + 2 * gamma * (terms_of_slopes.T @ V) + (error @ V) * (1 + gamma)
    by_V = -(slopes @ at.U) + 2 * gamma * (terms_of_slopes @ U) + np.outer(error, lengths) * (1 + gamma)
    lowest = []
    for most, within, other in ((by_U.max(initial=0.0), terms.base, of_V), (by_V.max(initial=0.0), terms.mix, of_U)):
        t = 1.0 if most <= within else within / float(most) * (1 - 4 * EPS)
        sums = t * abs(linear) + t * (1 - t) * half + other
        lowest.append(-t * linear + t * (1 - t) * half * (1 - gamma * d) + other - gamma * (d + k) * sums)
    return min(lowest), upper
