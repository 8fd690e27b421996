"""Functions of a Hermitian matrix on the blocks of its set: F = V diag(w) V^H -> V diag(p) V^H."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from matrixlearn._array import as_numpy, from_numpy, namespace, zeros
from matrixlearn.exponents.dense import spectral_function
from matrixlearn.linalg.tridiagonal import Pairs, Tridiagonal, Values, at_ends, pairs_of, values_of
from matrixlearn.sets import SpectralSet
from matrixlearn.typing import Array

HIDDEN = 1e-17
"""The share of the largest that its rounding hides."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The eigendecompositions of the diagonal blocks of F, or their outer ends; F itself where it is a vector."""

    spectral_set: SpectralSet
    F: Array
    spectra: tuple[Pairs | Tridiagonal, ...]

    @classmethod
    def of(cls, spectral_set: SpectralSet, F: Array) -> Spectrum:
        blocks = () if F.ndim == 1 else spectral_set.slices()
        return cls(spectral_set, F, tuple(pairs_of(F[block, block]) for block in blocks))

    def within(self, depth: float) -> Spectrum:
        """The eigenpairs in `reach` alone."""
        counts = reach(self.spectral_set, self.spectra, depth)
        return replace(self, spectra=tuple(part.ends(*ends) for part, ends in zip(self.spectra, counts, strict=True)))

    @cached_property
    def w(self) -> np.ndarray:
        """The eigenvalues, block by block."""
        return np.concatenate([part.w for part in self.spectra]) if self.spectra else as_numpy(self.F)

    def with_values(self, p: np.ndarray) -> Array:
        """V diag(p) V^H, of a p that ascends with w in each block: what rounding does not hide is at the ends."""
        if not self.spectra:
            return from_numpy(p, self.F)
        hidden = HIDDEN * float(np.max(np.abs(p)))
        if len(self.spectra) == 1:
            return self._part(self.spectra[0], p, hidden)
        out, start = zeros(tuple(self.F.shape), self.F), 0
        for block, part in zip(self.spectral_set.slices(), self.spectra, strict=True):
            past = start + len(part.w)
            out[block, block] = self._part(part, p[start:past], hidden)
            start = past
        return out

    def _part(self, part: Pairs | Tridiagonal, p: np.ndarray, hidden: float) -> Array:
        low, high = int(np.sum(p < -hidden)), int(np.sum(p > hidden))
        V, kept = part.ends(low, high).V, at_ends(p, low, high)
        return spectral_function(namespace(V).flip(V, axis=1), from_numpy(kept[::-1], self.F))  # descending


def eigenvalues_within(spectral_set: SpectralSet, F: Array, depth: float) -> np.ndarray:
    """The eigenvalues of F in `reach` alone, block by block."""
    if F.ndim == 1:
        return as_numpy(F)
    spectra = [values_of(F[block, block]) for block in spectral_set.slices()]
    counts = reach(spectral_set, spectra, depth)
    return np.concatenate([part.values(*ends) for part, ends in zip(spectra, counts, strict=True)])


def reach(
    spectral_set: SpectralSet, spectra: Sequence[Values | Tridiagonal], depth: float
) -> Iterator[tuple[int, int]]:
    """How many of each block's lowest and largest eigenvalues are experts s w, s a sign of S, within ``depth`` of the
    best, or a third farther.
    """
    if not spectra:
        return
    signs = spectral_set.signs
    extremes = np.concatenate([part.extremes(depth / 8) for part in spectra])
    best = max(float(np.max(sign * extremes)) for sign in signs)
    cut = best - max(1.25 * depth, 1e-12 * float(np.max(np.abs(extremes))))
    for part, n in zip(spectra, spectral_set.sizes, strict=True):
        high = part.above(cut)
        yield min(n - part.above(-cut), n - high) if -1 in signs else 0, high
