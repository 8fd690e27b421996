"""A linear program over matrices in the form that is solved and proved: each step of the way there is exact.

    rows      multiples of each other together say one thing (`exact`)
    units     T and r, powers of two (`scaling`)
    face      X = V W V^T where rows leave no positive definite X (`face`)

The points of either program give points of the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from matrixlearn._array import as_numpy, from_numpy, is_numpy
from matrixlearn.exceptions import ProblemError
from matrixlearn.linalg import frobenius, sym
from matrixlearn.linalg.factored import FactoredMatrix
from matrixlearn.maps import CompressedMap, DenseMap, LinearMap, SparseMap, StackedMap
from matrixlearn.maps.bounded import congruence_error, on_numpy
from matrixlearn.problems.linear.basis import in_basis
from matrixlearn.problems.linear.echelon import Echelon, Replaced
from matrixlearn.problems.linear.exact import Combined, combined, opposite
from matrixlearn.problems.linear.face import Face, least_face
from matrixlearn.problems.linear.leaner import compressed, fewer, without_unused
from matrixlearn.problems.linear.limit import TraceLimit
from matrixlearn.problems.linear.members import as_dense
from matrixlearn.problems.linear.open import OpenProgram
from matrixlearn.problems.linear.proof import Proof
from matrixlearn.problems.linear.scaling import even_units, in_units
from matrixlearn.problems.linear.whole import exact_congruence
from matrixlearn.typing import Array

SHARE = 1e-8
"""Of the bound, that a lifted y may be off without the face; less, and rounding of the large multiplier is more."""


@dataclass(frozen=True, eq=False)
class Standard:
    """The steps from a program to the one that is solved.

    Attributes
    ----------
    C : array
        The cost of the program as it was given.
    equal : ndarray of bool, shape (m,)
    combined : Combined
    echelon : Replaced or None
        The equalities in echelon form.
    t, r : ndarray
        The basis, X = T X' T^T with T = diag(t) or t, and the units of the rows that are left.
    face : Face or None
    on_face : Combined or None
        What the rows of the face say together, where that is fewer.
    face_echelon : Replaced or None
        The equalities of the face in echelon form, where that is fewer.
    before : Proof
        The program in even units, all its dimensions.
    program : OpenProgram
        What is solved.
    """

    C: Array
    equal: np.ndarray
    combined: Combined
    echelon: Replaced | None
    t: np.ndarray
    r: np.ndarray
    face: Face | None
    on_face: Combined | None
    face_echelon: Replaced | None
    before: Proof
    program: OpenProgram

    @classmethod
    def of(
        cls,
        C: Array,
        family: LinearMap,
        b: np.ndarray,
        equal: np.ndarray,
        trace_bound: float | None,
        multipliers: np.ndarray | None = None,
        by_echelon: Echelon | None = None,
        units: np.ndarray | None = None,
    ) -> Standard:
        """The chain for max <C, X>, <A_j, X> = b_j (j in E), <= b_j, X >= 0, Tr X <= trace_bound.

        ``multipliers``, of the rows after `combined` and ``by_echelon``, are tried for a face; ``by_echelon`` are
        the equalities that are left, in that form, after the other rows; ``units`` are those of the basis, or the
        basis itself, else those in which the entries are even.

        Raises
        ------
        ProblemError
            For a basis in which the matrices have more digits than floating point has.
        """
        numbers = on_numpy(family)
        says = combined(numbers, b, equal, trace_bound)
        cost, kept = as_numpy(C), says.kept
        exact = numbers if len(kept) in (0, len(b)) else numbers.at(kept)
        right, equal_here = b[kept], says.equal
        replaced = None if by_echelon is None else Replaced(equal_here, by_echelon)
        if replaced is not None:
            exact, right, equal_here = replaced.rows(exact, right)
        if units is not None and units.ndim == 2:
            changed = in_basis(cost, exact, units)
            if changed is None:
                msg = "units: in this basis the matrices have more digits than floating point has"
                raise ProblemError(msg)
            cost, exact = changed
            t, r = units, even_units(cost, exact, right, np.ones(len(cost)))[1] if len(right) else np.ones(0)
        else:
            t, r = even_units(cost, exact, right, units) if len(right) else (np.ones(len(cost)), np.ones(0))
        r = np.where(right * r / r == right, r, 1.0)  # a right side is not rounded
        scaled = not (np.all(t == 1) and np.all(r == 1))
        if scaled and len(right):
            scale = t if t.ndim == 1 else np.ones(len(t))
            exact, cost, right = in_units(exact, scale, r), cost * np.outer(scale, scale), right * r
        structured, exact = exact, as_dense(exact)
        before = Proof(cost, exact, right, equal_here)
        found = None
        if not says.contradiction and len(right):
            found = least_face(exact, right, equal_here, None if multipliers is None else multipliers / r)
        untouched = not scaled and by_echelon is None
        playing: LinearMap = structured if is_numpy(C) or not untouched else family
        if untouched and not is_numpy(C) and len(kept) not in (0, len(b)):
            playing = family.at(kept)
        here: Array = C if untouched else cost
        frame, frame_error, cost_error, on_face, face_echelon = _frame(t), 0.0, 0.0, None, None
        found = without_unused(found, cost, exact, len(right), None if trace_bound is None else frame)
        reduces = found is not None and not found.contradiction and found.V.shape[1] > 0
        if found is not None and reduces:
            V, rows = found.V, found.rows
            tight = equal_here if found.tight is None else equal_here | found.tight
            right, equal_here = right[rows], tight[rows]
            shape = exact_congruence(frame, V)
            frame, frame_error = (sym(V.T @ frame @ V), congruence_error(frame, V)) if shape is None else (shape, 0.0)
            known = exact_congruence(cost, V)
            here, cost_error = (sym(V.T @ cost @ V), congruence_error(cost, V)) if known is None else (known, 0.0)
            if len(rows):
                playing, exact = compressed(exact.at(rows), V)
                again = combined(exact, right, equal_here, None)
                if again.contradiction:
                    found = replace(found, contradiction=f"on the face, {again.contradiction}")
                elif len(again.kept) < len(rows):
                    playing, exact, right = playing.at(again.kept), exact.at(again.kept), right[again.kept]
                    on_face, equal_here = again, again.equal
                if np.any(equal_here) and not again.contradiction:
                    face_echelon = fewer(exact, right, equal_here)
                if face_echelon is not None:
                    exact, right, equal_here = face_echelon.rows(exact, right)
                    playing = exact
        if len(right) == 0:  # a program has a row, be it 0 . X <= 1
            exact = playing = DenseMap(np.zeros((1, *here.shape)))
            right, equal_here = np.ones(1), np.zeros(1, dtype=bool)
        limit = None if trace_bound is None else TraceLimit(trace_bound, frame, frame_error)
        whole, basis = (before, found.V) if found is not None and reduces else (None, None)
        proof = Proof(as_numpy(here), exact, right, equal_here, cost_error, whole, basis)
        program = OpenProgram(here, playing, right, equal_here, proof, limit, frame=frame)
        out = cls(C, equal, says, replaced, t, r, found, on_face, face_echelon, before, program)
        if replaced is None and face_echelon is None:
            return out
        return replace(out, program=replace(program, size_of=SizeOf(np.abs(b), out)))

    @property
    def contradiction(self) -> str:
        """Why no X is feasible, where the rows alone say so."""
        return self.combined.contradiction or ("" if self.face is None else self.face.contradiction)

    @property
    def farkas(self) -> np.ndarray:
        """Multipliers of all rows that say why no X is feasible, as far as multipliers can."""
        if self.combined.contradiction:
            return np.zeros(len(self.equal)) if self.combined.farkas is None else self.combined.farkas
        weights = np.zeros(len(self.r)) if self.face is None else self.face.weights
        return self.combined.lifted(self._before_echelon(weights * self.r), self.equal)

    @property
    def only_zero(self) -> bool:
        """Whether X = 0 is the only feasible matrix."""
        return self.face is not None and self.face.V.shape[1] == 0 and not self.face.contradiction

    @property
    def answer(self) -> str:
        """What the data alone say: that nothing is feasible, or nothing but X = 0; empty where neither is seen."""
        return self.contradiction or ("X = 0 is the only feasible matrix" if self.only_zero else "")

    @property
    def why(self) -> str:
        """What was done, for `Solution.explain`."""
        out = []
        dropped = len(self.equal) - len(self.combined.kept)
        if dropped:
            out.append(f"{dropped} rows are multiples of others, or say nothing")
        if not (np.all(self.t == 1) and np.all(self.r == 1)):
            out.append("rows and basis in even units, powers of two" if self.t.ndim == 1 else "another basis")
        if self.face is not None:
            n, r = self.face.V.shape
            out.append(f"rows <A_j, X> = 0 with a semidefinite A_j leave X {r} of {n} dimensions, proved exactly")
        return "; ".join(out)

    # -- points -----------------------------------------------------------------------------------

    def lowered_matrix(self, X: Array) -> Array:
        """W with X = T V W V^T T, or the nearest."""
        X = X.dense() if isinstance(X, FactoredMatrix) else X
        if self._plain:
            return X
        x = as_numpy(X)
        if self.t.ndim == 1:
            x = x / np.outer(self.t, self.t)
        else:
            x = sym(np.linalg.solve(self.t, np.linalg.solve(self.t, x).conj().T))
        if self.face is not None:
            W = self._inverse @ x @ self._inverse.conj().T
            x = (W + W.conj().T) / 2
        return from_numpy(x, self.program.C)

    def lifted_matrix(self, W: Array) -> Array:
        """T V W V^T T."""
        if self._plain:
            return W if is_numpy(self.C) else from_numpy(as_numpy(W), self.C)
        x = as_numpy(self.without_face(W))
        x = x * np.outer(self.t, self.t) if self.t.ndim == 1 else sym(self.t @ x @ self.t.T)
        return from_numpy(x, self.C)

    def without_face(self, W: Array) -> Array:
        """V W V^T: X in the basis T."""
        return W if self.face is None else sym(self.face.V @ as_numpy(W) @ self.face.V.T)

    @property
    def _plain(self) -> bool:
        return self.face is None and bool(np.all(self.t == 1))  # a basis of ones is not invertible

    @cached_property
    def _inverse(self) -> np.ndarray:
        """V^+; I without a face."""
        return np.eye(len(self.t)) if self.face is None else np.linalg.pinv(self.face.V)

    def lowered_vector(self, y: np.ndarray) -> np.ndarray:
        """The multipliers of the rows that are left, in their units."""
        y = self._after_echelon(self.combined.lowered(y)) / self.r
        y = y if self.face is None else y[self.face.rows]
        y = y if self.on_face is None else self.on_face.lowered(y)
        y = y if self.face_echelon is None else self.face_echelon.lowered(y)
        return y if len(y) else np.zeros(1)

    def lifted_vector(self, y: np.ndarray) -> np.ndarray:
        """The multipliers of all rows.

        On a face, with so large a multiple of the facial rows that A(y) - C is nearly >= 0 without the face, too.
        """
        m = len(self.r)
        if self.face is not None:
            out, rows = np.zeros(m), self.face.rows
            if len(y) < len(rows) and self.on_face is None and self.face_echelon is None:  # X = 0 is all there is
                y = np.zeros(len(rows))
            out[rows] = self._before_the_face_echelon(y)[: len(rows)]
            y = out + self._multiple_of_the_face(self.face, out) * self.face.weights
        return self.combined.lifted(self._before_echelon(y[:m] * self.r), self.equal)

    def _before_the_face_echelon(self, y: np.ndarray) -> np.ndarray:
        """The multipliers of `rows_left`."""
        y = y if self.face_echelon is None else self.face_echelon.lifted(y)
        if self.on_face is None:
            return y
        return self.on_face.lifted(y[: len(self.on_face.kept)], np.ones(len(self.rows_left), dtype=bool))

    @property
    def rows_left(self) -> np.ndarray:
        """The rows that say something on the face; all, where there is none."""
        return np.arange(len(self.r)) if self.face is None else self.face.rows

    def rows_on_face(self, y: np.ndarray) -> tuple[LinearMap, np.ndarray, np.ndarray, np.ndarray]:
        """(family, b, E, multipliers) of `rows_left` on the face."""
        before, rows = self.before, self.rows_left
        tight = self.face.tight if self.face is not None and self.face.tight is not None else before.equal & False
        family = before.family.at(rows)
        on_face = family if self.face is None else CompressedMap(family, self.face.V)
        y = self._before_the_face_echelon(y) if self.face is not None else y
        return on_face, before.b[rows], (before.equal | tight)[rows], y[: len(rows)]

    def _after_echelon(self, y: np.ndarray) -> np.ndarray:
        return y if self.echelon is None else self.echelon.lowered(y)

    def _before_echelon(self, y: np.ndarray) -> np.ndarray:
        return y if self.echelon is None else self.echelon.lifted(y)

    def _multiple_of_the_face(self, face: Face, y: np.ndarray) -> float:
        """K in lambda_max(F - K N) <= lambda_max(Q^T F Q) + ||Q_0^T F Q||^2 / (K nu - ||F||).

        F = C - A(y), Q of the face, N >= nu on its range Q_0: what is lost is a part in `SHARE` of the bound's size.
        """
        before = self.before
        if not np.any(face.weights):
            return 0.0
        mixed = self.echelon is not None or bool(np.any(face.weights[face.rows]))
        if mixed or (face.tight is not None and np.any(face.tight)):
            return 0.0  # its multipliers would be mixed with those of other rows, and rounding grows with K
        F, _ = before.slack(y)
        size = frobenius(F)
        w, U = np.linalg.eigh(before.family.apply(face.weights))
        off = w > 1e-10 * w[-1]
        across = frobenius(U[:, off].conj().T @ F @ U[:, ~off])
        room = SHARE * max(before.value(y)[1], size)
        return (size + across**2 / room) / float(np.min(w[off])) if room > 0 and np.any(off) else 0.0

    # -- the trace --------------------------------------------------------------------------------

    @cached_property
    def with_trace_row(self) -> Standard | None:
        """The same with Tr X <= R as the last row, or with the row that says Tr X >= R as an equality; None where there
        is no R, or its matrix is not known exactly.
        """
        program = self.program
        limit = program.limit
        if limit is None or limit.error > 0:
            return None
        row, n = limit.matrix, len(limit.matrix)
        unit = 2.0 ** -int(np.frexp(float(np.max(np.abs(row))))[1])
        sparse = isinstance(program.family, SparseMap)
        second = _sparse_row(row * unit, n) if sparse else DenseMap((row * unit)[None])
        proof = program.proof
        met = opposite(proof.family, proof.b, row, limit.R)
        if met is not None:
            equal = program.equal | (np.arange(len(program.b)) == met)
            limit, proof = replace(limit, row=(met, -1)), replace(proof, equal=equal)
            return replace(self, program=replace(program, equal=equal, proof=proof, limit=limit))
        b, equal = np.append(program.b, limit.R * unit), np.append(program.equal, False)
        exact = as_dense(StackedMap(proof.family, second))
        playing = exact if program.family is proof.family else _like(program.family, second, program.C)
        return replace(
            self,
            program=OpenProgram(
                program.C,
                playing,
                b,
                equal,
                replace(proof, family=exact, b=b, equal=equal),
                replace(limit, row=(len(program.b), 1)),
                frame=program.frame,
                size_of=program.size_of,
            ),
        )


def _frame(t: np.ndarray) -> np.ndarray:
    """T^T T: the trace of X is <T^T T, X'>."""
    if t.ndim == 1:
        return np.diag(t * t)
    exact = exact_congruence(np.eye(len(t)), t)
    if exact is None:
        msg = "units: in this basis the trace has more digits than floating point has"
        raise ProblemError(msg)
    return exact


def _sparse_row(row: np.ndarray, n: int) -> SparseMap:
    import scipy.sparse as sp

    return SparseMap(sp.csr_array(row.reshape(1, -1)), n)


def _like(family: LinearMap, second: LinearMap, like: Array) -> LinearMap:
    """Stacked, in the namespace of the first."""
    return StackedMap(family, second if is_numpy(like) else DenseMap(from_numpy(second.matrix(0)[None], like)))


@dataclass(frozen=True, eq=False)
class SizeOf:
    """sum_j |b_j y_j| of the rows before all steps, of the multipliers after them."""

    size: np.ndarray
    standard: Standard

    def __call__(self, y: np.ndarray) -> float:
        return float(self.size @ np.abs(self.standard.lifted_vector(y)))
