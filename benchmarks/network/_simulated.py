"""Data and measurements that the benchmarks of the plugin network share."""

import networkx as nx
import numpy as np
from matrixlearn_network import Graph, GraphMultitask, Krylov

from matrixlearn.engines import Incumbent


def graph_named(name, m, seed=0):
    """A ring, Erdős 0.3, a star or the complete graph of m tasks, weights 1."""
    made = {
        "ring": lambda: nx.cycle_graph(m),
        "erdos": lambda: nx.erdos_renyi_graph(m, 0.3, seed=seed),
        "star": lambda: nx.star_graph(m - 1),
        "complete": lambda: nx.complete_graph(m),
    }[name]()
    while not nx.is_connected(made):
        seed += 100
        made = nx.erdos_renyi_graph(m, 0.3, seed=seed)
    return Graph(nx.to_numpy_array(made, nodelist=range(m)))


def simulated(graph, eta, tau, n=40, d=10, uneven=False, seed=0, loss="square", machines=None):
    """Tasks near their neighbours': W = Gaussian (I + L / 0.3)^(-1/2), columns of X scaled geometrically, noise 0.5."""
    rng, m = np.random.default_rng(seed), len(graph)
    condition, factor = (1000.0, 3.0) if uneven else (10.0, 1.0)
    scales = factor * np.geomspace(1.0, condition**-0.5, d)
    mu, Q = graph.spectrum
    W = rng.standard_normal((d, m)) @ (Q / np.sqrt(1 + mu / 0.3)) @ Q.T
    X = rng.standard_normal((m, n, d)) * scales
    y = np.einsum("mnd,dm->mn", X, W) + 0.5 * rng.standard_normal((m, n))
    y = np.where(y > 0, 1.0, -1.0) if loss in ("logistic", "hinge") else y
    more = {} if machines is None else {"machines": machines}
    return GraphMultitask(list(X), list(y), graph, eta, tau, loss, **more)


def iterates(problem, engine, most):
    """The weights after each round, from 0."""
    state = engine.init(problem, Incumbent.first(problem))
    for _ in range(most):
        state = engine.step(problem, state, None)
        if state.proposals:
            yield state.proposals[-1].X
        if state.finished:
            return


def optimum(problem):
    """The minimiser, by conjugate gradients to rounding."""
    *_, last = iterates(problem.with_prior(problem.eta, problem.tau), Krylov("mean"), 2000)
    return last


def rounds_to(problem, engine, parts, most=8000, distance=None):
    """The rounds after which P - P*, or a distance from W*, is at most each part of what it was at the start."""
    best = optimum(problem)
    if distance is None:
        least, start = problem.value(best), problem.scale
        measure = lambda W: (problem.value(W) - least) / (start - least)
    else:
        measure = lambda W: distance(W, best) / distance(np.zeros_like(W), best)
    found, goals = [], sorted(parts, reverse=True)
    for t, W in enumerate(iterates(problem, engine, most), 1):
        while len(found) < len(goals) and measure(W) <= goals[len(found)]:
            found.append(t)
        if len(found) == len(goals):
            break
    return found + [np.inf] * (len(goals) - len(found))
