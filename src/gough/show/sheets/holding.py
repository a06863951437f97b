"""What holds a robot at home: actuator forces, a flexible platform deflected, and whether it stands."""

from __future__ import annotations

import warnings
from typing import NamedTuple

from gough.base.arrays import Array
from gough.errors import ReachError, UnstableWarning
from gough.model.deflected import deflected
from gough.robot import Robot


class Holding(NamedTuple):
    """At home, at rest."""

    forces: Array
    """Γ (legs,), in the actuators' unit."""
    falls: str
    """Why it cannot stand with locked actuators; empty where it can."""


def can_be_held(robot: Robot) -> bool:
    """Whether actuator forces can be asked for at all: masses known, actuators enough."""
    return not robot.description.missing and not too_few(robot)


def too_few(robot: Robot) -> str:
    """Why the actuators cannot hold the platform; empty where they are enough."""
    count, m = robot.actuator_count, robot.mobility
    if count >= m:
        return ""
    return (
        f"{count} actuators for {m} directions: nothing holds the platform in the other {m - count}"
    )


def holding(robot: Robot) -> Holding:
    """Forces at the static deflection, and a warning where a motion grows by itself there."""
    forces = robot.inverse_dynamics(deflected(robot, robot.home)).forces
    if not (robot.modes or robot.bends):
        return Holding(forces, "")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnstableWarning)
        try:
            robot.natural_frequencies(robot.home)
        except ReachError as error:  # a rod that has left its cylinder
            return Holding(forces, str(error))
    return Holding(forces, " ".join(str(one.message) for one in caught))
