"""From a validated robot file to the numbers the equations use: per-leg arrays, defaults, checks."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.description import architecture, schema
from gough.description.modal.body import ModalBody
from gough.description.modal.integrals import rigid_part
from gough.description.modal.payload import Payload
from gough.description.modal.source import body_of_file, body_of_plate
from gough.errors import ArchitectureWarning, FileError, ImpossibleBodyWarning, InputError
from gough.legs.beams import Beams
from gough.legs.bodies import warn_impossible
from gough.legs.completion import completable
from gough.legs.geometry import side_by_side
from gough.legs.keys import LegGroupTable
from gough.legs.leg import LegKind
from gough.legs.reading import (
    Actuator,
    Drives,
    LegReader,
    Limits,
    PassiveLimits,
    body_parameters,
)
from gough.legs.register import KINDS
from gough.mechanics.body import Body
from gough.mechanics.groups import joined, parted
from gough.mechanics.leg import Leg
from gough.motion import Motion

FEWEST_LEGS, MOST_LEGS = 2, 200
MOST_GROUPS = 30
"""Of legs; what is asked of a robot takes time for each."""
FREE_LEGS = 6
"""So many legs can hold a platform by themselves; robots of fewer need a home."""
LEAST_SCALE = 0.02
"""Least length scale, as a part of the largest distance between two joints at home."""
SAME_PLACE = 1e-9
"""How far a flexible platform's tips may be from the robot file's `platform` points, m."""


class LegGroup(NamedTuple):
    """The legs of one table of a robot file."""

    kind: LegKind
    legs: Leg
    table: LegGroupTable
    where: str
    """What leads to its keys: "legs", or of several groups "legs.0", "legs.1" and so on."""
    first: int
    """The number of legs before it."""
    leg_count: int
    actuators: tuple[Actuator, ...]
    """In the order of legs, then of joints in a leg."""
    limits: Limits
    """Of its actuators and legs."""
    drives: Drives
    """Of its actuators."""
    beams: Beams | None
    """Its members that bend."""
    passive: tuple[PassiveLimits, ...]
    missing: tuple[str, ...]
    """Bodies that the file does not give."""


class Description(NamedTuple):
    """A robot's numbers. Leg parameters have the component axis first: (3, legs, 1)."""

    kind: LegKind
    """Of the first group of legs; `groups` has all."""
    legs: Leg
    """All legs, in the order of the groups."""
    groups: tuple[LegGroup, ...]
    platform_points: Array
    """P_i, (3, legs, 1), platform frame, m."""
    length_scale: float
    """L, m: see `length_scale`."""
    platform: Body
    """Platform and payload about the platform frame's origin, (3, 1, 1)."""
    gravity: Array
    """(3,), m/s², world."""
    home: Motion | None
    tool: Array
    """(3,), platform frame, m."""
    mobility: schema.Mobility | None
    """What the file keeps the platform to; None: nothing."""
    coordinates: tuple[schema.Coordinate, ...] | None
    """Names that the file gives the robot's coordinates; None: it leaves them to gough."""
    limits: Limits
    """Of all actuators and legs."""
    drives: Drives
    """Of all actuators."""
    passive: tuple[PassiveLimits, ...]
    """Of joints that no actuator moves."""
    missing: tuple[str, ...]
    """Bodies the file does not give: dynamics cannot do without them."""
    modal: ModalBody | None = None
    """The flexible platform; `platform` is then the same body undeformed. None if it is rigid."""

    @property
    def actuators(self) -> tuple[Actuator, ...]:
        """Of all legs, in the order of q."""
        return tuple(one for group in self.groups for one in group.actuators)


def describe(file: schema.RobotFile, name: str, folder: Path | None = None) -> Description:
    """All numbers of a robot file.

    `name` is what to call it in messages; paths in it are relative to `folder`, by default the
    current one.
    """
    home = _home(file)
    readers = _readers(file, name, home)
    points = np.concatenate([one.platform_points() for one in readers], axis=1)
    kinds = [KINDS[reader.table.kind] for reader in readers]
    every = [kind.read(reader) for kind, reader in zip(kinds, readers, strict=True)]
    scale = length_scale(points, joint_points(kinds, every, points, home))
    groups = []
    for kind, reader, unscaled in zip(kinds, readers, every, strict=True):
        legs = unscaled.with_length_scale(scale)
        reader.settle(partial(completable, kind.parameters, legs))
        groups.append(_group(kind, legs, reader))
    whole = joined([group.legs for group in groups])
    _check_groups(len(parted(whole)), name)
    table = file.platform or schema.PlatformTable()
    if len(groups) == 1 and table.mobility is None:
        _warn_architecture(name, groups[0].kind, whole, points[..., 0].T, home)
    modal = _modal(file, readers, points[..., 0].T, folder or Path())
    missing = [one for group in groups for one in group.missing]
    if file.platform is None:
        missing.append("platform")
    return Description(
        kind=groups[0].kind,
        legs=whole,
        groups=tuple(groups),
        platform_points=points,
        length_scale=float(scale[0]),
        platform=_platform(table, readers[0]) if modal is None else rigid_part(modal),
        gravity=np.asarray(file.gravity, dtype=np.float64),
        home=home,
        tool=np.asarray(file.tool, dtype=np.float64),
        mobility=table.mobility,
        coordinates=None if table.coordinates is None else tuple(table.coordinates),
        limits=Limits(*map(np.concatenate, zip(*(one.limits for one in groups), strict=True))),
        drives=Drives(*map(np.concatenate, zip(*(one.drives for one in groups), strict=True))),
        passive=tuple(one for group in groups for one in group.passive),
        missing=tuple(missing),
        modal=modal,
    )


def bare_platform(file: schema.RobotFile, name: str) -> Body:
    """The platform without its payload, (3, 1, 1)."""
    bare = schema.PlatformTable() if file.platform is None else file.platform
    with warnings.catch_warnings(action="ignore", category=ImpossibleBodyWarning):
        return _platform(bare.model_copy(update={"payload": []}), LegReader(None, name, 1, None))


def length_scale(points: Array, joints: Array) -> Array:
    """Return L (robots,), m: the rms distance of the P_i (3, legs, robots) from their mean.

    (1,) where all robots have the same. At least `LEAST_SCALE` of the largest distance between two
    of the joints (3, joints, robots) at home: points that coincide but for rounding must not decide
    what counts as small. 1 where both are 0.
    """
    spread = points - points.mean(axis=1, keepdims=True)
    size = np.sqrt(np.mean(np.sum(spread**2, axis=0), axis=0))
    for place in np.moveaxis(joints, 1, 0):
        away = np.linalg.norm(joints - place[:, np.newaxis], axis=0)
        size = np.fmax(size, LEAST_SCALE * np.fmax.reduce(away, axis=0))
    size = np.where(size == 0, 1.0, size)
    return np.asarray(size[:1] if size.size and np.all(size == size[0]) else size)


def joint_points(
    kinds: Sequence[LegKind], legs: Sequence[Leg], points: Array, home: Motion | None
) -> Array:
    """Return the centres (3, joints, robots) of the joints of groups of legs at home, m, world.

    `points` (3, legs, robots) are the P_i of all legs. Without home no joint is known.
    """
    if home is None:
        return np.zeros((3, 0, 1))
    turned = np.einsum("ij,jln->iln", home.rotation, points)
    tips, first = turned + home.position[:, np.newaxis, np.newaxis], 0
    centres = []
    for kind, group in zip(kinds, legs, strict=True):
        for part in parted(group):
            own = slice(first, first + part.count)
            centres.append(kind.geometry.joint_points(part, tips[:, own]))
            first += part.count
    return side_by_side(centres)


def _readers(file: schema.RobotFile, name: str, home: Motion | None) -> list[LegReader]:
    """Readers of all groups, their legs numbered through."""
    pose = None if home is None else (home.position, home.rotation)
    readers: list[LegReader] = []
    total = 0
    _check_groups(len(file.leg_groups), name)
    for where, table in file.leg_groups.items():
        kind = KINDS[table.kind]
        key, count = next(table.listed(kind.place), ("", 1))
        if count < 1:
            raise FileError(f"{name}: {where}.{key} is an empty list")
        readers.append(kind.reader(table, name, count, pose, where, total))
        total += count
        if total > MOST_LEGS:
            raise FileError(f"{name}: has {total} legs or more; limit {MOST_LEGS}")
    if total < FEWEST_LEGS:
        table = readers[0].table
        places = table.places(KINDS[table.kind].place)
        raise FileError(
            f"{name}: has {total} leg, needs {FEWEST_LEGS} or more: "
            f"{' or '.join(f'legs.{key}' for key in places)} must be a list with one point per leg"
        )
    if home is None and total < FREE_LEGS:
        raise FileError(
            f"{name}: home is missing; a robot of {total} legs, fewer than {FREE_LEGS}, needs one"
        )
    return readers


def _check_groups(count: int, name: str) -> None:
    if count > MOST_GROUPS:
        raise FileError(f"{name}: has {count} groups of legs, alike in a row; limit {MOST_GROUPS}")


def _group(kind: LegKind, legs: Leg, reader: LegReader) -> LegGroup:
    return LegGroup(
        kind=kind,
        legs=legs,
        table=reader.table,
        where=reader.where,
        first=reader.first,
        leg_count=reader.count,
        actuators=reader.actuators(kind.units),
        limits=reader.limits(),
        drives=reader.drives(),
        beams=kind.beams(reader, legs),
        passive=reader.passive(),
        missing=tuple(reader.missing),
    )


def _home(file: schema.RobotFile) -> Motion | None:
    home = file.home
    if home is None:
        return None
    return Motion(home.position, Rotation.from_rotvec(np.asarray(home.rotation_vector)))


def _platform(table: schema.PlatformTable, reader: LegReader) -> Body:
    total: list[Array] = [np.zeros(()), np.zeros(3), np.zeros((3, 3))]
    bodies: list[tuple[str, schema.SingleBody]] = [("platform", table)]
    bodies += [(f"platform.payload.{i}", body) for i, body in enumerate(table.payload)]
    for where, body in bodies:
        parts = [part[:1] for part in body_parameters(reader, body, where)]
        warn_impossible(parts[0], parts[1], parts[2], f"{reader.name}: {where}")
        total = [sum_ + part[0] for sum_, part in zip(total, parts, strict=True)]
    mass, moment, inertia = total
    return Body(mass.reshape(1, 1), moment.reshape(3, 1, 1), inertia.reshape(3, 3, 1, 1))


def _modal(
    file: schema.RobotFile, readers: list[LegReader], tips: Array, folder: Path
) -> ModalBody | None:
    """The flexible platform, its tips (legs, 3) where the robot file says."""
    table, reader = file.platform, readers[0]
    try:
        if table is not None and table.plate is not None:
            _need_spherical(readers)
            payload = _bolted(table, reader)
            return body_of_plate(table.plate, tips, payload, f"{reader.name}: platform.plate")
        if table is None or table.modes is None:
            return None
        _need_spherical(readers)
        body = body_of_file(table.modes, tips, _bolted(table, reader), folder)
    except InputError as error:
        raise FileError(str(error)) from None
    if len(body.tip_positions) != len(tips):
        raise reader.fail(
            f"{body.name} has {len(body.tip_positions)} tips, the robot has {len(tips)} legs"
        )
    apart = np.linalg.norm(body.tip_positions - tips, axis=1)
    if np.any(apart > SAME_PLACE):
        leg = int(np.argmax(apart))
        raise reader.fail(
            f"the tip of leg {leg + 1} in {body.name} is {apart[leg]:.3g} m from legs.platform; "
            f"limit {SAME_PLACE:g}"
        )
    return body


def _bolted(table: schema.PlatformTable, reader: LegReader) -> tuple[Payload, ...]:
    """The payload of a flexible platform."""
    found = []
    for i, one in enumerate(table.payload):
        where = f"platform.payload.{i}"
        mass, moment, inertia = (part[0] for part in body_parameters(reader, one, where))
        center = moment / mass if mass else np.zeros(3)
        steiner = mass * (center @ center * np.eye(3) - np.outer(center, center))
        point = np.asarray(one.point, dtype=np.float64)
        if not one.model_fields_set - {"mass", "inertia", "point", "mesh"}:
            center = point  # the file does not say where the mass is
        found.append(Payload(f"payload {i + 1}", point, float(mass), center, inertia - steiner))
    return tuple(found)


def _need_spherical(readers: list[LegReader]) -> None:
    """Refuse a flexible platform that a leg holds otherwise than at a point."""
    for one in readers:
        if one.held_by() != "spherical":
            raise one.fail(
                f"leg {one.first + 1} ends in a {one.held_by()} joint: with a flexible platform all "
                "legs end in spherical ones"
            )


def _warn_architecture(
    name: str, kind: LegKind, legs: Leg, points: Array, home: Motion | None
) -> None:
    """Warn of a geometry whose legs hold the platform in no pose."""
    margin = architecture.margin(kind, legs, points, home)
    if margin is not None and margin < architecture.SINGULAR:
        warnings.warn(
            f"{name}: architecturally singular: the lines of the legs are dependent in "
            f"every pose (smallest over largest singular value {margin:.2g}, limit "
            f"{architecture.SINGULAR:g}), "
            "so no actuator forces hold the platform; similar or regular hexagons are like this",
            ArchitectureWarning,
            stacklevel=5,
        )
