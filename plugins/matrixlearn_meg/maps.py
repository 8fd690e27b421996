"""The mirror maps of the online updates, on losses that are kept in one array.

    normalized     W(G) = exp(-G) / tr exp(-G)        (3.5), Algorithm 1
    unnormalized   W(G) = exp(-G)                     (3.4)
    logdet         W(G) = G^{-1}                      the LogDet divergence

with G = f(W_1) + sum_t eta_t l'_t sym(X_t), the unwrapped form of Section 3.2: no logarithm of a W_t is
ever taken, so that eigenvalues of W_t may fall below the smallest double and come back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents import LogDetExponent
from matrixlearn.linalg import sym
from matrixlearn.validation import as_hermitian
from matrixlearn_meg.instances import Instance

UPDATES = ("normalized", "unnormalized", "logdet")


def gibbs(G: np.ndarray) -> np.ndarray:
    """exp(-G) / tr exp(-G), the smallest eigenvalue of G taken off first: no exponent is above 0.

    The map of `matrixlearn.exponents.DenseExponent` on NumPy arrays alone: at d = 52 it was measured at 253 us,
    the one made for any array library at 318 us, the decomposition by itself at 227 us.
    """
    w, V = np.linalg.eigh(G)
    p = np.exp(w[0] - w)
    half = V * np.sqrt(p / p.sum())
    if half.dtype.kind == "c":
        return sym(half @ half.conj().T)
    return half @ half.T  # one triangle by BLAS, mirrored


def exponential(G: np.ndarray) -> np.ndarray:
    """exp(-G); infinite where it overflows, which the stream takes for divergence."""
    w, V = np.linalg.eigh(G)
    with np.errstate(over="ignore", invalid="ignore"):
        return sym((V * np.exp(-w)) @ V.conj().T)


def inverted(G: np.ndarray) -> np.ndarray:
    """G^{-1}; infinite where rounding has taken G out of the cone, which the stream takes for divergence."""
    try:
        return LogDetExponent(len(G))(G)
    except ProblemError:
        return np.full(G.shape, np.inf)


def map_of(update: str, d: int) -> Callable[[np.ndarray], np.ndarray]:
    """The mirror map of an update."""
    if update not in UPDATES:
        msg = f"update must be one of {', '.join(UPDATES)}, got {update!r}"
        raise ProblemError(msg)
    if update == "normalized":
        return gibbs
    return exponential if update == "unnormalized" else inverted


def first_losses(update: str, d: int, W1: Any) -> np.ndarray:
    """The G whose matrix is W_1: -log W_1, or W_1^{-1}; W_1 = I / d by default.

    Raises
    ------
    ProblemError
        Where W_1 is not positive definite, or has not trace one for the normalized update.
    """
    if W1 is None:
        return np.eye(d) * (float(d) if update == "logdet" else np.log(d))
    W = np.asarray(as_hermitian("W1", W1, d))
    w, V = np.linalg.eigh(W)
    if w[0] <= 0:
        msg = f"W1 must be positive definite, but its smallest eigenvalue is {w[0]:.3g}; mix in some I / d"
        raise ProblemError(msg)
    if update == "normalized" and abs(w.sum() - 1) > 1e-9:
        msg = f"W1 must have trace one for the normalized update, got {w.sum():.9g}; divide by the trace"
        raise ProblemError(msg)
    values = 1 / w if update == "logdet" else -np.log(w)
    return sym((V * values) @ V.conj().T)


@dataclass(eq=False)
class StreamExponent:
    """An exponent routine that starts at given losses and takes an `Instance` for a loss.

    G is this object's own: a low-rank round writes k rank-one terms into it and forms nothing of size
    d x d beside the decomposition and W.

    Parameters
    ----------
    to_matrix : callable
        G -> W.
    start : array, shape (d, d)
        The losses to begin with; copied.
    known : array, shape (d, d), optional
        W of ``start``, where an earlier pass has computed it: saves one decomposition.
    """

    to_matrix: Callable[[np.ndarray], np.ndarray]
    start: np.ndarray
    known: np.ndarray | None = None

    def __call__(self, G: np.ndarray) -> np.ndarray:
        if self.known is not None:
            W, self.known = self.known, None
            return W
        return self.to_matrix(G)

    def zero(self, like: Any) -> np.ndarray:
        return np.array(self.start, order="C")

    def accumulate(self, G: np.ndarray, loss: Instance, step: float) -> np.ndarray:
        if loss.is_complex and not np.iscomplexobj(G):
            G = G.astype(np.complex128)
        loss.add_to(G, step)
        return G
