"""Random problems of DefiniteBoost, small, of every kind, each with a matrix strictly inside."""

from __future__ import annotations

from typing import Any

import numpy as np


def random_arguments(rng: np.random.Generator) -> dict[str, Any]:
    """Arguments of `DefiniteBoost`: d in 1-4, m in 1-8, real or complex, W_1 uniform or not; hard, soft, two-sided."""
    d, m = int(rng.integers(1, 5)), int(rng.integers(1, 9))
    complex_entries = rng.random() < 0.3

    def matrix() -> np.ndarray:
        A = rng.standard_normal((d, d))
        return A + 1j * rng.standard_normal((d, d)) if complex_entries else A

    inside = _trace_one(matrix())
    C = np.stack([matrix() for _ in range(m)]) * 10.0 ** rng.uniform(-2, 2)
    S = (C + C.conj().swapaxes(1, 2)) / 2
    t, size = np.einsum("jab,ba->j", S, inside).real, np.abs(S).max()
    upper = t + size * rng.uniform(0.01, 0.3, m)
    lower = t - size * rng.uniform(0.01, 0.3, m) if rng.random() < 0.4 else None
    if lower is not None and d > 1 and rng.random() < 0.5:
        lower[0] = upper[0] = t[0]
    slack = rng.uniform(0.1, 2.0, m) / size if rng.random() < 0.3 else None
    initial = None if rng.random() < 0.5 else _trace_one(matrix())
    return {"constraints": C, "upper": upper, "lower": lower, "initial": initial, "slack": slack}


def _trace_one(A: np.ndarray) -> np.ndarray:
    """A A^H + I / 5 with trace one."""
    W = A @ A.conj().T + 0.2 * np.eye(len(A))
    W = (W + W.conj().T) / 2
    return np.asarray(W / np.trace(W).real)
