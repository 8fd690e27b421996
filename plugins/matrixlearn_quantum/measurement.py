"""Measurements in Pauli bases: every qubit in the eigenbasis of X, Y or Z, outcomes 0 (+1) and 1 (-1).

    p_sb = tr(E_sb rho) = 2^-q sum over A in the qubits of (-1)^|b & A| tr(P_sA rho)

P_sA has the letters of the setting s on A and I elsewhere: all outcomes of a setting are a Walsh-Hadamard transform
of 2^q of the 4^q Pauli expectations, and y -> sum y_sb E_sb goes the same way back. No E_sb is formed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.maps import LinearMap
from matrixlearn.maps.bounded import apply_error
from matrixlearn.validation import as_array
from matrixlearn_quantum.effects import EPS, EffectMeasurement
from matrixlearn_quantum.pauli import PauliString
from matrixlearn_quantum.transforms import (
    LETTERS,
    OUTCOMES,
    on_each_qubit,
    pauli_expectations,
    pauli_labels,
    pauli_sum,
)

if TYPE_CHECKING:
    import cvxpy

MOST_QUBITS = 12
"""Matrices of 4096 x 4096: more is a typing error or needs another method."""


def all_settings(q: int) -> list[str]:
    """The 3^q settings of q qubits, "XX...X" to "ZZ...Z": together informationally complete."""
    return ["".join(letters) for letters in product("XYZ", repeat=q)]


class PauliMeasurement(LinearMap):
    """y -> sum_sb y_sb E_sb for all outcomes b of all settings s, and its adjoint rho -> p_sb = tr(E_sb rho).

    Parameters
    ----------
    settings : sequence of str, length S
        One letter of X, Y, Z for each qubit: "XZ" measures X on the first qubit and Z on the second. Repetitions
        are allowed.

    Attributes
    ----------
    settings : array of str, shape (S,)
    q, d : int
        Qubits, and 2^q.
    """

    def __init__(self, settings: Sequence[str]) -> None:
        self.settings = _checked(settings)
        self.q = len(self.settings[0])
        self.d = 1 << self.q
        letters = np.array([[LETTERS.index(letter) for letter in setting] for setting in self.settings])
        bits = np.arange(self.d)[:, None] >> np.arange(self.q - 1, -1, -1) & 1
        self._strings = (bits * 4 ** np.arange(self.q - 1, -1, -1)) @ letters.T  # (d, S): where P_sA is
        self._terms = np.bincount(self._strings.reshape(-1), minlength=4**self.q)

    @property
    def shape(self) -> tuple[int, int]:
        """(m, d): the m = S 2^q outcomes, setting by setting, and the order of their projectors."""
        return len(self.settings) * self.d, self.d

    @property
    def outcomes(self) -> tuple[int, int]:
        """(S, 2^q): the shape of counts and probabilities."""
        return len(self.settings), self.d

    @cached_property
    def norms(self) -> np.ndarray:
        return np.ones(self.shape[0])  # projectors of rank one

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.ones(self.shape[0])

    @property
    def additions(self) -> float:
        """The mean length of the sums over settings in `apply`, for its rounding."""
        return float(np.max(np.mean(self._terms[self._strings], axis=0)))

    @property
    def probability_error(self) -> np.ndarray:
        """What rounding may add to a p_sb, (m,): sums of at most 16 terms, q / 2 of them, of terms up to 1."""
        return np.full(self.shape[0], 32 * self.q * EPS)

    @property
    def ends(self) -> tuple[str, str]:
        """The names of the first and the last state of the basis."""
        return f"|{'0' * self.q}>", f"|{'1' * self.q}>"

    def rows(self, counts: Any) -> Any:
        """Counts, a row for each setting, of dictionaries by outcome."""
        if isinstance(counts, list | tuple) and any(isinstance(each, Mapping) for each in counts):
            return [_row_of(each, self.q) for each in counts]
        return counts

    def probabilities(self, rho: np.ndarray) -> np.ndarray:
        """tr(E_sb rho), shape (S, 2^q): outcome b in binary, the first qubit first, 1 for the eigenvalue -1.

        Parameters
        ----------
        rho : array, shape (d, d)
            Hermitian.
        """
        if np.shape(rho) != (self.d, self.d):
            msg = f"rho must be a {self.d} x {self.d} matrix for {self.q} qubits, got {np.shape(rho)}"
            raise ProblemError(msg)
        expectations = pauli_expectations(rho)[self._strings]
        return on_each_qubit(OUTCOMES, expectations, self.q).reshape(self.outcomes)

    def adjoint(self, X: np.ndarray) -> np.ndarray:
        """`probabilities`, one after the other, (m,)."""
        return self.probabilities(X).reshape(-1)

    def apply(self, y: np.ndarray) -> np.ndarray:
        """sum_sb y_sb E_sb, shape (d, d).

        Parameters
        ----------
        y : array, shape (m,) or (S, 2^q)
        """
        y = np.asarray(y, dtype=float)
        if y.size != self.shape[0]:
            msg = f"y must have shape {self.outcomes}, got {y.shape}"
            raise ProblemError(msg)
        columns = np.ascontiguousarray(y.reshape(self.outcomes).T)
        by_subset = np.ascontiguousarray(on_each_qubit(OUTCOMES, columns, self.q).reshape(self.outcomes).T)
        coefficients = np.bincount(self._strings.reshape(-1), by_subset.reshape(-1), minlength=4**self.q)
        return pauli_sum(coefficients)

    # -- the two maps as sparse matrices, for other solvers ---------------------------------------

    def expectation_entries(self) -> tuple[np.ndarray, ...]:
        """(string, i, j, value) with tr(P rho) = sum of value rho_ij, O(d^3) entries of d^4."""
        parts = [PauliString(label).entries for label in pauli_labels(self.q)]
        string = np.repeat(np.arange(len(parts)), self.d)
        rows, columns, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        return string, columns, rows, values  # tr(P rho) = sum_ij P_ji rho_ij

    def modelled(self, X: cvxpy.Variable, seen: np.ndarray) -> tuple[cvxpy.Expression, list[Any]]:
        """The p_sb that were seen in terms of X = rho, in cvxpy's, through the Pauli expectations e, and tr rho = 1."""
        import cvxpy as cp
        import scipy.sparse as sp

        d, e = self.d, cp.Variable(self.d**2)
        string, row, column, value = self.expectation_entries()
        to_expectations = sp.csr_array((value, (string, row * d + column)), shape=(d * d, d * d))
        outcome, string, value = self.outcome_entries()
        to_outcomes = sp.csr_array((value, (outcome, string)), shape=(self.shape[0], d * d))[seen]
        measured = cp.real(to_expectations @ cp.reshape(X, (d * d,), order="C"))
        return to_outcomes @ e, [e == measured, e[0] == 1]

    def outcome_entries(self) -> tuple[np.ndarray, ...]:
        """(outcome, string, value) with p = sum of value tr(P rho) over the strings, O(S d^2) entries."""
        signs = on_each_qubit(OUTCOMES, np.eye(self.d), self.q).reshape(self.d, self.d)  # (A, b)
        outcome = np.arange(len(self.settings) * self.d).reshape(-1, 1, self.d)
        entries = np.broadcast_arrays(outcome, self._strings.T[:, :, None], signs[None])
        return tuple(entry.reshape(-1) for entry in entries)


@apply_error.register
def _(family: PauliMeasurement, y: np.ndarray) -> float:
    """Each y_sb E_sb is added up ``additions`` times, and transformed."""
    return 4 * EPS * (family.additions + family.q) * float(np.abs(y).sum())


def measurement_of(settings: Any) -> PauliMeasurement | EffectMeasurement:
    """That of Pauli settings, which are strings, or of POVMs, projectors and vectors, which are arrays."""
    listed = isinstance(settings, Sequence | np.ndarray) and not isinstance(settings, str) and len(settings) > 0
    if not listed or any(isinstance(each, str) or np.ndim(each) == 0 for each in settings):
        return PauliMeasurement(settings)
    return EffectMeasurement.of(settings)


def string_means(settings: Sequence[str], counts: Any) -> Iterator[tuple[PauliString, float]]:
    """(P_sA, sum_b (-1)^|b & A| n_sb / sum_b n_sb), the mean of every string that a setting shows, setting by setting.

    What `matrixlearn_meg.MEGLearner` learns from: 2^q - 1 strings of the same shots a setting, none of a setting
    without shots.

    Parameters
    ----------
    settings : sequence of str, length S
        As for `PauliMeasurement`.
    counts : array, shape (S, 2^q)
        As for `StateTomography`.

    Examples
    --------
    >>> [(string.label, mean) for string, mean in string_means(["XZ"], [[6, 0, 1, 1]])]
    [('IZ', 0.75), ('XI', 0.5), ('XZ', 0.75)]
    """
    measurement = PauliMeasurement(settings)
    counts = as_counts(counts, measurement)
    q, d = measurement.q, measurement.d
    sums = on_each_qubit(2 * OUTCOMES, np.ascontiguousarray(counts.T, dtype=float), q).reshape(measurement.outcomes)
    for setting, by_subset in zip(measurement.settings, sums, strict=True):
        if by_subset[0] == 0:
            continue
        for A in range(1, d):
            letters = (letter if A >> (q - 1 - i) & 1 else "I" for i, letter in enumerate(str(setting)))
            yield PauliString("".join(letters)), float(by_subset[A] / by_subset[0])


def as_counts(counts: Any, measurement: PauliMeasurement | EffectMeasurement) -> np.ndarray:
    """Counts of the outcomes of a measurement, checked.

    Raises
    ------
    ProblemError
        For another shape, complex or negative numbers, NaN, outcomes that came though no state gives them.
    """
    counts = np.asarray(as_array("counts", measurement.rows(counts)))
    if np.iscomplexobj(counts) or counts.shape != measurement.outcomes:
        msg = (
            f"counts must be real, one row for each of the {measurement.outcomes[0]} settings and one column for "
            f"each of the {measurement.outcomes[1]} outcomes, got shape {counts.shape}"
        )
        raise ProblemError(msg)
    if np.any(counts < 0):
        msg = f"counts must not be negative, got {counts.min():g}"
        raise ProblemError(msg)
    never = (measurement.sizes == 0).reshape(counts.shape) & (counts > 0)
    if np.any(never):
        s, b = np.argwhere(never)[0]
        msg = f"counts[{s}][{b}] is {counts[s, b]:g}, but the effect of that outcome is 0: it cannot have come"
        raise ProblemError(msg)
    return counts


def _row_of(counts: Any, q: int) -> np.ndarray:
    """The row of a dictionary {outcome in bits: count}; outcomes that are not there came never."""
    row = np.zeros(1 << q)
    for outcome, count in counts.items() if isinstance(counts, Mapping) else [(counts, 0)]:
        if not (isinstance(outcome, str) and len(outcome) == q and set(outcome) <= {"0", "1"}):
            msg = f"counts must be dictionaries with outcomes of {q} bits such as {'0' * q!r}, got {outcome!r}"
            raise ProblemError(msg)
        row[int(outcome, 2)] = count
    return row


def _checked(settings: Any) -> np.ndarray:
    """The settings as an array of strings of one length."""
    if isinstance(settings, str):
        settings = [settings]
    labels = [
        str(label) if isinstance(label, str) else label for label in np.asarray(settings, dtype=object).reshape(-1)
    ]
    if not labels:
        msg = "settings is empty: name at least one, such as 'XZ' for two qubits"
        raise ProblemError(msg)
    for s, label in enumerate(labels):
        if not isinstance(label, str) or not label or set(label) - set("XYZ"):
            msg = f"settings must be strings of the letters X, Y, Z, one a qubit, got settings[{s}] = {label!r}"
            raise ProblemError(msg)
        if len(label) != len(labels[0]):
            msg = (
                f"settings must name the same number of qubits, got {len(labels[0])} in settings[0] = {labels[0]!r} "
                f"and {len(label)} in settings[{s}] = {label!r}"
            )
            raise ProblemError(msg)
    if len(labels[0]) > MOST_QUBITS:
        msg = f"settings name {len(labels[0])} qubits; density matrices of more than {MOST_QUBITS} do not fit"
        raise ProblemError(msg)
    return np.array(labels, dtype=f"<U{len(labels[0])}")
