"""Meshes of a body in a robot file: what it looks like, never what it weighs."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Any, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from gough.base.keys import METRES, Numbers, Table, Turn, Vector

MESHES = (".stl", ".obj", ".glb")
"""How names of mesh files end."""
Scale = Annotated[Any, Numbers((), per_leg=True, each="axis")]


class MeshTable(Table):
    """A mesh file and where it sits on its body: x_body = position + R (scale x_file)."""

    file: str = Field(
        min_length=1, description="STL, OBJ or GLB; relative to the robot file's folder"
    )
    position: Annotated[Vector, METRES] = Field(
        (0.0,) * 3, description="of the file's origin, m, body's frame"
    )
    rotation_vector: Turn = Field((0.0,) * 3, description="of the file's axes, rad")
    scale: Scale = Field(
        1.0, description="metres per unit of the file; one number, or one along each axis"
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if PurePath(self.file).suffix.lower() not in MESHES:
            raise ValueError(f"file {self.file!r} must end in {', '.join(MESHES)}"[:200])
        scale = np.asarray(self.scale)
        if scale.shape not in ((), (3,)) or not np.all(scale):
            raise ValueError("scale needs one number or three, none of them 0")
        return self


def _by_leg(value: Any) -> Any:
    """A list with one list of meshes per leg, from all that may stand for it."""
    if isinstance(value, str | dict | MeshTable):
        value = [value]
    if not isinstance(value, list | tuple):
        return value
    legs = value if value and all(isinstance(one, list | tuple) for one in value) else [value]
    return [[{"file": one} if isinstance(one, str) else one for one in leg] for leg in legs]


_One = str | MeshTable
BodyMeshes = Annotated[
    list[list[MeshTable]],
    BeforeValidator(_by_leg, json_schema_input_type=_One | list[_One] | list[list[_One]]),
]
"""A file name, a table, or a list of these; a list of such lists has one per leg."""
