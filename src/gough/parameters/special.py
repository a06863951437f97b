"""What makes a robot special: geometry, gravity or bodies for which fewer parameters are felt."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.legs.parameters import SpecialCase
from gough.model.model import Model

COINCIDE = 1e-9
"""Distance, in length scales of the robot, below which points coincide."""


def special_of_legs(robot: Model) -> tuple[SpecialCase, ...]:
    """Special cases that its legs are, as they stand to gravity and in themselves."""
    mechanism = robot.mechanism
    return robot.leg_kind.parameters.special(mechanism.legs, mechanism.gravity[:, 0, 0])


def special_cases(robot: Model) -> tuple[str, ...]:
    """What is special about a robot, and what it does to the base parameters, in words."""
    found = []
    if not robot.mechanism.gravity.any():
        found.append("no gravity: parameters that are felt by their weight alone have no effect")
    for case in special_of_legs(robot):
        if case.words and case.which.any():
            found.append(f"{_legs(case.which)}: {case.words}")
    found += _coinciding(robot)
    for body in robot.mechanism.legs.BODIES:
        inertia = getattr(robot.mechanism.legs, body).inertia[..., 0]
        if inertia.any() and not inertia[[0, 0, 1], [1, 2, 2]].any():
            found.append(f"{body}: no products of inertia (see essential parameters)")
    return tuple(found)


def _coinciding(robot: Model) -> list[str]:
    """6-3 and 3-3 geometries: they have as many base parameters as others."""
    mechanism = robot.mechanism
    joints = robot.leg_kind.parameters.fixed_joints(mechanism.legs)
    found = []
    for place, where in {"platform": mechanism.points[..., 0].T, **joints}.items():
        apart = np.linalg.norm(where[:, np.newaxis] - where, axis=-1)
        pairs = np.argwhere(np.triu(apart < COINCIDE * robot.length_scale, 1)) + 1
        if len(pairs):
            shown = ", ".join(f"{i} and {j}" for i, j in pairs)
            found.append(f"{place} points coincide, legs {shown}: no fewer base parameters")
    return found


def _legs(which: Array) -> str:
    """Which legs: "all legs", or "leg 1, 3"."""
    numbers = ", ".join(str(i + 1) for i in np.flatnonzero(which))
    return "all legs" if which.all() else f"leg {numbers}"
