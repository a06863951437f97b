"""Numbers of a robot with six links on sliders, or six telescopes, leg axis first, components last.

No equations.
"""

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


class TelescopicParts(NamedTuple):
    """What the formulations know of a robot on telescopes; SI units."""

    name: str
    base: Array
    """Universal joint B, (legs, 3), world."""
    axis: Array
    """Universal axis α fixed to the base, unit, (legs, 3), world."""
    rotor_mass: Array
    """Drive inertia felt along q, (legs,), kg."""
    cross: BodyParts
    """At B: z along α, x along the leg's direction n made perpendicular to α."""
    cylinder: BodyParts
    """At B: y along −n, z along n×α."""
    rod: BodyParts
    """At the tip: z along n, y along n×α."""
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


def read(robot: Model) -> Parts | TelescopicParts:
    """The numbers of a robot; refuses what no formulation covers."""
    robot.need_rigid("this formulation")
    robot.need_rigid_drives("this formulation")
    kind = robot.leg_kind
    if kind.sliding_links is None and kind.telescopes is None:
        raise InputError(
            f"{robot.name} has {robot.kind} legs; this formulation is for PUS and UPS legs"
        )
    if robot.leg_count != LEGS:
        raise InputError(f"{robot.name} has {robot.leg_count} legs; this formulation needs {LEGS}")
    if robot.description.missing:
        lacking = ", ".join(f"[{name}]" for name in robot.description.missing)
        raise MissingDataError(f"{robot.name}: dynamics needs the masses of {lacking}")
    return _sliding(robot) if kind.telescopes is None else _telescopic(robot)


def read_sliding(robot: Model) -> Parts:
    """The numbers of a robot on sliders; refuses all others."""
    parts = read(robot)
    if not isinstance(parts, Parts):
        raise InputError(f"{robot.name} has {robot.kind} legs; this is for PUS legs")
    return parts


def need_no_friction(parts: Parts | TelescopicParts, source: str) -> None:
    """InputError for a robot with friction, of which the source has none."""
    if not parts.friction.none:
        raise InputError(
            f"{parts.name} has friction, of which {source} has none: ask with friction=False"
        )


def _telescopic(robot: Model) -> TelescopicParts:
    description, telescopes = robot.description, robot.leg_kind.telescopes
    assert telescopes is not None
    legs = telescopes(description.legs)
    return TelescopicParts(
        name=robot.name,
        base=_vectors(legs.base),
        axis=_vectors(legs.axis),
        rotor_mass=_scalars(legs.rotor_mass),
        cross=_body(legs.cross, LEGS),
        cylinder=_body(legs.cylinder, LEGS),
        rod=_body(legs.rod, LEGS),
        points=_vectors(description.platform_points),
        platform=BodyParts(*(field[0] for field in _body(description.platform, 1))),
        gravity=description.gravity,
        friction=legs.friction,
        scale=robot.length_scale,
    )


def _sliding(robot: Model) -> Parts:
    description, sliding_links = robot.description, robot.leg_kind.sliding_links
    assert sliding_links is not None
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
