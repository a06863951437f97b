"""Keys of chains under [legs]: any serial leg by its joints, as it stands at home."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, StrictBool, model_validator

from gough.base.keys import (
    METRES,
    OF_Q,
    OF_ROTOR,
    LegRange,
    LegScalar,
    LegTurn,
    LegVector,
    Numbers,
    Table,
)
from gough.legs.bodies import BodyTable
from gough.legs.keys import DriveTable, LegBodies, LegGroupTable
from gough.legs.measurable import Form, GeometricKey
from gough.legs.units import LINEAR, ROTARY

NEEDS = {
    "revolute": ("point", "axis"),
    "prismatic": ("axis",),
    "universal": ("point", "axis", "axis2"),
    "spherical": ("point",),
}
"""Keys that each type of joint cannot do without."""
ONE_COORDINATE = ("revolute", "prismatic")
"""Types of joints with a coordinate that may be actuated, limited, and read otherwise than 0."""
ONE_ONLY = ("home", "rotor_inertia", "viscous", "coulomb", "width", "stroke", "force", "speed")
"""Keys that only these have."""
MOST_JOINTS = 20
"""Of a leg; with more than six coordinates it moves while the platform rests."""


def _switches(value: Any) -> Any:
    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    for item in plain if isinstance(plain, list | tuple) else [plain]:
        if not isinstance(item, bool | np.bool_):
            raise ValueError(f"needs true or false, has {item!r}"[:120])
    return [bool(item) for item in plain] if isinstance(plain, list | tuple) else bool(plain)


LegSwitch = Annotated[StrictBool | list[StrictBool], BeforeValidator(_switches)]


class JointTable(Table):
    """A joint of a chain and the body that it carries; all in the leg's frame, robot at home."""

    type: Literal["revolute", "prismatic", "universal", "spherical"]
    point: Annotated[LegVector, METRES] = Field(
        None,
        description="on the axis, m; universal, spherical: the centre; prismatic: the origin of its "
        "body's frame, default that of the joint before, of the first joint the leg's",
    )
    axis: LegVector = Field(
        None, description="revolute, prismatic, and the first one of a universal joint; made unit"
    )
    axis2: LegVector = Field(
        None,
        description="universal: the second axis, fixed to the body it carries; made perpendicular "
        "to axis",
    )
    actuated: LegSwitch = Field(False, description="revolute and prismatic only")
    home: Annotated[LegScalar, OF_Q] = Field(
        0.0, description="what the coordinate reads at home, rad or m"
    )
    rotor_inertia: Annotated[LegScalar, OF_ROTOR] = Field(
        0.0, description="drive inertia of an actuated joint, kg m²; prismatic: kg"
    )
    viscous: LegScalar = Field(0.0, description="friction, N m s/rad; prismatic: N s/m")
    coulomb: LegScalar = Field(0.0, description="friction, N m; prismatic: N")
    width: LegScalar = Field(0.0, description="smoothing of the Coulomb term, rad/s or m/s")
    stroke: Annotated[LegRange, OF_Q] = Field(
        None, description="[min, max] of the coordinate, rad or m"
    )
    force: LegScalar = Field(None, description="largest actuator force, N m; prismatic: N")
    speed: LegScalar = Field(None, description="largest rate, rad/s; prismatic: m/s")
    drive: DriveTable | None = Field(
        None, description="what gives way between the actuator of an actuated joint and the joint"
    )
    body: LegBodies | None = Field(
        None,
        description="what the joint carries up to the next one: origin of its frame at point, axes "
        "at home those of the leg; {} is massless",
    )

    @classmethod
    def own_units(cls, data: Mapping[str, Any]) -> Mapping[str, str]:
        """By the joint's type."""
        linear = data.get("type") == "prismatic"
        units = LINEAR if linear else ROTARY
        return {"[q]": units.q, "[rotor]": "kg" if linear else "kg m2"}

    @model_validator(mode="after")
    def _fits_its_type(self) -> Self:
        for key in NEEDS[self.type]:
            if getattr(self, key) is None:
                raise ValueError(f"a {self.type} joint needs {key}")
        for key in ("axis", "axis2"):
            if key not in NEEDS[self.type] and getattr(self, key) is not None:
                raise ValueError(f"a {self.type} joint has no {key}")
        if self.type in ONE_COORDINATE:
            return self
        if np.any(self.actuated):
            raise ValueError(f"a {self.type} joint cannot be actuated")
        if self.drive is not None:
            raise ValueError(f"a {self.type} joint has no drive")
        for key in ONE_ONLY:
            value = getattr(self, key)
            if value is not None and np.any(value):
                raise ValueError(f"a {self.type} joint has no {key}")
        return self


class ChainTable(LegGroupTable):
    """Any serial leg by its joints from base to platform, as it stands at home."""

    kind: Literal["chain"]
    position: Annotated[LegVector, METRES] = Field(
        (0.0,) * 3, description="origin of the leg's frame, m, world"
    )
    rotation_vector: LegTurn = Field((0.0,) * 3, description="of the leg's frame, rad, world")
    joints: list[JointTable] = Field(
        min_length=1,
        max_length=MOST_JOINTS,
        description="from the base to the platform, which the last one carries",
    )

    @model_validator(mode="before")
    @classmethod
    def _rigid(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "beams" in data:
            raise ValueError(
                "chains have no beams: links, cylinders and rods of UPS, PUS, RUS bend"
            )
        return data

    def places(self, place: str) -> tuple[str, ...]:
        """Where the legs' frames are."""
        return (place,)

    def body_tables(self, names: Sequence[str]) -> list[list[BodyTable] | None]:
        """Of what each joint but the last carries."""
        return [joint.body for joint in self.joints[: len(names)]]

    def drive_keys(self) -> tuple[str, ...]:
        """One table per actuated joint."""
        return tuple(
            f"joints.{i}.drive" for i, joint in enumerate(self.joints) if joint.drive is not None
        )

    def actuated_keys(self) -> tuple[str, ...]:
        """One table per actuated joint."""
        return tuple(
            f"joints.{i}.drive" for i, joint in enumerate(self.joints) if np.any(joint.actuated)
        )

    def listed(self, place: str) -> Iterator[tuple[str, int]]:
        """Any value but the type of a joint may be a list with one per leg."""
        yield from _listed(self, "")
        for i, joint in enumerate(self.joints):
            where = f"joints.{i}"
            yield from _listed(joint, f"{where}.")
            if isinstance(joint.actuated, list):
                yield f"{where}.actuated", len(joint.actuated)
            bodies = joint.body or []
            if len(bodies) > 1:
                yield f"{where}.body", len(bodies)
            for body in bodies:
                yield from _listed(body, f"{where}.body.")
                if body.mesh is not None and len(body.mesh) > 1:
                    yield f"{where}.body.mesh", len(body.mesh)
            if joint.drive is not None:
                yield from _listed(joint.drive, f"{where}.drive.")


def _listed(table: Table, where: str) -> Iterator[tuple[str, int]]:
    """Numbers of a table that are lists with one per leg, and for how many legs."""
    for key in sorted(table.model_fields_set):
        value = np.asarray(getattr(table, key))
        for numbers in type(table).model_fields[key].metadata:
            if isinstance(numbers, Numbers) and value.ndim > len(numbers.shape):
                yield f"{where}{key}", len(value)


def measurable(table: ChainTable) -> tuple[GeometricKey, ...]:
    """Points and axes of all joints at home, and what actuated ones read there."""
    found = []
    for i, joint in enumerate(table.joints):
        where = f"joints.{i}"
        if joint.point is not None and joint.type != "prismatic":
            found.append(GeometricKey(f"{where}.point", "point"))
        if joint.axis is not None:
            found.append(GeometricKey(f"{where}.axis", "direction"))
        if joint.axis2 is not None:
            found.append(GeometricKey(f"{where}.axis2", "turn", f"{where}.axis"))
        if np.any(joint.actuated):
            form: Form = "angle" if joint.type == "revolute" else "length"
            found.append(GeometricKey(f"{where}.home", form))
    return tuple(found)
