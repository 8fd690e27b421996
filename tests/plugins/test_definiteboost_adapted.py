"""(4.11) with theta adapted in one run, held to the argument of Corollary 4.2 and to cvxpy."""

import math
from dataclasses import replace

import numpy as np
import pytest
from matrixlearn_definiteboost import AdaptiveBoost, DefiniteBoost, MinMaxSDP

import matrixlearn as ml


def problem(seed, d=3, m=5):
    return MinMaxSDP(np.random.default_rng(seed).standard_normal((m, d, d)))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_theta_is_proved_to_within_nu_after_the_rounds_of_the_corollary(seed):
    """lambda_min(sum y S) / sum y >= theta_T = min_t max_j tr(W_t C_j) - nu after 2 lambda^2 ln d / nu^2 rounds."""
    p, nu = problem(seed), 0.3
    play = AdaptiveBoost().played(p)
    G, oracle, total = play.exponent.zero(p.like), replace(play.oracle, nu=nu), 0.0
    low, high = (np.array(side) for side in play.oracle.family.ranges)
    span = float(np.max(high - low))  # theta lies in every range: ||C_j - theta I|| is no more
    for _ in range(math.ceil(2 * span**2 * math.log(3) / nu**2)):
        answer = oracle(play.exponent(G))
        G, oracle, total = G + answer.step * answer.loss, answer.then, total + answer.step
    S = p.game.A.apply(oracle.recent / oracle.recent.sum())
    assert np.linalg.eigvalsh(S)[0] >= oracle.best - nu - 1e-9
    assert oracle.recent.sum() == pytest.approx(total)  # nu did not fall: no step was left out
    assert np.max(p.game.A.adjoint(oracle.at)) == pytest.approx(oracle.best)


@pytest.mark.parametrize("seed", [0, 1])
def test_one_run_ends_where_cvxpy_does(seed):
    p = problem(seed)
    reference = p.reference()
    reference.solve(solver="CLARABEL")
    solution = ml.solve(p, AdaptiveBoost(), tol=0.05, max_iter=20_000)
    assert solution.status == "optimal"
    assert solution.lower <= reference.value + 1e-6 and reference.value - 1e-6 <= solution.upper
    assert "AdaptedTheta" in solution.explain()


def test_another_problem_is_refused_by_name():
    with pytest.raises(ml.exceptions.CapabilityError, match="adapted-theta is for MinMaxSDP"):
        ml.solve(DefiniteBoost(np.eye(2)[None], upper=1.0), AdaptiveBoost())


def test_one_matrix_is_its_smallest_eigenvalue():
    S = np.diag([1.0, 2.0, 4.0])
    solution = ml.solve(MinMaxSDP(S[None]), AdaptiveBoost(), tol=0.02, max_iter=5_000)
    assert -solution.upper <= 1.0 <= -solution.lower
    assert solution.gap <= 0.02
