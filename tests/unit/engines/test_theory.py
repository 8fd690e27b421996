"""Algorithm 1 as the thesis means it: where it prints otherwise (docs/errata.md), the right form."""

import dataclasses
import math

import numpy as np
import pytest
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from matrixlearn.engines import Adaptive, Incumbent, Limits, MatrixMultiplicativeWeights, Theory, run
from matrixlearn.engines.theory import geometric
from matrixlearn.exponents import entropy_on
from matrixlearn.maps import DenseMap
from matrixlearn.oracles import PolytopeOracle, SortedListOracle
from matrixlearn.problems import Game, Play
from matrixlearn.problems.played import Played
from matrixlearn.sets import KnapsackSet, Spectraplex, TraceBall


def discrepancy(seed=0, m=4):
    rng = np.random.default_rng(seed)
    return Discrepancy(rng.standard_normal((m, 2)), 1.5 * rng.standard_normal((3, 2)) + 1)


def phase_one():
    """A simplex game with R = 3 and c != 0: max over X of min_j (b_j - A_j . X) / nu_j."""
    rng = np.random.default_rng(1)
    A, b = rng.standard_normal((4, 3, 3)), np.array([1.0, 2.0, 0.5, 1.5])
    A = (A + A.swapaxes(1, 2)) / 2
    nu = b + 3.0 * np.linalg.norm(A, 2, axis=(1, 2))
    game = Game(np.zeros((3, 3)), DenseMap(A / nu[:, None, None]), b / nu, TraceBall(3, 3.0), KnapsackSet.simplex(4))
    return Played(game)


def published(game):
    """The entropy of S and the sorted list of Algorithm 3."""
    return Play(entropy_on(game.game.S), SortedListOracle(game.game))


def widest(game):
    """The largest ||A_j - C|| of the list."""
    return max(np.linalg.norm(game.game.image(e), 2) for e in np.eye(game.game.Y.size))


@pytest.mark.parametrize("delta", [0.1, 0.3])
@pytest.mark.parametrize("alpha", [0.2, 1.7])
@pytest.mark.parametrize(("make", "experts"), [(discrepancy, 4), (phase_one, 4)])
def test_the_number_of_rounds_is_that_of_theorem_4_3_2(make, experts, alpha, delta):
    """T = 8 rho^2 R^2 ln n / (delta alpha)^2; Algorithm 1 prints it without R^2 and alpha^2."""
    game, R = make(), {discrepancy: 1.0, phase_one: 3.0}[make]
    rho = (alpha + np.abs(game.game.c).max()) / R + widest(game)
    assert Theory(delta).width(game.game, alpha) == pytest.approx(rho, rel=1e-12)
    right = 8 * rho**2 * R**2 * math.log(experts) / (delta * alpha) ** 2
    assert Theory(delta).rounds_for(game.game, alpha) == math.ceil(right * (1 - 1e-12))
    printed = 8 * rho**2 * math.log(experts) / delta**2
    assert abs(printed - right) > 0.2 * right


def test_the_step_is_positive_and_minus_log_of_one_minus_epsilon():
    """epsilon' = -ln(1 - epsilon) > 0: a loss makes its own direction smaller, not larger."""
    game, delta = discrepancy(), 0.3
    schedule, incumbent = Theory(delta), Incumbent(discrepancy())
    start = Incumbent(game).offered(ml.engines.Proposal(X=game.game.S.center(game.game.C), y=game.game.Y.center()))
    first = schedule.step(game.game, schedule.init(game.game, start, published(game)), start)
    alpha = first.alpha
    rho = alpha + widest(game)
    epsilon = delta * alpha / (2 * rho)
    second = schedule.step(game.game, first, start)
    loss = first.G  # of the first round: A(y) - C
    X = second.averages.X - first.averages.X
    w, V = np.linalg.eigh(-math.log(1 / (1 - epsilon)) / (2 * rho) * loss)
    np.testing.assert_allclose(X, (V * (np.sinh(w) / np.cosh(w).sum())) @ V.T, atol=1e-13)
    assert float(np.sum(loss * X)) < float(np.sum(loss * first.averages.X)) - 1e-6
    assert incumbent.X is None


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_guess_is_lowered_only_after_t_successes_or_by_a_certified_value(seed):
    """Algorithm 2 moves alpha_R at every success inside the loop over t."""
    game, schedule = discrepancy(seed), Theory(delta=0.5)
    optimum = ml.solve(game, tol=1e-9)
    incumbent = Incumbent(game)
    state = schedule._guess(game.game, published(game), 0.0, 4 * optimum.upper)  # both ends far from the value
    lowered = raised = 0
    for _ in range(30_000):
        before, needed = state, schedule.rounds_for(game.game, state.alpha)
        state = schedule.step(game.game, state, incumbent)
        assert state.low <= optimum.upper * (1 + 1e-9)  # the interval holds the value throughout
        assert state.high >= optimum.lower * (1 - 1e-9)
        if state.alpha == before.alpha:
            assert state.rounds == before.rounds + 1 < needed
            assert (state.low, state.high) == (before.low, before.high)
            continue
        if state.high < before.high:
            lowered += 1
            assert before.rounds + 1 == needed
            assert state.high == min((1 + schedule.delta) * before.alpha, before.high, incumbent.upper)
            y = state.proposals[0].y
            assert game.game.upper(y) <= (1 + schedule.delta) * before.alpha  # Theorem 4.3.2
        else:
            raised += 1
            assert state.low == max(before.alpha, incumbent.lower)  # the oracle failed: X proves v > alpha
            assert game.game.lower(state.proposals[0].X)[0] > before.alpha
        assert state.rounds == 0
        for proposal in state.proposals:
            incumbent = incumbent.offered(proposal)
        if state.finished:
            break
    assert state.finished
    assert lowered >= 1 and raised >= 1
    assert (1 - schedule.delta) * state.high <= (1 + schedule.delta) * state.low * (1 + 1e-12)


@pytest.mark.parametrize("delta", [0.1, 0.3, 0.5])
def test_the_search_ends_where_successes_no_longer_help(delta):
    """Between (1 + 2 delta) low and (1 + delta) / (1 - delta) low a success at the middle would give back the
    same interval, for ever.
    """
    game, schedule = discrepancy(), Theory(delta)

    def at(low, high):
        return schedule._guess(game.game, published(game), low, high)

    for stretch in (1 + 2 * delta + 1e-6, (1 + delta) / (1 - delta) - 1e-6):
        assert schedule._after(game.game, at(1.0, stretch), ml.engines.Proposal()).finished
    assert not schedule._after(game.game, at(1.0, (1 + delta) / (1 - delta) + 1e-6), ml.engines.Proposal()).finished


def test_a_certified_upper_bound_below_the_guess_is_taken_over():
    game, schedule = discrepancy(), Theory(delta=0.5)
    answer = ml.solve(game, tol=1e-6)
    known = Incumbent(game).offered(ml.engines.Proposal(X=answer.matrix, y=answer.y))
    state = schedule.init(game.game, known, published(game))
    assert state.high == known.upper and state.low == known.lower
    assert known.lower <= state.alpha <= known.upper


def test_solve_with_the_published_schedule_is_honest():
    game = discrepancy()
    solution = ml.solve(
        game, method=MatrixMultiplicativeWeights(Theory(delta=0.5), oracle=SortedListOracle), tol=1e-3, max_iter=30_000
    )
    optimum = ml.solve(game, tol=1e-9)
    assert solution.lower <= optimum.upper and optimum.lower <= solution.upper
    assert "delta = 0.5" in solution.explain()
    assert solution.upper <= (1 + 0.5) / (1 - 0.5) * optimum.value * (1 + 1e-9)


def packing(seed):
    """max C.X over A_j.X <= 1, a trace row among them: b > 0, and the width of D_alpha is that of its vertices."""
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((3, 2, 2))
    A = np.concatenate([np.eye(2)[None], 0.3 * roots @ roots.transpose(0, 2, 1)])
    C = np.diag([1.0, 0.8]) + 0.1
    return ml.LinearSDP(C, A, np.ones(4))


SLOW = pytest.mark.slow


# of the first 400 seeds with a guess that succeeds, those with the fewest rounds: 9942, 6262 and 7872
@pytest.mark.parametrize("seed", [1, pytest.param(27, marks=SLOW), pytest.param(303, marks=SLOW)])
def test_algorithm_1_on_the_general_form_keeps_to_theorem_4_3_2(seed):
    """Every guess that never fails proves (1 + delta) alpha by the average of its y, and no guess takes more than T."""
    program, schedule, guesses = packing(seed), Theory(delta=0.5), []

    class Watched(MatrixMultiplicativeWeights):
        def step(self, problem, state, incumbent):
            after = super().step(problem, state, incumbent)
            if after.proposals:
                guesses.append((problem.game, state, after))
            return after

    solution = ml.solve(program, Watched(schedule, oracle=PolytopeOracle), tol=1e-9, max_iter=60_000)
    best = ml.solve(program, tol=1e-8)
    assert "oracle: PolytopeOracle" in solution.explain() and "guesses agree" in solution.explain()
    assert solution.lower <= best.upper + 1e-9 and best.lower <= solution.upper + 1e-9
    outcomes = set()
    for game, before, after in guesses:
        shown = after.proposals[0]
        outcomes.add("fails" if shown.y is None else "succeeds")
        assert before.rounds + 1 <= schedule.rounds_for(game, before.alpha, before.oracle)
        if shown.y is not None:
            assert game.upper(shown.y) <= (1 + schedule.delta) * before.alpha * (1 + 1e-9)
        else:  # Lemma 4.2.1: X / phi is feasible with at least alpha
            assert np.all(game.prices(shown.X) >= -1e-12)
            assert float(np.vdot(game.C, shown.X)) >= before.alpha * (1 - 1e-9)
    assert outcomes == ({"fails", "succeeds"} if seed == 1 else {"succeeds"})  # the first points prove the rest


def test_a_polytope_without_width_is_refused_before_the_first_round():
    C = np.array([[1.0, 0.3], [0.3, 0.5]])  # its eigenvalues have many digits: nothing is solved on the way
    program = ml.LinearSDP(C, [np.eye(2), -np.eye(2)], [2.0, -1.0])
    with pytest.raises(ml.exceptions.CapabilityError, match=r"no width.*b_j > 0"):
        ml.solve(program, MatrixMultiplicativeWeights(Theory(), oracle=PolytopeOracle))


def test_a_game_whose_value_is_not_positive_ends_at_once():
    game = Game(np.zeros((2, 2)), DenseMap(np.eye(2)[None]), np.zeros(1), Spectraplex(2, 1.0), KnapsackSet.simplex(1))
    solution = ml.solve(Played(game), MatrixMultiplicativeWeights(Theory()), tol=1e-12, atol=1e-15)
    assert solution.status == "optimal" or "positive value" in solution.explain()


@pytest.mark.parametrize("schedule", [Theory(delta=0.5), Adaptive()])
def test_an_engine_that_is_run_alone_starts_from_the_first_points(schedule):
    """`run` without a start certifies what the problem knows at once, as `solve` does."""
    done = run(MatrixMultiplicativeWeights(schedule), discrepancy(), tol=0.3, limits=Limits(max_iter=20_000))
    assert np.isfinite(done.certificate.lower)
    assert np.isfinite(done.certificate.upper)
    assert done.certificate.gap <= 0.5


def with_schedule(game, schedule, **limits):
    method = MatrixMultiplicativeWeights(schedule, oracle=SortedListOracle)
    return ml.solve(game, method, tol=1e-3, **limits)


HEURISTICS = [
    Theory(0.5, first_delta=0.9),
    Theory(0.5, head=1),
    Theory(0.5, middle=geometric),
    Theory(0.5, keep=1.0),
    Theory.as_run(0.5),
]


@pytest.mark.parametrize("schedule", HEURISTICS)
@pytest.mark.parametrize("seed", [0, 3])
def test_the_heuristics_end_at_the_promised_accuracy_and_prove_what_they_say(schedule, seed):
    game = discrepancy(seed)
    best, found = ml.solve(game, tol=1e-9), with_schedule(game, schedule, max_iter=30_000)
    assert found.lower <= best.upper and best.lower <= found.upper
    assert "delta = 0.5" in found.explain()
    assert found.upper <= (1 + 0.5) / (1 - 0.5) * best.value * (1 + 1e-9)


def test_a_falling_delta_takes_fewer_rounds():
    game = discrepancy()
    rounds = [with_schedule(game, Theory(0.1, first_delta=first), max_iter=40_000).iterations for first in (None, 0.8)]
    assert rounds[1] < 0.8 * rounds[0]


def test_the_width_of_the_head_grows_where_the_oracle_goes_further():
    """rho counts on the first vertex; an answer with the last one is wider, and rho is then that width."""
    game = discrepancy().game
    schedule = Theory(0.5, head=1)
    widths = np.sort([np.linalg.norm(game.image(e), 2) for e in np.eye(game.Y.size)])
    assert widths[-1] > 1.1 * widths[0]
    assert schedule.width(game, 1.0) == pytest.approx(1 + widths[0])
    state = schedule._guess(game, Play(entropy_on(game.S), SortedListOracle(game)), 0.0, 2.0)
    assert schedule._rho(game, state) == pytest.approx(1 + widths[0])
    assert schedule._rho(game, dataclasses.replace(state, widest=float(widths[-1]))) == pytest.approx(1 + widths[-1])


@pytest.mark.parametrize("keep", [0.0, 1.0])
def test_what_a_failed_guess_learned_is_kept(keep):
    game, schedule = discrepancy(), Theory(0.5, keep=keep)
    incumbent = Incumbent(game)
    state = schedule._guess(game.game, published(game), 0.0, 4 * ml.solve(game, tol=1e-9).upper)
    for _ in range(30_000):
        before, state = state, schedule.step(game.game, state, incumbent)
        if state.proposals and state.proposals[0].y is None and before.rounds > 1:
            break
        for proposal in state.proposals:
            incumbent = incumbent.offered(proposal)
    assert state.proposals[0].y is None, "no guess failed"
    assert state.rounds == state.averages.count == keep * before.rounds
    np.testing.assert_allclose(state.G, keep * before.G)
