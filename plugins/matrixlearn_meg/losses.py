"""The losses of MEG are those of `matrixlearn.losses`; its square is the paper's, without the half."""

from __future__ import annotations

from typing import Any

from matrixlearn.losses import Huber, Loss, Square, loss_named

SQUARE = Square(2.0)
"""(p - y)^2, of Section 3.3."""


def loss_of(loss: Any, delta: float = 1.0) -> Loss:
    """The loss of a name: "square" is (p - y)^2, ``delta`` is that of "huber"; an object passes as it is.

    Raises
    ------
    ProblemError
        For a name that `matrixlearn.losses` does not have.
    """
    own = {"square": SQUARE, "huber": Huber(delta)}
    return own[loss] if isinstance(loss, str) and loss in own else loss_named(loss)
