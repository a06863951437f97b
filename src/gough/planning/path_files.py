"""Path files: a path in TOML, piece by piece.

    start = [0, 0, 0.7, 0, 0, 0]         # x, y, z in m, rotation vector from home in rad; default: home
    [[pieces]]
    line = [0.1, 0, 0]                   # shift, m; with turn = […] it turns meanwhile
    frame = "tool"                       # axes of shifts and turns: "work" (default) or "tool"
    blend = 0.005                        # m: how far the corner behind may be missed; 0: it stops there
    [[pieces]]
    turn = [0, 0, 0.2]                   # rotation vector, rad
    about = [0, 0, 0.1]                  # pivot, platform frame, m
    [[pieces]]
    center = [0.05, 0, 0]                # an arc: its centre from where the pivot is, m
    axis = [0, 0, 1]
    angle = 3.14                         # rad
    [[pieces]]
    through = [[0, 0, 0.7, 0, 0, 0], [0.1, 0, 0.7, 0, 0, 0.1]]     # poses like start
    tolerance = 0.01                     # m, one or one per pose
    [[pieces]]
    spline = [[0, 0, 0.8, 0, 0, 0], [0, 0, 0.7, 0, 0, 0]]
    [[pieces]]
    rest = 0.5                           # s

Nothing in it is executed.
"""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.base.files import small_text
from gough.base.keys import LegScalar, Numbers, Scalar, Table, Vector
from gough.description.mistakes import parsed
from gough.errors import FileError, GoughError
from gough.model.model import Model
from gough.motion import Motion
from gough.planning.path import Path

Pose = Annotated[Any, Numbers((6,), per_leg=False)]
Poses = Annotated[Any, Numbers((6,), per_leg=True, each="pose")]
KINDS = ("line", "turn", "center", "through", "spline", "rest")


class PieceTable(Table):
    """A piece of a path."""

    line: Vector | None = Field(None, description="shift, m")
    turn: Vector | None = Field(None, description="rotation vector, rad")
    center: Vector | None = Field(None, description="an arc's centre from its beginning, m")
    axis: Vector | None = Field(None, description="of an arc")
    angle: Scalar | None = Field(None, description="of an arc, rad")
    through: Poses | None = Field(None, description="poses, straight from one to the next")
    spline: Poses | None = Field(None, description="poses, smoothly")
    rest: Scalar | None = Field(None, description="s")
    tolerance: LegScalar | None = Field(None, description="of poses, m")
    frame: Literal["work", "tool"] = Field("work", description="axes of shifts and turns")
    about: Vector | None = Field(None, description="pivot, platform frame, m")
    blend: Scalar | None = Field(None, description="how far the corner behind may be missed, m")

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [name for name in KINDS if getattr(self, name) is not None]
        with_turn = [name for name in given if name != "turn"]
        if not given or len(with_turn) > 1 or (len(given) > 1 and with_turn[0] in KINDS[3:]):
            raise ValueError(f"needs one of {', '.join(KINDS)}")
        if (self.center is None) != (self.axis is None) or (self.axis is None) != (
            self.angle is None
        ):
            raise ValueError("an arc needs center, axis and angle")
        return self


class PathFile(Table):
    """A path."""

    start: Pose | None = Field(None, description="x, y, z, and the turn from home")
    pieces: list[PieceTable] = Field(description="one after the other", min_length=1)


def read_path(path: str | os.PathLike[str], robot: Model) -> Path:
    """The path of a robot in a .toml file; see the module for its keys."""
    found = parsed(small_text(path, "path file", 1), str(path), "path file", PathFile)
    try:
        start = None if found.start is None else _poses(robot, found.start[np.newaxis])[0]
        made = Path(robot, start)
        for piece in found.pieces:
            made = _added(made, piece)
        return made
    except FileError:
        raise
    except GoughError as error:
        raise FileError(f"{path}: {error}") from None


def _poses(robot: Model, numbers: Array) -> Motion:
    """Poses (k,) of numbers (k, 6)."""
    turn = Rotation.from_rotvec(numbers[:, 3:]).as_matrix() @ robot.home.rotation
    return Motion(numbers[:, :3], turn)


def _added(path: Path, piece: PieceTable) -> Path:
    none = np.zeros(3)
    about = none if piece.about is None else piece.about
    blend = 0.0 if piece.blend is None else float(piece.blend)
    turn = none if piece.turn is None else piece.turn
    if piece.rest is not None:
        return path.rest(float(piece.rest))
    if piece.center is not None and piece.axis is not None and piece.angle is not None:
        return path.arc(
            piece.center, piece.axis, float(piece.angle),
            turn=turn, about=about, frame=piece.frame, blend=blend,
        )  # fmt: skip
    if piece.spline is not None:
        return path.spline(_poses(path.robot, np.atleast_2d(piece.spline)), blend=blend)
    if piece.through is not None:
        slack = 0.0 if piece.tolerance is None else piece.tolerance
        return path.through(_poses(path.robot, np.atleast_2d(piece.through)), slack)
    shift = none if piece.line is None else piece.line
    return path.move(shift, turn, about=about, frame=piece.frame, blend=blend)
