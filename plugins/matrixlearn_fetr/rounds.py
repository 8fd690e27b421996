"""The rounds of FETR: one covariance is played, and the other blocks answer.

    S1 = argmin of <G, S> - m log det S over l I <= S <= u I,  G = V S2 V^T       the exponent, `ClippedLogDet`
    W  = argmin of loss(W) + eta tr(S1 V S2 V^T);  S2 = argmin of <V^T S1 V, S> - d log det S        the oracle

The loss replaces G: what is played is the published alternation (Algorithms 1 and 2), block by block.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from matrixlearn.exponents import clipped_reciprocal
from matrixlearn.multitask import SpectralPrecision
from matrixlearn.oracles import Done, Move, sorted_pairing
from matrixlearn_fetr.covariance import PrecisionPair

if TYPE_CHECKING:
    from matrixlearn_fetr.relations import RelationProblem


def matched_precision(G: np.ndarray, weight: float, lower: float, upper: float) -> SpectralPrecision:
    """argmin over l I <= S <= u I of <G, S> - weight log det S, by a minimum-weight matching of eigenvalues.

    The best eigenvalues are clip(weight / nu, l, u) for those of G, in any order. <G, S> is least over all bases where
    S has the eigenvectors of G and the eigenvalues are matched, large with small (Theorem 4.1).
    """
    nu, vectors = np.linalg.eigh(G)
    sizes = np.sort(clipped_reciprocal(nu, weight, lower, upper))
    return SpectralPrecision(upper, sizes[sorted_pairing(nu, sizes)], vectors)


@dataclass(frozen=True, eq=False)
class OtherBlocks:
    """S1 -> the best weights, then the best S2; the loss of the next S1 is V S2 V^T.

    Attributes
    ----------
    problem : RelationProblem
    precision : SpectralPrecision
        S2.
    point : ndarray
        The weights, and the mean where there is one.
    value : float
        F at the last three blocks.
    """

    problem: RelationProblem
    precision: SpectralPrecision
    point: np.ndarray
    value: float = np.inf

    @classmethod
    def of(cls, problem: RelationProblem) -> OtherBlocks:
        """The oracle of the first round: no weights, and S2 = I or as near as the bounds allow."""
        d, m = problem.shape
        return cls(problem, problem.first_precisions().task, np.zeros((d, m + problem.around.columns)))

    def __call__(self, X: np.ndarray) -> Move | Done:
        p, S1 = self.problem, SpectralPrecision.of(X)
        point, _, _ = p.weight_step(self.point, PrecisionPair(S1, self.precision))
        W, w0 = p.around.read(point)
        V, d = W - w0[:, None], W.shape[0]
        S2 = matched_precision(V.T @ (S1 @ V), d, p.lower, p.upper)
        value = p.value(point, PrecisionPair(S1, S2))
        if not value < self.value:
            return Done("no block lowers the objective: the limit of rounding", point=self.point)
        loss = V @ (V @ S2).T
        then = replace(self, precision=S2, point=point, value=value)
        return Move((loss + loss.T) / 2, point=point, then=then)
