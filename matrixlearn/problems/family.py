"""A spectral game whose matrices A_j are given by a linear map."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from matrixlearn.problems.cells import Cell, cells_in
from matrixlearn.problems.game import SpectralGame
from matrixlearn.problems.parts import require_family, require_parts

if TYPE_CHECKING:
    import numpy as np

    from matrixlearn.maps import LinearMap, NewtonTerms
    from matrixlearn.typing import Array


class FamilyGame(SpectralGame):
    """A spectral game with ``family``: C - A(y) = C - family.apply(y), and the like for the other primitives.

    Subclasses give ``family`` too, and leave the maps alone.
    """

    if TYPE_CHECKING:  # an abstract property would forbid dataclass fields of this name

        @property
        def family(self) -> LinearMap:
            """The A_j."""

    def check(self) -> None:
        require_parts(self)
        require_family(self)

    def forward(self, y: np.ndarray) -> Array:
        return self.cost - self.family.apply(y)

    def apply(self, y: np.ndarray) -> Array:
        return self.family.apply(y)

    def adjoint(self, X: Array) -> np.ndarray:
        return self.family.adjoint(X)

    def constraint(self, j: int) -> Array:
        return self.family.matrix(j)

    @property
    def constraint_norms(self) -> np.ndarray:
        return self.family.norms

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        blocks = list(self.spectral_set.slices())
        if len(blocks) == 1:
            return super().cells
        return cells_in(self.family, self.spectral_set.signs, blocks)

    @property
    def constraint_sizes(self) -> np.ndarray:
        return self.family.sizes

    @property
    def most_terms(self) -> int:
        return self.family.terms

    def family_at(self, index: np.ndarray) -> LinearMap:
        return self.family.at(index)

    def schur(self, U: Array, V: Array) -> np.ndarray:
        return self.family.schur(U, V)

    def moments(self, U: Array, V: Array) -> NewtonTerms:
        return self.family.newton_terms(U, V)
