"""Semidefinite programs whose optimum is known as a fraction, with the points that prove it in exact arithmetic.

    max C . X   subject to   A_j . X (<=, >=, ==) b_j,   X >= 0   (, tr X <= R)

The proof of an optimum is a feasible X, multipliers y of the right signs, and A*(y) - C >= 0 with b.y = C . X. Where
the rows leave no positive definite X, vectors z come first, one after the other: b.z = 0 and A*(z) >= 0 say that every
feasible X lives on the null space of A*(z), and what follows needs to hold on it only. "Infeasible" is proved by such
faces and a y with A*(y) >= 0 and b.y < 0; "unbounded" by a feasible X and a ray D >= 0 with A(D) = 0 and C . D > 0.
All data are doubles, and every number of a proof is the double that it seems to be.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from matrixlearn.problems.linear import LinearSDP
from matrixlearn.testing.exact.arithmetic import exact_inner, exactly, null_space

Outcome = Literal["optimal", "infeasible", "unbounded"]
INF = float("inf")


@dataclass(frozen=True, eq=False)
class ExactProgram:
    """A program, its optimum, and the proof of it.

    Attributes
    ----------
    kind : str
        What is hard about it.
    C, A, b, senses
        The data, as `LinearSDP.with_senses` takes them; A of shape (m, n, n).
    outcome : {"optimal", "infeasible", "unbounded"}
        What is true of it.
    low, high : Fraction or float
        The optimum lies in [low, high]: equal, but for closed forms that are irrational and for unbounded programs
        with a trace bound.
    X, y, faces, ray
        The proof; ``ray`` is a matrix.
    price : float
        The multiplier of tr X <= R, where the optimum needs it.
    trace : float, optional
        At least that of some optimal matrix, where X is irrational or there is none.
    trace_bound : float, optional
        R; what is true holds with it and without it.
    rows : {"dense", "sparse", "rank one"}
        How the rows are handed over.
    factors : array, shape (m, n), optional
        The a_j of A_j = a_j a_j^H, where all are.
    """

    kind: str
    C: np.ndarray
    A: np.ndarray
    b: np.ndarray
    senses: tuple[str, ...]
    outcome: Outcome = "optimal"
    low: Fraction | float = -INF
    high: Fraction | float = INF
    X: Any = None
    y: Any = None
    faces: tuple[np.ndarray, ...] = ()
    ray: Any = None
    price: float = 0.0
    trace: float | None = None
    trace_bound: float | None = None
    rows: str = "dense"
    factors: Any = None

    @property
    def n(self) -> int:
        """Order of X."""
        return len(self.C)

    @property
    def equalities(self) -> np.ndarray:
        """Which rows are."""
        return np.array([sense == "==" for sense in self.senses], dtype=bool)

    @property
    def roomy_trace(self) -> float:
        """At least the trace of an optimal matrix, and at least one."""
        return max(1.0, self.trace or 0.0, 0.0 if self.X is None else float(np.trace(self.X).real))

    @property
    def signs(self) -> np.ndarray:
        """-1 for rows ">=", 1 for the others."""
        return np.where([sense == ">=" for sense in self.senses], -1.0, 1.0)

    def problem(self, without: float | None = None) -> LinearSDP:
        """The program for `matrixlearn.solve`; ``without`` is R where there is none."""
        A: Any = self.A
        if self.rows == "sparse":
            A = [sp.csr_array(a) for a in self.A]
        if self.rows == "rank one" and self.factors is not None:
            A = self.factors
        R: Any = without if self.trace_bound is None else self.trace_bound
        return LinearSDP.with_senses(self.C, A, self.b, self.senses, trace_bound=R)

    def evaluated(self) -> ExactProgram:
        """The same with the optimum that its proof says."""
        if self.outcome == "infeasible":
            return replace(self, low=-INF, high=-INF)
        if self.X is None:
            return self
        value = exact_inner(self.C, self.X)
        return replace(self, low=value, high=value if self.outcome == "optimal" else INF)

    # -- the proof ----------------------------------------------------------------------------------

    def prove(self) -> None:
        """Check the proof in rational arithmetic.

        Raises
        ------
        AssertionError
            Where it does not prove `low`, `high` and `outcome`.
        """
        A = [exactly(a) for a in self.A.astype(complex if self._complex else float)]
        b = [Fraction(float(value)) for value in self.b]
        if self.X is not None:
            self._prove_feasible()
        if self.outcome == "unbounded":
            assert self.ray is not None and self.X is not None and null_space(exactly(self.ray)) is not None
            assert exact_inner(self.C, self.ray) > 0
            for a, sense in zip(self.A, self.senses, strict=True):
                moved = exact_inner(a, self.ray)
                assert moved == 0 if sense == "==" else moved <= 0 if sense == "<=" else moved >= 0
            return
        assert self.y is not None
        V = exactly(np.eye(self.n, dtype=complex if self._complex else float))
        for z in self.faces:
            self._prove_signs(z)
            assert self._value(b, z) == 0
            V = V @ self._null_space_on(V, self._combined(A, z))
        self._prove_signs(self.y)
        slack = self._combined(A, self.y)
        if self.outcome == "infeasible":
            assert self._value(b, self.y) < 0
        else:
            assert self.X is not None
            price = Fraction(self.price)
            paid = price * Fraction(self.trace_bound) if self.trace_bound is not None and price else 0
            assert exact_inner(self.C, self.X) == self._value(b, self.y) + paid == self.low == self.high
            slack = slack + price * exactly(np.eye(self.n, dtype=self.C.dtype if not self._complex else complex))
            slack = slack - exactly(self.C.astype(complex) if self._complex else self.C)
        if V.shape[1]:
            self._null_space_on(V, slack)

    @property
    def _complex(self) -> bool:
        return np.iscomplexobj(self.A) or np.iscomplexobj(self.C)

    def _prove_feasible(self) -> None:
        assert self.X is not None and null_space(exactly(self.X)) is not None, "X >= 0"
        for a, right, sense in zip(self.A, self.b, self.senses, strict=True):
            left, right = exact_inner(a, self.X), Fraction(float(right))
            assert left == right if sense == "==" else left <= right if sense == "<=" else left >= right
        if self.trace_bound is not None and self.outcome == "optimal":
            assert exact_inner(np.eye(self.n), self.X) <= Fraction(self.trace_bound)

    def _prove_signs(self, y: np.ndarray) -> None:
        assert np.all((y * self.signs >= 0) | self.equalities)

    @staticmethod
    def _value(b: list[Fraction], y: np.ndarray) -> Fraction:
        return sum((right * Fraction(float(value)) for right, value in zip(b, y, strict=True)), Fraction(0))

    @staticmethod
    def _combined(A: list[np.ndarray], y: np.ndarray) -> np.ndarray:
        zero = np.full_like(A[0], Fraction(0))
        return sum((Fraction(float(value)) * a for value, a in zip(y, A, strict=True) if value), zero)

    @staticmethod
    def _null_space_on(V: np.ndarray, M: np.ndarray) -> np.ndarray:
        if not V.shape[1]:
            return np.full((0, 0), Fraction(0), dtype=object)
        basis = null_space(V.T @ M @ V)
        assert basis is not None, "positive semidefinite on the face"
        return basis

    # -- the same program, written otherwise ----------------------------------------------------------

    def congruent(self, T: np.ndarray, inverse: np.ndarray) -> ExactProgram:
        """X = T X' T^H in the place of X'."""
        H = inverse.conj().T
        return replace(
            self,
            C=H @ self.C @ inverse,
            A=H @ self.A @ inverse,
            X=None if self.X is None else T @ self.X @ T.conj().T,
            ray=None if self.ray is None else T @ self.ray @ T.conj().T,
            trace=None if self.trace is None else self.trace * float(np.linalg.norm(T, 2)) ** 2,
            factors=None if self.factors is None else self.factors @ inverse.conj(),
        )

    def added(self, i: int, j: int, k: float) -> ExactProgram:
        """Row i plus k times row j, an equality."""
        A, b = self.A.copy(), self.b.copy()
        A[i] += k * A[j]
        b[i] += k * b[j]

        def multipliers(y: np.ndarray) -> np.ndarray:
            y = y.copy()
            y[j] -= k * y[i]
            return y

        return replace(self, A=A, b=b, factors=None, rows=self._rows_without_factors)._with_multipliers(multipliers)

    def scaled_rows(self, s: np.ndarray) -> ExactProgram:
        """Row j times s_j > 0, a power of two (of four, where rows have factors)."""
        factors = None if self.factors is None else np.sqrt(s)[:, None] * self.factors
        scaled = replace(self, A=s[:, None, None] * self.A, b=s * self.b, factors=factors)
        return scaled._with_multipliers(lambda y: y / s)

    def flipped(self, chosen: np.ndarray) -> ExactProgram:
        """The chosen rows times -1, "<=" becomes ">="."""
        s, opposite = np.where(chosen, -1.0, 1.0), {"<=": ">=", ">=": "<=", "==": "=="}
        senses = tuple(opposite[sense] if flip else sense for sense, flip in zip(self.senses, chosen, strict=True))
        keep = not np.any(chosen)
        return replace(
            self,
            A=s[:, None, None] * self.A,
            b=s * self.b,
            senses=senses,
            factors=self.factors if keep else None,
            rows=self.rows if keep else self._rows_without_factors,
        )._with_multipliers(lambda y: s * y)

    def repeated(self, j: int, k: float) -> ExactProgram:
        """Row j once more, k > 0 times as large."""
        return self.with_row(k * self.A[j], k * self.b[j], self.senses[j])

    def with_row(self, a: np.ndarray, right: float, sense: str, factor: np.ndarray | None = None) -> ExactProgram:
        """One more row that changes nothing."""
        kept = self.factors is not None and factor is not None
        return replace(
            self,
            A=np.concatenate([self.A, a[None]]),
            b=np.append(self.b, right),
            senses=(*self.senses, sense),
            factors=np.vstack([self.factors, np.asarray(factor)]) if kept else None,
            rows=self.rows if kept else self._rows_without_factors,
        )._with_multipliers(lambda y: np.append(y, 0.0))

    def halved(self, j: int) -> ExactProgram:
        """The equality j as two inequalities."""
        senses = (*self.senses[:j], "<=", *self.senses[j + 1 :], ">=")
        wider = self.with_row(self.A[j], self.b[j], "==")

        def multipliers(y: np.ndarray) -> np.ndarray:
            y = y.copy()
            y[-1] = min(y[j], 0.0)
            y[j] = max(y[j], 0.0)
            return y

        return replace(wider, senses=senses)._with_multipliers(multipliers)

    def permuted(self, order: np.ndarray) -> ExactProgram:
        """The rows in another order."""
        return replace(
            self,
            A=self.A[order],
            b=self.b[order],
            senses=tuple(self.senses[j] for j in order),
            factors=None if self.factors is None else self.factors[order],
        )._with_multipliers(lambda y: y[order])

    def in_units(self, cost: float, matrix: float) -> ExactProgram:
        """C times ``cost`` and X times ``matrix``, powers of two."""
        factor: Any = Fraction(cost) * Fraction(matrix)
        scaled = replace(
            self,
            C=cost * self.C,
            b=matrix * self.b,
            X=None if self.X is None else matrix * self.X,
            y=self.y if self.y is None or self.outcome == "infeasible" else cost * self.y,
            price=cost * self.price,
            trace=None if self.trace is None else matrix * self.trace,
            trace_bound=None if self.trace_bound is None else matrix * self.trace_bound,
        )
        return replace(scaled, low=_times(self.low, factor), high=_times(self.high, factor))

    def beside(self, other: ExactProgram) -> ExactProgram:
        """Both programs at once, in two diagonal blocks; neither may have a trace bound."""
        n, k = self.n, other.n

        def direct(M: Any, N: Any, p: int = n, q: int = k) -> Any:
            if M is None and N is None:
                return None
            M, N = np.zeros((p, p)) if M is None else M, np.zeros((q, q)) if N is None else N
            out = np.zeros((p + q, p + q), dtype=np.result_type(M, N))
            out[:p, :p], out[p:, p:] = M, N
            return out

        zero, none = np.zeros(len(self.b)), np.zeros(len(other.b))
        A = np.stack([*(direct(a, None) for a in self.A), *(direct(None, a) for a in other.A)])
        y = None
        if self.outcome == "infeasible" or other.outcome == "infeasible":
            first = self if self.outcome == "infeasible" else other
            faces = first.faces
            y = np.concatenate([self.y, none] if first is self else [zero, other.y])
            outcome: Outcome = "infeasible"
            faces = tuple(np.concatenate([z, none] if first is self else [zero, z]) for z in faces)
        else:
            outcome = "unbounded" if "unbounded" in (self.outcome, other.outcome) else "optimal"
            faces = tuple(
                [np.concatenate([z, none]) for z in self.faces] + [np.concatenate([zero, z]) for z in other.faces]
            )
            y = None if self.y is None or other.y is None else np.concatenate([self.y, other.y])
        both_feasible = self.X is not None and other.X is not None
        return ExactProgram(
            kind=f"{self.kind} + {other.kind}",
            C=direct(self.C, other.C),
            A=A,
            b=np.concatenate([self.b, other.b]),
            senses=(*self.senses, *other.senses),
            outcome=outcome,
            X=direct(self.X, other.X) if both_feasible else None,
            y=y,
            faces=faces,
            ray=direct(self.ray, other.ray),
            trace=self.roomy_trace + other.roomy_trace,
            rows="sparse",
        ).evaluated()

    @property
    def _rows_without_factors(self) -> str:
        return "dense" if self.rows == "rank one" else self.rows

    def _with_multipliers(self, change: Any) -> ExactProgram:
        return dataclasses.replace(
            self, y=None if self.y is None else change(self.y), faces=tuple(change(z) for z in self.faces)
        )


def _times(value: Fraction | float, factor: Fraction) -> Fraction | float:
    return value * factor if isinstance(value, Fraction) else value
