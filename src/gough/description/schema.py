"""The robot file as pydantic models: which keys there are, what each may hold.

Any key under [legs] holds one value for all legs or a list with one per leg; the key's own rank
decides. The models check types, shapes and finiteness; `gough.description.numbers` makes the numbers.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from gough.base.keys import Numbers, Scalar, Table, Vector
from gough.legs.bodies import PARTED_PARAMETERS, STANDARD_PARAMETERS, BodyTable
from gough.legs.keys import LegTable
from gough.legs.register import KINDS

Outline = Annotated[Any, Numbers((2,), per_leg=True, each="corner")]
ModeScalar = Annotated[Any, Numbers((), per_leg=True, each="mode")]
if TYPE_CHECKING:
    AnyLegs = LegTable
else:
    every = reduce(or_, (kind.keys for kind in KINDS.values()))
    AnyLegs = Annotated[every, Field(discriminator="kind")]


class SingleBody(BodyTable):
    """A body of the platform, in platform axes."""

    @model_validator(mode="after")
    def _single(self) -> Self:
        ranks = {"center_of_mass": 1, "inertia": 2}
        for key in (*PARTED_PARAMETERS, *STANDARD_PARAMETERS):
            if np.ndim(getattr(self, key)) > ranks.get(key, 0):
                raise ValueError(f"{key} has a list of values; there is one platform")
        return self


class PlateTable(Table):
    """A thin flexible plate: mid-surface in the platform frame's plane z = 0."""

    radius: Scalar = Field(None, description="of the circle through the corners, m")
    sides: int | None = Field(
        None, ge=3, le=360, description="of a regular polygon, its first corner on the x axis"
    )
    outline: Outline = Field(None, description="or its corners [x, y], m, platform frame")
    thickness: Scalar = Field(description="m")
    density: Scalar = Field(description="kg/m³")
    young: Scalar = Field(description="Young's modulus, N/m²")
    poisson: Scalar = Field(0.3, description="Poisson's ratio")
    modes: int = Field(10, ge=0, le=300, description="number of elastic modes")
    damping_ratio: ModeScalar = Field(0.0, description="of critical damping; one, or one per mode")
    boundary: Literal["free", "pinned", "clamped"] = Field(
        "free", description="free edge, or pinned at the tips, or the whole edge clamped"
    )
    rotary_inertia: bool = Field(False, description="with the inertia of turning cross-sections")

    @model_validator(mode="after")
    def _one_shape(self) -> Self:
        given = [key for key in ("radius", "sides") if getattr(self, key) is not None]
        if self.outline is not None and given:
            raise ValueError(f"has {given[0]} as well as an outline")
        if self.outline is None and len(given) < 2:
            raise ValueError("needs either radius and sides, or outline")
        for key in ("radius", "thickness", "density", "young"):
            value = getattr(self, key)
            if value is not None and value <= 0:
                raise ValueError(f"{key} must be positive")
        if not -1 < self.poisson <= 0.5:
            raise ValueError("poisson must be above −1 and at most 0.5")
        if np.any(np.asarray(self.damping_ratio) < 0):
            raise ValueError("damping_ratio is negative")
        return self


class ModesTable(Table):
    """Modes from a file: .npz arrays, Nastran's .op2 or CalculiX' .frd."""

    file: str = Field(
        min_length=1, description=".npz, .op2 or .frd; relative to the robot file's folder"
    )
    geometry: str | None = Field(
        None, description="of an .op2 the .bdf, of an .frd the .inp; relative as well"
    )
    tips: list[int] | None = Field(
        None, description=".op2, .frd: node at each leg's tip; default the node at the place"
    )
    modes: int | None = Field(
        None, ge=0, le=300, description=".op2, .frd: number of elastic modes; default all"
    )
    damping_ratio: ModeScalar = Field(
        0.0, description=".op2, .frd: of critical damping; one, or one per mode"
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        ending = self.file.rpartition(".")[2].lower()
        if ending not in ("npz", "op2", "frd"):
            raise ValueError(f"file {self.file!r} must end in .npz, .op2 or .frd"[:200])
        if ending == "npz":
            for key in sorted(self.model_fields_set - {"file"}):
                raise ValueError(f"{key} does not go with an .npz file, which holds all there is")
        elif self.geometry is None:
            wanted = "geometry = '….bdf'" if ending == "op2" else "geometry = '….inp'"
            raise ValueError(f"an .{ending} file needs {wanted}")
        if np.any(np.asarray(self.damping_ratio) < 0):
            raise ValueError("damping_ratio is negative")
        return self


class PlatformTable(SingleBody):
    """The platform and what is bolted to it; or a flexible one, from a plate or from modes."""

    payload: list[SingleBody] = Field([], description="bodies added to the platform")
    plate: PlateTable | None = Field(None, description="a flexible plate")
    modes: ModesTable | None = Field(None, description="a flexible body from a file")

    @model_validator(mode="after")
    def _rigid_or_flexible(self) -> Self:
        flexible = [key for key in ("plate", "modes") if getattr(self, key) is not None]
        if len(flexible) == 2:
            raise ValueError("has both plate and modes: a platform is flexible in one way")
        rigid = sorted(self.model_fields_set - {"plate", "modes"})
        if flexible and rigid:
            raise ValueError(
                f"has {rigid[0]} as well as {flexible[0]}: a flexible platform's mass is its nodes'"
            )
        return self


class HomeTable(Table):
    """The pose in which the robot rests."""

    position: Vector = Field(description="m, world")
    rotation_vector: Vector = Field((0.0, 0.0, 0.0), description="rad, axis times angle")


def _printable(text: str) -> str:
    """Names go to terminals, pages and pictures: no control characters."""
    for sign in text:
        if not sign.isprintable():
            raise ValueError(f"has the control character {sign!r}")
    return text


class RobotFile(Table):
    """A robot: legs between a base and a platform."""

    format: Literal[1]
    name: Annotated[str, AfterValidator(_printable)]
    source: str = ""
    assumed: list[str] = Field([], description="what the source does not say, and what was taken")
    gravity: Vector = Field((0.0, 0.0, -9.81), description="m/s², world")
    home: HomeTable | None = None
    tool: Vector = Field((0.0, 0.0, 0.0), description="tool point, m, platform frame")
    legs: AnyLegs
    platform: PlatformTable | None = None


def json_schema() -> dict[str, Any]:
    """JSON Schema of robot files, for editors."""
    schema = RobotFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
