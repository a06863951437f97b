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
from gough.model.mesh_places import mesh_places
from gough.model.places import PlacedLegs, placed_legs
from gough.motion import Motion
from gough.studio.levels import used_parts

if TYPE_CHECKING:
    from gough.robot import Robot

JOINTS = ("spherical", "universal", "guide", "platform_moment")
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
    """(n, actuators)."""
    qd: Array
    """(n, actuators)."""
    legs: list[PlacedLegs]
    """Where all joints are, world, m: batch shape (n,)."""
    condition: Array
    """(n,): of the Jacobian."""
    forces: Array | None
    """(n, actuators); None where the robot file lacks masses."""
    power: Array | None
    """(n, actuators), W."""
    on_platform: Array | None
    """(n, legs, 3): force of each leg on the platform, world axes, N."""
    loads: dict[str, Array]
    """(n, legs) by joint: size of the force it bears, N, or of the moment, N m."""
    used: dict[str, Array]
    """(n, actuators or legs) by limit: the part of it that is used; see `levels.used_parts`."""
    troubles: dict[int, str]
    """What is wrong with a sample, by its number."""
    note: str = ""
    """What cannot be told about the whole motion, and why."""
    mesh_places: tuple[tuple[Array, Array], ...] = ()
    """Of each mesh of a leg's body: position (n, 3), m, and unit quaternion (n, 4)."""

    def __len__(self) -> int:
        return len(self.q)

    @property
    def reached(self) -> Array:
        """(n,): the legs can reach the pose."""
        return reached(self.q, self.legs)


def reached(q: Array, legs: list[PlacedLegs]) -> Array:
    """(n,): all legs have an answer."""
    places = [np.isfinite(one.places.tips).all(axis=(-1, -2)) for one in legs]
    return np.asarray(np.isfinite(q).all(axis=-1) & np.all(places, axis=0))


def record(robot: Robot, motion: Motion, friction: bool = True) -> StudioRecord:
    """The record of a motion of batch shape (n,) or (), which counts as (1,): inverse dynamics."""
    motion = motion.reshape(-1)
    try:
        actuation = robot.inverse_dynamics(motion, friction=friction, on_error="nan")
        reactions = robot.reactions(motion, friction=friction, on_error="nan")
    except GoughError as error:  # no masses, or too few actuators: geometry is all there is
        return _record(robot, motion, None, {}, note=str(error))
    found = {name: getattr(reactions, name) for name in JOINTS}
    loads = {name: value for name, value in found.items() if np.nanmax(np.abs(value), initial=0.0)}
    made = _record(robot, motion, actuation.forces, loads)
    if np.isnan(actuation.forces).any():
        troubles = _troubles(lambda: robot.inverse_dynamics(motion, friction=friction))
        return replace(made, troubles=troubles | made.troubles)
    return made


def replay(robot: Robot, motion: Motion, forces: Array) -> StudioRecord:
    """The record of a simulated motion (n,) with the forces (n, actuators) that acted.

    What the joints bear depends on the pushes from outside, which a result does not tell.
    """
    return _record(robot, motion, forces, {}, note=NO_LOADS)


def _record(
    robot: Robot, motion: Motion, forces: Array | None, loads: dict[str, Array], note: str = ""
) -> StudioRecord:
    legs = robot.inverse_kinematics(motion, on_error="nan")
    placed = placed_legs(robot, motion, legs)
    good = reached(legs.q, placed)
    troubles = {} if good.all() else _troubles(lambda: robot.inverse_kinematics(motion))
    turned = np.where(np.isfinite(motion.rotation), motion.rotation, np.eye(3))
    return StudioRecord(
        robot,
        motion,
        Rotation.from_matrix(turned).as_quat(scalar_first=True),
        legs.q,
        legs.qd,
        placed,
        robot.condition_number(motion, on_error="nan"),
        forces,
        None if forces is None else forces * legs.qd,
        loads.get("spherical"),
        {name: np.linalg.norm(value, axis=-1) for name, value in loads.items()},
        _used(robot, motion, good, forces),
        troubles,
        note,
        _mesh_places(robot, motion),
    )


def _mesh_places(robot: Robot, motion: Motion) -> tuple[tuple[Array, Array], ...]:
    """Where the meshes of legs are, which are drawn as they are."""
    meshes = [one for one in robot.meshes if one.leg is not None]
    found = []
    for place, turn in mesh_places(robot, motion, meshes):
        whole = np.where(np.isfinite(turn), turn, np.eye(3))
        found.append((place, Rotation.from_matrix(whole).as_quat(scalar_first=True)))
    return tuple(found)


def _used(robot: Robot, motion: Motion, good: Array, forces: Array | None) -> dict[str, Array]:
    """Used part (n, actuators or legs) of every limit of the file; NaN where a pose is out of reach."""
    limits = robot.description.limits
    geometric = limits._replace(force=np.full_like(limits.force, np.inf))
    found = demands(robot, motion[good], geometric)
    parts = used_parts({name: (value, allowed) for name, value, allowed in found})
    used = {}
    for name, part in parts.items():
        used[name] = np.full((len(motion), part.shape[-1]), np.nan)
        used[name][good] = part
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
