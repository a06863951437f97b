"""Forces of actuators before compliant drives, along a motion over time.

The leg needs f along the motion, without the rotor: inverse dynamics of the robot beyond the springs.
With the spring's k and d and the rotor's inertia I,

    d ė + k e = f,    Γ = f + I (q̈ + ë),    power Γ (q̇ + ė)

e = θ − q, the spring's elongation. ė and ë are the same first-order lag of ḟ and f̈, those of the
quintic spline through f; at the start the lag has settled.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.errors import InputError
from gough.model.batch import OnError
from gough.model.calls import ModelCalls
from gough.model.described import DescribedModel
from gough.motion import Motion
from gough.results import Actuation

FEWEST = 6
"""Samples over time that a quintic spline needs."""


def drive_forces(
    robot: ModelCalls,
    motion: Motion,
    wrench: ArrayLike | None = None,
    friction: bool = True,
    *,
    on_error: OnError = "raise",
) -> Actuation:
    """Forces and powers of the actuators along a motion (..., n) with time on the last axis.

    Of rigid drives, and of a motion without time, what `inverse_dynamics` says.
    """
    if not isinstance(robot, DescribedModel) or not robot.sprung.any() or motion.time is None:
        return robot.inverse_dynamics(motion, wrench, friction, on_error=on_error)
    if not motion.shape or motion.shape[-1] < FEWEST:
        raise InputError(
            f"forces before compliant drives need {FEWEST} samples or more over time, not "
            f"{motion.shape[-1] if motion.shape else 1}"
        )
    beyond = robot.load_side.inverse_dynamics(motion, wrench, friction, on_error=on_error)
    legs = robot.inverse_kinematics(motion, on_error=on_error)
    time = np.broadcast_to(motion.time, motion.shape)
    rate, faster = np.zeros_like(beyond.forces), np.zeros_like(beyond.forces)
    for place in np.ndindex(motion.shape[:-1]):
        spline = scipy.interpolate.make_interp_spline(time[place], beyond.forces[place], k=5)
        changes = spline(time[place], 1), spline(time[place], 2)
        rate[place], faster[place] = (_lagged(robot, time[place], one) for one in changes)
    rotors = np.where(robot.sprung, robot.description.legs.rotor[:, 0], 0.0)
    forces = beyond.forces + rotors * (legs.qdd + faster)
    power = forces * (legs.qd + np.where(robot.sprung, rate, 0.0))
    found = Actuation(forces, power, beyond.elastic_acceleration, beyond.residual)
    return found.about(robot, motion)


def _lagged(robot: DescribedModel, time: Array, pushed: Array) -> Array:
    """y (n, actuators) of d ẏ + k y = u, u (n, actuators) linear between samples; 0 of rigid drives."""
    k = np.where(robot.sprung, robot.drives.stiffness, 1.0)
    u = pushed / k
    lag = robot.drives.damping / k
    out = u.copy()
    for i in range(1, len(time)):
        h = time[i] - time[i - 1]
        ratio = h / np.where(lag > 0, lag, 1.0)
        gone = np.where(lag > 0, np.exp(-ratio), 0.0)
        ramp = np.where(lag > 0, (1 - gone) / ratio, 0.0)
        out[i] = gone * out[i - 1] + (ramp - gone) * u[i - 1] + (1 - ramp) * u[i]
    return np.where(robot.sprung, out, 0.0)
