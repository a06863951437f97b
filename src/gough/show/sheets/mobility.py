"""How a platform moves, what holds it and what drives it: in words for sheets and pages."""

from __future__ import annotations

from typing import Any

import numpy as np

from gough.base.arrays import Array
from gough.legs.reading import actuator_names, by_units
from gough.legs.units import LegUnits
from gough.model.places import alike
from gough.model.standing import standing
from gough.robot import Robot

Fact = tuple[str, str]
"""A name and what it is."""


def legs(robot: Robot) -> list[Fact]:
    """Every group of legs: which, what joints, what it is; passive ones are said to be so."""
    found = []
    for one in alike(robot):
        first, last = one.which.start + 1, one.which.stop
        numbers = f"leg {first}" if first == last else f"legs {first} to {last}"
        words = f"{one.name}: {one.kind.summary}"
        if not one.legs.holders:
            words += "; passive"
        if np.isfinite(robot.leg_stiffness[one.which]).any():
            words += "; bends"
        found.append((numbers, words))
    return found


def freedom(robot: Robot) -> list[Fact]:
    """In which directions the platform moves, what holds it in the others, and how it is driven."""
    m, names = robot.mobility, ", ".join(robot.coordinates)
    moves = f"in {m} of 6 directions; coordinates {names}" if m < 6 else "in all 6 directions"
    found = [("moves", moves)]
    holds = _holds(robot)
    if holds:
        found.append(("held", holds))
    found.append(("driven", _driven(robot)))
    return found


def constraint_count(robot: Robot) -> int:
    """Conditions that legs and mobility put on the platform at home."""
    if robot.description.home is None:
        return 0
    return int(standing(robot, robot.home).held.shape[1])


def _holds(robot: Robot) -> str:
    taken, count = 6 - robot.mobility, constraint_count(robot)
    if not count:
        return ""
    said = robot.description.mobility
    own = robot.mechanism.mobility
    by_file = 0 if own is None else own.directions.shape[1]
    who = [f"mobility {said}"] if by_file else []
    who += ["legs"] if count > by_file else []
    text = f"in {taken} direction{'s' * (taken != 1)} by {' and '.join(who)}"
    if count > taken:
        text += (
            f": over-constrained, {count} conditions for {taken}; actuator forces are unique, joint "
            "reactions are the least of many"
        )
    return text


def _driven(robot: Robot) -> str:
    actuators, m = robot.actuators, robot.mobility
    parts = by_units(actuators)
    text = f"by {len(actuators)} actuators ({', '.join(_measured(*one) for one in parts)})"
    text = text if actuators else "by no actuator"
    if len({one.leg for one in actuators}) < len(actuators):
        text += f": {', '.join(actuator_names(actuators))}"
    if len(actuators) > m:
        text += f"; redundant, {len(actuators)} for {m} directions: forces are the least"
    if len(actuators) < m:
        text += f"; too few for {m} directions: forces cannot hold it"
    return text


def _measured(units: LegUnits, which: Array) -> str:
    return f"{len(which)} × {units.q}, {units.force}"


def freedom_numbers(robot: Robot) -> dict[str, Any]:
    """The same as numbers."""
    return {
        "mobility": robot.mobility,
        "coordinates": list(robot.coordinates),
        "constraints": constraint_count(robot),
        "actuators": [
            {"leg": one.leg + 1, "q": one.units.q, "force": one.units.force}
            for one in robot.actuators
        ],
        "groups": [
            {
                "kind": one.kind.name,
                "joints": one.name,
                "legs": list(range(one.which.start + 1, one.which.stop + 1)),
                "passive": not one.legs.holders,
            }
            for one in alike(robot)
        ],
    }
