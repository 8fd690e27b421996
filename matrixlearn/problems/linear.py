"""A data-only semidefinite program.

    max C . X   subject to   A_j . X <= b_j (or = b_j),   X >= 0,   Tr X <= R

as the spectral game with c = b, S = {X >= 0, Tr X <= R} and y >= 0 (or y_j free). Any such y proves an upper bound
b.y + R max(0, lambda_max(C - A(y))), and the interior-point method needs no more. Other engines play on a bounded Y.
Without equalities the multipliers are bounded by Slater's condition: for a strictly feasible X_s with the slacks
s_j = b_j - A_j . X_s > 0, every dual feasible (y, t) has

    s.y <= b.y + R t - C . X_s,

so that an optimal y lies in {y >= 0, s.y <= K}, K any upper bound on the optimum less C . X_s. For
b > 0, X_s = 0 will do. Otherwise `phase_one` looks for one, and its bounds decide: a positive
lower bound gives X_s, a negative upper bound proves that no X is feasible.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn._array import EPS, as_numpy, from_numpy, namespace, zeros
from matrixlearn._validation import as_hermitian, as_number, as_real_vector, require_same_namespace
from matrixlearn.exceptions import ProblemError
from matrixlearn.linalg import eigvalsh, inner, is_complex
from matrixlearn.linalg.constraints import (
    ConstraintFamily,
    DenseFamily,
    RankOneFamily,
    SignedFamily,
)
from matrixlearn.linalg.sparse_family import SparseFamily
from matrixlearn.present import presented_by
from matrixlearn.problems.base import INF, Bound
from matrixlearn.problems.cells import diagonal_blocks
from matrixlearn.problems.face import least_face
from matrixlearn.problems.family import FamilyGame
from matrixlearn.problems.feasibility import Rows
from matrixlearn.problems.on_face import OnFace
from matrixlearn.problems.phase_one import PhaseOne
from matrixlearn.problems.rows import constraint_family
from matrixlearn.problems.sdpa import read_sdpa, write_sdpa
from matrixlearn.sets import KnapsackSet, SpectralSet, TraceBall
from matrixlearn.typing import Array

FLOOR = 1e-2
"""Of `LinearSDP.scale`, that gaps count from at the least."""

TOLERANCE = 1e-5
"""Of equalities, by default."""

if TYPE_CHECKING:
    from pathlib import Path

    import cvxpy


def _positive(trace_bound: Any) -> float:
    """R, checked."""
    R = float("inf") if trace_bound is None else as_number("trace_bound", trace_bound)
    if not 0 < R < float("inf"):
        msg = (
            f"trace_bound must be positive and finite, got {trace_bound!r}; a program with no trace "
            f"bound may be unbounded and has no certificate: derive a bound from your constraints"
        )
        raise ProblemError(msg)
    return R


@presented_by("matrixlearn.present.linear:LinearPresenter")
@dataclass(frozen=True, eq=False)
class LinearSDP(FamilyGame):
    """max C . X subject to A_j . X <= b_j (or = b_j), X >= 0, Tr X <= trace_bound.

    Parameters
    ----------
    C : array, shape (n, n)
        Real symmetric or complex Hermitian.
    A : array, shape (m, n, n), or list of m matrices, or array, shape (m, n)
        Dense, scipy sparse, or the rows a_j of rank-one constraints a_j a_j^H.
    b : array, shape (m,)
        Rows with ">=" or "==" go through `with_senses`.
    trace_bound : float
        R > 0. A program without one has no certificate in finite precision: derive it from your
        constraints, or take a bound that you would be surprised to see reached. A gap is
        relative to the bounds, or where these are small to a part of what the upper bound adds up to (`scale_at`).
    interior : array, shape (n, n), optional
        A strictly feasible X, where you know one; found when needed otherwise.
    equalities : array of bool, shape (m,), optional
        The rows that hold with equality; none by default.
    tolerance : float
        An X counts as feasible where it misses an equality by at most tolerance (|b_j| + r ||A_j||_2), r the largest
        |b_i| / ||A_i||_2 of an equality, a trace that no feasible X is below (R where all these b_i are zero). What
        is missed, at the prices y, is taken off the lower bound four times over (`certificate.charged`).

    Raises
    ------
    ProblemError
        For non-Hermitian, NaN, empty or misshaped data, or a trace bound or a tolerance that is not positive.

    References
    ----------
    Arora and Kale (2007); eq. (4.4)-(4.5) of the thesis.
    """

    C: Array
    A: Any
    b: Any
    trace_bound: float
    interior: Array | None = None
    equalities: Any = None
    tolerance: float = TOLERANCE
    family: ConstraintFamily = field(init=False, repr=False)

    name = "sdp"
    objective = "maximize"

    def __post_init__(self) -> None:
        C = as_hermitian("C", self.C)
        family = constraint_family(self.A, C.shape[0])
        require_same_namespace(C=C, A=family.matrix(0))
        if is_complex(family.matrix(0)):
            C = namespace(C).astype(C, namespace(C).complex128)  # X is complex, and so are its losses
        b = as_real_vector("b", self.b, family.shape[0])
        R = _positive(self.trace_bound)
        equal = np.zeros(len(b), dtype=bool) if self.equalities is None else np.asarray(self.equalities)
        if equal.shape != b.shape or equal.dtype != bool:
            msg = f"equalities must be {len(b)} of True and False, one for each row of b; got {self.equalities!r}"
            raise ProblemError(msg)
        tolerance = as_number("tolerance", self.tolerance)
        if not 0 < tolerance < 1:
            msg = f"tolerance must lie between 0 and 1, got {self.tolerance!r}; {TOLERANCE:g} is the default"
            raise ProblemError(msg)
        for name, value in (("C", C), ("b", b), ("trace_bound", R), ("family", family), ("equalities", equal)):
            object.__setattr__(self, name, value)
        if self.interior is not None:
            X = as_hermitian("interior", self.interior, C.shape[0])
            require_same_namespace(C=C, interior=X)
            X = self.spectral_set.project(X)
            object.__setattr__(self, "interior", X)
            met = self.rows.missed(X) <= tolerance * self.rows.units
            if not np.all(np.where(equal, met, self._weights_of_slack(X) > 0)):
                msg = "interior must satisfy every constraint strictly: A_j . X < b_j, and the equalities to tolerance"
                raise ProblemError(msg)

    def check(self) -> None:
        """Construction has."""

    @classmethod
    def with_senses(
        cls,
        C: Array,
        A: Any,
        b: Any,
        senses: Sequence[str],
        trace_bound: float,
        tolerance: float = TOLERANCE,
    ) -> LinearSDP:
        """max C . X subject to A_j . X (<=, >=, ==) b_j, X >= 0, Tr X <= trace_bound.

        A row ">=" is its negative with "<="; `row_multipliers` gives the multipliers of the rows as they were written.

        Parameters
        ----------
        C, A, b, trace_bound, tolerance
            As in the class.
        senses : sequence of {"<=", ">=", "=="}
            One for each row, or a single one for all.

        Raises
        ------
        ProblemError
            For a sense of another name, or a wrong number of them, and as in the class.
        """
        n = as_hermitian("C", C).shape[0]
        family = constraint_family(A, n)
        m = family.shape[0]
        b = as_real_vector("b", b, m)
        each = [senses] * m if isinstance(senses, str) else list(senses) if isinstance(senses, Iterable) else []
        if len(each) != m or any(sense not in ("<=", ">=", "==") for sense in each):
            msg = f"senses must hold {m} of '<=', '>=' and '==', one for each row of b; got {senses!r}"
            raise ProblemError(msg)
        signs = np.array([-1.0 if sense == ">=" else 1.0 for sense in each])
        if np.any(signs < 0):
            family, b = SignedFamily(family, signs), signs * b
        equal = np.array([sense == "==" for sense in each])
        return cls(C, family, b, trace_bound, equalities=equal, tolerance=tolerance)

    @classmethod
    def from_sdpa(cls, path: str | Path, trace_bound: float | None = None, tolerance: float = TOLERANCE) -> LinearSDP:
        """max tr(F_0 X) subject to tr(F_i X) = c_i, X >= 0, of a file in the sparse SDPA format.

        Parameters
        ----------
        path : str or Path
            SDPLIB's ``.dat-s``, gzipped or not; blocks become one block-diagonal matrix.
        trace_bound : float, optional
            Where the constraints give the trace of X (sum_i y_i F_i = I for some y) it is known.
        tolerance : float
            Of the equalities, as in the class.

        Raises
        ------
        ProblemError
            For a file that is none (file and line are named), or a trace that is not given.
        """
        program = read_sdpa(path)
        if trace_bound is None:
            given = program.trace()
            if given is None:
                msg = (
                    f"the constraints of {path} do not give the trace of X: pass trace_bound, derived from what X "
                    f"means, or a bound that you would be surprised to see reached"
                )
                raise ProblemError(msg)
            trace_bound = given
        family = SparseFamily(program.rows, program.objective.shape[0])
        return cls.with_senses(program.objective.toarray(), family, program.right, "==", trace_bound, tolerance)

    def to_sdpa(self, path: str | Path) -> None:
        """Write the program, if it is real, to a file in the sparse SDPA format: see `from_sdpa`.

        Inequalities and the trace bound get slacks in a diagonal block of their own.
        """
        write_sdpa(path, self)

    def row_multipliers(self, y: np.ndarray) -> np.ndarray:
        """One multiplier for each row as it was given to `with_senses`; y itself for a plain program."""
        return self.family.signs * y if isinstance(self.family, SignedFamily) else y

    # -- the game ---------------------------------------------------------------------------------

    @property
    def cost(self) -> Array:
        return self.C

    @cached_property
    def offset(self) -> np.ndarray:
        """b; 1 for the rows 0 . X <= 0, whose multipliers go to 0 for it."""
        return np.where(self.rows.vacuous & (self.b == 0), 1.0, self.b)

    @cached_property
    def scale(self) -> float:
        """R ||C||_2; where C = 0, the largest |b_j| + R ||A_j||_2: the bounds of Y derive from it."""
        size = self.trace_bound * self.cost_norm
        return size or float(np.max(np.abs(self.b) + self.trace_bound * self.constraint_norms))

    def scale_at(self, y: np.ndarray | None, upper: float) -> float:
        """sum_j |b_j y_j| + R t, what the upper bound adds up to: a generous R has no part in it where t is 0.

        Not below a hundredth of `scale`, or rounding would keep an optimum of 0 from being reached.
        """
        if y is None or not np.isfinite(upper):
            return self.scale
        terms = self.b * y
        size = float(np.sum(np.abs(terms))) + max(upper - float(np.sum(terms)), 0.0)
        return min(self.scale, max(size, FLOOR * self.scale))

    @cached_property
    def spectral_set(self) -> SpectralSet:
        """{X >= 0, Tr X <= R}; R with room where the equalities give the trace: met, it would leave no interior."""
        given = self.implied_trace
        room = 1.5 * given if given is not None and given <= self.trace_bound * (1 + 1e-9) else 0.0
        return TraceBall(self.C.shape[0], max(self.trace_bound, room), self.blocks)

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        """Sizes of the diagonal blocks in which C and all A_j lie, as they stand; () where there is one."""
        n, places = self.C.shape[0], np.nonzero(as_numpy(self.C))
        pattern = self.family.pattern() if diagonal_blocks(n, *places) else None
        if pattern is None:
            return ()
        return diagonal_blocks(n, *(np.concatenate(pair) for pair in zip(places, pattern, strict=True)))

    @cached_property
    def implied_trace(self) -> float | None:
        """The trace of every feasible X, where the equalities give it."""
        y = self.rows.trace_multipliers
        return None if y is None else float(self.b @ y)

    @cached_property
    def rows(self) -> Rows:
        """What they ask of an X."""
        return Rows(self.family, self.b, self.equalities, self.trace_bound)

    @cached_property
    def dual_set(self) -> KnapsackSet:
        """{y >= 0, s.y <= K} where a strictly feasible X_s is known; {y >= 0, or free} before, and with equalities."""
        if np.any(self.equalities):
            return KnapsackSet(np.where(self.equalities, -INF, 0.0), np.full(len(self.b), INF))
        s = self.slack_of_interior
        if s is None:
            return KnapsackSet.orthant(self.family.shape[0])
        upper = self.upper_value(np.zeros(len(s)))
        # twice the proven bound keeps an optimal y away from the end of Y
        return KnapsackSet.weighted_simplex(s, 2 * (upper - self._reached) + 1e-3 * self.scale)

    def dual_set_at(self, level: float) -> KnapsackSet:
        """{y >= 0, s.y <= level - C . X_s}; with X_s = 0, Arora and Kale's {y >= 0, b.y <= alpha}."""
        s = self.slack_of_interior
        if s is None or level <= self._reached or np.any(self.equalities):
            return self.dual_set
        return KnapsackSet.weighted_simplex(s, min(level - self._reached, self.dual_set.row_upper))

    @cached_property
    def slack_of_interior(self) -> np.ndarray | None:
        """s = b - A*(X_s) > 0, or None where no strictly feasible X_s is known."""
        if self.interior is not None:
            return self._weights_of_slack(self.interior)
        b = np.where(self.rows.vacuous, 1.0, self.b)
        return b if np.all(b > 0) and not np.any(self.equalities) else None

    def _weights_of_slack(self, X: Array) -> np.ndarray:
        return np.where(self.rows.vacuous, 1.0, self.rows.slack(X))

    # -- feasibility ------------------------------------------------------------------------------

    @cached_property
    def _reached(self) -> float:
        """C . X_s."""
        return 0.0 if self.interior is None else inner(self.C, self.interior)

    def repair(self, X: Array) -> Array | None:
        """(1 - theta) X + theta X_s, theta the smallest that satisfies all constraints; equalities to ``tolerance``.

        With X_s = 0 (b > 0) this is X / phi, phi = max_j A_j . X / b_j (Lemma 4.2.1).
        """
        slack = self.rows.slack(X)
        if self.on_face is not None:
            slack = self.on_face.face.where_it_says(slack)
        if np.any((slack < -self.tolerance * self.rows.units)[self.equalities]):
            return None
        bad, inside = (slack < 0) & ~self.equalities, self.slack_of_interior
        if not np.any(bad):
            return X
        if inside is None:
            return None
        theta = min(1.0, float(np.max(slack[bad] / (slack[bad] - inside[bad]))) * (1 + 4 * EPS))
        target = zeros(tuple(X.shape), X) if self.interior is None else self.interior
        return (1 - theta) * X + theta * target

    def _bound_from_member(self, point: Array) -> Bound:
        face = None if self.on_face is None else self.on_face.face
        if face is not None:  # what is off it is off the feasible set
            point = face.lifted(face.compressed(point))
        repaired = self.repair(point)
        if repaired is None:
            return Bound(point=point)
        value = inner(self.C, repaired) - self.rounding(np.zeros(len(self.b)))
        residual = None
        if np.any(self.equalities):
            missed = self.rows.missed(repaired)
            missed = missed if face is None else face.where_it_says(missed)
            if np.any(missed > 16 * self.C.shape[0] * EPS * self.rows.units):
                residual = missed
        return Bound(point=repaired, lower=value, residual=residual)

    def objective_at(self, X: Array | None, y: np.ndarray | None) -> float:
        return -INF if X is None or self.repair(X) is None else inner(self.C, X)

    def first_points(self) -> list[tuple[Array | None, np.ndarray | None]]:
        """Those of every game; and the multipliers that prove it, where a row reads 0 . X = b_j != 0, or the trace that
        the equalities give is beyond the bound.
        """
        impossible, y = self.rows.impossible, self.rows.trace_multipliers
        rays: list[tuple[Array | None, np.ndarray | None]] = []
        if np.any(impossible):
            rays.append((None, np.where(impossible, -np.sign(self.b), 0.0)))
        if y is not None and float(self.b @ y) > self.trace_bound * (1 + 1e-9):
            rays.append((None, -y))
        return [*super().first_points(), *rays]

    @cached_property
    def least_value(self) -> float:
        """R min(0, lambda_min(C)): C . X of every X in S is at least that."""
        return self.trace_bound * min(0.0, float(eigvalsh(self.C)[0])) - self.rounding(np.zeros(len(self.b)))

    @cached_property
    def on_face(self) -> OnFace | None:
        """Where rows leave no positive definite X: the program on the face that holds every feasible one."""
        face = least_face(self.family, self.b, self.equalities, self.C) if np.any(self.b == 0) else None
        return None if face is None else OnFace(self, face)

    def upper_value(self, y: np.ndarray) -> float:
        """With R itself, the room of S is for the iterates; with 0, where X = 0 is all there is."""
        S, R = self.spectral_set, self.trace_bound if self.implied_trace != 0 else 0.0
        return float(self.offset @ y) + S.support(self.forward(y)) * (R / S.trace)

    def presolved(self) -> OnFace | None:
        return self.on_face

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        smaller = self.on_face
        if smaller is None:
            bound = super().bound_from_vector(y)
        else:  # every feasible X is V W V^H
            y = self.dual_set.project(np.asarray(y, dtype=float))
            bound = dataclasses.replace(smaller.problem.bound_from_vector(y[smaller.face.rows]), point=y)
        ray = bound.point
        if ray is not None and self.slack_of_interior is None and self.recession_value(ray) < 0:
            return Bound(point=ray, upper=-INF)  # no X is feasible
        return bound

    def phase_one(self) -> PhaseOne | None:
        return (
            None if self.dual_set.is_bounded or np.any(self.equalities) else PhaseOne(self, vacuous=self.rows.vacuous)
        )

    def with_interior(self, X: Array) -> LinearSDP:
        return dataclasses.replace(self, interior=X)

    # -- reference, files, random instances -------------------------------------------------------

    def reference(self) -> cvxpy.Problem:
        """The primal form (4.4)."""
        import cvxpy as cp

        n = self.C.shape[0]
        C = as_numpy(self.C)
        A = [as_numpy(self.family.matrix(j)) for j in range(self.family.shape[0])]
        hermitian = np.iscomplexobj(C) or any(np.iscomplexobj(a) for a in A)
        X = cp.Variable((n, n), name="X", hermitian=hermitian, symmetric=not hermitian)
        real = cp.real if hermitian else lambda expression: expression  # cvxpy refuses the real part of a real one
        constraints = [X >> 0, real(cp.trace(X)) <= self.trace_bound]
        for a, bj, equal in zip(A, self.b, self.equalities, strict=True):
            left = real(cp.trace(a @ X))
            constraints.append(left == bj if equal else left <= bj)
        return cp.Problem(cp.Maximize(real(cp.trace(C @ X))), constraints)

    def read_reference(self, reference: cvxpy.Problem) -> tuple[Array | None, np.ndarray | None]:
        X = reference.variables()[0].value
        multipliers = [c.dual_value for c in reference.constraints[2:]]
        if X is None or any(value is None for value in multipliers):
            return None if X is None else from_numpy(X, self.C), None
        y = np.array(multipliers, dtype=float).reshape(-1)
        return from_numpy((X + X.conj().T) / 2, self.C), np.where(self.equalities, y, np.maximum(y, 0))

    def parameters(self) -> Mapping[str, Any]:
        """The keyword arguments that construct this problem again: A as an array where it is one, or as its family."""
        family: Any = self.family
        A = family.P if isinstance(family, RankOneFamily) else family.A if isinstance(family, DenseFamily) else family
        return {
            "C": self.C, "A": A, "b": self.b, "trace_bound": self.trace_bound, "interior": self.interior,
            "equalities": self.equalities, "tolerance": self.tolerance,
        }  # fmt: skip

    @classmethod
    def random(cls, rng: np.random.Generator) -> LinearSDP:
        """Feasible instances, real or complex, with right-hand sides of both signs."""
        n, m = int(rng.integers(1, 7)), int(rng.integers(1, 7))
        hermitian = rng.random() < 0.3

        def draw() -> np.ndarray:
            G = rng.standard_normal((n, n))
            if hermitian:
                G = G + 1j * rng.standard_normal((n, n))
            return (G + G.conj().T) / 2

        root = draw()
        X = root @ root.conj().T + 0.1 * np.eye(n)
        A = np.stack([draw() for _ in range(m)])
        slack = rng.uniform(0.05, 1.0, m)
        b = np.real(np.einsum("jab,ba->j", A, X)) + slack
        return cls(draw(), A, b, float(np.real(np.trace(X))) * rng.uniform(1.1, 3.0))
