"""Mirror maps by their definition: dense matrix exponentials by Pade approximation, no eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrixlearn._array import as_numpy, from_numpy
from matrixlearn.sets import ScaledSimplex, SpectralBall, SpectralSet, TraceBall


def in_blocks(G: Any, S: SpectralSet) -> Any:
    """G with zeros outside the blocks of S."""
    if G.ndim == 1 or not S.blocks:
        return G
    inside = np.zeros((S.n, S.n))
    for block in S.slices():
        inside[block, block] = 1.0
    return G * from_numpy(inside, G)


def by_definition(G: Any, S: SpectralSet) -> np.ndarray:
    """argmin over X in S of <G, X> + the von Neumann entropy of X."""
    from scipy.linalg import expm

    g = np.asarray(as_numpy(G))
    if isinstance(S, ScaledSimplex):
        p = np.exp(-(g - g.min()))
        return np.asarray(S.trace * p / p.sum())
    minus, plus = expm(-g), expm(g)
    traces = float(np.real(np.trace(minus))), float(np.real(np.trace(plus)))
    if isinstance(S, SpectralBall):
        return np.asarray(S.trace * (minus - plus) / (traces[0] + traces[1]))
    return np.asarray(S.trace * minus / (traces[0] + (1.0 if isinstance(S, TraceBall) else 0.0)))
