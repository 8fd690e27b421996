"""ResponseOracle in rounds that are written down a second time: sums of losses, the hint, the steps, the averages."""

import numpy as np
import pytest

from matrixlearn.oracles import ResponseOracle

ROOM = 0.7


def rounds(count, seed=0):
    """(the sum that the mirror map sees, the move, the response) of each round, X and losses drawn at random."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((count, 3, 3))
    losses, ys = A + A.swapaxes(1, 2), rng.standard_normal((count, 2))
    B = rng.standard_normal((count, 3, 3))
    matrices = B @ B.swapaxes(1, 2)
    at, G, seen = iter(range(count)), np.zeros((3, 3)), []

    def response(X):
        t = next(at)
        return losses[t], ys[t]

    oracle = ResponseOracle(response, ROOM)
    for t in range(count):
        move = oracle(matrices[t])
        G, oracle = G + move.step * move.loss, move.then
        seen.append((G, move, oracle))
    return losses, ys, matrices, seen


def steps(losses, matrices):
    """eta_t by the formula of the class, (T + 1,): that of round t is known before it."""
    first = ROOM / np.linalg.norm(losses[0], 2)
    paid, out = 0.0, [first, first]
    for t in range(1, len(losses)):
        surprise = losses[t - 1] - (losses[t - 2] if t > 1 else 0.0)
        paid += max(np.sum(surprise * (matrices[t - 1] - matrices[t])), 0.0)
        out.append(1 / (1 / first + paid / ROOM))
    return np.array(out)


def test_the_sum_holds_each_loss_once_at_its_own_step_and_the_last_in_advance():
    """G_t = sum_{s <= t} eta_s L_s + eta_{t+1} L_t."""
    losses, _, matrices, seen = rounds(9)
    eta = steps(losses, matrices)
    for t, (G, _, _) in enumerate(seen):
        expected = np.tensordot(eta[: t + 1], losses[: t + 1], axes=1) + eta[t + 1] * losses[t]
        np.testing.assert_allclose(G, expected, atol=1e-12)


def test_steps_fall_with_what_the_losses_have_cost():
    losses, _, matrices, seen = rounds(9)
    eta = steps(losses, matrices)
    assert eta[-1] < 0.5 * eta[0]
    assert [oracle.hinted for *_, oracle in seen] == pytest.approx(list(eta[1:]))


def test_averages_are_weighted_by_the_steps_and_start_afresh_at_powers_of_two():
    losses, ys, matrices, seen = rounds(9)
    eta = steps(losses, matrices)
    for t, (_, move, _) in enumerate(seen):
        since = 0 if t == 0 else 2 ** int(np.log2(t))  # rounds 0, 1, 2, 4, 8 begin
        weights = eta[since : t + 1] / eta[since : t + 1].sum()
        np.testing.assert_allclose(move.y, weights @ ys[since : t + 1], atol=1e-12)
        np.testing.assert_allclose(move.point, np.tensordot(weights, matrices[since : t + 1], axes=1), atol=1e-12)
