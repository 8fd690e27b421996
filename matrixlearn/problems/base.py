"""The contract of a problem: its data, the bounds that points prove, and a reference by cvxpy.

Implement            `bound_from_matrix`, `bound_from_vector`, `reference`.
Optional             `random` for the conformance kit; `objective_at`; `play`, `engines`, `first_points`, `check`.
You get for free     `ml.solve`, certificates, `save` and `load`, the conformance kit.

Words, pictures and the command line are not part of it: a `matrixlearn.present.Presenter` has them.

Most problems are games and should subclass `matrixlearn.problems.GameProblem`, which has the bounds; see
``docs/design.md`` for how the other kinds (a stream of rounds, a projection, blocks in turn) fit the same contract.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from matrixlearn.exceptions import CapabilityError, ProblemError
from matrixlearn.typing import Array

if TYPE_CHECKING:
    import cvxpy

    from matrixlearn.problems.game import Game
    from matrixlearn.problems.play import Play

INF = float("inf")

FLOOR = 1e-3
"""The fraction of a problem's scale below which its gap is absolute: an optimum of 0 ends."""

Rigour = Literal["checked", "blockwise", "probabilistic", "estimate"]
"""How far bounds can be believed, best first: ``checked`` took full decompositions; ``blockwise`` took them too, but
the lower bound holds only while one block of variables moves and the others stay (a problem that is convex in each
block alone): a gap of 0 proves a stationary point, not an optimum; ``probabilistic`` fails with a small probability;
``estimate`` proves nothing.
"""


@dataclass(frozen=True)
class Bound:
    """What one point proves: lower <= optimum <= upper, with an allowance for rounding inside.

    ``point`` is the feasible point that the bound belongs to: the argument, moved into its set.
    """

    point: Array | None = None
    """The feasible point, None where none proves anything."""
    lower: float = -INF
    """No optimum is below it."""
    upper: float = INF
    """No optimum is above it."""
    rigour: Rigour = "checked"
    """"checked", "probabilistic", "blockwise" or "estimate"."""
    size: float = 0.0
    """What the bound adds up to, such as sum_j |b_j y_j| or |<C, X>|: a gap is relative to the bounds and to this."""
    rounding: float = 0.0
    """A width of the bounds that rounding of what they add up explains: bounds as near as this have no gap."""
    trace_bound: float | None = None
    """The trace bound of the user that the proof needs; None where it holds for every X >= 0."""
    singular: bool = False
    """Whether no point near it proves anything: others are not moved towards it."""
    beyond: bool = False
    """Whether the matrix that proves it may exceed the user's trace bound by a little: no proof for those below it."""
    settled: bool = False
    """Whether it was computed from ``point`` as it is, which nobody can have changed since."""


def _brief(value: Any) -> str:
    """A parameter in a few characters."""
    shape = getattr(value, "shape", ())
    if shape:
        return f"<{type(value).__name__} {tuple(shape)}>"
    if isinstance(value, Sized) and not isinstance(value, str):
        return f"<{type(value).__name__} of {len(value)}>"
    text = repr(value)
    return text if len(text) <= 80 else f"<{type(value).__name__}>"


class Problem(ABC):
    """A problem: frozen, validated once (in construction or by `check`), ignorant of algorithms."""

    name: ClassVar[str] = ""
    """The name of the entry point."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]  # else a dataclass would print its arrays whole

    def __repr__(self) -> str:
        """The parameters by name, arrays and long sequences by their sizes."""
        fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(self) if dataclasses.is_dataclass(self) else ()
        given = (f"{field.name}={_brief(getattr(self, field.name))}" for field in fields if field.init and field.repr)
        return f"{type(self).__name__}({', '.join(given)})"

    objective: ClassVar[Literal["minimize", "maximize"]] = "minimize"
    """Whose value is the user's: a minimizer's (``y``, the upper bound) or a maximizer's (``X``)."""

    engines: ClassVar[tuple[str, ...]] = ()
    """Names of registered engines that ``auto`` tries before those of the library, in this order."""

    routines: ClassVar[tuple[str, ...]] = ()
    """The names of the exponent routine and the oracle of `play`, for ``matrixlearn list``; none where there are no
    rounds, or where the set of a game chooses.
    """

    @property
    def title(self) -> str:
        """What messages call it: the name of its class, by default."""
        return type(self).__name__

    @property
    def scale(self) -> float:
        """A number of the size of the data; where bounds are below ``FLOOR * scale``, a gap is relative to that: an
        optimum of 0 ends. 0 by default, where each `Bound` says its own ``size``.
        """
        return 0.0

    @property
    def gap_floor(self) -> float:
        """What a gap is relative to at the least, beside the sizes of its bounds: ``FLOOR * scale``."""
        return FLOOR * self.scale

    @property
    def game(self) -> Game | None:
        """The saddle point whose value is the optimum, for the engines that play games; None where there is none."""
        return None

    def play(self) -> Play | None:
        """The exponent routine and the oracle, of which rounds are made; None where there are no rounds."""
        return None

    @abstractmethod
    def bound_from_matrix(self, X: Array) -> Bound:
        """The bound that X proves, from the problem's data alone."""

    @abstractmethod
    def bound_from_vector(self, y: np.ndarray) -> Bound:
        """The bound that y proves, from the problem's data alone."""

    def rest(self) -> None:  # noqa: B027 - most problems need nothing but their data
        """Release what only a solve needs, such as processes that hold data; `solve` calls it at its end."""

    def traffic(self) -> str:
        """What has been sent so far, for the live line; empty where the data are in this process."""
        return ""

    def check(self) -> None:  # noqa: B027  # right as it is
        """What `solve`, `certify` and `methods` ask once before anything else: a ProblemError that names what cannot be
        right.  Nothing by default: construction has checked.
        """

    def objective_at(self, X: Array | None, y: np.ndarray | None) -> float:
        """The objective at the returned point, recomputed from the data."""
        raise NotImplementedError

    def first_points(self) -> list[tuple[Array | None, np.ndarray | None]]:
        """Pairs (X, y) that are known at once and worth certifying before any iteration; none, by default."""
        return []

    @property
    def like(self) -> Array | None:
        """An array of the shape and the namespace of X; None, by default, where any X may be tried."""
        return None

    @property
    def multipliers(self) -> int | None:
        """The length of y; None, by default, where any y may be tried."""
        return None

    def estimate_from_matrix(self, X: Array) -> Bound:
        """The bound of rigour "estimate" that X suggests where it proves none; nothing, by default."""
        return Bound(point=X)

    @abstractmethod
    def reference(self) -> cvxpy.Problem:
        """A cvxpy problem with the same optimum (cvxpy is imported here, late)."""

    @classmethod
    def random(cls, rng: np.random.Generator) -> Problem:
        """A small random instance.  Nothing but the conformance kit asks for one.

        Raises
        ------
        CapabilityError
            By default: a problem that is made for the occasion needs none.
        """
        msg = (
            f"{cls.__name__} draws no random instances: give it a classmethod random(cls, rng) that ends with "
            f"return cls(...), or check one problem in the place of the class"
        )
        raise CapabilityError(msg)

    def parameters(self) -> Mapping[str, Any]:
        """The keyword arguments that construct this problem again."""
        return {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)  # type: ignore[arg-type]  # one that is no dataclass overrides this
            if field.init
        }


def require_problem(value: Any) -> None:
    """An instance of a `Problem`, and one that its own `check` lets pass.

    Raises
    ------
    ProblemError
        Otherwise; the message says what was given.
    """
    if not isinstance(value, Problem):
        given = f"the class {value.__name__} itself" if isinstance(value, type) else f"{type(value).__name__}"
        msg = f"problem must be an instance of a Problem, such as LinearSDP(C, A, b, trace_bound), got {given}"
        raise ProblemError(msg)
    known = vars(value)
    if "_let_in" not in known:  # a problem is a value: once is enough
        value.check()
        known["_let_in"] = True


class MulticonvexProblem(Problem):
    """A problem that is convex in each of several blocks of variables, and not in all together.

    Implement `block_references` in the place of `reference`; bounds are of rigour ``blockwise``.
    """

    @abstractmethod
    def block_references(self, X: Array) -> list[cvxpy.Problem]:
        """A cvxpy problem for each block, the other blocks fixed at those of the point X: all have a value at X, the
        same for all, which is the objective there.
        """

    def reference(self) -> cvxpy.Problem:
        msg = f"{type(self).__name__} is not convex in all variables together; block_references(X) is, block by block"
        raise CapabilityError(msg)
