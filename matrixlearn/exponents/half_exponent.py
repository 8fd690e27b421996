"""The von Neumann mirror map from the half exponential Z = exp(-G/2) S, S S^T = I or so on average.

    X(G) = R Z Z^H / Tr Z Z^H                                on {X >= 0, Tr X = R}
    X(G) = R Z Z^H / (1 + Tr Z Z^H)                          on {X >= 0, Tr X <= R}
    X(G) = R (Z_+ Z_+^H - Z_- Z_-^H) / Tr(Z_+ Z_+^H + Z_- Z_-^H),   Z_+- = exp(-+G/2) S,   on {||X||_* <= R}

No eigenvalues. Whatever the error of Z, the answer is a point of the set: positive semidefinite and of the right trace
as computed, so that what it proves in a certificate it proves exactly.

`TaylorExponent` and `ActionExponent` promise ||X - X(G)||_* <= accuracy R: for |p - exp(-(lambda - low)/2)| <= e on the
spectrum, the eigenvalues of Z Z^H are off by e (2 + e) each, at most 2 n e (2 + e) / Tr after division by the sum, and
Tr >= exp(-(lowest - low)), ``lowest`` a Ritz value. `SketchedExponent` promises no more than its variance. Real or
complex, NumPy and SciPy only.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixlearn._array import EPS
from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents.base import Accumulating
from matrixlearn.linalg.actions import Action, chebyshev_action, taylor_terms
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.linalg.krylov import SpectralInterval, spectral_span
from matrixlearn.sets import SpectralSet

FARTHEST = 1e4
"""Range of the losses beyond which a decomposition is asked: an action takes some 300 products there."""


@dataclass(frozen=True)
class HalfExponent(Accumulating):
    """Base class of the exponent routines by Z = exp(-G/2) S.

    G may be an array, a scipy sparse array or, where the set has one block, a linear operator.

    Parameters
    ----------
    on : Spectraplex, TraceBall or SpectralBall
    accuracy : float
        Of X in the trace norm, relative to R.
    """

    on: SpectralSet
    accuracy: float = 1e-8

    def __post_init__(self) -> None:
        if not 0 < self.accuracy < 1:
            msg = f"accuracy must lie between 0 and 1, got {self.accuracy!r}; 1e-8 is a usual choice"
            raise ProblemError(msg)

    def zero(self, like: Any) -> Any:
        """No entries: sums of sparse losses stay sparse, and of dense ones become dense."""
        import scipy.sparse as sp  # late: import time

        return sp.csr_array((self.on.n, self.on.n))

    @abstractmethod
    def half(self, H: Any, span: SpectralInterval, error: float, block: slice) -> np.ndarray:
        """exp(-(H - span.low I) / 2) S within ``error`` on the spectrum, shape (size of the block, k)."""

    def _factors(self, G: Any) -> list[tuple[int, slice, np.ndarray]]:
        """(sign, block, Z), all Z on one scale: their traces, and that of the slack, sum to R."""
        found = []
        blocks = list(self.on.slices())
        for block in blocks:
            H = G if len(blocks) == 1 else G[block, block]
            span = spectral_span(H)
            for sign in self.on.signs:
                signed, its = (H, span) if sign > 0 else (-1.0 * H, span.negated())
                if span.high - span.low > FARTHEST:
                    low, Z = _decomposed(signed)
                    found.append((sign, block, Z, -low))
                    continue
                error = self.accuracy * math.exp(max(its.low - its.lowest, -30.0)) / (6 * self.on.dimension)
                Z = self.half(signed, its, max(error, EPS), block)
                found.append((sign, block, Z, -its.low))
        top = max(exponent for *_, exponent in found)
        if self.on.slack:
            top = max(top, 0.0)
        scaled = [(sign, block, Z * math.exp((exponent - top) / 2)) for sign, block, Z, exponent in found]
        total = sum(float(np.linalg.norm(Z)) ** 2 for *_, Z in scaled) + (math.exp(-top) if self.on.slack else 0.0)
        root = math.sqrt(self.on.trace / total)
        return [(sign, block, root * Z) for sign, block, Z in scaled]

    def __call__(self, G: Any) -> np.ndarray:
        n, factors = self.on.n, self._factors(G)
        X = np.zeros((n, n), dtype=np.result_type(*(Z for *_, Z in factors)))
        for sign, block, Z in factors:
            X[block, block] += sign * (Z @ Z.conj().T)
        return X

    def factored(self, G: Any) -> FactoredMatrix:
        """X as its factor Z, no n x n array formed; on sets of positive semidefinite matrices of one block."""
        if self.on.signs != (1,) or len(list(self.on.slices())) > 1:
            msg = f"X has no factor on a {type(self.on).__name__} of {len(list(self.on.slices()))} blocks"
            raise ProblemError(msg)
        return FactoredMatrix(self._factors(G)[0][2])


def _as_array(H: Any) -> np.ndarray:
    return np.asarray(H.toarray() if hasattr(H, "toarray") else H @ np.eye(H.shape[0]))


def _decomposed(H: Any) -> tuple[float, np.ndarray]:
    """(lambda_min, exp(-(H - lambda_min I) / 2) on the eigenvectors with weight, (n, r))."""
    w, V = np.linalg.eigh(_as_array(H))
    kept = w <= w[0] + 80
    return float(w[0]), V[:, kept] * np.exp(-(w[kept] - w[0]) / 2)


@dataclass(frozen=True)
class TaylorExponent(HalfExponent):
    """By matrix powers: exp(-H) = (sum_{k <= K} (-H / 2^s)^k / k!)^(2^s), s the least with ||H|| <= 2^s.

    K + s products of n^3 with K by `taylor_terms`, 13 at a range of 100 and full accuracy; an eigendecomposition costs
    five (benchmarks/engines/exponents.py: never ahead). Through factors, or for few vectors, `taylor_action`.

    References
    ----------
    Thesis, Section 5.4.2; Moler and Van Loan (2003), method 3.
    """

    def half(self, H: Any, span: SpectralInterval, error: float, block: slice) -> np.ndarray:
        M = _as_array(H)
        width = (span.high - span.low) / 2
        squarings = max(0, math.ceil(math.log2(max(width, 1.0))))
        steps = 2**squarings
        K = taylor_terms(width / steps, steps, error)
        A = (-0.5 / steps) * (M - span.low * np.eye(len(M)))
        E = np.eye(len(M), dtype=A.dtype)
        for k in range(K, 0, -1):  # Horner
            E = A @ E / k
            E[np.diag_indices_from(E)] += 1.0
        for _ in range(squarings):
            E = E @ E
        return E


@dataclass(frozen=True)
class ActionExponent(HalfExponent):
    """By products of G with vectors: for sparse G and linear operators.

    Parameters
    ----------
    action : function
        `chebyshev_action`, `lanczos_action` or `taylor_action`; degree nnz(G) n flops.
    """

    action: Action = chebyshev_action

    def probes(self, block: slice) -> np.ndarray:
        """S: the identity, one column a row of the block."""
        return np.eye(block.stop - block.start)

    def half(self, H: Any, span: SpectralInterval, error: float, block: slice) -> np.ndarray:
        S = self.probes(block)
        if hasattr(H, "for_products"):
            H = H.for_products(S.shape[1] * max(1, round(math.sqrt(span.high - span.low))))
        return self.action(H, S, span, 0.5, error)


@dataclass(frozen=True)
class SketchedExponent(ActionExponent):
    """By k random vectors: Z = exp(-G/2) S with S Gaussian of variance 1/k, so that E Z Z^T = exp(-G).

    For every A, <A, Z Z^T> has the mean <A, exp(-G)> and the variance 2 ||E A E||_F^2 / k, E = exp(-G/2) (real; half of
    it for E A E of complex Hermitian sketches): traces are unbiased, and for A >= 0 off by sqrt(2/k) of their value at
    the most, as Johnson and Lindenstrauss have it for quadratic forms. X is the quotient of such; it is a point of the
    set, of rank k, and its bounds are exact. Each round draws anew: `near` has the exponent of the next draw.

    Parameters
    ----------
    columns : int
        k.
    random_state : int or Generator
        Equal seeds, equal draws; a Generator is asked once, for a seed.

    References
    ----------
    Arora and Kale (2007), Section 5; thesis, Section 5.4.
    """

    accuracy: float = 1e-3
    columns: int = 100
    random_state: int | np.random.Generator = 0
    draw: int = 0
    """The number of the random S; `near` has the next."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.columns, int | np.integer) and self.columns >= 1):
            msg = f"columns must be a whole number >= 1, got {self.columns!r}"
            raise ProblemError(msg)
        if isinstance(self.random_state, np.random.Generator):
            object.__setattr__(self, "random_state", int(self.random_state.integers(2**63)))

    def near(self, G: Any) -> SketchedExponent:
        """The exponent with the next random S."""
        return replace(self, draw=self.draw + 1)

    def probes(self, block: slice) -> np.ndarray:
        rng = np.random.default_rng([self.random_state, self.draw, block.start])
        return rng.standard_normal((block.stop - block.start, self.columns)) / math.sqrt(self.columns)
