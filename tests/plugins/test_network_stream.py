"""The stream of jointly sparse tasks: its formula, what each part gains, divergence, bad input, and its errata."""

import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_network import (
    ConcaveJointlySparse,
    DivergenceError,
    GraphWarning,
    JointlySparse,
    JointlySparseLearner,
    complete,
)

from matrixlearn.exceptions import MatrixLearnError, ProblemError

M, D = 6, 4
RING = nx.to_numpy_array(nx.cycle_graph(M))
HEARD = RING + np.eye(M) > 0
PHI = {
    "l21": lambda t, eps: t,
    "rw": lambda t, eps: np.log(1 + eps * t),
    "l20": lambda t, eps: np.where(t <= 1 / eps, eps * t - (eps * t) ** 2 / 2, 0.5),  # what (17) is the slope of
}
seeds = st.integers(0, 2**31 - 2)


def learned(W, mu=0.05, tau=0.0, gamma=0.0, penalty="l21", combiners="fixed", graph=RING, **more):
    """A learner whose weights are W, (m, d)."""
    learner = JointlySparseLearner(graph, mu, tau, gamma, penalty, combiners, **more)
    learner._W = np.array(W, dtype=float)
    return learner


def sample(rng, W=None, noise=0.3):
    u = rng.standard_normal((M, D))
    W = np.zeros((M, D)) if W is None else W
    return u, np.sum(u * W, axis=1) + noise * rng.standard_normal(M)


@given(seeds, st.sampled_from(["fixed", "adaptive"]), st.sampled_from(["l21", "rw", "l20"]))
def test_a_step_is_the_formula(seed, combiners, penalty):
    """(9) to (17), node by node; a row of zeros is not pulled."""
    rng = np.random.default_rng(seed)
    W = 0.3 * rng.standard_normal((M, D)) * (rng.random(D) < 0.7)
    u, d = sample(rng)
    mu, tau, gamma, eps, iota = 0.05, 0.3, 0.02, 3.0, 2.0
    learner = learned(W, mu, tau, gamma, penalty, combiners, epsilon=eps, iota=iota).step(u, d)
    expected = W.copy()
    for k in range(M):
        expected[k] += mu * (d[k] - u[k] @ W[k]) * u[k]
        near = [j for j in range(M) if RING[k, j]]
        for j in near:
            c = 2 / len(near) / (1 + np.exp(iota * np.sum((W[k] - W[j]) ** 2))) if combiners == "adaptive" else 1 / 3
            expected[k] -= tau * c * (W[k] - W[j])
        for r in range(D):
            t = np.linalg.norm(W[HEARD[k], r])
            if t > 0:
                factor = {"l21": 1 / t, "rw": eps / (t * (1 + eps * t)), "l20": max(eps / t - eps**2, 0.0)}[penalty]
                expected[k, r] -= gamma * factor * W[k, r]
    np.testing.assert_allclose(learner.weights, expected.T, atol=1e-12)
    assert learner.steps == 1 and learner.vectors_sent == 2 * M


def steady(penalty, tau, gamma, combiners, steps=1200):
    """Mean-square deviation in dB, two groups of nodes on a graph of degree 4, three features of twenty used."""
    rng, m, d = np.random.default_rng(3), 16, 20
    graph = nx.to_numpy_array(nx.random_regular_graph(4, m, seed=3))
    truth = np.zeros((d, m))
    truth[:3] = rng.standard_normal((3, 2))[:, rng.integers(0, 2, m)]
    learner = JointlySparseLearner(graph, 0.02, tau, gamma, penalty, combiners)
    found = []
    for step in range(steps):
        u = rng.standard_normal((m, d))
        learner.step(u, np.sum(u * truth.T, axis=1) + 0.1 * rng.standard_normal(m))
        if step >= steps - 400:
            found.append(learner.deviation(truth))
    return 10 * np.log10(np.mean(found))


def test_what_each_part_gains_where_tasks_fall_into_groups():
    """Orders of the design's table: adaptive combiners gain, L20 gains more than RW, RW more than L21."""
    alone = steady("l21", 0.0, 0.0, "fixed")
    combined = steady("l21", 0.1, 0.0, "adaptive")
    l21, rw, l20 = (steady(p, 0.1, g, "adaptive") for p, g in (("l21", 3e-4), ("rw", 3e-4), ("l20", 3e-4)))
    assert alone - 3 > combined > l21 > rw > l20
    assert l20 < alone - 8
    assert steady("l21", 0.1, 0.0, "fixed") > alone + 3  # fixed combiners mix the groups


def test_a_diverging_learner_is_noticed_and_named():
    rng = np.random.default_rng(0)
    learner = JointlySparseLearner(RING, 5.0, 0.1, 0.0)
    W = rng.standard_normal((M, D))
    stream = (sample(rng, W) for _ in range(200))
    with pytest.raises(DivergenceError, match=r"weights of node \d grew beyond all bounds in \d+ steps: mu = 5 is too"):
        learner.learn(stream)
    kept, steps = learner.weights, learner.steps
    assert np.all(np.isfinite(kept)) and steps > 2
    with pytest.raises(DivergenceError, match="is safe here"):
        learner.step(*sample(rng, W))
    np.testing.assert_array_equal(learner.weights, kept)
    calm = JointlySparseLearner(RING, 0.1, 0.1, 0.0)
    for _ in range(500):
        calm.step(*sample(rng, W))
    assert calm.deviation(W.T) < 0.1


def test_iota_may_be_huge():
    rng = np.random.default_rng(0)
    W = rng.standard_normal((M, D))
    u, d = sample(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far = learned(W, tau=0.5, combiners="adaptive", iota=1e308).step(u, d)
        same = learned(np.ones((M, D)), tau=0.5, combiners="adaptive", iota=1e308).step(u, d)
    np.testing.assert_allclose(far.weights, learned(W).step(u, d).weights)  # all are left alone
    assert np.all(np.isfinite(same.weights))


REFUSED = {
    "mu must be a number > 0": {"mu": 0.0},
    "tau must be a number >= 0 and < 1": {"tau": 1.0},
    "gamma must be a number >= 0": {"gamma": -1.0},
    "epsilon must be a finite number > 0": {"epsilon": 0.0},
    "iota must be a finite number >= 0": {"iota": -1.0},
    "penalty must be one of": {"penalty": "l0"},
    "combiners must be 'adaptive' or 'fixed'": {"combiners": "given"},
    "graph must be a Graph": {"graph": 5},
    "graph must be symmetric": {"graph": np.triu(RING)},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_is_refused_by_name(message):
    with pytest.raises(ProblemError, match=message):
        JointlySparseLearner(**({"graph": RING, "mu": 0.1, "tau": 0.1, "gamma": 0.0} | REFUSED[message]))


SAMPLES = {
    r"u of shape \(6, 4\) and d of shape \(6,\), got \(5, 4\)": (np.zeros((5, D)), np.zeros(5)),
    r"got \(6, 3\)": (np.zeros((M, 3)), np.zeros(M)),
    "u.*NaN": (np.full((M, D), np.nan), np.zeros(M)),
    "d.*NaN": (np.zeros((M, D)), np.full(M, np.nan)),
}


@pytest.mark.parametrize("message", SAMPLES)
def test_samples_that_cannot_be_are_refused_and_leave_no_trace(message):
    learner = learned(np.ones((M, D)))
    with pytest.raises(ProblemError, match=message):
        learner.step(*SAMPLES[message])
    assert learner.steps == 0 and np.all(learner.weights == 1)
    with pytest.raises(ProblemError, match="truth must have shape"):
        learner.deviation(np.zeros((M, D)))


def test_one_node_and_one_feature_learn():
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        learner = JointlySparseLearner(np.zeros((1, 1)), 0.1, 0.5, 1e-4)
    with pytest.raises(MatrixLearnError, match="has seen no sample"):
        _ = learner.weights
    U = rng.standard_normal((300, 1, 1))
    learner.partial_fit(U, 2.0 * U[:, :, 0])
    assert learner.weights[0, 0] == pytest.approx(2.0, abs=0.1)
    assert learner.predict([[3.0]])[0] == pytest.approx(6.0, abs=0.3)


def test_weights_are_certified_against_the_problem_of_the_rows_seen():
    rng, n = np.random.default_rng(1), 400
    W = np.zeros((M, D))
    W[:, :2] = 1 + 0.2 * rng.standard_normal((M, 2))
    U, noise = rng.standard_normal((n, M, D)), 0.3 * rng.standard_normal((n, M))
    d = np.einsum("tmd,md->tm", U, W) + noise
    rho, eta = 0.1, 0.02
    learner = JointlySparseLearner(complete(M), 0.02, 0.02 * rho, 0.02 * eta, "l21", "fixed").partial_fit(U, d)
    rows = [np.ascontiguousarray(U[:, k]) for k in range(M)], [d[:, k] for k in range(M)]
    for problem, rigour in (
        (JointlySparse(*rows, complete(M), rho, eta), "checked"),
        (ConcaveJointlySparse(*rows, complete(M), rho, eta / 10), "blockwise"),
    ):
        certificate = learner.against(problem)
        assert certificate.rigour == rigour
        assert 0 < certificate.lower < problem.value(learner.weights) <= certificate.upper
        assert certificate.gap < 0.5


# -- errata ------------------------------------------------------------------------------------------


def test_e15_the_error_is_that_of_the_prediction():
    rng = np.random.default_rng(0)
    W = rng.standard_normal((M, D))
    u, d = sample(rng, W, noise=0.0)
    np.testing.assert_allclose(learned(W).step(u, d).weights, W.T, atol=1e-12)  # the truth is kept
    assert np.all(np.linalg.norm(d[:, None] - u, axis=1) > 0.1)  # as printed it would not be


def test_e16_steps_are_those_of_halves_of_squares():
    rng = np.random.default_rng(0)
    W, (u, d) = rng.standard_normal((M, D)), sample(rng)
    mu, rho, eta, k = 0.05, 0.4, 0.3, 2

    def cost(w, half):
        near = [j for j in range(M) if RING[k, j]]
        fit, ties = (d[k] - u[k] @ w) ** 2, sum(np.sum((w - W[j]) ** 2) / 3 for j in near)
        rows = np.sqrt(w**2 + sum(W[j] ** 2 for j in near)).sum()
        return half * (fit + rho * ties) + eta * rows

    move = learned(W, mu, mu * rho, mu * eta).step(u, d).weights[:, k] - W[k]
    slopes = {half: differences(lambda w, half=half: cost(w, half), W[k]) for half in (0.5, 1.0)}
    np.testing.assert_allclose(move, -mu * slopes[0.5], atol=1e-7)
    assert np.linalg.norm(move + mu * slopes[1.0]) > 0.1 * np.linalg.norm(move)


def differences(function, w, h=1e-6):
    return np.array([(function(w + h * e) - function(w - h * e)) / (2 * h) for e in np.eye(len(w))])


def pull(W, penalty, epsilon=3.0):
    """f(W_k) of all nodes, (m, d), as a learner takes it."""
    nothing = np.zeros((M, D)), np.zeros(M)
    return W - learned(W, gamma=1.0, penalty=penalty, epsilon=epsilon).step(*nothing).weights.T


@pytest.mark.parametrize("penalty", PHI)
def test_e17_e18_pulls_are_the_slopes_of_the_closed_neighbourhood_with_their_epsilon(penalty):
    rng = np.random.default_rng(0)
    W, k, eps = 0.3 * rng.standard_normal((M, D)), 2, 3.0

    def norms(w, members):
        V = W.copy()
        V[k] = w
        return np.sum(PHI[penalty](np.linalg.norm(V[members], axis=0), eps))

    closed, opened = HEARD[k], RING[k] > 0
    np.testing.assert_allclose(pull(W, penalty)[k], differences(lambda w: norms(w, closed), W[k]), atol=1e-6)
    assert np.all(differences(lambda w: norms(w, opened), W[k]) == 0)  # (11) as printed does not see w_k
    if penalty == "rw":
        t = np.linalg.norm(W[closed], axis=0)
        printed = W[k] / (t * (1 + eps * t))
        assert np.linalg.norm(printed - pull(W, penalty)[k]) > 0.5 * np.linalg.norm(pull(W, penalty)[k])


@pytest.mark.parametrize("penalty", ["rw", "l20"])
def test_e19_small_rows_are_pulled_most_and_large_ones_spared(penalty):
    sizes = [np.linalg.norm(pull(np.full((M, D), t), penalty)) for t in (0.01, 0.1, 1.0)]
    assert sizes[0] > sizes[1] > 2 * sizes[2]


def test_e20_combiners_do_not_overflow():
    rng = np.random.default_rng(0)
    W = rng.standard_normal((M, D))
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert np.isinf(np.exp(np.float64(1e4) * 1.0))  # as printed
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned(W, tau=0.5, combiners="adaptive", iota=1e4).step(*sample(rng))


def test_e21_a_node_is_pulled_by_its_own_neighbourhood_only():
    rng = np.random.default_rng(0)
    W = rng.standard_normal((M, D))

    def all_norms(w):
        V = w.reshape(M, D)
        return sum(np.linalg.norm(V[HEARD[k]], axis=0).sum() for k in range(M))

    whole = differences(all_norms, W.reshape(-1)).reshape(M, D)
    share = np.linalg.norm(pull(W, "l21")) / np.linalg.norm(whole)
    assert 0.25 < share < 0.4


def test_a_learner_goes_on_from_its_file(tmp_path):
    rng = np.random.default_rng(2)
    U, d = rng.standard_normal((20, M, D)), rng.standard_normal((20, M))

    def fresh():
        return JointlySparseLearner(RING, 0.02, 0.1, 1e-3)

    whole, half = fresh().partial_fit(U, d), fresh().partial_fit(U[:10], d[:10])
    half.save(tmp_path / "half.npz")
    later = fresh().restore(tmp_path / "half.npz").partial_fit(U[10:], d[10:])
    np.testing.assert_array_equal(later.weights, whole.weights)
    assert later.steps == 20 and later.vectors_sent == whole.vectors_sent
    fresh().save(tmp_path / "new.npz")
    assert fresh().restore(tmp_path / "new.npz").steps == 0


def test_what_is_no_file_of_a_learner_is_refused_and_leaves_no_trace(tmp_path):
    learner = learned(np.ones((M, D)))
    with pytest.raises(FileNotFoundError):
        learner.restore(tmp_path / "none.npz")
    np.savez(tmp_path / "strange.npz", W=np.ones((M, D)))
    (tmp_path / "broken.npz").write_bytes(b"PK broken")
    JointlySparseLearner(complete(M + 1), 0.1, 0.1, 0.0).step(np.ones((M + 1, D)), np.ones(M + 1)).save(
        tmp_path / "other.npz"
    )
    sick = learned(np.full((M, D), np.nan))
    sick.steps = 1
    sick.save(tmp_path / "nan.npz")
    refused = {
        "strange": "it lacks 'meta'", "broken": "not the state", "other": rf"weights of shape \({M + 1}", "nan": "NaN",
    }  # fmt: skip
    for name, message in refused.items():
        with pytest.raises(MatrixLearnError, match=message):
            learner.restore(tmp_path / f"{name}.npz")
    assert np.all(learner.weights == 1) and learner.steps == 0
