"""Robots with limits of geometry, and points of boxes."""

import numpy as np

from gough import Robot
from oracles.random_robot import random_robot


def robot_of(kind, seed, **limits):
    """A random robot whose limits are those of geometry."""
    data = random_robot(np.random.default_rng(seed), kind)
    for name in ("force", "speed"):
        del data["legs"]["limits"][name]
    data["legs"]["limits"] |= limits
    return Robot.from_dict(data)


def sampled(boxes_centre, boxes_half, rng, count):
    """Points in some of the boxes."""
    chosen = rng.integers(len(boxes_centre), size=count)
    return boxes_centre[chosen] + boxes_half[chosen] * rng.uniform(-1, 1, (count, 3))
