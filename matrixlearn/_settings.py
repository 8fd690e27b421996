"""Checks of the tolerances, the limits and the random state that `solve` gets."""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np

from matrixlearn.engines import Limits
from matrixlearn.exceptions import ProblemError


def _is_real(value: object) -> bool:
    """Whether a value is a real number of Python or NumPy; a bool is not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def limits_of(tol: float, max_iter: int | None, time_limit: float | None, atol: float) -> Limits:
    if not (_is_real(tol) and 0 < tol < 1):  # bounds 0 and 1 have a gap of 1: they say nothing
        msg = f"tol must be a positive number below 1, got {tol!r}; 1e-3 is a usual choice"
        raise ProblemError(msg)
    if not (_is_real(atol) and 0 <= atol < math.inf):
        msg = f"atol must be a number >= 0, got {atol!r}; 0 is the default"
        raise ProblemError(msg)
    if max_iter is not None and not (isinstance(max_iter, Integral) and _is_real(max_iter) and max_iter >= 0):
        msg = f"max_iter must be a whole number >= 0 or None, got {max_iter!r}"
        raise ProblemError(msg)
    if time_limit is not None and not (_is_real(time_limit) and time_limit >= 0):
        msg = f"time_limit must be seconds >= 0 or None, got {time_limit!r}"
        raise ProblemError(msg)
    return Limits(
        max_iter=math.inf if max_iter is None else max_iter,
        time_limit=math.inf if time_limit is None else float(time_limit),
    )


def seed_of(random_state: int | np.random.Generator | np.random.RandomState | None) -> int | None:
    """An engine's seed; a Generator is asked once."""
    if random_state is None:
        return None
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):  # what scikit-learn's users pass
        return int(random_state.randint(2**31))
    if isinstance(random_state, Integral) and _is_real(random_state) and random_state >= 0:
        return int(random_state)
    given = f"got {random_state!r}"
    msg = f"random_state must be a whole number >= 0, a numpy.random.Generator or RandomState, or None; {given}"
    raise ProblemError(msg)
