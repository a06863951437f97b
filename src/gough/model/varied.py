"""Many robots from one: values by keys of its file, with batch axes, in place of its own numbers.

Each group of legs reads them as it reads a robot file; what is not given stays as it is in the robot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.description.numbers import LegGroup, bare_platform, joint_points, length_scale
from gough.errors import InputError
from gough.legs.chain.read import ChainReader
from gough.legs.reading import LegReader
from gough.mechanics.body import Body
from gough.mechanics.groups import joined
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.mobility import Mobility
from gough.mechanics.platforms.rigid import RigidPlatform
from gough.model.described import DescribedModel
from gough.model.varied_chains import VariedChains
from gough.model.varied_legs import VariedLegs
from gough.model.varying import BODY_KEYS, Varying

READERS: dict[type[LegReader], type[VariedLegs] | type[VariedChains]] = {
    LegReader: VariedLegs,
    ChainReader: VariedChains,
}
"""How many robots' values are taken, by how one robot's are."""


def varied_keys(robot: DescribedModel) -> dict[str, tuple[int, ...]]:
    """Keys of a robot's file that variants may differ in, and the shape of one variant's value.

    Of a flexible platform those of the legs and gravity: its numbers are not the file's. Nor are
    those of bodies that are made of shapes: mass, place and inertia follow from sizes.
    """
    cores: dict[str, tuple[int, ...]] = {"gravity": (3,)}
    for group in robot.description.groups:
        cores |= _reader(group).keys(group)
    if robot.modes:
        cores = {key: core for key, core in cores.items() if not key.endswith(".platform")}
    else:
        cores |= {f"platform.{key}": core for key, core in BODY_KEYS.items()}
    shaped = tuple(f"{where}." for where in _shaped(robot))
    return {key: core for key, core in cores.items() if not key.startswith(shaped)}


def _shaped(robot: DescribedModel) -> Iterator[str]:
    """Keys of the bodies that are made of shapes."""
    if robot.file.platform is not None and robot.file.platform.solids:
        yield "platform"
    for group in robot.description.groups:
        rules, names = group.kind.parameters, group.legs.BODIES
        for name, tables in zip(names, group.table.body_tables(names), strict=True):
            if any(table.solids for table in tables or ()):
                yield f"{group.where}.{rules.key(name)}"


def _reader(group: LegGroup) -> type[VariedLegs] | type[VariedChains]:
    if group.kind.reader not in READERS:
        raise InputError(f"variants: {group.kind.name} legs read their keys in a way of their own")
    return READERS[group.kind.reader]


class VariedRobots:
    """Robots that differ from one in values by keys of its file."""

    def __init__(self, robot: DescribedModel, changes: Mapping[str, ArrayLike]) -> None:
        robot.need_rigid_drives("a batch of variants")
        self.robot = robot
        for where in _shaped(robot):
            for key in changes:
                if str(key).startswith(f"{where}."):
                    raise InputError(
                        f"variants: {key}: {where} is made of shapes, whose numbers vary from file to "
                        "file: Variants([robot.edited({…}), …])"
                    )
        home = robot.description.home
        pose = None if home is None else (home.position, home.rotation)
        self.values = Varying(robot.name, varied_keys(robot), changes, pose)

    def mechanism(self) -> Mechanism:
        """All robots as the equations see them, robots on the arrays' last axis."""
        one, given = self.robot.mechanism, self.values.given
        readers = []
        for group in self.robot.description.groups:
            own = slice(group.first, group.first + group.leg_count)
            readers.append(_reader(group)(group, one.points[:, own], self.values))
        every = [reader.platform_points() for reader in readers]
        points = _side_by_side(every)
        every_leg = [reader.read() for reader in readers]
        kinds = [group.kind for group in self.robot.description.groups]
        joints = joint_points(kinds, every_leg, points, self.robot.description.home)
        scale = length_scale(points, joints)
        gravity = one.gravity
        if "gravity" in given:
            gravity = given["gravity"].T[:, np.newaxis]
        platform = one.platform
        if not self.robot.modes:
            platform = RigidPlatform(self._platform(one.platform.body))
        legs = joined(every_leg).with_length_scale(scale)
        mobility = None if one.mobility is None else self._mobility(one.mobility, scale)
        return Mechanism(legs, points, platform, gravity, scale, mobility, one.mobile)

    def _mobility(self, own: Mobility, scale: Array) -> Mobility:
        """The couples of N are of unit length scale, which is each robot's own."""
        directions = np.concatenate(
            np.broadcast_arrays(
                own.directions[:3] + 0 * scale,
                own.directions[3:] * (scale / self.robot.length_scale),
            )
        )
        return own._replace(directions=directions)

    def _platform(self, whole: Body) -> Body:
        """Platform and payload; keys of [platform] do not touch the payload."""
        bare = bare_platform(self.robot.file, self.robot.name)
        changed = self.values.changed_body("platform", bare)
        if changed is bare:
            return whole
        return Body(
            *(new + (all_ - old) for new, all_, old in zip(changed, whole, bare, strict=True))
        )


def _side_by_side(parts: list[Array]) -> Array:
    """Points (3, legs, variants or 1) of all groups in one array."""
    (wide,) = np.broadcast_shapes(*(part.shape[-1:] for part in parts))
    return np.concatenate([np.broadcast_to(one, (*one.shape[:2], wide)) for one in parts], axis=1)
