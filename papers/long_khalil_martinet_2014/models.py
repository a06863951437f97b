"""What Fig. 5 and Eqs. 47 to 49 say of the inverse and the direct model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import gough
from gough.base.arrays import Array
from gough.show.reproduction import relative_error

from .modes import with_body
from .simulation import Run


class Agreement(NamedTuple):
    """Largest |V̇ − V̇ᵈ| along the path, of V̇ᵈ's largest: right and wrong models in the loop."""

    right: float
    both_wrong: float
    """Both models with a plate a tenth too stiff."""
    one_wrong: float
    """The inverse model alone with that plate."""
    forces: float
    """Largest error of the wrong model's forces, N."""


def agreement(robot: gough.Robot, run: Run) -> Agreement:
    """direct(inverse(V̇ᵈ)) − V̇ᵈ with right and wrong stiffness."""
    body: Any = robot.description.modal
    wrong = with_body(robot, stiffness=1.1 * body.stiffness)
    asked = np.concatenate([run.motion.acceleration, run.motion.angular_acceleration], axis=1)
    forces = wrong.inverse_dynamics(run.motion).forces

    def off(model: gough.Robot, forces: Array) -> float:
        found = model.direct_dynamics(run.motion, forces)
        reached = np.concatenate([found.linear, found.angular], axis=1)
        return relative_error(reached, asked)

    return Agreement(
        off(robot, run.forces),
        off(wrong, forces),
        off(robot, forces),
        float(np.abs(forces - run.forces).max()),
    )


def elimination_error(robot: gough.Robot, motion: gough.Motion) -> float:
    """A, c, J_sys⁻ᵀ of Eqs. 47–49 against elimination of q̈e from M ξ̇ + b = Jᵀ Γ, relative."""
    found = robot.condensed(motion)
    M, b, J = robot.mass_matrix(motion), robot.bias(motion), robot.jacobian(motion)
    mix = np.swapaxes(np.linalg.solve(M[..., 6:, 6:], M[..., 6:, :6]), -1, -2)
    wanted = (
        M[..., :6, :6] - mix @ M[..., 6:, :6],
        b[..., :6] - (mix @ b[..., 6:, np.newaxis])[..., 0],
        np.swapaxes(J[..., :6], -1, -2) - mix @ np.swapaxes(J[..., 6:], -1, -2),
    )
    pairs = zip((found.mass, found.bias, found.sharing), wanted, strict=True)
    return max(relative_error(one, right) for one, right in pairs)
