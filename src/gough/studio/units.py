"""Units of the page: SI, or millimetres and degrees as on a workshop's screen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class PageUnits(NamedTuple):
    """What numbers are shown in."""

    length: str
    per_metre: float
    """Of its length in a metre."""
    angle: str
    per_radian: float
    digits: int
    """Fewer behind the point than in SI."""

    def shown(self, unit: str) -> tuple[str, float, int]:
        """For a unit of gough: what is shown, how many of it are in one, digits fewer."""
        head, slash, rest = unit.partition("/")
        if head == "m":
            return f"{self.length}{slash}{rest}", self.per_metre, self.digits
        if head == "rad":
            return (
                f"{self.angle}{slash}{rest}",
                self.per_radian,
                self.digits - 1 if self.digits else 0,
            )
        return unit, 1.0, 0


SI = PageUnits("m", 1.0, "rad", 1.0, 0)
WORKSHOP = PageUnits("mm", 1e3, "°", float(np.degrees(1.0)), 3)
CHOICES = {"m, rad": SI, "mm, °": WORKSHOP}
