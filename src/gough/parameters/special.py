"""What makes a robot special: geometry, gravity or bodies for which fewer parameters are felt."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.legs.parameters import SpecialCase
from gough.model.model import Model
from gough.model.places import alike

FREE = 6
"""Directions in which a platform moves that nothing holds."""
COINCIDE = 1e-9
"""Distance, in length scales of the robot, below which points coincide."""


def special_of_legs(robot: Model) -> tuple[SpecialCase, ...]:
    """Special cases that its legs are, as they stand to gravity and in themselves."""
    gravity = robot.mechanism.gravity[:, 0, 0]
    found = []
    for part in alike(robot):
        around = part.which.start, robot.leg_count - part.which.stop
        for case in part.kind.parameters.special(part.legs, gravity):
            factor = None if case.factor is None else np.pad(case.factor, around)
            found.append(case._replace(which=np.pad(case.which, around), factor=factor))
    return tuple(found)


def special_cases(robot: Model) -> tuple[str, ...]:
    """What is special about a robot, and what it does to the base parameters, in words."""
    found = []
    if not robot.mechanism.gravity.any():
        found.append("no gravity: parameters that are felt by their weight alone have no effect")
    for case in special_of_legs(robot):
        if case.words and case.which.any():
            found.append(f"{_legs(case.which)}: {case.words}")
    if robot.mobility == FREE:
        found += _coinciding(robot)
    for part in alike(robot):
        for name, body in part.legs.named_bodies().items():
            inertia = body.inertia[..., 0]
            if inertia.any() and not inertia[[0, 0, 1], [1, 2, 2]].any():
                found.append(f"{name}: no products of inertia (see essential parameters)")
    return tuple(dict.fromkeys(found))


def _coinciding(robot: Model) -> list[str]:
    """6-3 and 3-3 geometries: they have as many base parameters as others."""
    places = [("platform", 0, robot.mechanism.points[..., 0].T)]
    for part in alike(robot):
        joints = part.kind.parameters.fixed_joints(part.legs)
        places += [(name, part.which.start, where) for name, where in joints.items()]
    found = []
    for place, first, where in places:
        apart = np.linalg.norm(where[:, np.newaxis] - where, axis=-1)
        pairs = np.argwhere(np.triu(apart < COINCIDE * robot.length_scale, 1)) + first + 1
        if len(pairs):
            shown = ", ".join(f"{i} and {j}" for i, j in pairs)
            found.append(f"{place} points coincide, legs {shown}: no fewer base parameters")
    return found


def _legs(which: Array) -> str:
    """Which legs: "all legs", or "leg 1, 3"."""
    numbers = ", ".join(str(i + 1) for i in np.flatnonzero(which))
    return "all legs" if which.all() else f"leg {numbers}"
