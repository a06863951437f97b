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
from gough.data import signals
from gough.data.leg_rates import deformed_motion, platform_motion
from gough.data.plausibility import check_fit
from gough.errors import InputError
from gough.model.model import Model
from gough.motion import Motion
from gough.parameters.base import BaseParameters, base_regressor
from gough.parameters.generalised import generalised_regressor

if TYPE_CHECKING:
    from gough.data.logs import Log

MODAL_BLOCK = 1000
"""Samples of a flexible platform that are held at a time."""
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
    """F W (n, actuators, rank), base parameters; of a flexible platform F Y (n, 6 + N, rank)."""
    forces: Array
    """F Γ (n, actuators), N; of a flexible platform F (Jᵀ Γ − y0), (n, 6 + N)."""
    motion: Motion
    """At every sample of the log, (N,)."""
    raw_forces: Array
    """(N, actuators), N, as measured."""
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
    """Motion (n,), forces (n, actuators), sample rate and cut-off (Hz) of a log, its ends cut off.

    Coordinates are filtered, forces are as measured. With more actuators than directions in which the
    platform moves part of their forces balances itself, which no motion tells.
    """
    if not robot.actuator_count == robot.mobility == log.actuator_count:
        raise InputError(
            "identification needs one actuator per direction in which the platform moves: "
            f"{robot.name} has {robot.actuator_count} for {robot.mobility}, the log {log.actuator_count}"
        )
    modes = elastic_of(robot, log)
    time, values = signals.uniform(log.time, np.concatenate([log.q, log.forces, modes], axis=1))
    count = log.actuator_count
    q, forces, modes = np.split(values, [count, 2 * count], axis=1)
    rate = (len(time) - 1) / float(time[-1] - time[0])
    cutoff = signals.default_cutoff(q, rate) if cutoff is None else cutoff
    signals.check_cutoff(cutoff, rate)
    kept = signals.settled(len(time), rate, cutoff)
    if kept.stop - kept.start < 2:
        raise InputError(
            f"{log.where(len(log.time) - 1)}: the log is too short: {len(time)} samples, "
            f"of which the {cutoff:.3g} Hz low-pass spoils {2 * kept.start}"
        )
    q = signals.low_pass(q, rate, cutoff)
    qd, qdd = signals.derivatives(q, rate)
    check_fit(robot, q[kept], qd[kept], qdd[kept], forces[kept], log.header)
    if robot.modes:
        modes = signals.low_pass(modes, rate, cutoff)
        given = (modes, *signals.derivatives(modes, rate))
        legs = (q[kept], qd[kept], qdd[kept])
        motion = deformed_motion(robot, legs, tuple(one[kept] for one in given), log.start)  # type: ignore[arg-type]  # three
    else:
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
    felt = generalised_forces(robot, base, motion, forces) if robot.modes else forces
    found = Measurements(
        time=motion.time[::step][kept],
        regressor=filtered_regressor(robot, base, motion, rate, cutoff)[kept],
        forces=signals.low_pass(felt, rate, PARALLEL * cutoff)[::step][kept],
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
    """F W (n, actuators, rank) of a motion (N,), decimated."""

    def part(states: Motion) -> Array:
        W = base_regressor(robot, base, states)
        return signals.low_pass(W.reshape(len(states), -1), rate, PARALLEL * cutoff)

    step = signals.decimation(rate, cutoff)
    filtered = _in_blocks(part, motion, step, int(np.ceil(OVERLAP * rate / (PARALLEL * cutoff))))
    return filtered.reshape(-1, equation_count(robot), base.rank)


def equation_count(robot: Model) -> int:
    """Equations per sample: one per actuator, or all 6 + N of a flexible platform."""
    return 6 + robot.modes if robot.modes else robot.actuator_count


def generalised_forces(robot: Model, base: BaseParameters, motion: Motion, forces: Array) -> Array:
    """Jᵀ Γ − y0 (n, 6 + N) of a flexible platform, whose modes no actuator holds."""
    pushed = np.einsum("nai,na->ni", robot.jacobian(motion), forces)
    known = [
        generalised_regressor(robot, motion[i : i + MODAL_BLOCK], base.friction).known
        for i in range(0, len(motion), MODAL_BLOCK)
    ]
    return np.asarray(pushed - np.concatenate(known))


def elastic_of(robot: Model, log: Log) -> Array:
    """Elastic coordinates (n, N) of a log, which those of a flexible platform need; else (n, 0)."""
    if not robot.modes:
        return np.zeros((len(log.time), 0))
    if log.elastic is None or np.shape(log.elastic)[1] != robot.modes:
        has = "none" if log.elastic is None else np.shape(log.elastic)[1]
        raise InputError(
            f"{robot.name} has a flexible platform with {robot.modes} modes, and the log has {has} of "
            "its elastic coordinates (columns e1 …); `robot.rigid` does without"
        )
    return np.asarray(log.elastic)


def _in_blocks(part: Callable[[Motion], Array], motion: Motion, step: int, overlap: int) -> Array:
    """Every step-th row of part(motion), computed block by block."""
    block, around = -(-BLOCK // step) * step, -(-overlap // step) * step
    found = []
    for first in range(0, len(motion), block):
        before, after = max(first - around, 0), min(first + block + around, len(motion))
        rows = part(motion[before:after])
        found.append(rows[first - before : first - before + block : step])
    return np.concatenate(found)
