"""Moving arrays between libraries."""

import numpy as np
import pytest

from matrixlearn import _array


def test_there_and_back(backend):
    values = np.arange(6.0).reshape(2, 3)
    mine = backend.array(values)
    there = _array.from_numpy(values, mine)
    assert type(there) is type(mine)
    np.testing.assert_array_equal(_array.as_numpy(there), values)
    assert isinstance(_array.as_numpy(mine), np.ndarray)


def test_an_array_brought_to_its_own_namespace_is_itself_where_it_is_at_home(backend):
    mine = backend.array(np.eye(2))
    assert _array.brought_to(mine, mine) is mine
    there = _array.brought_to(np.eye(2), mine)
    assert type(there) is type(mine)
    np.testing.assert_array_equal(_array.as_numpy(there), np.eye(2))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_zeros_and_identity_take_the_dtype(backend, dtype):
    like = backend.array(np.ones((1, 1), dtype=dtype))
    for made, expected in ((_array.zeros((2, 3), like), np.zeros((2, 3))), (_array.identity(3, like), np.eye(3))):
        assert made.dtype == like.dtype and type(made) is type(like)
        np.testing.assert_array_equal(_array.as_numpy(made), expected)


def test_what_leaves_the_library_is_not_a_view_that_could_be_written_through(backend):
    """A copy for another library, so that the user's NumPy array and ours do not share memory."""
    if backend.is_numpy:
        pytest.skip("NumPy to NumPy is the array itself")
    values = np.zeros(3)
    there = _array.from_numpy(values, backend.array(np.ones(1)))
    values[0] = 7.0
    assert float(there[0]) == 0.0
