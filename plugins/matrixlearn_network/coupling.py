"""What ties the tasks: M = I + (tau / eta) L, applied along edges and inverted at a hub."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from matrixlearn.exceptions import ProblemError
from matrixlearn.multitask import SpectralPrecision
from matrixlearn_network.graph import DENSE, Graph


@dataclass(frozen=True, eq=False)
class Coupling:
    """M = I + (tau / eta) L for eta > 0; rows are tasks, as everywhere in the engines.

    M^-1 has entries >= 0 and rows of sum 1: it takes weighted averages over the tasks.

    Parameters
    ----------
    graph : Graph
    eta, tau : float
    """

    graph: Graph
    eta: float
    tau: float

    @property
    def ratio(self) -> float:
        """tau / eta."""
        return self.tau / self.eta

    def apply(self, V: np.ndarray) -> np.ndarray:
        """M V for V by task, (m, d)."""
        return V + self.ratio * self.graph.apply(V)

    @cached_property
    def _factor(self) -> Any:
        m = len(self.graph)
        if m <= DENSE:
            from scipy.linalg import cho_factor

            try:
                return cho_factor(np.eye(m) + self.ratio * self.graph.laplacian.toarray())
            except np.linalg.LinAlgError as error:  # rounding has lost the I
                most = self.ratio * float(np.max(self.graph.laplacian.diagonal()))
                msg = f"tau / eta times the weights of the graph is {most:.3g}: to double precision, the tasks are one"
                raise ProblemError(msg) from error
        return sp.linalg.splu(sp.csc_array(sp.eye_array(m) + self.ratio * self.graph.laplacian), **SYMMETRIC)

    def solve(self, V: np.ndarray) -> np.ndarray:
        """M^-1 V for V by task, (m, d)."""
        if len(self.graph) <= DENSE:
            from scipy.linalg import cho_solve

            return np.asarray(cho_solve(self._factor, V))
        return np.asarray(self._factor.solve(np.ascontiguousarray(V)))

    @cached_property
    def precision(self) -> SpectralPrecision:
        """M by its eigenvalues, those of L."""
        values, vectors = self.graph.spectrum
        shifted = 1.0 + self.ratio * values
        return SpectralPrecision(float(shifted[0]), shifted, vectors)


SYMMETRIC = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
"""For SuperLU: keep the fill of a Cholesky factorization."""


@dataclass(frozen=True, eq=False)
class MeanGram:
    """(H_mean (x) I + I (x) (eta I + tau L))^-1 for the mean Gram matrix H_mean = E diag(lambda) E^T.

    Where L is small one decomposition of it serves all; else one sparse factorization for each lambda.

    Parameters
    ----------
    mean : array, shape (d, d)
    graph : Graph
    eta, tau : float
    """

    mean: np.ndarray
    graph: Graph
    eta: float
    tau: float

    @cached_property
    def _basis(self) -> tuple[np.ndarray, np.ndarray]:
        values, E = np.linalg.eigh(self.mean)
        return np.maximum(values, 0.0), E

    @cached_property
    def _factors(self) -> list[Any]:
        m, L = len(self.graph), self.tau * self.graph.laplacian
        shifts = self._basis[0] + self.eta
        return [sp.linalg.splu(sp.csc_array(shift * sp.eye_array(m) + L), **SYMMETRIC) for shift in shifts]

    def solve(self, R: np.ndarray) -> np.ndarray:
        """Applied to R by task, (m, d)."""
        values, E = self._basis
        turned = R @ E
        if len(self.graph) > DENSE:
            parts = [lu.solve(turned[:, j].copy()) for j, lu in enumerate(self._factors)]
            return np.column_stack(parts) @ E.T
        mu, Q = self.graph.spectrum
        size = values + self.eta + self.tau * mu[:, None]
        return np.asarray(Q @ ((Q.T @ turned) / np.where(size > 0, size, 1.0)) @ E.T)
