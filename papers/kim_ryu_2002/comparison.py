"""Eq. 29 beside an independent program."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import gough
from gough.base.arrays import Array
from gough.formulations import virtual_work
from gough.show.reproduction import load_paper
from gough.trajectories import Trajectory

from .equations import equation_29
from .hexaslide import NAME, TIME, numbers

peers: Any = load_paper("peers")
EVERY = 10
"""The reference is computed at every tenth of the paper's times."""


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


def accuracy(robot: gough.Robot, trajectory: Trajectory, case: str) -> Accuracy:
    """Eq. 29 against the reference of a case."""
    motion, this = trajectory(TIME), numbers(robot)
    forces = equation_29(this, motion)
    found = peers.beside("pinocchio", case)
    thin = this.link_inertia * np.diag([1.0, 1.0, 0.0])
    exact = robot.edited({"legs.link.inertia": thin}).inverse_dynamics(motion, friction=False)
    error, slender = np.abs(forces[::EVERY] - found.values), np.abs(forces - exact.forces)
    return Accuracy(
        motion, forces, found.label, found.values, float(error.max()), float(slender.max())
    )


def routes() -> Any:
    """The forces by Eq. 29, by virtual work, by Lagrange and by Pinocchio."""
    return peers.Routes(
        {
            "circle, 40 rpm": f"{NAME}/circle-40rpm",
            "circle, 120 rpm": f"{NAME}/circle-120rpm",
            "Eq. 33": f"{NAME}/acceleration",
        },
        {
            "Kim & Ryu, Eq. 29 corrected, slender links": lambda robot, motion: equation_29(
                numbers(robot), motion
            ),
            "virtual work (Sinatra, Xi & Staicu)": lambda robot, motion: (
                virtual_work.inverse_dynamics(robot, motion).forces
            ),
        },
    )
