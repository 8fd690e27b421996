"""DiscrepancyClassifier: scikit-learn's conventions, and the fit that it says it is."""

import numpy as np
import pytest
from matrixlearn_discrepancy import Discrepancy, DiscrepancyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import matrixlearn as ml


@parametrize_with_checks(
    [DiscrepancyClassifier(), DiscrepancyClassifier(kernel="rbf"), DiscrepancyClassifier("hinge", kernel="rbf")],
    xfail_strict=True,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def task():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 2))
    label = np.array(["a", "b", "c"])[(X[:, 0] > 0.4).astype(int) + (X[:, 1] > 0.5)]
    return X, label, 0.6 * rng.standard_normal((50, 2)) + [0.7, 0.0]


def half(X, target, **options):
    solution = ml.solve(Discrepancy(X, target, max_weight=2.0, **options))
    return 0.5 * solution.y + 0.5 / len(X)


def test_the_linear_fit_is_a_weighted_logistic_regression(task):
    X, label, target = task
    ours = DiscrepancyClassifier(alpha=0.5).fit(X, label, X_target=target)
    np.testing.assert_allclose(ours.weights_, half(X, target), atol=1e-10)
    theirs = LogisticRegression(C=2.0, max_iter=2000).fit(X, label, sample_weight=80 * ours.weights_)
    np.testing.assert_allclose(ours.predict_proba(target), theirs.predict_proba(target), atol=1e-6)
    assert ours.solution_.gap <= 1e-3
    domain = np.repeat([1, -2], [80, 50])
    both = np.concatenate([X, target]), np.concatenate([label, np.full(50, "?")])
    other = DiscrepancyClassifier(alpha=0.5).fit(*both, sample_domain=domain)
    np.testing.assert_allclose(other.predict_proba(target), ours.predict_proba(target), atol=1e-8)


def test_the_kernel_fit_minimizes_over_functions_of_the_kernel(task):
    """Two classes: no function sum_i c_i K(x_i, .) + b has a smaller objective."""
    import scipy.optimize

    X, label, target = task
    sign = np.where(label == "a", -1.0, 1.0)
    model = DiscrepancyClassifier(kernel="rbf", gamma=0.5, alpha=0.7).fit(X, sign, X_target=target)
    K, w = rbf_kernel(X, gamma=0.5), 80 * model.weights_

    def objective(c, b):
        return w @ np.logaddexp(0, -sign * (K @ c + b)) + 0.35 * c @ K @ c

    found = scipy.optimize.minimize(lambda v: objective(v[:-1], v[-1]), np.zeros(81), options={"maxiter": 3000})
    c = np.linalg.lstsq(K, model.decision_function(X) - model.model_.intercept_[0], rcond=None)[0]
    assert objective(c, model.model_.intercept_[0]) == pytest.approx(found.fun, rel=1e-3)


def test_the_hinge_fit_is_a_weighted_support_vector_machine(task):
    X, label, target = task
    ours = DiscrepancyClassifier("hinge", kernel="rbf", gamma=0.5, alpha=0.5).fit(X, label, X_target=target)
    z = half(X, target, kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5))
    theirs = SVC(C=2.0, gamma=0.5).fit(X, label, sample_weight=80 * z)
    np.testing.assert_allclose(ours.decision_function(target), theirs.decision_function(target), atol=1e-2)
    assert not hasattr(ours, "predict_proba")


def test_wrong_parameters_are_named(task):
    X, label, target = task
    with pytest.raises(ValueError, match="loss must be one of"):
        DiscrepancyClassifier("squared").fit(X, label)
    with pytest.raises(ValueError, match="uniform_share must lie"):
        DiscrepancyClassifier(uniform_share=2).fit(X, label)
    with pytest.raises(ValueError, match="two classes or more"):
        DiscrepancyClassifier().fit(X, np.full(80, "a"), X_target=target)
