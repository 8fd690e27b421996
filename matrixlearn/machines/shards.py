"""Rows by machine: at hand, in files that are read where they lie, or made by a loader there."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from matrixlearn._array import is_sparse
from matrixlearn.exceptions import ProblemError
from matrixlearn.machines.block import Block
from matrixlearn.validation import as_array, as_samples, as_weights


@dataclass(frozen=True, eq=False)
class Shards:
    """The rows of each machine, or the way to them.

    Parameters
    ----------
    ids : tuple
        The names of the machines.
    loaders : tuple of (function, arguments)
        For each machine a function that makes (X_i, y_i), or (X_i, y_i, weights), or X_i alone, and its arguments;
        called where the rows stay.
    """

    ids: tuple[Hashable, ...]
    loaders: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...]

    @classmethod
    def of(cls, X: Any, y: Any, task: Any, sample_weight: Any = None) -> Shards:
        """Rows at hand.

        Parameters
        ----------
        X : array or sparse array, shape (n, d)
        y : array, shape (n,)
        task : array, shape (n,)
            The machine of each row; machines are in ascending order of these labels.
        sample_weight : array, shape (n,), optional
        """
        labels, number = np.unique(np.asarray(task), return_inverse=True)
        order = np.argsort(number, kind="stable")
        ends = np.append(0, np.cumsum(np.bincount(number)))
        X = X.tocsr() if is_sparse(X) else np.asarray(X)
        y, counts = np.asarray(y), np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        X, y, counts = X[order], y[order], counts[order]
        parts = (slice(start, end) for start, end in pairwise(ends))
        return cls(tuple(labels.tolist()), tuple((_as_it_is, (X[p], y[p], counts[p])) for p in parts))

    @classmethod
    def from_files(cls, paths: Mapping[Hashable, Any] | Sequence[Any], read: Callable[[Any], Any]) -> Shards:
        """Files, each read by the machine that keeps it: ``read(path)`` returns (X_i, y_i).

        Parameters
        ----------
        paths : mapping of names to paths, or sequence of paths
            A path is the name of its machine, where it has no other.
        read : callable
        """
        named = dict(paths) if isinstance(paths, Mapping) else {str(path): path for path in paths}
        return cls(tuple(named), tuple((read, (path,)) for path in named.values()))

    @classmethod
    def loaded(cls, loader: Callable[..., Any], arguments: Mapping[Hashable, Any] | Sequence[Any]) -> Shards:
        """Whatever ``loader(argument)`` makes, on the machine that keeps it; a tuple is several arguments."""
        named = arguments if isinstance(arguments, Mapping) else dict(enumerate(arguments))
        each = (given if isinstance(given, tuple) else (given,) for given in named.values())
        return cls(tuple(named), tuple((loader, given) for given in each))

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<Shards of {len(self)} machines>"

    def __str__(self) -> str:
        """The names of the machines, and what makes their rows."""
        made = ((f"{function.__module__}.{function.__qualname__}", args) for function, args in self.loaders)
        return "; ".join(f"{name!r}: {what}{args!r}" for name, (what, args) in zip(self.ids, made, strict=True))

    def at_hand(self) -> dict[str, Any] | None:
        """X, y, task and sample_weight, as `of` takes them; None where functions make the rows."""
        if any(function is not _as_it_is for function, _ in self.loaders):
            return None
        X, y, counts, ends = _joined([rows for _, rows in self.loaders])
        task = np.repeat(np.asarray(self.ids), np.diff(ends))
        return {"X": X, "y": y, "task": task, "sample_weight": None if np.all(counts == 1) else counts}

    def block(self, machines: Sequence[int] | None = None) -> Block:
        """The rows of some machines by number, all by default, loaded and checked.

        Raises
        ------
        ProblemError
            For a loader that raises, and for rows that cannot be right; with the name of the machine.
        """
        chosen = range(len(self)) if machines is None else machines
        if not len(chosen):
            msg = "there are no machines: at least one with rows is needed"
            raise ProblemError(msg)
        made = [self._made(i) for i in chosen]
        try:  # together: a check of each machine takes longer than all the rest
            X, y, counts, ends = _joined(made)
            X, y, counts = _checked("of all machines", X, y, counts)
            fine = bool(np.all(np.add.reduceat(counts, ends[:-1]) > 0))
        except (ProblemError, ValueError, TypeError, AttributeError):
            fine = False
        if not fine:
            X, y, counts, ends = _joined(self._one_by_one(chosen, made))
        return Block(tuple(self.ids[i] for i in chosen), X, y, ends, counts)

    def _made(self, i: int) -> tuple[Any, Any, Any]:
        """X_i, y_i and weights of machine i, as its loader makes them; 0 and 1 where it makes none."""
        function, arguments = self.loaders[i]
        name = self.ids[i]
        try:
            made = function(*arguments)
            X, y, *rest = made if isinstance(made, tuple | list) else (made, np.zeros(made.shape[0]))
        except Exception as error:
            msg = f"the loader of machine {name!r} raised {type(error).__name__}: {error}"
            raise ProblemError(msg) from error
        if getattr(X, "shape", (1,))[0] == 0:
            msg = f"machine {name!r} has no rows; leave it out, or give it at least one"
            raise ProblemError(msg)
        return X, y, rest[0] if rest else np.ones(len(y))

    def _one_by_one(self, chosen: Sequence[int], made: Sequence[tuple[Any, Any, Any]]) -> list[tuple[Any, Any, Any]]:
        """The rows of each machine, checked.

        Raises
        ------
        ProblemError
            For the first machine whose rows cannot be right.
        """
        parts = [_checked(f"of machine {self.ids[i]!r}", *rows) for i, rows in zip(chosen, made, strict=True)]
        require_one_width([self.ids[i] for i in chosen], [X.shape[1] for X, _, _ in parts])
        return parts


def require_one_width(names: Sequence[Hashable], widths: Sequence[int]) -> None:
    """As many features on all machines as on the first.

    Raises
    ------
    ProblemError
        Naming two that differ.
    """
    for name, width in zip(names, widths, strict=True):
        if width != widths[0]:
            msg = f"all machines must have the same features, but {names[0]!r} has {widths[0]} and {name!r} has {width}"
            raise ProblemError(msg)


def _joined(parts: Sequence[tuple[Any, Any, Any]]) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """The rows, targets and weights of all machines, one after the other; and where the rows of each end."""
    X: Any
    if any(is_sparse(X) for X, _, _ in parts):
        import scipy.sparse as sp  # late: import time

        X = sp.csr_array(sp.vstack([sp.csr_array(X) for X, _, _ in parts]))
    else:
        X = np.concatenate([X for X, _, _ in parts]) if len(parts) > 1 else parts[0][0]
    ends = np.append(0, np.cumsum([X.shape[0] for X, _, _ in parts]))
    sizes = [len(y) for _, y, _ in parts], [len(counts) for _, _, counts in parts]
    if any(np.any(np.diff(ends) != size) for size in sizes):
        msg = "each machine must have a target and a weight for each of its rows"
        raise ProblemError(msg)
    y, counts = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
    return X, y, counts, ends


def _checked(whose: str, X: Any, y: Any, counts: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Rows, targets and weights, as numbers.

    Raises
    ------
    ProblemError
        For what cannot be right.
    """
    if is_sparse(X):
        X = X.tocsr().astype(float)
        as_array(f"X {whose}", X.data)
    else:
        X = np.asarray(as_samples(f"X {whose}", X))
    y = np.asarray(as_array(f"y {whose}", y), dtype=float)
    if y.shape != (X.shape[0],):
        msg = f"y {whose} must be a vector of {X.shape[0]} targets, got shape {y.shape}"
        raise ProblemError(msg)
    return X, y, np.asarray(as_weights(f"weights {whose}", counts, len(y)), dtype=float)


def _as_it_is(*rows: Any) -> tuple[Any, ...]:
    return rows
