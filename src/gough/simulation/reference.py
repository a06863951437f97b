"""References: what the platform is asked to do, for one simulation or one each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.base.hermite import Hermite, PoseHermite, vector_rates
from gough.base.pose_spline import quintic
from gough.errors import InputError
from gough.model.freedom import COORDINATES
from gough.model.model import Model
from gough.motion import Motion
from gough.simulation.own_path import own_path, turns_from_home
from gough.trajectories import Spline, State, Trajectory

RATES = ("velocity", "angular_velocity"), ("acceleration", "angular_acceleration")


class Reference(NamedTuple):
    """A reference over time."""

    at: Callable[[Array], Motion]
    """The motion (n, rows or 1), with its time, at times (n,)."""
    shape: tuple[int, ...]
    """Batch shape of the simulations it asks for."""
    start: float
    duration: float | None
    """None of a pose to hold."""
    end: float = math.inf
    """Last time at which there is a motion, s."""
    breaks: tuple[float, ...] = ()
    """Times at which an acceleration or its derivative jumps, s."""


def reference_of(given: Any, robot: Model | None = None) -> Reference:
    """A trajectory; a motion: timed samples (n,), or poses to hold; or a list of these, one per row.

    Between timed samples the path has their poses and, where they have some, their twists and
    accelerations. That of a `robot` whose platform is held is one that it can make.
    """
    if isinstance(given, Trajectory):
        begin, duration = float(given.start_time), float(given.duration)
        end = begin + duration if given.outside == "refuse" else math.inf
        breaks = tuple(begin + float(one) for one in given.breaks)
        return Reference(lambda t: given(t[:, np.newaxis]), (), begin, duration, end, breaks)
    if isinstance(given, Motion):
        if given.time is not None:
            if len(given.shape) != 1:
                raise InputError(f"reference: timed samples of shape {given.shape}, need (n,)")
            if robot is not None and robot.mobility < 6:
                return _own(robot, given)
            return reference_of(_Rated(given) if _rated(given) else Spline(given.time, given))
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
            min(one.end for one in parts),
            tuple(sorted({time for one in parts for time in one.breaks})),
        )
    kind = type(given).__name__
    raise InputError(f"reference is a {kind}, must be a trajectory, a Motion, or a list of them")


@dataclass(frozen=True, eq=False, init=False)
class _Rated(Trajectory):
    """Through timed samples with their own twists and accelerations; times outside are refused."""

    _path: PoseHermite = field(init=False, repr=False)

    def __init__(self, samples: Motion) -> None:
        assert samples.time is not None
        poses = self._poses("poses", samples, one=False)
        times = self._numbers("times", samples.time, poses.shape)
        self._refuse("times", times, np.r_[False, np.diff(times) <= 0], "must increase")
        whole = _with_rates(samples.replace(rotation=poses.rotation))
        for name in (*RATES[0], *RATES[1]):
            self._numbers(name, getattr(whole, name))
        names = ("position", "rotation", *RATES[0], *RATES[1])
        t = times - times[0]
        path = PoseHermite(t, *(getattr(whole, name) for name in names))
        self._set(start_time=float(times[0]), duration=float(t[-1]), _path=path)

    @property
    def breaks(self) -> Array:
        """Times of the samples."""
        return self._path.times

    def _state(self, t: Array) -> State:
        return self._path(t)


def _own(robot: Model, samples: Motion) -> Reference:
    """A path of a platform that is held, by its own coordinates."""
    assert samples.time is not None
    coordinates = None
    if _rated(samples):
        whole = _with_rates(samples)
        turn = turns_from_home(robot, samples)
        rates = vector_rates(turn, whole.angular_velocity, whole.angular_acceleration)
        chosen = [COORDINATES.index(name) for name in robot.coordinates]
        parts = (samples.position, turn), (whole.velocity, rates[0]), (whole.acceleration, rates[1])
        u = [np.concatenate(pair, axis=-1)[:, chosen] for pair in parts]
        coordinates = Hermite(samples.time, *u)
    begin, end = float(samples.time[0]), float(samples.time[-1])
    breaks = () if coordinates is None else tuple(map(float, samples.time))
    path = own_path(robot, samples, coordinates)
    return Reference(path, (), begin, end - begin, end, breaks)


def _rated(samples: Motion) -> bool:
    """The samples have twists or accelerations of their own."""
    return any(np.any(getattr(samples, name)) for pair in RATES for name in pair)


def _with_rates(samples: Motion) -> Motion:
    """Timed samples with all their rates.

    Rates that are zero all along the motion were left out: they are those of the spline through the
    poses, accelerations beside given velocities those of the spline through the velocities.
    """
    assert samples.time is not None
    missing: dict[str, Array] = {}
    for rate, acceleration in zip(*RATES, strict=True):
        if np.any(getattr(samples, acceleration)):
            continue
        if np.any(getattr(samples, rate)):
            spline = quintic(samples.time, getattr(samples, rate))
            missing[acceleration] = spline(samples.time, 1)
        else:
            found = Motion.from_samples(samples.time, samples.position, samples.rotation)
            missing |= {name: getattr(found, name) for name in (rate, acceleration)}
    return samples.replace(**missing)


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
