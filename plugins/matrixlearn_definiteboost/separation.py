"""DefiniteBoost where the constraints are never listed: a separation oracle names one that is violated.

    min Delta_F(W, W_1)   s.t.  tr W = 1,  tr(W C) <= 0 for all C of a family that only ``separate`` knows

Rounds of the corrective engine on the constraints named so far. The multipliers of these prove the lower bound, since
leaving constraints out lowers the optimum; that the matrix satisfies the rest is what ``separate`` says of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixlearn import Solution, solve
from matrixlearn.engines import Incumbent, Proposal, run
from matrixlearn.exceptions import ProblemError
from matrixlearn_definiteboost.checks import stacked
from matrixlearn_definiteboost.engines import Corrective
from matrixlearn_definiteboost.problem import DefiniteBoost

Separate = Callable[[np.ndarray], Any]


@dataclass(frozen=True)
class Separated:
    """The answer of `boost_with_oracle`.

    Attributes
    ----------
    solution : Solution or None
        Of the problem of the constraints named; None where W_1 satisfied all.
    matrix : ndarray, shape (d, d)
    named : ndarray, shape (k, d, d)
        The constraints that the oracle named.
    satisfied : bool
        Whether the oracle found no more.
    """

    solution: Solution | None
    matrix: np.ndarray
    named: np.ndarray
    satisfied: bool


def boost_with_oracle(
    separate: Separate, initial: Any, tol: float = 1e-6, accuracy: float = 1e-6, max_rounds: int = 1000
) -> Separated:
    """The density matrix nearest to W_1 among those that a separation oracle accepts.

    Parameters
    ----------
    separate : callable
        W -> C, a square matrix (not necessarily symmetric) of a constraint tr(W C) <= 0 that W violates, or None.
    initial : array, shape (d, d)
        W_1, positive definite with trace one.
    tol : float
        Certified gap of each round.
    accuracy : float
        A violation up to accuracy * ||C||_2 is no violation.
    max_rounds : int
        Constraints asked for.

    Raises
    ------
    ProblemError
        Where W_1 is no density matrix, or ``separate`` answers no square matrix of its size.
    """
    W = np.asarray(initial)
    if W.ndim != 2 or W.shape[0] != W.shape[1]:
        msg = f"initial must be a square matrix, got shape {W.shape}"
        raise ProblemError(msg)
    W_1 = DefiniteBoost(np.zeros((1, *W.shape)), initial=W).initial
    W, named, multipliers, satisfied = W_1, [], np.zeros(0), False
    problem: DefiniteBoost | None = None
    for _ in range(max_rounds):
        answer = separate(W.copy())
        if answer is None:
            satisfied = True
            break
        S = stacked([answer])[0]
        if S.shape != W.shape:
            msg = f"separate must answer a matrix of shape {W.shape} or None, got {S.shape}"
            raise ProblemError(msg)
        if float(np.real(np.vdot(S, W))) <= accuracy * float(np.linalg.norm(S, 2)):
            satisfied = True
            break
        named.append(S)
        problem = DefiniteBoost(np.stack(named), initial=W_1)
        start = Incumbent(problem).offered(Proposal(y=np.append(multipliers, 0.0)))
        found = run(Corrective(), problem, tol=tol, start=start).incumbent
        if found.infeasible or found.X is None or found.y is None:
            break  # infeasible, or no feasible matrix known: solve() below says which
        W, multipliers = found.X, found.y
    solution = None if problem is None else solve(problem, method="corrective", tol=tol)
    if solution is not None and solution.matrix is not None:
        W = solution.matrix
    return Separated(solution, W, np.stack(named) if named else np.zeros((0, *W.shape)), satisfied)
