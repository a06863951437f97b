"""Interference along motions: which parts of a robot come nearest to each other, and when.

A leg is the polyline through its joints as pictures show them (`gough.model.places`), with a radius r a
row of capsules. One whose bodies have shapes or meshes is these, cylinders, cones and boxes exactly,
meshes as their convex hulls (`gough.analysis.hulls`), and with a radius above 0 the capsules too: the
nearest counts. The platform counts as its shapes or mesh, or as the plane of the legs' joints on it,
the base as that of their feet: of leg and platform the distance is then how far the leg's foot stands
off the platform's plane, of leg and base how far its tip stands off the base's, less r, on the side
where it is at home. Parts that meet at home, as legs do that share a joint, are left out, and so is a
plane where joints have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from numbers import Real

import numpy as np

from gough.analysis.hulls import MovedPart, corners, part_distances
from gough.analysis.interference import segment_distance
from gough.base.arrays import Array
from gough.base.showing_results import Showing
from gough.description.surfaces import ConvexPart
from gough.errors import InputError
from gough.model.limits import Report, Violation
from gough.model.mesh_places import mesh_places
from gough.model.model import Model
from gough.model.places import placed_legs
from gough.motion import Motion, need_motion

TOUCHING = 1e-9
"""m: legs nearer than that at home share a joint."""
WIDEST = 1e6
"""m: largest radius of a leg, and farthest bound, plane or pivot."""
FLAT = 0.05
"""How far joints may be off their plane, in length scales."""


@dataclass(frozen=True, repr=False)
class Closest(Showing):
    """How near parts come to each other along a motion (...)."""

    pairs: tuple[tuple[str, str], ...]
    """Such as ("leg 1", "leg 2") or ("leg 3", "platform")."""
    distances: Array
    """(..., pairs) m between surfaces; below 0 where they meet."""
    time: Array | None
    """(...) s, if the motion has it."""

    @property
    def where(self) -> tuple[int, ...]:
        """Sample and pair of the least distance: an index into `distances`."""
        found = np.unravel_index(int(np.argmin(self.distances)), self.distances.shape)
        return tuple(int(one) for one in found)

    @property
    def distance(self) -> float:
        """The least, m."""
        return float(self.distances[self.where])

    @property
    def pair(self) -> tuple[str, str]:
        """Who comes nearest."""
        return self.pairs[self.where[-1]]

    @property
    def clear(self) -> bool:
        """Nothing meets."""
        return self.distance > 0

    def __str__(self) -> str:
        sample = self.where[:-1]
        when = ""
        if self.time is not None:
            when = f" at t = {float(self.time[sample]):.6g} s"
        elif sample:
            when = f" at sample {sample}"
        first, second = self.pair
        if self.clear:
            return f"{first} and {second} come nearest: {self.distance:.4g} m{when}"
        return f"{first} and {second} meet: {-self.distance:.4g} m into each other{when}"


@dataclass(frozen=True)
class ReportWithParts(Report):
    """What `check` says where it is told how thick legs are: limits, and parts that meet."""

    closest: Closest

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self.closest}"


def with_parts(report: Report, near: Closest) -> ReportWithParts:
    """A report with every pair that meets as a violation of its first leg."""
    found = list(report.violations)
    axes = tuple(range(near.distances.ndim - 1))
    for i in np.flatnonzero(near.distances.min(axis=axes) <= 0):
        first, second = near.pairs[i]
        own = near.distances[..., i]
        sample = tuple(int(one) for one in np.unravel_index(np.argmin(own), own.shape))
        time = None if near.time is None else float(near.time[sample])
        least = float(own[sample])
        found.append(
            Violation(
                int(first.split()[1]), f"distance from {second}", least, 0.0, -least, sample, time,
                int(np.sum(own <= 0)), "m",
            )
        )  # fmt: skip
    return ReportWithParts(tuple(found), near)


def closest(robot: Model, motion: Motion, *, leg_radius: float = 0.0) -> Closest:
    """Which of a robot's legs, platform and base come nearest to each other along a motion.

    A flexible platform counts as undeformed.

    Args:
        robot: any.
        motion: batch shape (...), with time or without.
        leg_radius: of all legs about the lines through their joints, m. Legs whose bodies have shapes
            or meshes have these besides.

    Example:
        >>> robot = gough.load("kim-ryu-2002")
        >>> circle = gough.trajectories.Circle(robot.home.position, 0.1, rpm=20).sample(101)
        >>> closest(robot, circle, leg_radius=0.01).clear
        True

    """
    need_motion(motion)
    if isinstance(leg_radius, bool) or not isinstance(leg_radius, Real):
        raise InputError(f"leg_radius is a number of metres, not {type(leg_radius).__name__}")
    if not 0 <= leg_radius <= WIDEST:
        raise InputError(f"leg_radius is {str(leg_radius)[:20]} m, must be 0 to {WIDEST:g} m")
    if 0 in motion.shape:
        raise InputError(f"a motion of batch shape {motion.shape} has no samples")
    legs, home = _polylines(robot, motion), _polylines(robot, robot.home)
    solid, solid_home = _parts(robot, motion), _parts(robot, robot.home)
    pairs: list[tuple[str, str]] = []
    found: list[Array] = []

    def compare(i: int, j: int | None) -> None:
        """Leg i and leg j, or the platform (None), at least one of them with bodies."""
        forms, at_home = (
            [_forms(one, parts, lines, leg_radius, thick) for one in (i, j)]
            for parts, lines, thick in ((solid, legs, leg_radius), (solid_home, home, 0.0))
        )
        distances = [
            part_distances(a, b)
            for (a, b), ends in zip(product(*forms), product(*at_home), strict=True)
            if part_distances(*ends)[0] > TOUCHING
        ]
        if distances:
            pairs.append((f"leg {i + 1}", "platform" if j is None else f"leg {j + 1}"))
            found.append(np.min(distances, axis=0).reshape(motion.shape))

    for i, j in combinations(range(len(legs)), 2):
        if i in solid or j in solid:
            compare(i, j)
        elif _apart(home[i], home[j]) > TOUCHING:
            pairs.append((f"leg {i + 1}", f"leg {j + 1}"))
            found.append(_apart(legs[i], legs[j]) - 2 * leg_radius)
    if None in solid:
        for i in range(len(legs)):
            compare(i, None)
    turned = motion.rotation @ robot.home.rotation.T
    for part, near, far, with_it in (("platform", -1, 0, turned), ("base", 0, -1, np.eye(3))):
        if part == "platform" and None in solid:
            continue
        heights = _heights(robot, legs, home, near, far, with_it)
        if heights is not None:
            pairs += [(f"leg {i + 1}", part) for i in range(len(legs))]
            found += [heights[..., i] - leg_radius for i in range(len(legs))]
    if not found:
        raise InputError(f"{robot.name}: no two parts whose distance can be told")
    return Closest(tuple(pairs), np.stack(found, axis=-1), motion.time)


def _parts(robot: Model, motion: Motion) -> dict[int | None, list[MovedPart]]:
    """By leg from 0, None of the platform: the convex parts of its bodies, samples in rows."""
    poses = Motion(motion.position, motion.rotation, time=motion.time)
    if robot.mechanism.legs.coordinates:
        robot.remember(poses, robot.chains_of(motion))
    found: dict[int | None, list[MovedPart]] = {}
    places = mesh_places(robot, poses, robot.meshes)
    for mesh, (place, turn) in zip(robot.meshes, places, strict=True):
        where = np.broadcast_to(place, (*motion.shape, 3)).reshape(-1, 3)
        turned = np.broadcast_to(turn, (*motion.shape, 3, 3)).reshape(-1, 3, 3)
        own = mesh.parts or (_hull(mesh.vertices),)
        found.setdefault(mesh.leg, []).extend(MovedPart.of(one, where, turned) for one in own)
    return found


def _hull(vertices: Array) -> ConvexPart:
    """The convex hull of a mesh."""
    points = corners(vertices)
    return ConvexPart(points, np.zeros_like(points), np.zeros(len(points)))


def _forms(
    part: int | None,
    solid: dict[int | None, list[MovedPart]],
    legs: list[Array],
    leg_radius: float,
    thick: float,
) -> list[list[MovedPart]]:
    """What stands for a leg or the platform (None): its bodies, capsules from joint to joint, or both.

    Capsules have the radius `thick`; a leg with bodies has them too where `leg_radius` is not 0.
    """
    forms = [solid[part]] if part in solid else []
    if part is not None and (leg_radius > 0 or not forms):
        line = legs[part] if legs[part].shape[-2] > 1 else np.repeat(legs[part], 2, axis=-2)
        rows = line.reshape(-1, *line.shape[-2:])
        segments = [rows[:, i : i + 2] for i in range(rows.shape[1] - 1)]
        forms.append([MovedPart.capsule(one, thick) for one in segments])
    return forms


def _polylines(robot: Model, motion: Motion) -> list[Array]:
    """Per leg the points (..., joints, 3) from its foot to its tip."""
    poses = Motion(motion.position, motion.rotation, time=motion.time)
    placed = placed_legs(robot, poses, robot.inverse_kinematics(poses))
    return [
        one.places.points[..., leg, :, :] for one in placed for leg in range(one.alike.legs.count)
    ]


def _apart(first: Array, second: Array) -> Array:
    """Distance (...) of two polylines (..., joints, 3); a leg that is one joint is a point."""
    a, b = (one if one.shape[-2] > 1 else np.repeat(one, 2, axis=-2) for one in (first, second))
    found = [
        segment_distance(a[..., i, :], a[..., i + 1, :], b[..., j, :], b[..., j + 1, :])
        for i in range(a.shape[-2] - 1)
        for j in range(b.shape[-2] - 1)
    ]
    return np.asarray(np.min(found, axis=0))


def _heights(
    robot: Model, legs: list[Array], home: list[Array], near: int, far: int, turned: Array
) -> Array | None:
    """(..., legs): how far the legs' far ends stand off the plane of their near ends, on home's side.

    The plane has turned since home; None where the near ends, or a far one, do not tell it.
    """
    at_home = np.stack([one[near, :] for one in home])
    _, sizes, axes = np.linalg.svd(at_home - at_home.mean(axis=0))
    scale = robot.length_scale
    if len(home) < 3 or sizes[1] < FLAT * scale or sizes[2] > FLAT * scale:
        return None
    normal = axes[2]
    own = np.stack([one[far, :] for one in home])
    side = np.sign((own - at_home.mean(axis=0)) @ normal)
    if np.any(side == 0):
        return None
    points = np.stack([one[..., near, :] for one in legs], axis=-2)
    ends = np.stack([one[..., far, :] for one in legs], axis=-2)
    off = ends - points.mean(axis=-2, keepdims=True)
    return np.asarray(np.einsum("...li,...i->...l", off, turned @ normal) * side)
