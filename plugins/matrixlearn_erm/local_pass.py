"""One round of DisDCA on one machine: a pass of coordinate ascent over its own rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from matrixlearn.losses import Loss
from matrixlearn.machines import Block
from matrixlearn.penalties import Penalty
from matrixlearn_erm.ascent import Ascent
from matrixlearn_erm.design import Design

_ready: WeakKeyDictionary[Block, dict[Any, list[Ascent]]] = WeakKeyDictionary()
"""Passes over the machines of a block, made once: their blocks of rows and curvatures."""


@dataclass(frozen=True, eq=False)
class Part:
    """The data of an `ERM` that an ascent uses, for the rows of one machine."""

    design: Design
    b: np.ndarray
    share: np.ndarray
    loss: Loss
    penalty: Penalty

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.b)


def local_pass(
    block: Block, y: np.ndarray, share: np.ndarray, number: np.ndarray, engine: Any, v: np.ndarray, epoch: int,
    copies: int, loss: Loss, penalty: Penalty,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """y of the rows after a pass from the common v, (rows,), and what each machine adds to v, (k, d).

    Draws depend on the seed of the engine, the epoch and the number of the machine alone.
    """
    made = _ready.setdefault(block, {})
    key = engine, copies, repr(loss), repr(penalty)
    if key not in made:
        made[key] = []
        for (start, end), k in zip(pairwise(block.ends), number, strict=True):
            part = Part(Design(block.X[start:end]), block.y[start:end], share[start:end], loss, penalty)
            rng = np.random.default_rng((engine.seed, int(k)))
            made[key].append(engine.ascent(part, rng, np.arange(end - start), copies))
    found, added = np.empty_like(y), np.zeros((len(block), block.width))
    for i, ((start, end), k) in enumerate(zip(pairwise(block.ends), number, strict=True)):
        rng = np.random.default_rng((engine.seed, epoch, int(k)))
        found[start:end], added[i] = made[key][i](y[start:end], v, rng, engine.local_steps)
    return found, added
