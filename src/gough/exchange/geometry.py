"""Simple shapes of a robot's bodies for other programs: what gough's own pictures show."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.exchange.opened import PLATFORM, OpenedRobot
from gough.model.places import bodies, ground, placed_legs, tips

PLATE = 0.012
"""Radius of the spokes that stand for a platform, in parts of the robot's size."""
SHORT = 1e-3
"""What is shorter, in such parts, is not drawn."""


class Piece(NamedTuple):
    """A straight piece of a body, world axes at home, m."""

    start: Array
    end: Array
    radius: float
    square: bool
    color: tuple[float, float, float]
    """Red, green and blue, 0 to 1."""


GREY, BLUE, ORANGE = (0.55, 0.55, 0.55), (0.34, 0.71, 0.91), (0.84, 0.37, 0.0)


def drawn(tree: OpenedRobot) -> dict[str, list[Piece]]:
    """Pieces by the names of bodies; those without a name stand still."""
    robot, home = tree.robot, tree.home
    legs = robot.inverse_kinematics(home)
    placed = placed_legs(robot, home, legs)
    stands, held = ground(robot, legs.q), tips(placed)
    points = [stands, held, home.position[np.newaxis], *(one.places.points for one in placed)]
    everything = np.concatenate([np.reshape(one, (-1, 3)) for one in points])
    size = float(np.max(np.ptp(everything, axis=0)))
    found: dict[str, list[Piece]] = {"": [], PLATFORM: []}
    found |= {body.name: [] for body in tree.bodies}
    for group, bar in bodies(placed, placed, size):
        for i, (start, end) in enumerate(zip(bar.start, bar.end, strict=True)):
            name = f"leg{group.which.start + i + 1}_{bar.part_of}"
            color = ORANGE if bar.colored else GREY
            if name in found:
                found[name].append(Piece(start, end, bar.radius, bar.square, color))
    found[""] += [Piece(start, end, 0.5 * PLATE * size, False, GREY) for start, end in stands]
    middle = held.mean(axis=0)
    found[PLATFORM] += [Piece(middle, tip, PLATE * size, False, BLUE) for tip in held]
    shortest = SHORT * size
    return {
        name: [one for one in pieces if np.linalg.norm(one.end - one.start) > shortest]
        for name, pieces in found.items()
    }
