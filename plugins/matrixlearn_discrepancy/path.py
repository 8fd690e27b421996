"""The same two samples under several caps: one decomposition of the points, each solution the next one's start."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from matrixlearn import Solution, solve
from matrixlearn.exceptions import ProblemError
from matrixlearn_discrepancy.problem import Discrepancy


def discrepancy_path(problem: Discrepancy, max_weights: Iterable[float | None], **options: Any) -> list[Solution]:
    """min ||M(z)||_2 over z <= max_weight / m for each cap, certified, in the order given.

    Solved in ascending order: weights below one cap are below the next, so that each solution starts from the one
    before, with a value that is proved already.

    Parameters
    ----------
    problem : Discrepancy
        The points; its own cap does not count.
    max_weights : iterable of float or None
        Caps, >= 1; None for none.
    **options
        Of `matrixlearn.solve`: ``method``, ``tol``, ``time_limit`` (for each cap).

    Returns
    -------
    list of Solution

    Raises
    ------
    ProblemError
        Where there is no cap, or one is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_discrepancy import Discrepancy, discrepancy_path
    >>> rng = np.random.default_rng(0)
    >>> problem = Discrepancy(rng.normal(size=(40, 3)) + 0.5, rng.normal(size=(30, 3)))
    >>> values = [solution.value for solution in discrepancy_path(problem, (1, 1.5, 2, None))]
    >>> bool(values[0] > values[1] > values[2] > values[3])
    True
    """
    caps = list(max_weights)
    if not caps:
        msg = "max_weights must hold a cap >= 1 or None, got none"
        raise ProblemError(msg)
    found: dict[int, Solution] = {}
    last = None
    sizes = [float("inf") if cap is None else float(cap) for cap in caps]
    for k in sorted(range(len(caps)), key=sizes.__getitem__):
        last = found[k] = solve(problem.with_max_weight(caps[k]), warm_start=last, **options)
    return [found[k] for k in range(len(caps))]
