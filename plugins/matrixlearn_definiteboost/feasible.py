"""Feasible matrices of DefiniteBoost: which are, and the ways from a matrix to one near it.

on_equalities   W + sum_j a_j (S_j - tr(S_j) I / d), the nearest in the Frobenius norm
mixed           W + theta (W_s - W) for a strictly feasible W_s, the least theta that will do
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from matrixlearn_definiteboost.dual import EPS

if TYPE_CHECKING:
    from matrixlearn_definiteboost.problem import DefiniteBoost
    from matrixlearn_definiteboost.proof import Proved

REPAIRABLE = 1e-2
"""The largest scaled violation from which an answer is repaired that comes without a strictly feasible matrix."""


@dataclass(frozen=True, eq=False)
class FeasibleSet:
    """The density matrices with l_j <= tr(W S_j) <= u_j, to rounding; all of them where constraints are soft."""

    problem: DefiniteBoost

    @cached_property
    def rounding(self) -> np.ndarray:
        """What rounding may do to tr(W S_j) - u_j, (m,)."""
        p = self.problem
        finite = np.where(np.isfinite(p.lower_bounds), np.abs(p.lower_bounds), 0.0)
        return np.asarray(8 * p.d * EPS * (p.family.norms + np.abs(p.upper) + finite))

    def holds(self, W: np.ndarray, share: float = 1.0) -> bool:
        """Whether all constraints hold to a share of rounding."""
        return bool(np.all(self.problem.violations(W) <= share * self.rounding))

    def margins(self, W: np.ndarray) -> np.ndarray:
        """(c_i - s_i tr(W S_j(i))) / scale_i of the inequalities, negative where violated."""
        s = self.problem.sides
        t = self.problem.family.adjoint(W)[s.index]
        return np.asarray(((s.bound - s.sign * t) / s.scale)[~s.is_equality])

    def admitted(self, W: np.ndarray) -> np.ndarray | None:
        """W where it is positive semidefinite and feasible to rounding, on equalities after a correction, or None.

        To half of rounding: a certificate takes one more eigendecomposition.
        """
        if float(np.linalg.eigvalsh(W)[0]) < -1e-10:
            return None
        W = self.problem.densities.project(W)
        if self.problem.slack is not None or self.holds(W, 0.5):
            return W
        if np.any(self.problem.sides.is_equality):
            corrected = self.on_equalities(W)
            if corrected is not None and self.holds(corrected, 0.5):
                return corrected
        return None

    def on_equalities(self, W: np.ndarray) -> np.ndarray | None:
        """The nearest matrix of trace one on all equalities, where it is positive definite; W where there are none."""
        p = self.problem
        which = p.sides.index[p.sides.is_equality]
        if len(which) == 0:
            return W
        S = self._traceless(which)
        flat = S.reshape(len(which), -1)
        gram = np.real(flat.conj() @ flat.T)
        for _ in range(2):  # the second time for rounding
            missing = p.upper[which] - p.family.adjoint(W)[which]
            coefficients = np.linalg.lstsq(gram, missing, rcond=1e-13)[0]
            W = W + np.tensordot(coefficients, S, axes=1)
        return W if float(np.linalg.eigvalsh(W)[0]) >= 0 else None

    def _traceless(self, which: np.ndarray) -> np.ndarray:
        """The S_j but for their multiples of I."""
        p = self.problem
        S = np.stack([p.family.matrix(int(j)) for j in which])
        return np.asarray(S - (np.trace(S, axis1=1, axis2=2).real / p.d)[:, None, None] * np.eye(p.d))

    def distance(self, W: np.ndarray) -> float:
        """About the Frobenius norm of the least E, tr E = 0, with W + E on all equalities; 0 where there are none."""
        p = self.problem
        which = p.sides.index[p.sides.is_equality]
        if len(which) == 0 or p.slack is not None:
            return 0.0
        units = np.where(p.family.sizes[which] > 0, p.family.sizes[which], 1.0)
        flat = self._traceless(which).reshape(len(which), -1)
        flat = np.hstack([flat.real, flat.imag]) / units[:, None]
        missing = (p.upper[which] - p.family.adjoint(W)[which]) / units
        return float(np.linalg.norm(np.linalg.lstsq(flat, missing, rcond=4 * p.d * EPS)[0]))

    def mixed(self, W: np.ndarray, inside: np.ndarray) -> np.ndarray | None:
        """The point nearest to W on the way to the strictly feasible ``inside`` that is feasible."""
        corrected = self.on_equalities(W)
        if corrected is None:  # negative eigenvalues of the size of the missing equality: start a little inside
            corrected = self.on_equalities(W + 1e-6 * (inside - W))
        if corrected is None:
            return None
        here, there = self.margins(corrected), self.margins(inside)
        out = here < 0
        theta = float(np.max(here[out] / (here[out] - there[out]), initial=0.0))
        for factor in (1.0, 1.0 + 1e-9, 1.0 + 1e-6):
            mixture = corrected + min(1.0, factor * theta) * (inside - corrected)
            if self.holds(mixture):
                return mixture
        return None

    @property
    def interior(self) -> np.ndarray | None:
        """A strictly feasible matrix near the optimum; None where none was found, in the time of the solve."""
        from matrixlearn_definiteboost.interior import strictly_feasible

        return self.__dict__["searched"] if self.has_searched else strictly_feasible(self.problem)

    @property
    def has_searched(self) -> bool:
        """Whether a search for a strictly feasible matrix has come to its end."""
        return "searched" in self.__dict__

    def remember(self, found: np.ndarray | None) -> None:
        """Keep what a search has found at its end: certificates need not search again."""
        self.__dict__.setdefault("searched", found)

    def deserves_repair(self, W: np.ndarray) -> bool:
        """Whether W violates by little, or an interior is known already: a search for one takes many Newton steps."""
        return self.has_searched or float(np.min(self.margins(W), initial=0.0)) >= -REPAIRABLE

    def proved_near(self, W: np.ndarray) -> Proved | None:
        """A matrix near W that is proved to be next to a feasible one, and its bound; None where none is known, or W is
        no answer to begin with.
        """
        proof = self.problem.proof
        if self.problem.slack is not None or float(np.min(self.margins(W), initial=0.0)) >= -REPAIRABLE:
            found = proof.near(W)
            if found is not None:
                return found
        near = self.repaired(W)
        return None if near is None or near is W else proof.near(near)

    def repaired(self, W: np.ndarray) -> np.ndarray | None:
        """A matrix near W that is feasible to rounding; None where none is known, or W is no answer to begin with."""
        if self.problem.slack is not None or self.holds(W):
            return W
        if np.all(self.problem.sides.is_equality):
            corrected = self.on_equalities(W)
            if corrected is not None and self.holds(corrected):
                return corrected
        if not self.deserves_repair(W):
            return None
        return None if self.interior is None else self.mixed(W, self.interior)
