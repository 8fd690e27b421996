"""ERM: the laws of a problem, every engine against Clarabel, bounds that hold, bad input."""

import warnings
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from matrixlearn_erm import APCG, DADM, ERM, PAPC, SDCA, SGD, SPD1, SPD1VR, SPDC, SVRG, DisDCA, Katyusha

import matrixlearn as ml
from matrixlearn.engines import Incumbent
from matrixlearn.exceptions import CapabilityError, ProblemError
from matrixlearn.losses import LOSSES, Huber, Logistic, Loss
from matrixlearn.penalties import ElasticNet, Group, Nuclear
from matrixlearn.registry import registered_engines
from matrixlearn.testing import check_engine, parametrize_with_checks

pytestmark = pytest.mark.usefixtures("cpu_clock")

seeds = st.integers(0, 2**32 - 1)


@parametrize_with_checks([ERM])
def test_erm(check):
    check()


@pytest.mark.parametrize("name", ["newton-cg", "dual-interior-point", "chambolle-pock", "sdca"])
def test_the_laws_of_an_engine(name):
    check_engine(registered_engines()[name], ERM)


def rows_and_signs(n=200, d=15, seed=0):
    """Section 1.6 of the design: unit rows, w = 3 Gaussian, noise 0.3, labels its sign."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    A /= np.linalg.norm(A, axis=1)[:, None]
    return A, np.sign(A @ (3 * rng.standard_normal(d)) + 0.3 * rng.standard_normal(n))


@pytest.fixture(scope="module")
def posed():
    """The rows of the table in section 1.6, each with Clarabel's optimum."""
    A, b = rows_and_signs()
    problems = {
        (loss, ridge): ERM(A, b, loss, ElasticNet(ridge))
        for loss, ridge in [("square", 1e-2), ("square", 1e-3), ("logistic", 1e-3), ("hinge", 1e-2), ("absolute", 1e-2)]
    }
    return {key: (problem, problem.reference().solve(solver="CLARABEL")) for key, problem in problems.items()}


SMOOTH = [("square", 1e-2), ("square", 1e-3), ("logistic", 1e-3)]
EVERY = [*SMOOTH, ("hinge", 1e-2), ("absolute", 1e-2)]
REACH = (
    [(engine, key, 1e-8) for engine in ("newton-cg", "svrg", "katyusha", "apcg", "spdc", "papc") for key in SMOOTH]
    + [("dual-interior-point", key, 1e-8) for key in EVERY if key[0] != "logistic"]
    + [(engine, key, 1e-8) for engine in ("sdca", "chambolle-pock") for key in EVERY]
    + [(engine, ("square", 1e-2), 1e-8) for engine in ("disdca", "dadm", "spd1-vr")]
    + [("sgd", ("square", 1e-2), 1e-3), ("sgd", ("logistic", 1e-3), 1e-3), ("spd1", ("square", 1e-2), 1e-3)]
    + [("papc", ("hinge", 1e-2), 1e-5), ("disdca", ("hinge", 1e-2), 1e-4)]
)


@pytest.mark.parametrize(("engine", "key", "reach"), REACH, ids=str)
def test_every_engine_reaches_clarabel(posed, engine, key, reach):
    problem, optimum = posed[key]
    wide = 2e-8  # Clarabel's own error
    done = lambda event: event.upper <= optimum + reach
    found = ml.solve(problem, method=engine, tol=1e-10, max_iter=3000, callback=done)
    assert optimum - wide <= found.upper <= optimum + reach + wide
    assert found.lower <= optimum + wide
    assert found.value == pytest.approx(found.upper, rel=1e-9)


@pytest.mark.parametrize("engine", [SVRG, Katyusha, SDCA, APCG, SPDC])
def test_one_row_at_a_time_is_the_method_as_printed(posed, engine):
    """Blocks of one row: R^2 = max ||a_i||^2, and the epochs to 1e-6 are those of the design, 15 % more at the most."""
    problem, optimum = posed["square", 1e-2]
    one = engine(batch=1)
    assert pytest.approx(float(np.max(np.sum(problem.A**2, axis=1)))) == one.partition(problem).R2
    found = ml.solve(problem, method=one, tol=1e-12, callback=lambda event: event.upper <= optimum + 1e-6)
    passes = {SVRG: 21, Katyusha: 15, SDCA: 9, APCG: 13, SPDC: 14}[engine]
    each = 3 if engine in (SVRG, Katyusha) else 1
    assert found.iterations * each <= 1.35 * passes  # medians of 5 draws in the design, one here


@given(seed=seeds)
@settings(deadline=None)
def test_bounds_hold_at_any_points(seed):
    """lower <= optimum <= upper for random points, losses and penalties."""
    rng = np.random.default_rng(seed)
    problem = ERM.random(rng)
    best = ml.solve(problem, tol=1e-7, time_limit=10)
    x = rng.standard_normal(problem.d) * 10.0 ** rng.uniform(-3, 2)
    y = rng.standard_normal(problem.n) * 10.0 ** rng.uniform(-3, 2)
    certificate = ml.certify(problem, X=x, y=y)
    assert certificate.lower <= best.upper
    assert best.lower <= certificate.upper
    from_x = problem.bound_from_matrix(x)
    assert from_x.lower <= best.upper
    assert from_x.upper >= problem.value_at(problem.design.apply(x), x)


@given(seed=seeds)
@settings(deadline=None, max_examples=15)
def test_bounds_are_proved_in_exact_arithmetic(seed):
    """Square loss, ridge, data of all sizes: P(x) and D(y) by rational numbers are on the right side of the bounds."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    A = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-6, 6, (n, 1))
    b, ridge = rng.standard_normal(n) * 10.0 ** rng.uniform(-3, 3), 10.0 ** rng.uniform(-8, 2)
    problem = ERM(A, b, "square", ElasticNet(ridge))
    x, y = rng.standard_normal(d), rng.standard_normal(n)
    exact = np.vectorize(Fraction, otypes=[object])
    Ae, be, xe, ye, r = exact(A), exact(b), exact(x), exact(y), Fraction(ridge)
    upper = r / 2 * (xe @ xe) + sum((Ae @ xe - be) ** 2) / (2 * n)
    v = Ae.T @ ye / n
    lower = -(v @ v) / (2 * r) - sum(ye**2 / 2 + ye * be) / n
    assert Fraction(problem.bound_from_matrix(x).upper) >= upper
    assert Fraction(problem.bound_from_vector(y).lower) <= max(lower, 0)
    assert problem.bound_from_matrix(x).upper <= float(upper) * (1 + 1e-9)


def dual(problem, y):
    """D(y), as printed at the top of the plugin."""
    conjugates = problem.loss.conjugate(y, problem.b)
    return -problem.penalty.conjugate(problem.direction(y)) - problem.share @ conjugates


@given(seed=seeds, smooth=st.sampled_from(["square", "logistic", "huber", "squared-hinge"]))
@settings(deadline=None, max_examples=15)
def test_the_gap_of_a_ridge_is_the_gradient(seed, smooth):
    """P(x) - D(f'(A x)) = ||grad P(x)||^2 / 2 ridge."""
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((12, 3)), rng.choice([-1.0, 1.0], 12)
    problem, x = ERM(A, b, smooth, ElasticNet(0.1)), 0.1 * rng.standard_normal(3)
    gradient = 0.1 * x - problem.direction(problem.dual_point(x))
    y = problem.dual_point(x)
    assert problem.value_at(A @ x, x) - dual(problem, y) == pytest.approx(
        float(gradient @ gradient) / 0.2, rel=1e-10, abs=1e-13
    )


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("penalty", [ElasticNet(0.05), ElasticNet(0.05, 0.02), ElasticNet(l1=0.02)], ids=str)
def test_auto_reaches_the_optimum_dense_and_sparse(loss, penalty):
    A, b = rows_and_signs(60, 8, 1)
    A[np.abs(A) < 0.2] = 0
    dense, sparse = (ml.solve(ERM(form, b, loss, penalty), tol=1e-6) for form in (A, sp.csr_matrix(A)))
    for found in (dense, sparse):
        assert found.status == "optimal"
        assert found.method in ("newton-cg", "dual-interior-point", "sdca", "chambolle-pock")
    assert dense.lower <= sparse.upper
    assert sparse.lower <= dense.upper
    assert sp.issparse(sparse.problem.A)


@pytest.mark.parametrize("penalty", [Group(0.05, [0, 0, 1, 1, 2, 2]), Nuclear(0.05, (2, 3), 0.01)], ids=["g", "n"])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_norms_of_groups_and_matrices(penalty, loss):
    A, b = rows_and_signs(40, 6, 2)
    problem = ERM(A, b, loss, penalty)
    optimum = problem.reference().solve(solver="CLARABEL")
    for method in ml.methods(problem):
        if method not in ("reference", "sgd"):
            found = ml.solve(problem, method=method, tol=1e-3, time_limit=10)
            assert found.status == "optimal", method
            assert found.lower - 1e-7 <= optimum <= found.upper + 1e-7


def test_the_nuclear_norm_finds_a_matrix_of_low_rank():
    rng = np.random.default_rng(0)
    W = np.outer(rng.standard_normal(4), rng.standard_normal(5))
    A = rng.standard_normal((80, 20))
    b = A @ W.ravel() + 0.01 * rng.standard_normal(80)
    found = ml.solve(ERM(A, b, "square", Nuclear(0.05, (4, 5))), tol=1e-6)
    s = np.linalg.svd(np.asarray(found.matrix).reshape(4, 5), compute_uv=False)
    assert s[1] < 1e-3 * s[0]


def test_blocks_without_numba_are_the_same_optimum(monkeypatch):
    A, b = rows_and_signs(100, 6, 3)
    problem = ERM(A, b, "hinge", ElasticNet(0.05))
    fast = ml.solve(problem, method="sdca", tol=1e-5)
    monkeypatch.setattr("matrixlearn_erm.ascent.has_numba", lambda: False)
    slow = ml.solve(problem, method="sdca", tol=1e-5)
    assert "in NumPy" in slow.explain()
    assert slow.lower <= fast.upper
    assert fast.lower <= slow.upper
    assert slow.status == fast.status == "optimal"


@pytest.mark.parametrize("loss", ["square", "logistic", "hinge"])
def test_compiled_steps_are_prox_steps(loss):
    """One pass of the kernels is one pass of y_i <- prox_{h f*}(y_i + h a_i.x), row by row."""
    pytest.importorskip("numba")
    from matrixlearn_erm.ascent import Compiled

    A, b = rows_and_signs(30, 4, 4)
    A[np.abs(A) < 0.2] = 0
    for form in (A, sp.csr_array(A)):
        for copies in (1, 3):
            problem = ERM(form, b, loss, ElasticNet(0.05, 0.01))
            y = 0.3 * problem.dual_point(np.zeros(4))
            v = problem.direction(y)
            got, added = Compiled(problem, np.arange(30), copies, 0.01)(y, v, np.random.default_rng(0))
            want, u = y.copy(), v.copy()
            for i in np.random.default_rng(0).permutation(np.arange(30)):
                h = 0.05 / (copies * problem.share[i] * problem.design.norms[i] ** 2)
                x = problem.penalty.conjugate_gradient(u)
                new = problem.loss.prox_conjugate(want[i] + h * (A[i] @ x), h, b[i])
                u -= copies * problem.share[i] * (new - want[i]) * A[i]
                want[i] = new
            np.testing.assert_allclose(got, want, atol=1e-12)
            np.testing.assert_allclose(added, (u - v) / copies, atol=1e-12)


def test_each_round_of_machines_raises_the_dual(posed):
    for engine in (DisDCA(machines=4), DisDCA(machines=4, copy="basic"), DADM(machines=3)):
        problem, _ = posed["hinge", 1e-2]
        state = engine.init(problem, Incumbent.first(problem))
        values = [dual(problem, state.y)]
        for _ in range(10):
            state = engine.step(problem, state, Incumbent.first(problem))
            values.append(dual(problem, state.y))
        assert all(after >= before - 1e-12 for before, after in pairwise(values))
        assert values[-1] > values[0]


def test_proposition_1_of_dadm():
    """The dual of DADM: with psi = ridge + h, max over y of min over w of g(w) - v.w + h(w) is the primal's optimum."""
    A, b = rows_and_signs(40, 6, 5)
    problem = ERM(A, b, "logistic", ElasticNet(0.05, 0.03))
    found = ml.solve(problem, method=DADM(machines=4), tol=1e-8, max_iter=3000)
    assert found.status == "optimal"
    w = np.asarray(problem.penalty.conjugate_gradient(problem.direction(found.y)))
    hub = problem.penalty.value(w) - problem.direction(found.y) @ w  # min over w of g(w) - v.w + h(w)
    assert hub - problem.share @ problem.loss.conjugate(found.y, b) == pytest.approx(found.value, rel=1e-6)
    assert "machines, " in found.explain()


def test_more_local_steps_need_fewer_rounds(posed):
    """Section 1.6: computation for communication, in the practical variant."""
    problem, optimum = posed["square", 1e-2]

    def rounds(steps):
        engine = DisDCA(machines=4, local_steps=steps)
        return ml.solve(problem, method=engine, tol=1e-4, max_iter=2000).iterations

    assert rounds(50) < rounds(10) / 2


def test_explain_tells_the_case_and_both_preferences():
    A, b = rows_and_signs()
    text = ml.solve(ERM(A, b, "square", ElasticNet(1e-4)), tol=1e-4).explain()
    assert "case 1" in text
    assert "kappa = 1e+04 against n = 200" in text
    assert "theory prefers katyusha, apcg or spdc" in text
    assert "measured: newton-cg" in text
    cases = {
        ("logistic", ElasticNet(0.1)): 1, ("hinge", ElasticNet(0.1)): 2,
        ("logistic", ElasticNet(l1=0.01)): 3, ("hinge", ElasticNet(l1=0.01)): 4,
    }  # fmt: skip
    for (loss, penalty), number in cases.items():
        problem = ERM(A, b, loss, penalty)
        assert problem.case.number == number
        assert f"case {number}" in ml.solve(problem, max_iter=1).explain()


def test_auto_is_never_history():
    history = {"svrg", "katyusha", "spdc", "apcg", "papc", "disdca", "dadm", "spd1-vr", "spd1", "sgd", "reference"}
    rng = np.random.default_rng(0)
    for _ in range(15):
        assert ml.solve(ERM.random(rng), max_iter=0).method not in history


def test_engines_say_whom_they_are_for():
    A, b = rows_and_signs(20, 3)
    hinge = ERM(A, b, "hinge", ElasticNet(l1=0.1))
    for engine in (SVRG(), Katyusha(), APCG(), SPDC(), SPD1VR()):
        with pytest.raises(CapabilityError, match=r"hinge loss has a corner; sdca, chambolle-pock .* will do"):
            ml.solve(hinge, method=engine)
    with pytest.raises(CapabilityError, match=r"elastic-net\(l1=0.1\) is not strongly convex"):
        ml.solve(hinge, method="sdca")
    with pytest.raises(CapabilityError, match="is no ridge alone"):
        ml.solve(hinge, method=PAPC())
    with pytest.raises(CapabilityError, match="group is no elastic net"):
        ml.solve(ERM(A, b, "square", Group(0.1, [0, 0, 1])), method=SPD1())
    for engine in (registered_engines()[name]() for name in ERM.engines):
        with pytest.raises(CapabilityError, match="is for ERM problems"):
            ml.solve(ml.LinearSDP(np.eye(2), [np.eye(2)], [1.0], 1.0), method=engine)


# -- bad input, section 6 -------------------------------------------------------------------------


def test_no_penalty_at_all():
    with pytest.raises(ProblemError, match=r"penalty must have a weight above 0.*got elastic-net; give it a small"):
        ERM(np.eye(2), [1.0, -1.0], "square", ElasticNet())


def test_rows_that_repeat_and_rows_of_zeros():
    A, b = rows_and_signs(30, 4)
    A = np.vstack([A, A, np.zeros((3, 4))])
    b = np.concatenate([b, b, np.ones(3)])
    for loss in ("square", "logistic", "hinge"):
        for form in (A, sp.csr_array(A)):
            problem = ERM(form, b, loss, ElasticNet(0.1))
            optimum = problem.reference().solve(solver="CLARABEL")
            for engine in (registered_engines()[name]() for name in problem.engines):
                if not engine.objection(problem):
                    with warnings.catch_warnings():
                        warnings.simplefilter("error")  # no division by ||a_i|| = 0
                        found = ml.solve(problem, method=engine, tol=1e-3, max_iter=2)
                    assert found.lower - 1e-7 <= optimum <= found.upper + 1e-7, engine.name
                    assert np.all(np.isfinite(found.matrix))


def test_nothing_but_zeros():
    for loss in ("square", "logistic", "hinge"):
        problem = ERM(np.zeros((5, 3)), np.ones(5), loss, ElasticNet(0.1))
        for method in ml.methods(problem):
            if method != "reference":
                found = ml.solve(problem, method=method, tol=1e-6, max_iter=50)
                assert found.lower <= problem.scale <= found.upper + 1e-12


def test_separable_classes_with_next_to_no_ridge():
    """The minimum is near 0 and far out: bounds hold, and say how far the answer is."""
    A = np.array([[1.0, 0.5], [2.0, -0.5], [-1.0, 0.2], [-2.0, 0.1]])
    problem = ERM(A, [1.0, 1.0, -1.0, -1.0], "logistic", ElasticNet(1e-12))
    found = ml.solve(problem, tol=1e-3)
    assert found.status == "optimal"
    assert 0 < found.upper < 1e-6  # gaps count from 1e-3 P(0) at the least
    assert np.linalg.norm(found.matrix) > 10


def test_labels_that_are_all_the_same():
    A, _ = rows_and_signs(20, 3)
    for loss in LOSSES:
        found = ml.solve(ERM(A, np.ones(20), loss, ElasticNet(0.1)), tol=1e-6)
        assert found.status == "optimal", loss


def test_steps_that_diverge_are_noticed(posed):
    """Steps by hand, a hundred times too long: it is said, no number is wrong, and the bounds hold."""
    problem, optimum = posed["square", 1e-3]

    found = ml.solve(problem, method=SVRG(length=100.0), max_iter=60)
    assert found.lower <= optimum <= found.upper
    assert np.all(np.isfinite(found.matrix))
    assert "the iteration diverged: its steps are too long" in found.explain()
    for length in (0.0, -1.0, np.inf, "long"):
        with pytest.raises(ProblemError, match="length must be"):
            SGD(length=length)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"A": [[1.0, np.nan], [1.0, 2.0]]}, "A holds 1 NaN"),
        ({"A": sp.csr_array(np.array([[1.0, np.inf], [1.0, 2.0]]))}, "A holds 1 NaN or infinite"),
        ({"A": [[1.0, 2.0]]}, "A and b must have one row for each sample, got 1 and 2"),
        ({"A": [1.0, 2.0]}, "A must be two-dimensional"),
        ({"A": sp.csr_array(np.eye(2) * 1j)}, "A must be real"),
        ({"A": sp.csr_array((0, 2))}, "A must be two-dimensional .* and not empty"),
        ({"b": [1.0, np.nan]}, "b holds 1 NaN"),
        ({"b": [0.0, 1.0]}, r"b must hold labels -1 and 1 for the logistic loss, got \[0.0, 1.0\]"),
        ({"loss": "cubic"}, "loss must be one of"),
        ({"penalty": "lasso"}, "penalty must be one of"),
        ({"penalty": Nuclear(1.0, (3, 3))}, "holds 9 weights, and there are 2"),
        ({"sample_weight": [1.0, -1.0]}, "sample_weight must hold numbers >= 0"),
        ({"sample_weight": [0.0, 0.0]}, "sample_weight is zero for every row"),
    ],
)
def test_bad_data_are_named(change, words):
    given = {"A": np.eye(2), "b": [1.0, -1.0], "loss": "logistic", "penalty": ElasticNet(0.1), **change}
    with pytest.raises(ProblemError, match=words):
        ERM(**given)


def test_points_of_another_size_are_named():
    problem = ERM(np.eye(2), [1.0, -1.0], "logistic", ElasticNet(0.1))
    with pytest.raises(ProblemError, match=r"X must .* shape \(2,\), got .*\(3,\)"):
        ml.certify(problem, X=np.zeros(3))
    with pytest.raises(ProblemError, match=r"y must .* shape \(2,\), got .*\(3,\)"):
        ml.certify(problem, y=np.zeros(3))


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("loss", ["square", "logistic", "hinge"])
def test_units_do_not_matter(scale, loss):
    A, b = rows_and_signs(40, 4, 6)
    found = ml.solve(ERM(scale * A, b, loss, ElasticNet(0.1 * scale**2)), tol=1e-6)
    still = ml.solve(ERM(A, b, loss, ElasticNet(0.1)), tol=1e-6)
    assert found.status == "optimal"
    assert found.value == pytest.approx(still.value, rel=1e-5)


def test_users_data_are_left_alone():
    A, b = sp.csr_array(np.array([[1.0, 0.0], [0.0, 2.0]])), np.array([1.0, -1.0])
    kept = A.copy()
    A.data.flags.writeable = False
    unsorted = sp.csr_array((np.array([2.0, 1.0]), np.array([1, 0]), np.array([0, 2, 2])), shape=(2, 2))
    before = unsorted.indices.copy()
    ml.solve(ERM(A, b, "logistic", ElasticNet(0.1)), method="sdca", tol=1e-3)
    ERM(unsorted, b, "logistic", ElasticNet(0.1))
    assert (kept != A).nnz == 0
    np.testing.assert_array_equal(unsorted.indices, before)


def test_a_loss_and_parameters_of_ones_own():
    """A loss of one's own solves; to be saved, it is entered by name."""

    class Doubled(Logistic):
        name = "doubled"

    assert isinstance(Doubled(), Loss)
    A, b = rows_and_signs(20, 3)
    problem = ERM(A, b, Doubled(), ElasticNet(0.1))
    assert ml.solve(problem, tol=1e-6).status == "optimal"
    assert ERM(A, b, Huber(0.3), ElasticNet(0.1)).parameters()["loss"] == "huber(delta=0.3)"
    with pytest.raises(ProblemError, match="machines must be a whole number >= 1, got 0"):
        DisDCA(machines=0)
    with pytest.raises(ProblemError, match=r"copy must be one of .*, got 'lazy'"):
        DisDCA(copy="lazy")
    assert replace(SGD(), seed=3).seeded(4).seed == 4


def test_newton_leaves_the_corner_of_an_orthant():
    """One sample, five weights, l1: H has rank one, and the step of the first orthant was none that went down."""
    found = ml.solve(ERM.random(np.random.default_rng(101671)), method="newton-cg", tol=1e-6)
    assert found.status == "optimal"
