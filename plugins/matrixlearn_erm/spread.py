"""The rows a_i on machines: what `Design` is for rows at hand, by rounds; no row travels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn.machines import Block, Held
from matrixlearn_erm.design import Design, gamma


@dataclass(frozen=True, eq=False)
class SpreadDesign(Design):
    """The matrix A whose rows are those of all machines, in their order.

        A x      d numbers of each machine down, n up
        A' y     n numbers down, d of each machine up

    Parameters
    ----------
    A : None
        The rows are not here.
    held : Held
    columns : array of int, optional
        The features that count; all by default.
    """

    held: Held
    chosen: np.ndarray | None = None

    is_here = False
    is_sparse = False

    @cached_property
    def _all(self) -> tuple[int, int]:
        sizes, widths = self.held.map(_shape)
        return int(sizes.sum()), int(widths[0])

    @property
    def shape(self) -> tuple[int, int]:
        return self._all[0], self._all[1] if self.chosen is None else len(self.chosen)

    def at(self, columns: np.ndarray) -> SpreadDesign:
        return SpreadDesign(None, self.held, columns if self.chosen is None else self.chosen[columns])

    def apply(self, x: np.ndarray) -> np.ndarray:
        whole = x
        if self.chosen is not None:
            whole = np.zeros(self._all[1])
            whole[self.chosen] = x
        self.held.ledger.down += len(self.held.ids) * x.size
        p = self.held.gather(self.held.map(_predicted, x=whole))
        self.held.ledger.end_round()
        return p

    def adjoint(self, y: np.ndarray) -> np.ndarray:
        return self._summed(_adjoint, y)

    def gram(self, weights: np.ndarray) -> np.ndarray:
        return self._summed(_gram, weights)

    def squares(self, weights: np.ndarray) -> np.ndarray:
        return self._summed(_squares, weights)

    def _summed(self, function: Any, by_row: np.ndarray) -> np.ndarray:
        """The sum over machines, in their order, of what each makes of its rows and of numbers by row."""
        parts = self.held.gather(self.held.map(function, self.held.scatter(by_row), columns=self.chosen))
        self.held.ledger.end_round()
        return np.asarray(parts.sum(axis=0))

    @property
    def row_terms(self) -> int:
        return self._all[1]

    @cached_property
    def norms(self) -> np.ndarray:
        return self.held.map(_norms) * np.sqrt(1 + 4 * gamma(self.row_terms + 2))


# -- what machines compute ---------------------------------------------------------------------------


def _shape(block: Block) -> tuple[np.ndarray, np.ndarray]:
    return block.sizes, np.full(len(block), block.width)


def labels(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """b_i and what each row counts."""
    return block.y, block.counts


def _norms(block: Block) -> np.ndarray:
    return block.norms


def _predicted(block: Block, x: np.ndarray) -> np.ndarray:
    return block.predict(np.tile(x, (len(block), 1)))


def _adjoint(block: Block, y: np.ndarray, columns: np.ndarray | None) -> np.ndarray:
    found = block.adjoint(y)
    return found if columns is None else np.ascontiguousarray(found[:, columns])


def _gram(block: Block, weights: np.ndarray, columns: np.ndarray | None) -> np.ndarray:
    found = block.gram(weights)
    return found if columns is None else np.ascontiguousarray(found[:, columns[:, None], columns])


def _squares(block: Block, weights: np.ndarray, columns: np.ndarray | None) -> np.ndarray:
    found = np.einsum("kdd->kd", block.gram(weights))
    return np.ascontiguousarray(found if columns is None else found[:, columns])
