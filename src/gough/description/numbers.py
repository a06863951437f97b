"""From a validated robot file to the numbers the equations use: per-leg arrays, defaults, checks."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.description import architecture, schema
from gough.description.modal.body import ModalBody
from gough.description.modal.integrals import rigid_part
from gough.description.modal.source import body_of_file, body_of_plate
from gough.errors import ArchitectureWarning, FileError, ImpossibleBodyWarning, InputError
from gough.legs.bodies import warn_impossible
from gough.legs.leg import LegKind
from gough.legs.reading import LegReader, Limits, body_parameters
from gough.legs.register import KINDS
from gough.mechanics.body import Body
from gough.mechanics.leg import Leg
from gough.motion import Motion

FEWEST_LEGS = 3
SAME_PLACE = 1e-9
"""How far a flexible platform's tips may be from the robot file's `platform` points, m."""


class Description(NamedTuple):
    """A robot's numbers. Leg parameters have the component axis first: (3, legs, 1)."""

    kind: LegKind
    legs: Leg
    platform_points: Array
    """P_i, (3, legs, 1), platform frame, m."""
    platform: Body
    """Platform and payload about the platform frame's origin, (3, 1, 1)."""
    gravity: Array
    """(3,), m/s², world."""
    home: Motion | None
    tool: Array
    """(3,), platform frame, m."""
    limits: Limits
    missing: tuple[str, ...]
    """Bodies the file does not give: dynamics cannot do without them."""
    modal: ModalBody | None = None
    """The flexible platform; `platform` is then the same body undeformed. None if it is rigid."""


def describe(file: schema.RobotFile, name: str, folder: Path | None = None) -> Description:
    """All numbers of a robot file.

    `name` is what to call it in messages; paths in it are relative to `folder`, by default the
    current one.
    """
    kind = KINDS[file.legs.kind]
    home = _home(file)
    pose = None if home is None else (home.position, home.rotation)
    reader = LegReader(file.legs, name, _leg_count(file, kind, name), pose)
    legs, points = kind.read(reader), reader.vectors("platform")
    _warn_architecture(name, kind, legs, points[..., 0].T, home)
    modal = _modal(file, reader, points[..., 0].T, folder or Path())
    platform = _platform(file, reader) if modal is None else rigid_part(modal)
    return Description(
        kind=kind,
        legs=legs,
        platform_points=points,
        platform=platform,
        gravity=np.asarray(file.gravity, dtype=np.float64),
        home=home,
        tool=np.asarray(file.tool, dtype=np.float64),
        limits=reader.limits(),
        missing=tuple(reader.missing),
        modal=modal,
    )


def bare_platform(file: schema.RobotFile, name: str) -> Body:
    """The platform without its payload, (3, 1, 1)."""
    bare = schema.PlatformTable() if file.platform is None else file.platform
    alone = file.model_copy(update={"platform": bare.model_copy(update={"payload": []})})
    with warnings.catch_warnings(action="ignore", category=ImpossibleBodyWarning):
        return _platform(alone, LegReader(file.legs, name, 1, None))


def length_scale(points: Array) -> Array:
    """Rms distance of the P_i (3, legs, ...) from their mean, m; 1 where it is 0."""
    spread = points - points.mean(axis=1, keepdims=True)
    size = np.sqrt(np.mean(np.sum(spread**2, axis=0), axis=0))
    return np.asarray(np.where(size == 0, 1.0, size))


def _leg_count(file: schema.RobotFile, kind: LegKind, name: str) -> int:
    places = ("platform", kind.place)
    for key in places:
        value = getattr(file.legs, key)
        if value.ndim == 2:
            if len(value) < FEWEST_LEGS:
                raise FileError(
                    f"{name}: legs.{key} has {len(value)} legs, needs {FEWEST_LEGS} or more"
                )
            return len(value)
    raise FileError(
        f"{name}: legs.{places[0]} or legs.{places[1]} must be a list with one point per leg"
    )


def _home(file: schema.RobotFile) -> Motion | None:
    home = file.home
    if home is None:
        return None
    return Motion(home.position, Rotation.from_rotvec(np.asarray(home.rotation_vector)))


def _platform(file: schema.RobotFile, reader: LegReader) -> Body:
    table = file.platform
    if table is None:
        reader.missing.append("platform")
        table = schema.PlatformTable()
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
    file: schema.RobotFile, reader: LegReader, tips: Array, folder: Path
) -> ModalBody | None:
    """The flexible platform, its tips (legs, 3) where the robot file says."""
    table = file.platform
    try:
        if table is not None and table.plate is not None:
            return body_of_plate(table.plate, tips, f"{reader.name}: platform.plate")
        if table is None or table.modes is None:
            return None
        body = body_of_file(table.modes, tips, folder)
    except InputError as error:
        raise FileError(str(error)) from None
    if len(body.tip_positions) != reader.count:
        raise reader.fail(
            f"{body.name} has {len(body.tip_positions)} tips, the robot has {reader.count} legs"
        )
    apart = np.linalg.norm(body.tip_positions - tips, axis=1)
    if np.any(apart > SAME_PLACE):
        leg = int(np.argmax(apart))
        raise reader.fail(
            f"the tip of leg {leg + 1} in {body.name} is {apart[leg]:.3g} m from legs.platform; "
            f"limit {SAME_PLACE:g}"
        )
    return body


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
