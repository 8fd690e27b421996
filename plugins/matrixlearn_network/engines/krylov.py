"""Conjugate gradients on the normal equations, and Newton's method around them.

    (diag(H_i) + (eta I + tau L) (x) I) D = -m grad P,        H_i the Hessian of F_i

Two preconditioners. With a hub the same system with the mean of the H_i in the place of each, d (d + 1) / 2 numbers a
machine once a Newton step (`MeanGram`); then a round is a vector up and a vector down. Without one, or where tasks are
coupled so weakly that their own systems are nearly the whole, H_i + (eta + tau deg_i) I on each machine; then a round
is a vector to each neighbour and two numbers for the inner products.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from matrixlearn.engines import Incumbent, Proposal
from matrixlearn.machines import Block, Ledger, Mail
from matrixlearn_network.coupling import MeanGram
from matrixlearn_network.engines.base import NetworkEngine, Walk
from matrixlearn_network.local_steps import curvature
from matrixlearn_network.problem import GraphMultitask

WEAK = 1.0
"""Own blocks where tau lambda_max is at most this times eta and the least curvature of a typical task's loss."""

FORCING = 0.1
"""The part of a Newton system's residual at which the step is taken, at the most; less near the end."""

ARMIJO = 1e-4


@dataclass(frozen=True, eq=False, kw_only=True)
class Descent(Walk):
    """A Newton step in the making: D solves the system at W as far as residual says."""

    value: float
    gradient: np.ndarray
    """m times that of P at W, by task."""
    hessians: np.ndarray
    """H_i, kept by the machines, (m, d, d)."""
    mean: MeanGram | None = None
    """The preconditioner of the hub; None for own blocks."""
    D: np.ndarray
    residual: np.ndarray
    direction: np.ndarray
    size: float
    """<residual, preconditioned residual>."""
    goal: float
    mail: Mail = field(repr=False)


@dataclass(frozen=True)
class Krylov(NetworkEngine):
    """Preconditioned conjugate gradients; one iteration is one round.

    Parameters
    ----------
    precondition : {"auto", "mean", "own"}
        By the mean Gram matrix at the hub, or by each machine's own block.
    """

    precondition: str = "auto"

    name = "krylov"

    @property
    def _needs_hub(self) -> bool:
        return self.precondition == "mean"

    def _further_objection(self, problem: GraphMultitask) -> str:
        if self.precondition not in ("auto", "mean", "own"):
            return f"krylov takes precondition 'auto', 'mean' or 'own', not {self.precondition!r}"
        return ""

    def uses_mean(self, problem: GraphMultitask) -> bool:
        """Whether the mean Gram matrix preconditions."""
        if self.precondition != "auto":
            return self.precondition == "mean"
        return problem.machines.hub and not _is_weakly_coupled(problem)

    def init(self, problem: Any, incumbent: Incumbent) -> Descent:
        ledger = problem.opened(self.name)
        W = self.started(problem, incumbent)
        return self._newton(problem, W, ledger, problem.held.mail(problem.graph.links, W))

    def _newton(self, problem: Any, W: np.ndarray, ledger: Ledger, mail: Mail, last: Descent | None = None) -> Descent:
        """The system at W, and the first direction; ``last`` is the end of the system before."""
        X = np.ascontiguousarray(W.T)
        gradient = problem.gradient(X)
        hessians = problem.held.map(_hessians, W, loss=problem.loss)
        mean = None if last is None else last.mean
        if self.uses_mean(problem) if last is None else mean is not None:
            d = W.shape[1]
            at = np.triu_indices(d)
            triangles = problem.held.gather(hessians[:, at[0], at[1]])  # d (d + 1) / 2 numbers a machine
            H = np.zeros((d, d))
            H[at] = triangles.mean(axis=0)
            mean = MeanGram(H + np.triu(H, 1).T, problem.graph, problem.eta, problem.tau)
            problem.held.gather(gradient)
        residual = -gradient
        z = self._preconditioned(problem, hessians, mean, residual)
        size = float(np.vdot(residual, z))
        forcing = 0.0 if problem.loss.strong_convexity > 0 else FORCING
        if last is not None and np.isfinite(last.value):  # superlinear: ask more as the gradient falls
            before = float(np.linalg.norm(last.gradient))
            forcing = min(forcing, 0.5 * float(np.linalg.norm(gradient)) / before if before else 0.0)
        return Descent(
            W=W, ledger=ledger, mail=mail, value=problem.value(X), gradient=gradient, hessians=hessians, mean=mean,
            D=np.zeros_like(W), residual=residual, direction=z, size=size, goal=forcing**2 * size,
        )  # fmt: skip

    def step(self, problem: Any, state: Descent, incumbent: Incumbent) -> Descent:
        if state.size <= 0:
            return replace(state, proposals=(), finished="the gradient is zero to rounding")
        image, mail = self._image(problem, state)
        along = float(np.vdot(state.direction, image))
        state.ledger.end_round()
        if along <= 0:
            return replace(state, proposals=(), finished="rounding leaves no direction of descent")
        length = state.size / along
        D, residual = state.D + length * state.direction, state.residual - length * image
        z = self._preconditioned(problem, state.hessians, state.mean, residual)
        size = float(np.vdot(residual, z))
        direction = z + (size / state.size) * state.direction
        still = "no round moves the weights" if np.array_equal(D, state.D) else ""
        state = replace(state, D=D, residual=residual, direction=direction, size=size, mail=mail)
        if problem.loss.strong_convexity > 0:  # a quadratic: every iterate is a point to show
            X = np.ascontiguousarray((state.W + D).T)
            return replace(state, proposals=(Proposal(X=X, gap=problem.gap_of(residual)),), finished=still)
        if size > state.goal:
            return replace(state, proposals=())
        return self._moved(problem, state)

    def _moved(self, problem: Any, state: Descent) -> Descent:
        """The Newton step, halved until the objective falls; each trial is a round of one number a machine."""
        slope, length = float(np.vdot(state.gradient, state.D)) / len(state.W), 1.0
        for _ in range(40):
            W = state.W + length * state.D
            X = np.ascontiguousarray(W.T)
            value = problem.value(X)
            if problem.machines.hub:
                state.ledger.up += len(W)
            if value <= state.value + ARMIJO * length * slope:
                new = self._newton(problem, W, state.ledger, state.mail, state)
                return replace(new, proposals=(Proposal(X=X),))
            length /= 2
            state.ledger.end_round()
        return replace(state, proposals=(), finished="no step lowers the objective: the limit of rounding")

    def _image(self, problem: Any, state: Descent) -> tuple[np.ndarray, Mail]:
        """The system times the direction, and the mail after it."""
        P = state.direction
        own = problem.held.map(_times, state.hessians, P)
        if state.mean is not None:
            problem.held.scatter(P)
            image = problem.held.gather(own)
            return image + problem.tied(P), state.mail
        mail = problem.held.exchange(state.mail, P)
        arrived = mail.links.summing(problem.graph.link_weights) @ mail.held
        diagonal = problem.eta + problem.tau * problem.graph.degrees
        for _ in range(2):  # the two inner products: a number from each machine, and their sum back
            problem.held.gather(np.zeros(len(P)))
            problem.held.scatter(np.zeros(len(P)))
        return own + diagonal[:, None] * P - problem.tau * arrived, mail

    def _preconditioned(self, problem: Any, hessians: np.ndarray, mean: MeanGram | None, R: np.ndarray) -> np.ndarray:
        if mean is not None:
            return mean.solve(R)
        diagonal = problem.eta + problem.tau * problem.graph.degrees
        return problem.held.map(_own_solve, hessians, diagonal, R)

    def remarks(self, state: Any) -> str:
        by = "each machine's own block" if state.mean is None else "the mean Gram matrix, at the hub"
        return f"preconditioned by {by}; {super().remarks(state)}"


def _is_weakly_coupled(problem: GraphMultitask) -> bool:
    """Whether own blocks need fewer rounds than the mean: measured in benchmarks/network_rounds.py."""
    tie, L = problem.tau * problem.graph.largest, problem.loss.smoothness
    if tie > WEAK * (problem.eta + L * float(np.median(problem.held.map(_mean_curvature)))):
        return False  # without a decomposition
    return tie <= WEAK * (problem.eta + L * float(np.median(problem.held.map(_least_curvature))))


# -- what machines compute ---------------------------------------------------------------------------


def _hessians(block: Block, W: np.ndarray, loss: Any) -> np.ndarray:
    return loss.strong_convexity * block.moments[0] if loss.strong_convexity > 0 else curvature(block, W, loss)


def _times(block: Block, H: np.ndarray, P: np.ndarray) -> np.ndarray:
    return np.matmul(H, P[:, :, None])[:, :, 0]


def _own_solve(block: Block, H: np.ndarray, diagonal: np.ndarray, R: np.ndarray) -> np.ndarray:
    return np.linalg.solve(H + diagonal[:, None, None] * np.eye(H.shape[1]), R[:, :, None])[:, :, 0]


def _mean_curvature(block: Block) -> np.ndarray:
    return block.summed(block.shares * block.norms**2) / block.width


def _least_curvature(block: Block) -> np.ndarray:
    return np.maximum(block.spectra[0][:, 0], 0.0)
