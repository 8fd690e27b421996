"""Restarts: how often, how fast on a sharp gap, and when no more is expected."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_discrepancy import Discrepancy

from matrixlearn.engines import HybridGradient, Incumbent, MirrorProx, Restarts
from matrixlearn.engines.restarts import PATIENCE, SHORTEST, rebalanced
from matrixlearn.engines.spectrum import Spectrum
from matrixlearn.sets import ScaledSimplex, SpectralBall, Spectraplex


def run(rule, width_of, rounds):
    """The rounds at which it restarted, and the run at its end; width_of(run) is the width that a check finds."""
    now, restarted = rule.started(1.0), []
    while now.rounds < rounds and not now.stalled:
        now = now.moved()
        if now.to_check:
            width = width_of(now)
            now = now.checked(width)
            if now.due:
                restarted.append(now.rounds)
                now = now.started(width)
    return restarted, now


@given(artificial=st.floats(0.1, 0.9), rounds=st.integers(1, 1900))
def test_a_gap_that_stands_still_restarts_a_logarithmic_number_of_times(artificial, rounds):
    restarted, _ = run(Restarts(artificial=artificial), lambda now: 1.0, rounds)
    assert len(restarted) <= 1 + math.log(max(rounds / SHORTEST, 1.0)) / -math.log(1 - artificial)


@given(sharpness=st.floats(1.0, 30.0), digits=st.integers(2, 10))
def test_a_sharp_gap_costs_rounds_in_proportion_to_its_digits(sharpness, digits):
    """The average of T rounds has sharpness / T times the gap at the start: a fifth takes 5 sharpness rounds, and the
    next check is at most 1.35 times as late; 10^-digits takes digits / log10(5) of these. Alone it takes 10^digits.
    """
    goal = 10.0**-digits
    _, end = run(Restarts(), lambda now: max(goal, now.width_at_start * min(1.0, sharpness / now.since)), 10**6)
    reached = end.best_at
    assert end.best <= goal / 0.9
    assert reached <= (1.35 * 5 * sharpness + SHORTEST) * (digits / math.log10(5) + 2)


def test_a_gap_that_has_not_moved_for_longer_than_before_is_given_up():
    improving = run(Restarts(), lambda now: 0.8 ** (now.rounds / 50), 10**4)[1]
    assert improving.rounds == 10**4 and not improving.stalled
    still = run(Restarts(), lambda now: 0.5 if now.rounds > 100 else 1.0, 10**4)[1]
    assert 2 * still.best_at + PATIENCE < still.rounds <= 2 * still.best_at + PATIENCE + 2
    assert "has not moved" in still.stalled


@given(omega=st.floats(1e-6, 1e6), moved_X=st.floats(1e-6, 1e6), moved_y=st.floats(1e-6, 1e6))
def test_the_balance_moves_half_way(omega, moved_X, moved_y):
    after = rebalanced(omega, moved_X, moved_y)
    assert math.log(after) == pytest.approx((math.log(omega) + math.log(moved_X / moved_y)) / 2, abs=1e-9)
    assert rebalanced(omega, 0.0, moved_y) == rebalanced(omega, moved_X, 0.0) == omega


@pytest.mark.parametrize("engine", [HybridGradient, MirrorProx])
def test_the_engines_keep_to_the_rule_they_are_given(engine):
    rng = np.random.default_rng(0)
    problem = Discrepancy(rng.standard_normal((20, 4)) + 0.5, rng.standard_normal((20, 4)))
    never = Restarts(sufficient=0.0, necessary=0.0, artificial=math.inf, checks=1)
    state = engine(never).init(problem.game, Incumbent(problem))
    for k in range(1, 41):
        state = engine(never).step(problem.game, state, Incumbent(problem))
        assert state.restarts.since == state.restarts.rounds == k
        assert state.proposals  # a check every round


@pytest.mark.parametrize("make", [Spectraplex, SpectralBall, ScaledSimplex])
@given(seed=st.integers(0, 10**6), split=st.booleans(), complex_=st.booleans())
def test_a_function_of_a_spectrum(make, seed, split, complex_):
    """Its eigenvalues are p on the eigenvectors of F: with those of F it is F."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    if make is ScaledSimplex:
        F = rng.standard_normal(n)
        S, back = make(n, 1.0), F
    else:
        S = make(n, 1.0, (1, n - 1) if split and n > 1 else ())
        F = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if complex_ else 0)
        back = F = S.hermitian_blocks(F)
    spectrum = Spectrum.of(S, F)
    np.testing.assert_allclose(spectrum.with_values(spectrum.w), back, atol=1e-12)
    square = F * F if F.ndim == 1 else F @ F
    np.testing.assert_allclose(spectrum.with_values(spectrum.w**2), square, atol=1e-11)
    np.testing.assert_array_equal(spectrum.with_values(0 * spectrum.w), 0 * F)
