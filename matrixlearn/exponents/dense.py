"""von Neumann entropy by one dense eigendecomposition per block.

    X(G) = R exp(-G) / Tr exp(-G)                    on {X >= 0, Tr X = R}
    X(G) = R exp(-G) / (1 + Tr exp(-G))              on {X >= 0, Tr X <= R}

The second is the first with one more scalar block of loss 0, which takes the trace that X leaves.
Exponents are taken after the largest is subtracted: no overflow at any spectral range, and the
same X for G and G + c I.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixlearn._array import as_numpy, columns, from_numpy, namespace, zeros
from matrixlearn.exponents.base import Accumulating
from matrixlearn.linalg import adjoint, eigh, is_complex, sym
from matrixlearn.sets import SpectralSet
from matrixlearn.typing import Array


def gibbs_weights(exponents: Array, trace: float, slack: int) -> Array:
    """trace * exp(e_i) / (slack + sum_j exp(e_j)), overflow-safe, shape (n,) -> (n,)."""
    xp = namespace(exponents)
    top = float(xp.max(exponents))
    if slack:
        top = max(top, 0.0)
    p = xp.exp(exponents - top)
    total = xp.sum(p)
    if slack:
        total = total + xp.exp(xp.asarray(-top, dtype=exponents.dtype))
    return p * (trace / float(total))


def spectral_function(V: Array, w: Array) -> Array:
    """V diag(w) V^H for descending w, Hermitian to the last bit; columns without weight are left out.

    Real and descending, it is the difference of two symmetric products P P^T - Q Q^T: half the work of
    one general product, since BLAS forms one triangle of each.
    """
    kept = np.flatnonzero(as_numpy(w))  # a weight of 1e-266 is one: no other column may have an entry where it has
    if len(kept) < w.shape[0]:
        V, w = columns(V, kept), namespace(w).take(w, from_numpy(kept, w))
    if is_complex(V):
        return sym((V * w) @ adjoint(V))
    xp = namespace(V)
    positive = int(xp.sum(xp.astype(w >= 0, xp.int64)))
    up = V[:, :positive] * xp.sqrt(w[:positive])
    if positive == w.shape[0]:
        return up @ up.mT
    down = V[:, positive:] * xp.sqrt(-w[positive:])
    return up @ up.mT - down @ down.mT


@dataclass(frozen=True)
class DenseExponent(Accumulating):
    """The von Neumann mirror map on a `Spectraplex` or a `TraceBall`, real or complex Hermitian.

    Parameters
    ----------
    on : Spectraplex or TraceBall
        The set; its blocks are decomposed one by one.

    References
    ----------
    Arora and Kale (2007); Tsuda, Raetsch and Warmuth (2005), eq. (3.5).
    """

    on: SpectralSet

    def weights(self, exponents: Array) -> Array:
        """Eigenvalues of X from those of -G."""
        return gibbs_weights(exponents, self.on.trace, self.on.slack)

    def __call__(self, G: Array) -> Array:
        xp = namespace(G)
        blocks = list(self.on.slices())
        pairs = [eigh(G[block, block]) for block in blocks]  # ascending, so that -G descends
        w = self.weights(-xp.concat([pair[0] for pair in pairs]))
        if len(blocks) == 1:
            return spectral_function(pairs[0][1], w)
        X = zeros((self.on.n, self.on.n), G)
        for block, (_, V) in zip(blocks, pairs, strict=True):
            X[block, block] = spectral_function(V, w[block])
        return X
