"""A linear program over matrices on the face that holds its feasible points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from matrixlearn.linalg import adjoint, frobenius
from matrixlearn.problems.face import Face
from matrixlearn.typing import Array

if TYPE_CHECKING:
    from matrixlearn.problems.linear import LinearSDP

SHARE = 1e-8
"""Of the bound, that a lifted y may be off without the face; less, and rounding of the large multiplier is more."""


@dataclass(frozen=True, eq=False)
class OnFace:
    """A `LinearSDP` about W in X = V W V^H, in the place of one about X."""

    whole: LinearSDP
    face: Face

    @cached_property
    def problem(self) -> LinearSDP:
        """The program about W."""
        whole, face = self.whole, self.face
        return type(whole)(
            face.compressed(whole.C),
            face.family,
            whole.b[face.rows],
            whole.trace_bound,
            equalities=whole.equalities[face.rows],
            tolerance=whole.tolerance,
        )

    @property
    def why(self) -> str:
        """The dimensions."""
        n, r = self.face.V.shape
        return f"rows <A_j, X> = 0 with a semidefinite A_j leave X {r} of {n} dimensions: solved in these"

    def lowered(self, X: Array | None, y: np.ndarray | None) -> tuple[Array | None, np.ndarray | None]:
        """V^H X V, and the multipliers of the rows that are left; None for what is not of the program's shape."""
        fits = getattr(X, "shape", None) == self.whole.C.shape
        return (
            self.face.compressed(X) if X is not None and fits else None,
            y[self.face.rows] if y is not None and y.shape == self.whole.b.shape else None,
        )

    def lifted(self, X: Array | None, y: np.ndarray | None) -> tuple[Array | None, np.ndarray | None]:
        """V W V^H, and y with so large a multiplier K of the facial rows that it proves its bound without the face, too

        lambda_max(F - K N) <= lambda_max(V^H F V) + ||V_0^H F V||^2 / (K nu - ||F||),  N >= nu on its range V_0
        """
        return None if X is None else self.face.lifted(X), None if y is None else self._with_facial_rows(y)

    def _with_facial_rows(self, y: np.ndarray) -> np.ndarray:
        whole, face = self.whole, self.face
        out = np.zeros(len(whole.b))
        out[face.rows] = y
        F = whole.forward(out)
        FV = F @ face.V
        across = frobenius(FV - face.V @ (adjoint(face.V) @ FV))
        bound = abs(float(whole.b @ out)) + whole.trace_bound * frobenius(F)
        room = SHARE * bound / whole.trace_bound
        return out + ((frobenius(F) + across**2 / room) / face.least if room > 0 else 0.0) * face.weights
