"""From a log to the equations of identification: filtered forces beside the filtered regressor.

Leg coordinates are filtered and differentiated; the pose follows by forward kinematics, the twist and
acceleration from q̇ = J ξ and q̈ = J ξ̇ + J̇ ξ. Then forces and regressor go through one and the same
low-pass F and are decimated: F Γ = F W X + F e holds exactly whatever F does, jumps of Coulomb
friction included (Gautier 1997, parallel decimation). So F may cut near the motion's own band, which
keeps the noise of differentiated encoders out of W; the coordinates' filter must stay well above it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gough.base.arrays import Array
from gough.data.leg_rates import platform_motion
from gough.data.plausibility import check_fit
from gough.errors import InputError
from gough.model.model import Model
from gough.motion import Motion
from gough.parameters import signals
from gough.parameters.base import BaseParameters, base_regressor

if TYPE_CHECKING:
    from gough.data.logs import Log

BLOCK = 8000
"""Samples whose regressor is held at a time."""
OVERLAP = 8.0
"""Of blocks, in periods of F's cut-off: their joints are felt to 10⁻⁸."""
PARALLEL = 0.4
"""Cut-off of F over that of the coordinates' filter."""
FEWEST_EQUATIONS = 2.0
"""Independent ones, a parameter."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """Equations F Γ = F W X of a log, and what they come from."""

    time: Array
    """(n,) of the equations, s."""
    regressor: Array
    """F W (n, legs, rank), base parameters."""
    forces: Array
    """F Γ (n, legs), N."""
    motion: Motion
    """At every sample of the log, (N,)."""
    raw_forces: Array
    """(N, legs), N, as measured."""
    rate: float
    """Of the log, Hz."""
    cutoff: float
    """Of the coordinates' filter, Hz."""
    kept: slice
    """Which of the decimated samples the equations are."""

    @property
    def independent(self) -> float:
        """Number of equations that white noise leaves independent: two a period of F's cut-off."""
        span = len(self.raw_forces) / self.rate
        return float(
            min(2 * PARALLEL * self.cutoff * span * self.forces.shape[1], self.forces.size)
        )


def logged_motion(
    robot: Model, log: Log, cutoff: float | None = None
) -> tuple[Motion, Array, float, float]:
    """Motion (n,), forces (n, legs), sample rate and cut-off (Hz) of a log, its ends cut off.

    Coordinates are filtered, forces are as measured.
    """
    if robot.leg_count != 6 or log.legs != 6:
        raise InputError(
            f"identification needs six legs: {robot.name} has {robot.leg_count}, the log {log.legs}"
        )
    time, values = signals.uniform(log.time, np.concatenate([log.q, log.forces], axis=1))
    q, forces = np.split(values, 2, axis=1)
    rate = (len(time) - 1) / float(time[-1] - time[0])
    cutoff = signals.default_cutoff(q, rate) if cutoff is None else cutoff
    if not 0 < cutoff < rate / 2:
        raise InputError(f"cut-off {cutoff:g} Hz: must be in (0, {rate / 2:g}) Hz, half the rate")
    kept = signals.settled(len(time), rate, cutoff)
    if kept.stop - kept.start < 2:
        raise InputError(
            f"{log.where(len(log.time) - 1)}: the log is too short: {len(time)} samples, "
            f"of which the {cutoff:.3g} Hz low-pass spoils {2 * kept.start}"
        )
    q = signals.low_pass(q, rate, cutoff)
    qd, qdd = signals.derivatives(q, rate)
    check_fit(robot, q[kept], qd[kept], qdd[kept], forces[kept], log.header)
    motion = platform_motion(robot, q[kept], qd[kept], qdd[kept], log.start)
    return motion.replace(time=time[kept]), forces[kept], rate, cutoff


def measure(
    robot: Model, base: BaseParameters, log: Log, cutoff: float | None = None
) -> Measurements:
    """The equations of a log for the base parameters of a robot."""
    motion, forces, rate, cutoff = logged_motion(robot, log, cutoff)
    step = signals.decimation(rate, cutoff)
    # at its ends F rests on few samples, and their noise
    ends = min(int(np.ceil(rate / (PARALLEL * cutoff * step))), len(motion) // (4 * step))
    kept = slice(ends, -(-len(motion) // step) - ends)
    assert motion.time is not None
    found = Measurements(
        time=motion.time[::step][kept],
        regressor=filtered_regressor(robot, base, motion, rate, cutoff)[kept],
        forces=signals.low_pass(forces, rate, PARALLEL * cutoff)[::step][kept],
        motion=motion,
        raw_forces=forces,
        rate=rate,
        cutoff=cutoff,
        kept=kept,
    )
    if found.independent < FEWEST_EQUATIONS * base.rank:
        raise InputError(
            f"{log.where(len(log.time) - 1)}: the log is too short: {len(motion) / rate:.3g} s give "
            f"{found.independent:.0f} independent equations below {PARALLEL * cutoff:.3g} Hz for "
            f"{base.rank} parameters, needs {FEWEST_EQUATIONS:g} each"
        )
    return found


def filtered_regressor(
    robot: Model, base: BaseParameters, motion: Motion, rate: float, cutoff: float
) -> Array:
    """F W (n, legs, rank) of a motion (N,), decimated."""

    def part(states: Motion) -> Array:
        W = base_regressor(robot, base, states)
        return signals.low_pass(W.reshape(len(states), -1), rate, PARALLEL * cutoff)

    step = signals.decimation(rate, cutoff)
    filtered = _in_blocks(part, motion, step, int(np.ceil(OVERLAP * rate / (PARALLEL * cutoff))))
    return filtered.reshape(-1, robot.leg_count, base.rank)


def _in_blocks(part: Callable[[Motion], Array], motion: Motion, step: int, overlap: int) -> Array:
    """Every step-th row of part(motion), computed block by block."""
    block, around = -(-BLOCK // step) * step, -(-overlap // step) * step
    found = []
    for first in range(0, len(motion), block):
        before, after = max(first - around, 0), min(first + block + around, len(motion))
        rows = part(motion[before:after])
        found.append(rows[first - before : first - before + block : step])
    return np.concatenate(found)
