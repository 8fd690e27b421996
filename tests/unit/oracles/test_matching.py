"""Theorem 4.1: sorted pairing is the minimum-weight perfect matching, and no doubly stochastic matrix is better."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.exceptions import ProblemError
from matrixlearn.oracles import bipartite_matching, minimum_weight_matching, sorted_pairing

values = st.one_of(st.floats(0, 1e3), st.sampled_from([0.0, 1.0, 2.0]))  # ties and zeros among them
spectra = st.integers(1, 7).flatmap(
    lambda n: st.tuples(st.lists(values, min_size=n, max_size=n), st.lists(values, min_size=n, max_size=n))
)


def weight(a, b, pairing):
    assert sorted(pairing) == list(range(len(a)))
    return float(np.sum(a * b[pairing]))


@given(spectra)
def test_sorted_pairing_is_the_minimum_weight_perfect_matching(drawn):
    a, b = map(np.array, drawn)
    best = weight(a, b, sorted_pairing(a, b))
    slack = 1e-9 * (1 + np.sum(a) * np.max(b))
    for solver in (minimum_weight_matching, bipartite_matching):
        assert best == pytest.approx(weight(a, b, solver(np.outer(a, b))), abs=slack)


@given(spectra, st.integers(0, 2**32 - 1))
def test_no_doubly_stochastic_matrix_and_no_rotation_is_better(drawn, seed):
    a, b = map(np.array, drawn)
    best = weight(a, b, sorted_pairing(a, b))
    rng = np.random.default_rng(seed)
    mixture = rng.dirichlet(np.ones(4))
    stochastic = sum(w * np.eye(len(a))[rng.permutation(len(a))] for w in mixture)
    Q = np.linalg.qr(rng.standard_normal((len(a), len(a))))[0]
    slack = 1e-9 * (1 + np.sum(a) * np.max(b))
    assert best <= a @ stochastic @ b + slack
    assert best <= a @ Q**2 @ b + slack


def test_the_two_matchings_agree_on_any_weights_and_bad_input_is_refused():
    W = np.random.default_rng(0).standard_normal((6, 6))
    at = [W[np.arange(6), solver(W)].sum() for solver in (minimum_weight_matching, bipartite_matching)]
    assert at[0] == pytest.approx(at[1])
    with pytest.raises(ProblemError, match="square"):
        minimum_weight_matching(W[:3])
    with pytest.raises(ProblemError, match="finite"):
        bipartite_matching(np.full((2, 2), np.inf))
    with pytest.raises(ProblemError, match="one length"):
        sorted_pairing([1.0], [1.0, 2.0])
