"""From a vehicle to a platform's motion within limits, and how near it comes to what is felt."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.base.showing_results import Showing
from gough.cueing.limiting import Displacements, gravity_of, limited, limits_of
from gough.cueing.predictive import Predictive
from gough.cueing.vehicle import Vehicle
from gough.cueing.vestibular import Sensation, sensation
from gough.errors import InputError
from gough.legs.reading import Limits
from gough.model.limits import demands
from gough.model.model import Model
from gough.motion import Motion

LEAST_SCALE = 1e-6
"""Of a vehicle's accelerations and rates; the largest is its reciprocal."""


class Cueing(Protocol):
    """A way to cue: `Washout` or `Predictive`."""

    def cue(self, robot: Model, vehicle: Vehicle, limits: Limits) -> Displacements:
        """Displacements of the robot's own coordinates from home."""
        ...


@dataclass(frozen=True, repr=False)
class Cued(Showing):
    """A motion that cues a vehicle, within all limits."""

    motion: Motion
    """(n,) with time, velocities and accelerations, at the vehicle's even times."""
    sensation: Sensation
    gain: float
    """What the cue's displacements were multiplied with to keep limits; 1 where they did."""
    held_back: str
    """The limit that made the gain less than 1, such as "leg 2 stroke"; else ""."""
    shares: dict[str, Array]
    """By limit (stroke, speed, force): the largest share of it that any actuator uses, (n,)."""
    took: float
    """Time to compute it, s."""

    @property
    def error(self) -> float:
        """Error of what is sensed, in thresholds; `gough.cueing.vestibular.Sensation.error`."""
        return self.sensation.error

    @property
    def real_time(self) -> float:
        """Seconds of the record per second of computing."""
        return float(self.sensation.time[-1] / max(self.took, 1e-9))

    def __str__(self) -> str:
        held = f", gain {self.gain:.3g} for {self.held_back}" if self.held_back else ""
        return (
            f"sensation error {self.error:.3g} thresholds (sensed: "
            f"{self.sensation.force_error:.3g} m/s², "
            f"{np.degrees(self.sensation.rate_error):.3g} deg/s){held}, "
            f"{self.real_time:.3g} × real time"
        )


def cue(
    robot: Model,
    vehicle: Vehicle,
    how: Cueing | None = None,
    *,
    scale: float = 1.0,
    stroke: ArrayLike | None = None,
    speed: ArrayLike | None = None,
    force: ArrayLike | None = None,
) -> Cued:
    """The motion of a platform that makes a vehicle felt, within stroke, speed and force of its legs.

    The head is at the platform's origin. A flexible platform is planned as a rigid one; robots that
    cannot move every way make the components they have.

    Args:
        robot: with limits of every actuator, in its file or below; whichever is less.
        vehicle: what to make felt; see `gough.cueing.read_vehicle`.
        how: `Predictive()` (the default) or `Washout()`.
        scale: of the vehicle's accelerations and rates, which are what the cue is compared with.
        stroke: either way from home, one for all or (actuators,), m or rad.
        speed: m/s or rad/s.
        force: N or N m.

    Raises:
        InputError: where a limit is missing.
        LimitError: where the robot exceeds one at rest at home.

    Example:
        >>> robot = gough.load("simulator.toml")
        >>> felt = cue(robot, lane_change(), Washout(tilt_rate=3.0), scale=0.5)
        >>> robot.check(felt.motion).ok
        True

    """
    if not LEAST_SCALE <= scale <= 1 / LEAST_SCALE:
        raise InputError(f"scale is {scale}, must be {LEAST_SCALE:g} to {1 / LEAST_SCALE:g}")
    robot = robot.rigid
    if not np.any(gravity_of(robot)):
        raise InputError(f"{robot.name} has no gravity: tilting it gives no cue")
    limits = limits_of(robot, stroke=stroke, speed=speed, force=force)
    robot.need_masses()
    meant = vehicle.scaled(scale)
    begin = perf_counter()
    wish = (how or Predictive()).cue(robot, meant, limits)
    motion, gain, held_back = limited(robot, wish, limits)
    took = perf_counter() - begin
    felt = sensation(meant, motion, robot.home, gravity_of(robot))
    return Cued(motion, felt, gain, held_back, _shares(robot, motion, limits), took)


def _shares(robot: Model, motion: Motion, limits: Limits) -> dict[str, Array]:
    """Shares (n,) of stroke (either way from its middle), speed and force."""
    middle, half = (limits.longest + limits.shortest) / 2, (limits.longest - limits.shortest) / 2
    found = {}
    for name, value, allowed in demands(robot, motion, limits):
        if name == "stroke":
            found[name] = np.max(np.abs(value - middle) / half, axis=1)
        elif name in ("speed", "force"):
            found[name] = np.max(value / allowed, axis=1)
    return found
