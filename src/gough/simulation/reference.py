"""References: what the platform is asked to do, for one simulation or one each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.errors import InputError
from gough.model.model import Model
from gough.motion import Motion
from gough.simulation.own_path import own_path
from gough.trajectories import Spline, Trajectory


class Reference(NamedTuple):
    """A reference over time."""

    at: Callable[[Array], Motion]
    """The motion (n, rows or 1), with its time, at times (n,)."""
    shape: tuple[int, ...]
    """Batch shape of the simulations it asks for."""
    start: float
    duration: float | None
    """None of a pose to hold."""


def reference_of(given: Any, robot: Model | None = None) -> Reference:
    """A trajectory; a motion: timed samples (n,), or poses to hold; or a list of these, one per row.

    Between samples of a `robot` whose platform is held the path is one that it can make.
    """
    if isinstance(given, Trajectory):
        return Reference(
            lambda t: given(t[:, np.newaxis]), (), float(given.start_time), float(given.duration)
        )
    if isinstance(given, Motion):
        if given.time is not None:
            if len(given.shape) != 1:
                raise InputError(f"reference: timed samples of shape {given.shape}, need (n,)")
            if robot is not None and robot.mobility < 6:
                begin, end = float(given.time[0]), float(given.time[-1])
                return Reference(own_path(robot, given), (), begin, end - begin)
            return reference_of(Spline(given.time, given))
        return Reference(lambda t: _held(given, t), given.shape, 0.0, None)
    if isinstance(given, Sequence) and given and not isinstance(given, str):
        parts = [reference_of(one, robot) for one in given]
        if any(one.shape for one in parts):
            raise InputError("reference: a list holds one trajectory or pose a simulation")
        times = [one.duration for one in parts if one.duration is not None]
        return Reference(
            lambda t: Motion.concatenate([one.at(t) for one in parts], axis=1),
            (len(parts),),
            max(one.start for one in parts),
            min(times, default=None),
        )
    kind = type(given).__name__
    raise InputError(f"reference is a {kind}, must be a trajectory, a Motion, or a list of them")


def _held(poses: Motion, times: Array) -> Motion:
    """Poses held at rest: (n, rows or 1)."""
    rows = poses.reshape(math.prod(poses.shape))
    motion = Motion(rows.position, rows.rotation)
    count = (len(times), len(rows))
    return Motion(
        np.broadcast_to(motion.position, (*count, 3)),
        np.broadcast_to(motion.rotation, (*count, 3, 3)),
        time=times[:, np.newaxis],
    )
