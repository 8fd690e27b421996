"""Pauli strings that are never matrices: one entry a row.

    P = i^|x & z| X^x Z^z,        P |j> = i^|x & z| (-1)^|z & j| |j XOR x>

x and z are bit masks: a letter X sets a bit of x, Z one of z, Y both; the first letter is the first qubit, the
highest bit. The inner product <W, P> = Re tr(W^H P), a sum W + s P and a product P v cost O(d), O(d) and O(d).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.validation import as_number
from matrixlearn_quantum.transforms import LETTERS


@dataclass(frozen=True)
class PauliString:
    """weight * P for a tensor product P of the matrices I, X, Y and Z.

    Has all that an instance of online learning with `matrixlearn_meg.MEGLearner` has (``inner``, ``add_to``,
    ``spread``, ``factors``); ``np.asarray`` makes the dense matrix.

    Parameters
    ----------
    label : str
        One letter of I, X, Y, Z for each qubit, the first qubit first, as in np.kron.
    weight : float

    Examples
    --------
    >>> import numpy as np
    >>> from matrixlearn_quantum import PauliString, ghz_state
    >>> [round(PauliString(label).inner(ghz_state(3)), 12) for label in ("XXX", "XYY", "ZZI", "ZII")]
    [1.0, -1.0, 1.0, 0.0]
    """

    label: str
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.label, str) or not self.label or set(self.label) - set(LETTERS):
            msg = f"label must be a string of the letters {', '.join(LETTERS)}, one a qubit, got {self.label!r}"
            raise ProblemError(msg)
        if not np.isfinite(as_number("weight", self.weight)):
            msg = f"weight must be finite, got {self.weight!r}"
            raise ProblemError(msg)

    @property
    def d(self) -> int:
        """Side length 2^q."""
        return 1 << len(self.label)

    @cached_property
    def x(self) -> int:
        """The mask of the qubits that are flipped: X and Y."""
        return int("".join("1" if letter in "XY" else "0" for letter in self.label), 2)

    @cached_property
    def z(self) -> int:
        """The mask of the qubits that change the sign: Z and Y."""
        return int("".join("1" if letter in "ZY" else "0" for letter in self.label), 2)

    @property
    def is_complex(self) -> bool:
        """Whether it has imaginary parts: for an odd number of Y."""
        return (self.x & self.z).bit_count() % 2 == 1

    @cached_property
    def entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(rows, columns, values), one entry a column."""
        columns = np.arange(self.d)
        signs = 1.0 - 2.0 * (np.bitwise_count(columns & self.z) & 1)
        phase = (1, 1j, -1, -1j)[(self.x & self.z).bit_count() % 4]
        return columns ^ self.x, columns, self.weight * phase * signs

    def __matmul__(self, v: np.ndarray) -> np.ndarray:
        """P v for a vector, or for the columns of a matrix."""
        rows, columns, values = self.entries
        v = np.asarray(v)
        # P_{r, c} = P_{r, r XOR x}: read in the order of the rows, which is its own inverse
        return (values[rows] if v.ndim == 1 else values[rows][:, None]) * v[rows]

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        rows, columns, values = self.entries
        P = np.zeros((self.d, self.d), dtype=dtype or values.dtype)
        P[rows, columns] = values
        return P

    # -- an instance of online learning -----------------------------------------------------------

    def inner(self, W: np.ndarray) -> float:
        """<W, P> = Re tr(W^H P), O(d)."""
        rows, columns, values = self.entries
        return float(np.real(np.vdot(values, W[rows, columns])))

    def add_to(self, G: np.ndarray, step: float) -> None:
        """G <- G + step P, in place, O(d)."""
        rows, columns, values = self.entries
        G[rows, columns] += step * values  # no entry is listed twice

    @property
    def spread(self) -> float:
        """lambda_max - lambda_min: 2 |weight|, and 0 for the identity."""
        return 2 * abs(self.weight) if self.x | self.z else 0.0

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """(U, s) with P = U diag(s) U^H: the pairs (e_j +- P_kj e_k) / sqrt(2), k = j XOR x."""
        _, columns, values = self.entries
        if self.x == 0:
            return np.eye(self.d), values.real
        first = columns[columns < columns ^ self.x]
        half, pairs = np.sqrt(0.5), np.arange(len(first))
        U = np.zeros((self.d, self.d), dtype=values.dtype)
        for k, sign in enumerate((1, -1)):
            U[first, pairs + k * len(first)] = half
            U[first ^ self.x, pairs + k * len(first)] = sign * half * values[first] / (self.weight or 1.0)
        return U, self.weight * np.repeat([1.0, -1.0], len(first))
