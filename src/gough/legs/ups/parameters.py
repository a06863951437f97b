"""Which parameters of a UPS leg are felt: Khalil & Guegan 2004, Section VI, corrected.

An open leg. Cross, cylinder, rod are links 1, 2, 3. Rod and cylinder turn together, so the rod's
tensor is grouped with the cylinder's (rule 2). The cylinder turns on the cross about z2, so its YY, MZ
and M are grouped with its XX and with the cross (rule 1). The cross turns about a fixed axis, so of it
only ZZ, MX, MY are felt (rule 3). 30 → 14 parameters. Closed: the rod's frame sits at the tip P, which
is a point of the platform too, so its mass is felt as a mass on the platform there. 13 per leg, 10
platform: 88, and 94 with rotor masses.

A rotor is felt as ½ I q̇², without weight: apart from the rod, which turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from gough.base.arrays import Array
from gough.legs.grouping import LegGrouping, prismatic
from gough.legs.parameters import LegParameters, SpecialCase, TipMass, upright, upright_words
from gough.legs.ups.equations import UPS

ACROSS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""²R₃: frame 3's axes in frame 2 (α = π/2, θ = 0)."""


class UPSParameters(LegParameters[UPS]):
    """The parameters of UPS legs."""

    kind: ClassVar[str] = "UPS"
    felt_as: ClassVar[Mapping[str, str]] = {"screw_drag": "slider_coulomb"}
    """Both are constant forces against q̇."""
    carried: ClassVar[tuple[str, ...]] = ("cross",)
    lines: ClassVar[Mapping[str, str]] = {"cylinder": "y", "rod": "z"}
    tip: ClassVar[TipMass | None] = TipMass(body="rod", parameter="rod M", symbol="rod M")

    def opened(self, legs: UPS, leg: int) -> LegGrouping:
        """Eqs. 44–50: 14 parameters of 30, and the rotor mass."""
        found = LegGrouping.nothing_grouped(UPS.BODIES, self.rotor)
        cylinder, rod = found.body("cylinder"), found.body("rod")
        cylinder[:6] += prismatic(ACROSS) @ rod[:6]
        rod[:6] = 0.0
        found.hang("cylinder", "cross", ("XX", "YY", "MZ"))
        found.keep_about_axis("cross")
        return found

    def tip_places(self, legs: UPS) -> Array:
        """Frame 3 sits at P."""
        return np.zeros((legs.base.shape[1], 3))

    def special(self, legs: UPS, gravity: Array) -> tuple[SpecialCase, ...]:
        """Cross and cylinder are felt by their weight: on an upright axis and without gravity less."""
        weightless = np.full(legs.base.shape[1], not gravity.any())
        return (
            upright_words(legs.axis, gravity),
            SpecialCase(upright(legs.axis, gravity), silent=("cross MX", "cross MY")),
            SpecialCase(weightless, silent=("cylinder MX", "cylinder MY")),
        )

    def fixed_joints(self, legs: UPS) -> Mapping[str, Array]:
        """The universal joints B_i."""
        return {"base": legs.base[..., 0].T}
