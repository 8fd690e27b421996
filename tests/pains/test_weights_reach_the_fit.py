"""Pain 27 (skada #89, scikit-learn #21134): learned weights silently never reach the final estimator.

Three source points, one target point, y = |x|: no line through the origin fits both signs, so that the
weights decide which sign the answer is for.
"""

import numpy as np
import pytest
import sklearn
from matrixlearn_discrepancy import DiscrepancyRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

X_source, X_target = np.array([[-1.0], [0.5], [2.0]]), np.array([[2.0]])
y_source = np.abs(X_source[:, 0])


def regressor():
    return DiscrepancyRegressor(alpha=1e-6, fit_intercept=False, max_weight=None)


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def assert_weighted(model, final):
    unweighted = regressor().fit(X_source, y_source)
    # by hand: slope sum z x y / sum z x^2, z = (1, 1, 1) / 3 and z = (0, 0, 1)
    assert unweighted.coef_[0] == pytest.approx((-1 + 0.25 + 4) / (1 + 0.25 + 4), rel=1e-5)
    np.testing.assert_allclose(final.weights_, [0, 0, 1], atol=1e-3)
    assert final.coef_[0] == pytest.approx(1.0, abs=1e-3)
    assert abs(model.predict(X_target)[0] - unweighted.predict(X_target)[0]) > 0.5


def test_fitted_directly():
    model = regressor().fit(X_source, y_source, X_target=X_target)
    assert_weighted(model, model)


def test_at_the_end_of_a_pipeline():
    model = Pipeline(
        [("same", FunctionTransformer()), ("fit", regressor().set_fit_request(X_target=True))],
        transform_input=["X_target"],
    ).fit(X_source, y_source, X_target=X_target)
    assert_weighted(model, model[-1])


def test_with_domains_in_a_pipeline():
    model = make_pipeline(FunctionTransformer(), regressor().set_fit_request(sample_domain=True))
    both, labels = np.concatenate([X_source, X_target]), np.append(y_source, -7.0)
    model.fit(both, labels, sample_domain=[1, 1, 1, -1])
    assert_weighted(model, model[-1])


def test_a_pipeline_that_would_drop_the_target_refuses():
    model = make_pipeline(FunctionTransformer(), regressor())
    with pytest.raises(ValueError, match="X_target"):
        model.fit(X_source, y_source, X_target=X_target)
