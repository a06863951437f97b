"""Legs that bend: sections and material of their links, cylinders and rods, from [legs.beams].

A member is a straight beam of even section and mass, alike in all directions across it (a tube, a bar,
a square): bending stiffness E I, axial stiffness E A. Its mass per length μ is ρ A, or, without a
density, the largest that leaves the body's rest possible. With s from the member's own joint along
it, a body has

    B = ∫ [1 s; s s²] dm = [M  S; S  J],   a beam of length l  μ C,  C = [l  l²/2; l²/2  l³/3]

and B − μ C ≥ 0 up to μ = 1/λ_max(B⁻¹ C), which is M/l of an even rod. What a body has beyond its beam
(fittings, joints) moves as the rigid leg does.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator
from scipy import linalg

from gough.base.arrays import Array
from gough.base.keys import METRES, LegScalar, Table
from gough.legs.reading import LegReader
from gough.mechanics.body import Body, second_moments

MORE = 0.01
"""By how much of itself a beam may have more mass than its body: densities are rounded."""
MOST = 20
"""Modes of a leg in a plane, at most."""


class BeamTable(Table):
    """Section and material of a member: a round tube by its diameters, or any by A and I."""

    young: LegScalar = Field(description="E, Pa")
    outer_diameter: Annotated[LegScalar, METRES] = Field(None, description="of a round tube, m")
    inner_diameter: Annotated[LegScalar, METRES] = Field(0.0, description="m; 0 of a bar")
    area: LegScalar = Field(None, description="of any other section, m²")
    second_moment: LegScalar = Field(
        None, description="I of that section, m⁴, the same about all axes across the member"
    )
    density: LegScalar = Field(
        None, description="ρ, kg/m³; default: the body's mass, as evenly as its inertia allows"
    )

    @model_validator(mode="after")
    def _sane(self) -> Self:
        round_, other = self.outer_diameter is not None, self.area is not None
        if round_ == other or (self.second_moment is not None) != other:
            raise ValueError("needs outer_diameter, or area and second_moment")
        if not round_ and np.any(self.inner_diameter):
            raise ValueError("inner_diameter without outer_diameter")
        for key in ("young", "outer_diameter", "area", "second_moment", "density"):
            value = getattr(self, key)
            if value is not None and np.any(np.asarray(value) <= 0):
                raise ValueError(f"{key} must be positive")
        if np.any(np.asarray(self.inner_diameter) < 0):
            raise ValueError("inner_diameter is negative")
        return self


class LongBeamTable(BeamTable):
    """The same of a member whose length no other key says."""

    length: Annotated[LegScalar, METRES] = Field(description="of the member, m")


class BeamsTable(Table):
    """Members of legs that bend."""

    modes: int = Field(3, ge=0, le=MOST, description="of a leg in each of two planes")


class LinkBeamsTable(BeamsTable):
    """Legs with a link of fixed length."""

    link: BeamTable | None = Field(None, description="default rigid")


class TelescopeBeamsTable(BeamsTable):
    """Legs with a rod that slides in a cylinder."""

    cylinder: LongBeamTable | None = Field(None, description="from the universal joint on")
    rod: LongBeamTable | None = Field(None, description="to the spherical joint")

    @model_validator(mode="after")
    def _both(self) -> Self:
        if (self.cylinder is None) != (self.rod is None):
            raise ValueError("needs cylinder and rod, or neither: they bend as one")
        return self


class Member(NamedTuple):
    """A beam of each leg, (legs,) each."""

    bending: Array
    """E I, N m²."""
    axial: Array
    """E A, N."""
    line_mass: Array
    """μ, kg/m."""
    mass: Array
    """Of the whole body, kg."""
    length: Array
    """m."""


class Beams(NamedTuple):
    """The members of a group of legs, from the universal joint to the spherical one."""

    bodies: tuple[str, ...]
    """Their names, of `Leg.BODIES`: a link, or a cylinder from the one joint and a rod to the other."""
    members: tuple[Member, ...]
    modes: int
    """Of a leg in each of two planes."""

    @property
    def stiffness(self) -> Array:
        """k = E A/l (legs,) along the leg, N/m, of the member that the actuator pushes.

        That is the link or the rod: what drives a rod stands on the cylinder's foot.
        """
        last = self.members[-1]
        return np.asarray(last.axial / last.length)


def link_beams(reader: LegReader, link: Body, length: Array) -> Beams | None:
    """Of legs with a link (…, legs, 1) along z of its frame, whose length is (legs, 1)."""
    table = reader.table.beams
    if table.link is None:
        return None
    member = _member(reader, table.link, "link", link, (0, 0, 1), length[:, 0])
    return Beams(("link",), (member,), table.modes)


def telescope_beams(reader: LegReader, cylinder: Body, rod: Body) -> Beams | None:
    """Of telescopes: a cylinder along −y of its frame, a rod that comes from −z of its own."""
    table = reader.table.beams
    if table.rod is None:
        return None
    members = []
    for key, one, body, along in (
        ("cylinder", table.cylinder, cylinder, (0, -1, 0)),
        ("rod", table.rod, rod, (0, 0, -1)),
    ):
        where = f"{reader.where}.beams.{key}"
        length = reader.per_leg("length", 0, one, where)
        if np.any(length <= 0):
            raise reader.fail(f"{where}.length of leg {reader.worst(length)} is not positive")
        members.append(_member(reader, one, key, body, along, length))
    return Beams(("cylinder", "rod"), tuple(members), table.modes)


def _member(
    reader: LegReader,
    table: BeamTable,
    key: str,
    body: Body,
    along: tuple[int, int, int],
    length: Array,
) -> Member:
    """The beams of each leg's body, which lies `along` from its frame's origin."""
    where = f"{reader.where}.beams.{key}"

    def given(name: str) -> Array:
        return np.asarray(reader.per_leg(name, 0, table, where))

    if table.area is not None:
        area, second = given("area"), given("second_moment")
    else:
        outer, inner = given("outer_diameter"), given("inner_diameter")
        if np.any(inner >= outer):
            leg = reader.worst(outer - inner)
            raise reader.fail(f"{where}: inner_diameter of leg {leg} is not below outer_diameter")
        area, second = np.pi / 4 * (outer**2 - inner**2), np.pi / 64 * (outer**4 - inner**4)
    young, axis = given("young"), np.array(along)
    mass = body.mass[:, 0]
    first = np.tensordot(axis, body.first_moment[..., 0], 1)
    square = np.einsum("i,ijl,j->l", axis, second_moments(body.inertia)[..., 0], axis)
    even = np.array([_even(*one) for one in zip(mass, first, square, length, strict=True)])
    missing = f"{reader.where}.{key}" in reader.missing
    if table.density is None:
        line = even
        if np.any(line <= 0) and not missing and reader.table.beams.modes:
            raise reader.fail(
                f"{reader.where}.{key} of leg {reader.worst(line)} has no mass that its beam could "
                f"carry along its length: give its inertia, or {reader.where}.beams.modes = 0"
            )
    else:
        line = given("density") * area
        if np.any(line > (1 + MORE) * even) and not missing:
            leg = reader.worst(even - line)
            at = leg - reader.first - 1
            raise reader.fail(
                f"{where}: density of leg {leg} gives its beam {line[at]:.4g} kg/m, and the mass and "
                f"inertia of {reader.where}.{key} leave room for {even[at]:.4g}"
            )
    return Member(young * second, young * area, line, mass, np.array(length))


def _even(mass: float, first: float, square: float, length: float) -> float:
    """The largest μ with B − μ C ≥ 0, kg/m."""
    body = np.array([[mass, first / length], [first / length, square / length**2]])
    if not np.linalg.eigvalsh(body)[0] > 1e-9 * np.trace(body):
        return 0.0
    beam = length * np.array([[1, 1 / 2], [1 / 2, 1 / 3]])
    return float(1 / linalg.eigh(beam, body, eigvals_only=True)[-1])
