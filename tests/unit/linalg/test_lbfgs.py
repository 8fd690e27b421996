"""The memory of L-BFGS against its definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from matrixlearn.linalg.lbfgs import Memory


def draw(rng, shape, imaginary):
    return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if imaginary else 0)


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(0, 6), size=st.integers(1, 4), imaginary=st.booleans())
def test_it_is_the_product_formula_of_the_last_pairs(seed, count, size, imaginary):
    """H+ = (I - rho s c^H) H (I - rho c s^H) + rho s s^H, over the reals."""
    rng = np.random.default_rng(seed)
    shape = (3, 2)

    def real(a):
        return np.concatenate([a.real.reshape(-1), a.imag.reshape(-1)]) if imaginary else a.reshape(-1)

    memory, pairs = Memory(size), []
    for _ in range(count):
        step, change = draw(rng, shape, imaginary), draw(rng, shape, imaginary)
        memory = memory.with_step(step, change)
        if real(step) @ real(change) > 1e-12 * np.linalg.norm(step) * np.linalg.norm(change):
            pairs.append((real(step), real(change)))
    pairs = pairs[-size:]
    n = len(real(draw(rng, shape, imaginary)))
    H = (pairs[-1][0] @ pairs[-1][1] / (pairs[-1][1] @ pairs[-1][1]) if pairs else 0.25) * np.eye(n)
    for s, c in pairs:
        rho = 1 / (s @ c)
        left = np.eye(n) - rho * np.outer(s, c)
        H = left @ H @ left.T + rho * np.outer(s, s)
    g = draw(rng, shape, imaginary)
    before = g.copy()
    got, wanted = real(memory.times(g, 0.25)), H @ real(g)
    np.testing.assert_allclose(got, wanted, atol=1e-9 * (1 + np.abs(H).max()) ** 2 * np.abs(g).max())
    np.testing.assert_array_equal(g, before)
    assert len(memory.pairs) <= size


def test_a_step_along_which_the_gradient_falls_is_forgotten():
    step = np.ones((2, 2))
    assert Memory(3).with_step(step, -step).pairs == ()
    assert Memory(3).with_step(step, 0 * step).pairs == ()
