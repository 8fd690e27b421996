"""Rows that are exact multiples of each other, and what they say together.

Floating point numbers are fractions, so that "A_i = k A_j" is a question with an answer. Multiples are found by the
quotients of their entries, which are equal where the entries are proportional, and proved by products without rounding
(Dekker 1971). Of each class of multiples stay the tightest upper and the tightest lower bound; where these are the same
number, an equality; where they contradict each other, no X is feasible.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch

import numpy as np

from matrixlearn.linalg._hermitian import is_complex
from matrixlearn.maps import DenseMap, LinearMap, RankOneMap, ScaledMap, SparseMap
from matrixlearn.problems.linear.members import exact_matrix, two_product
from matrixlearn.problems.linear.whole import odd_part

NEARLY = 1e-9
"""How near to -1 the cosine of two rows must be for them to be opposite."""


def proportional(u: np.ndarray, v: np.ndarray, at: int) -> bool:
    """Whether u_k v_at = v_k u_at for all k, exactly, of real vectors whose entries span less than 2^400."""
    for x in (u, v):
        exponents = np.frexp(x[x != 0])[1]
        if int(exponents.max()) - int(exponents.min()) > 400:
            return False
    u, v = u * 2.0 ** -int(np.frexp(u[at])[1]), v * 2.0 ** -int(np.frexp(v[at])[1])
    with np.errstate(all="ignore"):
        left, right = two_product(u, v[at]), two_product(v, u[at])
        finite = np.isfinite(left[1]).all() and np.isfinite(right[1]).all()
        return bool(finite and np.array_equal(left[0], right[0]) and np.array_equal(left[1], right[1]))


@singledispatch
def row_data(family: LinearMap, j: int) -> tuple[bytes, np.ndarray] | None:
    """(where the entries are, the entries as a real vector) that determine A_j; None where no short form is known."""
    return None


def _real(values: np.ndarray) -> np.ndarray:
    return values.view(float) if is_complex(values) else values


@row_data.register
def _(family: SparseMap, j: int) -> tuple[bytes, np.ndarray] | None:
    part = slice(family.rows.indptr[j], family.rows.indptr[j + 1])
    order = np.argsort(family.rows.indices[part], kind="stable")
    return family.rows.indices[part][order].tobytes(), _real(family.rows.data[part][order])


@row_data.register
def _(family: DenseMap, j: int) -> tuple[bytes, np.ndarray] | None:
    return b"", _real(np.ascontiguousarray(family.A[j]).reshape(-1))


@row_data.register
def _(family: RankOneMap, j: int) -> tuple[bytes, np.ndarray] | None:
    return (b"", np.ascontiguousarray(family.P[j])) if not is_complex(family.P) else None


@row_data.register
def _(family: ScaledMap, j: int) -> tuple[bytes, np.ndarray] | None:
    known, sign = row_data(family.base, j), float(family.factors[j])
    if abs(np.frexp(sign)[0]) != 0.5:  # its products round
        return None
    if known is None or isinstance(family.base, RankOneMap):
        return known
    return known[0], sign * known[1]


@singledispatch
def alike(family: LinearMap) -> np.ndarray:
    """The j for which another row may be a multiple of A_j: all, where no quick test is known."""
    return np.arange(family.shape[0])


@alike.register
def _(family: SparseMap) -> np.ndarray:
    """Those whose entries are where the entries of another are, by a sum of mixed places."""
    start, mixed = family.rows.indptr, family.rows.indices.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    held = np.flatnonzero(np.diff(start))
    if len(held) == 0:
        return held
    sums = np.add.reduceat(mixed ^ (mixed >> np.uint64(29)), start[held])
    _, which, count = np.unique(sums, return_inverse=True, return_counts=True)
    return held[count[which] > 1]


@alike.register
def _(family: ScaledMap) -> np.ndarray:
    return alike(family.base)


def _factor(family: LinearMap, u: np.ndarray, v: np.ndarray, at: int, i: int, j: int) -> Fraction:
    """k with A_i = k A_j, for proportional data u of A_i and v of A_j."""
    k = Fraction(float(u[at])) / Fraction(float(v[at]))
    base = family.base if isinstance(family, ScaledMap) else family
    if isinstance(base, RankOneMap):
        signs = family.factors if isinstance(family, ScaledMap) else np.ones(family.shape[0])
        return k * k * Fraction(float(signs[i])) / Fraction(float(signs[j]))
    return k


@dataclass(frozen=True)
class Multiple:
    """A_i = factor A_of."""

    i: int
    of: int
    factor: Fraction


def multiples(family: LinearMap) -> list[list[Multiple]]:
    """The classes of proportional rows that have more than one member; the first member is the reference."""
    classes: dict[tuple[bytes, int], list[tuple[int, np.ndarray, int]]] = {}
    for j in map(int, alike(family)):
        known = row_data(family, j)
        if known is None:
            return []
        where, data = known
        nonzero = np.flatnonzero(data)
        if len(nonzero) == 0:
            continue
        at = int(nonzero[0])
        with np.errstate(all="ignore"):
            key = (where, hash((data / data[at] + 0.0).tobytes()))  # -0 is 0
        classes.setdefault(key, []).append((j, data, at))
    out = []
    for members in classes.values():
        if len(members) < 2:
            continue
        first, reference, at = members[0]
        found = [Multiple(first, first, Fraction(1))]
        found += [
            Multiple(i, first, _factor(family, data, reference, at, i, first))
            for i, data, _ in members[1:]
            if proportional(data, reference, at)
        ]
        if len(found) > 1:
            out.append(found)
    return out


def opposite(family: LinearMap, b: np.ndarray, A: np.ndarray, right: float) -> int | None:
    """A j with A_j = k A and b_j = k right, k < 0, exactly: both rows <= say that both are equalities."""
    likely = family.adjoint(A) <= -(1 - NEARLY) * family.sizes * np.linalg.norm(A)
    target = _real(np.ascontiguousarray(A).reshape(-1))
    at = int(np.flatnonzero(target)[0])
    for j in np.flatnonzero(likely & (family.sizes > 0)):
        known = exact_matrix(family, int(j))
        if known is None or is_complex(known) != is_complex(A):
            continue
        data = _real(np.ascontiguousarray(known).reshape(-1))
        k = Fraction(float(data[at])) / Fraction(float(target[at]))
        if proportional(data, target, at) and Fraction(float(b[j])) == k * Fraction(right):
            return int(j)
    return None


@dataclass(frozen=True)
class Combined:
    """The rows that are left of a program, and how its multipliers go over.

    Attributes
    ----------
    kept : ndarray of int
        The rows that stay.
    equal : ndarray of bool
        Which of them hold with equality.
    groups : list of list of Multiple
        The classes that had several members.
    contradiction : str
        Why no X is feasible; empty where the rows do not contradict each other.
    needs_trace_bound : bool
        Whether the contradiction is about X with Tr X <= R only.
    farkas : ndarray, shape (m,), optional
        Multipliers y that prove the contradiction: A(y) >= -e I and b.y < -e R, with e = 0 where no R is needed.
    """

    kept: np.ndarray
    equal: np.ndarray
    groups: list[list[Multiple]]
    contradiction: str = ""
    needs_trace_bound: bool = False
    farkas: np.ndarray | None = None

    def lowered(self, y: np.ndarray) -> np.ndarray:
        """Multipliers of the rows that are left: those of a class add up, where its sign allows."""
        out = y.copy()
        place = {int(j): k for k, j in enumerate(self.kept)}
        for group in self.groups:
            stay = [member for member in group if member.i in place]
            for member in group:
                if member.i in place or y[member.i] == 0:
                    continue
                total = member.factor * Fraction(float(y[member.i]))
                for other in stay:
                    share = float(total / other.factor)
                    if self.equal[place[other.i]] or share >= 0:
                        out[other.i] += share
                        break
        return out[self.kept]

    def lifted(self, y: np.ndarray, was_equal: np.ndarray) -> np.ndarray:
        """Multipliers of all rows; that of an equality made of two inequalities goes to the one of its sign."""
        out = np.zeros(len(was_equal))
        out[self.kept] = y
        for k, j in enumerate(self.kept):
            if self.equal[k] and not was_equal[j] and y[k] < 0:
                out[j] = 0.0
                self._give(int(j), Fraction(float(y[k])), out, was_equal)
        return out

    def _give(self, j: int, amount: Fraction, out: np.ndarray, was_equal: np.ndarray) -> None:
        for group in self.groups:
            mine = [member.factor for member in group if member.i == j]
            if not mine:
                continue
            for other in group:
                share = mine[0] * amount / other.factor
                if other.i != j and (was_equal[other.i] or share >= 0):
                    out[other.i] += float(share)
                    return


def combined(family: LinearMap, b: np.ndarray, equal: np.ndarray, trace_bound: float | None) -> Combined:
    """What the rows say together: see the head of this module."""
    m = len(b)
    keep, now_equal = np.ones(m, dtype=bool), equal.copy()
    empty = family.sizes == 0
    for j in np.flatnonzero(empty):
        if np.any(family.matrix(int(j))):  # entries below 1e-162, whose squares are 0
            continue
        if b[j] < 0 or (equal[j] and b[j] != 0):
            why = f"row {j} reads 0 . X {'=' if equal[j] else '<='} {b[j]:g}"
            return Combined(np.arange(m), equal, [], why, farkas=_multipliers(m, {int(j): -float(np.sign(b[j]))}))
        keep[j] = False
    groups = multiples(family)
    trace_row = _identity_row(family) if trace_bound is not None else None
    if trace_row is not None and not any(member.i == trace_row[0] for group in groups for member in group):
        groups.append([Multiple(trace_row[0], trace_row[0], Fraction(1))])
    for k, members in enumerate(groups):
        group = groups[k] = sorted(members, key=lambda member: _odd_part(member.factor))
        upper: tuple[Fraction, int] | None = None
        lower: tuple[Fraction, int] | None = None
        fixed: tuple[Fraction, int] | None = None
        for member in group:
            value = Fraction(float(b[member.i])) / member.factor
            if equal[member.i]:
                if fixed is not None and fixed[0] != value:
                    return _contradiction(b, equal, group, fixed[1], member.i)
                fixed = fixed or (value, member.i)
            elif member.factor > 0:
                upper = (value, member.i) if upper is None or value < upper[0] else upper
            else:
                lower = (value, member.i) if lower is None or value > lower[0] else lower
        if fixed is not None:
            for end, wrong in ((upper, -1), (lower, 1)):
                if end is not None and (end[0] - fixed[0]) * wrong > 0:
                    return _contradiction(b, equal, group, fixed[1], end[1])
        elif upper is not None and lower is not None and lower[0] > upper[0]:
            return _contradiction(b, equal, group, lower[1], upper[1])
        stay = {end[1] for end in (upper, lower) if end is not None}
        if fixed is None and upper is not None and lower is not None and upper[0] == lower[0]:
            fixed = upper
        if fixed is not None:  # the row of the fewest digits says it, whatever its sense; those as tight come next
            says = [Fraction(float(b[member.i])) / member.factor == fixed[0] for member in group]
            group = groups[k] = [group[i] for i in np.argsort(np.logical_not(says), kind="stable")]
            stay = {group[0].i}
            now_equal[group[0].i] = True
        if trace_row is not None and trace_bound is not None:
            mine = [member for member in group if member.i == trace_row[0]]
            if mine:  # <A_ref, X> = k Tr X, k the trace row's number over its factor
                unit = trace_row[1] / mine[0].factor
                least = fixed or (lower if unit > 0 else upper)
                if least is not None:
                    trace = least[0] / unit
                    if trace > Fraction(trace_bound):
                        asked = f"row {least[1]} asks for a trace of {float(trace):.6g}"
                        why = f"{asked}, above trace_bound = {trace_bound:g}"
                        factor = next(member.factor for member in group if member.i == least[1])
                        proof = _multipliers(m, {least[1]: -float(1 / (factor * unit))})
                        return Combined(np.arange(m), equal, groups, why, needs_trace_bound=True, farkas=proof)
        for member in group:
            keep[member.i] = member.i in stay
    kept = np.flatnonzero(keep)
    return Combined(kept, now_equal[kept], groups)


def _contradiction(b: np.ndarray, equal: np.ndarray, group: list[Multiple], i: int, j: int) -> Combined:
    """y_i f_i + y_j f_j = 0 and y.b < 0, of rows A_i = f_i A and A_j = f_j A with b_i / f_i != b_j / f_j."""
    factors = {member.i: member.factor for member in group}
    f, g = factors[i], factors[j]
    way = -1 if Fraction(float(b[i])) / f > Fraction(float(b[j])) / g else 1
    farkas = _multipliers(len(b), {i: float(way * abs(g) * _sign(f)), j: float(-way * abs(f) * _sign(g))})
    why = f"rows {i} and {j} are multiples of each other and cannot both hold"
    return Combined(np.arange(len(b)), equal, [group], why, farkas=farkas)


def _odd_part(value: Fraction) -> Fraction:
    """|value| without its powers of two: the smaller, the fewer digits has the row, and the more its multiplier may."""
    return Fraction(odd_part(value.numerator), odd_part(value.denominator))


def _sign(value: Fraction) -> int:
    return 1 if value > 0 else -1


def _multipliers(m: int, values: dict[int, float]) -> np.ndarray:
    y = np.zeros(m)
    y[list(values)] = list(values.values())
    return y


def _identity_row(family: LinearMap) -> tuple[int, Fraction] | None:
    """(j, k) of the first row with A_j = k I exactly."""
    n = family.shape[1]
    likely = np.abs(family.adjoint(np.eye(n))) >= (1 - 1e-12) * np.sqrt(n) * family.sizes
    for j in np.flatnonzero(likely & (family.sizes > 0)):
        A = exact_matrix(family, int(j))
        if A is not None and np.array_equal(A, A[0, 0] * np.eye(n)):
            return int(j), Fraction(float(np.real(A[0, 0])))
    return None
