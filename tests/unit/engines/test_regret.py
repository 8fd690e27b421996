"""The regret of both schedules: as defined, and within its bound; and what kind of instance was slow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from matrixlearn.engines import Adaptive, Incumbent, MatrixMultiplicativeWeights, Theory
from matrixlearn.engines.schedules import RegretBound
from matrixlearn.exponents import entropy_on
from matrixlearn.oracles import SortedListOracle
from matrixlearn.sets import SpectralBall, Spectraplex, TraceBall

FAMILIES = ["sdp", "discrepancy", "maxcut", "template"]


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 5),
    rounds=st.integers(1, 15),
    spread=st.floats(0, 6),
    S=st.sampled_from([Spectraplex, TraceBall, SpectralBall]),
)
def test_no_losses_hints_and_rates_whatever_exceed_the_bound(seed, n, rounds, spread, S):
    """Against the definition: rates that rise and fall by orders of magnitude, hints of any sharpness above them."""
    rng = np.random.default_rng(seed)
    on = S(n, 10 ** rng.uniform(-2, 2))
    exponent, G, suffered, allowed = entropy_on(on), np.zeros((n, n)), 0.0, RegretBound()

    def draw():
        M = rng.standard_normal((n, n)) * 10 ** rng.uniform(-spread / 2, spread / 2)
        return (M + M.T) / 2

    size = 0.0
    for _ in range(rounds):
        hint, surprise = draw(), draw() * rng.integers(0, 2)
        rate = 10 ** rng.uniform(-spread / 2, spread / 2)
        ahead = rate * 10 ** rng.uniform(0, spread / 2)
        X, loss = exponent(rate * G + ahead * hint), hint + surprise
        suffered, G = suffered + float(np.sum(loss * X)), G + loss
        allowed = allowed.with_round(rate, ahead, float(np.linalg.norm(surprise, 2)))
        size += on.trace * np.linalg.norm(loss)
        assert suffered + on.support(-G) <= allowed.value(on) * (1 + 1e-9) + 1e-9 * size


@pytest.mark.parametrize("name", FAMILIES)
@given(seed=st.integers(0, 2**32 - 1), rounds=st.integers(1, 60), sharpness=st.sampled_from([0.05, 0.5, 5.0]))
def test_the_regret_keeps_to_the_bound(name, random_game, seed, rounds, sharpness):
    problem = random_game(name, seed)
    if problem is None:
        return
    engine = MatrixMultiplicativeWeights(Adaptive(sharpness=sharpness))
    incumbent = Incumbent.first(problem)
    state = engine.init(problem, incumbent)
    for _ in range(rounds):
        state = engine.step(problem, state, incumbent)
        for proposal in state.proposals:
            incumbent = incumbent.offered(proposal)
        if not np.isnan(state.regret):
            assert state.regret <= state.regret_bound * (1 + 1e-9) + 1e-9 * problem.scale * rounds
            assert state.regret_bound < np.inf
        if state.finished:
            break


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_regret_is_what_was_suffered_less_the_least_in_hindsight(seed):
    rng = np.random.default_rng(seed)
    problem = Discrepancy(rng.standard_normal((8, 3)), rng.standard_normal((6, 3)) + 1.0)
    engine, incumbent = MatrixMultiplicativeWeights(), Incumbent.first(problem)
    state, suffered, looked = engine.init(problem, incumbent), 0.0, 0
    for _ in range(40):
        before = state
        state = engine.step(problem, state, incumbent)
        for proposal in state.proposals:
            incumbent = incumbent.offered(proposal)
        if state.averages.count != before.averages.count + 1:  # a fresh start
            suffered = 0.0
            continue
        suffered += float(np.sum((state.G - before.G) * state.X))
        if state.proposals:
            least = -problem.game.S.trace * np.linalg.norm(state.G, 2)  # over the nuclear-norm ball
            assert state.regret == pytest.approx(suffered - least)
            looked += 1
    assert looked


@pytest.mark.parametrize(("name", "seed"), [("sdp", 344), ("sdp", 584), ("template", 261), ("template", 571)])
def test_values_near_zero_and_rates_from_one_bad_round_take_no_thousands_of_rounds(name, seed, random_problem):
    """6,000 to more than 20,000 rounds, when progress was judged by the relative gap and rates by all moves so far."""
    solution = ml.solve(random_problem(name, seed), "mmw", tol=5e-2, max_iter=3000)
    assert solution.status == "optimal"


@given(seed=st.integers(0, 2**32 - 1), rounds=st.integers(1, 60), delta=st.sampled_from([0.1, 0.9]))
def test_the_published_schedule_keeps_to_theorem_4_3_1(random_problem, seed, rounds, delta):
    """The regret as defined, from the rounds themselves, and its bound in the units of the theorem."""
    problem = random_problem("discrepancy", seed)
    engine = MatrixMultiplicativeWeights(Theory(delta), oracle=SortedListOracle)
    if engine.objection(problem):
        return
    incumbent = Incumbent.first(problem)
    state = engine.init(problem, incumbent)
    if not state.alpha > 0:
        return
    for _ in range(rounds):
        before, state = state, engine.step(problem, state, incumbent)
        for proposal in state.proposals:
            incumbent = incumbent.offered(proposal)
        if state.finished:
            break
        if state.rounds and state.check_at > before.check_at:  # measured in this round
            least = -problem.game.S.support(-state.G)
            size = 1e-9 * problem.scale * state.rounds
            assert state.regret == pytest.approx(state.suffered - least, abs=size)
            assert state.regret <= state.regret_bound + size
            rho, R, T = engine.schedule.width(problem.game, state.alpha), problem.game.S.trace, state.rounds
            epsilon = min(delta * state.alpha / (2 * rho * R), 0.5)
            played, best = ((value / R + rho * T) / (2 * rho) for value in (state.suffered, least))
            assert played <= (1 + epsilon) * best + np.log(problem.game.S.dimension) / epsilon + 1e-9 * T


def test_explain_reports_it():
    rng = np.random.default_rng(0)
    problem = Discrepancy(rng.standard_normal((30, 5)) + 0.5, 1.5 * rng.standard_normal((30, 5)))
    solution = ml.solve(problem, "mmw", tol=1e-3, max_iter=60)
    assert "regret of the rounds" in solution.explain()
    published = ml.solve(problem, MatrixMultiplicativeWeights(Theory(0.5)), tol=1e-3, max_iter=60)
    assert "Theorem 4.3.1 allows" in published.explain()
