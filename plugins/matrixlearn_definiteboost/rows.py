"""Rows that say what the trace and the equalities of a `DefiniteBoost` say, and do not depend on each other nearly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixlearn.maps import DenseMap
from matrixlearn.problems.linear.echelon import Echelon, echelon
from matrixlearn.problems.linear.lattice import shortened


@dataclass(frozen=True, eq=False)
class Rows:
    """<Z_k, W> = z_k, each Z_k of a Frobenius norm between a half and one.

    Attributes
    ----------
    family : DenseMap
        Z.
    right : ndarray
        z.
    form : Echelon
        What the rows before are made of, in units of its own.
    units : ndarray
        Z is this times that of ``form``: powers of two.
    """

    family: DenseMap
    right: np.ndarray
    form: Echelon
    units: np.ndarray

    @classmethod
    def of(cls, matrices: np.ndarray, right: np.ndarray) -> Rows | None:
        """Of real symmetric matrices; None where no such rows are proved."""
        rows = DenseMap(matrices)
        form = shortened(rows, right) or echelon(rows, right)
        if form is None:
            return None
        units = np.ldexp(1.0, -np.frexp(form.family.sizes)[1])
        Z = np.stack([form.family.matrix(k) for k in range(len(form.right))])
        return cls(DenseMap(units[:, None, None] * Z), units * form.right, form, units)

    @property
    def rounding(self) -> float:
        """Z and z are off by this part at most."""
        return self.form.rounding

    def pulled_back(self, F: np.ndarray) -> np.ndarray:
        """The F^H Z_k F."""
        return hermitian(F.conj().T @ self.family.A @ F)

    def lowered(self, y: np.ndarray) -> np.ndarray:
        """Multipliers of these rows, from those of the rows before."""
        return self.form.lowered(y) / self.units

    def lifted(self, z: np.ndarray) -> np.ndarray:
        """Multipliers of the rows before."""
        return self.form.lifted(z * self.units)


def hermitian(B: np.ndarray) -> np.ndarray:
    """The Hermitian parts of a stack."""
    return np.asarray((B + B.conj().swapaxes(1, 2)) / 2)
