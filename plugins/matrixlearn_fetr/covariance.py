"""The covariance step of FETR: the best pair of precision matrices of a weight matrix, in closed form.

    min over l I <= S1, S2 <= u I of    tr(S1 W S2 W^T) - m log det S1 - d log det S2

for W = P diag(s) Q^T of shape (d, m) is attained in the singular bases of W, S1 = P diag(a) P^T and
S2 = Q diag(b) Q^T, one singular value at a time (s = 0 for the rest of either basis, where the answer is u):

    min over l <= a, b <= u of    s^2 a b - m log a - d log b

    m > d:  b = clip(d / (s^2 u), l, u),  a = clip(m / (s^2 b), l, u);      m < d:  the same with a and b exchanged;
    m = d:  a = b = clip(sqrt(d) / s, l, u), since only a b counts up to l^2, u^2.

Proof. With S1 = sum_i e^{t h_i} p_i p_i^T and S2 = sum_j e^{t k_j} q_j q_j^T along a geodesic of the positive
definite matrices, the trace is sum_ij e^{t (h_i + k_j)} (p_i^T W q_j)^2, convex in t, the log-dets are linear in t,
and l I <= S <= u I stays true: the problem is geodesically convex, so that a point where neither matrix alone can be
improved (differentiable objective, one constraint set each) is a global minimum. In the singular bases W S2 W^T is
P diag(s^2 b) P^T, of which the best S1 is clip(m / (s^2 b)) on the same basis (Theorem 4.1 of the paper), and
likewise for S2; so it is enough that (a, b) is a minimum of the scalar problem. In p = log a, q = log b that is
convex: s^2 e^{p+q} - m p - d q, and among points of equal p + q the best has p as large as it can be where m > d:
a = u, or b = l. The formula above is the minimum over b with a = u, and then over a with that b.

What this implies: where d != m, one of the two precisions sits at its bound u for all but large singular values
(m > d: S1 = u I as long as s^2 <= m / (u l)), and the two together act through the products a b alone. So the
relations that the joint optimum shows are those of the *smaller* side; the published alternation reaches the same
optimum along a way on which both move.

Both steps of the published alternation are here too (`feature_precision`, `task_precision`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixlearn.exponents import clipped_reciprocal
from matrixlearn.multitask import SpectralPrecision


def feature_precision(W: np.ndarray, S2: SpectralPrecision, lower: float, upper: float) -> SpectralPrecision:
    """argmin over l I <= S1 <= u I of tr(S1 W S2 W^T) - m log det S1 (Algorithm 1), u where nu = 0.

    Parameters
    ----------
    W : array, shape (d, m)
    S2 : SpectralPrecision, m x m
    lower, upper : float
        0 < lower <= upper.
    """
    vectors, root, _ = np.linalg.svd(W @ S2.power(0.5), full_matrices=False)
    return SpectralPrecision(upper, clipped_reciprocal(root**2, W.shape[1], lower, upper), vectors)


def task_precision(W: np.ndarray, S1: SpectralPrecision, lower: float, upper: float) -> SpectralPrecision:
    """argmin over l I <= S2 <= u I of tr(S1 W S2 W^T) - d log det S2 (Algorithm 2), u where nu = 0."""
    return feature_precision(W.T, S1, lower, upper)


@dataclass(frozen=True, eq=False)
class PrecisionPair:
    """S1 (d x d) and S2 (m x m)."""

    feature: SpectralPrecision
    """S1, (d, d)."""
    task: SpectralPrecision
    """S2, (m, m)."""

    def penalty(self, W: np.ndarray) -> float:
        """tr(S1 W S2 W^T) - m log det S1 - d log det S2."""
        d, m = W.shape
        root = self.feature.power(0.5) @ W @ self.task.power(0.5)
        return float(np.vdot(root, root)) - m * self.feature.logdet - d * self.task.logdet


@dataclass(frozen=True, eq=False)
class JointPrecisions(PrecisionPair):
    """The best pair for W = P diag(s) Q^T: the columns of both belong together, one pair (a, b) to each s.

    The penalty at W with this pair is phi(W) = sum_i psi(s_i) + constant, a smooth function of the singular values,
    and S1 W S2 = P diag(s a b) Q^T is half its gradient.
    """

    singular: np.ndarray
    """s, (min(d, m),)."""

    def best_penalty(self) -> float:
        """phi(W)."""
        s, a, b = self.singular, self.feature.values, self.task.values
        return float(np.sum(s**2 * a * b)) - self.task.n * self.feature.logdet - self.feature.n * self.task.logdet

    @property
    def penalties(self) -> np.ndarray:
        """psi(s) = s^2 a b - m log a - d log b for each singular value, (min(d, m),)."""
        s, a, b = self.singular, self.feature.values, self.task.values
        return np.asarray(s**2 * a * b - self.task.n * np.log(a) - self.feature.n * np.log(b))

    @property
    def by_tasks(self) -> PrecisionPair:
        """(I, Q diag(a b) Q^T)."""
        return PrecisionPair(SpectralPrecision.identity(self.feature.n), self._products(self.task))

    @property
    def by_features(self) -> PrecisionPair:
        """(P diag(a b) P^T, I)."""
        return PrecisionPair(self._products(self.feature), SpectralPrecision.identity(self.task.n))

    def _products(self, side: SpectralPrecision) -> SpectralPrecision:
        rest = self.feature.rest * self.task.rest
        return SpectralPrecision(rest, self.feature.values * self.task.values, side.vectors)

    def majorizers(self) -> tuple[PrecisionPair, PrecisionPair]:
        """`by_tasks` and `by_features`, that on the side with fewer columns first.

        psi is concave in s^2, so that psi(s) <= t s^2 + const with equality at this s for t = a b, and
        sum_i t_i s_i(W')^2 <= tr(W' T2 W'^T), T2 = Q diag(t) Q^T, for every W' (Theorem 4.1 again); likewise
        T1 = P diag(t) P^T: both majorize phi, with its gradient at W. So does the pair itself, tr(S1 W' S2 W'^T), by
        which the published alternation steps; but that charges u b for every move out of the column space of W, where
        phi charges a b, and all but freezes that space. T2 charges t_j for a move along p_i q_j^T, T1 charges t_i, and
        phi about the smaller of the two where they differ much: one after the other they leave no direction frozen
        (benchmarks/fetr/descent.py).
        """
        pair = (self.by_tasks, self.by_features)
        return pair if self.task.n <= self.feature.n else pair[::-1]


def scalar_pair(s: np.ndarray, d: int, m: int, lower: float, upper: float) -> tuple[np.ndarray, np.ndarray]:
    """(a, b) = argmin over l <= a, b <= u of s^2 a b - m log a - d log b, entry by entry.

    Parameters
    ----------
    s : array
        Singular values, >= 0.
    d, m : int
        The shape of W.
    lower, upper : float
        0 < lower <= upper.
    """
    nu = np.square(s)
    if d == m:
        both = clipped_reciprocal(np.asarray(s), np.sqrt(d), lower, upper)
        return both, both.copy()
    few, many = min(d, m), max(d, m)
    slow = clipped_reciprocal(nu * upper, few, lower, upper)  # the side whose log-det counts less
    fast = clipped_reciprocal(nu * slow, many, lower, upper)
    return (fast, slow) if m > d else (slow, fast)


def joint_precisions(W: np.ndarray, lower: float, upper: float) -> JointPrecisions:
    """argmin over l I <= S1, S2 <= u I of tr(S1 W S2 W^T) - m log det S1 - d log det S2, by one SVD of W.

    Parameters
    ----------
    W : array, shape (d, m)
        For a shared mean, the deviations from it.
    lower, upper : float
        0 < lower <= upper; where they are equal, both matrices are lower I.

    Returns
    -------
    JointPrecisions
        With min(d, m) eigenvectors each and u elsewhere.
    """
    d, m = W.shape
    P, s, Qt = np.linalg.svd(W, full_matrices=False)
    a, b = scalar_pair(s, d, m, lower, upper)
    return JointPrecisions(SpectralPrecision(upper, a, P), SpectralPrecision(upper, b, Qt.T), s)


def joint_prox(T: np.ndarray, weight: float, lower: float, upper: float) -> np.ndarray:
    """argmin over V of ||V - T||^2 / 2 + weight phi(V), phi the least penalty of any pair (`JointPrecisions`).

    phi is a function of the singular values, and of all V with the same ones the nearest to T has the singular vectors
    of T (von Neumann's inequality): V = P diag(scalar_prox(s)) Q^T for T = P diag(s) Q^T.

    Parameters
    ----------
    T : array, shape (d, m)
    weight : float
        > 0.
    lower, upper : float
        0 < lower <= upper.
    """
    P, s, Qt = np.linalg.svd(T, full_matrices=False)
    return np.asarray((P * scalar_prox(s, weight, T.shape[0], T.shape[1], lower, upper)) @ Qt)


def scalar_prox(v: np.ndarray, weight: float, d: int, m: int, lower: float, upper: float) -> np.ndarray:
    """argmin over s >= 0 of (s - v)^2 / 2 + weight psi(s), psi(s) = min over a, b of s^2 a b - m log a - d log b.

    psi has the derivative 2 s a b, and a b (`scalar_pair`) is constant or n / s^2 between the squares where a or b
    meets a bound, so that each piece has one candidate, in closed form: s = v / (1 + 2 weight a b), or the larger root
    of s^2 - v s + 2 weight n. It is not convex: of the candidates the best.

    Parameters
    ----------
    v : array
        >= 0.
    weight : float
        > 0.
    d, m, lower, upper
        As in `scalar_pair`.
    """
    few, many, both = min(d, m), max(d, m), lower * upper

    def flat(product: float) -> np.ndarray:
        return v / (1 + 2 * weight * product)

    def falling(n: int) -> np.ndarray:
        return (v + np.sqrt(np.maximum(v**2 - 8 * weight * n, 0.0))) / 2

    pieces = [  # candidates, and the squares between which they count
        (flat(upper**2), 0.0, few / upper**2),
        (falling(few), few / upper**2, few / both),
        (flat(both), few / both, many / both),
        (falling(many), many / both, many / lower**2),
        (flat(lower**2), many / lower**2, np.inf),
    ]
    at = np.array([np.clip(s, np.sqrt(start), np.sqrt(end)) for s, start, end in pieces])
    a, b = scalar_pair(at, d, m, lower, upper)
    value = (at - v) ** 2 / 2 + weight * (at**2 * a * b - m * np.log(a) - d * np.log(b))
    return np.asarray(np.take_along_axis(at, np.argmin(value, axis=0)[None], axis=0)[0])
