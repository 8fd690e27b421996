"""Density matrices to try things on, how near two of them are, and counts as an experiment would give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.linalg import sym
from matrixlearn.validation import as_array, as_hermitian
from matrixlearn_quantum.measurement import PauliMeasurement

ALLOWED = 1e-6
"""How far a matrix may be from a density matrix and still be taken for one."""

Seed = int | np.random.Generator | None


def as_density(name: str, value: Any, d: int | None = None) -> np.ndarray:
    """A complex density matrix, of a matrix that is one to 1e-6 or of a vector psi as psi psi^H / |psi|^2.

    Raises
    ------
    ProblemError
        For NaN, another shape than (d, d) or (d,), a matrix that is not Hermitian, positive and of trace one.
    """
    array = np.asarray(as_array(name, value)).astype(np.complex128)
    if array.ndim not in (1, 2) or (d is not None and array.shape not in ((d,), (d, d))):
        sizes = "(d, d) or (d,)" if d is None else f"({d}, {d}) or ({d},)"
        msg = f"{name} must be a density matrix or a vector, of shape {sizes}, got {array.shape}"
        raise ProblemError(msg)
    if array.ndim == 1:
        norm = float(np.linalg.norm(array))
        if norm == 0:
            msg = f"{name} is the zero vector, which is no state"
            raise ProblemError(msg)
        return np.outer(array / norm, (array / norm).conj())
    rho = np.asarray(as_hermitian(name, array))
    least, total = float(np.linalg.eigvalsh(rho)[0]), float(np.real(np.trace(rho)))
    if least < -ALLOWED or abs(total - 1) > ALLOWED:
        msg = (
            f"{name} must be a density matrix, but its smallest eigenvalue is {least:.3g} and its trace {total:.9g}; "
            f"divide by the trace, or clip the eigenvalues"
        )
        raise ProblemError(msg)
    return rho


def ghz_state(q: int) -> np.ndarray:
    """|psi><psi| for psi = (|0...0> + |1...1>) / sqrt(2), shape (2^q, 2^q)."""
    psi = np.zeros(1 << q)
    psi[0] = psi[-1] = 1.0
    return as_density("psi", psi)


def w_state(q: int) -> np.ndarray:
    """|psi><psi| for psi = (|10...0> + |01...0> + ... + |0...01>) / sqrt(q), shape (2^q, 2^q)."""
    psi = np.zeros(1 << q)
    psi[1 << np.arange(q)] = 1.0
    return as_density("psi", psi)


def random_state(q: int, rank: int | None = None, random_state: Seed = None) -> np.ndarray:
    """A A^H / tr(A A^H) for a complex Gaussian A, shape (2^q, 2^q).

    Parameters
    ----------
    q : int
        Qubits.
    rank : int, optional
        Columns of A: 1 gives a pure state of Haar's distribution; 2^q, the default, that of Hilbert and Schmidt.
    random_state : int or Generator, optional
    """
    rng = np.random.default_rng(random_state)
    shape = (1 << q, rank or 1 << q)
    A = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    A /= np.linalg.norm(A)
    return sym(A @ A.conj().T)


def fidelity(rho: Any, sigma: Any) -> float:
    """F = (tr sqrt(sqrt(rho) sigma sqrt(rho)))^2 = ||sqrt(rho) sqrt(sigma)||_*^2, from 0 to 1 for equal states.

    Parameters
    ----------
    rho, sigma : array, shape (d, d) or (d,)
        Density matrices, or vectors of pure states; <psi| rho |psi> for one of these.
    """
    R = as_density("rho", rho)
    A, B = _factor(R), _factor(as_density("sigma", sigma, len(R)))
    return float(np.sum(np.linalg.svd(A.conj().T @ B, compute_uv=False)) ** 2)


def _factor(rho: np.ndarray) -> np.ndarray:
    """A with A A^H = rho."""
    w, V = np.linalg.eigh(rho)
    return V * np.sqrt(np.maximum(w, 0.0))


def sample_counts(rho: Any, settings: Sequence[str], shots: int, random_state: Seed = None) -> np.ndarray:
    """Counts of the outcomes of ``shots`` measurements in each Pauli setting, shape (S, 2^q).

    Parameters
    ----------
    rho : array, shape (d, d) or (d,)
        The state.
    settings : sequence of str
        As for `PauliMeasurement`.
    shots : int
        Measurements a setting.
    random_state : int or Generator, optional
    """
    if not (isinstance(shots, int | np.integer) and shots >= 0):
        msg = f"shots must be a whole number >= 0, got {shots!r}"
        raise ProblemError(msg)
    measurement = PauliMeasurement(settings)
    rng = np.random.default_rng(random_state)
    p = np.maximum(measurement.probabilities(as_density("rho", rho, measurement.d)), 0.0)
    return rng.multinomial(shots, p / p.sum(axis=1, keepdims=True))
