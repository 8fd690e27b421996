"""Exponent routines against one dense eigendecomposition: which is quicker where, and how exact.

    python benchmarks/engines/exponents.py [--sizes 100 300 1000 2000] [--seed 0]

One call of each routine on losses of the same spectral range, CPU seconds of one thread as a multiple of
numpy.linalg.eigh of that size in the same run (below 1: quicker), and ||X - X_dense||_* / R beside the accuracy that
the routine promises (the sketch promises none). Three families of losses:

  flat     eigenvalues spread evenly over the range: the most eigenvectors with weight
  peaked   a tenth of them near the lowest end, the others far from it: late rounds
  sharp    the same with a fiftieth
  sparse   a torus with random potentials, CSR, five entries a row

The eigen-update is called at G + E after it has been called at G, ||E||_2 a hundredth of the range.
"""

import argparse
import functools
import time

import numpy as np
import scipy.sparse as sp

from benchmarks._common import header
from matrixlearn.exponents import ActionExponent, DenseExponent, EigenUpdateExponent, SketchedExponent, TaylorExponent
from matrixlearn.linalg.actions import lanczos_action
from matrixlearn.sets import Spectraplex


def timed(call, repeat):
    best = np.inf
    for _ in range(repeat):
        start = time.process_time()
        out = call()
        best = min(best, time.process_time() - start)
    return best, out


def dense_losses(kind, n, width, rng):
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    w = rng.uniform(0, width, n)
    if kind != "flat":
        near = n // 10 if kind == "peaked" else max(3, n // 50)
        w[:near], w[near:] = rng.uniform(0, 0.1 * width, near), rng.uniform(0.6 * width, width, n - near)
    G = (Q * w) @ Q.T
    return (G + G.T) / 2


def sparse_losses(n, width, rng):
    """On a torus of about n vertices."""
    side = max(3, round(n**0.5))
    ring = sp.diags_array([np.ones(side - 1), np.ones(side - 1)], offsets=[1, -1]).tolil()
    ring[0, -1] = ring[-1, 0] = 1.0
    eye = sp.eye_array(side)
    torus = sp.csr_array(sp.kron(ring, eye) + sp.kron(eye, ring))
    torus.data[:] = rng.choice([-1.0, 1.0], torus.nnz)
    torus = (sp.triu(torus) + sp.triu(torus).T) / 8
    return sp.csr_array(width * (torus + sp.diags_array(rng.uniform(-0.2, 0.2, side**2))))


def routines(sparse):
    yield "taylor powers", functools.partial(TaylorExponent, accuracy=1e-6)
    yield "chebyshev", functools.partial(ActionExponent, accuracy=1e-6)
    if sparse:
        yield "lanczos", functools.partial(ActionExponent, accuracy=1e-6, action=lanczos_action)
    for k in (30, 200):
        yield f"sketch, {k} columns", functools.partial(SketchedExponent, columns=k)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[100, 300, 1000])
    parser.add_argument("--widths", type=float, nargs="*", default=[10.0, 100.0])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    header(f"exponent routines, sizes {given.sizes}, seed {given.seed}")
    print(f"{'losses':8} {'n':>5} {'range':>6} {'eigh s':>8}   routine                time/eigh    error    promised")
    for n in given.sizes:
        for kind in ("flat", "peaked", "sharp", "sparse"):
            for width in given.widths:
                rng = np.random.default_rng(given.seed)
                G = sparse_losses(n, width, rng) if kind == "sparse" else dense_losses(kind, n, width, rng)
                compare(kind, G, width, rng)


def compare(kind, G, width, rng):
    sparse = kind == "sparse"
    A = G.toarray() if sparse else G
    n = len(A)
    repeat = 5 if n <= 300 else 2 if n < 2000 else 1
    on = Spectraplex(n, 1.0)
    eigh, _ = timed(lambda: np.linalg.eigh(A), repeat)

    def report(name, seconds, error, promised):
        print(
            f"{kind:8} {n:5d} {width:6g} {eigh:8.3f}   {name:22} {seconds / eigh:9.2f} {error:10.1e} {promised:>9}",
            flush=True,
        )

    seconds, exact = timed(lambda: DenseExponent(on)(A), repeat)
    report("dense", seconds, 0.0, "")

    def distance(X):
        return np.abs(np.linalg.eigvalsh(X - exact)).sum()

    for name, make in routines(sparse):
        if name in ("taylor powers", "chebyshev") and n > 2000 and not sparse:
            continue
        if name == "lanczos" and n > 500:
            continue
        exponent = make(on)
        seconds, X = timed(lambda exponent=exponent: exponent(G), repeat)
        report(name, seconds, distance(X), "" if name[:6] == "sketch" else f"{exponent.accuracy:.0e}")
        if name[:6] == "sketch" and sparse:
            seconds, _ = timed(lambda exponent=exponent: exponent.factored(G), repeat)
            report("  its factor only", seconds, np.nan, "")
    moves = rng.standard_normal((n, n))
    moves = (moves + moves.T) * (0.01 * width / (2 * (2 * n) ** 0.5))
    exponent = EigenUpdateExponent(on).near(A)
    B = A + moves
    seconds, here = timed(lambda: exponent.near(B), repeat)
    exact = DenseExponent(on)(B)
    report(
        f"update, {here.used} used" if here.updated else "update: decomposed anew", seconds, distance(here(B)), "1e-06"
    )


if __name__ == "__main__":
    main()
