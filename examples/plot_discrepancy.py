"""
Reweight a source to look like a target
=======================================

A model for winter is wanted, and nearly all labels are from summer. `Discrepancy` finds the weights of
the source points under which the two second-moment matrices are closest in spectral norm,

::

    min over z   || sum_j p_j x_j x_j^T - sum_i z_i x_i x_i^T ||_2,     z >= 0,  sum z = 1,

and proves how close that can be: lower <= optimum <= upper.
"""

# %%
# The data: daily air quality in Beijing
# --------------------------------------
# The source is 340 summer days and 60 winter days at six stations; the target is 200 winter days at the
# other six, without labels. To be predicted is the logarithm of PM2.5 there.

import matplotlib.pyplot as plt
import numpy as np
from matrixlearn_discrepancy import (
    Discrepancy,
    DiscrepancyRegressor,
    DiscrepancyRegressorCV,
    discrepancy_bound,
    discrepancy_distance,
    effective_sample_size,
    load_beijing_air,
)
from matrixlearn_discrepancy.data import summer_to_winter

import matrixlearn as ml

task = summer_to_winter(load_beijing_air(), random_state=3)
print(task.X_source.shape, task.X_target.shape)

# %%
# The weights, with their proof
# -----------------------------
# The exact minimizer leans on a handful of days. A cap on the weights gives up some of the discrepancy for
# a larger effective sample.

exact = ml.solve(Discrepancy(task.X_source, task.X_target), tol=1e-4)
capped = ml.solve(Discrepancy(task.X_source, task.X_target, max_weight=2), tol=1e-4)
print(exact.summary())
print(capped.summary())

# %%
# A certificate does not depend on the engine that found it: it is computed from the data alone, at any time.

print(capped.certificate.verify())

# %%
figure = capped.plot()
plt.show()

# %%
# Does it help?
# -------------
# The same ridge regression, trained on differently weighted sources. Whether reweighting helps depends on the
# draw of stations and days: ``matrixlearn demo`` shows several.
# `DiscrepancyRegressorCV` chooses ridge and weights, and stays uniform where nothing speaks for others.

models = {
    "uniform": DiscrepancyRegressor().fit(task.X_source, task.y_source),
    "cap 2": DiscrepancyRegressor(max_weight=2).fit(task.X_source, task.y_source, X_target=task.X_target),
    "cap 3": DiscrepancyRegressor(max_weight=3).fit(task.X_source, task.y_source, X_target=task.X_target),
    "chosen": DiscrepancyRegressorCV().fit(task.X_source, task.y_source, X_target=task.X_target),
}
for name, model in models.items():
    error = np.sqrt(np.mean((model.predict(task.X_test) - task.y_test) ** 2))
    print(f"{name:>8}  RMSE {error:.3f}  effective sample size {effective_sample_size(model.weights_):.0f}")
print(models["chosen"].summary())

# %%
# What the discrepancy guarantees
# -------------------------------
# For ridge regression without an intercept, the squared loss at any point differs by at most
# 2 r sqrt(M disc / lambda) between training on the weighted source and training on the target, where one
# hypothesis of norm at most Lambda gives all labels: disc = (2 Lambda)^2 ||M(z)||_2. The number falls with
# the discrepancy; it is a worst case over all labels, and far from tight.

for name, norm in {"uniform": capped.problem.uniform_value(), "cap 2": capped.upper, "exact": exact.upper}.items():
    bound = discrepancy_bound(
        discrepancy_distance(norm, hypothesis_norm=1.0), regularization=1.0, radius=4.0, loss_bound=1.0
    )
    print(f"{name:>8}  ||M(z)||_2 {norm:.3f}  guarantee {bound:.2f}")
