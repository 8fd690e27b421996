"""Files, read as what they are or refused: bytes, lines with their numbers, arrays; and written whole or not at all.

What is wrong with a file ends as a ProblemError that names it, and the line where it has lines. Sizes that a file
claims are compared with its length before memory is asked for. The path "-" is standard input.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import math
import os
import re
import secrets
import sys
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np

from matrixlearn.exceptions import MatrixLearnError, ProblemError
from matrixlearn.memory import available_memory

__all__ = [
    "archive",
    "name_of",
    "number",
    "read_archive",
    "read_array",
    "read_arrays",
    "read_bytes",
    "read_lines",
    "reading_state_of",
    "refuse",
    "replacing",
]

KINDS = ((b"\x1f\x8b", "a gzip file"), (b"PK\x03\x04", "a zip archive, such as .npz"), (b"\x93NUMPY", "a NumPy array"))
"""Beginnings of binary files."""

PROMISED = {".gz": (KINDS[0][0], "a gzip file"), ".npz": (KINDS[1][0], "an .npz archive"), ".npy": KINDS[2]}
"""What a name says of the beginning."""

PACKED = 1032
"""Bytes that one byte of a deflated stream can stand for, at most."""

LARGEST, SMALLEST = 1e50, 1e-100
"""Where the largest entry of an array may lie, unless all are 0: what is computed holds products of several entries,
and quotients by them.
"""

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def name_of(path: str | os.PathLike[str]) -> str:
    """What messages call a file."""
    return "standard input" if os.fspath(path) == "-" else os.fspath(path)


def is_pattern(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a pattern of names, such as ``parts/*.npy``."""
    return any(character in Path(path).name for character in "*?[")


def refuse(path: str | os.PathLike[str], line: int, why: str) -> NoReturn:
    """Raise the ProblemError that names a file and a line of it."""
    msg = f"{name_of(path)}, line {line}: {why}"
    raise ProblemError(msg)


def number(text: str) -> float | None:
    """The number that a text writes in digits, sign, point and exponent; None where it is none, or beyond `LARGEST`.

    Python reads more: "1_000", "nan", digits of other scripts.
    """
    value = float(text) if NUMBER.fullmatch(text) else math.inf
    return value if abs(value) <= LARGEST else None


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a file, unpacked where it is gzip.

    Raises
    ------
    ProblemError
        Where the file cannot be read, is no file of the kind that its name says, or its gzip stream is broken.
    FileNotFoundError
        Where there is none.
    """
    try:
        raw = sys.stdin.buffer.read() if os.fspath(path) == "-" else Path(path).read_bytes()
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise
        msg = f"{name_of(path)} cannot be read: {error.strerror or error}"
        raise ProblemError(msg) from error
    suffix = Path(path).suffix.lower()
    begins, kind = PROMISED.get(suffix, (b"", ""))
    if not raw.startswith(begins):
        why = "it is empty" if not raw else "it does not begin like one"
        msg = f"{name_of(path)} is named {suffix} but is not {kind}: {why}"
        raise ProblemError(msg)
    return _unpacked(path, raw) if raw.startswith(KINDS[0][0]) else raw


def _unpacked(path: str | os.PathLike[str], raw: bytes) -> bytes:
    """The content of a gzip stream, as long as it fits."""
    most, found = min(available_memory() / 8, PACKED * len(raw)), bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as stream:
            while piece := stream.read(2**20):
                found += piece
                if len(found) > most:
                    msg = f"it unpacks to more than {len(found)} bytes, too many for the memory that is available"
                    raise ValueError(msg)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        msg = f"{name_of(path)} is not a whole gzip file: {error}"
        raise ProblemError(msg) from error
    return bytes(found)


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """The lines of a text in UTF-8, or in UTF-16 with its mark; line k is number k + 1.

    Raises
    ------
    ProblemError
        As `read_bytes`, and for binary content, bytes that are not UTF-8 and characters that do not print; line named.
    """
    raw = read_bytes(path)
    kind = next((kind for begins, kind in KINDS if raw.startswith(begins)), None)
    if kind is not None:
        msg = f"{name_of(path)} is {kind}, and not text"
        raise ProblemError(msg)
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        refuse(path, raw[: error.start].count(b"\n") + 1, f"not text in {encoding.upper()[:6].rstrip('-')}: {error}")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    for k, line in enumerate(lines, 1):
        if not line.isprintable() and not (plain := line.replace("\t", " ")).isprintable():
            mark = next(character for character in plain if not character.isprintable())
            refuse(path, k, f"the character {mark!r} does not print: is the file damaged, or not text?")
    return lines


def read_array(path: str | os.PathLike[str]) -> np.ndarray:
    """The array of an .npy file.

    Raises
    ------
    ProblemError
        As `read_bytes`, and for anything else than one array of numbers or text.
    """
    raw = read_bytes(path)
    try:
        return _array(raw)
    except Exception as error:  # NumPy's parser of damaged headers raises a dozen kinds
        msg = f"{name_of(path)} is not an .npy file of one array: {error or type(error).__name__}"
        raise ProblemError(msg) from error


def archive(meta: Mapping[str, Any], arrays: Mapping[str, Any]) -> bytes:
    """The content of an .npz file of arrays, and ``meta`` as JSON under that name."""
    stream = io.BytesIO()
    np.savez_compressed(stream, meta=np.array(json.dumps(meta)), **arrays)
    return stream.getvalue()


@contextlib.contextmanager
def reading_state_of(kind: str, path: str | os.PathLike[str]) -> Iterator[None]:
    """What a damaged file raises, as one error that says that it is not the state of a ``kind``; no file is no file.

    Raises
    ------
    MatrixLearnError
    """
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:  # a damaged file raises what it pleases
        why = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        msg = f"{os.fspath(path)!r} is not the state of a {kind}: {why}"
        raise MatrixLearnError(msg) from error


def read_archive(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """The arrays of an .npz file by name.

    Raises
    ------
    ProblemError
        As `read_bytes`, and where it is no such archive, is damaged, or claims more than it holds.
    """
    raw = read_bytes(path)
    try:
        if not raw.startswith(KINDS[1][0]):
            msg = "it does not begin like one"
            raise ValueError(msg)
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > min(PACKED * len(raw), available_memory() / 2):
                msg = "its members claim more than the file can hold, or than memory can"
                raise ValueError(msg)
            if len({member.filename for member in members}) < len(members):
                msg = "two of its members have one name"
                raise ValueError(msg)
            _require_filled(raw, members, archive.start_dir)
            return {member.filename.removesuffix(".npy"): _array(archive.read(member)) for member in members}
    except Exception as error:  # zipfile, zlib and NumPy raise a dozen kinds for damaged archives
        msg = f"{name_of(path)} is not an .npz file of arrays: {error or type(error).__name__}"
        raise ProblemError(msg) from error


def _require_filled(raw: bytes, members: list[zipfile.ZipInfo], end: int) -> None:
    """No part of an archive may belong to a member that its directory, damaged, does not list."""
    reached = 0
    for member in sorted(members, key=lambda member: member.header_offset):
        at = member.header_offset
        after = 24 if member.flag_bits & 8 else 0  # sizes that were written behind the content
        if not reached <= at <= reached + after:
            break
        header = 30 + sum(int.from_bytes(raw[at + place : at + place + 2], "little") for place in (26, 28))
        reached = at + header + member.compress_size
    if not end - 24 <= reached <= end or (reached < end and not any(member.flag_bits & 8 for member in members)):
        msg = f"{end - reached} bytes before its directory belong to no member that it lists"
        raise ValueError(msg)


def _array(raw: bytes) -> np.ndarray:
    """The array of the bytes of an .npy file, whose header must say what follows it."""
    stream = io.BytesIO(raw)
    version = np.lib.format.read_magic(stream)
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in headers:
        msg = f"its arrays have the format version {version}"
        raise ValueError(msg)
    shape, fortran, dtype = headers[version](stream)
    if dtype.hasobject or dtype.names or not dtype.itemsize:
        msg = f"arrays of {dtype} are not read"
        raise ValueError(msg)
    claimed, held = dtype.itemsize * math.prod(shape), len(raw) - stream.tell()
    if min(shape, default=0) < 0 or claimed != held:
        msg = f"its header says {shape} of {dtype}, {claimed} bytes, and {held} bytes follow"
        raise ValueError(msg)
    flat = np.frombuffer(raw, dtype, offset=stream.tell())
    return flat.reshape(shape, order="F" if fortran else "C").copy(order="K")


def read_arrays(path: str | os.PathLike[str], names: Collection[str]) -> dict[str, np.ndarray]:
    """The arrays of an .npz file by name, for `Presenter.from_arguments`; each name must be among ``names``.

    Raises
    ------
    ProblemError
        As `read_archive`, or where it holds something else; the message names the file.
    """
    arrays = read_archive(path)
    unknown = sorted(set(arrays) - set(names))
    if unknown or not arrays:
        msg = f"{name_of(path)} must hold arrays among {', '.join(names)}, got {', '.join(unknown) or 'none'}"
        raise ProblemError(msg)
    return arrays


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file that takes the place of ``path`` once the block ends well, and is gone if it does not.

    No reader sees half a file, writers do not meet, and where the system has files without a name (Linux) a killed
    process leaves nothing behind.
    """
    target = Path(os.path.realpath(path))  # what a link leads to is replaced, and not the link
    if target.exists() and not target.is_file():  # a device or a pipe has no place to be taken
        with target.open("wb") as file:
            yield file
        return
    beside = target.with_name(f".{os.getpid()}.{secrets.token_hex(4)}.partial")
    try:
        unnamed = _unnamed(target.parent)
        with unnamed or beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if unnamed is not None:
                _name(file.fileno(), target, beside)
        if beside.exists():
            beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _unnamed(folder: Path) -> IO[bytes] | None:
    """A file that has no name yet; None where the system has none such."""
    if not (hasattr(os, "O_TMPFILE") and Path("/proc/self/fd").is_dir()):
        return None
    try:
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666), "wb")
    except OSError:  # a file system that lacks them
        return None


def _name(descriptor: int, target: Path, beside: Path) -> None:
    """Give an unnamed file the name ``target``, or ``beside`` where that is taken."""
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        for path in (target, beside):
            with contextlib.suppress(FileExistsError):  # a folder is passed so that the link of /proc is followed
                where = f"/proc/self/fd/{descriptor}"
                os.link(where, path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)
                return
    finally:
        os.close(folder)
