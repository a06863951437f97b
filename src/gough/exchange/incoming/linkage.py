"""A mechanism as other programs describe it: a tree of parts with joints, and loops that close it.

A part's frame in the world is T = T_parent T_fixed Π_j M_j(q_j); a joint's motion M_j is given in the
part's own frame, the one nearest to the parent first. SI units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.legs.serial import PlacedMesh, Placement, SerialBody
from gough.legs.tree import NO_FRICTION

JointType = Literal["revolute", "prismatic", "spherical"]
"""Joints with one, one and three coordinates; all others are made of these."""


class LinkageJoint(NamedTuple):
    """One joint of a part, and all that is said of its coordinate."""

    name: str
    type: JointType
    point: Array
    """(3,) on its axis, its centre; m, the part's frame."""
    axis: Array
    """(3,) unit; zeros of a spherical joint."""
    reads: float = 0.0
    """What the coordinate reads where its motion is none."""
    home: float = 0.0
    """What it reads where the file has it rest, before loops are closed."""
    turn: Array = np.eye(3)
    """Of a spherical joint: the rotation there."""
    actuated: bool = False
    free: bool = False
    """It holds nothing: one of six that let a part float."""
    rotor_inertia: float = 0.0
    viscous: float = 0.0
    coulomb: float = 0.0
    stroke: tuple[float, float] | None = None
    force: float | None = None
    speed: float | None = None
    other_friction: Mapping[str, float] = NO_FRICTION
    """By key of a robot file, from files that gough wrote."""


class LinkagePart(NamedTuple):
    """A rigid part."""

    name: str
    parent: int
    """Its number; that of the world, which comes first, is −1."""
    place: Placement
    """In the parent, where the motion of its joints is none."""
    joints: tuple[LinkageJoint, ...]
    inertia: SerialBody
    meshes: tuple[PlacedMesh, ...] = ()


class LoopClosure(NamedTuple):
    """Two parts that the file holds together."""

    name: str
    parts: tuple[int, int]
    places: tuple[Placement, Placement]
    """In the frames of the two parts."""
    rigid: bool
    """The two frames are one; else their origins are, as in a spherical joint."""


class PartFrame(NamedTuple):
    """A frame with a name: a body, a site, a link."""

    part: int
    place: Placement


class Linkage(NamedTuple):
    """What a file says of a mechanism."""

    name: str
    parts: tuple[LinkagePart, ...]
    """Parents before children; the first is the world."""
    loops: tuple[LoopClosure, ...]
    frames: Mapping[str, PartFrame]
    gravity: Array
    left_out: tuple[str, ...]
    """What the file has and a robot file has no place for."""
    coordinates: tuple[str, ...] = ()
    """Names of the platform's coordinates, from files that gough wrote."""
