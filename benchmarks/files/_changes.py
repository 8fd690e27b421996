"""Changes of a file in one place: a line, a word, a byte, or all of it."""

from __future__ import annotations

import gzip
import random
import re

NASTY = [
    "nan", "inf", "-inf", "1e400", "1e25", "-1", "0", "2.5", "3.9", "abc", "1_0", "0x10", "1,5", "999999999999", "+",
    "é", "--1", "1e", "\u0661", "4294967297", "18446744073709551617", '"', "#", "%", "*", "2.0D+00", "\u200b", "007",
    "1.0", "1e-400",
]  # fmt: skip


def _lines(rng: random.Random, raw: bytes) -> bytes:
    lines = raw.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(9):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[other])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines.insert(at, b"")
        case 4:
            lines.insert(at, rng.choice(NASTY).encode())
        case 5:
            lines[at : at + 2] = [b" ".join(lines[at : at + 2])]
        case 6:
            lines[at] = b"  " + lines[at] + b"\t "
        case 7:
            lines = lines[: at + 1]
        case 8:
            lines.append(lines[other])
    return b"\n".join(lines)


def _words(rng: random.Random, raw: bytes) -> bytes:
    pieces = re.split(rb"([^\s,;]+)", raw)
    places = [k for k in range(len(pieces)) if k % 2]
    if not places:
        return raw + b"x"
    at, other = rng.choice(places), rng.choice(places)
    match rng.randrange(5):
        case 0:
            pieces[at] = b""
        case 1:
            pieces[at] += b" " + pieces[at]
        case 2:
            pieces[at], pieces[other] = pieces[other], pieces[at]
        case 3:
            pieces[at] = rng.choice(NASTY).encode()
        case 4:
            digits = [k for k, byte in enumerate(pieces[at]) if 48 <= byte < 58]
            k = rng.choice(digits) if digits else 0
            pieces[at] = pieces[at][:k] + rng.choice(b"0123456789").to_bytes() + pieces[at][k + 1 :]
    return b"".join(pieces)


def _bytes(rng: random.Random, raw: bytes) -> bytes:
    at = rng.randrange(len(raw))
    match rng.randrange(5):
        case 0:
            return raw[:at] + bytes([raw[at] ^ rng.randrange(1, 256)]) + raw[at + 1 :]
        case 1:
            return raw[:at] + raw[at + 1 :]
        case 2:
            return raw[:at] + rng.randbytes(1) + raw[at:]
        case 3:
            return raw[:at]
        case _:
            return raw[:at] + bytes([raw[at] ^ (1 << rng.randrange(8))]) + raw[at + 1 :]


def _whole(rng: random.Random, raw: bytes) -> bytes:
    return rng.choice([
        b"\xef\xbb\xbf" + raw, raw.replace(b"\n", b"\r\n"), raw.replace(b"\n", b"\r"), raw.replace(b" ", b"  "), b"",
        b"\n", raw + raw, raw + b"\x00", gzip.compress(raw), raw.replace(b" ", b"\t"), b"\xff\xfe" + raw, raw[::-1],
        raw.decode(errors="replace").encode("utf-16"), raw.replace(b".", b","), b"PK\x03\x04" + raw, raw.rstrip(),
    ])  # fmt: skip


def mutant(rng: random.Random, raw: bytes, text: bool) -> bytes:
    """The content changed in one place, never as it was."""
    while True:
        change = rng.choices([_lines, _words, _bytes, _whole], [4, 5, 3, 1] if text else [0, 0, 9, 1])[0]
        out = change(rng, raw)
        if out != raw:
            return out
