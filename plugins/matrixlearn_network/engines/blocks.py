"""Block coordinate descent on factors W = U V^T: extrapolated proximal steps, U at the hub, V on the machines.

    U <- shrink by base / tau_U of  U^ - (sum_s (G_s U^ v_s - c_s) v_s^T + tie U^ V^T L V) / tau_U
    v_s <- max(0, v^_s - (U^T (G_s U v^_s - c_s) + tie U^T U sum_i L_si v^_i + mix) / tau_s)

with G_s = X_s^T X_s, c_s = X_s^T y_s, U^ = U + w_U (U - U_old), v^ = v + w_s (v - v_old), and steps that bound the
curvature,

    tau_U = sum_s ||G_s|| ||v_s||^2 + tie ||V^T L V||,      tau_s = ||U^T G_s U|| + 2 tie ||U||^2 deg_s

(L <= 2 D, so that each task has a step of its own, and no maximum over tasks is to be found). The extrapolation is
w = min((t - 1) / t+, 0.9999 sqrt(tau_old / tau)), t+ = (1 + sqrt(1 + 4 t^2)) / 2; where F rises, the step is taken
again with w = 0 and t = 1, which cannot raise it (Xu and Yin, 2013).

After each round every column of U and V shares its size as costs least (`Factors.balance`): that direction is the
slowest of proximal steps, and with it known the median of the rounds to 1e-5 falls to a third.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixlearn.engines import Engine, Incumbent, Proposal, State
from matrixlearn.machines import Block, Ledger, Mail
from matrixlearn.penalties import ElasticNet
from matrixlearn.problems import Problem
from matrixlearn_network.factors import Factors
from matrixlearn_network.gspartan import GSpartan

TINY = 1e-300


@dataclass(frozen=True, eq=False, kw_only=True)
class Blocks(State):
    """Factors, those before, and the curvatures of the last steps."""

    at: Factors
    before: Factors
    value: float
    """F."""
    t: float = 1.0
    by_U: float = np.inf
    """tau_U."""
    by_V: np.ndarray
    """tau_s, (m,)."""
    norms: np.ndarray
    """||G_s||, (m,)."""
    mail: Mail
    ledger: Ledger


@dataclass(frozen=True)
class BlockCoordinateDescent(Engine):
    """A round: U to all machines, their gradients back, v_s to neighbours.

    Parameters
    ----------
    rounds : int
        Of an iteration: a check of a point is another pass over the rows.
    """

    rounds: int = 20

    name = "bcd"

    def objection(self, problem: Problem) -> str:
        if not isinstance(problem, GSpartan):
            return f"{self.name} is for GSpartan"
        if not problem.machines.hub:
            return f"{self.name} needs a hub, which keeps U, and these machines have none"
        if not problem.machines.reliable:
            return f"{self.name} has no proof of convergence where messages are late or lost"
        return ""

    def init(self, problem: Any, incumbent: Incumbent) -> Blocks:
        ledger = problem.opened(self.name)
        at = problem.factors(incumbent.X)
        norms = problem.held.gather(problem.held.map(_norms))
        mail = problem.held.mail(problem.graph.links, at.V)
        every = np.full(len(at.V), np.inf)
        return Blocks(
            at=at, before=at, value=problem.value(at), by_V=every, norms=norms, mail=mail, ledger=ledger
        )  # fmt: skip

    def step(self, problem: Any, state: Blocks, incumbent: Incumbent) -> Blocks:
        for _ in range(self.rounds):
            state = self._round(problem, state)
            if state.finished:
                break
        return replace(state, proposals=(Proposal(X=state.at.stacked),))

    def _round(self, problem: Any, state: Blocks) -> Blocks:
        """A step in both factors that does not raise F."""
        t = (1 + np.sqrt(1 + 4 * state.t**2)) / 2
        new = self._moved(problem, state, (state.t - 1) / t)
        if not new.value <= state.value:
            t, new = 1.0, self._moved(problem, state, 0.0)
        if new.value < state.value or (new.value == state.value and state.t > 1):
            return replace(new, t=t)
        return replace(state, finished="no step lowers the objective: the limit of rounding")

    def _moved(self, problem: Any, state: Blocks, ahead: float) -> Blocks:
        """After a step in U and a step in V, extrapolated by ``ahead`` at the most."""
        held, graph, tie = problem.held, problem.graph, problem.tie
        V, U = state.at.V, state.at.U
        spread = V.T @ graph.apply(V)
        tau = float(state.norms @ np.sum(V**2, axis=1)) + tie * _norm(spread)
        by_U = max(tau, TINY)
        there = U + min(ahead, 0.9999 * np.sqrt(state.by_U / by_U)) * (U - state.before.U)
        state.ledger.down += len(V) * U.size
        held.gather(V)  # the hub adds up v_s' outer products
        gradient = held.gather(held.map(_slopes, V, U=there)).T @ V + tie * there @ spread
        U = ElasticNet(l1=problem.base).prox(there - gradient / by_U, 1 / by_U)

        state.ledger.down += len(V) * U.size
        by_V = held.map(_curvatures, U=U) + 2 * tie * float(np.linalg.norm(U, 2)) ** 2 * graph.degrees
        by_V = np.maximum(by_V, TINY)
        there = V + np.minimum(ahead, 0.9999 * np.sqrt(state.by_V / by_V))[:, None] * (V - state.before.V)
        mail = held.exchange(state.mail, there)
        apart = graph.degrees[:, None] * there - mail.links.summing(graph.link_weights) @ mail.held
        V = held.map(_mixed, there, apart, by_V, U=U, tie=tie, mix=problem.mix)
        state.ledger.end_round()
        # how the two share the size of a column costs nothing but norms: the best share is known
        scale = Factors(U, V).balance(problem.terms)
        at, before = Factors(U * scale, V / scale), Factors(state.at.U * scale, state.at.V / scale)
        return replace(state, at=at, before=before, value=problem.value(at), by_U=by_U, by_V=by_V, mail=mail)

    def remarks(self, state: Any) -> str:
        return f"sent: {state.ledger}"


def _norm(S: np.ndarray) -> float:
    """The largest eigenvalue of a symmetric matrix >= 0."""
    return max(float(np.linalg.eigvalsh(S)[-1]), 0.0)


# -- what machines compute ---------------------------------------------------------------------------


def _norms(block: Block) -> np.ndarray:
    return block.summed(block.counts) * np.maximum(block.spectra[0][:, -1], 0.0)


def _slopes(block: Block, V: np.ndarray, U: np.ndarray) -> np.ndarray:
    """G_s U v_s - c_s, (k, d)."""
    H, c = block.moments
    W = np.matmul(V[:, None, :], U.T)
    return block.summed(block.counts)[:, None] * (np.matmul(W, H)[:, 0] - c)


def _curvatures(block: Block, U: np.ndarray) -> np.ndarray:
    """||U^T G_s U||, (k,)."""
    inner = np.matmul(np.matmul(U.T, block.moments[0]), U)
    return block.summed(block.counts) * np.maximum(np.linalg.eigvalsh(inner)[:, -1], 0.0)


def _mixed(
    block: Block, V: np.ndarray, apart: np.ndarray, tau: np.ndarray, U: np.ndarray, tie: float, mix: float
) -> np.ndarray:
    """The step in v_s, (k, rank)."""
    pulls = _slopes(block, V, U) + tie * np.matmul(apart[:, None, :], U.T)[:, 0]
    return np.maximum(V - (np.matmul(pulls[:, None, :], U)[:, 0] + mix) / tau[:, None], 0.0)
