"""Losses by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matrixlearn._spelled import read_spelled
from matrixlearn.losses.base import Loss
from matrixlearn.losses.logistic import Logistic
from matrixlearn.losses.quadratic import Absolute, Hinge, Huber, SmoothedHinge, Square, SquaredHinge

LOSSES: dict[str, Callable[..., Loss]] = {
    each.name: each for each in (Square, Huber, Absolute, Logistic, Hinge, SmoothedHinge, SquaredHinge)
}
"""Losses by name, each a function of its parameters; an entry of one's own is found everywhere."""


def loss_named(loss: str | Loss, **parameters: Any) -> Loss:
    """The loss of a name, with its parameters; a `Loss` passes as it is.

    Raises
    ------
    ProblemError
        For a name that is not in `LOSSES`, or parameters that it does not take.

    Examples
    --------
    >>> from matrixlearn.losses import loss_named
    >>> loss_named("huber", delta=0.5)
    Huber(delta=0.5)
    >>> loss_named("huber(delta=0.5)")
    Huber(delta=0.5)
    """
    return read_spelled("loss", loss, Loss, LOSSES, **parameters)
