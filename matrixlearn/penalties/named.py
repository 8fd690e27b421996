"""Penalties by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matrixlearn._spelled import read_spelled
from matrixlearn.penalties.base import Penalty
from matrixlearn.penalties.matrices import Nuclear, Spectral
from matrixlearn.penalties.vectors import ElasticNet, Group


def ridge(ridge: float) -> ElasticNet:
    """psi(x) = ridge ||x||^2 / 2."""
    return ElasticNet(ridge=ridge)


def l1(l1: float) -> ElasticNet:
    """psi(x) = l1 ||x||_1."""
    return ElasticNet(l1=l1)


PENALTIES: dict[str, Callable[..., Penalty]] = {
    "ridge": ridge,
    "l1": l1,
    **{each.name: each for each in (ElasticNet, Group, Nuclear, Spectral)},
}
"""Penalties by name, each a function of its parameters; an entry of one's own is found everywhere."""


def penalty_named(penalty: str | Penalty, **parameters: Any) -> Penalty:
    """The penalty of a name, with its parameters; a `Penalty` passes as it is.

    Raises
    ------
    ProblemError
        For a name that is not in `PENALTIES`, or parameters that it does not take.

    Examples
    --------
    >>> from matrixlearn.penalties import penalty_named
    >>> penalty_named("ridge", ridge=0.1)
    ElasticNet(ridge=0.1, l1=0.0)
    >>> penalty_named("elastic-net(ridge=0.1)")
    ElasticNet(ridge=0.1, l1=0.0)
    """
    return read_spelled("penalty", penalty, Penalty, PENALTIES, **parameters)
