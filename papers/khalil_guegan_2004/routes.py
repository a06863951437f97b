"""The forces along a rest-to-rest motion by five routes."""

from __future__ import annotations

from typing import Any

import numpy as np

import gough
from gough.base.arrays import Array
from gough.formulations import newton_euler, virtual_work
from gough.show.reproduction import load_paper

from .closed_forms import closed_forms
from .robots import ROBOT

peers: Any = load_paper("peers")


def closed(robot: gough.Robot, motion: gough.Motion) -> Array:
    """Eq. 31 at every sample."""
    return np.array([closed_forms(robot, motion[k]).forces for k in range(len(motion))])


def routes() -> Any:
    """Closed form, virtual work, Newton–Euler, Lagrange and Pinocchio."""
    return peers.Routes(
        {"rest to rest": f"{ROBOT}/poses"},
        {
            "Eqs. 31, 32: legs by a recursion in link frames": closed,
            "virtual work, telescopes": lambda robot, motion: (
                virtual_work.inverse_dynamics(robot, motion).forces
            ),
            "Newton–Euler, telescopes": lambda robot, motion: (
                newton_euler.inverse_dynamics(robot, motion, friction=False).forces
            ),
        },
    )
