"""SPD1: a step looks at one entry a_ij, or here at the block of some rows and columns, and costs as much.

With M blocks J of columns and N blocks B of rows:

    SPD1      y_B <- prox_{s f*}(y_B + s M A_BJ x_J),
              x_J <- prox_{t psi}(x_J - t N A_BJ'(c y_B))
    SPD1-VR   y_B <- prox_{s f*}(y_B + s (M A_BJ (x_J - x~_J) + A_B x~)),
              x_J <- prox_{t psi}(x_J - t (N A_BJ'(c (y_B - y~_B)) + A_J'(c y~))),    a new pair (x~, y~) each N M steps

psi must be a sum over entries. SPD1's steps fall as 1 / t where both sides are strongly convex, else as 1 / sqrt(t),
and its answer is the mean with weights t; SPD1-VR's are constant. Reconstructed: the source prints neither.

References
----------
Tan, Zhang, Ma and Wang (2018).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matrixlearn.engines import Incumbent
from matrixlearn_erm.blocks import Blocks
from matrixlearn_erm.engine import flat, not_elastic, offered, rough
from matrixlearn_erm.problem import ERM
from matrixlearn_erm.stochastic import BlockState, Stochastic, best_x, best_y

COLUMNS = 8
"""Blocks of columns, at the most, where nothing else is asked for."""


@dataclass(frozen=True)
class SPD1State(BlockState):
    """The pair, its mean, the blocks of columns, and the size of the largest entry block."""

    x: np.ndarray | None = None
    y: np.ndarray | None = None
    mean_x: np.ndarray | None = None
    mean_y: np.ndarray | None = None
    columns: tuple[np.ndarray, ...] = ()
    size: float = 1.0


@dataclass(frozen=True)
class SPD1(Stochastic):
    """Stochastic primal-dual steps of the cost of one entry.

    Parameters
    ----------
    batch, seed
        As for every engine that draws blocks.
    columns : int, optional
        Columns of a block; 1, with ``batch=1``, is the method as printed. By default so that there are 8 blocks.
    """

    columns: int | None = None

    name = "spd1"

    def lacks(self, problem: ERM) -> str:
        return not_elastic(problem)

    def init(self, problem: ERM, incumbent: Incumbent) -> SPD1State:
        x, y = best_x(incumbent, problem.d), best_y(problem, incumbent)
        rng, blocks = np.random.default_rng(self.seed + 1), self.partition(problem)
        count = min(problem.d, COLUMNS) if self.columns is None else -(-problem.d // self.columns)
        columns = tuple(np.sort(part) for part in np.array_split(rng.permutation(problem.d), count))
        size = np.sqrt(len(blocks) * len(columns) * max(_curvature(blocks, J) for J in columns)) or 1.0
        return SPD1State(
            blocks=blocks, x=x, y=y, mean_x=x, mean_y=y, columns=columns, size=float(size), advice=problem.case.advice()
        )  # fmt: skip

    def advanced(self, problem: ERM, state: SPD1State, incumbent: Incumbent) -> SPD1State:
        blocks, columns = state.blocks, state.columns
        assert blocks is not None and state.x is not None and state.y is not None
        assert state.mean_x is not None and state.mean_y is not None
        psi, f, N, M = problem.penalty, problem.loss, len(blocks), len(columns)
        x, y, mean_x, mean_y = state.x.copy(), state.y.copy(), state.mean_x, state.mean_y
        sigma, gamma, R, rng = psi.strong_convexity, 1 / f.smoothness, state.size, self.draws(state.epoch)
        k = state.epoch * N * M
        for block in blocks.drawn(rng, N * M):
            k += 1
            t, s = self._steps(sigma, gamma, R, N, M, k)
            J = columns[rng.integers(M)]
            entries, rows = block.A[:, J], block.rows
            y[rows] = f.prox_conjugate(y[rows] + s * M * (entries @ x[J]), s, block.b)
            x[J] = psi.prox(x[J] - t * N * (entries.T @ (block.share * y[rows])), t)
            weight = 2 / (k + 1)
            mean_x, mean_y = mean_x + weight * (x - mean_x), mean_y + weight * (y - mean_y)
        proposals = (
            offered(problem, incumbent, mean_x, mean_y),
            offered(problem, incumbent, None, problem.dual_point(mean_x)),
        )
        return replace(
            state, epoch=state.epoch + 1, x=x, y=y, mean_x=mean_x, mean_y=mean_y, proposals=proposals
        )  # fmt: skip

    def _steps(self, sigma: float, gamma: float, R: float, N: int, M: int, k: int) -> tuple[float, float]:
        """t and s of step k."""
        if sigma > 0 and gamma > 0:
            first = 2 * R / np.sqrt(sigma * gamma)  # t s R^2 <= 1 from the first step on
            return 2 / (sigma * (k / M + first)), 2 / (gamma * (k / N + first))
        return 1 / (R * np.sqrt(k)), 1 / (R * np.sqrt(k))


@dataclass(frozen=True)
class SPD1VR(SPD1):
    """SPD1 with variance reduction.

    Parameters
    ----------
    batch, seed, columns
        As for `SPD1`.
    """

    name = "spd1-vr"

    def lacks(self, problem: ERM) -> str:
        return rough(problem) or flat(problem) or not_elastic(problem)

    def advanced(self, problem: ERM, state: SPD1State, incumbent: Incumbent) -> SPD1State:
        blocks, columns = state.blocks, state.columns
        assert blocks is not None and state.x is not None and state.y is not None
        psi, f, N, M = problem.penalty, problem.loss, len(blocks), len(columns)
        x, y, x0, y0 = state.x.copy(), state.y.copy(), state.x, state.y
        sigma, gamma, rng = psi.strong_convexity, 1 / f.smoothness, self.draws(state.epoch)
        p0, u0 = problem.design.apply(x0), -problem.direction(y0)
        # balanced as in SPDC
        ratio = np.sqrt(gamma / (N * sigma))
        t, s = ratio / (2 * state.size), 1 / (2 * state.size * ratio)
        for block in blocks.drawn(rng, N * M):
            J = columns[rng.integers(M)]
            entries, rows = block.A[:, J], block.rows
            y[rows] = f.prox_conjugate(y[rows] + s * (M * (entries @ (x[J] - x0[J])) + p0[rows]), s, block.b)
            x[J] = psi.prox(x[J] - t * (N * (entries.T @ (block.share * (y[rows] - y0[rows]))) + u0[J]), t)
        proposals = (offered(problem, incumbent, x, y), offered(problem, incumbent, None, problem.dual_point(x)))
        return replace(state, epoch=state.epoch + 1, x=x, y=y, proposals=proposals)


def _curvature(blocks: Blocks, columns: np.ndarray) -> float:
    """The largest of lambda_max(A_BJ' C A_BJ) over B."""
    largest = 0.0
    for block in blocks.blocks:
        entries = block.A[:, columns]
        scaled = (
            entries.multiply(block.share[:, None]) if hasattr(entries, "multiply") else entries * block.share[:, None]
        )
        gram = entries.T @ scaled
        largest = max(largest, float(np.linalg.eigvalsh(gram.toarray() if hasattr(gram, "toarray") else gram)[-1]))
    return largest
