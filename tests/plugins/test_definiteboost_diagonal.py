"""EG, Hedge and AdaBoost: the same numbers as their definitions and as scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_definiteboost import (
    Algorithm2,
    DefiniteBoost,
    EdgeProblem,
    adaboost,
    boost_with_oracle,
    eg_step,
    hedge,
    multiplicative_weights,
    multiplicative_weights_bound,
)

import matrixlearn as ml
from matrixlearn.engines import Limits, run
from matrixlearn.exceptions import ProblemError

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(1, 8), st.floats(1e-3, 5.0))
def test_a_step_of_exponentiated_gradient_is_its_definition(seed, d, rate):
    rng = np.random.default_rng(seed)
    w, x, y = rng.dirichlet(np.ones(d)) + 1e-9, rng.standard_normal(d), float(rng.standard_normal())
    w /= w.sum()
    raw = w * np.exp(-2 * rate * (w @ x - y) * x)
    np.testing.assert_allclose(eg_step(w, x, y, rate), raw / raw.sum(), rtol=1e-11)


@given(seeds, st.integers(1, 6), st.integers(1, 40), st.floats(0.01, 2.0))
def test_hedge_is_its_recursion_and_keeps_its_regret_bound(seed, n, rounds, rate):
    losses = np.random.default_rng(seed).uniform(0, 1, (rounds, n))
    weights, w = hedge(losses, rate), np.full(n, 1.0 / n)
    for given_weights, loss in zip(weights, losses, strict=True):
        np.testing.assert_allclose(given_weights, w, rtol=1e-9, atol=1e-15)
        w = w * np.exp(-rate * loss)
        w /= w.sum()
    paid = float(np.sum(weights * losses))
    assert paid <= losses.sum(axis=0).min() + math.log(n) / rate + rate * rounds / 8 + 1e-9


@given(seeds, st.integers(1, 6), st.integers(1, 60), st.floats(0.01, 0.5), st.floats(0.1, 10.0))
def test_the_printed_rule_of_multiplicative_weights_keeps_to_4_1(seed, n, rounds, epsilon, width):
    """Losses of both signs, sometimes those of an adversary who always hits the heaviest expert."""
    rng = np.random.default_rng(seed)
    losses, w = width * rng.uniform(-1, 1, (rounds, n)), np.ones(n)
    if seed % 2:
        losses = np.zeros((rounds, n))
    before = []
    for t in range(rounds):
        if seed % 2:
            losses[t, np.argmax(w)] = width * rng.choice([1.0, -0.5])
        before.append(w / w.sum())
        w = w * np.where(losses[t] >= 0, (1 - epsilon) ** (losses[t] / width), (1 + epsilon) ** (-losses[t] / width))
    weights = multiplicative_weights(losses, epsilon, width)
    np.testing.assert_allclose(weights, before, rtol=1e-9)
    gains, costs = np.minimum(losses, 0).sum(axis=0), np.maximum(losses, 0).sum(axis=0)
    allowed = width * math.log(n) / epsilon + np.min((1 + epsilon) * costs + (1 - epsilon) * gains)
    assert np.sum(weights * losses) <= allowed + 1e-9 * width * rounds
    assert multiplicative_weights_bound(losses, epsilon, width) == pytest.approx(allowed, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "width", "named"), [(0.6, 1.0, "epsilon"), (0.0, 1.0, "epsilon"), (0.1, 0.5, "width")]
)
def test_what_4_1_is_not_about_is_refused(epsilon, width, named):
    with pytest.raises(ml.exceptions.ProblemError, match=f"^{named} must"):
        multiplicative_weights(np.ones((2, 2)), epsilon, width)


def schapire_and_singer(M, rounds):
    """AdaBoost as printed (1999), without the library."""
    D = np.full(M.shape[1], 1.0 / M.shape[1])
    out = []
    for _ in range(rounds):
        edges = M @ D
        j = int(np.argmax(edges))
        if not 1e-12 < edges[j] < 1:  # smaller ones are rounding
            break
        alpha = 0.5 * math.log((1 + edges[j]) / (1 - edges[j]))
        out.append((j, alpha, D))
        D = D * np.exp(-alpha * M[j])
        D = D / D.sum()
    return out


@given(seeds, st.integers(1, 6), st.integers(2, 20), st.booleans())
def test_adaboost_is_that_of_schapire_and_singer(seed, m, d, confident):
    rng = np.random.default_rng(seed)
    M = rng.uniform(-1, 1, (m, d)) if confident else rng.choice([-1.0, 1.0], (m, d))
    expected, found = schapire_and_singer(M, 15), adaboost(M, 15)
    ties = [k for k, (j, _, D) in enumerate(expected) if np.sum((M @ D)[j] - M @ D < 1e-9) > 1]
    first = ties[0] if ties else 15
    shared = min(len(expected), first)  # up to the first tie of edges, which rounding decides
    assert len(found.chosen) >= shared
    for k in range(shared):
        j, alpha, D = expected[k]
        assert found.chosen[k] == j
        assert found.alphas[k] == pytest.approx(alpha, abs=1e-12)
        np.testing.assert_allclose(found.weights[k], D, atol=1e-12)


def test_sklearns_estimator_weights_are_twice_alpha():
    from sklearn.datasets import make_classification
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    X, labels = make_classification(n_samples=200, n_features=6, random_state=0)
    peer = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=12, random_state=0).fit(X, labels)
    sign = 2 * labels - 1
    M = np.array([sign * (2 * tree.predict(X) - 1) for tree in peer.estimators_], dtype=float)
    order = iter(range(len(M)))
    ours = adaboost(M, len(M), choose=lambda edges: next(order))
    np.testing.assert_allclose(2 * ours.alphas, peer.estimator_weights_, rtol=1e-10)


@given(seeds, st.integers(1, 5), st.integers(2, 8))
def test_adaboost_is_definiteboost_on_diagonal_matrices(seed, m, d):
    M = np.random.default_rng(seed).choice([-1.0, 1.0], (m, d))
    M[:, :2] = [1.0, -1.0]  # eigenvalues in [-1, 1], both attained
    ours = adaboost(M, 6)
    p = DefiniteBoost([np.diag(row) for row in M])
    done = run(Algorithm2(), p, tol=-1.0, limits=Limits(max_iter=6))
    y = np.zeros(m)
    np.add.at(y, ours.chosen, ours.alphas)
    if len(ours.chosen) == 6:
        dual = p.dual_value(done.state.oracle.y)
        np.testing.assert_allclose(dual, EdgeProblem(M).bound_from_vector(y).lower, atol=1e-9)


def test_a_perfect_combination_proves_that_no_weights_are_without_edge():
    M = np.array([[1.0, 1, -1, 1], [1, -1, 1, 1], [-1, 1, 1, 1]])  # the majority of three is right everywhere
    solution = ml.solve(EdgeProblem(M), method="mirror", max_iter=1000)
    assert solution.status == "infeasible"
    assert np.all(solution.y @ M > 0)


@given(seeds, st.integers(1, 4), st.integers(2, 6))
def test_bounds_of_the_edge_problem_bracket_cvxpys_optimum(seed, m, d):
    M = np.random.default_rng(seed).uniform(-1, 1, (m, d))
    p = EdgeProblem(M)
    reference = p.reference()
    reference.solve(solver="CLARABEL")
    solution = ml.solve(p, method="mirror", max_iter=200)
    if reference.status == "optimal":
        assert solution.lower <= reference.value + 1e-6 <= solution.upper + 2e-6
    elif reference.status == "infeasible":
        assert solution.status in ("infeasible", "stopped")


# -- constraints that are never listed -----------------------------------------------------------------------


def largest_entry_oracle(limit):
    """tr(W v v^T) <= limit for *all* unit vectors v: named by the top eigenvector."""

    def separate(W):
        w, V = np.linalg.eigh(W)
        v = V[:, -1]
        return None if w[-1] <= limit else np.outer(v, v) - limit * np.eye(len(W))

    return separate


def test_an_oracle_may_stand_for_infinitely_many_constraints():
    W_1 = np.diag([0.7, 0.2, 0.1])
    found = boost_with_oracle(largest_entry_oracle(0.5), W_1, tol=1e-8, accuracy=1e-7)
    assert found.satisfied and found.solution.status == "optimal"
    np.testing.assert_allclose(found.matrix, np.diag([0.5, 0.5 * 2 / 3, 0.5 / 3]), atol=1e-4)  # eigenvalues capped
    assert len(found.named) >= 1


def test_an_oracle_that_is_content_leaves_the_initial_matrix():
    W_1 = np.eye(3) / 3
    found = boost_with_oracle(largest_entry_oracle(0.5), W_1)
    assert found.satisfied and found.solution is None
    np.testing.assert_array_equal(found.matrix, W_1)


def test_an_oracle_of_an_infeasible_family_ends_with_the_proof():
    found = boost_with_oracle(largest_entry_oracle(0.2), np.eye(3) / 3, max_rounds=500)
    assert not found.satisfied
    assert found.solution.status == "infeasible"


@given(seeds, st.integers(2, 4), st.integers(1, 6))
def test_an_oracle_over_a_list_ends_where_the_list_does(seed, d, m):
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((m, d, d))
    inside = rng.dirichlet(np.ones(d))
    C -= (np.einsum("jaa,a->j", C, inside) + 0.1)[:, None, None] * np.eye(d)

    def separate(W):
        values = np.einsum("jab,ba->j", C, W)
        return C[int(np.argmax(values))] if values.max() > 0 else None

    found, listed = boost_with_oracle(separate, np.eye(d) / d, tol=1e-8), ml.solve(DefiniteBoost(C), tol=1e-8)
    assert found.satisfied
    value = 0.0 if found.solution is None else found.solution.value
    assert value == pytest.approx(listed.value, abs=1e-4)


def test_an_oracle_must_answer_a_matrix_of_the_right_size():
    with pytest.raises(ProblemError, match="separate must answer"):
        boost_with_oracle(lambda W: np.eye(2), np.eye(3) / 3)
    with pytest.raises(ProblemError, match="initial must be a square matrix"):
        boost_with_oracle(lambda W: None, np.ones(3))
