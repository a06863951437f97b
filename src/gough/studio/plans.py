"""Motions made on the page: a path through poses as fast as limits allow, and a vehicle that is felt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import degrees, isfinite
from typing import NamedTuple

import numpy as np

from gough.analysis.around import own_values
from gough.base.arrays import Array
from gough.base.pose_spline import quintic
from gough.cueing import Cueing, Predictive, Vehicle, Washout, cue, flight_turn, lane_change
from gough.errors import InputError
from gough.motion import Motion
from gough.planning import Path, retime
from gough.robot import Robot
from gough.studio.motions import SAMPLES, Track

MANOEUVRES: dict[str, Callable[[], Vehicle]] = {
    "lane change of a car": lane_change,
    "turn of an aeroplane": flight_turn,
}
WAYS: dict[str, Cueing] = {
    "classical washout": Washout(),
    "optimised": Predictive(preview=5.0, kept=2.0, knot=0.2),
}
"""Ways to cue; the optimised one looks less far ahead than the command's, so that a page waits less."""
CELLS = 150
"""Of a stretch: a page waits less than for the command's, and the motion takes hardly longer."""
SPLINE_SAMPLES = 40
"""Per pose of a path in a robot's own coordinates."""


class PlanLimits(NamedTuple):
    """Of every actuator, beside those of the robot file; None where that is enough."""

    speed: float | None = None
    force: float | None = None
    stroke: float | None = None
    """Either way from home; of cueing alone."""


def planned(
    robot: Robot, poses: Sequence[Motion], corner: float, limits: PlanLimits, friction: bool
) -> Track:
    """Poses (k ≥ 2) passed one after the other from rest to rest, as fast as limits allow.

    Straight from pose to pose, corners missed by `corner` m at most; a platform that is held goes
    smoothly through them in its own coordinates.
    """
    if len(poses) < 2:
        raise InputError("a path needs two poses at least: move the platform and add them")
    rigid = robot.rigid
    if robot.mobility == 6:
        rest = Motion.concatenate([one.reshape(1) for one in poses[1:]])
        path: Path | Motion = Path(rigid, poses[0]).through(rest, corner)
    else:
        u = own_values(robot, Motion.concatenate([one.reshape(1) for one in poses]))
        at = np.arange(float(len(u)))
        t = np.linspace(0.0, at[-1], SPLINE_SAMPLES * len(u))
        spline = quintic(at, u)
        path = rigid.motion(spline(t), spline(t, 1), spline(t, 2), time=t)
    return _retimed(rigid, path, limits, friction)


def faster(robot: Robot, motion: Motion, limits: PlanLimits, friction: bool) -> Track:
    """A motion's path as fast as limits allow."""
    return _retimed(robot.rigid, motion, limits, friction)


def _retimed(robot: Robot, path: Path | Motion, limits: PlanLimits, friction: bool) -> Track:
    found = retime(
        robot, path, friction=friction, speed=limits.speed, force=limits.force, cells=CELLS
    )
    return Track(found.sample(SAMPLES), note=_lines(str(found)))


def felt(robot: Robot, manoeuvre: str, way: str, scale: float, limits: PlanLimits) -> Track:
    """A vehicle's manoeuvre as the platform makes it felt."""
    if manoeuvre not in MANOEUVRES or way not in WAYS:
        raise InputError(f"no cue {way!r} of {manoeuvre!r}"[:120])
    found = cue(robot, MANOEUVRES[manoeuvre](), WAYS[way], scale=scale, **limits._asdict())
    used = ", ".join(f"{name} {100 * float(one.max()):.0f} %" for name, one in found.shares.items())
    return Track(found.motion, note=_lines(f"{found}\nused at most: {used}"))


def room_in_words(robot: Robot, pose: Motion, pivot: Array) -> list[tuple[str, str, str]]:
    """From a pose, each direction: how far, and what ends it."""
    about = pivot if robot.mobility == 6 else None
    found = robot.room(pose, pivot=about)
    rows = []
    for (direction, far, end), unit in zip(found.ends(), found.units, strict=True):
        shown = (
            "∞"
            if not isfinite(far)
            else f"{degrees(far):.1f}°"
            if unit == "rad"
            else f"{far:.4f} m"
        )
        rows.append((direction, shown, "no limit" if end is None else str(end)))
    return rows


def _lines(text: str) -> str:
    return "; ".join(text.splitlines())
