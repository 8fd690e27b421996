"""Objects with a name and parameters as text, ``huber(delta=0.5)``: for files, command lines and messages."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from matrixlearn.exceptions import ProblemError

T = TypeVar("T")


def spelled(thing: Any) -> str:
    """``name(parameter=value, ...)`` of a dataclass with a ``name``; a parameter at its default is left out."""
    given = [(field, getattr(thing, field.name)) for field in dataclasses.fields(thing) if field.init]
    shown = [
        f"{field.name}={value.tolist() if isinstance(value, np.ndarray) else value!r}"
        for field, value in given
        if field.default is dataclasses.MISSING or isinstance(value, np.ndarray) or value != field.default
    ]
    return f"{thing.name}({', '.join(shown)})" if shown else str(thing.name)


def read_spelled(
    argument: str, text: Any, kind: type[Any], known: Mapping[str, Callable[..., T]], **parameters: Any
) -> T:
    """What `spelled` wrote: the entry of ``known`` of that name, called with the parameters in parentheses; an object
    of the kind passes as it is.

    Raises
    ------
    ProblemError
        For another name, or parameters that it does not take; the message names the argument.
    """
    if isinstance(text, kind):
        return text
    if not isinstance(text, str):
        msg = f"{argument} must be one of {sorted(known)} or a {kind.__name__}, got {text!r}"
        raise ProblemError(msg)
    name, bracket, inside = text.partition("(")
    if name.strip() not in known:
        msg = f"{argument} must be one of {sorted(known)}, got {text!r}"
        raise ProblemError(msg)
    try:
        if bracket:
            call = ast.parse(f"_({inside}", mode="eval").body
            if not isinstance(call, ast.Call) or call.args:
                raise ValueError
            parameters |= {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
        return known[name.strip()](**parameters)
    except (SyntaxError, TypeError, ValueError) as error:
        if isinstance(error, ProblemError):
            raise
        msg = f"{argument} must be a name with its parameters, such as {name.strip()}(parameter=1.0), got {text!r}"
        if parameters:
            msg += f" and {', '.join(parameters)}"
        raise ProblemError(msg) from error
