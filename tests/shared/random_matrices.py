"""Matrices that tests of several files draw; `pythonpath` in pyproject.toml has this folder."""

import numpy as np


def random_square(rng, n, complex_entries=False):
    """Gaussian entries, real or complex."""
    X = rng.standard_normal((n, n))
    return X + 1j * rng.standard_normal((n, n)) if complex_entries else X


def density(rng, n, complex_entries=False):
    """A density matrix of full rank."""
    A = random_square(rng, n, complex_entries)
    A = A @ A.conj().T
    return A / np.real(np.trace(A))


def spread(X):
    """The largest eigenvalue of the Hermitian part of X less the least."""
    w = np.linalg.eigvalsh((X + X.conj().T) / 2)
    return w[-1] - w[0]
