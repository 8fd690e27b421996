"""
Tasks on a graph: towns that learn from their neighbours
========================================================

Forty-five Swedish towns, each with six days of its own to learn from. `GraphMultitask` ties the weights of neighbours,

::

    min over W   1/m sum_i F_i(w_i) + eta/2m ||W||^2 + tau/2m sum over edges a_ik ||w_i - w_k||^2,

with F_i the mean loss of town i, and proves how close the answer is to the optimum. The rows never leave their town:
gradients or Gram matrices travel, and a ledger counts them.
"""

# %%
# The data
# --------
# A town's temperature from the mean temperatures of all other towns in the south, the middle and the north of the
# country. October is for learning, November and December are for the judgement.

import matplotlib.pyplot as plt
import numpy as np
from matrixlearn_network import GraphMultitask, GraphRegressor, complete, neighbours
from matrixlearn_network.data import load_sweden
from matrixlearn_network.demo import models, seasons
from matrixlearn_network.picture import draw_gap, draw_graph

import matrixlearn as ml
from matrixlearn.machines import Local

towns = load_sweden()
season = next(seasons(draws=1))
X, y, town = season.rows(season.train)
print(X.shape, "training rows of", len(towns.temperature), "towns")

# %%
# What one tries first
# --------------------
# Each town alone, all towns as one, towns near their mean, towns near their neighbours. All choose their parameters on
# the other days of October.

fitted = models(season)
for name, model in fitted.items():
    print(f"{name:22} {season.error(model, season.test):.3f}")

# %%
# The model, and its certificate
# ------------------------------

graph = neighbours(towns.kilometres, k=4)
best = fitted["near their neighbours"]
print(best.solution_.summary())
print(best.solution_.certificate.verify())
print(best.ledger_)

# %%
# The coefficient of the north falls from north to south: what the graph has found.

figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
draw_graph(axes, best.graph_, best.coef_[:, 2], "coefficient of the north")

# %%
# Ways to the same weights
# ------------------------
# ``moments`` sends a Gram matrix a town, once. ``krylov`` sends a vector up and a vector down a round; ``bol`` needs no
# hub and sends to neighbours only.

centred = X - X.mean(axis=0), y - y.mean()
problem = GraphMultitask(*centred, graph, best.eta, best.tau, task=town)
solutions = [ml.solve(problem, method=method, tol=1e-6, max_iter=500) for method in ("krylov", "bsr", "bol")]
figure, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained")
for column, solution in zip(axes.T, solutions, strict=True):
    draw_gap(column[0], solution, by="rounds")
    draw_gap(column[1], solution, by="vectors")

# %%
# Bad networks
# ------------
# Without momentum BOL converges for every delay and every loss of messages short of all: a contraction in the largest
# distance of a town from its optimum.

for network in (Local(), Local(delay=3), Local(loss=0.5), Local(delay=3, loss=0.5)):
    tied = GraphMultitask(*centred, graph, 0.1, 3.0, task=town, machines=network)
    solution = ml.solve(tied, method="bol", tol=1e-4, max_iter=3000)
    print(network, solution.status, solution.iterations, "rounds")

# %%
# A town that was not seen
# ------------------------
# It is predicted by the weighted mean of its neighbours' weights.

wider = best.with_task(45, {0: 1.0, 7: 1.0})
print(np.round(wider.predict(X[:3], [45, 45, 45]), 2), np.round(y[:3], 2))

# %%
# And a graph that is none: the complete one is mean regularisation.

print(GraphRegressor(best.eta, best.tau).fit(X, y, town, graph=complete(45)).solution_.summary())
