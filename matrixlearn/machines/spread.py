"""Rank-one matrices of rows that stay on machines: matrices come back, rows do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrixlearn.linalg import quadratic_forms
from matrixlearn.machines.base import Held
from matrixlearn.machines.block import Block
from matrixlearn.maps import LinearMap, RankOneMap

ROWS = 8192
"""Rows that a machine looks at together."""


@dataclass(frozen=True, eq=False)
class SpreadMap(LinearMap):
    """A_j = x_j x_j^T for the rows x_j of all machines, in their order; `apply` and `adjoint` are a round each.

        A(y)   = sum over machines of sum_j y_j x_j x_j^T     y down, n^2 numbers of each machine up
        A*(X)  = (x_j^T X x_j)_j                              n^2 numbers down, m up

    Only `at` has rows come, those that are asked for: an engine that works on few of the A_j needs them whole.

    Parameters
    ----------
    held : Held
    """

    held: Held

    @cached_property
    def shape(self) -> tuple[int, int]:
        sizes, widths = self.held.map(_shape)
        return int(sizes.sum()), int(widths[0])

    @cached_property
    def norms(self) -> np.ndarray:
        return np.asarray(self.held.map(_squares))

    @property
    def sizes(self) -> np.ndarray:
        return self.norms

    def apply(self, y: np.ndarray) -> np.ndarray:
        parts = self.held.gather(self.held.map(_moments, self.held.scatter(y)))
        self.held.ledger.end_round()
        return np.asarray(parts.sum(axis=0))

    def adjoint(self, X: np.ndarray) -> np.ndarray:
        self.held.ledger.down += len(self.held.ids) * X.size
        prices = self.held.gather(self.held.map(_forms, X=X))
        self.held.ledger.end_round()
        return prices

    def at(self, index: np.ndarray) -> RankOneMap:
        wanted = np.zeros(self.shape[0], bool)
        wanted[index] = True
        rows = self.held.gather(self.held.map(_chosen, wanted))
        return RankOneMap(rows[np.searchsorted(np.flatnonzero(wanted), index)])

    def matrix(self, j: int) -> np.ndarray:
        return np.asarray(self.at(np.array([j])).matrix(0))


# -- what machines compute ---------------------------------------------------------------------------


def _parts(block: Block, i: int) -> Iterator[slice]:
    """The rows of machine i, some at a time."""
    for start in range(block.ends[i], block.ends[i + 1], ROWS):
        yield slice(start, min(start + ROWS, block.ends[i + 1]))


def _dense(block: Block, rows: slice | np.ndarray) -> np.ndarray:
    X = block.X[rows]
    return X.toarray() if hasattr(X, "toarray") else X


def _shape(block: Block) -> tuple[np.ndarray, np.ndarray]:
    return block.sizes, np.full(len(block), block.width)


def _squares(block: Block) -> np.ndarray:
    return block.norms**2


def _moments(block: Block, y: np.ndarray) -> np.ndarray:
    """sum_j y_j x_j x_j^T of each machine, (k, n, n)."""
    out = np.zeros((len(block), block.width, block.width))
    for i in range(len(block)):
        for rows in _parts(block, i):
            used = rows.start + np.flatnonzero(y[rows])  # an oracle's answer is sparse
            if len(used):
                some = len(used) < rows.stop - rows.start
                out[i] += RankOneMap(_dense(block, used if some else rows)).apply(y[used])
    return out


def _forms(block: Block, X: np.ndarray) -> np.ndarray:
    """x_j^T X x_j, (rows,)."""
    parts = [_dense(block, rows) for i in range(len(block)) for rows in _parts(block, i)]
    return np.concatenate([quadratic_forms(P, X) for P in parts])


def _chosen(block: Block, wanted: np.ndarray) -> np.ndarray:
    return _dense(block, np.flatnonzero(wanted))
