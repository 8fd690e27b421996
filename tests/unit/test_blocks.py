"""Programs in diagonal blocks: the same answers, block by block."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import block_diag

import matrixlearn as ml
from matrixlearn.engines import Incumbent, InteriorPoint
from matrixlearn.engines.newton import NewtonSystem
from matrixlearn.maps import DenseMap, ScaledMap, SparseMap
from matrixlearn.problems import blocks
from matrixlearn.problems.blocks import assembled, diagonal_blocks, semidefinite_blocks, together
from matrixlearn.problems.linear.open import OpenProgram

seeds = st.integers(0, 2**32 - 1)


class Whole(OpenProgram):
    """The same program as one block."""

    blocks = ()


def whole(program):
    """The program as one block."""
    return Whole(**{field.name: getattr(program, field.name) for field in dataclasses.fields(program)})


def in_blocks(rng, sizes, hermitian=False):
    n = sum(sizes)
    G = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if hermitian else 0)
    return (G + G.conj().T) / 2 * block_diag(*(np.ones((size, size)) for size in sizes))


def program(rng, sizes, storage, hermitian=False):
    C, m = in_blocks(rng, sizes, hermitian), 4
    A = np.stack([*(in_blocks(rng, sizes, hermitian) for _ in range(m)), np.eye(sum(sizes))])
    A[1][sizes[0] :, sizes[0] :] = 0  # says nothing of the other blocks
    root = in_blocks(rng, sizes, hermitian)
    X = root @ root.conj().T + 0.1 * np.eye(len(C))
    senses = ["==", "<=", ">=", "==", "<="]
    b = np.real(np.einsum("jab,ba->j", A, X)) + np.array([0.0, 0.3, -0.3, 0.0, np.trace(X).real])
    rows = [sp.csr_array(a) for a in A] if storage == "sparse" else A
    return C, rows, b, senses


@pytest.mark.parametrize("storage", ["sparse", "dense"])
@given(seed=seeds, sizes=st.lists(st.integers(1, 4), min_size=2, max_size=4), hermitian=st.booleans())
def test_blocks_have_the_newton_system_of_the_whole(storage, seed, sizes, hermitian):
    """The same H, h and direction: the zeros between blocks stay zeros."""
    rng = np.random.default_rng(seed)
    data = program(rng, sizes, storage, hermitian)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SMALL", 0)
        parts = ml.LinearSDP.with_senses(*data).standard.program
        assert parts.game.S.blocks == tuple(sizes) and len(semidefinite_blocks(parts.game)) == len(sizes)
        found = [NewtonSystem.at(p.game, InteriorPoint().init(p.game, Incumbent(p))) for p in (parts, whole(parts))]
    a, b = (system.predictor() for system in found)
    size = np.abs(b.y).max() + abs(b.t)
    np.testing.assert_allclose(a.y, b.y, atol=1e-8 * size)
    assert a.t == pytest.approx(b.t, abs=1e-8 * size)
    X = assembled(semidefinite_blocks(parts.game), a.X, len(b.X[0]))
    np.testing.assert_allclose(X, b.X[0], atol=1e-8 * (1 + np.abs(b.X[0]).max()))


@pytest.mark.parametrize("storage", ["sparse", "dense"])
@given(seed=seeds, sizes=st.lists(st.integers(1, 5), min_size=2, max_size=5))
def test_blocks_have_the_answer_of_the_whole(storage, seed, sizes):
    data = program(np.random.default_rng(seed), sizes, storage)
    a = ml.solve(ml.LinearSDP.with_senses(*data), tol=1e-6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OpenProgram, "blocks", ())
        b = ml.solve(ml.LinearSDP.with_senses(*data), tol=1e-8)
    assert a.status == b.status == "optimal"
    size = 1e-9 * b.certificate.size
    assert a.lower <= b.upper + size and b.lower <= a.upper + size
    assert np.all(a.matrix[in_blocks(np.random.default_rng(0), sizes) == 0] == 0)
    a.certificate.verify()


@given(seed=seeds, sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5))
def test_diagonal_blocks_are_the_finest_as_they_stand(seed, sizes):
    pattern = in_blocks(np.random.default_rng(seed), sizes)
    wanted = tuple(sizes) if len(sizes) > 1 else ()
    assert diagonal_blocks(len(pattern), *np.nonzero(pattern)) == wanted
    corner = np.nonzero(pattern + np.pad([[1.0]], ((0, len(pattern) - 1), (len(pattern) - 1, 0))))
    assert diagonal_blocks(len(pattern), *corner) == ()  # one entry joins the first row and the last column


def test_small_neighbours_share_a_cell():
    blocks = [slice(0, 5), slice(5, 20), slice(20, 31), slice(31, 131), slice(131, 132), slice(132, 133)]
    assert together(blocks) == [slice(0, 20), slice(20, 31), slice(31, 131), slice(131, 133)]


@given(seed=seeds)
def test_principal_submatrices_of_families(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((3, 5, 5)) * (rng.random((3, 5, 5)) < 0.5)
    A = A + A.transpose(0, 2, 1)
    block = slice(1, 4)
    dense, sparse = DenseMap(A), SparseMap(sp.csr_array(A.reshape(3, 25)), 5)
    signs = np.array([1.0, -1.0, 1.0])
    for family, sign in ((dense, np.ones(3)), (sparse, np.ones(3)), (ScaledMap(sparse, signs), signs)):
        part = family.principal(block)
        for j in range(3):
            np.testing.assert_array_equal(part.matrix(j), sign[j] * A[j, block, block])
        pattern = np.zeros((5, 5), dtype=bool)
        pattern[family.pattern()] = True
        np.testing.assert_array_equal(pattern, np.any(A != 0, axis=0))


def test_a_linear_program_is_one_of_blocks_of_order_one():
    """max c.x, Ax <= b, x >= 0, sum x <= R on the diagonal; judged by linprog."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(0)
    n, m = 70, 20
    A, c, b = rng.uniform(0, 1, (m, n)), rng.uniform(-1, 1, n), rng.uniform(1, 2, m)
    A, b = np.vstack([A, np.ones(n)]), np.append(b, 5.0)
    problem = ml.LinearSDP.with_senses(np.diag(c), [sp.diags_array(a) for a in A], b, "<=")
    judge = linprog(-c, A, b)
    game = problem.standard.program.game
    assert game.S.blocks == (1,) * n and len(semidefinite_blocks(game)) == 3
    assert ml.solve(problem, tol=1e-7).value == pytest.approx(-judge.fun, rel=1e-6)
