"""Forces of actuators before compliant drives, along a motion over time.

The leg needs f along the motion, without the rotor: inverse dynamics of the robot beyond the springs.
With the spring's k and d and the rotor's inertia I,

    d ė + k e = f,    Γ = f + I (q̈ + ë),    power Γ (q̇ + ė)

e = θ − q, the spring's elongation. ė and ë are the same first-order lag of ḟ and f̈, those of the
quintic spline through f; at the start the lag has settled. Where f jumps, as Coulomb's friction without
width does, no finite Γ makes the motion: such motions are refused.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.errors import Failure, InputError, SingularError
from gough.model.batch import OnError
from gough.model.between import Between
from gough.model.calls import ModelCalls
from gough.model.described import DescribedModel
from gough.motion import Motion
from gough.results import Actuation

FEWEST = 6
"""Samples over time that a quintic spline needs."""
HALVINGS = 12
"""How often an interval is halved in which friction may jump."""
NOTED, LEFT = 0.01, 0.25
"""Change of friction over an interval, of the largest friction, that is looked at; and the share of it
that is left in the last half if it is a jump."""
JUMPS = (
    "the force before a compliant drive has no limit where Coulomb friction jumps: here by {:.3g} {} at "
    "t = {:.6g} s, where a joint turns back, starts or stops. Give the friction a width, or ask with "
    "friction=False"
)


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
    if friction and robot.rubs:
        _refuse_jumps(robot, motion, wrench, beyond.forces, on_error)
    for place in np.ndindex(motion.shape[:-1]):
        if not np.isfinite(
            beyond.forces[place]
        ).all():  # the lag of a sample reaches all that follow
            rate[place] = faster[place] = np.nan
            continue
        spline = scipy.interpolate.make_interp_spline(time[place], beyond.forces[place], k=5)
        changes = spline(time[place], 1), spline(time[place], 2)
        rate[place], faster[place] = (_lagged(robot, time[place], one) for one in changes)
    rotors = np.where(robot.sprung, robot.description.legs.rotor[:, 0], 0.0)
    forces = beyond.forces + rotors * (legs.qdd + faster)
    power = forces * (legs.qd + np.where(robot.sprung, rate, 0.0))
    found = Actuation(forces, power, beyond.elastic_acceleration, beyond.residual)
    return found.about(robot, motion)


def _refuse_jumps(
    robot: DescribedModel,
    motion: Motion,
    wrench: ArrayLike | None,
    forces: Array,
    on_error: OnError,
) -> None:
    """Raise where friction jumps between samples, or make `forces` (..., n, actuators) NaN there.

    A change of friction that stays as large while its interval is halved is a jump.
    """
    sprung = np.flatnonzero(robot.sprung)
    plain = robot.load_side.inverse_dynamics(motion, wrench, False, on_error=on_error).forces
    friction = (forces - plain)[..., sprung]
    acting = None if wrench is None else np.broadcast_to(wrench, (*motion.shape, 6))
    failures = []
    for place in np.ndindex(motion.shape[:-1]):
        change = np.abs(np.diff(friction[place], axis=0))
        largest = np.abs(friction[place]).max(initial=0.0)
        rows = np.flatnonzero((change > NOTED * largest).any(axis=1))
        if not rows.size:
            continue
        way = Between.of(motion[place])
        start, ends = (
            np.zeros(len(rows)),
            np.stack([friction[place][rows], friction[place][rows + 1]]),
        )
        for i in range(1, HALVINGS + 1):
            part = start + 0.5**i
            middle = way(rows, part)
            push = None
            if acting is not None:
                push = (
                    acting[place][rows] + part[:, np.newaxis] * np.diff(acting[place], axis=0)[rows]
                )
            with_it, without = (
                robot.load_side.inverse_dynamics(middle, push, one, on_error="nan").forces[
                    :, sprung
                ]
                for one in (True, False)
            )
            found = with_it - without
            halves = np.abs(found - ends[0]).max(axis=1), np.abs(ends[1] - found).max(axis=1)
            later = halves[1] > halves[0]
            start = np.where(later, part, start)
            ends = np.where(
                later[:, np.newaxis], np.stack([found, ends[1]]), np.stack([ends[0], found])
            )
        left = np.abs(ends[1] - ends[0])
        jumps = (left > LEFT * change[rows]) & (left > NOTED * largest)
        for row in np.flatnonzero(jumps.any(axis=1)):
            drive = sprung[int(np.argmax(np.where(jumps[row], left[row], 0.0)))]
            actuator = robot.actuators[drive]
            moment = way.time[rows[row]] + start[row] * np.diff(way.time)[rows[row]]
            reason = JUMPS.format(left[row].max(), actuator.units.force, moment)
            failures.append(Failure((*place, int(rows[row])), actuator.leg + 1, reason))
    if failures and on_error == "raise":
        raise SingularError(failures)
    for failure in failures:
        forces[failure.sample[:-1]] = np.nan


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
