"""Penalties of joint sparsity: each feature of each neighbourhood is a group, N_k = {k} and the neighbours of k.

    Omega(W) = sum over nodes k and features r of phi(||w_kr||),     w_kr = (w_rl, l in N_k)

    l21   phi(t) = t
    rw    phi(t) = log(1 + eps t)
    l20   phi(t) = 1 - exp(-eps t)

phi is concave and increasing, so that phi(t) = min over omega > 0 of omega t + psi(omega), at omega = phi'(t): with
omega fixed the penalty is a weighted l21 norm.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from matrixlearn.exceptions import ProblemError
from matrixlearn.validation import as_number
from matrixlearn_network.graph import Graph

TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """The N_k of a graph, as pairs (k, l) with l in N_k, by k.

    Parameters
    ----------
    graph : Graph
    """

    graph: Graph

    @cached_property
    def _closed(self) -> Any:
        pattern = self.graph.weights.copy()
        pattern.data = np.ones_like(pattern.data)
        closed = sp.csr_array(pattern + sp.eye_array(len(self.graph)))
        closed.sort_indices()
        return closed

    @property
    def member(self) -> np.ndarray:
        """l of each pair, (p,)."""
        return np.asarray(self._closed.indices)

    @property
    def starts(self) -> np.ndarray:
        """Where the pairs of each k begin, (m,)."""
        return np.asarray(self._closed.indptr[:-1])

    @property
    def sizes(self) -> np.ndarray:
        """|N_k|, which is in how many neighbourhoods k is, (m,)."""
        return np.diff(self._closed.indptr)

    @cached_property
    def _gathering(self) -> Any:
        pairs = np.arange(len(self.member))
        return sp.csr_array((np.ones(len(pairs)), (self.member, pairs)), shape=(len(self.graph), len(pairs)))

    def copies(self, W: np.ndarray) -> np.ndarray:
        """w_l for each pair, (p, d), from W by task, (m, d)."""
        return W[self.member]

    def gathered(self, Z: np.ndarray) -> np.ndarray:
        """The adjoint: what the pairs of each l have, added up, (m, d)."""
        return np.asarray(self._gathering @ Z)

    def lengths(self, Y: np.ndarray) -> np.ndarray:
        """The norm of each group, (m, d), from its members in the pairs, (p, d)."""
        return np.sqrt(np.add.reduceat(Y * Y, self.starts, axis=0))

    def spread(self, by_group: np.ndarray) -> np.ndarray:
        """For each pair what its group has, (p, d)."""
        return np.repeat(by_group, self.sizes, axis=0)

    def shrunk(self, Y: np.ndarray, by: np.ndarray) -> np.ndarray:
        """Each group shorter by ``by`` (m, d), or 0: the proximal map of sum by ||y||."""
        lengths = self.lengths(Y)
        return Y * self.spread(np.maximum(1.0 - by / np.maximum(lengths, TINY), 0.0))

    def within(self, Z: np.ndarray, radius: np.ndarray) -> np.ndarray:
        """Each group in its ball of ``radius`` (m, d), also in exact arithmetic."""
        slack = 1.0 - (int(self.sizes.max()) + 8) * 2.0**-52
        lengths = self.lengths(Z)
        return Z * self.spread(np.where(lengths > slack * radius, slack * radius / np.maximum(lengths, TINY), 1.0))


class RowPenalty(ABC):
    """phi, concave and increasing from phi(0) = 0."""

    name: ClassVar[str]

    @abstractmethod
    def value(self, t: np.ndarray) -> np.ndarray:
        """phi(t)."""

    @abstractmethod
    def slope(self, t: np.ndarray) -> np.ndarray:
        """phi'(t), from the right at 0."""

    @abstractmethod
    def conjugate_as_cvxpy(self, omega: Any) -> Any:
        """psi(omega) of phi(t) = min over omega of omega t + psi(omega), in cvxpy's terms."""

    def pull(self, t: np.ndarray) -> np.ndarray:
        """What a stream takes for phi'(t) / t, 0 at 0: (12), (14), (17)."""
        return np.where(t > 0, self.slope(t) / np.maximum(t, TINY), 0.0)


@dataclass(frozen=True)
class L21(RowPenalty):
    """phi(t) = t."""

    name = "l21"

    def value(self, t: np.ndarray) -> np.ndarray:
        return t

    def slope(self, t: np.ndarray) -> np.ndarray:
        return np.ones_like(t)

    def conjugate_as_cvxpy(self, omega: Any) -> Any:
        return 0.0


@dataclass(frozen=True)
class Reweighted(RowPenalty):
    """phi(t) = log(1 + eps t): phi' = eps / (1 + eps t)."""

    epsilon: float

    name = "rw"

    def value(self, t: np.ndarray) -> np.ndarray:
        return np.log1p(self.epsilon * t)

    def slope(self, t: np.ndarray) -> np.ndarray:
        return self.epsilon / (1.0 + self.epsilon * t)

    def conjugate_as_cvxpy(self, omega: Any) -> Any:
        import cvxpy as cp

        return omega / self.epsilon - 1.0 - cp.log(omega / self.epsilon)


@dataclass(frozen=True)
class L20(RowPenalty):
    """phi(t) = 1 - exp(-eps t), near the number of rows that are not 0: phi' = eps exp(-eps t).

    A stream takes eps - eps^2 t up to t = 1 / eps, and 0 beyond (17): exp(-x) = 1 - x + ..., continuous where it ends.
    """

    epsilon: float

    name = "l20"

    def value(self, t: np.ndarray) -> np.ndarray:
        return -np.expm1(-self.epsilon * t)

    def slope(self, t: np.ndarray) -> np.ndarray:
        return self.epsilon * np.exp(-self.epsilon * t)

    def pull(self, t: np.ndarray) -> np.ndarray:
        steep = np.maximum(self.epsilon / np.maximum(t, TINY) - self.epsilon**2, 0.0)
        return np.where(t > 0, steep, 0.0)

    def conjugate_as_cvxpy(self, omega: Any) -> Any:
        import cvxpy as cp

        share = omega / self.epsilon
        return 1.0 - share - cp.entr(share)


CONCAVE: dict[str, Any] = {"rw": Reweighted, "l20": L20}
"""Penalties with an epsilon, by name."""


def row_penalty(name: Any, epsilon: Any) -> RowPenalty:
    """A penalty by its name.

    Raises
    ------
    ProblemError
        For another name, and for an epsilon that is not a finite number > 0.
    """
    if not 0 < as_number("epsilon", epsilon) < np.inf:
        msg = f"epsilon must be a finite number > 0, got {epsilon!r}; one over the size from which a row is spared"
        raise ProblemError(msg)
    if name == "l21":
        return L21()
    if name not in CONCAVE:
        msg = f"penalty must be one of ('l21', 'rw', 'l20'), got {name!r}"
        raise ProblemError(msg)
    found: RowPenalty = CONCAVE[name](float(epsilon))
    return found
