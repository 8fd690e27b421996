"""Spectral sets S: compact convex sets of Hermitian matrices that depend on eigenvalues only.

A set knows its support function (which turns a vector y into an upper bound), a map into
itself (which makes any matrix usable in a lower bound) and its best response. What a mirror map
does on it is in ``matrixlearn.exponents``.

Elements are single arrays: (n, n) Hermitian matrices, or (n,) vectors for the diagonal set. Block
diagonal matrices are stored whole; the sizes of the blocks say where the zeros are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from matrixlearn._array import identity, namespace, zeros
from matrixlearn.exceptions import ProblemError
from matrixlearn.linalg import adjoint, cholesky, eigh, eigvalsh, sym, trace
from matrixlearn.linalg.tridiagonal import pairs_of, values_of
from matrixlearn.typing import Array


@dataclass(frozen=True)
class SpectralSet(ABC):
    """A compact convex set of Hermitian n x n matrices that is invariant under X -> U X U^H.

    Parameters
    ----------
    n : int
        Side length.
    trace : float
        The bound R on the trace (or on the trace norm).
    blocks : tuple of int, optional
        Sizes of the diagonal blocks, summing to n; a single block by default.
    """

    n: int
    trace: float
    blocks: tuple[int, ...] = ()

    signs: ClassVar[tuple[int, ...]] = (1,)
    """The semidefinite faces: S is the image of positive semidefinite X_k under sum_k signs_k X_k."""
    slack: ClassVar[int] = 0
    """1 where the trace is bounded by an inequality, so that t >= 0 in the dual."""

    def __post_init__(self) -> None:
        if not (0 < self.trace < float("inf")):
            msg = f"trace must be positive and finite, got {self.trace}; rescale or bound the problem"
            raise ProblemError(msg)
        if self.n < 1:
            msg = f"n must be at least 1, got {self.n}"
            raise ProblemError(msg)
        if self.blocks and (sum(self.blocks) != self.n or min(self.blocks) < 1):
            msg = f"blocks must be positive and sum to n = {self.n}, got {self.blocks}"
            raise ProblemError(msg)

    @property
    def dimension(self) -> int:
        """The number of experts: ln(dimension) is the entropy's range over S."""
        return len(self.signs) * self.n + self.slack

    @property
    def sizes(self) -> tuple[int, ...]:
        """Those of the diagonal blocks."""
        return self.blocks or (self.n,)

    def slices(self) -> Iterator[slice]:
        """The diagonal blocks, as slices."""
        start = 0
        for size in self.sizes:
            yield slice(start, start + size)
            start += size

    def eigenvalues(self, F: Array) -> Array:
        """All eigenvalues of F, block by block, (n,)."""
        xp = namespace(F)
        return xp.concat([eigvalsh(F[block, block]) for block in self.slices()])

    @abstractmethod
    def support_of(self, eigenvalues: Array) -> float:
        """max over X in S of <F, X>, from the eigenvalues of F."""

    def support(self, F: Array) -> float:
        """max over X in S of <F, X>, without any allowance for rounding; F may be scipy sparse, or a `RankOneSum`."""
        return self.support_of(self.eigenvalues(F.toarray() if hasattr(F, "toarray") else F))

    @abstractmethod
    def clip(self, eigenvalues: Array) -> Array:
        """Move eigenvalues (n,) to those of a point of S: clipped to the cone, then scaled."""

    @abstractmethod
    def best_response(self, F: Array) -> Array:
        """A maximizer of <F, X> over S, of rank one (or zero)."""

    @abstractmethod
    def center(self, like: Array) -> Array:
        """The minimizer over S of the entropy, in the dtype and namespace of ``like``."""

    def hermitian_blocks(self, X: Array) -> Array:
        """The Hermitian part of X, with zeros outside the diagonal blocks."""
        X = sym(X)
        if len(self.blocks) < 2:
            return X
        out = zeros((self.n, self.n), X)
        for block in self.slices():
            out[block, block] = X[block, block]
        return out

    def project(self, X: Array) -> Array:
        """A point of S near X: its eigenvalues through `clip`.  X itself where it is in S."""
        xp = namespace(X)
        pairs = [eigh(sym(X[block, block])) for block in self.slices()]
        w = xp.concat([pair[0] for pair in pairs])
        clipped = self.clip(w)
        out = zeros((self.n, self.n), X)
        for block, (_, V) in zip(self.slices(), pairs, strict=True):
            out[block, block] = sym((V * clipped[block]) @ adjoint(V))
        return out

    def _extreme_projector(self, F: Array) -> tuple[float, Array, float, Array]:
        """(lambda_min, v v^H, lambda_max, u u^H) over all blocks of F."""
        low, high = float("inf"), -float("inf")
        for block in self.slices():
            pairs = pairs_of(F[block, block]).ends(1, 1)
            w, V = pairs.w, pairs.V
            if float(w[0]) < low:
                low, low_block, low_vector = float(w[0]), block, V[:, 0]
            if float(w[-1]) > high:
                high, high_block, high_vector = float(w[-1]), block, V[:, -1]

        def projector(block: slice, v: Array) -> Array:
            out = zeros((self.n, self.n), F)
            out[block, block] = v[:, None] @ adjoint(v[:, None])
            return out

        return low, projector(low_block, low_vector), high, projector(high_block, high_vector)

    def _scaled_cone_point(self, X: Array) -> Array | None:
        """X with its trace brought into the bound where a Cholesky factorization proves X > 0."""
        X = self.hermitian_blocks(X)
        if all(cholesky(X[block, block]) is not None for block in self.slices()):
            total = trace(X)
            return X * self.clip_scale(total)
        return None

    def clip_scale(self, total: float) -> float:
        """The factor that brings a trace norm of ``total`` into the bound."""
        return self.trace / total if total > self.trace else 1.0


class ExpertHull(SpectralSet):
    """The hull of R s v v^H, s one of the signs, and of 0 where there is slack.

    Its support function is R max s lambda(F), of an eigenvalue at an end of the spectrum.
    """

    def support_of(self, eigenvalues: Array) -> float:
        xp = namespace(eigenvalues)
        best = max(float(xp.max(sign * eigenvalues)) for sign in self.signs)
        return self.trace * (max(best, 0.0) if self.slack else best)

    def support(self, F: Array) -> float:
        F = F.toarray() if hasattr(F, "toarray") else F
        return max(self.support_of(values_of(F[block, block]).extremes()) for block in self.slices())


class Positive(ExpertHull):
    """Matrices X >= 0 whose trace is R, or at most R where there is slack."""

    def clip(self, eigenvalues: Array) -> Array:
        xp = namespace(eigenvalues)
        w = xp.where(eigenvalues > 0, eigenvalues, xp.zeros_like(eigenvalues))
        total = float(xp.sum(w))
        return w * self.clip_scale(total) if total > 0 or self.slack else w + self.trace / self.n

    def project(self, X: Array) -> Array:
        scaled = self._scaled_cone_point(X)
        return super().project(X) if scaled is None else scaled

    def best_response(self, F: Array) -> Array:
        _, _, high, projector = self._extreme_projector(F)
        return self.trace * projector if high > 0 or not self.slack else 0 * projector

    def center(self, like: Array) -> Array:
        return identity(self.n, like) * (self.trace / self.dimension)


class Spectraplex(Positive):
    """{X >= 0, Tr X = R}; its support function is R lambda_max(F)."""

    def clip_scale(self, total: float) -> float:
        return self.trace / total


class TraceBall(Positive):
    """{X >= 0, Tr X <= R}; its support function is R max(0, lambda_max(F))."""

    slack = 1


class SpectralBall(ExpertHull):
    """{X : ||X||_* <= R} = {X_+ - X_- : X_+, X_- >= 0, Tr X_+ + Tr X_- <= R}.

    The signed pair of blocks +-F of a norm minimization min_y ||F(y)||_2, kept as the one matrix
    X_+ - X_-; its support function is R ||F||_2.
    """

    signs = (1, -1)

    def clip(self, eigenvalues: Array) -> Array:
        xp = namespace(eigenvalues)
        return eigenvalues * self.clip_scale(float(xp.sum(xp.abs(eigenvalues))))

    def project(self, X: Array) -> Array:
        X = self.hermitian_blocks(X)  # the set is a ball: scaling needs the eigenvalues only
        xp = namespace(X)
        return X * self.clip_scale(float(xp.sum(xp.abs(self.eigenvalues(X)))))

    def best_response(self, F: Array) -> Array:
        low, low_projector, high, high_projector = self._extreme_projector(F)
        return -self.trace * low_projector if -low > high else self.trace * high_projector

    def center(self, like: Array) -> Array:
        return zeros((self.n, self.n), like)


class ScaledSimplex(SpectralSet):
    """{x >= 0, sum x = R}: the diagonal case, vectors (n,); support function R max(f)."""

    def eigenvalues(self, F: Array) -> Array:
        return F

    def support_of(self, eigenvalues: Array) -> float:
        xp = namespace(eigenvalues)
        return self.trace * float(xp.max(eigenvalues))

    def clip(self, eigenvalues: Array) -> Array:
        xp = namespace(eigenvalues)
        w = xp.where(eigenvalues > 0, eigenvalues, xp.zeros_like(eigenvalues))
        total = float(xp.sum(w))
        return w * (self.trace / total) if total > 0 else w + self.trace / self.n

    def project(self, X: Array) -> Array:
        return self.clip(X)

    def best_response(self, F: Array) -> Array:
        out = zeros((self.n,), F)
        out[int(namespace(F).argmax(F))] = self.trace
        return out

    def center(self, like: Array) -> Array:
        return zeros((self.n,), like) + self.trace / self.n
