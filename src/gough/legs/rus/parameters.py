"""Which parameters of a RUS leg are felt, by the reasoning of Khalil & Guegan 2004 for UPS legs.

An open leg. The link turns on the cross as a PUS link does: its ZZ, MY, M are grouped with its XX and
with the cross. The cross turns on the crank about the universal axis k (on the crank's axes) through A,
r along the crank: its YY, MZ and M, which lie on that axis, are grouped with its XX and with the crank.
The crank turns about a fixed axis: of it ZZ, MX, MY are left, and the weight alone feels MX and MY.
30 → 17 parameters: 7 of the link, 7 of the cross, 3 of the crank.

The universal axis along the motor's (its default): the cross turns about one direction only, as the
crank does, so of its tensor ZZ alone is left. 30 → 13 parameters.

Closed: a mass at the tip is felt as one on the platform, as of a PUS leg: m = MZ/l of the link goes to
the platform, −l MZ to its XX and YY, −m at A to the crank: −r² m to ZZ, −r m to MX. One less per leg. A
rotor is felt as the crank's ZZ is. 16 per leg and 10 of the platform: 106, rotors among them; 82 with
axes along the motors'.

Fewer: MX and MY of a crank whose motor is upright, or without gravity. Without gravity and where the
universal axis meets the motor's, at r/k_x from A, the cross turns about this point, which rests: its MX
and MY are felt as −r/k_x of them in XZ and YZ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from gough.base.arrays import Array
from gough.legs.grouping import LegGrouping
from gough.legs.parameters import (
    PARALLEL,
    LegParameters,
    SpecialCase,
    TipMass,
    upright,
)
from gough.legs.rus.equations import RUS


class RUSParameters(LegParameters[RUS]):
    """The parameters of RUS legs."""

    kind: ClassVar[str] = "RUS"
    rotor: ClassVar[str] = "rotor_inertia"
    carried: ClassVar[tuple[str, ...]] = ("cross",)
    lines: ClassVar[Mapping[str, str]] = {"crank": "x", "link": "z"}
    tip: ClassVar[TipMass | None] = TipMass(
        body="link",
        parameter="link MZ",
        symbol="link MZ/l",
        terms={
            "crank ZZ": "− r² link MZ/l",
            "crank MX": "− r link MZ/l",
            "link XX": "− l link MZ",
            "link YY": "− l link MZ",
        },
    )
    legend: ClassVar[str] = (
        "r: length of the leg's crank; k: its universal axis on the crank's axes; "
        "l: length of its link; (x, y, z): its platform point"
    )

    def opened(self, legs: RUS, leg: int) -> LegGrouping:
        """17 parameters of 30, 13 where the universal axis is along the motor's, and the rotor."""
        found = LegGrouping.nothing_grouped(RUS.BODIES, self.rotor)
        # in the axes (x, −z, y): YY is the link's ZZ, MZ its MY
        found.hang("link", "cross", ("XX", "ZZ", "MY"))
        axis = np.array([0.0, 0.0, 1.0]) if along_motor(legs)[leg] else _axes(legs)[leg]
        place = np.array([legs.crank_length[leg, 0], 0.0, 0.0])
        found.hang_on_axis("cross", "crank", axis, place)
        if along_motor(legs)[leg]:
            found.keep_about_axis("cross")
        found.keep_about_axis("crank")
        return found

    def symbols(self, legs: RUS, leg: int) -> Mapping[str, str]:
        """What the crank has got from cross and link."""
        masses = {"ZZ": "r² cross M + r² link M", "MX": "r cross M + r link M"}
        if along_motor(legs)[leg]:
            return {f"crank {key}": f"crank {key} + {mass}" for key, mass in masses.items()}
        return {
            "crank ZZ": f"crank ZZ + {masses['ZZ']} + (k_x² + k_y²) cross YY + 2 r k_x cross MZ",
            "crank MX": f"crank MX + {masses['MX']} + k_x cross MZ",
            "crank MY": "crank MY + k_y cross MZ",
        }

    def tip_places(self, legs: RUS) -> Array:
        """l along the link."""
        return np.asarray(legs.length * [0.0, 0.0, 1.0])

    def special(self, legs: RUS, gravity: Array) -> tuple[SpecialCase, ...]:
        """Axes along the motors', motors that are upright, and axes that meet without gravity."""
        everywhere = np.ones(len(legs.length), dtype=bool)
        along, weight = along_motor(legs), bool(gravity.any())
        k_x, k_y, _ = _axes(legs).T
        meet = ~along & (np.abs(k_y) < PARALLEL) & (np.abs(k_x) >= PARALLEL) & (not weight)
        lever = -legs.crank_length[:, 0] / np.where(meet, k_x, 1.0)
        stands = upright(legs.motor_axis, gravity)
        return (
            SpecialCase(along, "first universal axis parallel to the motor's axis"),
            SpecialCase(everywhere, merged={"crank ZZ": self.rotor}),
            SpecialCase(
                stands & weight, "motor's axis parallel to gravity: weight does not turn the crank"
            ),
            SpecialCase(stands, silent=("crank MX", "crank MY")),
            SpecialCase(
                meet,
                "first universal axis meets the motor's axis",
                merged={"cross MX": "cross XZ", "cross MY": "cross YZ"},
                factor=lever,
                symbol="− r/k_x",
            ),
        )


def along_motor(legs: RUS) -> Array:
    """(legs,) booleans: universal axes along the motors'."""
    return np.asarray(np.linalg.norm(_axes(legs)[:, :2], axis=1) < PARALLEL)


def _axes(legs: RUS) -> Array:
    """k (legs, 3): the universal axes on the cranks' axes."""
    return np.asarray(legs.axis_on_crank[..., 0].T)
