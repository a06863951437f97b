"""Keys of RUS legs under [legs], and their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from gough.base.arrays import Array
from gough.base.keys import INERTIA, METRES, LegScalar, LegVector
from gough.legs.beams import Beams, LinkBeamsTable, link_beams
from gough.legs.keys import Branch, Direction, FrictionTable, LegBodies, LegTable
from gough.legs.measurable import GeometricKey
from gough.legs.reading import PARALLEL, LegReader, perpendicular
from gough.legs.rus.equations import RUS
from gough.legs.units import ROTARY

ROUNDING = 4e-16
"""A component of a unit vector so near 0 or ±1 is that: it makes the equations shorter."""


class MotorFrictionTable(FrictionTable):
    """Friction in legs that a crank on a motor drives."""

    motor_viscous: LegScalar = Field(0.0, description="c_m, N m s/rad")
    motor_coulomb: LegScalar = Field(0.0, description="τ_c, N m")


class RUSTable(LegTable):
    """Crank on a motor, universal joint, link of fixed length, spherical joint."""

    kind: Literal["RUS"]
    runs: ClassVar[Mapping[str, Direction]] = {"crank": (1.0, 0.0, 0.0)}
    motor: Annotated[LegVector, METRES] = Field(
        description="centre of the crank's circle, m, world"
    )
    motor_axis: LegVector = Field(description="right-handed about which q grows; made unit length")
    crank_zero: LegVector = Field(
        description="where the crank points at q = 0; made perpendicular to motor_axis"
    )
    crank_length: Annotated[LegScalar, METRES] = Field(
        description="from the motor's axis to the universal joint, m"
    )
    length: Annotated[LegScalar, METRES] = Field(description="of the link, m")
    branch: Branch = Field("minus", description="q = atan2(d·e2, d·e1) ∓ arccos(…)")
    axis: LegVector = Field(
        None,
        description="universal axis fixed to the crank, as it is at q = 0; default motor_axis",
    )
    reference: LegVector = Field(
        None,
        description="zero of the first universal angle, as it is at q = 0; "
        "default crank_zero made perpendicular to axis",
    )
    rotor_inertia: Annotated[LegScalar, INERTIA] = Field(
        0.0, description="drive inertia felt about q, kg m²"
    )
    crank: LegBodies | None = Field(
        None, description="frame at motor, x along the crank, z along motor_axis"
    )
    cross: LegBodies | None = Field(None, description="z along axis, x towards the link")
    link: LegBodies | None = Field(None, description="z along the link, y along link × axis")
    beams: LinkBeamsTable = LinkBeamsTable()
    friction: MotorFrictionTable = MotorFrictionTable()

    @classmethod
    def own_units(cls, data: Mapping[str, Any]) -> Mapping[str, str]:
        """A motor's."""
        return {"[q]": ROTARY.q}


def read(reader: LegReader) -> RUS:
    """The numbers of RUS legs."""
    motor_axis = reader.unit("motor_axis")
    crank_zero = reader.unit("crank_zero")
    e1, sine = perpendicular(crank_zero, motor_axis)
    if not np.all(sine >= PARALLEL):
        raise reader.fail(
            f"{reader.where}.crank_zero of leg {reader.worst(sine)} is along its motor_axis"
        )
    axis = reader.unit_or("axis", motor_axis)
    reference = reader.reference(axis, e1)
    return RUS(
        motor=reader.vectors("motor"),
        motor_axis=motor_axis,
        crank_zero=crank_zero,
        e1=e1,
        crank_length=reader.positive("crank_length"),
        length=reader.positive("length"),
        sign=reader.signs("branch"),
        axis=axis,
        reference=reference,
        axis_on_crank=on_crank(axis, motor_axis, e1),
        rotor_inertia=reader.not_negative("rotor_inertia"),
        crank=reader.body("crank"),
        cross=reader.body("cross"),
        link=reader.body("link"),
        friction=reader.friction(),
    )


def on_crank(vector: Array, motor_axis: Array, e1: Array) -> Array:
    """Components of unit vectors (3, legs, ...) along u, t, a at q = 0."""
    axes = (e1, np.cross(motor_axis, e1, axis=0), motor_axis)
    along = [np.sum(vector * one, axis=0) for one in axes]
    found = np.stack(np.broadcast_arrays(*along))
    whole = np.rint(found)
    return np.where(np.abs(found - whole) <= ROUNDING, whole, found)


def beams(reader: LegReader, legs: RUS) -> Beams | None:
    """Links that bend."""
    return link_beams(reader, legs.link, legs.length)


def measurable(table: RUSTable) -> tuple[GeometricKey, ...]:
    """Motor, crank, link and joint on the platform; `crank_zero` is where q = 0."""
    return (
        GeometricKey("motor", "point"),
        GeometricKey("motor_axis", "direction"),
        GeometricKey("crank_zero", "turn", "motor_axis"),
        GeometricKey("crank_length", "length"),
        GeometricKey("length", "length"),
        GeometricKey("platform", "point"),
    )
