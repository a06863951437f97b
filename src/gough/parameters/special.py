"""What makes a robot special: geometry, gravity or bodies for which fewer parameters are felt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.model.model import Model

PARALLEL = 1e-9
"""Sine below which directions count as parallel, and relative distance below which points coincide."""


class Special(NamedTuple):
    """Special directions, (legs,) booleans each; without gravity the first three are all true."""

    axis_upright: Array
    """First universal axis parallel to gravity: turning about it lifts nothing."""
    rail_level: Array
    """Rail perpendicular to gravity (PUS): weight does not act along it."""
    weightless: Array
    """No gravity."""
    axis_along_rail: Array
    """First universal axis parallel to the rail (PUS)."""


def special_directions(robot: Model) -> Special:
    """Which legs stand in a special way to gravity and to their rail."""
    legs = robot.mechanism.legs
    gravity = robot.mechanism.gravity[:, 0, 0]
    weight = float(np.linalg.norm(gravity))
    down = gravity / weight if weight else np.zeros(3)
    axis = legs.axis[..., 0].T
    rail = legs.rail_direction[..., 0].T if robot.kind == "PUS" else np.zeros_like(axis)
    along = np.linalg.norm(np.cross(axis, rail), axis=1) < PARALLEL
    return Special(
        axis_upright=np.linalg.norm(np.cross(axis, down), axis=1) < PARALLEL,
        rail_level=np.abs(rail @ down) < PARALLEL,
        weightless=np.full(robot.leg_count, weight == 0),
        axis_along_rail=along & (robot.kind == "PUS"),
    )


def special_cases(robot: Model) -> tuple[str, ...]:
    """What is special about a robot, and what it does to the base parameters, in words."""
    special = special_directions(robot)
    found = []
    if special.weightless.all():
        found.append("no gravity: parameters that are felt by their weight alone have no effect")
    else:
        found += _of_legs(
            special.axis_upright,
            "first universal axis parallel to gravity: weight does not turn the cross",
        )
        if robot.kind == "PUS":
            found += _of_legs(
                special.rail_level, "rail level: slider and rotor mass are felt as one"
            )
    found += _of_legs(special.axis_along_rail, "first universal axis parallel to the rail")
    found += _coinciding(robot)
    for body in robot.mechanism.legs.BODIES:
        inertia = getattr(robot.mechanism.legs, body).inertia[..., 0]
        if inertia.any() and not inertia[[0, 0, 1], [1, 2, 2]].any():
            found.append(f"{body}: no products of inertia (see essential parameters)")
    return tuple(found)


def _coinciding(robot: Model) -> list[str]:
    """6-3 and 3-3 geometries: they have as many base parameters as others."""
    mechanism = robot.mechanism
    points = {"platform": mechanism.points[..., 0].T}
    if robot.kind == "UPS":
        points["base"] = mechanism.legs.base[..., 0].T
    found = []
    for place, where in points.items():
        apart = np.linalg.norm(where[:, np.newaxis] - where, axis=-1)
        pairs = np.argwhere(np.triu(apart < PARALLEL * robot.length_scale, 1)) + 1
        if len(pairs):
            shown = ", ".join(f"{i} and {j}" for i, j in pairs)
            found.append(f"{place} points coincide, legs {shown}: no fewer base parameters")
    return found


def _of_legs(which: Array, what: str) -> list[str]:
    if not which.any():
        return []
    numbers = ", ".join(str(i + 1) for i in np.flatnonzero(which))
    return [f"{'all legs' if which.all() else 'leg ' + numbers}: {what}"]
