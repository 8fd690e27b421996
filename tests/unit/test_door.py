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
from matrixlearn.problem import (
    DenseMap,
    FamilyGame,
    KnapsackSet,
    LinearMap,
    RankOneMap,
    ScaledSimplex,
    SparseMap,
    SpectralGame,
    Spectraplex,
    UnitDiagonalGame,
)

N, M = 4, 3
C = np.diag([1.0, 2.0, 3.0, 4.0])
UNITS = np.stack([np.diag(row) for row in np.eye(N)[:M]])
PARTS = {
    "cost": C,
    "offset": np.zeros(M),
    "spectral_set": Spectraplex(N, 1.0),
    "dual_set": KnapsackSet.simplex(M),
    "family": DenseMap(UNITS),
}
CENTRE = np.full(M, 1 / M)
DOORS = pytest.mark.parametrize("door", [ml.solve, ml.methods, lambda problem: ml.certify(problem, y=CENTRE)])


def game(**changes):
    return type("OneOff", (FamilyGame,), {**PARTS, **changes})()


def changed(array, i, value):
    out = np.array(array, dtype=np.result_type(array, value))
    out[i] = value
    return out


def test_a_game_for_one_occasion_is_its_five_parts():
    for door in (ml.methods, ml.certify, ml.solve):
        door(game())
    assert ml.solve(game(), tol=1e-6).value == pytest.approx(4.0, abs=1e-5)
    assert ml.solve(game(cost=C.astype(int), offset=np.zeros(M, dtype=int)), tol=1e-6).value == pytest.approx(4.0)
    lists = game(dual_set=KnapsackSet.box([0, 0, 0], [1, 1, 1]), offset=np.ones(M))
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
        ("cost", changed(C, (0, 1), 5.0), r"^cost must be symmetric, but max \|A - A\^H\| = 5 at the entry \(0, 1\)"),
        ("cost", changed(C, (1, 2), 2j), r"^cost must be Hermitian, but .* = 2 at the entry \(1, 2\)"),
        ("cost", changed(C, (0, 1), np.nan), "^cost holds 1 NaN"),
        ("cost", C.tolist(), r"^cost must be an array of shape \(4, 4\), got list"),
        ("cost", np.eye(5), r"^cost has shape \(5, 5\), but spectral_set has n = 4"),
        ("cost", np.ones(N), r"^cost has shape \(4,\), but spectral_set has n = 4"),
        ("cost", sp.csr_array(C), r"^cost must be an array of shape \(4, 4\), got csr_array"),
        ("offset", np.zeros(2), r"^offset has shape \(2,\), but dual_set has m = 3"),
        ("offset", [0.0] * M, r"^offset must be a ndarray, got list: give a NumPy array of shape \(3,\)"),
        ("offset", changed(np.zeros(M), 1, np.nan), "^offset holds 1 NaN"),
        ("offset", 1j * np.zeros(M), "^offset must be a real vector"),
        ("dual_set", KnapsackSet.simplex(4), "^offset has shape .*, but dual_set has m = 4"),
        ("dual_set", np.ones(M), "^dual_set must be a KnapsackSet, got ndarray"),
        ("spectral_set", Spectraplex(5, 1.0), r"^cost has shape \(4, 4\), but spectral_set has n = 5"),
        ("spectral_set", N, "^spectral_set must be a SpectralSet, got int: give Spectraplex"),
        ("family", UNITS, r"^family must be a LinearMap, got ndarray of shape \(3, 4, 4\): give DenseMap"),
        ("family", list(UNITS), r"^family must be a LinearMap, got list: give DenseMap\(A\)"),
        ("family", DenseMap(UNITS[:2]), "^family holds 2 matrices of order 4, but dual_set has m = 3"),
        ("family", DenseMap(UNITS[:, :3, :3]), "^family holds 3 matrices of order 3, .* spectral_set n = 4"),
        ("family", DenseMap(changed(UNITS, (2, 0, 3), 1.0)), r"^family.matrix\(2\) must be symmetric, .* \(0, 3\)"),
        ("family", DenseMap(changed(UNITS, (1, 0, 0), np.inf)), r"^family.matrix\(1\) holds 1 NaN or infinite"),
        ("family", RankOneMap(changed(np.ones((M, N)), (1, 0), np.nan)), r"^family.matrix\(1\) holds"),
        (
            "family",
            SparseMap(sp.csr_array(changed(UNITS, (2, 0, 3), 1.0).reshape(M, -1)), N),
            r"^family.matrix\(2\) must be symmetric, .* \(0, 3\)",
        ),
        ("family", Own(), r"^family.matrix\(0\) must be symmetric"),
    ],
)
def test_what_cannot_be_right_is_named(door, part, value, said):
    with pytest.raises(ProblemError, match=said):
        door(game(**{part: value}))


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


@dataclass(frozen=True, eq=False)
class Maps(SpectralGame):
    A: np.ndarray
    cost = C
    offset = np.zeros(M)
    spectral_set = Spectraplex(N, 1.0)
    dual_set = KnapsackSet.simplex(M)

    def forward(self, y):
        return C - np.tensordot(y, self.A, 1)

    def adjoint(self, X):
        return np.tensordot(self.A, X, 2)


def test_the_maps_are_tried():
    ml.solve(Maps(UNITS))
    with pytest.raises(ProblemError, match=r"^forward\(y\) must be symmetric, .* at the entry \(0, 3\)"):
        ml.solve(Maps(changed(UNITS, (0, 0, 3), 1.0)))
    short = type("Short", (Maps,), {"adjoint": lambda self, X: np.zeros(2)})(UNITS)
    with pytest.raises(ProblemError, match=r"^adjoint\(X\) has shape \(2,\), but dual_set has m = 3"):
        ml.solve(short)


class Diagonal(SpectralGame):
    cost = np.array([1.0, 2.0, 3.0, 4.0])
    offset = np.zeros(M)
    spectral_set = ScaledSimplex(N, 1.0)
    dual_set = KnapsackSet.simplex(M)

    def forward(self, y):
        return self.cost - np.eye(N)[:, :M] @ y

    def adjoint(self, x):
        return x[:M]


def test_a_game_of_vectors():
    assert "mmw" in ml.methods(Diagonal())
    with pytest.raises(ProblemError, match=r"^cost has shape \(3,\), but spectral_set has n = 4"):
        ml.methods(type("Short", (Diagonal,), {"cost": np.ones(3)})())
    with pytest.raises(ProblemError, match=r"^cost holds 1 NaN"):
        ml.methods(type("Bad", (Diagonal,), {"cost": np.array([1.0, np.nan, 0.0, 0.0])})())


@dataclass(frozen=True, eq=False)
class Correlation(UnitDiagonalGame):
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
    class Counted(FamilyGame):
        asked = 0

        def check(self):
            type(self).asked += 1
            super().check()

    problem = type("OneOff", (Counted,), PARTS)()
    solution = ml.solve(problem)
    solution.certificate.verify()
    ml.methods(problem)
    assert type(problem).asked == 1


def test_a_problem_that_was_refused_is_refused_again():
    problem = game(offset=np.zeros(2))
    for _ in range(2):
        with pytest.raises(ProblemError, match="offset"):
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

    for general in (SpectralGame, FamilyGame, UnitDiagonalGame):
        monkeypatch.setattr(general, "check", asked)
    assert ml.methods(problem)


class FromParts(FamilyGame):
    """Parts that are made when they are asked for, as most are."""

    cost = cached_property(lambda self: np.eye(N, 3))


def test_parts_may_be_made_late():
    problem = type("Late", (FromParts,), {name: part for name, part in PARTS.items() if name != "cost"})()
    with pytest.raises(ProblemError, match=r"^cost has shape \(4, 3\)"):
        ml.solve(problem)
