"""Meshes that a robot file names, and surfaces of its shapes, in the frames of their bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.base.files import content
from gough.description.mesh_files import LARGEST, READERS
from gough.description.numbers import Description
from gough.description.schema import RobotFile
from gough.description.surfaces import ConvexPart, convex_parts, surface
from gough.errors import FileError
from gough.legs.meshes import MeshTable
from gough.legs.reading import ALONG

MOST_MEGABYTES = 100
"""Of a mesh file."""
MOST_FACES = 2_000_000
"""Of all meshes of a robot, those of a file counted as often as it is shown."""


class BodyMesh(NamedTuple):
    """What one body looks like: triangles in its own frame."""

    leg: int | None
    """Its leg, from 0 through all groups; None of the platform."""
    body: int
    """Its number in `Leg.BODIES`; 0 of the platform."""
    name: str
    """As the leg's kind calls it, or "platform"."""
    vertices: Array
    """(n, 3), m."""
    faces: Array
    """(m, 3): numbers of vertices."""
    parts: tuple[ConvexPart, ...] = ()
    """Of a body that is made of shapes, exactly; else the hull of the vertices stands for it."""


class MeshesOfBody(NamedTuple):
    """The mesh files of one body."""

    leg: int | None
    body: int
    name: str
    tables: tuple[MeshTable, ...]


def body_meshes(file: RobotFile, description: Description, folder: Path) -> tuple[BodyMesh, ...]:
    """The meshes of all bodies that have some, or are made of shapes; those of a body are one."""
    read: dict[str, tuple[Array, Array]] = {}
    meshed: list[BodyMesh] = []
    total = 0
    for one in mesh_tables(file, description):
        for table in one.tables:
            if table.file not in read:
                read[table.file] = read_mesh(folder / table.file)
            total += len(read[table.file][1])
            if total > MOST_FACES:
                raise FileError(
                    f"meshes of over {MOST_FACES} triangles in all, {table.file} the last"
                )
        meshed.append(BodyMesh(one.leg, one.body, one.name, *_joined(one.tables, read)))
    taken = {(one.leg, one.body) for one in meshed}
    shaped = [one for one in _shaped(file, description) if (one.leg, one.body) not in taken]
    return (*meshed, *shaped)


def _shaped(file: RobotFile, description: Description) -> Iterator[BodyMesh]:
    """The surfaces of bodies that are made of shapes."""
    if file.platform is not None and file.platform.solids:
        shapes = file.platform.solids
        parts = convex_parts(shapes, 0, ALONG)
        yield BodyMesh(None, 0, "platform", *surface(shapes, 0, ALONG), parts)
    for group in description.groups:
        names = group.legs.BODIES
        for body, tables in enumerate(group.table.body_tables(names)):
            along = group.table.runs.get(names[body], ALONG)
            for leg in range(group.leg_count):
                own = tables[leg if len(tables) > 1 else 0].solids if tables else ()
                if own:
                    number, name = group.first + leg, names[body]
                    parts = convex_parts(own, leg, along)
                    yield BodyMesh(number, body, name, *surface(own, leg, along), parts)


def mesh_tables(file: RobotFile, description: Description) -> Iterator[MeshesOfBody]:
    """What the robot file says of the meshes of bodies that have some."""
    table = file.platform
    if table is not None and table.mesh is not None and table.mesh[0]:
        yield MeshesOfBody(None, 0, "platform", tuple(table.mesh[0]))
    for group in description.groups:
        names = group.legs.BODIES
        for body, tables in enumerate(group.table.body_tables(names)):
            for leg in range(group.leg_count):
                own = tables[leg if len(tables) > 1 else 0] if tables else None
                lists = own.mesh if own is not None else None
                meshes = lists[leg if len(lists) > 1 else 0] if lists else []
                if meshes:
                    yield MeshesOfBody(group.first + leg, body, names[body], tuple(meshes))


def _joined(
    meshes: Sequence[MeshTable], read: dict[str, tuple[Array, Array]]
) -> tuple[Array, Array]:
    """Several meshes as one, in the frame of their body."""
    vertices, faces, count = [], [], 0
    for one in meshes:
        points, corners = read[one.file]
        turn = Rotation.from_rotvec(np.array(one.rotation_vector, dtype=np.float64)).as_matrix()
        scale = np.asarray(one.scale, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            vertices.append(np.asarray(one.position) + (scale * points) @ turn.T)
        if not np.all(np.abs(vertices[-1]) <= LARGEST):
            raise FileError(f"mesh {one.file} lies farther than {LARGEST:g} m from its body")
        mirrored = np.prod(np.broadcast_to(scale, 3)) < 0
        faces.append(count + (corners[:, ::-1] if mirrored else corners))
        count += len(points)
    return np.concatenate(vertices), np.concatenate(faces)


def read_mesh(path: Path) -> tuple[Array, Array]:
    """Vertices (n, 3) and faces (m, 3) of an STL, OBJ or GLB file; nothing that it names is read."""
    try:
        return READERS[path.suffix.lower()](content(path, "mesh", MOST_MEGABYTES))
    except FileError as error:
        raise FileError(f"{path}: {error}") from None
