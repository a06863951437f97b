"""Units as files and people write them: what a text means in SI units, exactly.

A unit is a product of powers of symbols, `mm`, `deg/s`, `kN m`, `mm/s^2`, `N s/m`. Its value in SI
units is f πᵏ with a fraction f, so that 1 mm is 1/1000 m and not 0.001000000000000000021 m, and an
inch is 127/5000 m. Angles count as a dimension of their own: degrees are no plain numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import pi
from typing import TypeVar

import numpy as np

from gough.base.arrays import Array
from gough.base.words import nearest, shown
from gough.errors import InputError

LONGEST = 40
"""Characters of a unit; more is none."""
BEYOND = 10**60
"""Times as large or small as the SI unit is no unit: km9/nm9 would be 10^108."""
Dimension = tuple[int, int, int, int]
"""Powers of length, mass, time and angle."""
Value = TypeVar("Value", float, Array)
LENGTH, MASS, TIME, ANGLE = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
NONE: Dimension = (0, 0, 0, 0)
FORCE, PRESSURE = (1, 1, -2, 0), (-1, 1, -2, 0)
FREQUENCY, ENERGY, POWER = (0, 0, -1, 0), (2, 1, -2, 0), (2, 1, -3, 0)


@dataclass(frozen=True)
class Unit:
    """A unit: 1 of it is `factor` π^`turns` in SI units."""

    text: str
    factor: Fraction
    dimension: Dimension
    turns: int = 0
    """Power of π."""

    @property
    def is_si(self) -> bool:
        """Whether numbers in it are SI numbers as they stand."""
        return self.factor == 1 and self.turns == 0

    def to_si(self, value: Value) -> Value:
        """Numbers in this unit as SI numbers, rounded once or, with π and inches, twice."""
        above, below = self.factor.numerator, self.factor.denominator
        scaled: Value = value if above == 1 else value * above
        scaled = scaled if below == 1 else scaled / below
        return scaled if self.turns == 0 else scaled * pi**self.turns

    def from_si(self, value: Value) -> Value:
        """SI numbers in this unit."""
        above, below = self.factor.numerator, self.factor.denominator
        scaled: Value = value if self.turns == 0 else value / pi**self.turns
        scaled = scaled if below == 1 else scaled * below
        return scaled if above == 1 else scaled / above


def _symbols() -> dict[str, Unit]:
    pound = Fraction(45359237, 100000000)
    weight = Fraction(980665, 100000)
    table: dict[Dimension, dict[str, Fraction | int]] = {
        LENGTH: {
            "m metre meter metres meters": 1,
            "km": 1000,
            "dm": Fraction(1, 10),
            "cm": Fraction(1, 100),
            "mm millimetre millimeter millimetres millimeters": Fraction(1, 1000),
            "um µm μm micron microns": Fraction(1, 10**6),
            "nm": Fraction(1, 10**9),
            "in inch inches": Fraction(127, 5000),
            "ft foot feet": Fraction(381, 1250),
        },
        MASS: {
            "kg kilogram kilograms": 1,
            "g gram grams": Fraction(1, 1000),
            "mg": Fraction(1, 10**6),
            "t tonne tonnes": 1000,
            "lb lbs": pound,
        },
        TIME: {
            "s sec second seconds": 1,
            "ms millisecond milliseconds": Fraction(1, 1000),
            "us µs μs": Fraction(1, 10**6),
            "ns": Fraction(1, 10**9),
            "min minute minutes": 60,
            "h hour hours": 3600,
        },
        ANGLE: {
            "rad radian radians": 1,
            "mrad": Fraction(1, 1000),
            "urad µrad μrad": Fraction(1, 10**6),
        },
        FORCE: {
            "N newton newtons": 1,
            "mN": Fraction(1, 1000),
            "daN": 10,
            "kN": 1000,
            "MN": 10**6,
            "kgf": weight,
            "lbf": pound * weight,
        },
        PRESSURE: {"Pa": 1, "kPa": 1000, "MPa": 10**6, "GPa": 10**9},
        FREQUENCY: {"Hz": 1, "kHz": 1000},
        ENERGY: {
            "J": 1,
            "Nm": 1,
            "kNm": 1000,
            "mNm Nmm": Fraction(1, 1000),
            "Ncm": Fraction(1, 100),
        },
        POWER: {"W": 1, "kW": 1000},
        NONE: {"1 -": 1, "%": Fraction(1, 100)},
    }
    found = {
        name: Unit(name, Fraction(factor), dimension)
        for dimension, units in table.items()
        for names, factor in units.items()
        for name in names.split()
    }
    turning = {
        "deg ° degree degrees": Fraction(1, 180),
        "arcmin": Fraction(1, 180 * 60),
        "arcsec": Fraction(1, 180 * 3600),
        "rev turn turns": Fraction(2),
    }
    for names, factor in turning.items():
        found |= {name: Unit(name, factor, ANGLE, 1) for name in names.split()}
    found["rpm"] = Unit("rpm", Fraction(1, 30), (0, 0, -1, 1), 1)
    return found


SYMBOLS: Mapping[str, Unit] = _symbols()
"""All symbols that are known."""
PLAIN = str.maketrans({"²": "2", "³": "3", "·": " ", "*": " ", "^": "", "(": " ", ")": " "})
POWER_OF = re.compile(r"(\D+?)(-?[1-9])?|1", re.ASCII)


def unit(text: str) -> Unit:
    """The unit that a text means; an InputError, with the nearest known, if it means none.

    Example:
        >>> from gough.base.units import unit
        >>> unit("mm/s^2").to_si(250.0)
        0.25

    """
    written = text.strip()
    if len(written) > LONGEST:
        raise InputError(f"unknown unit {shown(written)}")
    if not written:
        return Unit("", Fraction(1), NONE)
    factor, turns, dimension = Fraction(1), 0, np.zeros(4, dtype=int)
    for place, part in enumerate(written.translate(PLAIN).split("/")):
        tokens = part.split()
        if not tokens:
            raise InputError(f"unknown unit {shown(written)}")
        for token in tokens:
            one, power = _power(token, written)
            power = -power if place else power
            factor *= one.factor**power
            turns += one.turns * power
            dimension += np.multiply(one.dimension, power)
    if not Fraction(1, BEYOND) <= factor <= BEYOND:
        raise InputError(
            f"unknown unit {shown(written)}: over 10^60 times larger or smaller than SI"
        )
    length, mass, time, angle = (int(one) for one in dimension)
    return Unit(written, factor, (length, mass, time, angle), turns)


def _power(token: str, written: str) -> tuple[Unit, int]:
    """The symbol of a token such as s2, and its power."""
    if token in SYMBOLS:
        return SYMBOLS[token], 1
    found = POWER_OF.fullmatch(token)
    symbol, power = (found[1], found[2]) if found else (token, None)
    if symbol not in SYMBOLS:
        near = nearest(symbol or token, SYMBOLS)
        raise InputError(f"unknown unit {shown(written)}; the nearest known is {near}")
    return SYMBOLS[symbol], int(power or 1)


def same_dimension(one: str, other: str) -> bool:
    """Whether two units measure the same."""
    return unit(one).dimension == unit(other).dimension


def converted(what: str, text: str | None, expected: str) -> Unit:
    """The unit of a column or variable, which has to measure what `expected` does; none: `expected`."""
    if text is None:
        return unit(expected)
    try:
        found = unit(str(text))
    except InputError as error:
        raise InputError(f"{what} has the {error}; needs {expected or 'none'}") from None
    if found.dimension != unit(expected).dimension:
        raise InputError(f"{what} has the unit {shown(str(text))}, needs {expected or 'none'}")
    return found
