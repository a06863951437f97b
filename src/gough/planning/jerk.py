"""Limited jerk: a time law smoothed by a moving mean, then slowed down until all limits are met.

The mean over a window h of a time law (`TimeLaw`) has the same ends and a jerk of at most the change
of acceleration over h. A wider window means a smaller jerk and a longer motion, a narrower one needs
more slowing down, which divides jerks by the cube of its factor: the window with the shortest result is
taken. The jerk of actuators is the difference of q̈ over a cell of the plan, divided by its time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy

from gough.base.arrays import Array
from gough.errors import LimitError
from gough.model.model import Model
from gough.planning.demands import Demands
from gough.planning.profile import MARGIN
from gough.planning.time_law import TimeLaw
from gough.planning.timing import LawTiming

SAMPLES = 2001
"""At which limits and jerks are looked at."""
WIDEST = 2.0
"""Window, in durations of the law without it."""
SLOWEST = 1e4


def jerk_limited(demands: Demands, timing: LawTiming) -> LawTiming:
    """The timing with jerks within `demands.limits.jerk`; as it is where there is no such limit."""
    if not np.any(np.isfinite(demands.limits.jerk)):
        return timing
    if np.any(demands.limits.jerk == 0):
        leg = int(np.argmin(demands.limits.jerk))
        raise LimitError(f"t = 0 s: actuator {leg + 1} has to move, and its jerk limit is 0")
    law = timing.law

    def fitted(share: float) -> TimeLaw:
        smooth = replace(law, window=share * law.own)
        return replace(smooth, slower=_slower(demands, timing._replace(law=smooth)))

    best = scipy.optimize.minimize_scalar(
        lambda log: fitted(float(np.exp(log))).duration,
        bounds=(np.log(1e-3), np.log(WIDEST)),
        method="bounded",
        options={"xatol": 0.02},
    )
    return timing._replace(law=fitted(float(np.exp(best.x))))


def actuator_jerk(robot: Model, timing: LawTiming) -> Array:
    """q⃛ (n − 1, actuators) between samples of a timing."""
    t = np.linspace(0.0, timing.duration, SAMPLES)
    qdd = robot.inverse_kinematics(timing.motion(robot, t)).qdd
    return np.asarray(np.diff(qdd, axis=0) / np.diff(t)[:, np.newaxis])


def _slower(demands: Demands, timing: LawTiming) -> float:
    """The least factor on time at which all limits are met, jerk's among them."""
    law = timing.law
    t = np.linspace(0.0, law.duration, SAMPLES)
    motion = timing.motion(demands.robot, t)
    jerk = np.abs(actuator_jerk(demands.robot, timing)) / demands.limits.jerk
    # slowing down divides jerks by the factor's cube
    least = max(1.0, float(np.max(jerk)) ** (1 / 3) * (1 + MARGIN))

    def fits(factor: float) -> bool:
        slow = motion.replace(
            velocity=motion.velocity / factor,
            angular_velocity=motion.angular_velocity / factor,
            acceleration=motion.acceleration / factor**2,
            angular_acceleration=motion.angular_acceleration / factor**2,
        )
        if demands.robot.mechanism.legs.coordinates:
            demands.robot.remember(slow, demands.robot.chains_of(motion))
        return float(demands.shares(slow).max()) <= 1 - 4 * MARGIN

    high = least
    while not fits(high):
        high *= 1.02
        if high > SLOWEST:
            raise LimitError("t = 0 s: no speed keeps all limits with a jerk that is limited")
    low = max(least, high / 1.02)
    for _ in range(16):
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return float(high)
