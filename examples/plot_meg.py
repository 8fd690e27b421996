"""
Learn a kernel from distances, one at a time
============================================

A density matrix W is the kernel of d objects; one squared distance a round, ||x_a - x_b||^2 = tr(W X) with
X = (e_a - e_b)(e_a - e_b)^T, teaches it (Tsuda, Raetsch and Warmuth, 2005). No sequence of rounds costs more than

::

    L_MEG  <=  (1 + c/2) L_U + (1/2 + 1/c) r^2 Delta(U, I/d)          for every kernel U  (Lemma 3.2).
"""

# %%
# A target kernel, and a stream of its distances
# ----------------------------------------------

import matplotlib.pyplot as plt
import numpy as np
from matrixlearn_meg import Lemma32, MEGLearner, MEGRegression, Pair

import matrixlearn as ml

rng = np.random.default_rng(0)
d = 30
centres = rng.standard_normal((3, 2))
points = np.repeat(centres, d // 3, axis=0) + 0.3 * rng.standard_normal((d, 2))
K = np.exp(-((points[:, None] - points[None]) ** 2).sum(axis=2))
K /= np.trace(K)


def distances(rounds):
    for _ in range(rounds):
        a, b = (int(i) for i in rng.choice(d, 2, replace=False))
        yield Pair(a, b, d), K[a, a] + K[b, b] - 2 * K[a, b]


# %%
# The target itself has no loss, so that eta = 2 / r^2; r = 2 for a pair.

learner = MEGLearner(d, Lemma32(r=2.0), comparator=K).learn(distances(8000))
print(f"{learner.rounds} rounds cost {learner.total_loss:.4f}, at most {learner.meter.bound:.4f} by Lemma 3.2")

# %%
# All at once, with a certificate
# -------------------------------

examples = list(distances(300))
problem = MEGRegression([x for x, _ in examples], [y for _, y in examples])
solution = ml.solve(problem, tol=1e-3)
print(solution.summary())

# %%
figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
learner.meter.plot(axes[0])
for ax, matrix, title in ((axes[1], K, "target kernel"), (axes[2], learner.W, "learned, 8000 distances")):
    centred = matrix - matrix.mean(axis=0) - matrix.mean(axis=1)[:, None] + matrix.mean()
    ax.imshow(centred, cmap="RdBu", vmin=-np.abs(centred).max(), vmax=np.abs(centred).max())
    ax.set(title=f"{title}, centred", xticks=[], yticks=[])
plt.show()
