"""Discrepancy 200 points x 20 features (Gaussian shift) to a certified gap of 1e-6, beside cvxpy.

Each peer gets our `reference()` (two linear matrix inequalities in 20 dimensions) and its own default
and tightened settings; its answer goes through our certificate. cvxpy's compile time is shown apart.
    python benchmarks/peers/discrepancy.py [m n N]
"""

import sys
import time
import warnings

from matrixlearn_discrepancy import Discrepancy

import matrixlearn as ml
from benchmarks._common import gaussian_shift, header


def best_of(repeats, f):
    times, out = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        out = f()
        times.append(time.perf_counter() - start)
    return min(times), out


def main() -> None:
    import cvxpy as cp

    m, n, N = (int(a) for a in sys.argv[1:4]) if len(sys.argv) > 3 else (200, 200, 20)
    header(f"discrepancy, m = {m}, n = {n}, N = {N}, certified gap 1e-6")
    problem = Discrepancy(*gaussian_shift(m, n, N))
    ml.solve(problem, tol=1e-1)
    ours, solution = best_of(5, lambda: ml.solve(problem, tol=1e-6))
    print(f"matrixlearn auto    {ours:8.3f} s  gap {solution.gap:.1e}  ({solution.iterations} iterations)")
    tight = {
        "CLARABEL": {},
        "SCS": {"eps_abs": 1e-8, "eps_rel": 1e-8, "max_iters": 200_000},
        "CVXOPT": {},
    }
    for solver, options in tight.items():
        if solver not in cp.installed_solvers():
            print(f"{solver:10s} is not installed")
            continue
        for label, extra in (("default", {}), ("tight", options)) if options else (("default", {}),):

            def run(solver=solver, extra=extra):
                program = problem.reference()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    program.solve(solver=solver, **extra)
                return program

            try:
                seconds, program = best_of(2, run)
            except cp.SolverError as error:
                print(f"{solver:10s} {label:8s} failed: {error}")
                continue
            X, y = problem.read_reference(program)
            certificate = ml.certify(problem, X, y)
            inner = program.solver_stats.solve_time or float("nan")
            print(
                f"{solver:10s} {label:8s} {seconds:8.3f} s  (solver alone {inner:.3f} s)  says {program.status}, "
                f"our certificate of it: gap {certificate.gap:.1e};  ratio {seconds / ours:.1f} "
                f"(solver alone {inner / ours:.1f})"
            )


if __name__ == "__main__":
    main()
