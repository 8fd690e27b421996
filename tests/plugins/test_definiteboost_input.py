"""DefiniteBoost on bad and extreme input: an error that names the argument, or a right answer."""

import math
import time

import numpy as np
import pytest
from matrixlearn_definiteboost import DefiniteBoost, EdgeProblem, MinMaxSDP, adaboost, bisect_theta, eg_step, hedge

import matrixlearn as ml
from matrixlearn import registry
from matrixlearn.exceptions import CapabilityError, ProblemError

pytestmark = pytest.mark.usefixtures("cpu_clock")

METHODS = ("corrective", "barrier", "definiteboost", "bregman")
C = np.array([[1.0, 2, 0], [0, -1, 3], [1, 1, 0.5]])  # not symmetric


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("constraints", "upper", "optimum"),
    [
        ([np.diag([1.0, 0, 0])], 0.0, math.log(1.5)),  # lambda_min = 0: W is singular, the multiplier infinite
        ([np.outer([1, 2, -1], [1, 2, -1])], 0.0, math.log(1.5)),
        ([-np.diag([1.0, 2, 0])], 0.0, 0.0),  # lambda_max = 0: never violated
        ([np.zeros((3, 3))], 0.0, 0.0),  # nothing is asked
        ([np.eye(3)], 1.0, 0.0),  # the trace itself
        ([np.diag([1.0, 0, -1])], -1.0, math.log(3)),  # one matrix only
        ([np.diag([1.0, 0, -1]), np.zeros((3, 3))], [-1.0, 0.5], math.log(3)),
    ],
)
def test_extreme_constraints_have_their_answer(method, constraints, upper, optimum):
    solution = ml.solve(DefiniteBoost(constraints, upper), method=method, tol=1e-6, max_iter=1000)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(optimum, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("constraints", "upper"),
    [
        ([np.diag([1.0, 2, 3])], 0.0),  # positive definite
        ([np.eye(3)], 0.5),  # against the trace
        ([np.zeros((3, 3))], -1.0),
        ([np.diag([1.0, 0, 0]), -np.diag([1.0, 0, 0])], [0.1, -0.2]),  # a pair that contradicts itself
        ([np.diag([1.0, 0, -1])], -1.001),
    ],
)
def test_infeasible_constraints_are_said_to_be(method, constraints, upper):
    solution = ml.solve(DefiniteBoost(constraints, upper), method=method, max_iter=1000)
    assert solution.status == "infeasible"
    assert solution.lower > math.log(3) and solution.matrix is None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("slack", [None, 2.0])
def test_duplicates_share_a_multiplier(method, slack):
    price = None if slack is None else np.array([4 * slack])  # a violation of all four, in units of the first
    prices = None if slack is None else np.array([slack, slack, slack / 2, slack])
    one = ml.solve(DefiniteBoost([C], -0.5, slack=price), tol=1e-8)
    many = ml.solve(
        DefiniteBoost([C, C, 2 * C, C], [-0.5, -0.5, -1.0, -0.5], slack=prices), method=method, tol=1e-8, max_iter=3000
    )
    assert many.status == "optimal"
    assert many.value == pytest.approx(one.value, rel=1e-7)
    np.testing.assert_allclose(many.matrix, one.matrix, atol=1e-4)
    assert np.array([1, 1, 2, 1]) @ many.y == pytest.approx(one.y[0], rel=1e-3)


def test_an_interior_of_no_size_still_has_its_answer():
    S = np.diag([1.0, 0.0, -1.0])  # an equality in the clothes of two inequalities
    pair = ml.solve(DefiniteBoost([S, -S], [0.3, -0.3]), tol=1e-6)
    equality = ml.solve(DefiniteBoost([S], [0.3], [0.3]), tol=1e-6)
    assert equality.status == "optimal"
    assert pair.lower == pytest.approx(equality.value, rel=1e-5)


def test_dimension_one():
    assert ml.solve(DefiniteBoost([[[2.0]]], upper=3.0)).value == 0
    assert ml.solve(DefiniteBoost([[[2.0]]], upper=1.0)).status == "infeasible"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "constraints or vectors"),
        ({"constraints": [C], "vectors": np.eye(3)}, "not both"),
        ({"constraints": C}, "constraints must have shape"),
        ({"constraints": [C, np.eye(2)]}, "constraints must have one shape"),
        ({"constraints": np.zeros((0, 3, 3))}, "constraints is empty"),
        ({"constraints": [C * np.nan]}, "constraints holds 9 NaN"),
        ({"constraints": [C], "minus": np.eye(3)}, "minus goes with vectors"),
        ({"vectors": np.ones(3)}, "vectors must have shape"),
        ({"vectors": np.eye(3), "minus": np.eye(2)}, "minus must have shape"),
        ({"constraints": [C], "upper": [1.0, 2.0]}, r"upper must be a real vector of shape \(1,\)"),
        ({"constraints": [C], "upper": np.inf}, "upper holds 1 NaN or infinite"),
        ({"constraints": [C], "lower": np.nan}, "lower holds 1 NaN"),
        ({"constraints": [C], "lower": 1.0}, r"lower\[0\] = 1 > upper\[0\] = 0"),
        ({"constraints": [C], "slack": 0.0}, "slack must be positive"),
        ({"constraints": [C], "slack": -1.0}, "slack must be positive"),
        ({"constraints": [C], "initial": np.eye(3)}, "initial must have trace one, got 3"),
        ({"constraints": [C], "initial": np.diag([0.5, 0.5, 0.0])}, "initial must be positive definite"),
        ({"constraints": [C], "initial": np.diag([1.5, -0.3, -0.2])}, "initial must be positive definite"),
        ({"constraints": [C], "initial": np.eye(2) / 2}, r"initial must be a square matrix of shape \(3, 3\)"),
        ({"constraints": [C], "initial": np.array([[0.4, 0.1, 0], [0, 0.3, 0], [0, 0, 0.3]])}, "initial must be symm"),
    ],
)
def test_errors_name_the_argument(arguments, message):
    with pytest.raises(ProblemError, match=message):
        DefiniteBoost(**arguments)


def test_engines_of_definiteboost_refuse_other_problems():
    from matrixlearn_definiteboost import Corrective, ExactProjections

    game = MinMaxSDP([C])
    for engine in (Corrective(), ExactProjections()):
        with pytest.raises(CapabilityError, match="DefiniteBoost"):
            ml.solve(game, method=engine)
    assert ml.methods(DefiniteBoost([C]))[:4] == list(METHODS)
    assert "corrective" not in ml.methods(game)


def test_a_limit_keeps_the_bounds():
    rng = np.random.default_rng(0)
    p = DefiniteBoost(rng.standard_normal((5, 4, 4)), -0.3)
    stopped = ml.solve(p, method="definiteboost", tol=1e-9, max_iter=3)
    optimal = ml.solve(p, tol=1e-9)
    assert stopped.status == "stopped"
    assert stopped.lower <= optimal.upper and optimal.lower <= stopped.upper
    assert "largest violation" in stopped.summary()


def test_an_answer_from_elsewhere_is_repaired_and_certified():
    rng = np.random.default_rng(1)
    p = DefiniteBoost(rng.standard_normal((4, 4, 4)), -0.2)
    optimal = ml.solve(p, tol=1e-9)
    noise = rng.standard_normal((4, 4))
    certificate = ml.certify(p, X=optimal.matrix + 1e-7 * (noise + noise.T), y=optimal.y)
    assert certificate.gap < 1e-3 and certificate.upper >= optimal.lower
    assert p.is_feasible(certificate.X)


def test_vectors_are_their_matrices():
    rng = np.random.default_rng(2)
    P, Q = rng.standard_normal((2, 6, 4)) + 1j * rng.standard_normal((2, 6, 4))
    S = P[:, :, None] * P.conj()[:, None] - Q[:, :, None] * Q.conj()[:, None]
    thin, thick = DefiniteBoost(vectors=P, minus=Q, upper=-0.1), DefiniteBoost(S, -0.1)
    for a, b in zip(thin.family.ranges, thick.family.ranges, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    V, which = np.linalg.qr(P[:4])[0], np.array([0, 3])  # unitary, complex
    blocks = [f.family.rotated(V, which, slice(1, 3), slice(1, 4)) for f in (thin, thick)]
    np.testing.assert_allclose(*blocks, atol=1e-12)
    np.testing.assert_allclose(blocks[0], (V.conj().T @ S[which] @ V)[:, 1:3, 1:], atol=1e-12)
    W = np.asarray(ml.solve(thick, tol=1e-8).matrix)
    np.testing.assert_allclose(thin.family.adjoint(W), thick.family.adjoint(W), atol=1e-12)
    assert ml.solve(thin, tol=1e-8).value == pytest.approx(ml.solve(thick, tol=1e-8).value, rel=1e-7)
    alone = DefiniteBoost(vectors=P.real, upper=0.5)
    np.testing.assert_allclose(alone.family.ranges[1], np.sum(P.real**2, axis=1))


def test_minmax_and_bisection_refuse_nonsense():
    with pytest.raises(ProblemError, match="constraints must have shape"):
        MinMaxSDP(C)
    with pytest.raises(ProblemError, match="tol must be positive"):
        bisect_theta(MinMaxSDP([C]), tol=0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: eg_step([0.5, 0.6], [1, 2], 0.0, 0.1), "w must be positive and sum to one"),
        (lambda: eg_step([0.5, 0.5], [1, 2, 3], 0.0, 0.1), "x must be a real vector"),
        (lambda: hedge([1.0, 2.0], 0.1), "losses must have shape"),
        (lambda: adaboost([[1.5, 0.0]], 3), r"margins must be a real \(m, d\) array"),
        (lambda: EdgeProblem([0.5]), "margins must be"),
    ],
)
def test_diagonal_ancestors_refuse_nonsense(call, message):
    with pytest.raises(ProblemError, match=message):
        call()


def test_the_command_line_reads_every_kind_of_constraint(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from matrixlearn._commands import cli

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    dense = {"constraints": rng.standard_normal((4, 3, 3)), "upper": -0.1, "initial": np.diag([0.5, 0.3, 0.2])}
    pairs = {"vectors": rng.standard_normal((5, 3)), "minus": rng.standard_normal((5, 3)), "lower": np.full(5, -0.4)}
    for given, options in ((dense, ()), (pairs, ("--slack", "2"))):
        np.savez("data.npz", **given)
        command = ["solve", "definiteboost", "data.npz", *options, "--tol", "1e-6", "--overwrite"]
        found = CliRunner().invoke(cli, command)
        assert found.exit_code == 0, found.output
        expected = ml.solve(DefiniteBoost(**given, slack=2.0 if options else None), tol=1e-6)
        solution = ml.Solution.load("solution.npz")
        assert solution.value == pytest.approx(expected.value, rel=2e-6)
        np.testing.assert_allclose(solution.problem.upper, expected.problem.upper, rtol=1e-12)
    np.savez("data.npz", C=C)
    refused = CliRunner().invoke(cli, ["solve", "definiteboost", "data.npz"])
    assert refused.exit_code == 1 and "must hold arrays among constraints, upper" in refused.output


def test_the_picture_shows_spectra_and_multipliers():
    plt = pytest.importorskip("matplotlib.pyplot")
    solution = ml.solve(DefiniteBoost([C, np.diag([1.0, 0, 0])], [-0.3, 0.4], initial=np.diag([0.5, 0.3, 0.2])))
    axes = solution.plot().axes[2]
    eigenvalues, initial, multipliers = (line.get_ydata() for line in axes.lines)
    np.testing.assert_allclose(eigenvalues, np.linalg.eigvalsh(solution.matrix)[::-1])
    np.testing.assert_allclose(initial, [0.5, 0.3, 0.2])
    np.testing.assert_allclose(multipliers, np.sort(solution.y[solution.y > 0])[::-1])
    idle = ml.solve(DefiniteBoost([-np.eye(3)]))  # no multiplier
    assert len(idle.plot().axes[2].lines) == 3
    plt.close("all")


def crowd(kind, d, m, room=0.02):
    """m squared lengths of d coordinates, bounded by what one matrix has, and that matrix."""
    rng = np.random.default_rng(0)
    U, A = rng.standard_normal((m, d)), rng.standard_normal((d, d))
    W = A @ A.T / np.sum(A**2)
    t = np.einsum("jk,kl,jl->j", U, W, U)
    equal = (np.arange(m) < m // 10) & (kind == "equality")
    upper, lower = np.where(equal, t, (1 + room) * t), np.where(equal, t, -np.inf)
    return DefiniteBoost(vectors=U, upper=upper, lower=lower, slack=5.0 if kind == "soft" else None), W


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["hard", "soft", "equality"])
def test_a_time_limit_is_kept_and_the_bounds_with_it(method, kind):
    p, W = crowd(kind, 40, 1000)
    began = time.process_time()  # other processes may have the core
    stopped = ml.solve(p, method=method, tol=1e-12, time_limit=0.2)
    assert time.process_time() - began < 1.0
    assert stopped.status == "stopped" and "time_limit" in stopped.notes[-2]
    assert -1e-9 <= stopped.lower <= ml.certify(p, X=W).upper
    assert stopped.certificate.verify().lower == pytest.approx(stopped.lower)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["hard", "equality"])
@pytest.mark.parametrize("room", [0.1, 1e-6])
def test_no_iteration_takes_more_than_two_newton_systems(method, kind, room, monkeypatch):
    """And no certificate searches on an engine's account: a limit, or Ctrl-C, waits for one iteration at most."""
    from matrixlearn_definiteboost import barrier, newton

    systems, per_iteration = [], []
    for module in (barrier, newton):
        gram = module.gram
        monkeypatch.setattr(module, "gram", lambda *given, gram=gram: systems.append(1) or gram(*given))
    p, _ = crowd(kind, 6, 40, room)
    engine = registry.registered_engines()[method]
    monkeypatch.setattr(
        "matrixlearn_definiteboost.interior.strictly_feasible", lambda p: pytest.fail("a search at once")
    )

    class Counting(engine):
        def step(self, *given):
            systems.clear()
            state = super().step(*given)
            per_iteration.append(len(systems))
            return state

    found = ml.solve(p, method=Counting(), tol=1e-6, max_iter=300)
    assert per_iteration and max(per_iteration) <= 2
    if method in ("corrective", "barrier") or room > 0.01:
        assert np.isfinite(found.upper)


def test_ctrl_c_within_the_search_keeps_the_bounds(monkeypatch):
    from matrixlearn_definiteboost.interior import InteriorSearch

    p = DefiniteBoost(np.random.default_rng(0).standard_normal((5, 4, 4)), -0.3)
    calls = []

    def interrupted(self):
        calls.append(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(InteriorSearch, "advanced", interrupted)
    stopped = ml.solve(p, method="definiteboost", tol=1e-9)
    assert calls and stopped.status == "stopped" and "interrupted" in stopped.notes[-2]
    assert stopped.lower == 0 or np.isfinite(stopped.lower)
