"""Keys of PUS legs in a robot file, and the numbers they give."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from gough.base.arrays import Array
from gough.base.keys import METRES, LegScalar, LegVector
from gough.legs.beams import Beams, LinkBeamsTable, link_beams
from gough.legs.keys import Branch, LegBodies, UniversalLegTable
from gough.legs.measurable import GeometricKey
from gough.legs.parameters import PARALLEL
from gough.legs.pus.equations import PUS, reach
from gough.legs.reading import LegReader, perpendicular


class PUSTable(UniversalLegTable):
    """Actuated slider on a rail, universal joint, link of fixed length, spherical joint."""

    kind: Literal["PUS"]
    rail_origin: Annotated[LegVector, METRES] = Field(
        description="the slider's universal joint at q = 0, m, world"
    )
    rail_direction: LegVector = Field(description="of growing q; made unit length")
    length: Annotated[LegScalar, METRES] = Field(description="of the link, m")
    branch: Branch = Field("minus", description="q = a·d ∓ √…")
    slider: LegBodies | None = Field(None, description="frame in world axes at the universal joint")
    cross: LegBodies | None = Field(None, description="z along axis, x towards the link")
    link: LegBodies | None = Field(None, description="z along the link, y along link × axis")
    beams: LinkBeamsTable = LinkBeamsTable()


def read(reader: LegReader) -> PUS:
    """The numbers of PUS legs; `axis` and what follows from it once the rest is known."""
    length = reader.positive("length")
    sign = reader.signs("branch")
    origin, direction = reader.vectors("rail_origin"), reader.unit("rail_direction")

    def along(tip: Array) -> Array:
        """The links at home."""
        with np.errstate(invalid="ignore"):
            q, radicand = reach(origin, direction, length, sign, tip)
        if np.any(radicand <= 0):
            leg, axis = reader.worst(radicand), f"{reader.where}.axis"
            raise reader.fail(f"leg {leg} cannot reach the home pose, and {axis} is missing")
        return np.asarray(tip - origin - q * direction)

    axis = reader.universal_axis(along)
    reference = reader.reference(axis)
    return PUS(
        rail_origin=origin,
        rail_direction=direction,
        length=length,
        sign=sign,
        axis=axis,
        reference=reference,
        guide_normal=guide_normal(axis, direction, reference),
        rotor_mass=reader.not_negative("rotor_mass"),
        slider=reader.body("slider"),
        cross=reader.body("cross"),
        link=reader.body("link"),
        friction=reader.friction(),
    )


def guide_normal(axis: Array, direction: Array, reference: Array) -> Array:
    """u of the guide: axis made perpendicular to the rail, reference where they are parallel."""
    normal, sine = perpendicular(axis, direction)
    return np.asarray(np.where(sine < PARALLEL, reference, normal))


def beams(reader: LegReader, legs: PUS) -> Beams | None:
    """Links that bend."""
    return link_beams(reader, legs.link, legs.length)


def measurable(table: PUSTable) -> tuple[GeometricKey, ...]:
    """Rail, link and joint on the platform; the rail's origin is where q = 0."""
    return (
        GeometricKey("rail_origin", "point"),
        GeometricKey("rail_direction", "direction"),
        GeometricKey("length", "length"),
        GeometricKey("platform", "point"),
    )
