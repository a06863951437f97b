"""Cues within limits: displacements from home made smaller by one gain until every limit is kept.

Displacements of the robot's own coordinates, δu(t), become home + k δu(t) with the largest k in
[0, 1] that bisection finds: strokes, speeds, forces and angles of the true model are looked at in every
sample, half way between samples and every hundredth of a second, on the polynomials of fifth order that
values, rates and second derivatives make. For what happens beside these half a percent of stroke, speed
and force is kept back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BPoly

from gough.base.arrays import Array, real_numbers
from gough.errors import InputError, LimitError, SampleError
from gough.legs.reading import Limits
from gough.model.limits import SHORTEST, demands, parts_of
from gough.model.model import Model
from gough.motion import Motion

HALVINGS = 20
LOOK = 0.01
"""Seconds between the instants at which limits are looked at; half of those between samples, if less."""
FINEST = 64
"""Instants per sample, at most."""
RESERVE = 0.005
"""Share of stroke, speed and force that is kept back."""
SMALLEST, LARGEST = 1e-9, 1e15
"""Strokes, speeds and forces that shares can be taken of, SI units."""


@dataclass(frozen=True)
class Displacements:
    """Of the robot's own coordinates from home, over time: (n, m) each."""

    time: Array
    value: Array
    """m or rad"""
    rate: Array
    second: Array
    """Second derivative."""

    def finer(self, times: int) -> Displacements:
        """At so many times as many instants: between samples polynomials of fifth order."""
        whole = BPoly.from_derivatives(
            self.time, np.stack([self.value, self.rate, self.second], axis=1)
        )
        count = len(self.time)
        t = np.interp(np.arange(times * (count - 1) + 1) / times, np.arange(count), self.time)
        every = [whole(t, order) for order in range(3)]
        for fine, own in zip(every, (self.value, self.rate, self.second), strict=True):
            fine[::times] = own
        return Displacements(t, *every)

    def motion(self, robot: Model, gain: float = 1.0) -> Motion:
        """Home and gain × the displacements."""
        return robot.motion(
            own_home(robot) + gain * self.value,
            gain * self.rate,
            gain * self.second,
            time=self.time,
        )


def own_home(robot: Model) -> Array:
    """The robot's own coordinates at home (m,)."""
    places = dict(zip("xyz", robot.home.position, strict=True))
    return np.array([places.get(name, 0.0) for name in robot.coordinates])


def gravity_of(robot: Model) -> Array:
    """(3,) m/s², world axes."""
    return np.array(robot.mechanism.gravity, dtype=np.float64).reshape(3)


def limits_of(
    robot: Model,
    *,
    stroke: ArrayLike | None = None,
    speed: ArrayLike | None = None,
    force: ArrayLike | None = None,
) -> Limits:
    """The limits of the robot file and those given, whichever is less; all actuators need all three.

    Args:
        robot: whose file may limit them.
        stroke: either way from home, for all actuators or (actuators,), m or rad.
        speed: m/s or rad/s.
        force: N or N m.

    """
    own, home = robot.limits, robot.inverse_kinematics(robot.home).q
    found = {
        name: np.full(robot.actuator_count, np.inf)
        if value is None
        else _positive(name, value, robot)
        for name, value in (("stroke", stroke), ("speed", speed), ("force", force))
    }
    limits = own._replace(
        shortest=np.maximum(own.shortest, home - found["stroke"]),
        longest=np.minimum(own.longest, home + found["stroke"]),
        speed=np.minimum(own.speed, found["speed"]),
        force=np.minimum(own.force, found["force"]),
    )
    known = {
        "stroke": np.isfinite(limits.shortest) & np.isfinite(limits.longest),
        "speed": np.isfinite(limits.speed),
        "force": np.isfinite(limits.force),
    }
    missing = [name for name, one in known.items() if not np.all(one)]
    if missing:
        raise InputError(
            f"{robot.name}: nothing limits {', '.join(missing)} of every actuator: give it in the robot "
            "file under [legs.limits], or here"
        )
    room = {
        "stroke": limits.longest - limits.shortest,
        "speed": limits.speed,
        "force": limits.force,
    }
    for name, one in room.items():
        wrong = ~((one >= SMALLEST) & (one <= LARGEST))
        if wrong.any():
            raise InputError(
                f"{robot.name}: actuator {int(np.argmax(wrong)) + 1} has a {name} of "
                f"{one[wrong][0]:g} within its limits, must be {SMALLEST:g} to {LARGEST:g}"
            )
    return limits


def _positive(name: str, value: ArrayLike, robot: Model) -> Array:
    try:
        found = real_numbers(value)
        found = np.broadcast_to(found, (robot.actuator_count,))
    except (TypeError, ValueError):
        raise InputError(f"{name}: needs a number, or {robot.actuator_count} of them") from None
    if not np.all(found > 0):
        raise InputError(f"{name} is {float(found.min())}, must be over 0")
    return found


def worst_excess(robot: Model, motion: Motion, limits: Limits) -> tuple[float, str]:
    """The largest share of a limit (of a stroke: of its length) that a motion exceeds it by; words."""
    worst, said = -np.inf, ""
    parts, actuators = parts_of(robot), robot.actuators
    for name, value, allowed in demands(robot, motion, limits):
        size = limits.longest - limits.shortest if "stroke" in name else allowed
        excess = np.max(value - allowed, axis=0) / size
        i = int(np.argmax(excess))
        if excess[i] > worst:
            shown = "stroke" if name == SHORTEST else name
            part = f" {parts[i]}" if i < len(parts) and parts[i] else ""
            leg = actuators[i].leg + 1 if value.shape[-1] == len(actuators) else i + 1
            worst, said = float(excess[i]), f"leg {leg}{part} {shown}"
    return worst, said


def _less(limits: Limits) -> Limits:
    """Limits without what is kept back."""
    back = RESERVE * (limits.longest - limits.shortest)
    return limits._replace(
        shortest=limits.shortest + back,
        longest=limits.longest - back,
        speed=(1 - RESERVE) * limits.speed,
        force=(1 - RESERVE) * limits.force,
    )


def limited(robot: Model, wish: Displacements, limits: Limits) -> tuple[Motion, float, str]:
    """The motion within limits, its gain, and the limit that made it smaller ("" at gain 1)."""
    limits = _less(limits)
    rest, said = worst_excess(robot, robot.home.reshape(1), limits)
    if rest > 0:
        raise LimitError(f"{robot.name} exceeds a limit at rest at home: {said}")

    step = float(np.max(np.diff(wish.time), initial=0.0))
    finer = min(max(2, math.ceil(step / LOOK - 1e-6)), FINEST)
    looked_at = wish.finer(finer)

    def kept(gain: float) -> tuple[Motion | None, str]:
        try:
            motion = looked_at.motion(robot, gain)
            excess, said = worst_excess(robot, motion, limits)
        except SampleError as error:
            return None, str(error).splitlines()[0]
        return (motion[::finer] if excess <= 0 else None), said

    motion, reason = kept(1.0)
    if motion is not None:
        return motion, 1.0, ""
    low, high = 0.0, 1.0
    best, _ = kept(0.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        motion, said = kept(middle)
        if motion is None:
            high, reason = middle, said
        else:
            low, best = middle, motion
    assert best is not None  # home keeps its limits
    return best, low, reason
