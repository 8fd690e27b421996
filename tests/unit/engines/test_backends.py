"""Both engines, end to end, with the arrays of other libraries: the answers of NumPy."""

import functools

import numpy as np
import pytest
from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from matrixlearn._array import as_numpy


def hermitian(rng, n, complex_):
    G = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if complex_ else 0)
    return (G + G.conj().T) / 2


def discrepancy(array, samples=8, features=4, **options):
    rng = np.random.default_rng(0)
    Xs, Xt = rng.standard_normal((samples, features)), 0.3 + 0.7 * rng.standard_normal((6, features))
    return Discrepancy(array(Xs), array(Xt), **options)


def linear(array, complex_=False, b=(0.5, 1.0, 2.0), rank_one=False, complex_A=None, by_rows=True):
    rng = np.random.default_rng(1)
    n, m = 4, len(b)
    C = hermitian(rng, n, complex_)
    complex_A = complex_ if complex_A is None else complex_A
    if rank_one:
        A = rng.standard_normal((m, n)) + (1j * rng.standard_normal((m, n)) if complex_A else 0)
        A, b = np.concatenate([A, np.eye(n)]), [*b, *[0.75] * n]  # the diagonal, so the trace
    elif by_rows:
        A, b = np.stack([*(hermitian(rng, n, complex_A) for _ in range(m)), np.eye(n)]), [*b, 3.0]
    else:
        A = np.stack([hermitian(rng, n, complex_A) for _ in range(m)])
    return ml.LinearSDP(array(C), array(A), array(np.array(b)), None if by_rows else 3.0)


GAMES = {
    "discrepancy, more samples": discrepancy,
    "discrepancy, more features": lambda array: discrepancy(array, samples=3, features=12),
    "discrepancy, capped": lambda array: discrepancy(array, max_weight=1.5),
    "discrepancy, weighted target": lambda array: discrepancy(array, target_weights=array(np.arange(6) / 15)),
}
PROGRAMS = {
    "real": {},
    "complex": {"complex_": True},
    "real C, complex A": {"complex_A": True},
    "complex C, real A": {"complex_": True, "complex_A": False},
    "rank one": {"rank_one": True},
    "rank one complex": {"complex_": True, "rank_one": True},
    "phase one": {"b": (-0.1, 1.0, 2.0)},
    "complex phase one": {"complex_": True, "b": (-0.1, 1.0, 2.0)},
}
GAMES |= {f"sdp, {name}": functools.partial(linear, **options) for name, options in PROGRAMS.items()}
# a trace that is a row makes vertices of Y that are as good as others: oracles may take any
WITHOUT_TIES = GAMES | {
    f"sdp, {name}": functools.partial(linear, by_rows=False, **options) for name, options in PROGRAMS.items()
}


@functools.cache
def numpys(made_of, **how):
    """The answer for NumPy's arrays, which each back end is held to."""
    return ml.solve(made_of(np.asarray), **how)


games = pytest.mark.parametrize("name", GAMES)


@games
def test_interior_point(backend, name):
    tol = 1e-9
    mine = ml.solve(GAMES[name](backend.array), method="interior-point", tol=tol)
    theirs = numpys(GAMES[name], method="interior-point", tol=tol)
    assert mine.status == theirs.status == "optimal"
    assert mine.value == pytest.approx(theirs.value, rel=1e-8)
    assert mine.lower == pytest.approx(theirs.lower, rel=1e-8)
    assert mine.upper == pytest.approx(theirs.upper, rel=1e-8)
    np.testing.assert_allclose(mine.y, theirs.y, atol=1e-5 * np.abs(theirs.y).max())
    assert backend.is_numpy or not isinstance(mine.matrix, np.ndarray)  # in the user's library
    mine.certificate.verify()


@games
def test_multiplicative_weights(backend, name):
    """The first round is the same; later ones until rounding is amplified: oracles jump between vertices."""
    first, later = {"method": "mmw", "tol": 1e-12, "max_iter": 1}, {"method": "mmw", "tol": 1e-12, "max_iter": 15}
    problem = WITHOUT_TIES[name](backend.array)
    mine, theirs = ml.solve(problem, **first), numpys(WITHOUT_TIES[name], **first)
    size = max(abs(theirs.lower), abs(theirs.upper))
    assert mine.lower == pytest.approx(theirs.lower, abs=1e-8 * size)
    assert mine.upper == pytest.approx(theirs.upper, abs=1e-8 * size)
    more, optimum = ml.solve(problem, **later), numpys(WITHOUT_TIES[name], tol=1e-8)
    assert more.iterations == 15
    assert more.lower <= optimum.upper
    assert more.upper >= optimum.lower
    assert more.gap < mine.gap


@pytest.mark.parametrize("name", ["discrepancy, more samples", "sdp, complex"])
def test_answers_are_saved_and_loaded(backend, name, tmp_path):
    solution = ml.solve(GAMES[name](backend.array), tol=1e-6)
    solution.save(tmp_path / "answer.npz")
    again = ml.Solution.load(tmp_path / "answer.npz")
    np.testing.assert_array_equal(as_numpy(again.matrix), as_numpy(solution.matrix))
    again.certificate.verify()


def test_the_arrays_of_numpy_certify_an_answer_of_another_library(backend):
    problem = linear(backend.array, complex_=True)
    solution = ml.solve(linear(np.asarray, complex_=True), tol=1e-8)
    certificate = ml.certify(problem, X=solution.matrix, y=solution.y)
    assert certificate.lower == pytest.approx(solution.lower, rel=1e-9)
    warm = ml.solve(problem, tol=1e-6, warm_start=solution)
    assert warm.status == "optimal" and warm.iterations == 0


def test_data_of_two_libraries_are_refused(backend):
    if backend.is_numpy:
        pytest.skip("needs a second library")
    other, eye = backend.array, np.eye(2)
    with pytest.raises(ml.exceptions.ProblemError, match="C, A must come from one array library"):
        ml.LinearSDP(other(eye), np.stack([eye]), [1.0], 1.0)
    with pytest.raises(ml.exceptions.ProblemError, match="interior"):
        ml.LinearSDP(other(eye), other(np.stack([eye])), [1.0], 1.0, interior=0.1 * eye)
    with pytest.raises(ml.exceptions.ProblemError, match="one array library"):
        Discrepancy(other(np.ones((2, 2))), np.ones((2, 2)))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint8", "float32", "float64"])
def test_dtypes_become_double_precision(backend, dtype):
    """The answer is that of the values, in double precision, whatever their type."""
    rng = np.random.default_rng(3)
    Xs, Xt = (rng.integers(0, 2 if dtype == "bool" else 5, shape).astype(dtype) for shape in ((7, 3), (5, 3)))
    mine = ml.solve(Discrepancy(backend.array(Xs), backend.array(Xt)), tol=1e-8)
    numpys = ml.solve(Discrepancy(Xs.astype(float), Xt.astype(float)), tol=1e-8)
    assert mine.value == pytest.approx(numpys.value, rel=1e-8, abs=1e-10)
    assert mine.matrix.dtype == backend.xp.float64


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_dtypes_become_double_precision(backend, dtype):
    Y = np.array([[0, -1j], [1j, 0]]).astype(dtype)
    problem = ml.LinearSDP(backend.array(Y), backend.array(np.eye(2).astype(dtype)[None]), [5.0], 1.0)
    solution = ml.solve(problem, tol=1e-8)
    assert solution.value == pytest.approx(1.0, rel=1e-7)
    assert solution.matrix.dtype == backend.xp.complex128
