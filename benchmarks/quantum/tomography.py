"""Maximum likelihood tomography of 3 to 6 qubits: ours beside cvxpy with SCS and with Clarabel.

    python benchmarks/quantum/tomography.py [--qubits 3 4 5 6] [--shots 100] [--limit 120] [--memory 8] [--seed 0]

A random state of rank two with 5 % of white noise, all 3^q Pauli settings. Every row is a process of its own: CPU
seconds of one thread (imports apart; for cvxpy its compilation too), peak resident memory (with the imports: 60 MB of
NumPy and the library, 125 MB with cvxpy), the smallest eigenvalue of the state as it was returned, and the gap that
`ml.certify` proves for it, after its eigenvalues have been clipped (for ours with the best multipliers found). cvxpy
solves `StateTomography.reference()`, whose maps are sparse: the measurement as dense matrices would need 3 GB at six
qubits. CVXOPT has no exponential cone.
"""

import argparse
import json
import resource
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
from matrixlearn_quantum import StateTomography, all_settings, random_state, sample_counts

import matrixlearn as ml
from benchmarks._common import header

OURS = [
    ("factored 1e-4", "factored", 1e-4),
    ("factored 1e-6", "factored", 1e-6),
    ("factored 1e-8", "factored", 1e-8),
    ("exponentiated-gradient 1e-4", "exponentiated-gradient", 1e-4),
    ("exponentiated-gradient 1e-6", "exponentiated-gradient", 1e-6),
]
PEERS = [
    ("cvxpy, SCS, defaults", "SCS", {}),
    ("cvxpy, SCS, eps 1e-7", "SCS", {"eps_abs": 1e-7, "eps_rel": 1e-7, "max_iters": 100_000}),
    ("cvxpy, Clarabel, defaults", "CLARABEL", {}),
]


def problem_of(q, shots, seed):
    rng = np.random.default_rng(seed)
    state = 0.95 * random_state(q, 2, rng) + 0.05 * np.eye(2**q) / 2**q
    return StateTomography(all_settings(q), sample_counts(state, all_settings(q), shots, rng))


def ours(problem, method, tol, limit):
    solution = ml.solve(problem, method, tol=tol, time_limit=limit)
    return solution.matrix, solution.y, f"{solution.status}, {solution.iterations} iterations"


def peer(problem, solver, options):
    program = problem.reference()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program.solve(solver=solver, **options)
    return problem.read_reference(program)[0], None, program.status


def child(given):
    """One row, as JSON."""
    if given.memory:
        resource.setrlimit(resource.RLIMIT_AS, (int(given.memory * 2**30),) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (int(given.limit) + 5,) * 2)  # of CPU: the machine may be busy
    problem = problem_of(given.qubits[0], given.shots, given.seed)
    ml.solve(problem_of(1, 10, 0), tol=0.5)  # imports
    label, *what = next(row for row in [*OURS, *PEERS] if row[0] == given.row)
    if what[0] in ("SCS", "CLARABEL"):
        import cvxpy  # noqa: F401  its import is not counted

        call = lambda: peer(problem, *what)
    else:
        call = lambda: ours(problem, *what, given.limit)
    start = time.process_time()
    X, y, said = call()
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    told = {"seconds": seconds, "peak": peak, "said": said, "least": None, "gap": None}
    if X is not None:
        told |= {"least": float(np.linalg.eigvalsh(X)[0]), "gap": ml.certify(problem, X=X, y=y).gap}
    print(json.dumps(told))


def row(label, q, given):
    options = ["--shots", str(given.shots), "--seed", str(given.seed), "--limit", str(given.limit)]
    options += ["--memory", str(given.memory), "--qubits", str(q), "--row", label]
    done = subprocess.run([sys.executable, __file__, *options], capture_output=True, text=True, check=False)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"more than {given.limit:g} s"
    if done.returncode:
        why = done.stderr.strip().splitlines()[-1][:80] if done.stderr.strip() else f"exit code {done.returncode}"
        return f"failed: {why}"
    told = json.loads(done.stdout.splitlines()[-1])
    if told["gap"] is None:
        return f"{told['seconds']:8.2f} s  {told['peak']:6.0f} MB  no answer: {told['said']}"
    return (
        f"{told['seconds']:8.2f} s  {told['peak']:6.0f} MB  certified gap {told['gap']:.1e}  "
        f"smallest eigenvalue {told['least']:+.1e}  {told['said']}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qubits", type=int, nargs="+", default=[3, 4, 5, 6])
    parser.add_argument("--shots", type=int, default=100)
    parser.add_argument("--limit", type=float, default=120.0, help="CPU seconds a row may take")
    parser.add_argument("--memory", type=float, default=8.0, help="GB of address space a row may take; 0 for no limit")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--row", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.row:
        child(given)
        return
    header(f"Tomography, {given.shots} shots a setting, seed {given.seed}: CPU seconds, one thread")
    for q in given.qubits:
        n = problem_of(q, given.shots, given.seed).counts
        print(f"\n{q} qubits: {len(n)} settings, {n.size} outcomes, {np.count_nonzero(n == 0)} never seen")
        for label, *_ in [*OURS, *PEERS]:
            print(f"  {label:28s} {row(label, q, given)}", flush=True)


if __name__ == "__main__":
    main()
