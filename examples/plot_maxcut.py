"""
Bound the maximum cut of a graph
================================

No cut weighs more than the optimum of the relaxation

::

    max (1/4) L . X    subject to    X_ii = 1,  X >= 0,

and a random hyperplane turns its matrix into a cut of at least 0.878 times that on average, for weights
that are not negative (Goemans and Williamson, 1995).
"""

# %%
# A graph from networkx
# ---------------------
# The friendships of Zachary's karate club, weighted by how often two members met.

import matplotlib.pyplot as plt
import networkx as nx
from matrixlearn_maxcut import MaxCut

import matrixlearn as ml

graph = nx.karate_club_graph()
problem = MaxCut(graph)
solution = ml.solve(problem, tol=1e-6)
print(solution.summary())

# %%
# From a matrix to a cut
# ----------------------

cut = problem.round(solution, random_state=0)
print(f"a cut of weight {cut.weight:g}; every cut weighs at most {solution.upper:.4f}")
print(f"so this one is within {1 - cut.weight / solution.upper:.2%} of the best")

# %%
figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
place = nx.spring_layout(graph, seed=2)
across = [cut.side[u] != cut.side[v] for u, v in graph.edges]
nx.draw_networkx_nodes(graph, place, ax=axes, node_size=120, node_color=["C0" if s > 0 else "C1" for s in cut.side])
nx.draw_networkx_edges(graph, place, ax=axes, edge_color=["0.3" if a else "C3" for a in across])
axes.set_title(f"a cut of weight {cut.weight:g}, at most {solution.upper:.2f}; red edges stay within a side")
axes.set_axis_off()
plt.show()

# %%
# Engines agree, because the certificate is theirs in common
# ----------------------------------------------------------

for method in ml.methods(problem):
    other = ml.solve(problem, method=method, tol=1e-2, time_limit=3)
    print(f"{method:>15}  {other.lower:.4f} <= optimum <= {other.upper:.4f}  {other.status}, {other.seconds:.2f} s")
