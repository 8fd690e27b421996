"""Kernels from distances: DefiniteBoost in the style of metric-learn.  scikit-learn is imported here only.

    kernel      K = trace * B W B^H,  B the coordinates of the objects (the identity, or those of given points)
    distances   ||x_a - x_b||^2 = trace * tr(W u u^H),   u = b_a - b_b
    metric      M = trace * Q W Q^T where B = X Q are coordinates of points: it measures any other points too

    (5.1)  pairs with distances y      tr(W u u^H)  =  y / trace   (soft: real distances are noisy)
    (5.2)  pairs, +1 near, -1 far      tr(W u u^H) <=  near,  >= far
           quadruplets (a, b, c, d)    tr(W u_ab u_ab^H) - tr(W u_cd u_cd^H) <= -margin

u u^H holds entries +-1: with +-0.5, as printed in Section 5.1, tr(W X) would be half the squared distance (errata).
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from matrixlearn import Solution, solve
from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents import span_coordinates
from matrixlearn.memory import require_memory
from matrixlearn_definiteboost.problem import DefiniteBoost


class DefiniteBoostKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A kernel near the initial one that agrees with measured distances.

    Parameters
    ----------
    near : float, default=0.2
        Similar pairs (y = +1) get a squared distance of at most ``near`` times the average one of W_1.
    far : float, default=1.0
        Dissimilar pairs (y = -1) get at least ``far`` times that.
    margin : float, default=0.1
        A quadruplet's first distance is smaller than its second by at least this, in the same unit.
    slack : float or None, default=10.0
        The price of a violation, in the same unit; None for hard constraints, which may be infeasible.
    trace : float, optional
        Trace of the kernel. By default 1, and for distances that which makes their mean that of W_1: n / 2 times the
        mean squared distance for indices, which leaves 1/n of the trace to the mean of the objects.
    measurements : {"auto", "signs", "distances"}, default="auto"
        What y holds; "auto" takes y for signs where all |y| = 1.
    method : str, default="auto"
        An engine, see ``matrixlearn.methods``: ``corrective``, or ``barrier`` where many pairs have a high price.
    tol : float, default=1e-4
        Certified relative gap.
    time_limit : float, optional
        Seconds.

    Attributes
    ----------
    kernel_ : ndarray, shape (n, n)
        Positive semidefinite.
    weights_ : ndarray, shape (r, r)
        W, the density matrix learned.
    coordinates_ : ndarray, shape (n, r)
        B: the identity for indices; for points, coordinates in their span.
    rank_ : int
        r; smaller than the number of features where these are linearly dependent.
    points_ : ndarray, shape (n, n_features) or None
        The distinct points in the order in which they appear, which is that of ``kernel_``.
    components_ : ndarray, shape (r, n_features) or None
        L with M = L^T L, for points.
    solution_ : matrixlearn.Solution
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_definiteboost import DefiniteBoostKernel
    >>> pairs = np.array([[0, 1], [2, 3], [0, 2]])
    >>> model = DefiniteBoostKernel().fit(pairs, np.array([1, 1, -1]))
    >>> d = model.distances()
    >>> bool(d[0, 1] < d[0, 2])
    True
    """

    def __init__(
        self,
        near: float = 0.2,
        far: float = 1.0,
        margin: float = 0.1,
        *,
        slack: float | None = 10.0,
        trace: float | None = None,
        measurements: Literal["auto", "signs", "distances"] = "auto",
        method: str = "auto",
        tol: float = 1e-4,
        time_limit: float | None = None,
    ) -> None:
        self.near = near
        self.far = far
        self.margin = margin
        self.slack = slack
        self.trace = trace
        self.measurements = measurements
        self.method = method
        self.tol = tol
        self.time_limit = time_limit

    def fit(self, pairs: Any, y: Any = None, *, n_objects: int | None = None) -> DefiniteBoostKernel:
        """Learn the kernel.

        Parameters
        ----------
        pairs : array, shape (k, 2) or (k, 4), or (k, 2, n_features) or (k, 4, n_features)
            Indices of objects, or points; four in a row say that the first two are nearer than the last two.
        y : array, shape (k,), optional
            For pairs: +1 and -1, or squared distances >= 0. Without y all pairs are similar.
        n_objects : int, optional
            The number of objects, where not all are in a pair.
        """
        tuples, coordinates, points = self._objects(pairs, n_objects)
        n, width = len(coordinates), tuples.shape[1]
        if n < 2:
            msg = f"pairs must hold at least two different objects, got {n}"
            raise ProblemError(msg)
        same = np.flatnonzero(np.any(tuples[:, ::2] == tuples[:, 1::2], axis=1))
        if len(same):
            msg = (
                f"pairs compare an object, or equal points, with itself: its distance is 0 in every kernel; drop the "
                f"rows {same.tolist()}"
            )
            raise ProblemError(msg)
        U = coordinates[tuples[:, 0]] - coordinates[tuples[:, 1]]
        r = coordinates.shape[1]
        centred = coordinates - coordinates.mean(axis=0)
        unit = 2.0 * float(np.sum(centred**2)) / (r * (n - 1))  # the mean squared distance for W_1 = I/r
        trace, minus, lower = 1.0 if self.trace is None else float(self.trace), None, None
        if width == 4:
            minus = coordinates[tuples[:, 2]] - coordinates[tuples[:, 3]]
            upper = np.full(len(U), -self.margin * unit)
        else:
            values, signs = self._measured(y, len(U))
            if (signs or self.slack is None) and (apart := _contradictions(tuples, values)):
                msg = f"pairs contradict each other, the same two objects with different y: {apart}"
                if self.slack is None:
                    msg = f"{msg}; hard constraints are infeasible: give a slack, which prices violations"
                    raise ProblemError(msg)
                warnings.warn(msg, UserWarning, stacklevel=2)  # of distances it is the noise that the price is for
            if signs:
                largest = np.einsum("jk,jk->j", U, U)  # no density matrix gives a pair more
                lower = np.where(values > 0, -np.inf, self.far * unit)
                upper = np.where(values > 0, self.near * unit, np.maximum(1.01 * largest, lower))
            else:
                if self.trace is None:  # the mean of the distances is that of W_1
                    trace = float(values.mean()) / unit if values.mean() > 0 else 1.0
                upper = lower = values / trace
        slack = None if self.slack is None else np.full(len(U), float(self.slack) / unit)
        problem = DefiniteBoost(vectors=U, minus=minus, upper=upper, lower=lower, slack=slack)
        self.solution_: Solution = solve(problem, method=self.method, tol=self.tol, time_limit=self.time_limit)
        if self.solution_.matrix is None:
            advice = "give a slack, which prices violations" if self.slack is None else "raise time_limit"
            msg = f"no kernel found, status {self.solution_.status}: {self.solution_.notes[-2]}; {advice}"
            raise ProblemError(msg)
        self.weights_ = np.asarray(self.solution_.matrix)
        self.coordinates_, self.points_, self.rank_ = coordinates, points, r
        self.trace_ = trace
        K = trace * (coordinates @ self.weights_ @ coordinates.T)
        self.kernel_ = (K + K.T) / 2
        self.components_ = None if points is None else _components(points, coordinates, trace * self.weights_)
        self.n_iter_ = self.solution_.iterations
        return self

    def _objects(self, pairs: Any, n_objects: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """(indices, coordinates, points): points that are equal are one object."""
        array: Any = np.asarray(pairs)
        if array.ndim == 3:
            flat = check_array(array.reshape(-1, array.shape[2]), input_name="pairs", dtype=np.float64)
            seen: dict[bytes, int] = {}
            index = [seen.setdefault(row.tobytes(), len(seen)) for row in flat + 0.0]  # -0.0 is 0.0
            points = flat[np.unique(index, return_index=True)[1]]
            tuples = np.reshape(index, array.shape[:2])
            coordinates = np.asarray(span_coordinates(points - points.mean(axis=0))) if len(points) > 1 else points
        else:
            tuples = check_array(array, input_name="pairs", dtype=None)
            whole = np.asarray(tuples, dtype=float)
            if np.any(whole != np.floor(whole)) or np.any(whole < 0):
                msg = "pairs must hold indices >= 0 of objects (shape (k, 2) or (k, 4)), or points (k, 2, n_features)"
                raise ProblemError(msg)
            tuples, points = whole.astype(int), None
            n = int(tuples.max()) + 1
            if n_objects is not None and n_objects < n:
                msg = f"n_objects = {n_objects}, but pairs holds the index {n - 1}"
                raise ProblemError(msg)
            n = n if n_objects is None else n_objects
            require_memory(5 * 8.0 * n * n, f"pairs holds the index {whole.max():.0f}: a kernel of {n} objects")
            coordinates = np.eye(n)
        if tuples.shape[1] not in (2, 4):
            msg = f"pairs must have two or four columns, got {tuples.shape[1]}"
            raise ProblemError(msg)
        return tuples, coordinates, points

    def _measured(self, y: Any, k: int) -> tuple[np.ndarray, bool]:
        """(y, whether they are signs)."""
        if self.measurements not in ("auto", "signs", "distances"):
            msg = f"measurements must be 'auto', 'signs' or 'distances', got {self.measurements!r}"
            raise ProblemError(msg)
        given = check_array(y, ensure_2d=False, input_name="y", dtype=None) if y is not None else np.ones(k)
        values = check_array(given, ensure_2d=False, input_name="y", dtype=np.float64)
        if values.shape != (k,):
            msg = f"y must have shape ({k},), one for each pair, got {values.shape}"
            raise ProblemError(msg)
        labels = given.dtype.kind == "b" or (bool(np.all((values == 0) | (values == 1))) and not np.all(values == 1))
        if labels and self.measurements != "distances":
            msg = (
                "y holds 0 and 1 or booleans, which may be labels or distances: pass np.where(y, 1, -1) for similar "
                "(+1) and dissimilar (-1) pairs, or measurements='distances'"
            )
            raise ProblemError(msg)
        signs = self.measurements == "signs" or (self.measurements == "auto" and bool(np.all(np.abs(values) == 1)))
        if signs and not np.all(np.abs(values) == 1):
            msg = "y must hold +1 (similar) and -1 (dissimilar) where measurements='signs'"
            raise ProblemError(msg)
        if not signs and np.any(values < 0):
            msg = f"y holds squared distances, but y[{int(np.argmin(values))}] = {values.min():g} is negative"
            raise ProblemError(msg)
        return values, signs

    def distances(self) -> np.ndarray:
        """Squared distances of all objects in the learned kernel, (n, n)."""
        check_is_fitted(self)
        diagonal = np.diag(self.kernel_)
        D = np.maximum(diagonal[:, None] + diagonal[None, :] - 2 * self.kernel_, 0.0)
        np.fill_diagonal(D, 0.0)
        return np.asarray(D)

    # -- the metric of points, by the names of metric-learn -----------------------------------------

    def transform(self, X: Any) -> np.ndarray:
        """Points whose Euclidean distances are the learned ones: X L^T, (k, n_features) -> (k, r); points of pairs
        likewise, (k, 2, n_features) -> (k, 2, r).
        """
        L = self._metric()
        X = check_array(X, allow_nd=True, dtype=np.float64)
        if X.shape[-1] != L.shape[1]:
            msg = f"X has {X.shape[-1]} features, the points of the pairs had {L.shape[1]}"
            raise ProblemError(msg)
        return np.asarray(X @ L.T)

    def get_mahalanobis_matrix(self) -> np.ndarray:
        """M = L^T L, (n_features, n_features)."""
        L = self._metric()
        return np.asarray(L.T @ L)

    def pair_distance(self, pairs: Any) -> np.ndarray:
        """sqrt((a - b)^T M (a - b)) of pairs of points, (k, 2, n_features) -> (k,)."""
        pairs = check_array(pairs, allow_nd=True, dtype=np.float64, input_name="pairs")
        if pairs.ndim != 3 or pairs.shape[1] != 2:
            msg = f"pairs must have shape (k, 2, n_features), got {pairs.shape}"
            raise ProblemError(msg)
        return np.linalg.norm(self.transform(pairs[:, 0] - pairs[:, 1]), axis=1)

    def score(self, pairs: Any, y: Any = None) -> float:
        """How well the learned distances agree with y, as ``GridSearchCV`` asks: for signs the area under the ROC curve
        of -distance, for squared distances R^2.

        Parameters
        ----------
        pairs : array, shape (k, 2) or (k, 2, n_features)
            Indices of objects that ``fit`` has seen, or any points.
        y : array, shape (k,)
        """
        from sklearn.metrics import r2_score, roc_auc_score

        check_is_fitted(self)
        pairs = np.asarray(pairs)
        squares = self.pair_distance(pairs) ** 2 if pairs.ndim == 3 else self._between(pairs)
        values, signs = self._measured(y, len(squares))
        if not signs:
            return float(r2_score(values, squares))
        if len(np.unique(values)) < 2:
            msg = "y must hold +1 and -1 for a score: pairs of one kind have no order; stratify the folds"
            raise ProblemError(msg)
        return float(roc_auc_score(values, -squares))

    def _between(self, pairs: np.ndarray) -> np.ndarray:
        """Squared distances of pairs of indices."""
        n = len(self.kernel_)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or not np.all(pairs < n):
            msg = f"pairs must be indices below {n}, the objects of fit, shape (k, 2), or points, (k, 2, n_features)"
            raise ProblemError(msg)
        return self.distances()[pairs[:, 0], pairs[:, 1]]

    @property
    def _n_features_out(self) -> int:
        return len(self._metric())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.no_validation = True  # pairs, and not samples
        return tags

    def _metric(self) -> np.ndarray:
        check_is_fitted(self)
        if self.components_ is None:
            msg = "a kernel of indices measures no other objects: fit pairs of points, (k, 2, n_features)"
            raise ProblemError(msg)
        return self.components_

    def embedding(self, n_components: int | None = None) -> np.ndarray:
        """Coordinates whose inner products are the kernel, the widest directions first, (n, n_components)."""
        check_is_fitted(self)
        w, V = np.linalg.eigh(self.kernel_)
        order = np.argsort(w)[::-1][:n_components]
        return np.asarray(V[:, order] * np.sqrt(np.maximum(w[order], 0.0)))

    def kneighbors(self, n_neighbors: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """(squared distances, indices) of each object's nearest others, (n, n_neighbors) each."""
        D = self.distances()
        if not 1 <= n_neighbors < len(D):
            msg = f"n_neighbors must be from 1 to {len(D) - 1}, got {n_neighbors}"
            raise ProblemError(msg)
        np.fill_diagonal(D, np.inf)
        index = np.argsort(D, axis=1, kind="stable")[:, :n_neighbors]
        return np.take_along_axis(D, index, axis=1), index

    def predict(self, labels: Any, n_neighbors: int = 1) -> np.ndarray:
        """The majority label of each object's nearest labelled others; labels of -1 are unknown.

        Parameters
        ----------
        labels : array of int, shape (n,)
        n_neighbors : int
        """
        labels = np.asarray(labels)
        D = self.distances()
        if labels.shape != (len(D),) or labels.dtype.kind not in "iu":
            msg = f"labels must be integers of shape ({len(D)},), -1 where unknown"
            raise ProblemError(msg)
        np.fill_diagonal(D, np.inf)
        known = np.flatnonzero(labels >= 0)
        if len(known) == 0:
            msg = "labels are all unknown (-1)"
            raise ProblemError(msg)
        nearest = known[np.argsort(D[:, known], axis=1, kind="stable")[:, :n_neighbors]]
        votes = labels[nearest]
        return np.array([np.bincount(row).argmax() for row in votes])


def _contradictions(pairs: np.ndarray, values: np.ndarray) -> str:
    """The rows of all pairs that have several values, and these; empty where there are none."""
    _, code = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True)
    code = code.reshape(-1)
    least, most = np.full(code.max() + 1, np.inf), np.full(code.max() + 1, -np.inf)
    np.minimum.at(least, code, values)
    np.maximum.at(most, code, values)
    apart = np.flatnonzero(most - least > 1e-9 * np.abs(values).max())
    rows = [np.flatnonzero(code == j).tolist() for j in apart]
    return "; ".join(f"rows {which}: y = {[float(values[i]) for i in which]}" for which in rows)


def _components(points: np.ndarray, coordinates: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """L = weights^{1/2} Q^T for the isometry Q with (points - mean) Q = coordinates, (r, n_features)."""
    Q = np.linalg.lstsq(points - points.mean(axis=0), coordinates, rcond=None)[0]
    w, V = np.linalg.eigh(weights)
    return np.asarray(np.sqrt(np.maximum(w, 0.0))[:, None] * (Q @ V).T)
