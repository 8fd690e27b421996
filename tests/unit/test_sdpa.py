"""Programs from SDPA files: the dense objective entry by entry, published optima, and files that are none."""

import gzip
from pathlib import Path

import numpy as np
import pytest

import matrixlearn as ml
from matrixlearn.exceptions import ProblemError
from matrixlearn.testing.reference import optimum_of

SDPLIB = Path(__file__).parents[3] / "shared/data/sdplib"

SMALL = """"Two blocks, the second diagonal; every triangle entry of another size, so that an exchange would show.
* and another comment
3 = mDIM
2 = nBLOCK
(2, -2)
{4.0, 1.0, 0.5}
0 1 1 1 1.0
0 1 1 2 2.5
0 1 2 2 -3.0
0 2 1 1 0.25
0 2 2 2 -1.0
1 1 1 1 1.0
1 1 2 2 1.0
1 2 1 1 1.0
1 2 2 2 1.0
2 1 1 2 0.5
2 2 1 1 1.0
3 1 2 2 1.0
3 2 2 2 2.0
"""


def blocks():
    """SMALL as dense matrices, written down by hand."""
    C = np.array([[1, 2.5, 0, 0], [2.5, -3, 0, 0], [0, 0, 0.25, 0], [0, 0, 0, -1]])
    A = np.array(
        [
            np.eye(4),
            [[0, 0.5, 0, 0], [0.5, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]],
            [[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2]],
        ]
    )
    return C, A, np.array([4, 1, 0.5])


@pytest.fixture
def file(tmp_path):
    def write(text, name="program.dat-s"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return write


@pytest.mark.parametrize("name", ["program.dat-s", "program.dat-s.gz"])
def test_the_matrices_are_those_of_the_file(file, name):
    problem, (C, A, b) = ml.LinearSDP.from_sdpa(file(SMALL, name)), blocks()
    np.testing.assert_array_equal(problem.C, C)
    np.testing.assert_array_equal([problem.constraint(j) for j in range(3)], A)
    np.testing.assert_array_equal(problem.b, b)
    assert np.all(problem.equalities)
    assert problem.trace_bound == pytest.approx(4.0, rel=1e-9)  # the first row is the identity


def test_the_optimum_is_that_of_the_dense_objective(file):
    import cvxpy as cp

    def program():
        C, A, b = blocks()
        X = cp.Variable((4, 4), symmetric=True)
        return cp.Problem(
            cp.Maximize(cp.trace(C @ X)), [X >> 0, *(cp.trace(a @ X) == k for a, k in zip(A, b, strict=True))]
        )

    judge = optimum_of(program, 1e-3)
    solution = ml.solve(ml.LinearSDP.from_sdpa(file(SMALL)), tol=1e-7)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(judge.value, abs=judge.error + 1e-6 * judge.size)
    C, A, b = blocks()
    np.testing.assert_allclose([np.sum(a * solution.matrix) for a in A], b, atol=1e-7)
    assert np.sum(C * solution.matrix) == pytest.approx(solution.value, rel=1e-12)
    x = solution.problem.row_multipliers(solution.y)  # of (P): c.x is the optimum, sum x_i F_i - F_0 >= 0
    S = np.einsum("i,ijk->jk", x, A) - C
    shift = max(0.0, -np.linalg.eigvalsh(S)[0])  # the multiplier of the trace bound
    assert b @ x + 4 * shift == pytest.approx(judge.value, abs=judge.error + 1e-5 * judge.size)


@pytest.mark.skipif(not SDPLIB.is_dir(), reason="needs shared/data")
@pytest.mark.parametrize(
    ("name", "published", "digits"),
    [
        ("theta1", 2.300000e01, 1e-6),
        ("mcp100", 2.261574e02, 1e-6),
        ("gpp100", -4.494355e01, 1e-6),  # <1 1^T, X> = 0: no positive definite X
        ("gpp124-1", -7.3430763, 1e-6),
        ("qap5", -4.360000e02, 1e-6),
        ("theta2", 3.287917e01, 1e-6),
    ],
)
def test_published_optima(name, published, digits):
    problem = ml.LinearSDP.from_sdpa(SDPLIB / f"{name}.dat-s.gz")
    solution = ml.solve(problem, tol=1e-6)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(published, rel=digits + 1e-6)  # 1e-7 of slack in each equality is worth it


def test_a_trace_that_the_file_does_not_give_is_asked_for(file):
    text = SMALL.replace("1 2 2 2 1.0\n", "")
    with pytest.raises(ProblemError, match="trace_bound"):
        ml.LinearSDP.from_sdpa(file(text))
    assert ml.LinearSDP.from_sdpa(file(text), trace_bound=7).trace_bound == 7


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("3 = mDIM", "m = 3", "line 3: 'm = 3' is not the number of constraints"),
        ("3 = mDIM", "0", "number of constraints"),
        ("(2, -2)", "(2, two)", "line 5.*block sizes, 2 numbers"),
        ("{4.0, 1.0, 0.5}", "{4.0, 1.0}", "line 6.*not c, 3 numbers"),
        ("{4.0, 1.0, 0.5}", "{4.0, nan, 0.5}", "not c"),
        ("0 1 1 2 2.5", "0 1 1 2", "line 8.*no entry"),
        ("0 1 1 2 2.5", "0 1 1.5 2 2.5", "line 8.*no entry"),
        ("0 1 1 2 2.5", "0 1 1 2 nan", "line 8.*no entry"),
        ("0 1 1 2 2.5", "0 1 1 3 2.5", "line 8.*outside of its block"),
        ("0 1 1 2 2.5", "0 3 1 2 2.5", "line 8.*outside of its block"),
        ("0 1 1 2 2.5", "4 1 1 2 2.5", "line 8.*outside"),
        ("0 2 2 2 -1.0", "0 2 1 2 -1.0", "line 11.*off the diagonal"),
        ("0 1 1 2 2.5", "0 1 2 1 2.5\n0 1 1 2 2.5", "line 9.*given before"),
        (SMALL, "", "no SDPA file"),
    ],
)
def test_what_is_no_program_is_refused_by_line(file, old, new, words):
    assert old in SMALL
    with pytest.raises(ProblemError, match=words):
        ml.LinearSDP.from_sdpa(file(SMALL.replace(old, new)))


def test_a_lower_triangle_means_the_same_entry(file):
    swapped = ml.LinearSDP.from_sdpa(file(SMALL.replace("0 1 1 2 2.5", "0 1 2 1 2.5")))
    np.testing.assert_array_equal(swapped.C, blocks()[0])


def test_the_command_line_solves_a_file(file, tmp_path, monkeypatch):
    pytest.importorskip("click")
    from click.testing import CliRunner

    from matrixlearn._commands import cli

    monkeypatch.chdir(tmp_path)  # it writes solution.npz
    done = CliRunner().invoke(cli, ["solve", "sdp", str(file(SMALL))])
    assert done.exit_code == 0, done.output
    assert "optimal" in done.output
