"""FETR over tasks whose rows stay on machines: one round of moments, the same problem, the same bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrixlearn_fetr import FETR

import matrixlearn as ml
from matrixlearn.machines import Dask, Local, Shards
from matrixlearn.multitask import Moments

seeds = st.integers(0, 2**31 - 2)


def rows(i):
    rng = np.random.default_rng(i)
    X = rng.standard_normal((8 + i, 3))
    return X, X @ np.ones(3) + rng.standard_normal(8 + i)


@given(seeds)
def test_moments_of_machines_are_those_of_the_rows(seed):
    rng = np.random.default_rng(seed)
    sizes, d = rng.integers(1, 6, rng.integers(1, 4)), int(rng.integers(1, 4))
    task = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X, y, weight = rng.standard_normal((len(task), d)), rng.standard_normal(len(task)), rng.random(len(task)) + 0.1
    held = Local().hold(Shards.of(X, y, task, weight))
    held.opened(d)
    one, other = Moments.of_machines(held), Moments.of_rows(X, y, task, len(sizes), weight)
    for name in ("gram", "cross", "square"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-12)
    assert held.ledger.up == len(sizes) * (d * (d + 3) // 2 + 1)
    assert held.ledger.rounds == 1


def test_the_problem_is_that_of_the_rows_and_dask_gives_the_bits_of_local(client):
    shards = Shards.loaded(rows, {"north": 0, "south": 1, "east": 2})
    parts = [rows(i) for i in range(3)]
    whole = FETR([X for X, _ in parts], [y for _, y in parts], eta=0.5, task=["north", "south", "east"])
    here = FETR.from_shards(shards, eta=0.5)
    there = FETR.from_shards(shards, Dask(client), eta=0.5)
    a, b, c = (ml.solve(problem, tol=1e-6) for problem in (whole, here, there))
    np.testing.assert_array_equal(b.matrix, c.matrix)
    assert (b.lower, b.upper) == (c.lower, c.upper)
    assert b.value == pytest.approx(a.value, rel=1e-5)
    assert here.task.tolist() == ["north", "south", "east"]
