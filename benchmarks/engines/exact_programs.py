"""Programs with an exactly known outcome: what of `solve`, `certify` and `verify` is false, by kind?

    python benchmarks/engines/exact_programs.py [count=300] [--first 0] [--seconds 3] [--method auto] [--kinds word ...]
        [--others 0.15] [--trace-bounds none]

Seed by seed: `matrixlearn.testing.exact.exact_program(seed)`, tol 1e-3, 1e-6 or 1e-9, another engine than auto for a
part of them; then `certify` at points that were tampered with, and certificates with a forged word, which `verify` must
refuse. Bounds are compared with the optimum as fractions. An instance without a trace bound gets a large one where the
version at hand demands one.
"""

import argparse
import contextlib
import dataclasses
import inspect
import signal
import sys
import time
import warnings
from collections import Counter, defaultdict

import numpy as np

import matrixlearn as ml
from benchmarks._common import header
from matrixlearn.exceptions import CapabilityError, CertificateError, MatrixLearnError, ProblemError
from matrixlearn.testing.exact import exact_program, faults, solve_faults

SLOW = {"mirror", "subgradient", "smoothing", "sa-da", "reference"}
ATOL = getattr(inspect.signature(ml.solve).parameters.get("atol"), "default", None) or 0.0


class OutOfTimeError(BaseException):
    """Neither an Exception that a library may swallow nor a Ctrl-C that it may answer."""


@contextlib.contextmanager
def alarm(seconds):
    def ring(*_):
        raise OutOfTimeError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def posed(program):
    """The problem; with a large trace bound where this version has no use for one without."""
    try:
        return program.problem(), program
    except ProblemError:
        if program.trace_bound is not None:
            raise
        known = dataclasses.replace(program, low=-np.inf) if program.kind == "not attained" else program
        return program.problem(without=1e4 * program.roomy_trace), known  # 0 is not reached by any trace


def points(rng, program, solution):
    """(word, X, y) to be certified."""
    n, m = program.n, len(program.b)
    noise = rng.standard_normal((n, n))
    noise, small = noise + noise.T, 10.0 ** -rng.uniform(5, 12)
    X = program.X if program.X is not None else np.eye(n)
    y = rng.standard_normal(m) if program.y is None else program.signs * program.y
    size = float(np.abs(X).max()) or 1.0
    yield "X*, y*", X, y
    yield "X* moved", X + small * size * noise, y
    yield "X* moved inwards", X + small * size * np.eye(n), y
    yield "X* larger", X * (1 + small), np.zeros(m)
    yield "X* moved, y = 0", X + small * size * noise, np.zeros(m)
    yield "y* moved", X, y * (1 + small * rng.standard_normal(m))
    yield "far from both", size * noise @ noise, 10.0 ** rng.uniform(-3, 6) * rng.standard_normal(m)
    if solution is not None and solution.matrix is not None and solution.y is not None:
        yield "X moved, own y", solution.matrix + small * size * noise, solution.y
        yield "own X, y = 0", solution.matrix, np.zeros(m)


def forgeries(certificate):
    """(word, a certificate that is false)."""
    forged = dataclasses.replace
    yield "NaN lower", forged(certificate, lower=float("nan"))
    yield "NaN upper", forged(certificate, upper=float("nan"))
    width = certificate.upper - certificate.lower
    if np.isfinite(width):
        step = max(
            width, 1e-3 * abs(certificate.lower), 1e-6 * certificate.size, certificate.rounding, 1e-9
        )  # beyond what rounding allows
        yield (
            "lower raised, upper widened",
            forged(certificate, lower=certificate.lower + step / 2, upper=certificate.upper + 1e6 * step),
        )
        yield (
            "upper sunk, lower widened",
            forged(certificate, lower=certificate.lower - 1e6 * step, upper=certificate.upper - step / 2),
        )
    yield "another rigour", forged(certificate, rigour="divine")
    if certificate.rigour != "checked":
        yield "checked", forged(certificate, rigour="checked")


class Tally:
    """What was found, by kind."""

    def __init__(self):
        self.of, self.statuses, self.seeds, self.seconds = (
            defaultdict(Counter),
            defaultdict(Counter),
            defaultdict(list),
            Counter(),
        )

    def add(self, kind, word, seed, detail=""):
        self.of[kind][word] += 1
        self.seeds[word].append((seed, kind, detail))


def tried(tally, program, seed, word, call, seconds):
    """What the call returns, or None; what it raises is noted."""
    try:
        with alarm(seconds), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call()
    except OutOfTimeError:
        tally.add(program.kind, f"{word} hangs", seed)
    except (CapabilityError, CertificateError) as error:
        tally.add(program.kind, f"{word}: {type(error).__name__}", seed, str(error)[:120])
    except MatrixLearnError as error:
        tally.add(program.kind, f"{word}: {type(error).__name__}", seed, str(error)[:120])
    except Exception as error:  # whatever it is, it is what is looked for
        tally.add(program.kind, f"{word} crash", seed, f"{type(error).__name__}: {error}"[:160])
    return None


def examine(tally, seed, given):
    rng = np.random.default_rng([seed, 1])
    program = exact_program(seed)
    if given.trace_bounds == "none":
        program = dataclasses.replace(program, trace_bound=None)
    if given.kinds and not any(word in program.kind for word in given.kinds):
        return
    tally.of[program.kind]["n"] += 1
    made = tried(tally, program, seed, "construction", lambda: posed(program), given.seconds)
    if made is None:
        return
    problem, program = made
    tol, method = float(rng.choice([1e-3, 1e-6, 1e-9])), given.method
    if method == "auto" and rng.random() < given.others:
        others = tried(
            tally,
            program,
            seed,
            "methods",
            lambda: [name for name in ml.methods(problem) if name not in SLOW],
            given.seconds,
        )
        method = str(rng.choice(others)) if others else "auto"
    began = time.perf_counter()
    solution = tried(
        tally,
        program,
        seed,
        "solve",
        lambda: ml.solve(problem, method, tol=tol, time_limit=given.seconds / 2, max_iter=20000),
        given.seconds,
    )
    tally.seconds[program.kind] += time.perf_counter() - began
    if solution is not None:
        found = solve_faults(program, solution, tol, ATOL)
        right = str(solution.status) == program.outcome
        tally.statuses[program.kind][str(solution.status)] += 1
        bounds = f"[{solution.lower!r}, {solution.upper!r}]"
        for word in found:
            tally.add(
                program.kind,
                word,
                seed,
                f"{method} tol {tol:g}: {solution.status} {solution.value!r} in {bounds}",
            )
        if right and not found:
            tally.of[program.kind]["right"] += 1
        elif method == "auto" and not found and not right:
            given_R = "no R" if program.trace_bound is None else f"R = {program.trace_bound:.2g}"
            words = f"tol {tol:g}, {given_R}: {solution.value!r} in {bounds}, {solution.iterations} iterations"
            tally.add(program.kind, f"only {solution.status}", seed, words)
        checked = tried(tally, program, seed, "verify of a solution", solution.certificate.verify, given.seconds)
        if checked is not None:
            for word in faults(program, checked):
                tally.add(program.kind, f"verify: {word}", seed, f"[{checked.lower!r}, {checked.upper!r}]")
    certificate = None
    for word, X, y in points(rng, program, solution):
        found = tried(
            tally, program, seed, f"certify ({word})", lambda X=X, y=y: ml.certify(problem, X=X, y=y), given.seconds
        )
        if found is None:
            continue
        certificate = found if certificate is None else certificate
        for fault in faults(program, found):
            tally.add(
                program.kind, f"certify: {fault}", seed, f"{word}: [{found.lower!r}, {found.upper!r}] {found.rigour}"
            )
    for X, y in ((np.full((program.n, program.n), np.nan), None), (None, np.full(len(program.b), np.nan))):
        try:
            ml.certify(problem, X=X, y=y)
            tally.add(program.kind, "NaN certified", seed)
        except ProblemError:
            pass
        except Exception as error:
            tally.add(program.kind, "NaN crash", seed, f"{type(error).__name__}: {error}"[:120])
    if certificate is None:
        return
    for word, forged in forgeries(certificate):
        try:
            with alarm(given.seconds):
                forged.verify()
            tally.add(program.kind, "forgery passes", seed, word)
        except (CertificateError, ProblemError):
            pass
        except OutOfTimeError:
            tally.add(program.kind, "verify hangs", seed, word)
        except Exception as error:
            tally.add(program.kind, "verify crash", seed, f"{word}: {type(error).__name__}: {error}"[:120])


COLUMNS = (
    ("right", ("right",)),
    ("WRONG", ("'optimal' and WRONG", "'optimal' where it is infeasible", "'optimal' where it is unbounded")),
    ("false inf/unb", ("false 'infeasible'", "false 'unbounded'")),
    ("false lower", ("false lower bound",)),
    ("false upper", ("false upper bound",)),
    ("l > u", ("lower > upper",)),
    ("outside", ("value outside its bounds",)),
    ("misses", ("the matrix misses its rows",)),
    ("c: lower", ("certify: false lower bound", "verify: false lower bound")),
    ("c: upper", ("certify: false upper bound", "verify: false upper bound")),
    ("c: l > u", ("certify: lower > upper", "verify: lower > upper")),
    ("contra", ("solve: ContradictionError",)),
    ("forged", ("forgery passes", "NaN certified")),
    ("crash", ("solve crash", "construction crash", "verify crash", "NaN crash")),
    ("hangs", ("solve hangs",)),
)  # fmt: skip


def report(tally, most):
    print(
        "\n"
        + "kind".ljust(34)
        + "n".rjust(5)
        + "".join(name.rjust(max(8, len(name) + 2)) for name, _ in COLUMNS)
        + "  sec/solve  statuses"
    )
    total = Counter()
    for kind in sorted(tally.of):
        counts = tally.of[kind]
        total += counts
        line(kind, counts, tally.seconds[kind] / max(1, counts["n"]), dict(tally.statuses[kind]))
    line("all", total, sum(tally.seconds.values()) / max(1, total["n"]), dict(sum(tally.statuses.values(), Counter())))
    print()
    for word in sorted(tally.seeds, key=lambda word: -len(tally.seeds[word])):
        print(f"{word}: {len(tally.seeds[word])}")
        for seed, kind, detail in tally.seeds[word][:most]:
            print(f"    seed {seed} ({kind}) {detail}")


def line(kind, counts, seconds, statuses):
    cells = (str(sum(counts[word] for word in words)).rjust(max(8, len(name) + 2)) for name, words in COLUMNS)
    print(kind[:33].ljust(34) + str(counts["n"]).rjust(5) + "".join(cells) + f"{seconds:9.3f}    {statuses}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--others", type=float, default=0.15, help="the part that another engine than auto gets")
    parser.add_argument("--trace-bounds", choices=["as drawn", "none"], default="as drawn")
    parser.add_argument("--kinds", nargs="+", default=[], metavar="word")
    parser.add_argument("--most", type=int, default=6, help="seeds shown of each failure")
    given = parser.parse_args()
    header(f"exact programs: seeds {given.first} to {given.first + given.count - 1}, at most {given.seconds:g} s each")
    tally, began = Tally(), time.perf_counter()
    for seed in range(given.first, given.first + given.count):
        examine(tally, seed, given)
        if (seed - given.first) % 100 == 99:
            print(f"{seed + 1 - given.first} in {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    report(tally, given.most)


if __name__ == "__main__":
    main()
