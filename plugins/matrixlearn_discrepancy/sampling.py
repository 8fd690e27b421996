"""What a discrepancy of samples says of the distributions that they are from (thesis, Section 2.2).

    R_S(G)  = E over signs s of  sup over g in G of (1/m) sum_i s_i g(x_i)                  (Definition 2.2.2)
    disc(Q, Q_S)  <=  2 R_S(L_H) + 3 M sqrt(log(4 / delta) / (2m))                           (2.3, errata's form)
    disc(P, Q)    <=  disc(P_T, Q_S) + 4 q B^{q-1} (R_S(H) + R_T(H)) + 3 M (...)             (Corollary 2.2.7)

each with a probability of at least 1 - delta, for losses |h - h'|^q with |h - h'| <= B and M = B^q.

Slips of the thesis, found by deriving (docs/errata.md): (2.2) and (2.3) lack the factor 2 that symmetrization costs
with this definition; the discrepancy is an absolute value, so that delta is shared by two sides; (2.4) has a factor 2
that the contraction lemma without absolute values does not cost. Corollary 2.2.7 comes out as printed but for the
logarithm: two samples and two sides share delta.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.validation import as_real_vector
from matrixlearn_discrepancy.bounds import _number


def rademacher_complexity(squared_norms: Any, hypothesis_norm: float) -> float:
    """Lambda sqrt(sum_i K(x_i, x_i)) / m  >=  R_S(H),   H = {h : ||h|| <= Lambda}.

    By Jensen: R_S(H) = Lambda E ||sum_i s_i Phi(x_i)|| / m.

    Parameters
    ----------
    squared_norms : array, shape (m,)
        K(x_i, x_i) of the sample: the diagonal of a Gram matrix.
    hypothesis_norm : float
        Lambda.
    """
    squared = as_real_vector("squared_norms", squared_norms)
    if len(squared) == 0 or np.any(squared < 0):
        msg = f"squared_norms must hold numbers >= 0, one a point of the sample, got {squared_norms!r}"
        raise ProblemError(msg)
    return _number("hypothesis_norm", hypothesis_norm) * math.sqrt(float(squared.sum())) / len(squared)


def sampling_bound(rademacher: float, *, loss_bound: float, size: int, delta: float = 0.05) -> float:
    """2 R_S(L_H) + 3 M sqrt(log(4 / delta) / (2m))  >=  disc(Q, Q_S), with a probability of at least 1 - delta.

    Parameters
    ----------
    rademacher : float
        R_S(L_H), of the losses x -> L(h'(x), h(x)), or a bound on it.
    loss_bound : float
        M.
    size : int
        m.
    delta : float
        In (0, 1).
    """
    return 2 * _number("rademacher", rademacher) + _deviation(loss_bound, size, delta / 2, delta)


def discrepancy_of_distributions(
    discrepancy: float,
    *,
    rademacher: tuple[float, float],
    sizes: tuple[int, int],
    largest_difference: float,
    power: float = 2.0,
    delta: float = 0.05,
) -> float:
    """disc(P, Q)  <=  disc(P_T, Q_S) + 4 q B^{q-1} (R_S + R_T) + 3 B^q sqrt(log(8 / delta) / 2) (m^{-1/2} + n^{-1/2}).

    Parameters
    ----------
    discrepancy : float
        disc(P_T, Q_S), of the two samples with uniform weights: `discrepancy_distance` of ``uniform_value``.
    rademacher : tuple of float
        R_S(H) and R_T(H), see `rademacher_complexity`.
    sizes : tuple of int
        m and n.
    largest_difference : float
        B >= |h(x) - h'(x)|: 2 Lambda r where K(x, x) <= r^2.
    power : float
        q >= 1 of the loss |h - h'|^q.
    delta : float
        In (0, 1): the bound holds with a probability of at least 1 - delta over both samples.

    Examples
    --------
    >>> round(discrepancy_of_distributions(
    ...     0.1, rademacher=(0.01, 0.01), sizes=(10_000, 10_000), largest_difference=1.0), 3)
    0.356
    """
    B, q = _number("largest_difference", largest_difference), _number("power", power)
    if q < 1:
        msg = f"power must be >= 1, got {power!r}"
        raise ProblemError(msg)
    bound = _number("discrepancy", discrepancy)
    for name, complexity, size in zip(("R_S", "R_T"), rademacher, sizes, strict=True):
        bound += 4 * q * B ** (q - 1) * _number(f"rademacher ({name})", complexity)
        bound += _deviation(B**q, size, delta / 4, delta)
    return bound


def _deviation(loss_bound: float, size: int, share: float, delta: float) -> float:
    """3 M sqrt(log(2 / share) / (2 size)): the part that one side of one sample adds."""
    if not 0 < delta < 1:
        msg = f"delta must lie between 0 and 1, got {delta!r}"
        raise ProblemError(msg)
    if not size >= 1:
        msg = f"a sample has at least one point, got a size of {size!r}"
        raise ProblemError(msg)
    return 3 * _number("loss_bound", loss_bound) * math.sqrt(math.log(2 / share) / (2 * size))
