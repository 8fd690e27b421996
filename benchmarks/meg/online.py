"""Figure 2 of 002 on a real kernel: total loss, bound, nearest neighbours, cost in eigendecompositions.

The paper's gyrB kernel is not public; globin structures (213, of which 52 are drawn) stand in. Seconds are CPU seconds
of one thread; the eigendecompositions alone are timed in the same process, after the stream.

    python benchmarks/meg/online.py DATA/kernels/globin_dissimilarity.npz [rounds]
"""

import sys
import time

import numpy as np
from matrixlearn_meg import Lemma32, MEGLearner, Pair

from benchmarks._common import header


def nearest_error(W, labels):
    """Leave-one-out error of the nearest neighbour under the kernel W."""
    squared = np.diag(W)[:, None] + np.diag(W)[None] - 2 * W
    np.fill_diagonal(squared, np.inf)
    return float(np.mean(labels[np.argmin(squared, axis=1)] != labels))


def main() -> None:
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 200_000
    header(f"MEG on 52 globins, {rounds} rounds")
    with np.load(sys.argv[1], allow_pickle=False) as data:
        D, labels = data["D"], data["y"]
    rng = np.random.default_rng(0)
    keep = rng.choice(len(D), 52, replace=False)
    D, labels, d = D[np.ix_(keep, keep)], labels[keep], 52
    J = np.eye(d) - 1 / d
    w, V = np.linalg.eigh(-J @ ((D + D.T) / 2) @ J / 2)
    K = (V * np.maximum(w, 0)) @ V.T
    K /= np.trace(K)
    pairs = [tuple(int(i) for i in rng.choice(d, 2, replace=False)) for _ in range(rounds)]
    # entries 1/2, as the paper prints them: r = 1, labels are half the squared distances
    examples = [(Pair(a, b, d, 0.5), (K[a, a] + K[b, b] - 2 * K[a, b]) / 2) for a, b in pairs]
    learner = MEGLearner(d, Lemma32(r=1.0), comparator=K, snapshot_every=max(1, rounds // 50))
    start = time.process_time()
    learner.learn(examples)
    seconds = time.process_time() - start
    # the same decompositions alone: of -log W_t at the snapshots, spread over the stream
    sample = []
    for W in learner.snapshots.values():
        p, V = np.linalg.eigh(W)
        sample.append((V * -np.log(np.maximum(p, 1e-300))) @ V.T)
    start = time.process_time()
    for _ in range(20):
        for G in sample:
            np.linalg.eigh(G)
    one = (time.process_time() - start) / (20 * len(sample))
    loss, bound = learner.total_loss, learner.meter.bound
    print(f"total loss {loss:.6g}, bound {bound:.6g}: {bound / loss:.2f} times")
    print(f"{seconds:.1f} s, {1e6 * seconds / rounds:.0f} us a round; one eigendecomposition {1e6 * one:.0f} us")
    print(f"ratio {seconds / rounds / one:.2f}")
    ours, theirs = nearest_error(learner.W, labels), nearest_error(K, labels)
    print(f"nearest neighbour errs on {ours:.3f}, with the target kernel {theirs:.3f}")
    print(f"trace - 1 = {np.trace(learner.W) - 1:.1e}, smallest eigenvalue {np.linalg.eigvalsh(learner.W)[0]:.2e}")


if __name__ == "__main__":
    main()
