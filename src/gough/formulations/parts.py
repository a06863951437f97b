"""Numbers of a robot with six links on sliders, leg axis first, components last: no equations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.errors import InputError, MissingDataError
from gough.model.model import Model

if TYPE_CHECKING:
    from gough.mechanics.friction import Friction

LEGS = 6


class BodyParts(NamedTuple):
    """A body about its frame's origin, axes of its frame; a leading leg axis for the legs' bodies."""

    mass: Array
    """(...,), kg."""
    first_moment: Array
    """(..., 3), kg m."""
    inertia: Array
    """(..., 3, 3), kg m²."""

    @property
    def center_of_mass(self) -> Array:
        """(..., 3), m; the origin for a body without mass."""
        mass = self.mass[..., np.newaxis]
        return np.divide(
            self.first_moment, mass, out=np.zeros_like(self.first_moment), where=mass != 0
        )


class Parts(NamedTuple):
    """What the formulations know of a robot; SI units."""

    name: str
    origin: Array
    """Universal joint at q = 0, (legs, 3), world."""
    rail: Array
    """Unit vector a of growing q, (legs, 3), world."""
    length: Array
    """Link length l, (legs,)."""
    sign: Array
    """Branch of q = a·d + sign √…, (legs,)."""
    axis: Array
    """Universal axis α fixed to the slider, unit, (legs, 3), world."""
    reference: Array
    """Zero of φ1, unit, perpendicular to α, (legs, 3), world."""
    rotor_mass: Array
    """Drive inertia felt along q, (legs,), kg."""
    slider: BodyParts
    """Axes of the world."""
    cross: BodyParts
    """z along α, x along the link's direction n made perpendicular to α."""
    link: BodyParts
    """z along n, y along n×α."""
    points: Array
    """Spherical joints, (legs, 3), platform frame."""
    platform: BodyParts
    """Payload included, platform frame."""
    gravity: Array
    """(3,), world, m/s²."""
    friction: Friction
    """Coefficients (legs, 1) each."""
    scale: float
    """Characteristic length of the platform, m."""


def read(robot: Model) -> Parts:
    """The numbers of a robot; refuses what neither paper covers."""
    robot.need_rigid("this formulation")
    robot.need_rigid_drives("this formulation")
    sliding_links = robot.leg_kind.sliding_links
    if sliding_links is None:
        raise InputError(f"{robot.name} has {robot.kind} legs; this formulation is for PUS legs")
    if robot.leg_count != LEGS:
        raise InputError(f"{robot.name} has {robot.leg_count} legs; this formulation needs {LEGS}")
    description = robot.description
    if description.missing:
        lacking = ", ".join(f"[{name}]" for name in description.missing)
        raise MissingDataError(f"{robot.name}: dynamics needs the masses of {lacking}")
    legs = sliding_links(description.legs)
    return Parts(
        name=robot.name,
        origin=_vectors(legs.origin),
        rail=_vectors(legs.rail),
        length=_scalars(legs.length),
        sign=_scalars(legs.sign),
        axis=_vectors(legs.axis),
        reference=_vectors(legs.reference),
        rotor_mass=_scalars(legs.rotor_mass),
        slider=_body(legs.slider, LEGS),
        cross=_body(legs.cross, LEGS),
        link=_body(legs.link, LEGS),
        points=_vectors(description.platform_points),
        platform=BodyParts(*(field[0] for field in _body(description.platform, 1))),
        gravity=description.gravity,
        friction=legs.friction,
        scale=robot.length_scale,
    )


def _scalars(values: Array) -> Array:
    return np.broadcast_to(values[:, 0], (LEGS,))


def _vectors(values: Array) -> Array:
    """(legs, 3) from (3, legs, 1)."""
    return np.broadcast_to(values[..., 0].T, (LEGS, 3))


def _body(body: tuple[Array, Array, Array], count: int) -> BodyParts:
    mass, moment, inertia = body
    return BodyParts(
        np.broadcast_to(mass[:, 0], (count,)),
        np.broadcast_to(moment[..., 0].T, (count, 3)),
        np.broadcast_to(np.moveaxis(inertia[..., 0], -1, 0), (count, 3, 3)),
    )
