"""A robot from a file of another program: read, its loops closed, its legs found, its keys written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.description import files
from gough.errors import FileError
from gough.exchange.incoming.choosing import (
    legs_of,
    named_platform,
    proposed_platform,
    refuse_without_loops,
)
from gough.exchange.incoming.closing import Stand, closed
from gough.exchange.incoming.held_platform import FREE, mobility_of
from gough.exchange.incoming.linkage import Linkage, PartFrame
from gough.exchange.incoming.mjcf import read_mjcf
from gough.exchange.incoming.network import Network, NetworkBody, NetworkJoint, network, prune
from gough.exchange.incoming.parallelograms import join_parallelograms
from gough.exchange.incoming.robot_keys import CLEAN, leg_tables, plain_meshes, recognised
from gough.exchange.incoming.serial_legs import serial_leg
from gough.exchange.incoming.urdf import read_urdf
from gough.exchange.opened import PLATFORM, TOOL
from gough.legs.serial import Placement, SerialLeg, mesh_keys, symmetric

READERS: dict[str, Callable[[Path, bool], Linkage]] = {".xml": read_mjcf, ".urdf": read_urdf}
"""By how a file's name ends, lower case."""
ROUNDING = 1e-9
"""Gap of a loop, m, of which nothing is said."""


class ForeignRobot(NamedTuple):
    """A robot of another program's file as a robot file."""

    text: str
    """Of the robot file, TOML; its paths start at the folder of the other file."""
    platform: str
    """What the other file calls the platform."""
    actuators: tuple[str, ...]
    """Names of the actuated joints in the order of q."""
    gap: tuple[float, float]
    """Largest gap of a loop as the file has it, and with the loops closed, m."""
    told: tuple[str, ...]
    """What was left out, held or assumed."""


def is_foreign(name: str | os.PathLike[str]) -> bool:
    """Whether a file is one that another program wrote, by how its name ends."""
    return isinstance(name, str | os.PathLike) and Path(name).suffix.lower() in READERS


def read_foreign(
    path: str | os.PathLike[str], platform: str | None = None, *, meshes: bool = True
) -> ForeignRobot:
    """The robot of an MJCF file (.xml) or of a URDF file (.urdf, its loops in a .yaml beside it).

    Args:
        path: the file. It and all files that it names are taken from its folder.
        platform: the body, link or site whose frame is the platform's; by default the body that
            most legs hold.
        meshes: with the meshes that the file names; without, these need not be there.

    Example:
        >>> read_foreign("robot.xml", platform="head").actuators

    """
    source = Path(path)
    if not source.exists():
        raise FileError(f"{source}: no such file")
    linkage = READERS[source.suffix.lower()](source, meshes)
    stand = closed(linkage)
    found = network(linkage, stand)
    name, frame, body = _platform(linkage, found, platform)
    home = stand.of_part(frame.part).of(frame.place)
    tool = _tool(linkage, found, body, stand, home)
    translates = join_parallelograms(found, body)
    ways = legs_of(found, body)
    _check_all(found, ways)
    told: list[str] = []
    legs = [serial_leg(found, way, home, told) for way in ways]
    legs, mobility = _held(legs, "translation" if translates else None)
    tables, order = leg_tables([recognised(leg, told) for leg in legs])
    actuators = tuple(joint.name for i in order for joint in legs[i].joints if joint.actuated)
    keeps_coordinates = bool(linkage.coordinates) and name == PLATFORM
    if linkage.coordinates and not keeps_coordinates:
        told.append(f"left out: coordinates {', '.join(linkage.coordinates)} of {PLATFORM!r}")
    open_gap, gap = stand.gaps
    told = [
        *(
            [f"loops were open by {open_gap:.2g} m, now by {gap:.2g} m"]
            if open_gap > ROUNDING
            else []
        ),
        *(f"left out: {one}" for one in linkage.left_out),
        *found.held,
        *dict.fromkeys(told),
    ]
    data = {
        "format": 1,
        "name": linkage.name,
        "source": f"{source.name}, platform {name}, q in the order {', '.join(actuators)}",
        "assumed": told,
        "gravity": linkage.gravity,
        **({} if tool is None else {"tool": tool}),
        "home": {
            "position": home.position,
            "rotation_vector": Rotation.from_matrix(home.rotation).as_rotvec(),
        },
        "legs": tables[0] if len(tables) == 1 else tables,
        "platform": _platform_keys(found.bodies[body], home)
        | ({} if mobility is None else {"mobility": mobility})
        | ({"coordinates": list(linkage.coordinates)} if keeps_coordinates else {}),
    }
    return ForeignRobot(files.to_text(data), name, actuators, stand.gaps, tuple(told))


def _platform(linkage: Linkage, found: Network, platform: str | None) -> tuple[str, PartFrame, int]:
    """The platform's name, its frame and its body in the network, from which all idle parts are gone."""
    if platform is None:
        prune(found, None)
        refuse_without_loops(linkage, found)
        body = proposed_platform(found)
        name = found.bodies[body].name
        return name, linkage.frames[name], body
    frame = named_platform(linkage, platform)
    if frame.part not in found.of_part:
        raise FileError(f"{linkage.name}: {platform!r} is not joined to the base")
    if found.of_part[frame.part] == found.base:
        raise FileError(f"{linkage.name}: {platform!r} is part of the base, not a platform")
    prune(found, found.of_part[frame.part])
    refuse_without_loops(linkage, found)
    body = found.of_part[frame.part]
    if body == found.base or len(found.at(body)) < 2:
        raise FileError(
            f"{linkage.name}: fewer than two legs lead from the base to {platform!r}: it is in no loop"
        )
    return platform, frame, body


def _tool(
    linkage: Linkage, network: Network, platform: int, stand: Stand, home: Placement
) -> Array | None:
    """Return the point of the platform's link or site "tool", platform frame, m; None without it."""
    frame = linkage.frames.get(TOOL)
    if frame is None or network.of_part.get(frame.part) != platform:
        return None
    point = stand.of_part(frame.part).point(frame.place.position)
    tool = home.rotation.T @ (point - home.position)
    size = np.abs(point).max() + np.abs(home.position).max()
    return np.where(np.abs(tool) <= CLEAN * size, 0.0, tool) if np.any(tool) else None


def _held(legs: list[SerialLeg], mobility: str | None) -> tuple[list[SerialLeg], str | None]:
    """Legs without those that only keep the platform to some motions, and these motions."""
    each = [mobility_of(leg) for leg in legs]
    if len(legs) > 2:
        mobility = next((one for one in each if one not in (None, FREE)), mobility)
        legs = [leg for leg, keeps in zip(legs, each, strict=True) if keeps is None]
    return legs, mobility


def _platform_keys(body: NetworkBody, home: Placement) -> dict[str, Any]:
    """[platform] but for how it moves."""
    own = body.inertia.seen_from(home)
    table = {"mass": own.mass, "center_of_mass": own.center, "inertia": symmetric(own.tensor)}
    return plain_meshes(table | mesh_keys(tuple(body.meshes), home))


def _check_all(found: Network, ways: list[list[tuple[NetworkJoint, int]]]) -> None:
    """Refuse a robot with more loops than its legs close: what is left would be lost."""
    used = {id(joint) for way in ways for joint, _ in way}
    rest = [one.joint.name for one in found.joints if id(one) not in used]
    if rest:
        raise FileError(
            f"{found.name}: joint {rest[0]!r} is in a loop that does not go through the platform"
        )
