"""Arora and Kale's linear program over D_alpha: closed form, HiGHS, and Lemma 4.2.1."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from matrixlearn._array import as_numpy
from matrixlearn.maps import DenseMap
from matrixlearn.oracles import Done, Move, Oracle, PolytopeOracle
from matrixlearn.problems import Game
from matrixlearn.sets import KnapsackSet, TraceBall

seeds = st.integers(0, 2**32 - 1)
FIELDS = pytest.mark.parametrize("complex_", [False, True], ids=["real", "complex"])


def hermitian(rng, n, complex_):
    G = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if complex_ else 0)
    return (G + G.conj().T) / 2


def density(rng, n, trace, complex_):
    G = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if complex_ else 0)
    X = G @ G.conj().T
    return trace * X / np.trace(X).real


def game_of(C, A, b, R):
    """max C.X over A_j.X <= b_j, Tr X <= R."""
    C, A, b = np.asarray(C) if isinstance(C, list) else C, np.stack(A) if isinstance(A, list) else A, np.asarray(b)
    return Game(C, DenseMap(A), b, TraceBall(C.shape[0], R), KnapsackSet.orthant(len(b)))


def instance(seed, complex_, signs, array=np.asarray):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    C = hermitian(rng, n, complex_)
    A = np.stack([hermitian(rng, n, complex_) for _ in range(m)])
    b = rng.uniform(0.1, 2.0, m)
    if signs == "mixed":
        b *= rng.choice([-1, 0, 1], m)
    R = float(rng.uniform(0.5, 5))
    program = game_of(array(C), array(A), b, R)
    return program, C, A, b, density(rng, n, R, complex_), float(rng.uniform(0.05, 3))


def highs(products, b, alpha):
    return linprog(-products, A_ub=b[None, :], b_ub=[alpha], bounds=(0, None), method="highs")


@FIELDS
@pytest.mark.parametrize("signs", ["positive", "mixed"])
@given(seed=seeds)
def test_answers_equal_those_of_highs(backend, complex_, signs, seed):
    """Fails where HiGHS's optimum is below C.X; else gives a y of D_alpha that satisfies the inequality."""
    program, C, A, b, X, alpha = instance(seed, complex_, signs, backend.array)
    answer = PolytopeOracle(program, alpha)(backend.array(X))
    products = np.concatenate([[np.trace(X).real], [np.trace(a @ X).real for a in A]])
    b = np.concatenate([[program.S.trace], b])
    target = np.trace(C @ X).real
    result = highs(products, b, alpha)
    unbounded = result.status in (3, 4)  # the program is feasible: y = 0
    if isinstance(answer, Done):
        assert not unbounded
        assert -result.fun < target + 1e-9
        assert answer.phi * alpha == pytest.approx(-result.fun, rel=1e-9)
        return
    assert isinstance(answer, Move)
    assert unbounded or -result.fun >= target - 1e-9
    y = answer.y
    assert np.all(y >= 0)
    # the multiplier of A_1 = I is what is left of alpha, where b.y leaves any
    left = (alpha - float(b[1:] @ y)) / program.S.trace
    assert left >= -1e-12 * (1 + np.abs(b[1:]) @ y)
    gained = left * products[0] + float(products[1:] @ y)
    assert gained >= target - 1e-9 * (1 + np.abs(products[1:]) @ y)
    assert answer.slack >= 0
    if not unbounded:
        assert answer.slack <= -result.fun - target + 1e-9


@FIELDS
@pytest.mark.parametrize("signs", ["positive", "mixed"])
@given(seed=seeds)
def test_width_bounds_the_loss_and_the_loss_is_that_of_y(complex_, signs, seed):
    program, C, A, _, X, alpha = instance(seed, complex_, signs)
    answer = PolytopeOracle(program, alpha)(X)
    if isinstance(answer, Done):
        return
    loss = np.einsum("j,jab->ab", answer.y, A) - C
    np.testing.assert_allclose(answer.loss, loss, atol=1e-11 * (1 + np.linalg.norm(loss)))
    assert np.linalg.norm(loss, 2) <= answer.width * (1 + 1e-12)
    assert np.linalg.norm(loss, 2) <= PolytopeOracle(program).widest(alpha) * (1 + 1e-12)


@FIELDS
@pytest.mark.parametrize("signs", ["positive", "mixed"])
@given(seed=seeds)
def test_failure_makes_x_over_phi_feasible_with_at_least_alpha(complex_, signs, seed):
    """Lemma 4.2.1, from a level low enough that the oracle fails for some X."""
    program, C, A, b, X, alpha = instance(seed, complex_, signs)
    found = False
    for level in (alpha, 1e-2 * alpha, 1e-4 * alpha):
        answer = PolytopeOracle(program, level)(X)
        if not isinstance(answer, Done):
            continue
        found = True
        Z = X / answer.phi
        assert answer.reason == "fails"
        assert np.trace(C @ Z).real >= level * (1 - 1e-9)
        assert np.trace(Z).real <= program.S.trace * (1 + 1e-12)
        size = np.array([np.linalg.norm(a) for a in A]) * np.linalg.norm(Z) + np.abs(b)
        assert np.all(np.array([np.trace(a @ Z).real for a in A]) <= b + 1e-12 * size)
    if signs == "positive" and np.trace(C @ X).real > 0:
        assert found  # X / phi is feasible with a positive value: some level is below it


def test_an_equality_written_as_two_inequalities():
    """b of both signs: x11 <= 1 and -x11 <= -1 within trace 3, max x22."""
    E1, E2 = np.diag([1.0, 0.0]), np.diag([0.0, 1.0])
    program = game_of(E2, [E1, -E1], [1.0, -1.0], 3.0)
    X = np.diag([1.0, 2.0])
    fails = PolytopeOracle(program, 1.5)(X)
    assert isinstance(fails, Done) and fails.phi == pytest.approx(1.0)
    assert isinstance(PolytopeOracle(program, 2.5)(X), Move)
    # x11 = 0.5: no phi makes X / phi feasible with phi >= 1/2 ... the ray of both rows satisfies any level
    assert isinstance(PolytopeOracle(program, 1e-3)(np.diag([0.2, 2.8])), Move)


def test_it_is_an_oracle():
    program = game_of(np.eye(2), [np.eye(2)], [1.0], 1.0)
    assert isinstance(PolytopeOracle(program, 1.0), Oracle)
    assert np.all(np.isfinite(as_numpy(PolytopeOracle(program, 1.0)(0.1 * np.eye(2)).loss)))
