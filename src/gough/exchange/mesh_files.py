"""Workspaces for other programs: surfaces as binary STL, boxes as legacy VTK (ParaView, VisIt)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gough.analysis.isosurface import Surface
from gough.base.files import replacing
from gough.errors import FileError, InputError

if TYPE_CHECKING:
    from gough.analysis.workspace_result import Workspace

TRIANGLE = np.dtype(
    [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")], align=False
)
HEXAHEDRON = 12
"""VTK's number of a cell with eight corners, which more programs read than its boxes."""
CORNERS = np.array(
    [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]]
)  # fmt: skip


def write_stl(surface: Surface, path: str | os.PathLike[str], name: str = "workspace") -> None:
    """A surface as binary STL, in its own unit (m or rad), single precision as the format has it."""
    if not len(surface.faces):
        raise InputError(f"{path}: the surface is empty, there is nothing to write")
    corners = surface.vertices[surface.faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    table = np.zeros(len(corners), dtype=TRIANGLE)
    table["normal"], table["corners"] = normal / np.where(size > 0, size, 1.0), corners
    head = name.encode("ascii", "replace")[:80].ljust(80)
    _write(path, head + np.uint32(len(table)).astype("<u4").tobytes() + table.tobytes())


def write_vtk(found: Workspace, path: str | os.PathLike[str]) -> None:
    """The boxes of a workspace as an unstructured grid, with cell data.

    `inside` is 1 for boxes proved inside; `lower` and `upper` bound the workspace's volume in each.
    """
    count = len(found.centre)
    if not count:
        raise InputError(f"{path}: the workspace is empty, there is nothing to write")
    corners = found.centre[:, np.newaxis] + CORNERS * found.half[:, np.newaxis]
    cells = np.concatenate(
        [np.full((count, 1), 8), np.arange(8 * count).reshape(count, 8)], axis=1
    ).astype(">i4")
    title = f"{found.robot.name}: {found.name}, {found.unit}".encode("ascii", "replace")[:255]
    parts = [
        b"# vtk DataFile Version 3.0\n", title.replace(b"\n", b" "),
        b"\nBINARY\nDATASET UNSTRUCTURED_GRID\n",
        f"POINTS {8 * count} double\n".encode(), corners.astype(">f8").tobytes(),
        f"\nCELLS {count} {9 * count}\n".encode(), cells.tobytes(),
        f"\nCELL_TYPES {count}\n".encode(), np.full(count, HEXAHEDRON, dtype=">i4").tobytes(),
        f"\nCELL_DATA {count}\n".encode(),
    ]  # fmt: skip
    for name, values in (
        ("inside", found.inside.astype(float)), ("lower", found.lower), ("upper", found.upper)
    ):  # fmt: skip
        parts += [f"SCALARS {name} double 1\nLOOKUP_TABLE default\n".encode()]
        parts += [values.astype(">f8").tobytes(), b"\n"]
    _write(path, b"".join(parts))


def _write(path: str | os.PathLike[str], data: bytes) -> None:
    try:
        with replacing(path) as temporary:
            Path(temporary).write_bytes(data)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None
