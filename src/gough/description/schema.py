"""The robot file as pydantic models: which keys there are, what each may hold.

Any key under [legs] holds one value for all legs or a list with one per leg; the key's own rank
decides. The models check types, shapes and finiteness; `gough.description.numbers` makes the numbers.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from gough.base.keys import METRES, Numbers, Scalar, Table, Turn, Vector
from gough.base.units import Unit, converted
from gough.errors import InputError
from gough.legs.bodies import MOST_LISTED, BodyTable
from gough.legs.keys import LegGroupTable
from gough.legs.register import KINDS
from gough.legs.solids import SolidKeys

Outline = Annotated[Any, Numbers((2,), per_leg=True, each="corner")]
ModeScalar = Annotated[Any, Numbers((), per_leg=True, each="mode")]


def _one_or_several(value: Any) -> str:
    return "several groups" if isinstance(value, list | tuple) else "one group"


if TYPE_CHECKING:
    LegGroupTables = Any
else:
    every = reduce(or_, (kind.keys for kind in KINDS.values()))
    AnyLegs = Annotated[every, Field(discriminator="kind")]
    LegGroupTables = Annotated[
        Annotated[AnyLegs, Tag("one group")]
        | Annotated[list[AnyLegs], Field(min_length=1), Tag("several groups")],
        Discriminator(_one_or_several),
    ]
"""[legs], or [[legs]] for several groups."""
Mobility = Literal["translation", "rotation", "planar", "schoenflies"]
Coordinate = Literal["x", "y", "z", "rx", "ry", "rz"]


class SingleBody(BodyTable):
    """A body of the platform, in platform axes."""

    @model_validator(mode="after")
    def _single(self) -> Self:
        tables: list[SolidKeys] = [self, *self.shapes]
        for table in tables:
            for key, field in type(table).model_fields.items():
                for one in field.metadata:
                    if isinstance(one, Numbers) and np.ndim(getattr(table, key)) > len(one.shape):
                        raise ValueError(f"{key} has a list of values; there is one platform")
        if self.mesh is not None and len(self.mesh) != 1:
            raise ValueError("mesh has a list per leg; there is one platform")
        return self


DAMPING_RATIO = 0.005
"""Of critical damping, of modes whose file states none: welded steel at small amplitudes."""


class PlateTable(Table):
    """A thin flexible plate: mid-surface in the platform frame's plane z = 0."""

    radius: Annotated[Scalar, METRES] = Field(
        None, description="of the circle through the corners, m"
    )
    sides: int | None = Field(
        None, ge=3, le=360, description="of a regular polygon, its first corner on the x axis"
    )
    outline: Annotated[Outline, METRES] = Field(
        None, description="or its corners [x, y], m, platform frame"
    )
    thickness: Annotated[Scalar, METRES] = Field(description="m")
    density: Scalar = Field(description="kg/m³")
    young: Scalar = Field(description="Young's modulus, N/m²")
    poisson: Scalar = Field(0.3, description="Poisson's ratio")
    modes: int = Field(10, ge=0, le=100, description="number of elastic modes")
    damping_ratio: ModeScalar = Field(
        DAMPING_RATIO, description="of critical damping; one, or one per mode"
    )
    boundary: Literal["free", "pinned", "clamped"] = Field(
        "free", description="free edge, or pinned at the tips, or the whole edge clamped"
    )
    rotary_inertia: bool = Field(False, description="with the inertia of turning cross-sections")

    @property
    def states_no_damping(self) -> bool:
        """The file leaves the damping of the modes to gough."""
        return "damping_ratio" not in self.model_fields_set

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
        DAMPING_RATIO, description=".op2, .frd: of critical damping; one, or one per mode"
    )

    @property
    def states_no_damping(self) -> bool:
        """The file leaves the damping of the modes to gough; an .npz holds its own."""
        return "damping_ratio" not in self.model_fields_set and self.geometry is not None

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


class PayloadTable(SingleBody):
    """A body bolted to the platform, in platform axes."""

    point: Annotated[Vector, METRES] = Field(
        None, description="of a flexible platform, where it is bolted on, m, platform frame"
    )


FREEDOM = ("mobility", "coordinates")
"""Keys of [platform] that say how it can move."""


class PlatformTable(SingleBody):
    """The platform and what is bolted to it; or a flexible one, from a plate or from modes."""

    payload: list[PayloadTable] = Field(
        [], max_length=MOST_LISTED, description="bodies added to the platform"
    )
    plate: PlateTable | None = Field(None, description="a flexible plate")
    modes: ModesTable | None = Field(None, description="a flexible body from a file")
    mobility: Mobility | None = Field(
        None,
        description="what the platform is kept to: its rotation of home; its place of home; the "
        "plane x, y of its frame at home; turning about z of that frame",
    )
    coordinates: list[Coordinate] | None = Field(
        None,
        min_length=1,
        description="names of the robot's coordinates: place of the platform's origin, rotation "
        "vector from home, world axes",
    )

    @property
    def freedom(self) -> dict[str, Any]:
        """What the table says of how the platform can move, by key."""
        given = {key: getattr(self, key) for key in FREEDOM}
        return {key: value for key, value in given.items() if value is not None}

    @property
    def kept(self) -> dict[str, Any]:
        """What stays of the table where a platform is made rigid: how it moves, how it looks."""
        meshes = [one.model_dump(exclude_unset=True) for one in (self.mesh or [[]])[0]]
        return self.freedom | ({"mesh": meshes} if meshes else {})

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = self.coordinates or []
        twice = [name for i, name in enumerate(names) if name in names[:i]]
        if twice:
            raise ValueError(f"coordinates has {twice[0]!r} twice")
        return self

    @model_validator(mode="after")
    def _rigid_or_flexible(self) -> Self:
        flexible = [key for key in ("plate", "modes") if getattr(self, key) is not None]
        if len(flexible) == 2:
            raise ValueError("has both plate and modes: a platform is flexible in one way")
        rigid = sorted(self.model_fields_set - {*FREEDOM, "plate", "modes", "mesh", "payload"})
        if flexible and rigid:
            raise ValueError(
                f"has {rigid[0]} as well as {flexible[0]}: a flexible platform's mass is its nodes'"
            )
        for i, one in enumerate(self.payload, 1):
            if flexible and one.point is None:
                raise ValueError(
                    f"has payload as well as {flexible[0]}: payload {i} needs the point where it is "
                    "bolted to the flexible platform, point = [x, y, z]"
                )
            if not flexible and one.point is not None:
                raise ValueError(
                    f"payload {i} has a point, which goes with a flexible platform only"
                )
        return self


class HomeTable(Table):
    """The pose in which the robot rests."""

    position: Annotated[Vector, METRES] = Field(description="m, world")
    rotation_vector: Turn = Field((0.0, 0.0, 0.0), description="rad, axis times angle")


def _printable(text: str) -> str:
    """Names go to terminals, pages and pictures: no control characters."""
    for sign in text:
        if not sign.isprintable():
            raise ValueError(f"has the control character {sign!r}")
    return text


QUANTITIES = {"length": "m", "angle": "rad", "mass": "kg", "inertia": "kg m2"}
"""What a robot file may have other units for, and the SI units."""


class UnitsTable(Table):
    """Units of the file's numbers where they are not SI; all others stay SI."""

    length: str = Field("m", description="of all keys in m, such as mm")
    angle: str = Field("rad", description="of all keys in rad, such as deg")
    mass: str = Field("kg", description="of all keys in kg, such as g")
    inertia: str = Field("kg m2", description="of all keys in kg m², such as kg mm2")

    @model_validator(mode="after")
    def _measure(self) -> Self:
        _ = self.units
        return self

    @property
    def units(self) -> dict[str, Unit]:
        """Those that are given, by quantity."""
        try:
            return {
                one: converted(one, getattr(self, one), QUANTITIES[one])
                for one in sorted(self.model_fields_set)
            }
        except InputError as error:
            raise ValueError(str(error)) from None


class RobotFile(Table):
    """A robot: legs between a base and a platform."""

    format: Literal[1]
    name: Annotated[str, AfterValidator(_printable)]
    source: str = ""
    assumed: list[str] = Field(
        [], max_length=MOST_LISTED, description="what the source does not say, and what was taken"
    )
    units: UnitsTable | None = Field(None, description="of the file's numbers, if they are not SI")
    gravity: Vector = Field((0.0, 0.0, -9.81), description="m/s², world")
    home: HomeTable | None = None
    tool: Annotated[Vector, METRES] = Field(
        (0.0, 0.0, 0.0), description="tool point, m, platform frame"
    )
    legs: LegGroupTables
    platform: PlatformTable | None = None

    @property
    def assumptions(self) -> list[str]:
        """What the file says is assumed, and the damping that gough assumes."""
        platform = self.platform or PlatformTable()
        own = list(self.assumed)
        if any(
            one is not None and one.states_no_damping for one in (platform.plate, platform.modes)
        ):
            own.append(
                f"damping_ratio = {DAMPING_RATIO} of the platform's modes; the file states none"
            )
        return own

    @property
    def leg_groups(self) -> dict[str, LegGroupTable]:
        """Groups of legs by what leads to their keys: "legs", or "legs.0", "legs.1" and so on."""
        if isinstance(self.legs, list):
            return {f"legs.{i}": group for i, group in enumerate(self.legs)}
        return {"legs": self.legs}

    @model_validator(mode="after")
    def _home(self) -> Self:
        for key in FREEDOM:
            if self.home is None and self.platform is not None and key in self.platform.freedom:
                raise ValueError(f"platform.{key} needs home, which is missing")
        return self


def json_schema() -> dict[str, Any]:
    """JSON Schema of robot files, for editors."""
    schema = RobotFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
