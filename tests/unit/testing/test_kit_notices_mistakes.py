"""Each class here is right but for one mistake that a plugin author might make; the kit must say which."""

import dataclasses
import re
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest
from matrixlearn_definiteboost import DefiniteBoost, MinMaxSDP
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_fetr import FETR
from matrixlearn_fetr.rounds import OtherBlocks
from matrixlearn_maxcut import MaxCut
from scipy.linalg import expm

from matrixlearn.exceptions import ContradictionError
from matrixlearn.exponents import ClippedLogDet, DenseExponent, entropy_on
from matrixlearn.maps import DenseMap, LinearMap
from matrixlearn.oracles import Move, VertexOracle
from matrixlearn.present import Presenter, presented_by
from matrixlearn.problems import Bound, Game, GameProblem, MulticonvexProblem
from matrixlearn.sets import KnapsackSet, Spectraplex
from matrixlearn.testing import checks, run_checks
from matrixlearn.testing.strategies import override_examples

MISTAKES = []


def fails(check):
    """Enter a class whose mistake ``check`` must notice."""

    def decorate(cls):
        MISTAKES.append(pytest.param(cls, check, id=f"{cls.__name__}-{check.__name__}"))
        return cls

    return decorate


# -- the maps ---------------------------------------------------------------------------------------


def mistaken(cls, kind=Game, **wrong):
    """The game of a class, some of its parts made wrong by a function of the right one."""

    def game(self):
        right = cls.game.func(self)
        parts = {"C": right.C, "A": right.A, "c": right.c, "S": right.S, "Y": right.Y}
        parts |= {"size": right.scale, "cost_norm": right.cost_norm, "repair": right.repaired}
        return kind(**{name: wrong[name](part) if name in wrong else part for name, part in parts.items()})

    return cached_property(game)


class Around(LinearMap):
    """A map that is as right as another."""

    def __init__(self, base):
        self.base = base

    shape = property(lambda self: self.base.shape)
    norms = property(lambda self: self.base.norms)

    def apply(self, y):
        return self.base.apply(y)

    def adjoint(self, X):
        return self.base.adjoint(X)

    def matrix(self, j):
        return self.base.matrix(j)


class WrongSign(Around):
    def adjoint(self, X):
        return -super().adjoint(X)


@fails(checks.check_adjoint_identity)
class AdjointOfTheWrongSign(MaxCut):
    game = mistaken(MaxCut, A=WrongSign)


class WrongScale(Around):
    def apply(self, y):
        return 2 * super().apply(y)


@fails(checks.check_adjoint_identity)
@fails(checks.check_image_is_affine)
class ImageOfTheWrongScale(MaxCut):
    game = mistaken(MaxCut, A=WrongScale)


class NoSigns(Around):
    def apply(self, y):
        return super().apply(np.abs(y))


@fails(checks.check_image_is_affine)
class ImageForgetsSigns(MaxCut):
    game = mistaken(MaxCut, A=NoSigns)


class ComplexGame(GameProblem):
    """min over the simplex of lambda_max(C - A(y)), complex."""

    def __init__(self, C, A):
        self.C, self.A = np.array(C), np.array(A)

    @cached_property
    def game(self):
        m, n = self.A.shape[:2]
        return Game(self.C, DenseMap(self.A), np.zeros(m), Spectraplex(n, 1.0), KnapsackSet.simplex(m))

    def parameters(self):
        return {"C": self.C, "A": self.A}

    @classmethod
    def random(cls, rng):
        n, m = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        G = rng.standard_normal((m + 1, n, n)) + 1j * rng.standard_normal((m + 1, n, n))
        H = (G + G.conj().swapaxes(1, 2)) / 2
        return cls(H[0], H[1:])


class NoConjugate(Around):
    def adjoint(self, X):
        return np.real(np.sum(self.base.A * X, axis=(1, 2)))


@fails(checks.check_adjoint_identity)
class AdjointWithoutConjugate(ComplexGame):
    game = mistaken(ComplexGame, A=NoConjugate)


class NoConjugateInSchur(Around):
    def schur(self, U, V):
        A = self.base.A
        return np.real(np.einsum("iab,jab->ij", A, U @ A @ V))


@fails(checks.check_schur)
class SchurWithoutConjugate(ComplexGame):
    game = mistaken(ComplexGame, A=NoConjugateInSchur)


class NoV(Around):
    def schur(self, U, V):
        return U * U


@fails(checks.check_schur)
class SchurForgetsV(MaxCut):
    game = mistaken(MaxCut, A=NoV)


class Small(Around):
    norms = property(lambda self: 1e-3 * self.base.norms)


@fails(checks.check_norms)
@fails(checks.check_oracles)
class NormsTooSmall(MaxCut):
    game = mistaken(MaxCut, A=Small)


@fails(checks.check_norms)
class CostNormTooSmall(MaxCut):
    game = mistaken(MaxCut, cost_norm=lambda norm: 0.9 * norm)


@fails(checks.check_shapes)
class CostsOfIntegers(MaxCut):
    game = mistaken(MaxCut, c=lambda c: c.astype(int))


@fails(checks.check_shapes)
class NoScale(MaxCut):
    game = mistaken(MaxCut, size=lambda size: 0.0)


@fails(checks.check_shapes)
class CostNotSymmetric(MaxCut):
    game = mistaken(MaxCut, C=np.triu)


# -- the sets, the mirror map -----------------------------------------------------------------------


class LazyPolytope(KnapsackSet):
    def minimize(self, cost):
        y = self.center()
        return float(cost @ y), y


@fails(checks.check_linear_minimizer)
class MinimizerNotMinimal(MaxCut):
    game = mistaken(MaxCut, Y=lambda Y: LazyPolytope(Y.lower, Y.upper, Y.weights, Y.row_lower, Y.row_upper))


class PolytopeInUnitsOfOne(KnapsackSet):
    def minimize(self, cost):
        return super().minimize(np.where(np.abs(cost) < 1e-7, 0.0, cost))


@fails(checks.check_value_is_equivariant)
class AbsoluteTolerance(MaxCut):
    game = mistaken(MaxCut, Y=lambda Y: PolytopeInUnitsOfOne(Y.lower, Y.upper, Y.weights, Y.row_lower, Y.row_upper))


class UnclippedSpectraplex(Spectraplex):
    def project(self, X):
        return X * (self.trace / np.trace(X))


@fails(checks.check_sets)
class ProjectionOutsideTheSet(MaxCut):
    game = mistaken(MaxCut, S=lambda S: UnclippedSpectraplex(S.n, S.trace))


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


class Overflowing(Spectraplex):
    """A set whose mirror map overflows."""


class Upside(Spectraplex):
    """A set whose mirror map is that of -G."""


entropy_on.register(Overflowing, NaiveExponent)
entropy_on.register(Upside, lambda S: NaiveExponent(S, +1.0))


@fails(checks.check_exponent)
class ExponentThatOverflows(MaxCut):
    game = mistaken(MaxCut, S=lambda S: Overflowing(S.n, S.trace))


@fails(checks.check_exponent)
class ExponentOfTheWrongSign(MaxCut):
    game = mistaken(MaxCut, S=lambda S: Upside(S.n, S.trace))


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


class Careless(Game):
    def rounding(self, y):
        return -1e-12 * self.scale


@fails(checks.check_bounds_are_their_definition)
class NoAllowanceForRounding(Discrepancy):
    game = mistaken(Discrepancy, kind=Careless)


@fails(checks.check_agrees_with_cvxpy)
class MultipliersCutOff(MaxCut):
    game = mistaken(
        MaxCut, Y=lambda Y: KnapsackSet(0.01 * Y.lower, 0.01 * Y.upper, Y.weights, Y.row_lower, Y.row_upper)
    )


@fails(checks.check_data_are_its_own)
class BorrowedData(ComplexGame):
    def __init__(self, C, A):
        self.C, self.A = C, A


def doubled(X):
    out = 2 * np.array(X)  # not positive semidefinite once its diagonal is overwritten
    np.fill_diagonal(out, 1.0)
    return out


@fails(checks.check_repaired_points_are_feasible)
@fails(checks.check_bounds_are_their_definition)
class RepairThatLies(MaxCut):
    game = mistaken(MaxCut, repair=lambda repair: doubled)


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


class InPlace(Around):
    def subtracted(self, C, y):
        C[np.diag_indices(len(y))] -= y
        return C


@fails(checks.check_never_mutates)
class WritesToItsCost(MaxCut):
    game = mistaken(MaxCut, A=InPlace)


class Symmetrizing(Around):
    def adjoint(self, X):
        if len(X) > 1:
            X[0, 1] = X[1, 0]
        return super().adjoint(X)


@fails(checks.check_never_mutates)
class WritesToTheMatrix(MaxCut):
    game = mistaken(MaxCut, A=Symmetrizing)


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


fails(checks.check_reference_is_its_own)(ComplexGame)


class Doubled(Around):
    """Both maps, and the matrices, in a wrong unit: they agree with each other."""

    norms = property(lambda self: 2 * self.base.norms)

    def apply(self, y):
        return 2 * super().apply(y)

    def adjoint(self, X):
        return 2 * super().adjoint(X)

    def matrix(self, j):
        return 2 * super().matrix(j)


@fails(checks.check_agrees_with_cvxpy)
class BothMapsWrongTogether(MinMaxSDP):
    game = mistaken(MinMaxSDP, A=Doubled)


@fails(checks.check_agrees_with_cvxpy)
class SetOfTheWrongRadius(MinMaxSDP):
    game = mistaken(MinMaxSDP, S=lambda S: Spectraplex(S.n, 1.5 * S.trace))


@fails(checks.check_frozen)
class Thawed(MaxCut):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


class Noisy(Around):
    def apply(self, y):
        return super().apply(y) * (1 + 1e-15 * np.random.default_rng().integers(0, 9))


@fails(checks.check_deterministic)
class Dithers(Discrepancy):
    game = mistaken(Discrepancy, A=Noisy)


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


class Careless(Game):
    """A game that knows no rounding."""

    def rounding(self, y):
        return 0.0


@fails(checks.check_allowances)
class KnowsNoRounding(Discrepancy):
    game = mistaken(Discrepancy, kind=Careless)


@fails(checks.check_allowances)
class Astronomical(Discrepancy):
    scale = 1e9


class DrawsNothing(Presenter):
    def plot(self, solution, axes):
        return axes.no_such_method()


@fails(checks.check_words_and_picture)
@presented_by(DrawsNothing)
class RaisesInItsPicture(Discrepancy):
    pass


class ProvesNoLowerBound(Discrepancy):
    engines = ("mmw",)

    def bound_from_matrix(self, X):
        return Bound(point=X)


def test_laws_of_a_problem_that_proves_no_lower_bound_end_and_name_themselves(monkeypatch):
    monkeypatch.setattr("matrixlearn.testing.limits.PER_SOLVE", 0.2)
    names = {"check_deterministic", "check_warm_start", "check_save_and_load", "check_agrees_with_cvxpy"}
    monkeypatch.setattr(checks, "CHECKS", [check for check in checks.CHECKS if check.__name__ in names])
    outcomes = dict(run_checks(ProvesNoLowerBound.random(np.random.default_rng(0)), max_examples=3))
    assert outcomes.keys() == names
    for name, error in outcomes.items():
        late = rf"{name} is late: solve\(\) with .* did not end in 0.2 s: mmw proved -inf <= optimum"
        assert re.match(late, str(error))


def test_a_law_whose_time_is_spent_fails_by_name_without_another_solve(monkeypatch):
    monkeypatch.setattr(checks, "CHECKS", (checks.check_deterministic,))
    ((name, error),) = run_checks(Discrepancy, max_examples=3, seconds=0.0)
    assert re.match(rf"{name} is late: its instances took all of its time", str(error))


@fails(checks.check_play)
class NamesAnother(MaxCut):
    routines = ("DenseExponent", "VertexOracle")


class Forgetful(OtherBlocks):
    """Answers with a loss that is not symmetric."""

    def __call__(self, X):
        answer = super().__call__(X)
        return (
            replace(answer, loss=answer.loss + np.triu(np.ones(np.shape(X)), 1)) if isinstance(answer, Move) else answer
        )


@fails(checks.check_play)
class PlaysLopsided(FETR):
    routines = ("ClippedLogDet", "Forgetful")

    def play(self):
        return replace(super().play(), oracle=Forgetful.of(self))


class TwiceAsMuch(VertexOracle):
    """Answers with a y that is not in Y."""

    def at(self, level, anchor=None):
        return TwiceAsMuch(self.game, level)

    def __call__(self, X):
        answer = super().__call__(X)
        return replace(answer, y=2 * answer.y) if isinstance(answer, Move) else answer


@fails(checks.check_oracles)
class AnswersOutsideY(Discrepancy):
    def play(self):
        return replace(super().play(), oracle=TwiceAsMuch(self.game))


class NeverFails(VertexOracle):
    """Answers where no y satisfies the inequality."""

    def at(self, level, anchor=None):
        return NeverFails(self.game, level)

    def __call__(self, X):
        value, y = self.game.lower(X)
        return Move(self.game.loss(y), y=y, slack=max(self.level - value, 0.0))


@fails(checks.check_oracles)
class ItsOracleNeverFails(Discrepancy):
    def play(self):
        return replace(super().play(), oracle=NeverFails(self.game))


@pytest.mark.parametrize("cls", [AnswersOutsideY, ItsOracleNeverFails])
def test_a_wrong_oracle_is_named(cls):
    with override_examples(60), pytest.raises(AssertionError) as caught:
        checks.check_oracles(cls)
    assert type(cls.random(np.random.default_rng(0)).play().oracle).__name__ in str(caught.value)


@fails(checks.check_hostile_input)
class AcceptsAnyCap(Discrepancy):
    def __post_init__(self):
        if self.max_weight is not None and np.isnan(self.max_weight):
            object.__setattr__(self, "max_weight", None)
        super().__post_init__()


class Upward(ClippedLogDet):
    """Precisions that grow with the losses."""

    def __call__(self, G):
        nu, V = np.linalg.eigh(G)
        return (V * np.clip(nu, self.lower, self.upper)) @ V.T


@fails(checks.check_mirror_map)
class PlaysUpward(FETR):
    def play(self):
        right = super().play()
        return replace(right, exponent=Upward(**vars(right.exponent)))


class TooSharp(DenseExponent):
    def weights(self, exponents):
        return super().weights(2 * exponents)


@fails(checks.check_mirror_map)
class PlaysTooSharply(DefiniteBoost):
    def play(self):
        right = super().play()
        return replace(right, exponent=TooSharp(right.exponent.on))


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


def test_the_mistakes_are_about_games_blocks_and_projections():
    kinds = GameProblem | MulticonvexProblem | DefiniteBoost
    assert all(issubclass(parameter.values[0], kinds) for parameter in MISTAKES)
