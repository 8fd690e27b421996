"""Each class here is right but for one mistake that a plugin author might make; the kit must say which."""

import dataclasses
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_fetr import FETR
from matrixlearn_maxcut import MaxCut
from scipy.linalg import expm

from matrixlearn.exceptions import ContradictionError
from matrixlearn.maps import DenseMap
from matrixlearn.problem import Bound, FamilyGame, KnapsackSet, MulticonvexProblem, SpectralGame, Spectraplex
from matrixlearn.testing import checks
from matrixlearn.testing.strategies import override_examples

MISTAKES = []


def fails(check):
    """Enter a class whose mistake ``check`` must notice."""

    def decorate(cls):
        MISTAKES.append(pytest.param(cls, check, id=f"{cls.__name__}-{check.__name__}"))
        return cls

    return decorate


# -- the maps ---------------------------------------------------------------------------------------


@fails(checks.check_adjoint_identity)
class AdjointOfTheWrongSign(MaxCut):
    def adjoint(self, X):
        return -super().adjoint(X)


@fails(checks.check_adjoint_identity)
@fails(checks.check_forward_is_affine)
class ForwardOfTheWrongScale(MaxCut):
    def forward(self, y):
        return self.cost - 2 * np.diag(y)


@fails(checks.check_forward_is_affine)
class ForwardForgetsSigns(MaxCut):
    def forward(self, y):
        return self.cost - np.diag(np.abs(y))


class ComplexGame(FamilyGame):
    """min over the simplex of lambda_max(C - A(y)), complex."""

    def __init__(self, C, A):
        self.C, self.A = np.array(C), np.array(A)

    cost = property(lambda self: self.C)
    offset = cached_property(lambda self: np.zeros(len(self.A)))
    spectral_set = cached_property(lambda self: Spectraplex(len(self.C), 1.0))
    dual_set = cached_property(lambda self: KnapsackSet.simplex(len(self.A)))
    family = cached_property(lambda self: DenseMap(self.A))

    def parameters(self):
        return {"C": self.C, "A": self.A}

    @classmethod
    def random(cls, rng):
        n, m = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        G = rng.standard_normal((m + 1, n, n)) + 1j * rng.standard_normal((m + 1, n, n))
        H = (G + G.conj().swapaxes(1, 2)) / 2
        return cls(H[0], H[1:])


@fails(checks.check_adjoint_identity)
class AdjointWithoutConjugate(ComplexGame):
    def adjoint(self, X):
        return np.real(np.sum(np.asarray(self.family.A) * X, axis=(1, 2)))


@fails(checks.check_schur)
class SchurWithoutConjugate(ComplexGame):
    def schur(self, U, V):
        A = np.asarray(self.family.A)
        return np.real(np.einsum("iab,jab->ij", A, U @ A @ V))


@fails(checks.check_schur)
class SchurForgetsV(MaxCut):
    def schur(self, U, V):
        return U * U


@fails(checks.check_constraint_norms)
@fails(checks.check_oracles)
class NormsTooSmall(MaxCut):
    @property
    def constraint_norms(self):
        return 1e-3 * super().constraint_norms


@fails(checks.check_constraint_norms)
class CostNormTooSmall(MaxCut):
    @cached_property
    def cost_norm(self):
        return 0.9 * super().cost_norm


@fails(checks.check_shapes)
class OffsetOfIntegers(MaxCut):
    @cached_property
    def offset(self):
        return np.ones(len(self.weights), dtype=int)


@fails(checks.check_shapes)
class NoScale(MaxCut):
    @cached_property
    def scale(self):
        return 0.0


@fails(checks.check_shapes)
class CostNotSymmetric(MaxCut):
    @cached_property
    def cost(self):
        return np.triu(super().cost)


# -- the sets, the mirror map -----------------------------------------------------------------------


class LazyPolytope(KnapsackSet):
    def minimize(self, cost):
        y = self.center()
        return float(cost @ y), y


@fails(checks.check_linear_minimizer)
class MinimizerNotMinimal(MaxCut):
    @cached_property
    def dual_set(self):
        Y = super().dual_set
        return LazyPolytope(Y.lower, Y.upper, Y.weights, Y.row_lower, Y.row_upper)


class PolytopeInUnitsOfOne(KnapsackSet):
    def minimize(self, cost):
        return super().minimize(np.where(np.abs(cost) < 1e-7, 0.0, cost))


@fails(checks.check_value_is_equivariant)
class AbsoluteTolerance(MaxCut):
    @cached_property
    def dual_set(self):
        Y = super().dual_set
        return PolytopeInUnitsOfOne(Y.lower, Y.upper, Y.weights, Y.row_lower, Y.row_upper)


class UnclippedSpectraplex(Spectraplex):
    def project(self, X):
        return X * (self.trace / np.trace(X))


@fails(checks.check_sets)
class ProjectionOutsideTheSet(MaxCut):
    @cached_property
    def spectral_set(self):
        return UnclippedSpectraplex(len(self.weights), float(len(self.weights)))


@dataclass(frozen=True)
class NaiveExponent:
    on: Spectraplex
    sign: float = -1.0

    def __call__(self, G):
        with np.errstate(all="ignore"):
            P = expm(self.sign * G)
            return self.on.trace * P / np.trace(P)

    def zero(self, like):
        return 0 * like

    def accumulate(self, G, loss, step):
        return G + step * loss


@fails(checks.check_exponent)
class ExponentThatOverflows(MaxCut):
    def exponent(self):
        return NaiveExponent(self.spectral_set)


@fails(checks.check_exponent)
class ExponentOfTheWrongSign(MaxCut):
    def exponent(self):
        return NaiveExponent(self.spectral_set, +1.0)


# -- the bounds -------------------------------------------------------------------------------------


@fails(checks.check_bounds_are_their_definition)
class UpperBoundThatLiesALittle(MaxCut):
    def bound_from_vector(self, y):
        honest = super().bound_from_vector(y)
        return dataclasses.replace(honest, upper=honest.upper - 1e-9 * self.scale)


@fails(checks.check_bounds_are_their_definition)
class LowerBoundThatLiesALittle(Discrepancy):
    def bound_from_matrix(self, X):
        honest = super().bound_from_matrix(X)
        return dataclasses.replace(honest, lower=honest.lower + 1e-9 * self.scale)


@fails(checks.check_certificate_is_sound)
@fails(checks.check_agrees_with_cvxpy)
class LowerBoundThatLies(MaxCut):
    def bound_from_matrix(self, X):
        honest = super().bound_from_matrix(X)
        return Bound(point=honest.point, lower=honest.lower + self.scale)


@fails(checks.check_bounds_are_their_definition)
class NoAllowanceForRounding(Discrepancy):
    def rounding(self, y):
        return -1e-12 * self.scale


@fails(checks.check_agrees_with_cvxpy)
class MultipliersCutOff(MaxCut):
    @cached_property
    def dual_set(self):
        Y = super().dual_set
        return KnapsackSet(0.01 * Y.lower, 0.01 * Y.upper, Y.weights, Y.row_lower, Y.row_upper)


@fails(checks.check_data_are_its_own)
class BorrowedData(ComplexGame):
    def __init__(self, C, A):
        self.C, self.A = C, A


@fails(checks.check_repaired_points_are_feasible)
@fails(checks.check_bounds_are_their_definition)
class RepairThatLies(MaxCut):
    def repair(self, X):
        out = 2 * np.array(X)  # not positive semidefinite once its diagonal is overwritten
        np.fill_diagonal(out, 1.0)
        return out


@fails(checks.check_agrees_with_cvxpy)
class ReferenceOfAnotherProblem(MaxCut):
    def reference(self):
        return dataclasses.replace(MaxCut(self.weights), graph=2 * self.weights).reference()


@fails(checks.check_agrees_with_cvxpy)
class ValueTooGood(Discrepancy):
    def objective_at(self, X, y):
        return 0.99 * super().objective_at(X, y)


@fails(checks.check_certificate_verifies)
class BoundsFromMemory(MaxCut):
    """Remembers its best bounds instead of computing them."""

    def bound_from_vector(self, y):
        bound = super().bound_from_vector(y)
        best = min(self.__dict__.get("best", np.inf), bound.upper)
        self.__dict__["best"] = best
        return dataclasses.replace(bound, upper=best)


# -- the life of an answer --------------------------------------------------------------------------


@fails(checks.check_never_mutates)
class WritesToTheGraph(MaxCut):
    def __post_init__(self):
        super().__post_init__()
        if isinstance(self.graph, np.ndarray) and self.graph.flags.writeable:
            np.multiply(self.graph, 2.0, out=self.graph)


@fails(checks.check_never_mutates)
class WritesToItsCost(MaxCut):
    def forward(self, y):
        F = self.cost
        F[np.diag_indices(len(y))] -= y
        return F


@fails(checks.check_never_mutates)
class WritesToTheMatrix(MaxCut):
    def adjoint(self, X):
        if len(X) > 1:
            X[0, 1] = X[1, 0]
        return np.array(np.diagonal(X))


@fails(checks.check_random_is_a_function_of_the_seed)
class RandomWithoutItsSeed(MaxCut):
    @classmethod
    def random(cls, rng):
        return super().random(np.random.default_rng())


@fails(checks.check_rebuilds)
class ParametersForgetOne(Discrepancy):
    def parameters(self):
        return {**super().parameters(), "max_weight": None}


@fails(checks.check_hostile_input)
class AcceptsNaN(MaxCut):
    def __post_init__(self):
        if isinstance(self.graph, np.ndarray):
            object.__setattr__(self, "graph", np.nan_to_num(self.graph, posinf=1.0))
        super().__post_init__()


@fails(checks.check_hostile_input)
class DoesNotNameTheArgument(MaxCut):
    def __post_init__(self):
        try:
            super().__post_init__()
        except ValueError as error:
            msg = "bad input"
            raise ValueError(msg) from error


@fails(checks.check_frozen)
class Thawed(MaxCut):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


@fails(checks.check_deterministic)
class Dithers(Discrepancy):
    def forward(self, y):
        return super().forward(y) * (1 + 1e-15 * np.random.default_rng().integers(0, 9))


@fails(checks.check_save_and_load)
class WithoutName(MaxCut):
    name = ""


class Undocumented(MaxCut):
    pass


Undocumented.__doc__ = None
fails(checks.check_documented)(Undocumented)


@fails(checks.check_documented)
class HasNoFormula(MaxCut):
    """A cut.

    Parameters
    ----------
    graph : networkx.Graph
    """


@fails(checks.check_documented)
class HidesAParameter(MaxCut):
    """max (1/4) L . X subject to X_ii = 1.

    Parameters
    ----------
    weights : array
    """


@fails(checks.check_blocks_agree_with_cvxpy)
class ClaimsToBeStationary(FETR):
    """FETR at any point."""

    def bound_from_matrix(self, X):
        bound = super().bound_from_matrix(X)
        return replace(bound, lower=bound.upper)


@pytest.mark.parametrize(("cls", "check"), MISTAKES)
def test_the_kit_notices(cls, check):
    with override_examples(60), pytest.raises((AssertionError, ValueError, ContradictionError)) as caught:
        check(cls)
    assert "Unsatisfied" not in type(caught.value).__name__


def test_every_check_has_a_mistake_to_notice():
    noticed = {parameter.values[1].__name__ for parameter in MISTAKES}
    unproven = {check.__name__ for check in checks.CHECKS} - noticed
    # these two follow from others on every mistake that we could think of
    assert unproven <= {"check_warm_start", "check_every_method_is_sound"}


def test_the_mistakes_are_about_games_and_blocks():
    assert all(issubclass(parameter.values[0], SpectralGame | MulticonvexProblem) for parameter in MISTAKES)
