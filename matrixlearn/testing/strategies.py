"""Hypothesis strategies: spectra and rotations rather than filtered random matrices.

Matrices are drawn as Q diag(w) Q^H, the spectrum w by hypothesis (which likes zeros, ties and extremes,
and can shrink them) and the rotation Q by a seed. Nothing is filtered, so that shrinking is quick.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from matrixlearn.problems import Problem

Strategy = Any
"""A hypothesis ``SearchStrategy``."""

_max_examples: list[int] = []  # a stack: `run_checks` overrides the profile


@contextlib.contextmanager
def override_examples(max_examples: int) -> Iterator[None]:
    """Draw so many instances, the same every time, whatever the profile says; keep no database of failures."""
    _max_examples.append(max_examples)
    try:
        yield
    finally:
        _max_examples.pop()


def for_all(*, cost: int = 1, **strategies: Strategy) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """``given`` with the settings of the kit: no deadline, and 1 / cost of the profile's examples."""

    def decorate(law: Callable[..., None]) -> Callable[[], None]:
        @functools.wraps(law)
        def run() -> None:
            examples = _max_examples[-1] if _max_examples else settings().max_examples
            chosen = settings(
                max_examples=max(3, examples // cost),
                deadline=None,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.nested_given],
                phases=(Phase.explicit, Phase.reuse, Phase.generate),  # a smaller seed is no simpler
                report_multiple_bugs=False,  # one failure, one error to read
                **({"database": None, "derandomize": True} if _max_examples else {}),
            )
            chosen(given(**strategies)(law))()

        return run

    return decorate


def seeds() -> Strategy:
    """Seeds of NumPy's generators."""
    return st.integers(0, 2**32 - 1)


def generators() -> Strategy:
    """NumPy's generators, by their seeds."""
    return st.builds(np.random.default_rng, seeds())


def random_instance(problem_class: type[Problem], seed: int) -> Problem:
    """The instance that ``seed`` draws; failures print this call.

    Raises
    ------
    AssertionError
        Where `Problem.random` raises, or returns something else.
    """
    call = f"{problem_class.__name__}.random(np.random.default_rng({seed}))"
    try:
        drawn = problem_class.random(np.random.default_rng(seed))
    except Exception as error:
        msg = f"{call} raises {type(error).__name__}: {error}"
        raise AssertionError(msg) from error
    if not isinstance(drawn, problem_class):
        msg = f"{call} must return a {problem_class.__name__}, got a {type(drawn).__name__}: end it with cls(...)"
        raise AssertionError(msg)
    return drawn


def instances(problem: Problem | type[Problem]) -> Strategy:
    """Random instances of a problem class; for an instance, that instance."""
    if isinstance(problem, Problem):
        return st.just(problem)
    return st.builds(random_instance, st.just(problem), seeds())


def spectra(n: int, low: float = -1e3, high: float = 1e3) -> Strategy:
    """n real eigenvalues in [low, high], ties and zeros among them."""
    values = st.floats(low, high, allow_nan=False, width=32)
    return st.lists(values, min_size=n, max_size=n).map(lambda w: np.array(w, dtype=float))


def rotation(n: int, seed: int, complex_entries: bool = False) -> np.ndarray:
    """An orthogonal or unitary matrix, Haar distributed."""
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if complex_entries else 0.0)
    Q, R = np.linalg.qr(G)
    d = np.diagonal(R)
    return Q * (d / np.abs(d))


def rotated(w: np.ndarray, seed: int, complex_entries: bool = False) -> np.ndarray:
    """Q diag(w) Q^H, Hermitian to the last bit."""
    Q = rotation(len(w), seed, complex_entries)
    X = (Q * w) @ Q.conj().T
    return (X + X.conj().T) / 2


def sizes(high: int = 8) -> Strategy:
    """Dimensions, one included."""
    return st.integers(1, high)


def symmetric(n: int | None = None, low: float = -1e3, high: float = 1e3) -> Strategy:
    """Real symmetric matrices."""
    return _matrices(n, low, high, complex_entries=False)


def hermitian(n: int | None = None, low: float = -1e3, high: float = 1e3) -> Strategy:
    """Complex Hermitian matrices."""
    return _matrices(n, low, high, complex_entries=True)


def psd(n: int | None = None, high: float = 1e3, complex_entries: bool = False) -> Strategy:
    """Positive semidefinite matrices, rank deficient ones among them."""
    return _matrices(n, 0.0, high, complex_entries)


def density_matrices(n: int | None = None, trace: float = 1.0, complex_entries: bool = False) -> Strategy:
    """Positive semidefinite matrices of a given trace."""

    def scaled(w: np.ndarray) -> np.ndarray:
        total = w.sum()
        return w * (trace / total) if total > 0 else np.full(len(w), trace / len(w))

    return _dimension(n).flatmap(
        lambda k: st.builds(rotated, spectra(k, 0.0, 1.0).map(scaled), seeds(), st.just(complex_entries))
    )


def _dimension(n: int | None) -> Strategy:
    return sizes() if n is None else st.just(n)


def _matrices(n: int | None, low: float, high: float, complex_entries: bool) -> Strategy:
    return _dimension(n).flatmap(lambda k: st.builds(rotated, spectra(k, low, high), seeds(), st.just(complex_entries)))


def samples(points: int = 12, features: int = 8) -> Strategy:
    """Real (points, features) arrays at scales from 1e-3 to 1e3, duplicates and a single point among them."""

    def draw(m: int, n: int, exponent: int, repeat: bool, seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, m, m) if repeat else np.arange(m)
        X: np.ndarray = 10.0**exponent * rng.standard_normal((m, n))[rows]
        return X

    return st.builds(draw, st.integers(1, points), st.integers(1, features), st.integers(-3, 3), st.booleans(), seeds())


def graphs(vertices: int = 10, negative: bool = True) -> Strategy:
    """Undirected weighted graphs, empty and disconnected ones among them."""

    def draw(n: int, weights: dict[tuple[int, int], int]) -> nx.Graph:
        graph = nx.Graph()
        graph.add_nodes_from(range(n))
        for (i, j), weight in weights.items():
            graph.add_edge(i, j, weight=weight)
        return graph

    def of_size(n: int) -> Strategy:
        pairs = [(i, j) for i in range(n) for j in range(i)]
        weight = st.integers(-3 if negative else 0, 3)
        weights = st.dictionaries(st.sampled_from(pairs), weight) if pairs else st.just({})
        return st.builds(draw, st.just(n), weights)

    return st.integers(1, vertices).flatmap(of_size)
