"""Table 1's networks on SARCOS: STL-NN, MT-NN, MTFRL-NN, FETR-NN, and what the prior adds to a shared trunk.

    python benchmarks/fetr/nn.py [seeds]        (needs PyTorch: pip install 'matrixlearn[torch]')

Only the 4,449 rows of SARCOS's test file are at hand (the paper trained on 31,138 rows): each seed splits them
60 / 20 / 20 into training, validation and test. Layers 21-256-100-7 as in the paper (STL-NN: seven networks
21-256-100-1). All have the same 150 epochs of Adam, the same batches and the same first rate; features and targets are
standardized on the training rows; eta from 1e-5 ... 1e-2 is chosen by the mean nMSE on validation, where a method
has one. "MT-NN + ridge" is FETR-NN with l = u = 1, the fair rival, since MT-NN has no eta to choose; "W solved" has
for its last layer the stationary point of linear FETR on the features that the trunk has learned.
"""

import sys
import time

import numpy as np
from matrixlearn_fetr import FETR, FETRNetwork
from sklearn.linear_model import Ridge

import matrixlearn as ml
from benchmarks._common import header
from benchmarks._data import DATA

ETAS = 10.0 ** np.arange(-5, -1)
SARCOS = DATA / "sarcos" / "sarcos_inv_test.npz"


def split(n, seed):
    order = np.random.default_rng(seed).permutation(n)
    return np.split(order, [int(0.6 * n), int(0.8 * n)])


def single(X, Y, seed):
    """Seven networks."""
    parts = [FETRNetwork(eta=0.0, random_state=seed).fit(X, Y[:, i]) for i in range(Y.shape[1])]
    return lambda Z: np.column_stack([part.predict(Z) for part in parts])


def head(network, X, Y, eta):
    """The same trunk, with linear FETR solved on what it has learned."""
    Z, mean, scale = network.features(X), Y.mean(axis=0), Y.std(axis=0)
    centre = Z.mean(axis=0)
    solution = ml.solve(FETR(Z - centre, (Y - mean) / scale, eta=eta), tol=1e-6)
    return lambda rows: (network.features(rows) - centre) @ solution.matrix * scale + mean


def best(models, X, Y):
    """The model with the least mean nMSE on validation."""
    return min(models, key=lambda model: float(np.mean(np.mean((model[1](X) - Y) ** 2, axis=0) / Y.var(axis=0))))


def methods(X, Y, V, W, seed):
    """(name, eta, predict), trained on X, Y and chosen on V, W."""
    x, s = X.mean(axis=0), X.std(axis=0)
    ridge = [(a, Ridge(alpha=a).fit((X - x) / s, Y)) for a in 10.0 ** np.arange(-3, 4)]
    yield "ridge", *best([(a, lambda Z, r=r: r.predict((Z - x) / s)) for a, r in ridge], V, W)
    yield "STL-NN", 0.0, single(X, Y, seed)
    yield "MT-NN", 0.0, FETRNetwork(eta=0.0, random_state=seed).fit(X, Y).predict
    for name, options in {
        "MT-NN + ridge": {"lower": 1.0, "upper": 1.0},
        "MTFRL-NN": {"covariances": "flip-flop"},
        "FETR-NN": {},
        "FETR-NN, alternating": {"covariances": "alternating"},
    }.items():
        fitted = [(eta, FETRNetwork(eta=eta, random_state=seed, **options).fit(X, Y)) for eta in ETAS]
        yield name, *best([(eta, network.predict) for eta, network in fitted], V, W)
        if name == "FETR-NN":
            yield "FETR-NN, W solved", *best([(eta, head(network, X, Y, eta)) for eta, network in fitted], V, W)


def main(seeds):
    header(f"SARCOS, 4,449 rows split 60 / 20 / 20, {seeds} seeds; mean (sd) of test MSE per torque, mean nMSE")
    data = np.load(SARCOS)
    X, Y = data["X"], data["Y"]
    errors, etas, seconds, variance = {}, {}, {}, []
    for seed in range(seeds):
        train, valid, test = split(len(X), seed)
        began = time.process_time()
        for name, eta, predict in methods(X[train], Y[train], X[valid], Y[valid], seed):
            errors.setdefault(name, []).append(np.mean((predict(X[test]) - Y[test]) ** 2, axis=0))
            etas.setdefault(name, []).append(eta)
            seconds.setdefault(name, []).append(time.process_time() - began)
            began = time.process_time()
        variance.append(Y[test].var(axis=0))
        report(errors, etas, seconds, np.array(variance))


def report(errors, etas, seconds, variance):
    seeds = len(variance)
    print(f"\nafter {seeds} of the seeds")
    relative = {name: np.mean(np.array(e) / variance, axis=1) for name, e in errors.items()}
    for name, e in errors.items():
        mean, sd = np.mean(e, axis=0), np.std(e, axis=0)
        cells = " ".join(f"{a:6.3f} ({b:5.3f})" for a, b in zip(mean, sd, strict=True))
        nmse = relative[name]
        print(
            f"{name:21s} {cells}   nMSE {nmse.mean():.4f} ({nmse.std():.4f})  {np.mean(seconds[name]):6.1f} s"
            f"  eta {', '.join(f'{eta:g}' for eta in sorted(set(etas[name])))}"
        )
    print("\npaired difference of mean nMSE to MT-NN + ridge, over seeds: mean, standard error, wins")
    for name, nmse in relative.items():
        d = nmse - relative["MT-NN + ridge"]
        error = d.std(ddof=1) / np.sqrt(seeds) if seeds > 1 else np.nan
        print(f"{name:21s} {d.mean():+.5f}  {error:.5f}  {int(np.sum(d < 0))}/{seeds}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
