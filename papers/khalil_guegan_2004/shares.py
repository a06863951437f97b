"""What the legs ask of the actuators along a rest-to-rest motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import gough
from gough.base.arrays import Array
from gough.data.paper_motions import paper_motion

from .robots import ROBOT, without_legs


class Share(NamedTuple):
    """Actuator forces along a rest-to-rest motion, and what the legs ask for, N."""

    time: Array
    total: Array
    inertia: Array
    """Inertia of legs and rotors, Coriolis and centrifugal terms included."""
    legs: Array
    """All the legs ask for: the same and their weight."""


def leg_share(robot: gough.Robot) -> Share:
    """Forces by cause along the motion of Long, Khalil & Martinet 2014, Section 6.2."""
    motion = paper_motion(f"{ROBOT}/poses").sample(451)
    parts = robot.contributions(motion, friction=False)
    bare = without_legs(robot).inverse_dynamics(motion, friction=False).forces
    time = np.asarray(motion.time)
    return Share(time, parts.total, parts.leg_inertia + parts.leg_coriolis, parts.total - bare)
