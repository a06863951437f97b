"""Changes of files: numbers to extremes, lines and bytes lost, doubled, swapped, flipped, nested."""

from __future__ import annotations

import random
import re

NUMBER = re.compile(rb"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")
WORD = re.compile(rb"[A-Za-z_]{2,}")
EXTREMES = (
    b"0", b"-0.0", b"1", b"-1", b"1e308", b"-1e308", b"1e-320", b"1e160", b"nan", b"-inf", b"inf",
    b"1e999", b"9" * 400, b"2147483648", b"-9223372036854775809", b"18446744073709551616", b"1e6",
    b"1e-9", b"1e59", b"[]", b"{}", b"true", b'""', b'"text"', b"[[]]", b"[1, [2]]", b"''",
    b"None", b"0x10", b"1_0", b"",
)  # fmt: skip
PIECES = (
    b"\x00", b"\xff\xfe", b"\x1b[31m", b"[" * 300, b"a." * 60 + b"a = 1\n", b"\n" * 50, b"," * 99,
    b"=", b"#", b'"', b"*", b"$pyNastran: code-block=raise SystemExit\n",
    b"INCLUDE '/etc/passwd'\n", "\u202e\U0001f4a5".encode(),
)  # fmt: skip
INTEGERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def mutated(data: bytes, rng: random.Random, text: bool) -> bytes:
    """The data with one to four changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(TEXT if text and rng.random() < 0.85 else BINARY)(data, rng)
    return data


def _spot(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 1, 4, 16, 200, 5000)))


def _number(data: bytes, rng: random.Random) -> bytes:
    return _replaced(NUMBER, EXTREMES, data, rng)


def _word(data: bytes, rng: random.Random) -> bytes:
    words = [one.group() for one in WORD.finditer(data)] or [b"x"]
    return _replaced(WORD, (*rng.choices(words, k=3), b"", b"x" * 2000), data, rng)


def _replaced(pattern: re.Pattern[bytes], choices: tuple[bytes, ...], data: bytes, rng) -> bytes:
    places = [*pattern.finditer(data)]
    if not places:
        return data
    start, stop = rng.choice(places).span()
    return data[:start] + rng.choice(choices) + data[stop:]


def _lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(5)
    if what == 0:
        del lines[i]
    elif what == 1:
        lines.insert(j, lines[i])
    elif what == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif what == 3:
        del lines[min(i, j) : max(i, j)]
    else:
        lines[i:i] = [lines[i]] * rng.choice((3, 100))
    return b"\n".join(lines)


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _lose(data: bytes, rng: random.Random) -> bytes:
    start, stop = _spot(data, rng)
    return data[:start] + data[stop:]


def _double(data: bytes, rng: random.Random) -> bytes:
    start, stop = _spot(data, rng)
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[start:stop] * rng.choice((1, 2, 50)) + data[at:]


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(PIECES) + data[at:]


def _flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 20))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _integer(data: bytes, rng: random.Random) -> bytes:
    size = rng.choice((1, 2, 4, 8))
    at = rng.randrange(max(1, len(data) - size))
    number = rng.choice(INTEGERS) & (256**size - 1)
    return data[:at] + number.to_bytes(size, rng.choice(("little", "big"))) + data[at + size :]


TEXT = (_number, _number, _number, _word, _lines, _lines, _cut, _lose, _double, _insert)
BINARY = (_flip, _flip, _integer, _integer, _cut, _lose, _double, _insert)


def minimised(data: bytes, fails, tries: int = 300) -> bytes:
    """The data with as much left out as still fails the same way."""
    size = max(1, len(data) // 2)
    while size and tries > 0:
        at, shorter = 0, False
        while at < len(data) and tries > 0:
            candidate = data[:at] + data[at + size :]
            tries -= 1
            if fails(candidate):
                data, shorter = candidate, True
            else:
                at += size
        if not shorter or size > len(data):
            size //= 2
    return data
