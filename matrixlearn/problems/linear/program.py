"""A semidefinite program that is given by C, A_j and b.

    max C . X   subject to   A_j . X <= b_j (or = b_j),   X >= 0,   Tr X <= R (where R is given)

It is brought into an exactly equivalent form (`standard`), and what a point proves of it is said there (`proof`).
R is an assumption. It is used only where nothing in the rows bounds the optimum, and a certificate that needs it says
so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from matrixlearn._array import as_numpy, from_numpy, namespace
from matrixlearn.exceptions import ProblemError
from matrixlearn.linalg import inner, is_complex
from matrixlearn.maps import (
    DenseMap,
    LinearMap,
    RankOneMap,
    ScaledMap,
    SparseMap,
)
from matrixlearn.maps.bounded import on_numpy
from matrixlearn.present import presented_by
from matrixlearn.problems.base import INF, Bound
from matrixlearn.problems.conic import ConicProblem
from matrixlearn.problems.linear.basis import checked_basis
from matrixlearn.problems.linear.echelon import Echelon, echelon
from matrixlearn.problems.linear.exact import combined
from matrixlearn.problems.linear.lattice import shortened
from matrixlearn.problems.linear.standard import Standard
from matrixlearn.problems.play import Play
from matrixlearn.problems.rows import constraint_family
from matrixlearn.problems.sdpa import read_sdpa, write_sdpa
from matrixlearn.typing import Array
from matrixlearn.validation import as_hermitian, as_number, as_real_vector, require_same_namespace

if TYPE_CHECKING:
    from pathlib import Path

    import cvxpy


CLEARLY = 1e-7
"""Part of its size by which a bound that needs the trace bound must be better than one that does not."""


def _positive(trace_bound: Any) -> float | None:
    """R, checked."""
    if trace_bound is None:
        return None
    R = as_number("trace_bound", trace_bound)
    if not 0 < R < INF:
        msg = f"trace_bound must be positive and finite, or None for no bound; got {trace_bound!r}"
        raise ProblemError(msg)
    return R


@presented_by("matrixlearn.present.linear:LinearPresenter")
@dataclass(frozen=True, eq=False)
class LinearSDP(ConicProblem):
    """max C . X subject to A_j . X <= b_j (or = b_j), X >= 0, Tr X <= trace_bound.

    Parameters
    ----------
    C : array, shape (n, n)
        Real symmetric or complex Hermitian.
    A : array, shape (m, n, n), or list of m matrices, or array, shape (m, n)
        Dense, scipy sparse, or the rows a_j of rank-one constraints a_j a_j^H.
    b : array, shape (m,)
        Rows with ">=" or "==" go through `with_senses`.
    trace_bound : float, optional
        R > 0, a trace that no X of interest exceeds. Not needed where the rows bound the optimum. Where they do not,
        an answer holds among the X with Tr X <= R only: status "trace bound", and ``certificate.trace_bound`` is R.
    interior : array, shape (n, n), optional
        A strictly feasible X, where you know one; found when needed otherwise.
    equalities : array of bool, shape (m,), optional
        The rows that hold with equality; none by default.
    presolve : {"rows", "echelon"}
        "echelon" brings the equalities into exact reduced echelon form first: rows that others imply go, and entries
        that they force to 0 show. `solve` turns to it where it finds no strictly feasible X.
    facial : array, optional
        Multipliers y, or one after the other, of the rows that ``presolve`` leaves: A(y) >= 0 and b.y = 0 exactly prove
        that A(y) X = 0 for every feasible X, and so on on the face that this leaves. Found when needed.
    units : array, shape (n,) or (n, n), optional
        The basis in which the program is solved, X = T X' T^T: powers of two, the diagonal of T, or T itself, whole
        numbers times powers of two. By default those powers in which its entries are of one size; `solve` turns to
        those of its last X, and to a basis in which that is about I, where that does not do.

    Raises
    ------
    ProblemError
        For non-Hermitian, NaN, empty or misshaped data, or a trace bound that is not positive.

    References
    ----------
    Arora and Kale (2007); eq. (4.4)-(4.5) of the thesis.
    """

    C: Array
    A: Any
    b: Any
    trace_bound: float | None = None
    interior: Array | None = None
    equalities: Any = None
    presolve: Literal["rows", "echelon"] = "rows"
    facial: np.ndarray | None = None
    units: np.ndarray | None = None
    family: LinearMap = field(init=False, repr=False)
    """The A_j as a linear map."""
    name = "sdp"
    objective = "maximize"
    routines = ("DenseExponent", "LevelOracle")

    def __post_init__(self) -> None:
        C = as_hermitian("C", self.C)
        family = constraint_family(self.A, C.shape[0])
        require_same_namespace(C=C, A=family.matrix(0))
        if is_complex(family.matrix(0)):
            C = namespace(C).astype(C, namespace(C).complex128)  # X is complex, and so are its losses
        b = as_real_vector("b", self.b, family.shape[0])
        R = _positive(self.trace_bound)
        equal = np.zeros(len(b), dtype=bool) if self.equalities is None else np.array(self.equalities)
        if equal.shape != b.shape or equal.dtype != bool:
            msg = f"equalities must be {len(b)} of True and False, one for each row of b; got {self.equalities!r}"
            raise ProblemError(msg)
        if self.presolve not in ("rows", "echelon"):
            msg = f"presolve must be 'rows' or 'echelon', got {self.presolve!r}"
            raise ProblemError(msg)
        if self.units is not None:
            object.__setattr__(self, "units", checked_basis(self.units, C.shape[0]))
        for name, value in (("C", C), ("b", b), ("trace_bound", R), ("family", family), ("equalities", equal)):
            object.__setattr__(self, name, value)
        if self.interior is not None:
            X = as_hermitian("interior", self.interior, C.shape[0])
            require_same_namespace(C=C, interior=X)
            object.__setattr__(self, "interior", X)
            if self.bound_from_matrix(self.toward(X, X)).lower == -INF:
                msg = "interior must be positive definite and satisfy every constraint: A_j . X < b_j, or = b_j"
                raise ProblemError(msg)

    def check(self) -> None:
        """Construction has checked the data."""

    @classmethod
    def with_senses(
        cls,
        C: Array,
        A: Any,
        b: Any,
        senses: Sequence[str],
        trace_bound: float | None = None,
    ) -> LinearSDP:
        """max C . X subject to A_j . X (<=, >=, ==) b_j, X >= 0, Tr X <= trace_bound.

        A row ">=" is its negative with "<="; `row_multipliers` gives the multipliers of the rows as they were written.

        Parameters
        ----------
        C, A, b, trace_bound
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
            family, b = ScaledMap(family, signs), signs * b
        equal = np.array([sense == "==" for sense in each])
        return cls(C, family, b, trace_bound, equalities=equal)

    @classmethod
    def from_sdpa(cls, path: str | Path, trace_bound: float | None = None) -> LinearSDP:
        """max tr(F_0 X) subject to tr(F_i X) = c_i, X >= 0, of a file in the sparse SDPA format.

        Parameters
        ----------
        path : str or Path
            SDPLIB's ``.dat-s``, gzipped or not; blocks become one block-diagonal matrix.
        trace_bound : float, optional
            As in the class; seldom needed.

        Raises
        ------
        ProblemError
            For a file that is none (file and line are named).
        """
        program = read_sdpa(path)
        family = SparseMap(program.rows, program.objective.shape[0])
        return cls.with_senses(program.objective.toarray(), family, program.right, "==", trace_bound)

    def to_sdpa(self, path: str | Path) -> None:
        """Write the program, if it is real, to a file in the sparse SDPA format: see `from_sdpa`.

        Inequalities and the trace bound get slacks in a diagonal block of their own.
        """
        write_sdpa(path, self)

    def row_multipliers(self, y: np.ndarray) -> np.ndarray:
        """One multiplier for each row as it was given to `with_senses`; y itself for a plain program."""
        return self.family.factors * y if isinstance(self.family, ScaledMap) else y

    def constraint(self, j: int) -> Array:
        """A_j, dense."""
        return self.family.matrix(j)

    # -- how it is solved -------------------------------------------------------------------------

    @property
    def like(self) -> Array:
        """C: X is of its shape and namespace."""
        return self.C

    @property
    def multipliers(self) -> int:
        """The number m of rows."""
        return len(self.b)

    @cached_property
    def standard(self) -> Standard:
        """The program that is solved in the place of this one, exactly equivalent."""
        return Standard.of(
            self.C,
            self.family,
            self.b,
            self.equalities,
            self.trace_bound,
            multipliers=self.facial,
            by_echelon=self._by_echelon,
            units=self.units,
        )

    @cached_property
    def _by_echelon(self) -> Echelon | None:
        """The equalities in echelon form, or as short combinations, where that was asked for and is found exactly."""
        if self.presolve == "rows":
            return None
        rows = combined(on_numpy(self.family), self.b, self.equalities, self.trace_bound)
        those = rows.kept[rows.equal]
        if len(those) == 0 or rows.contradiction:
            return None
        family, right = on_numpy(self.family).at(those), self.b[those]
        found = echelon(family, right) or shortened(family, right)
        return found if found is not None and found.rounding == 0 else None

    def play(self) -> Play:
        """That of the equivalent program, which is solved in the place of this one."""
        return self.standard.program.play()

    def first_points(self) -> list[tuple[Array | None, np.ndarray | None]]:
        """A strictly feasible X that the user knows, X = 0, where that is feasible, and y = 0."""
        zero = [(0 * self.C, None)] if self.standard.before.zero_is_feasible else []
        return [(self.interior, np.zeros(len(self.b))), *zero]

    # -- bounds -----------------------------------------------------------------------------------

    def bound_from_matrix(self, X: Array) -> Bound:
        """The bound of the equivalent program, at the matrix that X stands for there."""
        standard = self.standard
        if standard.contradiction:
            return Bound()
        if standard.only_zero:
            return Bound(point=0 * self.C, lower=0.0)
        program, W = standard.program, standard.lowered_matrix(X)
        bound = program.bound_from_matrix(W)
        if program.limit is None or (bound.lower > -INF and program.within_limit(W)):
            return self._lifted(bound, X, W)
        limited = standard.with_trace_row  # rows and trace are met at once by a matrix near W
        by_row = Bound() if limited is None else limited.program.bound_from_matrix(W)
        if by_row.lower > -INF:
            return self._lifted(by_row, X, W)
        nearly = program.nearly_within_limit(W)
        return dataclasses.replace(self._lifted(bound if nearly else Bound(point=bound.point), X, W), beyond=nearly)

    def _lifted(self, bound: Bound, X: Array, W: Array) -> Bound:
        """The bound of a matrix of the equivalent program; X stands for W itself."""
        if (bound.point is None or bound.point is W) and self.standard.face is None:
            return dataclasses.replace(bound, point=X)
        return dataclasses.replace(bound, point=self.standard.lifted_matrix(W if bound.point is None else bound.point))

    def ray_near(self, X: Array) -> Array | None:
        """A direction along which nothing bounds the objective; none where the trace is bounded."""
        standard = self.standard
        if self.trace_bound is not None or standard.answer:
            return None
        ray = standard.program.ray_near(standard.lowered_matrix(X))
        return None if ray is None else standard.lifted_matrix(ray)

    def estimate_from_matrix(self, X: Array) -> Bound:
        """The estimate of the equivalent program, at the matrix that X stands for there."""
        standard, program = self.standard, self.standard.program
        bound = program.estimate_from_matrix(standard.lowered_matrix(X))
        if program.limit is not None and program.trace_of(bound.point) > program.limit.R * (1 + 1e-6):
            return Bound(point=X)
        return dataclasses.replace(bound, point=standard.lifted_matrix(bound.point))

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        """The bound of the equivalent program, at the multipliers that y stands for there."""
        standard = self.standard
        if standard.contradiction:
            needed = self.trace_bound if standard.combined.needs_trace_bound else None
            return Bound(point=standard.farkas, upper=-INF, trace_bound=needed)
        if standard.only_zero:  # K N - C >= 0 for a large K, N > 0, and b.y = 0
            return Bound(point=standard.lifted_vector(np.zeros(0)), upper=0.0)
        program, z = standard.program, standard.lowered_vector(np.asarray(y, dtype=float))
        bound = program.bound_from_vector(z)
        if program.limit is not None and bound.point is not z and bound.upper > -INF:  # z itself proves nothing
            limited = program.bound_by_limit(z)
            if limited.upper < bound.upper - CLEARLY * limited.size:
                bound = limited
        point = standard.lifted_vector(z if bound.point is None else bound.point)
        size = bound.size
        if bound.trace_bound is None:  # in rows that were mixed, terms may cancel that do not in the user's
            size = min(size, float(np.abs(self.b) @ np.abs(point)))
        return dataclasses.replace(bound, point=point, size=size)

    def toward(self, X: Array, interior: Array | None) -> Array:
        """X moved towards a strictly feasible point, as little as a proof takes."""
        if self.standard.answer:
            return X
        program, W = self.standard.program, self.standard.lowered_matrix
        return self.standard.lifted_matrix(program.toward(W(X), None if interior is None else W(interior)))

    def toward_dual(self, y: np.ndarray, interior: np.ndarray) -> np.ndarray:
        """y moved towards a y_0 with A(y_0) - C > 0, as little as a proof takes."""
        if self.standard.answer:
            return y
        program, z = self.standard.program, self.standard.lowered_vector
        return self.standard.lifted_vector(program.toward_dual(z(y), z(interior)))

    def objective_at(self, X: Array | None, y: np.ndarray | None) -> float:
        return -INF if X is None else inner(self.C, X)

    # -- reference, files, random instances -------------------------------------------------------

    def reference(self) -> cvxpy.Problem:
        """The primal form (4.4)."""
        from matrixlearn.problems.linear.in_cvxpy import program

        A = [as_numpy(self.family.matrix(j)) for j in range(len(self.b))]
        return program(as_numpy(self.C), A, self.b, self.equalities, self.trace_bound)

    def read_reference(self, reference: cvxpy.Problem) -> tuple[Array | None, np.ndarray | None]:
        """(X, y) of a solved `reference`; None for what its solver did not return."""
        X = reference.variables()[0].value
        multipliers = [c.dual_value for c in reference.constraints[len(reference.constraints) - len(self.b) :]]
        if X is None or any(value is None for value in multipliers):
            return None if X is None else from_numpy(X, self.C), None
        y = np.array(multipliers, dtype=float).reshape(-1)
        return from_numpy((X + X.conj().T) / 2, self.C), np.where(self.equalities, y, np.maximum(y, 0))

    def parameters(self) -> Mapping[str, Any]:
        """The keyword arguments that construct this problem again: A as an array where it is one, or as its family."""
        family: Any = self.family
        A = family.P if isinstance(family, RankOneMap) else family.A if isinstance(family, DenseMap) else family
        return {
            "C": self.C, "A": A, "b": self.b, "trace_bound": self.trace_bound, "interior": self.interior,
            "equalities": self.equalities, "presolve": self.presolve, "facial": self.facial,
            "units": self.units,
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
        # the trace is bounded by a row: a trace bound is an assumption, not a constraint
        A, b = np.concatenate([A, np.eye(n)[None]]), np.append(b, float(np.real(np.trace(X))) * rng.uniform(1.1, 3.0))
        return cls(draw(), A, b)
