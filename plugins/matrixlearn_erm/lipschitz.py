"""||C^(1/2) A||, by Lanczos' method: what step sizes need of all samples together."""

from __future__ import annotations

import numpy as np
import scipy.sparse.linalg

from matrixlearn_erm.design import Design

MARGIN = 1.01
"""The estimate comes from below: times this."""
SMALL = 64
"""Features up to which the Gram matrix is decomposed."""


def operator_norm(design: Design, share: np.ndarray) -> float:
    """sqrt(lambda_max(A' C A)), from above but for rare starts; 1 where A = 0."""
    d = design.shape[1]
    if d <= SMALL:
        value = float(np.linalg.eigvalsh(design.gram(share))[-1])
    else:
        operator = scipy.sparse.linalg.LinearOperator(
            (d, d), matvec=lambda x: design.adjoint(share * design.apply(np.ravel(x))), dtype=float
        )
        start = np.random.default_rng(0).standard_normal(d)
        value = float(scipy.sparse.linalg.eigsh(operator, k=1, v0=start, tol=1e-2, return_eigenvectors=False)[0])
    return float(np.sqrt(max(value, 0.0) * MARGIN)) or 1.0
