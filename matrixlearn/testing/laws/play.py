"""Laws of what engines use: the two sets, the mirror map and the oracles."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from matrixlearn._array import as_numpy, from_numpy
from matrixlearn.engines import Incumbent, Proposal
from matrixlearn.linalg import frobenius, spectral_norm
from matrixlearn.oracles import Done, LevelOracle, Move, SortedListOracle, VertexOracle, at_level
from matrixlearn.problems import GameProblem, Problem
from matrixlearn.sets import ScaledSimplex, Spectraplex
from matrixlearn.testing.asserts import (
    assert_at_most,
    assert_close,
    assert_in_dual_set,
    assert_in_spectral_set,
    assert_same,
    holds,
)
from matrixlearn.testing.laws import exponents
from matrixlearn.testing.laws.base import (
    law_of,
    random_hermitian,
    random_member,
    random_multipliers,
    size_at,
)
from matrixlearn.testing.reference import (
    as_matrix,
    dense_constraints,
    dense_cost,
    linear_minimum,
    support,
)


@law_of(GameProblem)
def check_linear_minimizer(p: Any, rng: np.random.Generator) -> None:
    """Y.minimize(g) = (min over Y of g.y, a y in Y that attains it), the minimum as LP duality has it."""
    game = p.game
    Y = game.Y
    g = rng.standard_normal(Y.size) * 10.0 ** rng.uniform(-3, 3)
    if rng.random() < 0.5:
        g = np.round(g)  # ties and zeros
    value, y = Y.minimize(g)
    least = linear_minimum(Y, g)
    if least == -np.inf:
        holds(value == -np.inf, f"g.y is unbounded from below on Y, but minimize says {value}")
        return
    assert_in_dual_set(y, Y, what="the minimizer")
    ends = np.where(np.isfinite(Y.upper), np.abs(Y.upper), 0) + np.where(np.isfinite(Y.lower), np.abs(Y.lower), 0)
    atol = 1e-12 * float(np.abs(g) @ (np.abs(y) + ends))
    assert_close(value, g @ y, atol=atol, what="the minimum and g.y")
    assert_close(value, least, atol=atol, what="the minimum and its dual")


@law_of(GameProblem)
def check_sets(p: Any, rng: np.random.Generator) -> None:
    """Projections, centres and best responses lie in their sets; sigma_S(F) = <F, best response> >= <F, X>."""
    game = p.game
    S, Y = game.S, game.Y
    F, X = random_hermitian(game, rng), random_member(game, rng)
    response = S.best_response(F)
    assert_in_spectral_set(S.project(F), S, what="project(F)")
    assert_in_spectral_set(response, S, what="best_response(F)")
    assert_in_spectral_set(S.center(game.C), S, what="center")
    atol = 1e-12 * S.trace * frobenius(F) * S.n
    assert_close(S.project(X), X, atol=1e-12 * S.trace * S.n, what="project(X) and X in S")
    f, value = np.asarray(as_numpy(F)), S.support(F)
    assert_close(value, support(game, as_matrix(F)), atol=atol, what="sigma_S(F)")
    for point, sign in ((response, 1), (X, 0)):
        product = float(np.real(np.sum(f.conj() * np.asarray(as_numpy(point)))))
        assert_at_most(product, value, atol=atol, what="<F, X> and sigma_S(F)")
        if sign:
            assert_close(product, value, atol=atol, what="<F, best_response(F)> and sigma_S(F)")
    assert_in_dual_set(Y.project(10.0 ** rng.uniform(-3, 3) * rng.standard_normal(Y.size)), Y, what="project(y)")
    if Y.is_bounded:
        assert_in_dual_set(Y.center(), Y, what="the centre of Y")


@law_of(GameProblem, size=st.sampled_from([1e-12, 1e-3, 1.0, 30.0, 1e6]))
def check_exponent(p: Any, rng: np.random.Generator, size: float) -> None:
    """The mirror map of S: G -> R exp(-G) / Tr exp(-G) (+ 1 where Tr X <= R; R sinh / Tr cosh for the signed pair),
    by a dense matrix exponential; G + c I gives the same X where the trace is fixed; any size of G a point of S.
    """
    game = p.game
    S, mirror = game.S, p.play().exponent
    if tuple(mirror.zero(game.C).shape) != tuple(game.C.shape):
        return  # losses in coordinates of its own: the plugin tests it against the dense routine
    G = exponents.in_blocks(random_hermitian(game, rng), S)
    norm = frobenius(G)
    G = G * (size / norm) if norm > 0 else G
    X = mirror(G)
    assert_in_spectral_set(X, S, what="the mirror map of G")
    if size <= 30.0:
        atol = 1e-12 * S.trace * S.n * max(1.0, size)
        assert_close(X, exponents.by_definition(G, S), atol=atol, what="the mirror map of G and its definition")
    if isinstance(S, Spectraplex | ScaledSimplex):
        shift = size * 3.0
        shifted = G + shift * (from_numpy(np.eye(S.n) if G.ndim == 2 else np.ones(S.n), G))
        atol = 1e-12 * S.trace * S.n * max(1.0, 4 * size)
        assert_close(mirror(shifted), X, atol=atol, what="the mirror maps of G + c I and G")
    twice = mirror.accumulate(mirror.accumulate(mirror.zero(game.C), G, 0.5), G, 0.5)
    assert_close(mirror(twice), X, atol=1e-12 * S.trace * S.n * max(1.0, size), what="half of G twice")


@law_of(Problem, unless=GameProblem, size=st.sampled_from([1e-3, 1.0, 30.0]))
def check_mirror_map(p: Any, rng: np.random.Generator, size: float) -> None:
    """X(G) = argmin over X of <G, X> + h(X) has <G - H, X(G) - X(H)> <= 0 for all G and H, whatever h; on a spectral
    set it is the entropy's, by a dense matrix exponential.
    """
    plays = p.play()
    if plays is None:
        return
    mirror = plays.exponent
    like = mirror.zero(p.like) if plays.start is None else plays.start
    zero = np.asarray(as_numpy(like))
    losses = []
    for _ in range(2):
        B = rng.standard_normal(zero.shape)
        if np.iscomplexobj(zero):
            B = B + 1j * rng.standard_normal(zero.shape)
        loss = B @ B.conj().T if zero.ndim == 2 else np.abs(B)  # >= 0: a log-det has no other
        losses.append(from_numpy(size * loss / (np.linalg.norm(loss) or 1.0), like))
    G, H = losses
    X, Z = (np.asarray(as_numpy(mirror(loss))) for loss in losses)
    apart = float(np.real(np.vdot(np.asarray(as_numpy(G)) - np.asarray(as_numpy(H)), X - Z)))
    reach = float(np.linalg.norm(X) + np.linalg.norm(Z)) * size
    assert_at_most(apart, 0.0, atol=1e-12 * reach * len(zero), what="<G - H, X(G) - X(H)>")
    S = getattr(mirror, "on", None)
    if isinstance(S, Spectraplex) and X.shape == zero.shape:
        expected = exponents.by_definition(G, S)
        assert_close(X, expected, atol=1e-11 * S.trace * S.n * max(1.0, size), what="X(G) and its definition")


@law_of(GameProblem)
def check_oracles(p: Any, rng: np.random.Generator) -> None:
    """An oracle moves to a y in Y with value(X, y) = level - slack <= level and ||A(y) - C||_2 <= width, and
    fails only where min over D_alpha of value(X, y) > level = alpha, as LP duality has it; then X (repaired)
    proves that the optimum is at least the level (Lemma 4.2.1). The problem's own oracle is one of them.
    """
    game = p.game
    assume(game.Y.is_bounded)
    X, anchor = random_member(game, rng), random_multipliers(game, rng)
    x = as_matrix(X)
    C, A = dense_cost(game), dense_constraints(game)
    gradient = game.c - np.real(np.einsum("jab,ba->j", A, x))
    constant = float(np.real(np.sum(C.conj() * x)))
    least = constant + linear_minimum(game.Y, gradient)
    size = size_at(game, np.abs(anchor) + np.abs(game.Y.minimize(gradient)[1]))
    spread = max(constant + float(gradient @ anchor) - least, 1e-3 * size)
    level = least + spread * float(rng.choice([-0.5, 1e-6, 0.3, 1.0, 3.0]))
    Y, part = game.Y, game.level_set(level)
    own = at_level(p.play().oracle, level, anchor)
    oracles: list[Any] = [VertexOracle(game, level), LevelOracle(game, level, anchor), own]
    least_of = {type(own).__name__: least, "VertexOracle": least, "SortedListOracle": least}
    least_of["LevelOracle"] = constant + linear_minimum(part, gradient)
    assert_at_most(least, least_of["LevelOracle"], atol=1e-11 * size, what="the minima over Y and over D_alpha")
    simplex = Y.weights is not None and np.all(Y.weights == 1) and np.all(Y.lower == 0)
    if simplex and Y.row_lower == Y.row_upper == 1 and np.all(np.isinf(Y.upper)):
        oracles.append(SortedListOracle(game, level))
    atol = 1e-11 * size
    for oracle in oracles:
        who, answer = type(oracle).__name__, oracle(X)
        if isinstance(answer, Done):
            holds(answer.reason == "fails", f"{who} ends with {answer.reason!r}, not 'fails'")
            assert_at_most(level, least_of[who], atol=atol, what=f"{who} fails at a level, and the least value")
            lower = p.bound_from_matrix(X).lower
            assert_at_most(level, lower, atol=1e-9 * size, what=f"{who} fails at a level, and what X proves")
            continue
        assert_at_most(least_of[who], level, atol=atol, what=f"{who} moves: the least value and the level")
        assert_in_dual_set(answer.y, Y, what=f"{who}'s y")
        value = constant + float(gradient @ answer.y)
        assert_at_most(value, level, atol=atol, what=f"{who}: value(X, y) and the level")
        assert_at_most(0.0, answer.slack, what=f"{who}: 0 and the slack")
        assert_at_most(answer.slack, level - value, atol=atol, what=f"{who}: the slack and level - value(X, y)")
        loss = as_matrix(answer.loss)
        expected = np.tensordot(answer.y, A, axes=1) - C
        scale = size_at(game, answer.y) / game.S.trace
        assert_close(loss, expected, atol=1e-12 * scale * game.S.n, what=f"{who}: loss and A(y) - C")
        assert_at_most(spectral_norm(loss), answer.width, atol=1e-12 * scale, what=f"{who}: ||loss|| and width")


ROUNDS = 8
"""That a play is followed for."""


@law_of(Problem)
def check_play(p: Any) -> None:
    """X_t = exponent(G_t), the oracle answers it with a Hermitian loss of its size, and twice with the same; whatever
    the rounds show is a bound; the names that the class lists are those of the routines that play.
    """
    plays = p.play()
    if plays is None:
        holds(not p.routines, f"{type(p).__name__} lists routines, but play() returns None")
        return
    exponent, oracle = plays.exponent, plays.oracle
    names = (type(exponent).__name__, type(oracle).__name__)
    if p.routines:
        holds(p.routines == names, f"routines lists {p.routines}, but play() returns {names}")
    if hasattr(oracle, "at"):
        return  # at levels: `check_oracles`
    G = exponent.zero(p.like) if plays.start is None else plays.start
    shown = Incumbent.first(p)
    for t in range(ROUNDS):
        X = exponent(G)
        answer, again = oracle(X), oracle(X)
        who = f"{names[1]} in round {t + 1}"
        if not isinstance(answer, Move):
            holds(isinstance(answer, Done), f"{who} must answer with a Move or Done, got {type(answer).__name__}")
            break
        loss = as_numpy(answer.loss)
        holds(np.shape(loss) == np.shape(as_numpy(X)), f"{who}: the loss has shape {np.shape(loss)}, X has another")
        holds(bool(np.all(np.isfinite(loss))), f"{who}: the loss must be finite")
        holds(bool(np.isfinite(answer.step)), f"{who}: the step must be finite, got {answer.step}")
        if answer.y is not None:
            holds(bool(np.all(np.isfinite(answer.y))), f"{who}: y must be finite, got {answer.y}")
        assert_same(answer.loss, again.loss, what=f"{who}: the loss, asked twice")
        if np.ndim(loss) == 2:
            assert_close(loss, loss.conj().T, atol=1e-12 * frobenius(loss), what=f"{who}: the loss and its adjoint")
        G = exponent.accumulate(G, answer.loss, answer.step)
        oracle = oracle if answer.then is None else answer.then
        shown = shown.offered(Proposal(X=X if answer.point is None else answer.point, y=answer.y))
    slack = 1e-9 * shown.size + max(shown.from_matrix.rounding, shown.from_vector.rounding)
    assert_at_most(shown.lower, shown.upper, atol=slack, what="the lower and the upper bound of the rounds")
