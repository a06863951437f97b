"""Keys of UPS legs in a robot file, and the numbers they give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from gough.base.keys import METRES, LegVector
from gough.legs.beams import Beams, TelescopeBeamsTable, telescope_beams
from gough.legs.keys import Direction, LegBodies, UniversalLegTable
from gough.legs.measurable import GeometricKey
from gough.legs.reading import LegReader
from gough.legs.ups.equations import UPS


class UPSTable(UniversalLegTable):
    """Universal joint on the base, actuated prismatic joint, spherical joint on the platform."""

    kind: Literal["UPS"]
    runs: ClassVar[Mapping[str, Direction]] = {
        "cylinder": (0.0, -1.0, 0.0),
        "rod": (0.0, 0.0, -1.0),
    }
    base: Annotated[LegVector, METRES] = Field(description="universal joints B_i, m, world")
    cross: LegBodies | None = Field(None, description="link 1, frame 1")
    cylinder: LegBodies | None = Field(None, description="link 2, frame 2")
    rod: LegBodies | None = Field(None, description="link 3, frame 3, whose origin is the tip P")
    beams: TelescopeBeamsTable = TelescopeBeamsTable()


def read(reader: LegReader) -> UPS:
    """The numbers of UPS legs."""
    base = reader.vectors("base")
    axis = reader.universal_axis(lambda tip: tip - base)
    return UPS(
        base=base,
        axis=axis,
        reference=reader.reference(axis),
        rotor_mass=reader.not_negative("rotor_mass"),
        cross=reader.body("cross"),
        cylinder=reader.body("cylinder"),
        rod=reader.body("rod"),
        friction=reader.friction(),
    )


def beams(reader: LegReader, legs: UPS) -> Beams | None:
    """Cylinders and rods that bend."""
    return telescope_beams(reader, legs.cylinder, legs.rod)


def measurable(table: UPSTable) -> tuple[GeometricKey, ...]:
    """Joints on base and platform; the encoder's zero is in no key."""
    return (GeometricKey("base", "point"), GeometricKey("platform", "point"))
