"""What the tests of all engines share: random instances with their judges, and the law that holds for each."""

import importlib.util
import os
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import matrixlearn as ml
from matrixlearn.engines import InteriorPoint, run
from matrixlearn.reductions import Unreduced, reduction_of
from matrixlearn.testing.reference import optimum

INSTANCES = {"dev": 20, "ci": 30}.get(os.environ.get("HYPOTHESIS_PROFILE", "dev"), 60)
"""Each of seven engines solves them all, and cvxpy before: 200 in benchmarks/engines/random_instances.py."""

TEMPLATE = Path(__file__).parents[3] / "examples/plugin_template/src/matrixlearn_template_design/problem.py"


@lru_cache
def problem_class(name):
    """A class by its registered name; "template" is a stranger's, from examples/."""
    if name != "template":
        return ml.registered_problems()[name]
    spec = importlib.util.spec_from_file_location("template_problem", TEMPLATE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.EOptimalDesign


@lru_cache
def judged(name):
    """``INSTANCES`` random instances of a class with cvxpy's optimum, computed once for all engines."""
    problems = [problem_class(name).random(np.random.default_rng(seed)) for seed in range(INSTANCES)]
    return [(problem, optimum(problem)) for problem in problems]


@pytest.fixture(scope="session", params=["sdp", "discrepancy", "maxcut", "template"])
def instances(request):
    """(problem, judge) for random instances of each class."""
    return judged(request.param)


@pytest.fixture(scope="session")
def random_problem():
    """(name, seed) -> a random instance."""
    return lambda name, seed: problem_class(name).random(np.random.default_rng(seed))


def bounded_game(problem):
    """The game that engines play: the equivalent one, between the bounds that an interior point proves."""
    reduction = reduction_of(problem)
    if isinstance(reduction, Unreduced) or reduction.answer:
        return None if reduction.answer else problem
    program = reduction.program
    best = run(
        InteriorPoint(), program, tol=1e-3, decided=lambda known: known.inside is not None and known.upper < np.inf
    ).incumbent
    if best.inside is None or best.upper == np.inf:
        return None
    return program.bounded(best.inside, best.upper, best.inside_dual)


@pytest.fixture(scope="session")
def played():
    """problem -> `bounded_game`."""
    return bounded_game


@pytest.fixture(scope="session")
def random_game():
    """(name, seed) -> the game of a random instance, both sets bounded; None where its data answer it."""
    return lambda name, seed: bounded_game(problem_class(name).random(np.random.default_rng(seed)))


@pytest.fixture(scope="session")
def hold_the_law():
    """A function that solves every instance: the bounds bracket the judge's optimum and hold the value, "optimal"
    means what it says, and no instance needs more than ``max_iter``; returns how many ended "optimal".
    """

    def law(engine, instances, tol, max_iter):
        optimal = 0
        for seed, (problem, judge) in enumerate(instances):
            solution = ml.solve(problem, engine, tol=tol, max_iter=max_iter)
            words = f"seed {seed}: {solution.summary()}"
            assert solution.lower <= judge.value + judge.error, words
            assert solution.upper >= judge.value - judge.error, words
            assert solution.lower <= solution.upper, words
            near = solution.gap <= tol
            assert (solution.status == "optimal") == near, words
            assert solution.lower <= solution.value <= solution.upper, words
            solution.certificate.verify()
            optimal += solution.status == "optimal"
        return optimal

    return law
