"""
Related tasks: air quality at twelve stations in two seasons
============================================================

Twenty-four regressions with few rows each, learned together: the weights of task i scatter around a mean,
W ~ MN(w_0 1^T, S1^-1, S2^-1), and FETR learns W, w_0 and both precision matrices (Zhao, Stretcu, Smola and Gordon):

::

    min  sum_i ||y_i - X_i w_i||^2 + eta tr(S1 V S2 V^T) - eta (m log det S1 + d log det S2),    V = W - w_0 1^T
"""

# %%
# A task is a station in a season
# -------------------------------
# The logarithm of PM2.5 from other pollutants and the weather; 40 days of each task for training.

import matplotlib.pyplot as plt
import numpy as np
from matrixlearn_discrepancy import load_beijing_air
from matrixlearn_fetr import FETRRegressor, FETRRegressorCV, MTFLRegressor, PooledRidge, SingleTaskRidge

air = load_beijing_air()
season = np.where(air.is_winter, "winter", "summer")
task = np.char.add(np.char.add(season, " "), air.station)

rng = np.random.default_rng(0)
train = np.concatenate([rng.choice(np.flatnonzero(task == name), 40, replace=False) for name in np.unique(task)])
test = np.setdiff1d(np.arange(len(task)), train)
mean, deviation = air.X[train].mean(axis=0), air.X[train].std(axis=0)
X, y = (air.X - mean) / deviation, air.y / air.y[train].std()
print(f"{len(np.unique(task))} tasks, {X.shape[1]} features, {len(train)} rows to learn from, {len(test)} to predict")

# %%
# Alone, pooled, or related
# -------------------------
# The normalized mean squared error, averaged over tasks; FETR chooses eta, the others have good parameters.


def error(model):
    squared = (y[test] - model.predict(X[test], task[test])) ** 2
    return np.mean([squared[task[test] == name].mean() / y[task == name].var() for name in np.unique(task)])


models = {
    "each task alone": SingleTaskRidge(alpha=1.0),
    "one ridge for all": PooledRidge(alpha=1.0),
    "shared directions (MTFL)": MTFLRegressor(alpha=0.3),
    "FETR around zero": FETRRegressorCV(mean="zero", bounds=[(0.1, 10.0)], cv=3),
    "FETR around a mean": FETRRegressorCV(bounds=[(0.1, 10.0)], cv=3),
}
for name, model in models.items():
    print(f"{name:>25}  {error(model.fit(X[train], y[train], task[train])):.3f}")

# %%
# How the tasks are related
# -------------------------
# From all rows: summers and winters scatter on opposite sides of their mean, whatever the station. The certificate
# says that no block of the variables alone can improve the objective; "optimal" would be for convex problems.

model = FETRRegressor(eta=1.0, lower=0.1, upper=10.0).fit(X, y, task)
print(model.solution_.summary())
print(f'{model.solution_.status}, not "optimal": another start may end lower')

figure = model.plot(feature_names=air.features)
plt.show()
