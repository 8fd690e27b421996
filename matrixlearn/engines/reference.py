"""cvxpy as an engine, with any of its solvers; its answers are certified like all others."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from matrixlearn.engines.base import Engine, State
from matrixlearn.engines.incumbent import Incumbent, Proposal
from matrixlearn.memory import GIB, available_memory
from matrixlearn.problems.base import Problem

CLARABEL_TAKES = 52.0
"""Bytes for each entry of the square of a cone's rows: peaks measured at cones of order 60 and 80, real and complex
(those of twice the order)."""

_FILTERS = threading.Lock()
"""The filters of warnings are the process's: two threads that change them and change them back must take turns."""


@runtime_checkable
class Readable(Protocol):
    """A problem whose answer by cvxpy can be read."""

    def reference(self) -> Any:
        """A cvxpy problem with the same optimum."""

    def read_reference(self, reference: Any) -> tuple[Any, Any]:
        """(X, y) from a solved `reference`."""


@dataclass(frozen=True)
class Reference(Engine):
    """Solve ``problem.reference()`` by cvxpy and certify what comes back.

    Parameters
    ----------
    solver : str
        A cvxpy solver.
    """

    solver: str = "CLARABEL"

    name = "reference"

    def objection(self, problem: Problem) -> str:
        if not isinstance(problem, Readable):
            return "the problem lacks read_reference()"
        space = None if problem.game is None else problem.game.S
        if self.solver != "CLARABEL" or space is None:
            return ""
        rows = float(space.n) * (space.n + 1) / 2
        needed, most = CLARABEL_TAKES * rows**2, available_memory()
        if needed <= most:
            return ""
        return (
            f"Clarabel keeps a dense matrix of order n (n + 1) / 2 for a cone of order n = {space.n}: "
            f"{needed / GIB:.3g} GiB, and {most / GIB:.3g} GiB are available; take another method"
        )

    def init(self, problem: Any, incumbent: Incumbent) -> State:
        return State()

    def step(self, problem: Any, state: State, incumbent: Incumbent) -> State:
        import cvxpy as cp

        program = problem.reference()
        try:
            with _FILTERS, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # its accuracy is judged by our certificate
                program.solve(solver=self.solver)
        except cp.SolverError as error:
            return State(finished=f"cvxpy with {self.solver} failed: {error}")
        X, y = problem.read_reference(program)
        return State((Proposal(X=X, y=y),), f"cvxpy with {self.solver} says {program.status!r}")
