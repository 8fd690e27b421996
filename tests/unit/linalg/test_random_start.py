"""The bound of the largest eigenvalue by a random start, and when it takes the place of a factorization."""

import numpy as np
import pytest
import scipy.sparse as sp
from matrixlearn_maxcut import MaxCut
from scipy.stats import chi2

import matrixlearn as ml
from matrixlearn.linalg import random_start
from matrixlearn.linalg.fill import predicted_work
from matrixlearn.linalg.inertia import definite_factors
from matrixlearn.linalg.random_start import MISSED, RELATIVE, probable_largest
from matrixlearn.problems import unit_diagonal


def random_graph(n, edges, seed=0):
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (2, edges))
    W = sp.csr_array(sp.coo_array((np.ones(edges), tuple(ends)), shape=(n, n)))
    return W + W.T


def grid(k):
    path = sp.diags_array([np.ones(k - 1)] * 2, offsets=[-1, 1])
    return sp.csr_array(sp.kron(path, sp.eye_array(k)) + sp.kron(sp.eye_array(k), path))


def test_the_probability_is_the_one_that_is_stated():
    assert chi2.cdf(random_start.ETA**2, random_start.STARTS) <= MISSED * (1 + 1e-6)


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
@pytest.mark.parametrize("n", [3, 50, 400])
def test_it_is_above_the_largest_eigenvalue_and_near_it(n, scale):
    rng = np.random.default_rng(n)
    A = scale * sp.csr_array(random_graph(n, 4 * n) + sp.diags_array(rng.standard_normal(n)))
    w = np.linalg.eigvalsh(A.toarray())
    bound = probable_largest(A)
    assert w[-1] <= bound <= w[-1] + 2 * RELATIVE * (w[-1] - w[0])


@pytest.mark.parametrize("A", [sp.csr_array((4, 4)), 3.0 * sp.eye_array(5, format="csr")])
def test_multiples_of_the_identity(A):
    assert probable_largest(sp.csr_array(A)) == A.toarray()[0, 0]


@pytest.mark.parametrize("share", [0.3, 0.9, 1.5])
def test_a_wrong_guess_of_the_ends_makes_it_worse_and_not_false(share, monkeypatch):
    A = sp.csr_array(random_graph(300, 1200))
    w = np.linalg.eigvalsh(A.toarray())
    monkeypatch.setattr(random_start, "_rough_ends", lambda A, draw: (share * w[0], share * w[-1]))
    assert w[-1] <= probable_largest(A)


def test_work_is_predicted_as_superlu_finds_it_and_the_rest_is_too_much():
    for graph in (grid(40), random_graph(1500, 2500)):
        S = sp.csc_array(sp.diags_array(abs(graph).sum(axis=1) + 1.0) - graph)
        degrees = np.diff(definite_factors(S).L.indptr) - 1.0
        assert 0.5 <= predicted_work(graph, np.inf) / np.sum(degrees**2) <= 30
    assert predicted_work(random_graph(20_000, 80_000), 1e9) == np.inf
    assert predicted_work(sp.csr_array((7, 7)), 1.0) == 0
    A = sp.csr_array(grid(3) + 2.0 * sp.eye_array(9))
    predicted_work(A, np.inf)
    assert A.trace() == 18  # it reads only


def test_a_graph_that_fills_in_is_probable_and_brackets_what_is_proved(monkeypatch, tmp_path):
    graph = random_graph(2500, 7000)
    proved = ml.solve(MaxCut(graph), tol=1e-2)
    monkeypatch.setattr(unit_diagonal, "DENSE_BELOW", 1000)
    monkeypatch.setattr(unit_diagonal, "WORK", 1e6)
    probable = ml.solve(MaxCut(graph), tol=1e-2)
    assert (proved.status, probable.status) == ("optimal", "probable")
    assert probable.certificate.rigour == "probabilistic" and probable.gap <= 1e-2
    assert probable.upper >= proved.lower and probable.lower <= proved.upper
    probable.save(tmp_path / "cut.npz")
    ml.Solution.load(tmp_path / "cut.npz").verify()
    assert ml.solve(MaxCut(graph), tol=1e-2, max_iter=0).certificate.rigour == "checked"
