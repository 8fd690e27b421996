"""What a discrepancy guarantees, as numbers (thesis, Section 2.3 and Appendix A; Cortes and Mohri, 2014).

    h  = argmin  sum_i z_i L(g(x_i), f_Q(x_i)) + lambda ||g||^2          trained on the weighted source
    h' = argmin  sum_j p_j L(g(x_j), f_P(x_j)) + lambda ||g||^2          trained on the target, had it labels

Both objectives are 2 lambda-strongly convex, hence (A.1)

    2 lambda ||h' - h||^2  <=  (L_P(h) - L_Q(h)) - (L_P(h') - L_Q(h')),

and everything follows from a bound on the right-hand side by disc(P, Q), plus a term for labels that
no hypothesis explains on both sides. |h'(x) - h(x)| <= r ||h' - h|| where K(x, x) <= r^2.

Three slips of the thesis, found by deriving:

* The last line of the proof of Theorem 2.3.3 has 2 mu eta under the root; (A.3) divided by 2 lambda
  gives mu eta, as the theorem (2.6) itself says.
* eta_H prints the same maximum twice: the second belongs to supp(Q) and f_Q.
* "delta_H vanishes when the labelling functions coincide on supp(Q)" needs more: some h in H must
  equal them. With x = +-1 on the target, x = 1 on the source and f = |x|, the discrepancy is 0, h' is 0
  and h is not: delta_H = 1, and (2.9) does not hold.
"""

from __future__ import annotations

import math

from matrixlearn.exceptions import ProblemError


def _number(name: str, value: float, *, positive: bool = False) -> float:
    number = float(value)
    if not math.isfinite(number) or number < 0 or (positive and number == 0):
        msg = f"{name} must be a finite number {'> 0' if positive else '>= 0'}, got {value!r}"
        raise ProblemError(msg)
    return number


def discrepancy_distance(norm: float, hypothesis_norm: float) -> float:
    """disc(P, Q) = max over ||g||, ||g'|| <= Lambda of |L_P(g, g') - L_Q(g, g')| = (2 Lambda)^2 ||M(z)||_2.

    For the squared loss: L_P(g, g') - L_Q(g, g') = u^T M(z) u with u = g - g', and u is any vector of
    norm at most 2 Lambda. The thesis takes Lambda = 1 and drops the 4.

    Parameters
    ----------
    norm : float
        ||M(z)||_2; for a guarantee, an upper bound: ``solution.upper``.
    hypothesis_norm : float
        Lambda, >= the norm of both trained hypotheses. For labels |y| <= B kernel ridge regression
        has ||h|| <= B / (2 sqrt(lambda)), so that this much is always enough.

    Returns
    -------
    float
    """
    return 4.0 * _number("hypothesis_norm", hypothesis_norm) ** 2 * _number("norm", norm)


def discrepancy_bound(
    discrepancy: float,
    *,
    regularization: float,
    radius: float,
    loss_bound: float,
    label_difference: float = 0.0,
) -> float:
    """(r sqrt(M) / lambda) (delta + sqrt(delta^2 + 4 lambda disc)),   2 r sqrt(M disc / lambda) at delta = 0.

    The most by which the squared loss of kernel ridge regression at any point can differ between
    training on the weighted source and training on the target: (2.8), and (2.9) at delta = 0.

    Parameters
    ----------
    discrepancy : float
        disc(P, Q), see `discrepancy_distance`.
    regularization : float
        lambda > 0, of the objective sum_i z_i (h(x_i) - y_i)^2 + lambda ||h||^2 with sum z = 1:
        ``alpha / m`` of scikit-learn's ``KernelRidge`` and of `DiscrepancyRegressor`.
    radius : float
        r, with K(x, x) <= r^2 at the points in question.
    loss_bound : float
        M >= (h(x) - y)^2 and (h'(x) - y)^2 at the points in question.
    label_difference : float
        delta_H = inf over ||g|| <= Lambda of ||E_P[(g - f_P) Phi] - E_Q[(g - f_Q) Phi]||: 0 where one
        hypothesis gives all labels of both sides, which is more than that the labels agree.

    Returns
    -------
    float
        A bound on |L(h'(x), y) - L(h(x), y)|.

    References
    ----------
    Cortes and Mohri, "Domain adaptation and sample bias correction theory and algorithm for
    regression", Theoretical Computer Science 519, 2014.

    Examples
    --------
    >>> discrepancy_bound(0.01, regularization=1.0, radius=1.0, loss_bound=4.0)
    0.4
    """
    disc = _number("discrepancy", discrepancy)
    lam = _number("regularization", regularization, positive=True)
    r, M = _number("radius", radius), _number("loss_bound", loss_bound)
    delta = _number("label_difference", label_difference)
    return r * math.sqrt(M) / lam * (delta + math.sqrt(delta * delta + 4 * lam * disc))


def admissible_bound(
    discrepancy: float,
    *,
    regularization: float,
    radius: float,
    admissibility: float,
    label_distance: float = 0.0,
) -> float:
    """mu r sqrt((disc + mu eta) / lambda).

    The same for any mu-admissible loss, |L(a, y) - L(b, y)| <= mu |a - b| in both arguments: (2.6). The
    squared loss is 2 sqrt(M)-admissible where it stays below M; at eta = 0 this is then (2.9).

    Parameters
    ----------
    discrepancy : float
        disc(P, Q) for this loss.
    regularization : float
        lambda > 0.
    radius : float
        r, with K(x, x) <= r^2 at the points in question.
    admissibility : float
        mu > 0: 1 for the absolute and the epsilon-insensitive loss.
    label_distance : float
        eta_H = inf over ||g|| <= Lambda of max over the target |f_P - g| + max over the source |f_Q - g|.

    Returns
    -------
    float
        A bound on |L(h'(x), y) - L(h(x), y)|.
    """
    disc = _number("discrepancy", discrepancy)
    lam = _number("regularization", regularization, positive=True)
    r, mu = _number("radius", radius), _number("admissibility", admissibility, positive=True)
    eta = _number("label_distance", label_distance)
    return mu * r * math.sqrt((disc + mu * eta) / lam)
