"""
Learn a kernel from distances
=============================

Some objects are known by a few measured distances only. DefiniteBoost finds the kernel nearest to the uniform one that
agrees with them,

::

    min  tr(W log W - W log W_1)    subject to    tr W = 1,  tr(W C_j) <= 0,

and certifies how near (Tsuda, Raetsch and Warmuth, 2005).
"""

# %%
# Places on a circle, with the distances of some pairs
# ----------------------------------------------------

import matplotlib.pyplot as plt
import numpy as np
from matrixlearn_definiteboost import DefiniteBoost, DefiniteBoostKernel

import matrixlearn as ml

rng = np.random.default_rng(0)
n = 24
angle = np.sort(rng.uniform(0, 2 * np.pi, n))
place = np.column_stack([np.cos(angle), np.sin(angle)])
squared = np.sum((place[:, None] - place[None]) ** 2, axis=2)

every = np.column_stack(np.triu_indices(n, 1))
pairs = every[rng.permutation(len(every))[: len(every) // 2]]  # half of them are measured
noisy = squared[tuple(pairs.T)] * rng.uniform(0.95, 1.05, len(pairs))  # and by 5 % wrong

# %%
# Quantitative: distances
# -----------------------
# Noisy distances contradict each other; ``slack`` prices a violation.

model = DefiniteBoostKernel(slack=3.0, tol=1e-4).fit(pairs, noisy, n_objects=n)
print(model.solution_.summary())
unseen = np.setdiff1d(every @ [n, 1], pairs @ [n, 1])
unseen = np.column_stack([unseen // n, unseen % n])
learned, true = model.distances()[tuple(unseen.T)], squared[tuple(unseen.T)]
print(f"distances never measured: correlation {np.corrcoef(learned, true)[0, 1]:.3f} with the true ones")

# %%
# Qualitative: near and far
# -------------------------
# Three groups; a third of the pairs are said to be near or far. Each object's neighbour tells its group.

group = np.arange(n) * 3 // n
some = every[rng.permutation(len(every))[: len(every) // 3]]
said = np.where(group[some[:, 0]] == group[some[:, 1]], 1, -1)
by_words = DefiniteBoostKernel(slack=None).fit(some, said, n_objects=n)
error = np.mean(group[by_words.kneighbors()[1][:, 0]] != group)
print(f"near and far: {by_words.solution_.status}, nearest-neighbour error {error:.1%}")

# %%
# Three engines, one optimum
# --------------------------

vectors = np.eye(n)[some[:, 0]] - np.eye(n)[some[:, 1]]
near = DefiniteBoost(vectors=vectors[said > 0], upper=0.4 / n)
runs = {method: ml.solve(near, method=method, tol=1e-5) for method in ("corrective", "bregman", "definiteboost")}
for method, run in runs.items():
    print(f"{method:>15}  {run.lower:.6f} <= optimum <= {run.upper:.6f}  {run.status}, {run.iterations} iterations")

# %%
figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
Z = model.embedding(2) - model.embedding(2).mean(axis=0)
centred = place - place.mean(axis=0)
turn, _, back = np.linalg.svd(Z.T @ centred)  # a kernel knows no direction: turn it to the map
axes[0].scatter(*centred.T, c="0.8", s=90, label="true places")
axes[0].scatter(*(Z @ turn @ back).T, c=angle, cmap="hsv", s=25, label="from distances")
axes[0].set_aspect("equal")
axes[0].set_title("the two widest directions of the kernel")
axes[0].legend(loc="center", frameon=False)
image = axes[1].imshow(by_words.distances() * n / 2, cmap="viridis")
axes[1].set_title("distances from near and far (1: as in W₁)")
figure.colorbar(image, ax=axes[1], shrink=0.8)
for method, run in runs.items():
    seen, gap = run.history.column("iteration") + 1, run.history.column("gap")
    axes[2].loglog(seen[np.isfinite(gap)], gap[np.isfinite(gap)], "o-", ms=4, label=method)
axes[2].set_xlabel("iteration")
axes[2].set_ylabel("certified relative gap")
axes[2].set_title("all constraints at once, or one by one")
axes[2].legend(frameon=False)
plt.show()
