"""Eq. 29 beside an independent program."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import gough
from gough.base.arrays import Array
from gough.trajectories import Trajectory

from .equations import equation_29
from .hexaslide import TIME, numbers
from .opened_legs import reference

EVERY = 3
"""The reference is computed at every third of them."""


class Accuracy(NamedTuple):
    """Kim & Ryu's equations along one motion, no friction."""

    motion: gough.Motion
    forces: Array
    program: str
    reference: Array
    """At every `EVERY`-th sample."""
    error: float
    """Largest difference from the reference, N."""
    slender: float
    """The same from the exact model whose links have no inertia about their axis, N."""


def accuracy(robot: gough.Robot, trajectory: Trajectory) -> Accuracy:
    """Eq. 29 against the reference."""
    motion, this = trajectory(TIME), numbers(robot)
    forces = equation_29(this, motion)
    program, right = reference(robot, motion[::EVERY])
    thin = this.link_inertia * np.diag([1.0, 1.0, 0.0])
    exact = robot.edited({"legs.link.inertia": thin}).inverse_dynamics(motion, friction=False)
    error, slender = np.abs(forces[::EVERY] - right), np.abs(forces - exact.forces)
    return Accuracy(motion, forces, program, right, float(error.max()), float(slender.max()))
