"""Optimization and learning over positive semidefinite matrices.

user data -> Problem --solve--> Engine: X = mirror(losses); answer = oracle(X); losses += answer
                 |                 | every check: points X, y
                 '--- certify(X, y), from the data alone ---> lower <= optimum <= upper
                                   -> Solution: status, value, matrix, y, certificate
"""

from importlib.metadata import PackageNotFoundError as _PackageNotFoundError
from importlib.metadata import version as _version

from matrixlearn import engines, exceptions, exponents, maps, oracles, problems, sets
from matrixlearn._certify import certify
from matrixlearn._choice import methods
from matrixlearn._solve import solve
from matrixlearn.certificate import Certificate
from matrixlearn.problems.linear import LinearSDP
from matrixlearn.problems.rows import entries
from matrixlearn.registry import register, registered_engines, registered_problems
from matrixlearn.solution import History, Solution, Status

try:
    __version__ = _version("matrixlearn")
except _PackageNotFoundError:  # a bare checkout
    __version__ = "0+unknown"

__all__ = [
    "Certificate",
    "History",
    "LinearSDP",
    "Solution",
    "Status",
    "__version__",
    "certify",
    "engines",
    "entries",
    "exceptions",
    "exponents",
    "maps",
    "methods",
    "oracles",
    "problems",
    "register",
    "registered_engines",
    "registered_problems",
    "sets",
    "solve",
]


def __getattr__(name: str) -> object:
    if name == "testing":  # late: it needs the extra ``test``
        from importlib import import_module

        return import_module("matrixlearn.testing")
    msg = f"module 'matrixlearn' has no attribute {name!r}"
    raise AttributeError(msg)
