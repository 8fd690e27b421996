"""One round: every machine sends its Gram matrix, and the hub solves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixlearn.engines import Incumbent, Proposal
from matrixlearn.machines import Block
from matrixlearn.multitask import ConjugateGradients, Kronecker, Moments, Prior, SpectralPrecision, WeightEquation
from matrixlearn_network.coupling import MeanGram
from matrixlearn_network.engines.base import NetworkEngine, Walk
from matrixlearn_network.graph import DENSE
from matrixlearn_network.problem import GraphMultitask

ROUNDS = 10
"""What `krylov` needs to 1e-6 at the most in the tables of docs/network.md."""

LARGE = 300
"""Features from which on a Gram matrix a machine is too much to hold at the hub."""

EXACT = 1e-10
"""Of the residual; the gap goes with its square."""

SYSTEM = 200
"""The order d m up to which one dense factorization is quickest."""


@dataclass(frozen=True)
class MomentsAtHub(NetworkEngine):
    """H_i and X_i^T y_i to the hub, d (d + 3) / 2 numbers a machine; there the weight equation

        H(D) + D (eta I + tau L) = C

    is solved exactly, and each machine gets its weights: the square loss only, one round.
    """

    name = "moments"
    needs_hub = True

    def _further_objection(self, problem: GraphMultitask) -> str:
        return (
            "" if problem.loss.strong_convexity > 0 else f"moments are of the square loss, not of {problem.loss.name}"
        )

    def preferred(self, problem: Any, tol: float) -> str:
        d = problem.features
        if d > LARGE or (d + 3) / 4 > ROUNDS:
            return ""
        return (
            f"d (d + 3) / 2 = {d * (d + 3) // 2} numbers a machine, once, are no more than {ROUNDS} rounds of vectors"
        )

    def init(self, problem: Any, incumbent: Incumbent) -> Walk:
        return Walk(W=self.started(problem, incumbent), ledger=problem.opened(self.name))

    def step(self, problem: Any, state: Walk, incumbent: Incumbent) -> Walk:
        if state.ledger.rounds:
            return replace(state, proposals=(), finished="the hub has solved exactly: the limit of rounding")
        weight = problem.loss.strong_convexity
        grams, cross = problem.held.map(_moments)
        d = problem.features
        at = np.triu_indices(d)
        problem.held.gather(grams[:, at[0], at[1]])
        problem.held.gather(cross)
        W = solve_at_hub(problem, weight * grams, weight * cross)
        state.ledger.end_round()
        problem.held.scatter(W)
        return replace(state, W=W, proposals=(Proposal(X=np.ascontiguousarray(W.T)),))


def solve_at_hub(problem: GraphMultitask, grams: np.ndarray, cross: np.ndarray) -> np.ndarray:
    """W by task with H_i w_i + eta w_i + tau sum_k L_ik w_k = c_i for moments by task."""
    m, d, _ = grams.shape
    moments = Moments(grams, cross.T, np.zeros(m))
    if m > DENSE:  # no dense decomposition of L
        tie = SpectralPrecision.identity(m)
        equation = _AlongEdges(moments, Prior(SpectralPrecision.identity(d), tie, problem.eta), problem)
        mean = MeanGram(moments.mean_gram, problem.graph, problem.eta, problem.tau)
        return ConjugateGradients(EXACT, precondition=lambda _: _Turned(mean))(equation, cross.T).T
    whole = WeightEquation(moments, Prior(SpectralPrecision.identity(d), problem.coupling.precision, problem.eta))
    solver = Kronecker() if d * m <= SYSTEM else ConjugateGradients(EXACT)
    return solver(whole, cross.T).T


@dataclass(frozen=True, eq=False)
class _AlongEdges(WeightEquation):
    """The weight equation with eta S2 = eta I + tau L applied along edges."""

    problem: GraphMultitask

    def apply(self, D: np.ndarray) -> np.ndarray:
        return self.moments.apply(D) + self.problem.eta * D + self.problem.tau * self.problem.graph.apply(D.T).T


@dataclass(frozen=True, eq=False)
class _Turned:
    """A preconditioner for columns by task."""

    mean: MeanGram

    def solve(self, R: np.ndarray) -> np.ndarray:
        return self.mean.solve(R.T).T


def _moments(block: Block) -> tuple[np.ndarray, np.ndarray]:
    return block.moments
