"""Messages along edges: what has arrived, and how late."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Links:
    """The directed edges of a graph, two for each edge that goes both ways.

    Parameters
    ----------
    source, target : arrays of int, shape (e,)
    machines : int
        m.
    """

    source: np.ndarray
    target: np.ndarray
    machines: int

    def __len__(self) -> int:
        return len(self.source)

    def summing(self, weights: np.ndarray) -> Any:
        """The CSR array (m, e) that adds up, for each target, what came along its edges times their weights."""
        import scipy.sparse as sp  # late: import time

        edges = np.arange(len(self))
        return sp.csr_array((weights, (self.target, edges)), shape=(self.machines, len(self)))


@dataclass(frozen=True, eq=False)
class Mail:
    """What every machine knows of its neighbours.

    Attributes
    ----------
    links : Links
    held : array, shape (e, d)
        The vector of the source of each edge, as last arrived at its target.
    sent : tuple of arrays, shapes (m, d)
        What was sent in the last rounds, the newest first; as many as a message may be late, and one.
    round : int
        Rounds so far.
    """

    links: Links
    held: np.ndarray
    sent: tuple[np.ndarray, ...]
    round: int = 0

    @classmethod
    def first(cls, links: Links, vectors: np.ndarray) -> Mail:
        """Before any message: all know what everyone starts with."""
        return cls(links, vectors[links.source], (vectors,))

    def delivered(self, vectors: np.ndarray) -> Mail:
        """All messages arrive at once."""
        return Mail(self.links, vectors[self.links.source], (vectors,), self.round + 1)

    def late(self, vectors: np.ndarray, delay: int, loss: float, seed: int) -> Mail:
        """Each message is 0 to ``delay`` rounds late, drawn evenly, or lost with a probability ``loss``: then the
        target keeps what it had. The draws depend on the seed and on the number of the round alone.
        """
        rng = np.random.default_rng((seed, self.round))
        sent = (vectors, *self.sent)[: delay + 1]
        lag = np.minimum(rng.integers(0, delay + 1, len(self.links)), len(sent) - 1)
        arrives = rng.random(len(self.links)) >= loss
        old = np.stack(sent)[lag, self.links.source]
        return replace(self, held=np.where(arrives[:, None], old, self.held), sent=sent, round=self.round + 1)
