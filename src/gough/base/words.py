"""Words of messages: a piece of a file as they show it, the known name that is most like it, bounds."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

LONGEST = 40
"""Characters of a name that somebody wrote; more of it helps nobody."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is most like this one, whatever the case of its letters."""
    folded = {one.casefold(): one for one in known}
    return folded[difflib.get_close_matches(name[:LONGEST].casefold(), folded, 1, cutoff=0.0)[0]]


def shown(text: str) -> str:
    """A piece of a file as messages show it: printable and not too long."""
    return repr(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")


def counted(number: int, noun: str) -> str:
    """A number of things: "1 sample", "2 samples"."""
    return f"{number} {noun}{'s' * (number != 1)}"


def lower(value: float, digits: int) -> str:
    """A lower bound with so many digits, rounded down: what it bounds stays above it."""
    return _rounded(value, digits, ROUND_FLOOR)


def upper(value: float, digits: int) -> str:
    """An upper bound with so many digits, rounded up."""
    return _rounded(value, digits, ROUND_CEILING)


def within(value: float, error: float, digits: int, error_digits: int) -> str:
    """A value ± its error, such that the interval as it is written holds the true one."""
    written = f"{value:.{digits}g}"
    return f"{written} ± {upper(error + abs(value - float(written)), error_digits)}"


def _rounded(value: float, digits: int, direction: str) -> str:
    if not math.isfinite(value):
        return f"{value:g}"
    exact = Context(prec=digits, rounding=direction).create_decimal(Decimal(repr(float(value))))
    return f"{float(exact):.{digits}g}"
