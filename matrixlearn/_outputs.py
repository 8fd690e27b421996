"""Where a command puts its answer: checked before the solve, never over a better one, and never lost."""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path
from typing import Any

from matrixlearn._saved import claims, digest, writer_of
from matrixlearn.exceptions import MatrixLearnError
from matrixlearn.files import replacing
from matrixlearn.late import needed_by
from matrixlearn.solution import Solution, Status


def require_writable(path: Path) -> None:
    """Refuse a path that cannot be written, before anything is computed for it.

    Raises
    ------
    MatrixLearnError
        Where its folder does not exist or takes no files.
    """
    folder = path.absolute().parent
    if not folder.is_dir():
        msg = f"there is no folder {str(folder)!r}"
        raise MatrixLearnError(msg)
    try:
        if path.exists() and not path.is_file():  # a device
            writable = os.access(path, os.W_OK)
        else:
            with tempfile.TemporaryFile(dir=folder):
                writable = True
    except OSError as error:
        msg = f"{str(path)!r} cannot be written: {error.strerror or error}"
        raise MatrixLearnError(msg) from error
    if not writable:
        msg = f"{str(path)!r} cannot be written"
        raise MatrixLearnError(msg)


def require_answer_path(path: Path) -> None:
    """Refuse a path whose end no answer is written as, or that cannot be written."""
    writer_of(path)
    require_writable(path)


def require_picture_path(path: Path) -> None:
    """Refuse a path whose end matplotlib does not draw, or that cannot be written; without matplotlib, any.

    Raises
    ------
    MissingExtraError
        Without matplotlib.
    """
    with needed_by("a picture"):
        from matplotlib.backend_bases import FigureCanvasBase
    known = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.lower().removeprefix(".") not in known:
        msg = f"a picture is written as one of {', '.join(sorted(known))}; {str(path)!r} has another end"
        raise MatrixLearnError(msg)
    require_writable(path)


def draw(figure: Any, path: Path) -> None:
    """Write a matplotlib figure, whole or not at all."""
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix.lower().removeprefix("."), dpi=130)
    with replacing(path) as file:
        file.write(content.getvalue())


def place_for(solution: Solution, path: Path) -> Path:
    """``path``, or a free name beside it where it holds anything but an answer to the same data that is no better."""
    if not path.is_file() or _is_replaced(claims(path), solution):
        return path
    names = (path.with_stem(f"{path.stem}-{k}") for k in range(2, 10**6))
    return next(name for name in names if not name.exists())


def _is_replaced(old: dict[str, Any], solution: Solution) -> bool:
    """Whether a file holds an answer to the same data that is no better: no more decided, and of no smaller gap."""
    gap = old.get("gap")
    rank = (old.get("status") == Status.STOPPED, float("inf") if gap is None else gap)
    return old.get("data") == digest(solution.problem) and rank >= (solution.status is Status.STOPPED, solution.gap)


def keep(solution: Solution, path: Path) -> Path:
    """Write an answer to a path, or where that fails to the folder of temporary files; the path it is at."""
    try:
        solution.save(path)
    except OSError:
        path = Path(tempfile.mkdtemp(prefix="matrixlearn-")) / path.name
        solution.save(path)
    return path
