"""Everything the studio shows about a motion, computed at once, so that playing it only looks up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.errors import GoughError, SampleError
from gough.model.limits import demands
from gough.model.places import places
from gough.motion import Motion
from gough.studio.levels import used_parts

if TYPE_CHECKING:
    from gough.robot import Robot

JOINTS = ("spherical", "universal", "guide")
"""Joints whose loads are shown: fields of `gough.results.Reactions`."""
NO_LOADS = "Joint loads are not shown: a result does not say what pushed from outside"


@dataclass(frozen=True, eq=False)
class StudioRecord:
    """A motion (n,) of a robot and what its legs do; NaN where there is no answer."""

    robot: Robot
    motion: Motion
    wxyz: Array
    """(n, 4): the platform's rotation as a unit quaternion."""
    q: Array
    """(n, legs)."""
    qd: Array
    """(n, legs)."""
    universal: Array
    """(n, legs, 3): joint centres, world, m."""
    spherical: Array
    condition: Array
    """(n,): of the Jacobian."""
    forces: Array | None
    """(n, legs); None where the robot file lacks masses."""
    power: Array | None
    """(n, legs), W."""
    on_platform: Array | None
    """(n, legs, 3): force of each leg on the platform, world axes, N."""
    loads: dict[str, Array]
    """(n, legs) by joint: size of the force it bears, N."""
    used: dict[str, Array]
    """(n, legs) by limit: the part of it that is used; see `levels.used_parts`."""
    troubles: dict[int, str]
    """What is wrong with a sample, by its number."""
    note: str = ""
    """What cannot be told about the whole motion, and why."""

    def __len__(self) -> int:
        return len(self.q)

    @property
    def reached(self) -> Array:
        """(n,): the legs can reach the pose."""
        return _all_finite(self.q)


def record(robot: Robot, motion: Motion, friction: bool = True) -> StudioRecord:
    """The record of a motion of batch shape (n,) or (), which counts as (1,): inverse dynamics."""
    motion = motion.reshape(-1)
    try:
        actuation = robot.inverse_dynamics(motion, friction=friction, on_error="nan")
        reactions = robot.reactions(motion, friction=friction, on_error="nan")
    except GoughError as error:  # no masses, or fewer than six legs: geometry is all there is
        return _record(robot, motion, None, {}, note=str(error))
    found = {name: getattr(reactions, name) for name in JOINTS}
    loads = {name: value for name, value in found.items() if value is not None}
    made = _record(robot, motion, actuation.forces, loads)
    if np.isnan(actuation.forces).any():
        troubles = _troubles(lambda: robot.inverse_dynamics(motion, friction=friction))
        return replace(made, troubles=troubles | made.troubles)
    return made


def replay(robot: Robot, motion: Motion, forces: Array) -> StudioRecord:
    """The record of a simulated motion (n,) with the forces (n, legs) that acted.

    What the joints bear depends on the pushes from outside, which a result does not tell.
    """
    return _record(robot, motion, forces, {}, note=NO_LOADS)


def _record(
    robot: Robot, motion: Motion, forces: Array | None, loads: dict[str, Array], note: str = ""
) -> StudioRecord:
    legs = robot.inverse_kinematics(motion, on_error="nan")
    reached = _all_finite(legs.q)
    troubles = {} if reached.all() else _troubles(lambda: robot.inverse_kinematics(motion))
    universal, spherical = places(robot, legs)
    turned = np.where(np.isfinite(motion.rotation), motion.rotation, np.eye(3))
    return StudioRecord(
        robot,
        motion,
        Rotation.from_matrix(turned).as_quat(scalar_first=True),
        legs.q,
        legs.qd,
        universal,
        spherical,
        robot.condition_number(motion, on_error="nan"),
        forces,
        None if forces is None else forces * legs.qd,
        loads.get("spherical"),
        {name: np.linalg.norm(value, axis=-1) for name, value in loads.items()},
        _used(robot, motion, reached, forces),
        troubles,
        note,
    )


def _all_finite(values: Array) -> Array:
    return np.asarray(np.isfinite(values).all(axis=-1))


def _used(robot: Robot, motion: Motion, reached: Array, forces: Array | None) -> dict[str, Array]:
    """Used part (n, legs) of every limit of the robot file; NaN where the pose is out of reach."""
    limits = robot.description.limits
    geometric = limits._replace(force=np.full_like(limits.force, np.inf))
    found = demands(robot, motion[reached], geometric)
    parts = used_parts({name: (value, allowed) for name, value, allowed in found})
    used = {}
    for name, part in parts.items():
        used[name] = np.full((len(motion), robot.leg_count), np.nan)
        used[name][reached] = part
    if forces is not None and np.isfinite(limits.force).any():
        used |= used_parts({"force": (np.abs(forces), limits.force)})
    return used


def _troubles(model: Callable[[], object]) -> dict[int, str]:
    """What a model says of the samples it has no answer for, by their number."""
    try:
        model()
    except SampleError as error:
        return {
            one.sample[0]: f"leg {one.leg}: {one.reason}" if one.leg else one.reason
            for one in error.failures
        }
    return {}
