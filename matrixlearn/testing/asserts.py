"""Assertions on arrays of any namespace.  They raise `AssertionError`; none returns a truth value."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrixlearn._array import EPS, as_numpy
from matrixlearn.sets import KnapsackSet, ScaledSimplex, SpectralBall, SpectralSet, Spectraplex, TraceBall
from matrixlearn.typing import Array


def fail(message: str) -> None:
    """Raise AssertionError: an assert statement would vanish under ``python -O``."""
    raise AssertionError(message)


def holds(truth: Any, message: str) -> None:
    """``truth``, or AssertionError with the message."""
    if not bool(truth):
        fail(message)


def assert_close(actual: Any, expected: Any, *, atol: float, what: str = "values") -> None:
    """max |actual - expected| <= atol, of the same shape; the tolerance is absolute and the caller's."""
    a, b = np.asarray(as_numpy(actual)), np.asarray(as_numpy(expected))
    holds(a.shape == b.shape, f"{what}: shape {a.shape}, expected {b.shape}")
    difference = float(np.max(np.abs(a - b), initial=0.0))
    holds(difference <= atol, f"{what}: they differ by {difference:.3g}, allowed {atol:.3g}\n{a}\nexpected\n{b}")


def assert_at_most(smaller: float, larger: float, *, atol: float = 0.0, what: str = "") -> None:
    """``smaller`` <= ``larger`` + atol."""
    holds(smaller <= larger + atol, f"{what}: {smaller:.17g} > {larger:.17g} by {smaller - larger:.3g} > {atol:.3g}")


def assert_same(actual: Any, expected: Any, what: str = "values") -> None:
    """Equal to the last bit, NaN equal to NaN; None equal to None."""
    if actual is None or expected is None:
        holds(actual is expected, f"{what}: {actual!r}, expected {expected!r}")
        return
    a, b = np.asarray(as_numpy(actual)), np.asarray(as_numpy(expected))
    equal = np.array_equal(a, b, equal_nan=a.dtype.kind in "fc" and b.dtype.kind in "fc")
    holds(equal, f"{what} are not the same:\n{a}\nexpected\n{b}")


def assert_hermitian(X: Array, *, what: str = "X") -> None:
    """X = X^H to rounding."""
    A = np.asarray(as_numpy(X))
    holds(A.ndim == 2 and A.shape[0] == A.shape[1], f"{what} must be square, got shape {A.shape}")
    largest = float(np.max(np.abs(A), initial=0.0))
    assert_close(A, A.conj().T, atol=64 * EPS * largest, what=f"{what} and its adjoint")


def assert_psd(X: Array, *, atol: float | None = None, what: str = "X") -> None:
    """X = X^H and X >= 0; by default up to the rounding of one eigendecomposition."""
    assert_hermitian(X, what=what)
    w = np.linalg.eigvalsh(np.asarray(as_numpy(X)))
    allowed = 64 * len(w) * EPS * float(np.max(np.abs(w))) if atol is None else atol
    holds(w[0] >= -allowed, f"{what} must be positive semidefinite: lambda_min = {w[0]:.3g}, lambda_max = {w[-1]:.3g}")


def assert_density(X: Array, trace: float = 1.0, *, what: str = "X") -> None:
    """X >= 0 and Tr X = trace, to rounding."""
    assert_psd(X, what=what)
    total = float(np.real(np.trace(np.asarray(as_numpy(X)))))
    allowed = 64 * X.shape[0] * EPS * abs(trace)
    holds(abs(total - trace) <= allowed, f"{what} must have the trace {trace:.17g}, got {total:.17g}")


def assert_in_spectral_set(X: Array, S: SpectralSet, *, what: str = "X") -> None:
    """X lies in S, to rounding, by the definition of the set."""
    A = np.asarray(as_numpy(X))
    holds(np.all(np.isfinite(A)), f"{what} is not finite")
    if isinstance(S, ScaledSimplex):
        holds(A.shape == (S.n,), f"{what} must have shape ({S.n},), got {A.shape}")
        A = np.diag(A)
    holds(A.shape == (S.n, S.n), f"{what} must have shape ({S.n}, {S.n}), got {A.shape}")
    allowed = 64 * (S.n + 1) * EPS * S.trace
    inside = np.zeros((S.n, S.n), dtype=bool)
    for block in S.slices():
        inside[block, block] = True
    holds(not np.any(A[~inside]), f"{what} has entries outside its blocks {S.blocks}")
    if isinstance(S, SpectralBall):
        assert_hermitian(A, what=what)
        norm = float(np.abs(np.linalg.eigvalsh(A)).sum())
        assert_at_most(norm, S.trace, atol=allowed, what=f"the trace norm of {what}")
        return
    if not isinstance(S, Spectraplex | TraceBall | ScaledSimplex):  # a plugin's own set: its nearest point is X
        assert_close(S.project(X), X, atol=allowed, what=f"{what} and its projection on S")
        return
    assert_psd(A, atol=allowed, what=what)
    total = float(np.real(np.trace(A)))
    assert_at_most(total, S.trace, atol=allowed, what=f"the trace of {what}")
    if not isinstance(S, TraceBall):
        assert_at_most(S.trace, total, atol=allowed, what=f"R and the trace of {what}")


def assert_in_dual_set(y: Any, Y: KnapsackSet, *, what: str = "y") -> None:
    """y lies in Y: within its bounds, and on its row to rounding."""
    y = np.asarray(y)
    holds(y.shape == (Y.size,), f"{what} must have shape ({Y.size},), got {y.shape}")
    holds(np.all(np.isfinite(y)), f"{what} is not finite: {y}")
    ends = np.concatenate([Y.lower[np.isfinite(Y.lower)], Y.upper[np.isfinite(Y.upper)]])
    allowed = 16 * EPS * float(np.max(np.abs(ends), initial=0.0))
    holds(np.all(y >= Y.lower - allowed), f"{what} is below its lower bound by {np.max(Y.lower - y):.3g}")
    holds(np.all(y <= Y.upper + allowed), f"{what} is above its upper bound by {np.max(y - Y.upper):.3g}")
    if Y.weights is None:
        return
    total = float(Y.weights @ y)
    size = float(Y.weights @ np.abs(y))
    rows = [abs(r) for r in (Y.row_lower, Y.row_upper) if np.isfinite(r)]
    allowed = 32 * (Y.size + 1) * EPS * max([size, *rows])
    assert_at_most(Y.row_lower, total, atol=allowed, what=f"row_lower and w.{what}")
    assert_at_most(total, Y.row_upper, atol=allowed, what=f"w.{what} and row_upper")
