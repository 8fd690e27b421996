"""Programs from SDPA files: the dense objective entry by entry, published optima, and files that are none."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    assert problem.trace_bound is None  # the first row is the identity: no assumption is needed


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


def test_a_trace_bound_is_the_users_to_give(file):
    text = SMALL.replace("1 2 2 2 1.0\n", "")
    assert ml.LinearSDP.from_sdpa(file(text)).trace_bound is None
    assert ml.LinearSDP.from_sdpa(file(text), trace_bound=7).trace_bound == 7


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("3 = mDIM", "m = 3", "line 3: 'm = 3' is not the number of constraints"),
        ("3 = mDIM", "0", "number of constraints"),
        ("(2, -2)", "(2, two)", "line 5.*block sizes, 2 numbers"),
        ("{4.0, 1.0, 0.5}", "{4.0, 1.0}", "line 7: '0 1 1 1 1.0' is not c, 3 numbers"),
        ("{4.0, 1.0, 0.5}", "{4.0, nan, 0.5}", "line 6.*not c"),
        ("0 1 1 2 2.5", "0 1 1 2", "line 8.*no entry"),
        ("0 1 1 2 2.5", "0 1 1.5 2 2.5", "line 8.*no entry"),
        ("0 1 1 2 2.5", "0 1 1 2 nan", "line 8.*no entry"),
        ("0 1 1 2 2.5", "0 1 1 3 2.5", "line 8.*outside of its block"),
        ("0 1 1 2 2.5", "0 3 1 2 2.5", "line 8.*outside of its block"),
        ("0 1 1 2 2.5", "4 1 1 2 2.5", "line 8.*outside"),
        ("0 2 2 2 -1.0", "0 2 1 2 -1.0", "line 11.*off the diagonal"),
        ("0 1 1 2 2.5", "0 1 1 2 2.5\n0 1 1 2 2.5", "line 9.*given before, on line 8"),
        ("0 1 1 2 2.5", "0 1 2 1 2.5\n0 1 1 2 2.25", "line 8.*mirror, on line 9, has another"),
        (SMALL, "", "no SDPA file"),
    ],
)
def test_what_is_no_program_is_refused_by_line(file, old, new, words):
    assert old in SMALL
    with pytest.raises(ProblemError, match=words):
        ml.LinearSDP.from_sdpa(file(SMALL.replace(old, new)))


BODY = SMALL.split("0.5}\n")[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(2, -2)", "2 -2=text"),
        ("(2, -2)", "+2, -2 = sizes of 2 blocks"),
        ("(2, -2)", "(2,\n -2)"),
        ("{4.0, 1.0, 0.5}", "4.0\n1.0\n0.5"),
        ("{4.0, 1.0, 0.5}", "{4.0D+00, 1.0d0\n,5.0E-01} = c"),
        ("2 = nBLOCK", "2"),
        ("0 1 1 1 1.0\n0 1 1 2 2.5", "0 1 1 1 1.0 0 1 1 2 2.5"),
        ("0 1 1 2 2.5", "0 1 1\n2 2.5"),
        ("0 1 1 2 2.5", "0, 1, (1, 2), 2.5"),
        ("0 1 1 2 2.5", "0 1 1 2 2.5 * the first 1 2 3"),
        ("0 1 1 2 2.5", '0 1 1 2 2.5D+00 "and so on'),
        ("0 1 1 2 2.5", "0 1 1 2 .25e1\n* in between\n0 1 2 1 +2.5"),
        (BODY, BODY.replace("\n", "\r\n")),
        ("0 1 1 2 2.5", "0 1 2 1 2.5"),
    ],
)
def test_what_sdpa_and_csdp_read_is_read(file, old, new):
    assert old in SMALL
    problem, (C, A, b) = ml.LinearSDP.from_sdpa(file(SMALL.replace(old, new))), blocks()
    np.testing.assert_array_equal(problem.C, C)
    np.testing.assert_array_equal([problem.constraint(j) for j in range(3)], A)
    np.testing.assert_array_equal(problem.b, b)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("(2, -2)", "(3.9, -2)", "line 5: '3.9' is not among the block sizes"),
        ("(2, -2)", "(2, 0)", "line 5: '0' is not among"),
        ("(2, -2)", "(2, -2, 4)", "line 5.*block sizes, 2 numbers"),
        ("(2, -2)", "(2, -1e1)", "line 5"),
        ("(2, -2)", "(40000, -2)", "line 5: .*40002.*name 26 rows at most|line 5: .*GiB"),
        ("(2, -2)", "(10000000000, -2)", r"line 5: a matrix of 10000000002 rows.*takes 7.45e\+11 GiB"),
        ("3 = mDIM", "3 2", "line 3: '3 2' is not the number of constraints"),
        ("3 = mDIM", "3.5", "line 3"),
        ("3 = mDIM", "1000000000000", "line 19: the file ends after 68 of c"),
        ("2 = nBLOCK", "1000000000000", "line 19: the file ends after 70 of the block sizes"),
        ("{4.0, 1.0, 0.5}", "{4.0, 1.0, 1e400}", "line 6: '1e400' is not c, a finite number"),
        ("{4.0, 1.0, 0.5}", "{4.0, 1.0, 0.5, 1}", "line 6.*not c, 3 numbers"),
        ("{4.0, 1.0, 0.5}", "{4.0, 1.0, x0.5}", "line 6"),
        ("0.5}\n", "0.5}*", "line 6"),
        ("0 1 1 2 2.5", "0 1 1 2 1e400", "line 8: '1e400'"),
        ("0 1 1 2 2.5", "0 1 10000000000000000000000000 2 2.5", "line 8"),
        ("0 1 1 2 2.5", "0 1 -1 2 2.5", "line 8"),
        ("0 1 1 2 2.5", "0 0 1 2 2.5", "line 8"),
        ("0 1 1 2 2.5", "O 1 1 2 2.5", "line 8"),
        ("0 1 1 2 2.5", "0 1 1 2 2_5", "line 8"),
        ("0 1 1 2 2.5", "0 1 1 2 2.5 7", "line 8"),
        ("0 1 1 2 2.5", "0 1 2 2.5", "line 8"),
        ("3 2 2 2 2.0\n", "3 2 2 2\n", "line 19.*ends in it"),
        ("0 1 1 2 2.5", "0 1 1 2 2.5\x00", r"line 8: the character '\\x00'"),
    ],
)
def test_what_is_wrong_is_refused_by_line_and_asks_for_no_memory(file, old, new, words):
    assert old in SMALL
    with pytest.raises(ProblemError, match=words):
        ml.LinearSDP.from_sdpa(file(SMALL.replace(old, new)), trace_bound=9.0)


def test_bytes_that_are_no_text_are_refused(file, tmp_path):
    (tmp_path / "a.dat-s").write_bytes(SMALL.encode().replace(b"2.5", b"2.\xff"))
    with pytest.raises(ProblemError, match=r"a\.dat-s, line 8: not text in UTF-8"):
        ml.LinearSDP.from_sdpa(tmp_path / "a.dat-s")
    for name, content in (("b.gz", b"no gzip"), ("c.gz", gzip.compress(SMALL.encode())[:-4]), ("d", b"PK\x03\x04")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ProblemError, match=name):
            ml.LinearSDP.from_sdpa(tmp_path / name)


@pytest.mark.parametrize("name", ["program.dat-s", "program.dat-s.gz"])
def test_a_program_of_equations_is_written_and_read_as_it_is(file, tmp_path, name):
    problem = ml.LinearSDP.from_sdpa(file(SMALL))
    problem.to_sdpa(tmp_path / name)
    again = ml.LinearSDP.from_sdpa(tmp_path / name)
    np.testing.assert_array_equal(again.C, problem.C)
    np.testing.assert_array_equal([again.constraint(j) for j in range(3)], blocks()[1])
    np.testing.assert_array_equal(again.b, problem.b)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=8)
def test_inequalities_and_the_trace_are_written_with_slacks(tmp_path_factory, seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(3, 5)), int(rng.integers(1, 4))  # three rows of order 2 would give the trace
    G = rng.normal(size=(m + 1, n, n))
    A, C = G[1:] + G[1:].transpose(0, 2, 1), G[0] + G[0].T
    senses = rng.choice(["<=", ">=", "=="], m).tolist()
    b = np.einsum("jab,ab->j", A, np.eye(n)) + np.array([{"<=": 1, ">=": -1, "==": 0}[sense] for sense in senses])
    problem = ml.LinearSDP.with_senses(C, A, b, senses, 3.0 * n)
    path = tmp_path_factory.mktemp("sdpa") / "a.dat-s"
    problem.to_sdpa(path)
    written = ml.LinearSDP.from_sdpa(path, trace_bound=9.0 * n + float(np.sum(np.abs(A))) * 9.0 * n)
    slacks = m - senses.count("==") + 1
    assert written.C.shape[0] == n + slacks and np.all(written.equalities)
    np.testing.assert_array_equal(written.C[:n, :n], C)
    first, second = ml.solve(problem, tol=1e-6), ml.solve(written, tol=1e-5)
    assert first.status in ("optimal", "trace bound")
    size = max(abs(first.value), np.abs(C).max() * n)
    assert second.lower - 1e-4 * size <= first.value <= second.upper + 1e-4 * size


def test_a_complex_program_has_no_such_file(tmp_path):
    with pytest.raises(ProblemError, match="complex"):
        ml.LinearSDP(np.array([[1, 1j], [-1j, 1]]), np.eye(2)[None], [1.0], 2.0).to_sdpa(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


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
