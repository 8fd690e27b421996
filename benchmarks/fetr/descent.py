"""FETR's descent, Section 6.1: CPU seconds to within 1e-6 of the best objective on SARCOS, ours and its rivals.

    python benchmarks/fetr/descent.py [seconds]

The 4,449 rows of SARCOS's *test* file (the training file is not at hand), features standardised, torques centred (and
"scaled": divided by their deviations), 21 features, 7 tasks, l = 1e-3, u = 1e3. Every method starts from the same
point, S1 = S2 = I and the weights for them, which is not counted. The best objective is the least that any of the
methods reached, and "reached" is measured on F at each method's *own* W, S1, S2, and in brackets on F with the best
pair for its W, which only `joint` and `pruning` compute. Each rival stops after so many CPU seconds (20 by default).

F - best <= 1e-6 max(|best|, |F at the start|). The problem not being convex, methods may end at different stationary
points: one whose end is higher by more than that never gets there, and the last column says how much higher it is.
"""

import sys
import time

import numpy as np
from matrixlearn_fetr import FETR, Alternating, FlipFlop, Joint, ProjectedGradient, ProximalGradient, Pruning
from matrixlearn_fetr.engines import LookingAhead

from benchmarks._common import header
from benchmarks._data import DATA
from matrixlearn.engines import Incumbent

SARCOS = DATA / "sarcos" / "sarcos_inv_test.npz"
WITHIN = 1e-6


def trace(problem, engine, seconds, most):
    """(CPU seconds, F at its own precisions, F at the best ones) after every iteration; evaluations are not counted,
    but for the joint engine, whose certificate is a part of its step."""
    incumbent = Incumbent.first(problem)
    state = engine.init(problem, incumbent)
    own = incumbent.upper if isinstance(engine, LookingAhead) else state.value
    out, spent = [(0.0, own, incumbent.upper)], 0.0
    while spent < seconds and len(out) <= most and not state.finished:
        began = time.process_time()
        state = engine.step(problem, state, incumbent)
        if isinstance(engine, LookingAhead):
            for proposal in state.proposals:
                incumbent = incumbent.offered(proposal)
            spent += time.process_time() - began
            out.append((spent, incumbent.upper, incumbent.upper))
        else:
            spent += time.process_time() - began
            best = problem.objective_at(state.point, None) if len(out) % 10 == 0 or len(out) < 100 else out[-1][2]
            out.append((spent, state.value, best))
    return np.array(out)


def reached(times, values, goal):
    """Seconds and iterations to the goal; infinite where it was not reached."""
    at = np.flatnonzero(values <= goal)
    return (times[at[0]], int(at[0])) if len(at) else (np.inf, len(values) - 1)


def main() -> None:
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    header(f"FETR on SARCOS (test file, 4,449 rows): CPU seconds to within {WITHIN:g} of the best objective")
    with np.load(SARCOS) as data:
        X, Y = data["X"], data["Y"]
    X, Y = (X - X.mean(axis=0)) / X.std(axis=0), Y - Y.mean(axis=0)
    engines = {
        "joint": Joint(),
        "pruning": Pruning(),
        "alternating": Alternating(),
        "proximal gradient": ProximalGradient(),
        "gradient": ProjectedGradient(),
        "flip-flop": FlipFlop(),
    }
    print("torques   eta   mean     method        seconds  iterations  [with the best pair]   end - best (relative)")
    for title, targets in (("centred", Y), ("scaled", Y / Y.std(axis=0))):
        for mean in ("zero", "shared"):
            for eta in (1.0, 10.0, 100.0, 1000.0):
                problem = FETR(X, targets, eta, mean=mean)
                problem.moments.spectrum  # noqa: B018 - all need the moments
                runs = {name: trace(problem, e, limit, 200_000) for name, e in engines.items()}
                best = min(float(np.min(run[:, 1:])) for run in runs.values())
                size = max(abs(best), abs(runs["joint"][0, 1]))
                for name, run in runs.items():
                    seconds, k = reached(run[:, 0], run[:, 1], best + WITHIN * size)
                    other, j = reached(run[:, 0], run[:, 2], best + WITHIN * size)
                    off = (float(np.min(run[:, 1])) - best) / size
                    print(
                        f"{title:8} {eta:5g}   {mean:7}  {name:17} {seconds:8.4f}  {k:10}  [{other:.4f} s, {j}]".ljust(
                            72
                        )
                        + f"{off:.1e}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
