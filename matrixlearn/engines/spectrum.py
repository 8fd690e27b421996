"""Functions of a Hermitian matrix on the blocks of its set: F = V diag(w) V^H -> V diag(p) V^H."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixlearn._array import as_numpy, columns, from_numpy, zeros
from matrixlearn.exponents.dense import spectral_function
from matrixlearn.linalg import eigh
from matrixlearn.sets import SpectralSet
from matrixlearn.typing import Array


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues and eigenvectors of F, one eigendecomposition a block; F itself where it is a vector."""

    spectral_set: SpectralSet
    like: Array
    w: np.ndarray
    """All eigenvalues, block by block, (n,)."""
    bases: tuple[Array, ...]
    """The eigenvectors of each block; none of a vector."""

    @classmethod
    def of(cls, spectral_set: SpectralSet, F: Array) -> Spectrum:
        if F.ndim == 1:
            return cls(spectral_set, F, as_numpy(F), ())
        pairs = [eigh(F[block, block]) for block in spectral_set.slices()]
        w = [as_numpy(w) for w, _ in pairs]
        return cls(spectral_set, F, w[0] if len(w) == 1 else np.concatenate(w), tuple(V for _, V in pairs))

    def with_values(self, p: np.ndarray) -> Array:
        """V diag(p) V^H."""
        if not self.bases:
            return from_numpy(p, self.like)
        if len(self.bases) == 1:
            return self._part(self.bases[0], p)
        out = zeros(tuple(self.like.shape), self.like)
        for block, V in zip(self.spectral_set.slices(), self.bases, strict=True):
            out[block, block] = self._part(V, p[block])
        return out

    def _part(self, V: Array, p: np.ndarray) -> Array:
        order = np.argsort(-p, kind="stable")  # descending
        return spectral_function(columns(V, order), from_numpy(p[order], self.like))
