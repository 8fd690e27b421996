"""Pauli strings and measurements against their matrices, adjoint identities, states, and online learning from them."""

import itertools
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_meg import Lemma32, MEGLearner, Sparse
from matrixlearn_meg.instances import Instance
from matrixlearn_quantum import (
    PauliMeasurement,
    PauliString,
    all_settings,
    fidelity,
    ghz_state,
    pauli_expectations,
    pauli_labels,
    pauli_sum,
    random_state,
    sample_counts,
    string_means,
    w_state,
)

from matrixlearn.exceptions import ProblemError

seeds = st.integers(0, 2**32 - 1)
PAULI = {
    "I": np.eye(2),
    "X": np.array([[0, 1], [1, 0]]),
    "Y": np.array([[0, -1j], [1j, 0]]),
    "Z": np.diag([1.0, -1.0]),
}


def matrix(label):
    return reduce(np.kron, [PAULI[letter] for letter in label])


def hermitian(rng, d):
    A = rng.standard_normal((d, d)) + 1j * rng.standard_normal((d, d))
    return A + A.conj().T


@pytest.mark.parametrize("q", [1, 2, 3])
def test_a_string_is_its_matrix(q):
    rng = np.random.default_rng(q)
    d = 2**q
    W, v = hermitian(rng, d), rng.standard_normal(d) + 1j * rng.standard_normal(d)
    for label in pauli_labels(q):
        weight = float(rng.standard_normal())
        P, string = weight * matrix(label), PauliString(label, weight)
        np.testing.assert_array_equal(np.asarray(string), P)
        np.testing.assert_allclose(string @ v, P @ v, atol=1e-14)
        np.testing.assert_allclose(string @ W, P @ W, atol=1e-14)
        assert string.inner(W) == pytest.approx(np.trace(W @ P).real, abs=1e-12)
        G = W.copy()
        string.add_to(G, 0.3)
        np.testing.assert_allclose(G, W + 0.3 * P, atol=1e-14)
        w = np.linalg.eigvalsh(P)
        assert string.spread == pytest.approx(w[-1] - w[0], abs=1e-14)
        assert string.is_complex == bool(np.any(P.imag))
        U, s = string.factors()
        np.testing.assert_allclose((U * s) @ U.conj().T, P, atol=1e-14)
        np.testing.assert_allclose(U.conj().T @ U, np.eye(d), atol=1e-14)


def test_a_string_is_an_instance_of_online_learning():
    string = PauliString("XYZ")
    assert isinstance(string, Instance)
    assert (string.x, string.z, string.d) == (0b110, 0b011, 8)


def test_the_sign_of_y():
    """(|0> + i |1>) / sqrt(2) has <Y> = 1 and never gives the outcome 1: tr(X^T W) would say -1 and always."""
    psi = np.array([1, 1j])
    rho = np.outer(psi, psi.conj()) / 2
    assert PauliString("Y").inner(rho) == pytest.approx(1)
    np.testing.assert_allclose(PauliMeasurement(["Y"]).probabilities(rho), [[1, 0]], atol=1e-15)


@given(seeds, st.integers(1, 4))
def test_expectations_and_sums_of_all_strings(seed, q):
    rng = np.random.default_rng(seed)
    rho, c = hermitian(rng, 2**q), rng.standard_normal(4**q)
    e = pauli_expectations(rho)
    labels = pauli_labels(q)
    for k in rng.integers(0, 4**q, 8):
        assert e[k] == pytest.approx(np.trace(matrix(labels[k]) @ rho).real, abs=1e-10)
    S = pauli_sum(c)
    assert np.vdot(S, rho).real == pytest.approx(c @ e, abs=1e-9)  # the adjoint
    np.testing.assert_allclose(pauli_sum(e) / 2**q, rho, atol=1e-12)  # the inverse
    np.testing.assert_allclose(pauli_expectations(S) / 2**q, c, atol=1e-12)


def test_a_sum_is_the_sum_of_its_matrices():
    c = np.random.default_rng(0).standard_normal(64)
    np.testing.assert_allclose(pauli_sum(c), sum(x * matrix(p) for x, p in zip(c, pauli_labels(3), strict=True)))


@given(seeds, st.integers(1, 4))
def test_the_means_of_exact_frequencies_are_the_expectations(seed, q):
    """Every string that the settings show, of probabilities in place of counts; settings without shots tell nothing."""
    rho = random_state(q, random_state=seed)
    settings = [*all_settings(q), "Z" * q]
    p = PauliMeasurement(settings).probabilities(rho)
    p[-1] = 0.0
    found = list(string_means(settings, p))
    assert len(found) == 3**q * (2**q - 1)
    assert {string.label for string, _ in found} == set(pauli_labels(q)) - {"I" * q}
    np.testing.assert_allclose([mean for _, mean in found], [s.inner(rho) for s, _ in found], atol=1e-12)
    with pytest.raises(ProblemError, match="counts must be real, one row"):
        next(string_means(settings, p[:1]))
    with pytest.raises(ProblemError, match="counts must not be negative"):
        next(string_means(settings, -p))


@given(seeds, st.integers(1, 5), st.booleans())
def test_probabilities_and_their_adjoint(seed, q, some):
    """<sum y_k E_k, rho> = sum y_k p_k for every Hermitian rho and every y; and E_k is the product of projectors."""
    rng = np.random.default_rng(seed)
    settings = all_settings(q)
    if some:
        settings = [settings[s] for s in rng.integers(0, len(settings), int(rng.integers(1, 8)))]
    measurement = PauliMeasurement(settings)
    rho, y = hermitian(rng, 2**q), rng.standard_normal(measurement.outcomes)
    p = measurement.probabilities(rho)
    assert np.vdot(measurement.apply(y), rho).real == pytest.approx(np.sum(y * p), abs=1e-9 * np.abs(p).sum())
    np.testing.assert_allclose(p.sum(axis=1), np.trace(rho).real, atol=1e-11)
    s, b = int(rng.integers(len(settings))), int(rng.integers(2**q))
    bits = np.binary_repr(b, q)
    E = reduce(
        np.kron, [(np.eye(2) + (-1) ** int(bit) * PAULI[x]) / 2 for x, bit in zip(settings[s], bits, strict=True)]
    )
    assert p[s, b] == pytest.approx(np.trace(E @ rho).real, abs=1e-11)
    one = np.zeros(measurement.outcomes)
    one[s, b] = 1
    np.testing.assert_allclose(measurement.apply(one), E, atol=1e-14)


def test_the_sparse_maps_are_the_fast_ones():
    import scipy.sparse as sp

    measurement = PauliMeasurement(["XY", "ZZ", "YX", "XY"])
    rho = random_state(2, None, 0)
    string, i, j, value = measurement.expectation_entries()
    to_expectations = sp.csr_array((value, (string, 4 * i + j)), shape=(16, 16))
    outcome, string, value = measurement.outcome_entries()
    to_outcomes = sp.csr_array((value, (outcome, string)), shape=(16, 16))
    p = to_outcomes @ (to_expectations @ rho.reshape(-1)).real
    np.testing.assert_allclose(p.reshape(4, 4), measurement.probabilities(rho), atol=1e-15)


# -- states ---------------------------------------------------------------------------------------


def test_known_states():
    ghz, w = pauli_expectations(ghz_state(3)), pauli_expectations(w_state(3))
    known = dict(zip(pauli_labels(3), ghz, strict=True))
    assert {label: round(v) for label, v in known.items() if abs(v) > 1e-12} == {
        "III": 1, "IZZ": 1, "ZIZ": 1, "ZZI": 1, "XXX": 1, "XYY": -1, "YXY": -1, "YYX": -1,
    }  # fmt: skip
    known = dict(zip(pauli_labels(3), w, strict=True))
    assert [known[p] for p in ("ZII", "ZZI", "ZZZ", "XXI", "YYI")] == pytest.approx([1 / 3, -1 / 3, -1, 2 / 3, 2 / 3])


@given(seeds, st.integers(1, 3))
def test_fidelity(seed, q):
    rng = np.random.default_rng(seed)
    rho, sigma = (random_state(q, int(rng.integers(1, 2**q + 1)), rng) for _ in range(2))
    psi = rng.standard_normal(2**q) + 1j * rng.standard_normal(2**q)
    psi /= np.linalg.norm(psi)
    F = fidelity(rho, sigma)
    assert -1e-12 <= F <= 1 + 1e-9
    assert pytest.approx(fidelity(sigma, rho), abs=1e-9) == F
    assert fidelity(rho, rho) == pytest.approx(1, abs=1e-9)
    assert fidelity(rho, psi) == pytest.approx(np.vdot(psi, rho @ psi).real, abs=1e-7)
    U = np.linalg.qr(hermitian(rng, 2**q))[0]
    assert fidelity(U @ rho @ U.conj().T, U @ sigma @ U.conj().T) == pytest.approx(F, abs=1e-7)
    a, b = rng.dirichlet(np.ones(2**q), 2)
    assert fidelity(np.diag(a), np.diag(b)) == pytest.approx(np.sqrt(a * b).sum() ** 2, abs=1e-12)
    p, q_ = (PauliMeasurement(["X" * q]).probabilities(state)[0] for state in (rho, sigma))
    assert np.sqrt(np.maximum(p * q_, 0)).sum() ** 2 + 1e-7 >= F  # no measurement tells them apart better


@pytest.mark.parametrize(("q", "rank"), [(1, None), (3, 1), (3, 2)])
def test_random_states(q, rank):
    rho = random_state(q, rank, 0)
    np.testing.assert_allclose(rho, random_state(q, rank, 0), atol=1e-14)
    assert np.trace(rho).real == pytest.approx(1, abs=1e-14)
    assert np.linalg.matrix_rank(rho, tol=1e-10) == (rank or 2**q)


def test_sampled_counts():
    rho, settings, shots = random_state(3, 2, 0), all_settings(3), 10_000
    n = sample_counts(rho, settings, shots, 1)
    np.testing.assert_array_equal(n, sample_counts(rho, settings, shots, 1))
    assert np.any(n != sample_counts(rho, settings, shots, 2))
    np.testing.assert_array_equal(n.sum(axis=1), shots)
    p = PauliMeasurement(settings).probabilities(rho)
    assert np.max(np.abs(n - shots * p) / np.sqrt(shots * np.maximum(p, 1e-3))) < 5  # of 216 outcomes
    np.testing.assert_array_equal(sample_counts([0, 1, 0, 0], ["ZZ"], 7), [[0, 7, 0, 0]])  # |01>, a vector


# -- online ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [ghz_state(3), random_state(3, 2, 4)], ids=["ghz", "rank 2"])
def test_online_learning_from_pauli_expectations_finds_the_state(state):
    rng = np.random.default_rng(0)
    labels = pauli_labels(3)[1:]

    def stream(rounds):
        for k in rng.integers(0, len(labels), rounds):
            string = PauliString(labels[k])
            yield string, string.inner(state)

    learner = MEGLearner(8, rate=0.25)
    before = fidelity(learner.W, state)
    learner.learn(stream(3000))
    assert fidelity(learner.W, state) > 0.97 > before
    assert np.iscomplexobj(learner.W)
    assert abs(np.trace(learner.W) - 1) < 1e-12


def test_a_learner_uses_a_string_as_it_is():
    """Neither __array__ nor a decomposition: with both taken away it teaches what its entries teach."""

    class Bare(PauliString):
        def __array__(self, dtype=None, copy=None):
            pytest.fail("made dense")

        def factors(self):
            pytest.fail("decomposed")

    strings = [Bare(a + b) for a, b in itertools.product("XYZ", repeat=2)]
    whole, entries = MEGLearner(4, rate=0.2), MEGLearner(4, rate=0.2)
    whole.learn((s, 0.3) for s in strings)
    entries.learn((Sparse(*s.entries, s.d), 0.3) for s in strings)
    np.testing.assert_allclose(whole.W, entries.W, atol=1e-13)
    assert whole.predict(strings[0]) == pytest.approx(entries.predict(np.kron(PAULI["X"], PAULI["X"])), abs=1e-13)
    with pytest.raises(ProblemError, match="4 x 4 instance, got 8 x 8"):
        whole.learn([(PauliString("XYZ"), 0.3)])


def test_the_range_of_a_string_is_exact_for_the_rate():
    """r = 2 is enough for Lemma 3.2; a sparse matrix of the same entries is only known to have sqrt(2 d)."""
    string = PauliString("XYZ")
    learner = MEGLearner(8, Lemma32(r=2.0)).learn([(string, 0.3)])
    assert learner.rounds == 1
    with pytest.raises(ProblemError, match="more than the"):
        learner.learn([(Sparse(*string.entries, string.d), 0.3)])
