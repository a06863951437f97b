"""A robot as solid parts: made once, then only put where a motion has them.

Drawings, pages and the studio show the same parts in the same colours. Every part is a mesh in a
frame of its own; bodies that grow along a motion are stretched along its z.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gough.base.arrays import Array, unit
from gough.model.mesh_places import mesh_places
from gough.model.places import AlikeLegs, PlacedLegs, bodies, placed_legs, tips
from gough.motion import Motion
from gough.show.colors import DARK, GREY, PALE, SKY, leg_color
from gough.show.layout import SceneLayout
from gough.show.meshes import coarse
from gough.show.solids import SurfaceMesh, ball, bar, bars, block, slab, turns_from_z, wxyz

if TYPE_CHECKING:
    from gough.robot import Robot

FLAT = 0.05
"""Part of the robot's size within which tips are in the plane of the feet."""
STEEL, IVORY = "#AEB4BC", "#E8EAED"
BALLS = {"universal": (0.0205, DARK), "spherical": (0.0175, IVORY)}
"""Joints that are drawn as balls: radius over the robot's size, colour."""


class Part(NamedTuple):
    """A solid of a robot, in its own frame."""

    name: str
    """Of the body or joint: "rod", "spherical joint", "rail", "base", "platform"."""
    leg: int | None
    """From 0; None of what belongs to no leg."""
    color: str
    mesh: SurfaceMesh
    length: float = 1.0
    """Of the mesh along its z, m: what a stretched part is measured by."""


class PartPlaces(NamedTuple):
    """Where parts are, batch axes first."""

    position: Array
    """(..., parts, 3), world, m."""
    turn: Array
    """(..., parts, 4): unit quaternions, scalar first."""
    stretch: Array
    """(..., parts): along each part's z."""


def standing_parts(layout: SceneLayout) -> list[Part]:
    """What does not move, in world axes: a base plate, or rails and the frame that holds them."""
    stands, size = layout.ground, layout.size
    first, last = stands[:, 0], stands[:, 1]
    rails = np.linalg.norm(last - first, axis=-1) > 0
    if not rails.any() and not _in_one_plane(layout, first):
        mesh = slab(first, 0.025 * size, 0.05 * size, down=-layout.up)
        return [Part("base", None, PALE, mesh)]
    order = _around(first)
    loops = [one[order] for one in (first, last)]
    starts = np.concatenate(loops)
    stops = np.concatenate([np.roll(one, -1, axis=0) for one in loops])
    apart = np.linalg.norm(stops - starts, axis=-1) > 1e-6 * size
    frame = bars(starts[apart], stops[apart], 0.0025 * size)
    return [
        Part("frame", None, PALE if rails.any() else GREY, frame),
        *(
            Part("rail", leg, GREY, bars(first[[leg]], last[[leg]], 0.008 * size))
            for leg in np.flatnonzero(rails).tolist()
        ),
    ]


def _in_one_plane(layout: SceneLayout, feet: Array) -> bool:
    """A plate through the feet would hide legs that move in its plane."""
    normal = np.linalg.svd(np.concatenate([feet - feet.mean(axis=0), np.zeros((3, 3))]))[2][-1]
    away = (tips(layout.legs) - feet.mean(axis=0)) @ normal
    return bool(np.abs(away).max() < FLAT * layout.size)


def _around(points: Array) -> Array:
    """Order of points by their angle about their middle, in the plane in which they spread most."""
    spread = points - points.mean(axis=0)
    first, second, _ = np.linalg.svd(np.concatenate([spread, np.zeros((3, 3))]))[2]
    return np.argsort(np.arctan2(spread @ second, spread @ first))


def leg_parts(layout: SceneLayout) -> list[Part]:
    """Bodies and joints of the legs, sized for how they stand at home."""
    size, home, found = layout.size, layout.legs, []
    for alike, one in bodies(home, home, size):
        lengths = np.maximum(np.linalg.norm(one.end - one.start, axis=-1), 1e-3 * size)
        shape, color = (block, DARK) if one.square else (bar, STEEL)
        for leg, length in zip(
            range(alike.which.start, alike.which.stop), lengths.tolist(), strict=True
        ):
            own = leg_color(leg) if one.colored else color
            found.append(Part(one.name, leg, own, shape(one.radius, length), length))
    for alike, joint, driven, _, _ in _joints(home):
        mesh, color = _joint(joint, driven, size)
        name = "driven joint" if driven else f"{joint} joint"
        found += [
            Part(name, leg, color, mesh) for leg in range(alike.which.start, alike.which.stop)
        ]
    return found


def _joints(legs: list[PlacedLegs]) -> Iterator[tuple[AlikeLegs, str, bool, Array, Array]]:
    """Joints that are drawn, legs alike together: legs, kind, driven, points and axes (..., legs, 3)."""
    for one in legs:
        places = one.places
        for i, (joint, driven) in enumerate(zip(places.joints, places.driven, strict=True)):
            if joint != "prismatic":  # its bodies show it
                yield (
                    one.alike,
                    joint,
                    driven,
                    places.points[..., i, :],
                    places.axes[..., i, :],
                )


def _joint(joint: str, driven: bool, size: float) -> tuple[SurfaceMesh, str]:
    """A ball, or of a joint with an axis a short cylinder along it; drives are thicker."""
    if joint in BALLS:
        radius, color = BALLS[joint]
        return ball(radius * size), color
    wide = 0.022 if driven else 0.017
    mesh = bar(wide * size, 0.055 * size)
    middle = SurfaceMesh(mesh.vertices - [0, 0, 0.0275 * size], mesh.faces)
    return middle, DARK if driven else IVORY


def leg_places(layout: SceneLayout, legs: list[PlacedLegs], parts: list[Part]) -> PartPlaces:
    """Where `leg_parts` are with the legs placed so."""
    starts, ends = [], []
    for _, one in bodies(legs, layout.legs, layout.size):
        starts.append(one.start)
        ends.append(one.end)
    start = np.concatenate(starts, axis=-2)
    along = np.concatenate(ends, axis=-2) - start
    own = np.array([part.length for part in parts[: start.shape[-2]]])
    points, axes = [], []
    for *_, point, axis in _joints(legs):
        points.append(point)
        axes.append(axis)
    joint = np.concatenate(points, axis=-2)
    direction = np.concatenate([unit(along), np.concatenate(axes, axis=-2)], axis=-2)
    stretch = np.linalg.norm(along, axis=-1) / own
    return PartPlaces(
        np.concatenate([start, joint], axis=-2),
        turns_from_z(direction),
        np.concatenate([stretch, np.ones(joint.shape[:-1])], axis=-1),
    )


def platform_part(layout: SceneLayout) -> Part:
    """A plate through the platform's joints, in its frame."""
    home = layout.home
    held = (tips(layout.legs) - home.position) @ home.rotation
    return Part("platform", None, SKY, slab(held, 0.014 * layout.size, 0.03 * layout.size))


def mesh_parts(robot: Robot) -> list[Part]:
    """Meshes of the robot file, in their bodies' frames."""
    return [
        Part(
            one.name,
            one.leg,
            SKY if one.leg is None else leg_color(one.leg),
            SurfaceMesh(*coarse(one.vertices, one.faces)),
        )
        for one in robot.meshes
    ]


def robot_parts(robot: Robot, layout: SceneLayout, motion: Motion) -> tuple[list[Part], PartPlaces]:
    """All parts of a robot and where they are along a motion; bodies with meshes are these."""
    shape = motion.shape
    legs = placed_legs(robot, motion, robot.inverse_kinematics(motion))
    standing, moving = standing_parts(layout), leg_parts(layout)
    meshes, platform = mesh_parts(robot), platform_part(layout)
    placed = leg_places(layout, legs, moving)
    turn = wxyz(motion.rotation)
    parts = [*standing, *moving, platform, *meshes]
    still = np.zeros((*shape, len(standing), 3))
    upright = np.broadcast_to([1.0, 0.0, 0.0, 0.0], (*shape, len(standing), 4))
    of_meshes = [
        (np.broadcast_to(place, (*shape, 3)), np.broadcast_to(wxyz(turned), (*shape, 4)))
        for place, turned in mesh_places(robot, motion, robot.meshes)
    ]
    places = PartPlaces(
        np.concatenate(
            [
                still,
                placed.position,
                np.broadcast_to(motion.position, (*shape, 3))[..., None, :],
                *(place[..., None, :] for place, _ in of_meshes),
            ],
            axis=-2,
        ),
        np.concatenate(
            [
                upright,
                placed.turn,
                np.broadcast_to(turn, (*shape, 4))[..., None, :],
                *(turned[..., None, :] for _, turned in of_meshes),
            ],
            axis=-2,
        ),
        np.concatenate(
            [
                np.ones((*shape, len(standing))),
                placed.stretch,
                np.ones((*shape, 1 + len(meshes))),
            ],
            axis=-1,
        ),
    )
    covered = {(one.leg, one.name) for one in robot.meshes}
    first = len(parts) - len(meshes)
    seen = [k for k, one in enumerate(parts) if k >= first or (one.leg, one.name) not in covered]
    return [parts[k] for k in seen], PartPlaces(
        *(one.take(seen, axis=len(shape)) for one in places)
    )
