"""Which parameters of a PUS leg are felt, by the reasoning of Khalil & Guegan 2004 for UPS legs.

An open leg. All frames sit at the universal joint A, which moves along the rail with q. The link
turns on the cross as a UPS cylinder does on its cross: the link's y axis is the joint's, so in the axes
(x, −z, y) it is rule 1's link, and its ZZ, MY, M are grouped with its XX and with the cross. The cross
turns about an axis of fixed direction while A moves. So of its tensor only ZZ is felt. Its MZ lies on
the axis: it is not swung, and its height over A never changes: no effect. MX and MY are felt; M moves as
A does and is grouped with the slider's. The slider does not turn: M alone is felt. 30 → 11 parameters.
Closed: a mass m at the tip, l along the link, adds M = m, MZ = l m, XX = YY = l² m to the link, and is
felt as a mass on the platform at P: one relation per leg. As for a connecting rod it divides the link
between its ends: m = MZ/l goes to the platform, −MZ/l to the slider, −l MZ to XX and YY. 10 per leg,
10 platform: 70, and 76 with rotor masses.

A rotor is felt as ½ I q̇², without weight: apart from the slider, unless the rail is level; then both
are one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from gough.base.arrays import Array
from gough.legs.grouping import PLACE, LegGrouping
from gough.legs.parameters import (
    PARALLEL,
    LegParameters,
    SpecialCase,
    TipMass,
    upright,
    upright_words,
)
from gough.legs.pus.equations import PUS


class PUSParameters(LegParameters[PUS]):
    """The parameters of PUS legs."""

    kind: ClassVar[str] = "PUS"
    carried: ClassVar[tuple[str, ...]] = ("cross",)
    lines: ClassVar[Mapping[str, str]] = {"link": "z"}
    tip: ClassVar[TipMass | None] = TipMass(
        body="link",
        parameter="link MZ",
        symbol="link MZ/l",
        terms={
            "slider M": "− link MZ/l",
            "link XX": "− l link MZ",
            "link YY": "− l link MZ",
        },
    )
    legend: ClassVar[str] = "l: length of the leg's link; (x, y, z): its platform point"

    def opened(self, legs: PUS, leg: int) -> LegGrouping:
        """11 parameters of 30, and the rotor mass."""
        found = LegGrouping.nothing_grouped(PUS.BODIES, self.rotor)
        # in the axes (x, −z, y): YY is the link's ZZ, MZ its MY
        found.hang("link", "cross", ("XX", "ZZ", "MY"))
        slider, mass = found.body("slider"), PLACE["M"]
        slider[mass] += found.body("cross")[mass]
        slider[:mass] = 0.0
        found.keep_about_axis("cross")
        return found

    def tip_places(self, legs: PUS) -> Array:
        """l along the link."""
        return np.asarray(legs.length * [0.0, 0.0, 1.0])

    def special(self, legs: PUS, gravity: Array) -> tuple[SpecialCase, ...]:
        """Rails that are level, and axes that lie along them."""
        axis, rail = legs.axis[..., 0].T, legs.rail_direction[..., 0].T
        level = np.abs(rail @ gravity) <= PARALLEL * float(np.linalg.norm(gravity))
        along = np.linalg.norm(np.cross(axis, rail), axis=1) < PARALLEL
        one = {"slider M": self.rotor}
        words = "rail level: slider and rotor mass are felt as one" if gravity.any() else ""
        return (
            upright_words(legs.axis, gravity),
            SpecialCase(level, words, merged=one),
            SpecialCase(along, "first universal axis parallel to the rail"),
            SpecialCase(along & upright(legs.axis, gravity), silent=("cross MX", "cross MY")),
        )
