"""A game of one's own that cannot be right is refused before anything is computed, and the part is named."""

from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from matrixlearn_definiteboost import MinMaxSDP
from matrixlearn_discrepancy import Discrepancy
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError
from matrixlearn.maps import DenseMap, LinearMap, RankOneMap, SparseMap
from matrixlearn.problems import Game, GameProblem, UnitDiagonalProblem
from matrixlearn.sets import KnapsackSet, ScaledSimplex, Spectraplex

N, M = 4, 3
C = np.diag([1.0, 2.0, 3.0, 4.0])
UNITS = np.stack([np.diag(row) for row in np.eye(N)[:M]])
PARTS = {
    "C": C,
    "A": DenseMap(UNITS),
    "c": np.zeros(M),
    "S": Spectraplex(N, 1.0),
    "Y": KnapsackSet.simplex(M),
}
CENTRE = np.full(M, 1 / M)
DOORS = pytest.mark.parametrize("door", [ml.solve, ml.methods, lambda problem: ml.certify(problem, y=CENTRE)])


def one_off(**changes):
    return type("OneOff", (GameProblem,), {"game": Game(**{**PARTS, **changes})})()


def changed(array, i, value):
    out = np.array(array, dtype=np.result_type(array, value))
    out[i] = value
    return out


def test_a_game_for_one_occasion_is_its_five_parts():
    for door in (ml.methods, ml.certify, ml.solve):
        door(one_off())
    assert ml.solve(one_off(), tol=1e-6).value == pytest.approx(4.0, abs=1e-5)
    assert ml.solve(one_off(C=C.astype(int), c=np.zeros(M, dtype=int)), tol=1e-6).value == pytest.approx(4.0)
    assert ml.solve(one_off(C=sp.csr_array(C)), tol=1e-6).value == pytest.approx(4.0, abs=1e-5)
    lists = one_off(Y=KnapsackSet.box([0, 0, 0], [1, 1, 1]), c=np.ones(M))
    assert ml.solve(lists, tol=1e-6).value == pytest.approx(4.0, abs=1e-5)


class Own(LinearMap):
    """A family of which only its first member is looked at."""

    shape, norms = (M, N), np.ones(M)

    def matrix(self, j):
        return np.triu(np.ones((N, N)))

    def apply(self, y):
        raise AssertionError

    adjoint = schur = apply


@DOORS
@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("C", changed(C, (0, 1), 5.0), r"^C must be symmetric, but max \|A - A\^H\| = 5 at the entry \(0, 1\)"),
        ("C", changed(C, (1, 2), 2j), r"^C must be Hermitian, but .* = 2 at the entry \(1, 2\)"),
        ("C", changed(C, (0, 1), np.nan), "^C holds 1 NaN"),
        ("C", C.tolist(), r"^C must be an array of shape \(4, 4\), got list"),
        ("C", np.eye(5), r"^C has shape \(5, 5\), but S has n = 4"),
        ("C", np.ones(N), r"^C has shape \(4,\), but S has n = 4"),
        ("C", sp.csr_array(changed(C, (0, 1), 5.0)), r"^C must be symmetric, .* = 5 at the entry \(0, 1\)"),
        ("C", sp.csr_array(np.eye(5)), r"^C has shape \(5, 5\), but S has n = 4"),
        ("c", np.zeros(2), r"^c has shape \(2,\), but Y has m = 3"),
        ("c", [0.0] * M, r"^c must be a ndarray, got list: give a NumPy array of shape \(3,\)"),
        ("c", changed(np.zeros(M), 1, np.nan), "^c holds 1 NaN"),
        ("c", 1j * np.zeros(M), "^c must be a real vector"),
        ("Y", KnapsackSet.simplex(4), "^c has shape .*, but Y has m = 4"),
        ("Y", np.ones(M), "^Y must be a KnapsackSet, got ndarray"),
        ("S", Spectraplex(5, 1.0), r"^C has shape \(4, 4\), but S has n = 5"),
        ("S", N, "^S must be a SpectralSet, got int: give Spectraplex"),
        ("A", UNITS, r"^A must be a LinearMap, got ndarray of shape \(3, 4, 4\): give DenseMap"),
        ("A", list(UNITS), r"^A must be a LinearMap, got list: give DenseMap\(A\)"),
        ("A", DenseMap(UNITS[:2]), "^A holds 2 matrices of order 4, but Y has m = 3"),
        ("A", DenseMap(UNITS[:, :3, :3]), "^A holds 3 matrices of order 3, .* S has n = 4"),
        ("A", DenseMap(changed(UNITS, (2, 0, 3), 1.0)), r"^A.matrix\(2\) must be symmetric, .* \(0, 3\)"),
        ("A", DenseMap(changed(UNITS, (1, 0, 0), np.inf)), r"^A.matrix\(1\) holds 1 NaN or infinite"),
        ("A", RankOneMap(changed(np.ones((M, N)), (1, 0), np.nan)), r"^A.matrix\(1\) holds"),
        (
            "A",
            SparseMap(sp.csr_array(changed(UNITS, (2, 0, 3), 1.0).reshape(M, -1)), N),
            r"^A.matrix\(2\) must be symmetric, .* \(0, 3\)",
        ),
        ("A", Own(), r"^A.matrix\(0\) must be symmetric"),
    ],
)
def test_what_cannot_be_right_is_named(door, part, value, said):
    with pytest.raises(ProblemError, match=said):
        door(one_off(**{part: value}))


@pytest.mark.parametrize(
    ("construct", "said"),
    [
        (lambda: DenseMap(UNITS.tolist()), r"^DenseMap takes an array of shape \(m, n, n\), got a list"),
        (lambda: DenseMap(UNITS[0]), r"^DenseMap takes an array of shape \(m, n, n\), got shape \(4, 4\)"),
        (lambda: DenseMap(UNITS[:, :3]), r"^DenseMap takes .*, got shape \(3, 3, 4\)"),
        (lambda: RankOneMap(UNITS), r"^RankOneMap takes an array of shape \(m, n\), got shape \(3, 4, 4\)"),
    ],
)
def test_families_take_arrays(construct, said):
    with pytest.raises(ProblemError, match=said):
        construct()


def test_a_program_looks_at_the_family_that_it_is_given():
    with pytest.raises(ProblemError, match=r"^A.matrix\(2\) must be symmetric, .* at the entry \(0, 3\)"):
        ml.LinearSDP(C, DenseMap(changed(UNITS, (2, 0, 3), 1.0)), np.ones(M), 1.0)


# -- games of maps, of a vector, and of a unit diagonal ------------------------------------------------


class Maps(LinearMap):
    """A map of which no matrix is stored."""

    shape = (M, N)

    def __init__(self, A):
        self.A = A

    def apply(self, y):
        return np.tensordot(y, self.A, 1)

    def adjoint(self, X):
        return np.tensordot(self.A, X, 2)


def test_the_maps_are_tried():
    ml.solve(one_off(A=Maps(UNITS)))
    with pytest.raises(ProblemError, match=r"^A.matrix\(0\) must be symmetric, .* at the entry \(0, 3\)"):
        ml.solve(one_off(A=Maps(changed(UNITS, (0, 0, 3), 1.0))))
    short = type("Short", (Maps,), {"adjoint": lambda self, X: np.zeros(2)})(UNITS)
    with pytest.raises(ProblemError, match=r"^A.adjoint\(X\) has shape \(2,\), but Y has m = 3"):
        ml.solve(one_off(A=short))
    wrong = type("Wrong", (Maps,), {"matrix": lambda self, j: UNITS[j]})(changed(UNITS, (0, 0, 3), 1.0))
    with pytest.raises(ProblemError, match=r"^A.apply\(y\) must be symmetric, .* at the entry \(0, 3\)"):
        ml.solve(one_off(A=wrong))


class Diagonals(LinearMap):
    """The e_j e_j^T, by their diagonals."""

    shape, norms = (M, N), np.ones(M)

    def apply(self, y):
        return np.eye(N)[:, :M] @ y

    def adjoint(self, x):
        return x[:M]


def test_a_game_of_vectors():
    parts = {"A": Diagonals(), "S": ScaledSimplex(N, 1.0)}
    assert "mmw" in ml.methods(one_off(C=np.arange(1.0, 5.0), **parts))
    with pytest.raises(ProblemError, match=r"^C has shape \(3,\), but S has n = 4"):
        ml.methods(one_off(C=np.ones(3), **parts))
    with pytest.raises(ProblemError, match=r"^C holds 1 NaN"):
        ml.methods(one_off(C=np.array([1.0, np.nan, 0.0, 0.0]), **parts))


@dataclass(frozen=True, eq=False)
class Correlation(UnitDiagonalProblem):
    C: np.ndarray
    cost = property(lambda self: self.C.toarray() if sp.issparse(self.C) else self.C)
    cost_operator = property(lambda self: self.C)


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
def test_a_game_of_a_unit_diagonal(wrap):
    name = "cost_operator" if wrap is sp.csr_array else "cost"
    assert ml.solve(Correlation(wrap(C)), tol=1e-6).value == pytest.approx(10.0, rel=1e-5)
    ml.methods(Correlation(wrap(np.zeros((N, N)))))
    for bad, said in (
        (changed(C, (0, 1), 5.0), "must be symmetric"),
        (changed(C, (0, 1), np.nan), "holds 1 NaN"),
        (np.ones((N, 3)), "must be a square matrix"),
    ):
        with pytest.raises(ProblemError, match=f"^{name} {said}"):
            ml.solve(Correlation(wrap(bad)))


# -- what it costs ------------------------------------------------------------------------------------


def test_it_is_asked_once_of_each_problem():
    class Counted(GameProblem):
        game = Game(**PARTS)
        asked = 0

        def check(self):
            type(self).asked += 1
            super().check()

    problem = Counted()
    solution = ml.solve(problem)
    solution.certificate.verify()
    ml.methods(problem)
    assert Counted.asked == 1


def test_a_problem_that_was_refused_is_refused_again():
    problem = one_off(c=np.zeros(2))
    for _ in range(2):
        with pytest.raises(ProblemError, match=r"^c has shape"):
            ml.solve(problem)


@pytest.mark.parametrize(
    "problem",
    [
        ml.LinearSDP(C, UNITS, np.ones(M), 1.0),
        Discrepancy(C, UNITS[0]),
        MaxCut(nx.path_graph(N)),
        MinMaxSDP(UNITS),
    ],
    ids=lambda problem: problem.name,
)
def test_what_construction_has_checked_is_not_checked_again(problem, monkeypatch):
    def asked(game):
        raise AssertionError

    for general in (GameProblem, UnitDiagonalProblem):
        monkeypatch.setattr(general, "check", asked)
    assert ml.methods(problem)


class Late(GameProblem):
    """A game that is made when it is asked for, as most are."""

    game = cached_property(lambda self: Game(**{**PARTS, "C": np.eye(N, 3)}))


def test_a_game_may_be_made_late():
    with pytest.raises(ProblemError, match=r"^C has shape \(4, 3\)"):
        ml.solve(Late())
