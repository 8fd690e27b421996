"""The two bounds on the optimum that a point proves, in floating point.

    P(W) = 1/m sum_i F_i(w_i) + eta/2m ||W||^2 + tau/2m tr(W L W^T),     F_i(w) = sum_j s_ij f(x_ij . w, y_ij)
    D(u) = -1/m sum_ij s_ij f*(u_ij, y_ij) - tr(V M^-1 V^T) / (2 eta m),     v_i = sum_j s_ij u_ij x_ij

D(u) <= min P for every u. At u = f'(x . w), the slopes at W, the gap P - D is (m / 2 eta) tr(G M^-1 G^T), G the
gradient of P. M^-1 V is never trusted: for any Z

    tr(V M^-1 V^T) = 2 <V, Z> - <Z, Z M> + tr(R M^-1 R^T) <= 2 <V, Z> - <Z, Z M> + ||R||^2,      R = V - Z M,

since M >= I. A hub solves for Z, and R is rounding; without a hub Z = -eta W, R = m G, and the gap is
(m / 2 eta) ||G||^2: one number from each machine.

Allowance for rounding: gamma_k = k eps, eps = 2^-52 (twice the unit roundoff), times the sum of the absolute values of
all terms of a sum of k terms, added outwards. A prediction is off by at most delta_j = gamma_{d+2} ||x_j|| ||w_i||; a
convex loss is then at most the larger of its values at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixlearn.losses import Loss
from matrixlearn.machines import Block
from matrixlearn_network.coupling import Coupling
from matrixlearn_network.graph import Graph

EPS = float(np.finfo(np.float64).eps)
LOSS_ERROR = 16
"""Units of EPS by which a loss and its conjugate may be off, and what multiplies them."""


@dataclass(frozen=True, eq=False)
class Pass:
    """What one pass over the rows tells of weights; arrays by machine, sums over its rows."""

    value: np.ndarray
    """F_i, (m,)."""
    highest: np.ndarray
    """An upper bound on it in exact arithmetic."""
    conjugate: np.ndarray
    """An upper bound on sum_j s_j f*(u_j)."""
    slope: np.ndarray
    """v_i = the gradient of F_i, (m, d)."""
    slope_error: np.ndarray
    """By how much, in norm, the v_i of these u_j may differ from it, (m,)."""
    prediction_error: np.ndarray
    """sum_j s_j delta_j ||x_j||, (m,)."""


def pass_over(block: Block, W: np.ndarray, off: np.ndarray, loss: Loss) -> tuple[np.ndarray, ...]:
    """The fields of a `Pass` at weights by machine, (k, d), each known within ``off`` (k,) in norm: a round."""
    p = block.predict(W)
    u = loss.gradient(p, block.y)
    reach = (block.width + 2) * EPS * np.sqrt(np.einsum("kd,kd->k", W, W)) + off
    delta = block.norms * block.spread(reach)
    each = loss.value(p, block.y)
    ends = np.maximum(loss.value(p - delta, block.y), loss.value(p + delta, block.y))
    gamma = (block.sizes + LOSS_ERROR) * EPS
    value = block.summed(block.shares * each)
    highest = block.summed(block.shares * np.maximum(each, ends)) * (1 + gamma)
    moved = block.summed(block.shares * delta * block.norms)
    return value, highest, *dual_pass(block, u, loss), moved


def values(block: Block, W: np.ndarray, loss: Loss) -> np.ndarray:
    """F_i at weights by machine, (k,): a round."""
    return block.summed(block.shares * loss.value(block.predict(W), block.y))


def dual_pass(block: Block, u: np.ndarray, loss: Loss) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An upper bound on sum_j s_j f*(u_j), v_i and its error, by machine, for dual points u (n,) in the domain."""
    conjugate = loss.conjugate(u, block.y)
    gamma = (block.sizes + LOSS_ERROR) * EPS
    size = block.summed(block.shares * (np.abs(conjugate) + 2 * np.abs(u * block.y)))
    slope = block.adjoint(block.shares * u)
    error = gamma * block.summed(block.shares * np.abs(u) * block.norms)
    return block.summed(block.shares * conjugate) + gamma * size, slope, error


def ridge(W: np.ndarray, graph: Graph, eta: float, tau: float) -> float:
    """eta ||W||^2 + tau tr(W L W^T) for W by task, terms >= 0."""
    return eta * float(np.vdot(W, W)) + tau * graph.roughness(W)


def upper_bound(one: Pass, W: np.ndarray, graph: Graph, eta: float, tau: float) -> float:
    """P(W), rounded upwards."""
    m, d = W.shape
    regular = ridge(W, graph, eta, tau) * (1 + (m * d + graph.edges + LOSS_ERROR) * EPS)
    total = float(one.highest.sum()) + regular / 2
    return total * (1 + (m + LOSS_ERROR) * EPS) / m


def lower_bound(
    conjugate: np.ndarray, V: np.ndarray, error: np.ndarray, coupling: Coupling, Z: np.ndarray | None = None
) -> float:
    """D(u), rounded downwards.

    Parameters
    ----------
    conjugate, V, error : arrays, shapes (m,), (m, d), (m,)
        As `dual_pass` gives them.
    coupling : Coupling
    Z : array, shape (m, d), optional
        In the place of M^-1 V, which a hub solves for.
    """
    m, d = V.shape
    if not np.all(np.isfinite(conjugate)):
        return -np.inf
    Z = coupling.solve(V) if Z is None else Z
    graph, ratio = coupling.graph, coupling.ratio
    products = 2 * float(np.vdot(V, Z))
    form = float(np.vdot(Z, Z)) + ratio * graph.roughness(Z)
    R = V - coupling.apply(Z)
    terms = np.abs(V) + np.abs(Z) + ratio * (graph.degrees[:, None] * np.abs(Z) + graph.weights @ np.abs(Z))
    most = int(np.max(np.diff(graph.weights.indptr), initial=0))
    off = (most + LOSS_ERROR) * EPS * float(np.linalg.norm(terms))
    gamma = (m * d + graph.edges + LOSS_ERROR) * EPS
    remainder = (float(np.linalg.norm(R)) * (1 + gamma) + off) ** 2
    quadratic = products - form + remainder + gamma * (2 * float(np.vdot(np.abs(V), np.abs(Z))) + form)
    # what rounding did to V moves the norm in M^-1 <= I by at most its own
    quadratic = (np.sqrt(max(quadratic, 0.0)) + float(np.linalg.norm(error))) ** 2
    sizes = float(np.abs(conjugate).sum()) + quadratic / (2 * coupling.eta)
    value = -float(conjugate.sum()) - quadratic / (2 * coupling.eta)
    return (value - (m + LOSS_ERROR) * EPS * sizes) / m


def lower_by_curvature(one: Pass, W: np.ndarray, graph: Graph, tau: float, curvature: float, upper: float) -> float:
    """P(W) - m ||G||^2 / (2 curvature), for eta = 0 and the square loss: m P is strongly convex with ``curvature``."""
    m, d = W.shape
    if not curvature > 0:
        return -np.inf
    G = one.slope + tau * graph.apply(W)  # m times the gradient
    terms = tau * (graph.degrees[:, None] * np.abs(W) + graph.weights @ np.abs(W)) + np.abs(one.slope)
    off = (m * d + LOSS_ERROR) * EPS * float(np.linalg.norm(terms))
    off += float(np.linalg.norm(one.slope_error + one.prediction_error))
    least = (
        2 * (float(one.value.sum()) + ridge(W, graph, 0.0, tau) / 2) / m - upper
    )  # below P(W) as far as upper is above
    return least - (float(np.linalg.norm(G)) + off) ** 2 / (2 * curvature * m) * (1 + LOSS_ERROR * EPS)
