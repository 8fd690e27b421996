"""Least squares of tasks on a graph with weighted group norms of neighbourhoods, at a hub that has the moments.

    min over W of   sum_k F_k(w_k) + rho/2 tr(W L W^T) + ridge/2 ||W||^2 + sum over groups g of lambda_g ||w_g||

by alternating directions: each neighbourhood has copies of its columns, y = w on all pairs,

    (diag(H_k) + (ridge I + rho L + beta diag|N_k|) (x) I) W = c + beta sum over pairs of (y - u)
    y = w + u, each group shorter by lambda / beta or 0;      u <- u + w - y

with the relaxation 1.6, and beta moved where one of the two residuals is ten times the other. beta u is in the balls of
radius lambda, whatever the iteration: a dual point. The system is factored once for each beta.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from matrixlearn.clock import ask_the_clock, there_is_time
from matrixlearn.exceptions import ProblemError
from matrixlearn_network.coupling import SYMMETRIC
from matrixlearn_network.graph import Graph
from matrixlearn_network.rows_of_groups import Neighbourhoods

DENSE_SYSTEM = 1000
"""The order d m up to which a dense factorization is quickest."""

RELAXED = 1.6
EVERY = 20
"""Iterations between looks at beta; so many are made whatever the time."""


@dataclass(frozen=True, eq=False)
class System:
    """(diag(H_k) + T (x) I) W = R, W and R by task, factored once.

    Parameters
    ----------
    grams : array, shape (m, d, d)
    tie : sparse array, shape (m, m)
        T.
    """

    grams: np.ndarray
    tie: Any

    @cached_property
    def _factor(self) -> Any:
        """The factors.

        Raises
        ------
        ProblemError
            Where T is nothing beside H_k that are singular.
        """
        try:
            return self._factored()
        except (np.linalg.LinAlgError, RuntimeError) as error:  # the second is SuperLU's
            largest = float(np.max(np.abs(self.grams)))
            msg = (
                f"ridge is too small beside features whose squares are {largest:.3g} in the mean: the system of all "
                f"tasks is singular to double precision; standardize X or raise ridge"
            )
            raise ProblemError(msg) from error

    def _factored(self) -> Any:
        m, d, _ = self.grams.shape
        if m * d <= DENSE_SYSTEM:
            from scipy.linalg import cho_factor

            whole = np.kron(self.tie.toarray(), np.eye(d))
            for k in range(m):
                whole[k * d : (k + 1) * d, k * d : (k + 1) * d] += self.grams[k]
            return cho_factor(whole)
        whole = sp.block_diag(list(self.grams), format="csc") + sp.kron(self.tie, sp.eye_array(d), format="csc")
        return sp.linalg.splu(sp.csc_array(whole), **SYMMETRIC)

    def solve(self, R: np.ndarray) -> np.ndarray:
        """(m, d)."""
        m, d, _ = self.grams.shape
        if m * d <= DENSE_SYSTEM:
            from scipy.linalg import cho_solve

            return np.asarray(cho_solve(self._factor, R.reshape(-1))).reshape(m, d)
        return np.asarray(self._factor.solve(R.reshape(-1))).reshape(m, d)


@dataclass(frozen=True, eq=False)
class Split:
    """A state: W by task, the copies y and the multipliers u by pair, and beta with its system."""

    W: np.ndarray
    y: np.ndarray
    u: np.ndarray
    beta: float
    system: System
    moved: tuple[float, float] = (np.inf, np.inf)
    """The primal and the dual residual of the last iteration, relative."""
    at: int = 0
    """Iterations so far."""

    @property
    def dual(self) -> np.ndarray:
        """beta u, one number a pair and feature."""
        return self.beta * self.u


@dataclass(frozen=True, eq=False)
class Splitting:
    """The method on moments.

    Parameters
    ----------
    grams, cross : arrays, shapes (m, d, d), (m, d)
    graph : Graph
    near : Neighbourhoods
    rho, ridge : float
    """

    grams: np.ndarray
    cross: np.ndarray
    graph: Graph
    near: Neighbourhoods
    rho: float
    ridge: float

    def _system(self, beta: float) -> System:
        diagonal = sp.diags_array(self.ridge + beta * self.near.sizes)
        return System(self.grams, sp.csr_array(diagonal + self.rho * self.graph.laplacian))

    @cached_property
    def _plain(self) -> System:
        return self._system(0.0)

    def answer(self, Z: np.ndarray) -> np.ndarray:
        """argmin over W of the smooth part + <Z, copies of W>, by task: what a dual point is judged by."""
        return self._plain.solve(self.cross - self.near.gathered(Z))

    def gradient(self, W: np.ndarray) -> np.ndarray:
        """That of the smooth part, by task, (m, d)."""
        by_rows = np.matmul(self.grams, W[:, :, None])[:, :, 0] - self.cross
        return np.asarray(by_rows + self.ridge * W + self.rho * self.graph.apply(W))

    def started(self, W: np.ndarray, Z: np.ndarray | None = None) -> Split:
        """From weights by task, and from a dual point."""
        mean = float(np.mean(np.trace(self.grams, axis1=1, axis2=2))) / self.grams.shape[1]
        beta = max(mean / float(self.near.sizes.mean()), 1e-3 * self.rho, self.ridge)
        y = self.near.copies(W)
        u = np.zeros_like(y) if Z is None else Z / beta
        return Split(W, y, u, beta, self._system(beta))

    def step(self, state: Split, radius: np.ndarray) -> Split:
        """One iteration for the weights lambda, ``radius``, of the groups, (m, d)."""
        ask_the_clock()
        near, beta, y, u = self.near, state.beta, state.y, state.u
        W = state.system.solve(self.cross + beta * near.gathered(y - u))
        copies = near.copies(W)
        relaxed = RELAXED * copies + (1 - RELAXED) * y
        new = near.shrunk(relaxed + u, radius / beta)
        u = u + relaxed - new
        size = max(float(np.linalg.norm(copies)), float(np.linalg.norm(new)), 1e-300)
        force = max(beta * float(np.linalg.norm(u)), float(np.linalg.norm(self.cross)), 1e-300)
        apart = float(np.linalg.norm(copies - new)) / size
        drift = beta * float(np.linalg.norm(new - y)) / force
        state = replace(state, W=W, y=new, u=u, moved=(apart, drift), at=state.at + 1)
        return self._rebalanced(state) if state.at % EVERY == 0 else state

    def _rebalanced(self, state: Split) -> Split:
        """With another beta, where the residuals are far apart; less and less often."""
        apart, drift = state.moved
        factor = 1.0 if max(apart, drift) <= 10 * min(apart, drift) else float(np.sqrt(apart / max(drift, 1e-300)))
        factor = float(np.clip(factor, 0.1, 10.0))
        if factor == 1.0 or state.at > 50 * EVERY:
            return state
        beta = factor * state.beta
        return replace(state, u=state.u / factor, beta=beta, system=self._system(beta))

    def solution(self, state: Split, radius: np.ndarray, tol: float, most: int) -> Split:
        """Iterations until both residuals are at most ``tol``, or ``most``."""
        for done in range(most):
            if done >= EVERY and not there_is_time():
                break
            state = self.step(state, radius)
            if max(state.moved) <= tol:
                break
        return state

    def weights(self, state: Split) -> np.ndarray:
        """The mean of the copies of each column, by task: with the zeros of the groups."""
        return self.near.gathered(state.y) / self.near.sizes[:, None]
