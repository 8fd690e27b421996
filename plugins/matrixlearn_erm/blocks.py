"""Samples in blocks: what a stochastic step looks at.

With the rows in N blocks B, the empirical risk is the mean of N functions

    g_B(x) = N sum over i in B of c_i f(a_i.x),     L R_B^2-smooth,     R_B^2 = N lambda_max(sum of c_i a_i a_i' over B)

With one row a block and equal shares, R_B is ||a_i||, and each method is what its authors printed. Larger blocks make
fewer and larger steps, at which NumPy is good.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from matrixlearn_erm.problem import ERM

LARGEST = 64
"""Rows of a block, at the most, where nothing else is asked for."""
BLOCKS = 32
"""Blocks, at the least, as long as there are rows for them."""


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows."""

    rows: np.ndarray
    """Their indices."""
    A: Any
    At: Any
    b: np.ndarray
    share: np.ndarray

    @cached_property
    def curvature(self) -> float:
        """lambda_max(sum of c_i a_i a_i'), by the Gram matrix of the rows."""
        gram = self.A @ self.At
        gram = gram.toarray() if hasattr(gram, "toarray") else gram
        root = np.sqrt(self.share)
        return float(max(0.0, np.linalg.eigvalsh(gram * root[:, None] * root[None, :])[-1]))


@dataclass(frozen=True, eq=False)
class Blocks:
    """A random partition of the samples."""

    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, problem: ERM, batch: int | None, rng: np.random.Generator, rows: np.ndarray | None = None) -> Blocks:
        """Rows in random order, ``batch`` a block; without one, up to 64, and so that there are 32 blocks."""
        order = rng.permutation(problem.n if rows is None else rows)
        size = batch or int(np.clip(len(order) // BLOCKS, 1, LARGEST))
        parts = np.array_split(order, -(-len(order) // size))
        A = problem.design.A
        made = []
        for part in parts:
            own = A[part]
            made.append(Block(part, own, own.T, problem.b[part], problem.share[part]))
        return cls(tuple(made))

    def __len__(self) -> int:
        return len(self.blocks)

    def drawn(self, rng: np.random.Generator, count: int) -> list[Block]:
        """So many blocks, drawn with replacement."""
        return [self.blocks[j] for j in rng.integers(len(self.blocks), size=count)]

    def shuffled(self, rng: np.random.Generator) -> list[Block]:
        """Each block once, in random order."""
        return [self.blocks[j] for j in rng.permutation(len(self.blocks))]

    @cached_property
    def R2(self) -> float:
        """max R_B^2."""
        return len(self.blocks) * max(block.curvature for block in self.blocks) or 1.0
