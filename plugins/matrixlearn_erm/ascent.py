"""Passes of coordinate ascent on the dual: compiled where numba is installed, else block by block in NumPy.

Each pass visits rows in random order. With ``copies`` = K it is one of K machines that move at once and add up: each
assumes that all do as it does, so that its own moves count K times in its copy of v, and steps are K times shorter.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

import numpy as np

from matrixlearn.losses import Logistic, PiecewiseQuadratic
from matrixlearn.penalties import ElasticNet
from matrixlearn_erm.blocks import Blocks
from matrixlearn_erm.problem import ERM

Argmax = Callable[[np.ndarray], np.ndarray]
"""v -> x = grad psi*(v)."""


class Ascent(ABC):
    """Coordinate ascent over some rows."""

    @abstractmethod
    def __call__(
        self, y: np.ndarray, v: np.ndarray, rng: np.random.Generator, steps: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """y after one pass (or so many row visits), and what the pass added to -A'(c y) as a sum, not K times it."""


@dataclass(frozen=True, eq=False)
class Compiled(Ascent):
    """One row a step, by numba."""

    problem: ERM
    rows: np.ndarray
    copies: int
    l1: float

    def __call__(
        self, y: np.ndarray, v: np.ndarray, rng: np.random.Generator, steps: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        from matrixlearn_erm.kernels import dense_pass, sparse_pass  # late: numba takes a second to import

        problem, loss, A = self.problem, self.problem.loss, self.problem.design.A
        y, v, before = y.copy(), v.copy(), v
        sizes = self.copies * problem.share * problem.design.norms**2
        with np.errstate(divide="ignore"):
            h = problem.penalty.strong_convexity / sizes
        order = rng.permutation(self.rows)[:steps]
        logistic = isinstance(loss, Logistic)
        lower, upper, _ = (np.array(each) for each in np.broadcast_arrays(*loss.domain(problem.b), problem.b))
        tail = (
            h, problem.share, problem.b, logistic, 0.0 if logistic else loss.kappa, lower, upper, y, v,
            problem.penalty.strong_convexity, self.l1, float(self.copies),
        )  # fmt: skip
        if problem.design.is_sparse:
            sparse_pass(order, A.indptr, A.indices, A.data, *tail)
        else:
            dense_pass(order, A, *tail)
        return y, (v - before) / self.copies


@dataclass(frozen=True, eq=False)
class InBlocks(Ascent):
    """A block of rows a step, in NumPy, with the curvature of the block in the place of that of a row."""

    problem: ERM
    blocks: Blocks
    copies: int
    argmax: Argmax

    def __call__(
        self, y: np.ndarray, v: np.ndarray, rng: np.random.Generator, steps: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        loss, sigma = self.problem.loss, self.problem.penalty.strong_convexity
        y, before, left = y.copy(), v, np.inf if steps is None else steps
        for block in self.blocks.shuffled(rng):
            if left <= 0:
                break
            left -= len(block.rows)
            if block.curvature == 0:
                continue
            h = sigma / (self.copies * block.curvature)
            moved = loss.prox_conjugate(y[block.rows] + h * (block.A @ self.argmax(v)), h, block.b)
            v = v - self.copies * (block.At @ (block.share * (moved - y[block.rows])))
            y[block.rows] = moved
        return y, (v - before) / self.copies


def compiles(problem: ERM) -> bool:
    """Whether numba is installed and there is a kernel for the loss and the penalty."""
    known = isinstance(problem.loss, Logistic | PiecewiseQuadratic) and isinstance(problem.penalty, ElasticNet)
    return known and has_numba()


@cache
def has_numba() -> bool:
    """Whether numba is installed: looking takes half a millisecond."""
    return find_spec("numba") is not None


def ascent_of(
    problem: ERM, batch: int | None, rng: np.random.Generator, rows: np.ndarray | None = None, copies: int = 1,
    ridge_only: bool = False,
) -> Ascent:  # fmt: skip
    """Passes over the rows (all, by default); with ``ridge_only`` x is v / ridge, whatever norm psi has beside."""
    rows = np.arange(problem.n) if rows is None else rows
    psi = problem.penalty
    if compiles(problem) and batch in (None, 1):
        return Compiled(problem, rows, copies, 0.0 if ridge_only else psi.l1)
    argmax: Argmax = (lambda v: v / psi.strong_convexity) if ridge_only else psi.conjugate_gradient
    return InBlocks(problem, Blocks.of(problem, batch, rng, rows), copies, argmax)
