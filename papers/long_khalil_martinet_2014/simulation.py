"""The simulation of Fig. 3: in the loop, and open loop with the same forces."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

import gough
from gough.base.arrays import Array
from gough.data.paper_motions import paper_motion
from gough.show.reproduction import Progress, quiet

from .loop import Loop, march
from .path import MOTION

OFFSET = 1e-6
"""Error of the initial position that is let grow, m."""


class Run(NamedTuple):
    """A simulation."""

    motion: gough.Motion
    """The simulated states, V̇ᵈ as their acceleration."""
    forces: Array
    """Γ of the inverse model, (n, 6), N."""
    reached: Array
    """V̇ of the direct model, (n, 6)."""
    work: Array
    """∫ (Γ·q̇ − q̇eᵀ D q̇e) dt, (n,), J."""
    evaluations: int
    seconds: float

    @property
    def time(self) -> Array:
        """(n,), s."""
        return np.asarray(self.motion.time)


def simulate(
    robot: gough.Robot,
    start: gough.Motion,
    tolerance: float = 1e-8,
    stop: float = 4.5,
    samples: int = 901,
    progress: Progress = quiet,
) -> Run:
    """The closed loop of Fig. 3 from a pose at rest until `stop`, s."""
    loop, times, count = Loop(robot), np.linspace(0.0, stop, samples), 0

    def notice(t: float) -> None:
        nonlocal count
        count += 1
        if count % 500 == 0:
            progress(f"{robot.modes} modes, tolerance {tolerance:g}: {t:.2f} of {stop:.2f} s")

    begun = time.perf_counter()
    states = march(loop, loop.start(start), times, tolerance, notice)
    seconds = time.perf_counter() - begun
    desired = paper_motion(MOTION)(times)
    motion = loop.motion(times, states).replace(
        acceleration=desired.acceleration, angular_acceleration=desired.angular_acceleration
    )
    forces = robot.inverse_dynamics(motion).forces
    reached = robot.direct_dynamics(motion, forces)
    accelerations = np.concatenate([reached.linear, reached.angular], axis=1)
    return Run(motion, forces, accelerations, states[:, -1], count, seconds)


def imbalance(robot: gough.Robot, run: Run) -> float:
    """Largest energy that work and damping do not explain, over the largest change of energy."""
    energy = robot.energy(run.motion)
    stored = energy.kinetic + energy.potential
    return float(np.abs(stored - stored[0] - run.work).max() / np.ptp(stored))


class Growth(NamedTuple):
    """Two copies of the robot under the same forces, one of them OFFSET away at the start."""

    time: Array
    distance: Array
    """Of the platform frames, (n,), m."""
    rate: float
    """Fastest growth of small motions at home, 1/s, with the forces as they are."""


def open_loop(robot: gough.Robot, stop: float = 2.0, samples: int = 201) -> Growth:
    """Γ(t) of the closed loop applied to a second robot that starts OFFSET away along x."""
    loop, times = Loop(robot, copies=2), np.linspace(0.0, stop, samples)
    start = np.tile(loop.start(robot.static_deflection(robot.home)), 2)
    start[loop.size] += OFFSET
    states = march(loop, start, times, 1e-9, lambda t: None)
    places = states.reshape(samples, 2, loop.size)[..., :3]
    free = robot.natural_frequencies(robot.home, "free").frequencies
    return Growth(
        times,
        np.linalg.norm(places[:, 1] - places[:, 0], axis=1),
        float(-2 * np.pi * free.min()),
    )
