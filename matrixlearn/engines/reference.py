"""cvxpy as an engine, with any of its solvers, certified like every other."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from matrixlearn.engines.base import Engine, Incumbent, Proposal, State
from matrixlearn.problems.base import Problem

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
        return "" if isinstance(problem, Readable) else "the problem lacks read_reference()"

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
