"""Measurements by any effects: p_sb = tr(E_sb rho), E_sb >= 0, sum_b E_sb = I for every setting s (a POVM)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.maps import DenseMap
from matrixlearn.validation import as_array, as_hermitian

if TYPE_CHECKING:
    import cvxpy

EPS = float(np.finfo(np.float64).eps)
ALLOWED = 1e-9
"""How far effects may be from positive ones that add up to I, and still be taken for a measurement."""


@dataclass(frozen=True, eq=False)
class EffectMeasurement(DenseMap):
    """y -> sum_sb y_sb E_sb for the outcomes b of POVMs s, stacked, and its adjoint rho -> p_sb = tr(E_sb rho).

    `of` makes one of POVMs, projectors or vectors. Settings of fewer outcomes are filled up with effects 0.
    """

    outcomes: tuple[int, int]
    """(S, K): settings, and the most outcomes of one."""

    @classmethod
    def of(cls, settings: Sequence[Any]) -> EffectMeasurement:
        """The measurement of POVMs, shapes (K_s, d, d), of projectors E, (d, d), and of vectors psi, (d,).

        A projector or a vector stands for two outcomes, E = psi psi^H / |psi|^2 and I - E.

        Raises
        ------
        ProblemError
            For effects that are not Hermitian, negative, of several sizes, or that do not add up to I.
        """
        povms = [_povm(f"settings[{s}]", setting) for s, setting in enumerate(settings)]
        d, K = povms[0].shape[1], max(len(povm) for povm in povms)
        for s, povm in enumerate(povms):
            if povm.shape[1] != d:
                msg = f"settings must be of one dimension, got {d} in settings[0] and {povm.shape[1]} in settings[{s}]"
                raise ProblemError(msg)
        A = np.zeros((len(povms), K, d, d), dtype=np.complex128)
        for s, povm in enumerate(povms):
            A[s, : len(povm)] = povm
        return cls(A.reshape(-1, d, d), (len(povms), K))

    @property
    def settings(self) -> np.ndarray:
        """The effects, (S, K, d, d)."""
        return np.asarray(self.A.reshape(*self.outcomes, self.d, self.d))

    @property
    def d(self) -> int:
        """The dimension."""
        return self.shape[1]

    @property
    def ends(self) -> tuple[str, str]:
        """The names of the first and the last state of the basis."""
        return "|0>", f"|{self.d - 1}>"

    @property
    def probability_error(self) -> np.ndarray:
        """What rounding may add to a p_sb, (m,): that of 2 d^2 products."""
        return 4 * (self.d**2 + 4) * EPS * self.sizes

    def probabilities(self, rho: np.ndarray) -> np.ndarray:
        """tr(E_sb rho), (S, K), for a Hermitian rho, (d, d)."""
        return self.adjoint(rho).reshape(self.outcomes)

    def rows(self, counts: Any) -> Any:
        """Counts of settings with fewer outcomes, filled up with zeros."""
        if not isinstance(counts, list | tuple):
            return counts
        rows = [as_array(f"counts[{s}]", row) for s, row in enumerate(counts)]
        width = self.outcomes[1]
        if any(row.ndim != 1 or len(row) > width for row in rows):
            return counts
        return np.array([np.pad(row, (0, width - len(row))) for row in rows])

    def modelled(self, X: cvxpy.Variable, seen: np.ndarray) -> tuple[cvxpy.Expression, list[Any]]:
        """The p_sb that were seen in terms of X = rho, in cvxpy's, and the constraint tr rho = 1."""
        import cvxpy as cp

        E = self.A[seen].swapaxes(-1, -2).reshape(len(seen), -1)  # tr(E rho) = sum_ij E_ji rho_ij
        return cp.real(E @ cp.reshape(X, (self.d**2,), order="C")), [cp.real(cp.trace(X)) == 1]


def _povm(name: str, setting: Any) -> np.ndarray:
    """The effects of one setting, (K, d, d)."""
    given = np.asarray(as_array(name, setting)).astype(np.complex128)
    if given.ndim == 1 and np.any(given):
        psi = given / np.linalg.norm(given)
        given = np.outer(psi, psi.conj())
    if given.ndim == 2 and given.shape[0] == given.shape[1]:
        given = np.stack([given, np.eye(len(given)) - given])
    if given.ndim != 3 or given.shape[1] != given.shape[2]:
        msg = (
            f"{name} must be a string of the letters X, Y, Z, a POVM of shape (K, d, d), a projector of shape (d, d) "
            f"or a vector other than 0 of shape (d,), got shape {given.shape}"
        )
        raise ProblemError(msg)
    effects = np.stack([np.asarray(as_hermitian(f"{name}[{k}]", effect)) for k, effect in enumerate(given)])
    least = np.linalg.eigvalsh(effects)[:, 0]
    if least.min() < -ALLOWED:
        k = int(np.argmin(least))
        msg = f"{name}[{k}] must be positive semidefinite, but its smallest eigenvalue is {least[k]:.3g}"
        raise ProblemError(msg)
    missed = float(np.abs(effects.sum(axis=0) - np.eye(effects.shape[1])).max())
    if missed > ALLOWED:
        msg = (
            f"the effects of {name} must add up to I, but miss it by {missed:.3g}; add the effect of what was not "
            f"noticed, or pass each as a setting of its own, (d, d), with the counts of it and of the rest"
        )
        raise ProblemError(msg)
    return effects
