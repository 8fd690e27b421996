"""Maximum likelihood of a quantum state from counts in Pauli bases, or of any POVMs, certified.

    min over rho >= 0, tr rho = 1 of    f(rho) = -sum_k f_k log p_k,      p_k = tr(E_k rho),  f_k = n_k / N

Terms with n_k = 0 are 0; the rest needs p_k > 0. With R = sum_k (f_k / p_k) E_k, the gradient is -R, and <R, rho> = 1.
From log t <= t - 1, any y >= 0 proves a lower bound, by the mean of f_k log(y_k p_k / f_k) against <A*(y), rho>,

    f* >= D(y) = sum_k f_k log(y_k / f_k) - log lambda_max(A*(y)),         A*(y) = sum_k y_k E_k,

and at y_k = f_k / p_k this is f(rho) - f* <= log lambda_max(R). Plain convexity proves less, f(rho) - f* <=
lambda_max(R) - 1, always: log t <= t - 1 again. R = I on the range of rho at an optimum, hence p_k >= f_k there.

References
----------
Hradil (1997), Phys. Rev. A 55, R1561, the operator R; Rehacek, Hradil, Knill and Lvovsky (2007), R rho R; Cover
(1984), the bound log lambda_max(R), for diagonal states; Li and Cevher (2019), the exponentiated gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixlearn.exceptions import ProblemError
from matrixlearn.exponents import DenseExponent
from matrixlearn.linalg import sym
from matrixlearn.maps.bounded import apply_error
from matrixlearn.present import presented_by
from matrixlearn.problems import Bound, Play, Problem
from matrixlearn.sets import KnapsackSet, Spectraplex
from matrixlearn_quantum.armijo import ArmijoStep
from matrixlearn_quantum.effects import EffectMeasurement
from matrixlearn_quantum.measurement import PauliMeasurement, all_settings, as_counts, measurement_of
from matrixlearn_quantum.states import as_density, random_state, sample_counts

if TYPE_CHECKING:
    import cvxpy

EPS = float(np.finfo(np.float64).eps)


@presented_by("matrixlearn_quantum.present:StatePresenter")
@dataclass(frozen=True, eq=False)
class StateTomography(Problem):
    """min over density matrices rho of -(1/N) sum_k n_k log tr(E_k rho), k all outcomes of all settings.

    Parameters
    ----------
    settings : sequence of str, length S; or of arrays, shapes (K_s, d, d), (d, d) or (d,)
        One letter of X, Y, Z for each qubit: "XZ" measures X on the first qubit and Z on the second. Or any POVMs,
        whose effects E_k >= 0 add up to I; a single projector E, or a vector psi, is measured against the rest, I - E.
    counts : array, shape (S, 2^q), or list of S dictionaries; list of S rows of K_s numbers
        How often each outcome came, >= 0: column b in binary, the first qubit first, bit 1 for the eigenvalue -1.
        Zeros are data like others; weights need not be whole. Or for each setting {outcome: count}, the outcome in
        bits such as "01", the first qubit first (Qiskit writes the last one first: reverse its keys). Of a POVM, one
        number an effect; of a single projector, how often it came and how often it did not.
    target : array, shape (d, d) or (d,), optional
        A state that was meant: `Solution.summary` tells the fidelity with it, nothing else depends on it.

    Notes
    -----
    ``matrix`` of a solution is rho, ``y`` the multipliers f_k / p_k, scaled to sum_k y_k E_k <= I. Engines:
    ``factored`` (rho = A A^H, what ``auto`` takes) and ``exponentiated-gradient`` (Li and Cevher). Settings that do
    not determine the state leave it open: one of the optima is returned, and the certificate holds all the same.
    """

    settings: Any
    counts: Any
    target: Any = None

    name = "tomography"
    objective = "minimize"
    engines = ("factored", "exponentiated-gradient")
    routines = ("DenseExponent", "ArmijoStep")

    def __post_init__(self) -> None:
        measurement = measurement_of(self.settings)
        counts = as_counts(self.counts, measurement)
        if not np.any(counts):
            msg = "counts are all zero: there is nothing to estimate a state from"
            raise ProblemError(msg)
        object.__setattr__(self, "settings", measurement.settings)
        object.__setattr__(self, "counts", counts)
        if self.target is not None:
            object.__setattr__(self, "target", as_density("target", self.target, measurement.d))

    # -- what engines use -------------------------------------------------------------------------

    @cached_property
    def measurement(self) -> PauliMeasurement | EffectMeasurement:
        """The linear map rho -> p and its adjoint."""
        return measurement_of(self.settings)

    @property
    def d(self) -> int:
        """Side length of rho, 2^q of q qubits."""
        return self.measurement.d

    @cached_property
    def seen(self) -> np.ndarray:
        """The outcomes with n_k > 0, as indices into the flattened counts."""
        return np.flatnonzero(self.counts)

    @cached_property
    def frequencies(self) -> np.ndarray:
        """f_k = n_k / N of the outcomes that were seen."""
        n = self.counts.reshape(-1)[self.seen]
        n = n / n.max()  # N may be more than a double holds
        return n / n.sum()

    def probabilities(self, rho: Any) -> np.ndarray:
        """p_k of the outcomes that were seen."""
        return self.measurement.probabilities(np.asarray(rho)).reshape(-1)[self.seen]

    def operator(self, y: np.ndarray) -> np.ndarray:
        """A*(y) for y_k of the outcomes that were seen, and 0 for the others."""
        whole = np.zeros(self.counts.size)
        whole[self.seen] = y
        return self.measurement.apply(whole)

    def multipliers_at(self, p: np.ndarray) -> np.ndarray:
        """f_k / p_k over all outcomes, 0 where none was seen."""
        y = np.zeros(self.counts.size)
        y[self.seen] = self.frequencies / p
        return y

    def value_at(self, p: np.ndarray) -> float:
        """-sum_k f_k log p_k, infinite where an outcome that was seen has no probability."""
        return -float(self.frequencies @ np.log(p)) if np.all(p > 0) else np.inf

    @cached_property
    def cost(self) -> np.ndarray:
        """Zeros of the shape and the dtype of rho."""
        return np.zeros((self.d, self.d), dtype=np.complex128)

    @property
    def like(self) -> np.ndarray:
        return self.cost

    @property
    def spectral_set(self) -> Spectraplex:
        """{rho >= 0, tr rho = 1}."""
        return Spectraplex(self.d, 1.0)

    @cached_property
    def dual_set(self) -> KnapsackSet:
        """0 <= y_k <= 1 / ||E_k||_2: A*(y) <= I implies it."""
        norms = self.measurement.norms
        return KnapsackSet.box(np.zeros(norms.size), 1 / np.where(norms > 0, norms, 1.0))

    def play(self) -> Play:
        """The von Neumann mirror map; gradient steps with Armijo's rule."""
        return Play(DenseExponent(self.spectral_set), ArmijoStep(self))

    def first_points(self) -> list[tuple[Any, np.ndarray | None]]:
        """I / d, and the bound of the settings taken one by one: y_sb = f_s, which gives the entropy of the counts."""
        shots = np.zeros(self.counts.size)
        shots[self.seen] = self.frequencies
        of_setting = np.broadcast_to(shots.reshape(self.counts.shape).sum(axis=1)[:, None], self.counts.shape)
        y = np.where(shots > 0, of_setting.reshape(-1), 0.0)
        return [(self.spectral_set.center(self.cost), y)]

    # -- bounds -----------------------------------------------------------------------------------

    @cached_property
    def scale(self) -> float:
        """log d, the value of I / d for outcomes of rank one: q log 2, the same for all counts in Pauli bases."""
        return float(np.log(self.d))

    def bound_from_matrix(self, X: Any) -> Bound:
        rho = self.spectral_set.project(np.asarray(X))
        p = self.probabilities(rho)
        error = self.measurement.probability_error[self.seen]
        if np.any(p <= 2 * error):
            return Bound(point=rho)  # orthogonal to what was seen, as far as rounding can tell
        value = self.value_at(p - error)
        slack = len(p) * EPS * value + 4 * self.d * EPS  # of the sum, and of the trace
        return Bound(point=rho, lower=self._dual_value(self.multipliers_at(p))[0], upper=value + slack)

    def bound_from_vector(self, y: np.ndarray) -> Bound:
        y = np.maximum(y, 0.0)
        lower, largest = self._dual_value(y)
        return Bound(point=y / largest if largest > 0 else y, lower=lower)

    def _dual_value(self, y: np.ndarray) -> tuple[float, float]:
        """D(y) less an allowance for rounding, and lambda_max(A*(y))."""
        f, m = self.frequencies, self.measurement
        largest = float(np.linalg.eigvalsh(m.apply(y))[-1])
        if not np.all(y[self.seen] > 0):
            return -np.inf, largest
        error = apply_error(m, y) + 4 * EPS * self.d * largest  # of A*(y), and of one decomposition
        terms = np.log(y[self.seen] / f)
        slack = len(f) * EPS * float(f @ np.abs(terms)) + 4 * EPS * abs(np.log(largest))
        return float(f @ terms - np.log(largest + error) - slack), largest

    def objective_at(self, X: Any, y: np.ndarray | None) -> float:
        return float("nan") if X is None else self.value_at(self.probabilities(X))

    def reference(self) -> cvxpy.Problem:
        """The same in cvxpy."""
        import cvxpy as cp

        X = cp.Variable((self.d, self.d), hermitian=True, name="X")
        p, constraints = self.measurement.modelled(X, self.seen)
        return cp.Problem(cp.Minimize(-cp.sum(cp.multiply(self.frequencies, cp.log(p)))), [X >> 0, *constraints])

    def read_reference(self, program: cvxpy.Problem) -> tuple[Any, None]:
        """rho from cvxpy's answer."""
        return next(v.value for v in program.variables() if v.name() == "X"), None

    @classmethod
    def random(cls, rng: np.random.Generator) -> StateTomography:
        """One or two qubits, states of every rank, few shots and many, all settings or some."""
        q = int(rng.integers(1, 3))
        state = random_state(q, int(rng.integers(1, 2**q + 1)), rng)
        settings = all_settings(q)
        if rng.random() < 0.4:
            settings = [settings[s] for s in rng.integers(0, len(settings), int(rng.integers(1, len(settings) + 1)))]
        counts = sample_counts(state, settings, int(10 ** rng.uniform(0.5, 4)), rng)
        if rng.random() < 0.2:
            counts = counts * (rng.random(len(counts)) < 0.7)[:, None]  # settings that were never measured
        if not np.any(counts):
            counts = counts + 1
        return cls(settings, counts, sym(state) if rng.random() < 0.3 else None)
