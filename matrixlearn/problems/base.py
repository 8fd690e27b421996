"""The contract of a problem: what every problem must say of itself.

Implement            `scale`, `bound_from_matrix`, `bound_from_vector`, `reference`.
Optional             `random` for the conformance kit; `objective_at`; `ceiling`, `least_value`, `engines`,
                     `first_points`, `presolved`, `check`.
You get for free     `ml.solve`, certificates, `save` and `load`, the conformance kit.

Words, pictures and the command line are not part of it: a `matrixlearn.present.Presenter` has them.

Most problems are spectral games and should subclass `matrixlearn.problem.SpectralGame`, which
implements the bounds; see ``docs/design.md`` for how the other kinds (a stream of rounds, a
projection, blocks in turn) fit the same contract.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np

from matrixlearn.exceptions import CapabilityError, ProblemError
from matrixlearn.typing import Array

if TYPE_CHECKING:
    import cvxpy

INF = float("inf")

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
    lower: float = -INF
    upper: float = INF
    rigour: Rigour = "checked"
    residual: np.ndarray | None = None
    """What the point misses of equations that it meets to a tolerance only, >= 0, (m,): priced at the multipliers
    y that belong to them, it is taken off ``lower`` (`certificate.charged`).
    """


def _brief(value: Any) -> str:
    """A parameter in a few characters."""
    shape = getattr(value, "shape", ())
    if shape:
        return f"<{type(value).__name__} {tuple(shape)}>"
    if isinstance(value, Sized) and not isinstance(value, str):
        return f"<{type(value).__name__} of {len(value)}>"
    text = repr(value)
    return text if len(text) <= 80 else f"<{type(value).__name__}>"


class Presolved(Protocol):
    """A problem in the place of another, and the points of either for those of the other."""

    @property
    def problem(self) -> Problem:
        """The smaller one."""

    @property
    def why(self) -> str:
        """What made it smaller, for `Solution.explain`."""

    def lowered(self, X: Array | None, y: np.ndarray | None) -> tuple[Array | None, np.ndarray | None]:
        """Points of the smaller problem, from those of the whole one."""

    def lifted(self, X: Array | None, y: np.ndarray | None) -> tuple[Array | None, np.ndarray | None]:
        """Points of the whole problem, from those of the smaller one."""


class Problem(ABC):
    """A problem: frozen, validated once (in construction or by `check`), ignorant of algorithms."""

    name: ClassVar[str] = ""
    """The name of the entry point."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]  # or a dataclass would print its arrays whole

    def __repr__(self) -> str:
        """The parameters by name, arrays and long sequences by their sizes."""
        fields: tuple[dataclasses.Field[Any], ...] = dataclasses.fields(self) if dataclasses.is_dataclass(self) else ()
        given = (f"{field.name}={_brief(getattr(self, field.name))}" for field in fields if field.init and field.repr)
        return f"{type(self).__name__}({', '.join(given)})"

    objective: ClassVar[Literal["minimize", "maximize"]] = "minimize"
    """Whose value is the user's: a minimizer's (``y``, the upper bound) or a maximizer's (``X``)."""

    engines: ClassVar[tuple[str, ...]] = ()
    """Names of registered engines that ``auto`` tries before those of the library, in this order."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """A positive number of the size of the data; ``FLOOR * scale`` is where a relative gap
        turns into an absolute one.
        """

    def scale_at(self, y: np.ndarray | None, upper: float) -> float:
        """The size that gaps count from, for the y that proves ``upper``: `scale`, by default."""
        return self.scale

    @abstractmethod
    def bound_from_matrix(self, X: Array) -> Bound:
        """What the matrix proves, from the problem's data alone."""

    @abstractmethod
    def bound_from_vector(self, y: np.ndarray) -> Bound:
        """What the vector proves, from the problem's data alone."""

    def check(self) -> None:  # noqa: B027  # right as it is
        """What `solve`, `certify` and `methods` ask once before anything else: a ProblemError that names what cannot be
        right.  Nothing by default: construction has checked.
        """

    def objective_at(self, X: Array | None, y: np.ndarray | None) -> float:
        """The objective at the returned point, recomputed from the data."""
        raise NotImplementedError

    @property
    def ceiling(self) -> float:
        """No feasible point of a minimization has a larger objective: a certified lower bound above it proves
        that there is none, and ends the solve as "infeasible".
        """
        return INF

    @property
    def least_value(self) -> float:
        """No feasible point of a maximization has a smaller objective: a certified upper bound below it proves that
        there is none, and ends the solve as "infeasible".
        """
        return -INF

    def first_points(self) -> list[tuple[Array | None, np.ndarray | None]]:
        """Pairs (X, y) that are known at once and worth certifying before any iteration; none, by default."""
        return []

    def presolved(self) -> Presolved | None:
        """A smaller problem with the same answer, to be solved in the place of this one; None, by default."""
        return None

    def phase_one(self) -> Any:
        """A problem to be solved first, whose bounds say whether this one is feasible; None, by default."""
        return None

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
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
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
