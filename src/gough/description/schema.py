"""The robot file as pydantic models: which keys there are, what each may hold.

Any key under [legs] holds one value for all legs or a list with one per leg; the key's own rank
decides. The models check types, shapes and finiteness; `gough.description.numbers` makes the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from gough.base.arrays import Array

STANDARD_PARAMETERS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
LARGEST = 1e12
"""Largest number of a robot file, SI units: what is beyond is a slip."""
PARTED_PARAMETERS = ("mass", "center_of_mass", "inertia")


def _numbers(value: Any) -> Array:
    def check(item: Any) -> None:
        if isinstance(item, list | tuple | np.ndarray):
            for part in item:
                check(part)
        elif isinstance(item, bool) or not isinstance(item, int | float | np.number):
            raise ValueError(f"needs numbers, has {item!r}"[:120])

    check(value)
    try:
        array = np.array(value, dtype=np.float64)
    except OverflowError:
        raise ValueError("has a number that is not finite") from None
    except ValueError:
        raise ValueError("is a ragged list: its rows differ in length") from None
    if not np.all(np.isfinite(array)):
        raise ValueError("has a number that is not finite")
    if np.abs(array).max(initial=0.0) > LARGEST:
        raise ValueError(f"has the number {np.abs(array).max():g}; limit {LARGEST:g}")
    return array


@dataclass(frozen=True)
class Numbers:
    """An array of a shape, or, if `per_leg`, a list of such with one per leg (or what `each` says)."""

    shape: tuple[int, ...]
    per_leg: bool
    each: str = "leg"

    def validate(self, value: Any) -> Array:
        """The value as an array."""
        array = _numbers(value)
        rank = len(self.shape)
        core = array.shape[array.ndim - rank :] if array.ndim >= rank else None
        if core != self.shape or array.ndim - rank > self.per_leg:
            wanted = " × ".join(map(str, self.shape)) + " numbers" if self.shape else "a number"
            more = f", or a list of such with one per {self.each}" if self.per_leg else ""
            raise ValueError(f"needs {wanted}{more}; has shape {array.shape}")
        return array

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.validate)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        one: dict[str, Any] = {"type": "number"}
        for length in reversed(self.shape):
            one = {"type": "array", "items": one, "minItems": length, "maxItems": length}
        many = {"type": "array", "items": one, "minItems": 1 if self.each == "mode" else 3}
        return {"anyOf": [one, many]} if self.per_leg else one


def _branch(value: Any) -> Any:
    for item in value if isinstance(value, list) else [value]:
        if item not in ("minus", "plus"):
            raise ValueError(f"needs 'minus' or 'plus', has {item!r}"[:120])
    return value


Scalar = Annotated[Any, Numbers((), per_leg=False)]
Vector = Annotated[Any, Numbers((3,), per_leg=False)]
Outline = Annotated[Any, Numbers((2,), per_leg=True, each="corner")]
ModeScalar = Annotated[Any, Numbers((), per_leg=True, each="mode")]
LegScalar = Annotated[Any, Numbers((), per_leg=True)]
LegVector = Annotated[Any, Numbers((3,), per_leg=True)]
LegMatrix = Annotated[Any, Numbers((3, 3), per_leg=True)]
LegRange = Annotated[Any, Numbers((2,), per_leg=True)]
Sign = Literal["minus", "plus"]
Branch = Annotated[Sign | list[Sign], BeforeValidator(_branch)]


class Table(BaseModel):
    """A TOML table in which every key must be known."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Body(Table):
    """A body: mass, centre of mass and central inertia, or the papers' ten standard parameters."""

    mass: LegScalar = Field(0.0, description="kg")
    center_of_mass: LegVector = Field((0.0, 0.0, 0.0), description="m, in the body's frame")
    inertia: LegMatrix = Field(
        ((0.0,) * 3,) * 3, description="kg m², about the centre of mass, axes of the body's frame"
    )
    XX: LegScalar = Field(0.0, description="kg m², about the frame's origin")
    XY: LegScalar = Field(0.0, description="kg m², −∫ x y dm")
    XZ: LegScalar = Field(0.0, description="kg m², −∫ x z dm")
    YY: LegScalar = Field(0.0, description="kg m², about the frame's origin")
    YZ: LegScalar = Field(0.0, description="kg m², −∫ y z dm")
    ZZ: LegScalar = Field(0.0, description="kg m², about the frame's origin")
    MX: LegScalar = Field(0.0, description="first moment, kg m")
    MY: LegScalar = Field(0.0, description="first moment, kg m")
    MZ: LegScalar = Field(0.0, description="first moment, kg m")
    M: LegScalar = Field(0.0, description="mass, kg")

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        parted = [key for key in PARTED_PARAMETERS if key in self.model_fields_set]
        standard = [key for key in STANDARD_PARAMETERS if key in self.model_fields_set]
        if parted and standard:
            raise ValueError(
                f"mixes {parted[0]} with {standard[0]}: give mass, center_of_mass, inertia "
                "or the ten standard parameters"
            )
        return self


class SingleBody(Body):
    """A body of the platform, in platform axes."""

    @model_validator(mode="after")
    def _single(self) -> Self:
        ranks = {"center_of_mass": 1, "inertia": 2}
        for key in (*PARTED_PARAMETERS, *STANDARD_PARAMETERS):
            if np.ndim(getattr(self, key)) > ranks.get(key, 0):
                raise ValueError(f"{key} has a list of values; there is one platform")
        return self


class Plate(Table):
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


class Modes(Table):
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


class Platform(SingleBody):
    """The platform and what is bolted to it; or a flexible one, from a plate or from modes."""

    payload: list[SingleBody] = Field([], description="bodies added to the platform")
    plate: Plate | None = Field(None, description="a flexible plate")
    modes: Modes | None = Field(None, description="a flexible body from a file")

    @model_validator(mode="after")
    def _rigid_or_flexible(self) -> Self:
        flexible = [key for key in ("plate", "modes") if getattr(self, key) is not None]
        if len(flexible) == 2:
            raise ValueError("has both plate and modes: a flexible platform is one of them")
        rigid = sorted(self.model_fields_set - {"plate", "modes"})
        if flexible and rigid:
            raise ValueError(
                f"has {rigid[0]} as well as {flexible[0]}: a flexible platform's mass is its nodes'"
            )
        return self


class Home(Table):
    """The pose in which the robot rests."""

    position: Vector = Field(description="m, world")
    rotation_vector: Vector = Field((0.0, 0.0, 0.0), description="rad, axis times angle")


class Friction(Table):
    """Friction in the joints of the legs (Kim & Ryu 2002, Eqs. 30–31, corrected)."""

    slider_viscous: LegScalar = Field(0.0, description="c_s, N s/m")
    slider_coulomb: LegScalar = Field(0.0, description="PUS: μ_s, a number; UPS: F_c, N")
    universal_viscous: LegScalar = Field(0.0, description="c_u, N m s/rad")
    universal_coulomb: LegScalar = Field(0.0, description="k_u, m")
    spherical_viscous: LegScalar = Field(0.0, description="c_p, N m s/rad")
    spherical_coulomb: LegScalar = Field(0.0, description="k_p, m")
    screw_torque: LegScalar = Field(0.0, description="τ_b, drag of the ball screw, N m")
    screw_lead: LegScalar = Field(None, description="lead of the ball screw, m")
    width: LegScalar = Field(0.0, description="smoothing of the Coulomb terms, m/s and rad/s")

    @model_validator(mode="after")
    def _sane(self) -> Self:
        for key in type(self).model_fields:
            value = getattr(self, key)
            if value is not None and np.any(np.asarray(value) < 0):
                raise ValueError(f"{key} is negative")
        if "screw_torque" in self.model_fields_set and self.screw_lead is None:
            raise ValueError("screw_torque without screw_lead")
        if self.screw_lead is not None and np.any(np.asarray(self.screw_lead) == 0):
            raise ValueError("screw_lead is zero")
        return self


class Limits(Table):
    """What the robot can take; `robot.check(motion)` reports what exceeds it."""

    stroke: LegRange = Field(None, description="[min, max] of q, m")
    force: LegScalar = Field(None, description="largest actuator force, N")
    speed: LegScalar = Field(None, description="largest q̇, m/s")
    universal_angle: LegScalar = Field(
        None, description="largest angle between the leg and its direction at home, rad"
    )
    spherical_angle: LegScalar = Field(
        None,
        description="largest angle between the leg and its direction at home, both seen from the "
        "platform, rad",
    )

    @model_validator(mode="after")
    def _sane(self) -> Self:
        if self.stroke is not None and np.any(self.stroke[..., 0] >= self.stroke[..., 1]):
            raise ValueError("stroke needs [min, max] with min < max")
        for key in ("force", "speed", "universal_angle", "spherical_angle"):
            value = getattr(self, key)
            if value is not None and np.any(value <= 0):
                raise ValueError(f"{key} must be positive")
        return self


class Legs(Table):
    """What both leg kinds have."""

    platform: LegVector = Field(description="spherical joints P_i, m, platform frame")
    axis: LegVector = Field(
        None,
        description="universal axis fixed to base or slider; default z × leg direction at home",
    )
    reference: LegVector = Field(
        None,
        description="zero of the first universal angle; default the world axis least along axis",
    )
    rotor_mass: LegScalar = Field(0.0, description="drive inertia felt along q, kg")
    friction: Friction = Friction()
    limits: Limits = Limits()


def _one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


# One table for all legs, or an array of tables with one per leg.
LegBodies = Annotated[
    list[Body], BeforeValidator(_one_or_many, json_schema_input_type=Body | list[Body])
]


class UPSLegs(Legs):
    """Universal joint on the base, actuated prismatic joint, spherical joint on the platform."""

    kind: Literal["UPS"]
    base: LegVector = Field(description="universal joints B_i, m, world")
    cross: LegBodies | None = Field(None, description="link 1, frame 1")
    cylinder: LegBodies | None = Field(None, description="link 2, frame 2")
    rod: LegBodies | None = Field(None, description="link 3, frame 3, whose origin is the tip P")


class PUSLegs(Legs):
    """Actuated slider on a rail, universal joint, link of fixed length, spherical joint."""

    kind: Literal["PUS"]
    rail_origin: LegVector = Field(description="the slider's universal joint at q = 0, m, world")
    rail_direction: LegVector = Field(description="of growing q; made unit length")
    length: LegScalar = Field(description="of the link, m")
    branch: Branch = Field("minus", description="q = a·d ∓ √…")
    slider: LegBodies | None = Field(None, description="frame in world axes at the universal joint")
    cross: LegBodies | None = Field(None, description="z along axis, x towards the link")
    link: LegBodies | None = Field(None, description="z along the link, y along link × axis")


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
    home: Home | None = None
    tool: Vector = Field((0.0, 0.0, 0.0), description="tool point, m, platform frame")
    legs: Annotated[UPSLegs | PUSLegs, Field(discriminator="kind")]
    platform: Platform | None = None


def json_schema() -> dict[str, Any]:
    """JSON Schema of robot files, for editors."""
    schema = RobotFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
