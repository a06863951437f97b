"""Keys under [legs] that kinds of legs share; those of one kind are in its folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from gough.base.arrays import Array
from gough.base.keys import KILOGRAMS, METRES, OF_Q, RADIANS, LegRange, LegScalar, LegVector, Table
from gough.legs.bodies import BodyTable
from gough.legs.units import LINEAR

NOMINAL_LEAD = 0.01
"""Lead (m) of a screw whose drag is known and whose file gives none: only their ratio counts."""


Direction = tuple[float, float, float]


def _branch(value: Any) -> Any:
    for item in value if isinstance(value, list) else [value]:
        if item not in ("minus", "plus"):
            raise ValueError(f"needs 'minus' or 'plus', has {item!r}"[:120])
    return value


Sign = Literal["minus", "plus"]
Branch = Annotated[Sign | list[Sign], BeforeValidator(_branch)]


class FrictionTable(Table):
    """Friction in the joints of the legs (Kim & Ryu 2002, Eqs. 30–31, corrected)."""

    universal_viscous: LegScalar = Field(0.0, description="c_u, N m s/rad")
    universal_coulomb: Annotated[LegScalar, METRES] = Field(0.0, description="k_u, m")
    spherical_viscous: LegScalar = Field(0.0, description="c_p, N m s/rad")
    spherical_coulomb: Annotated[LegScalar, METRES] = Field(0.0, description="k_p, m")
    width: LegScalar = Field(0.0, description="smoothing of the Coulomb terms, m/s and rad/s")

    @model_validator(mode="after")
    def _sane(self) -> Self:
        for key in type(self).model_fields:
            value = getattr(self, key)
            if value is not None and np.any(np.asarray(value) < 0):
                raise ValueError(f"{key} is negative")
        return self

    def coefficients(self) -> dict[str, Any]:
        """Those of `gough.mechanics.friction.Friction` that these keys give, for all legs or each."""
        return {key: getattr(self, key) for key in type(self).model_fields}

    def keys_of(self, coefficient: str, values: Array) -> dict[str, Array]:
        """Keys and values (legs,) that give a coefficient these values."""
        return {coefficient: values}


class SliderFrictionTable(FrictionTable):
    """Friction in legs that a slider or a telescope drives, perhaps by a ball screw."""

    slider_viscous: LegScalar = Field(0.0, description="c_s, N s/m")
    slider_coulomb: LegScalar = Field(0.0, description="PUS: μ_s, a number; UPS: F_c, N")
    screw_torque: LegScalar = Field(0.0, description="τ_b, drag of the ball screw, N m")
    screw_lead: Annotated[LegScalar, METRES] = Field(None, description="lead of the ball screw, m")

    @model_validator(mode="after")
    def _screw(self) -> Self:
        if "screw_torque" in self.model_fields_set and self.screw_lead is None:
            raise ValueError("screw_torque without screw_lead")
        if self.screw_lead is not None and np.any(np.asarray(self.screw_lead) == 0):
            raise ValueError("screw_lead is zero")
        return self

    def coefficients(self) -> dict[str, Any]:
        """The drag of a ball screw is 2π τ_b/lead, N."""
        values = super().coefficients()
        torque, lead = values.pop("screw_torque"), values.pop("screw_lead")
        if lead is not None:
            with np.errstate(over="ignore"):  # what is infinite is refused with the whole robot
                values["screw_drag"] = 2 * np.pi * np.asarray(torque) / np.asarray(lead)
        return values

    def keys_of(self, coefficient: str, values: Array) -> dict[str, Array]:
        """The drag of a ball screw as its torque, with the file's lead or a nominal one."""
        if coefficient != "screw_drag":
            return super().keys_of(coefficient, values)
        lead = np.asarray(NOMINAL_LEAD if self.screw_lead is None else self.screw_lead)
        found = {"screw_torque": values * lead / (2 * np.pi)}
        return found if self.screw_lead is not None else {"screw_lead": lead, **found}


class LimitsTable(Table):
    """What the robot can take; `robot.check(motion)` reports what exceeds it."""

    stroke: Annotated[LegRange, OF_Q] = Field(None, description="[min, max] of q, m; RUS: rad")
    force: LegScalar = Field(None, description="largest actuator force, N; RUS: N m")
    speed: LegScalar = Field(None, description="largest q̇, m/s; RUS: rad/s")
    universal_angle: Annotated[LegScalar, RADIANS] = Field(
        None,
        description="largest angle between the leg and its direction at home, rad, seen from the body "
        "that carries the universal joint: base, slider or turning crank",
    )
    spherical_angle: Annotated[LegScalar, RADIANS] = Field(
        None,
        description="largest angle between the leg and its direction at home, rad, seen from the "
        "platform",
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


class DriveTable(Table):
    """What gives way between an actuator and its coordinate q: screw, belt, gear, column of oil."""

    stiffness: LegScalar = Field(
        None,
        description="along q, in series with the actuator, N/m; rotary: N m/rad; default rigid",
    )
    damping: LegScalar = Field(0.0, description="parallel to it, N s/m; rotary: N m s/rad")

    @model_validator(mode="after")
    def _sane(self) -> Self:
        if self.stiffness is None:
            if np.any(self.damping):
                raise ValueError("damping without stiffness: a rigid drive has nothing to damp")
        elif np.any(self.stiffness <= 0):
            raise ValueError("stiffness must be positive; leave it out of a rigid drive")
        if np.any(np.asarray(self.damping) < 0):
            raise ValueError("damping is negative")
        return self


class LegGroupTable(Table):
    """What any group of legs has."""

    kind: str
    runs: ClassVar[Mapping[str, Direction]] = {}
    """Where bodies extend from the origin of their frame, if not along its z: shapes point there."""

    def listed(self, place: str) -> Iterator[tuple[str, int]]:
        """Keys that tell how many legs there are: by a list with one value per leg, and how long.

        `place` is the key of the points where the legs stand on the ground.
        """
        raise NotImplementedError

    def places(self, place: str) -> tuple[str, ...]:
        """Keys that may be lists with one point per leg."""
        raise NotImplementedError

    def body_tables(self, names: Sequence[str]) -> list[list[BodyTable] | None]:
        """The tables of bodies, one for all legs or one per leg; None of a body that is not given.

        `names` are those of the legs' numbers, `Leg.BODIES`.
        """
        return [getattr(self, name) for name in names]

    def drive_keys(self) -> tuple[str, ...]:
        """Keys of the tables that say what gives way in drives, as far as there are any."""
        raise NotImplementedError

    def beam_keys(self) -> tuple[str, ...]:
        """The key of the table of members that bend, if the file has one."""
        return ("beams",) if "beams" in self.model_fields_set else ()

    def actuated_keys(self) -> tuple[str, ...]:
        """Keys that such tables have or could have, in the order of a leg's actuators."""
        raise NotImplementedError


class LegTable(LegGroupTable):
    """What legs have that are given by their points on base and platform."""

    platform: Annotated[LegVector, METRES] = Field(
        description="spherical joints P_i, m, platform frame"
    )
    friction: FrictionTable = FrictionTable()
    limits: LimitsTable = LimitsTable()
    drive: DriveTable = DriveTable()

    @classmethod
    def own_units(cls, data: Mapping[str, Any]) -> Mapping[str, str]:
        """A linear actuator's."""
        return {"[q]": LINEAR.q}

    def places(self, place: str) -> tuple[str, ...]:
        """Where the legs hold the platform, and where they stand."""
        return ("platform", place)

    def drive_keys(self) -> tuple[str, ...]:
        """One table for all legs."""
        return ("drive",) if "drive" in self.model_fields_set else ()

    def actuated_keys(self) -> tuple[str, ...]:
        """One table for all legs."""
        return ("drive",)

    def listed(self, place: str) -> Iterator[tuple[str, int]]:
        """These keys alone tell how many legs there are."""
        for key in self.places(place):
            value = getattr(self, key)
            if value.ndim == 2:
                yield key, len(value)


class UniversalLegTable(LegTable):
    """What legs with a universal joint and a linear drive have."""

    friction: SliderFrictionTable = SliderFrictionTable()

    axis: LegVector = Field(
        None,
        description="universal axis fixed to base or slider; default z × leg direction at home",
    )
    reference: LegVector = Field(
        None,
        description="zero of the first universal angle; default the world axis least along axis",
    )
    rotor_mass: Annotated[LegScalar, KILOGRAMS] = Field(
        0.0, description="drive inertia felt along q, kg"
    )


def _one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


# One table for all legs, or an array of tables, one per leg.
LegBodies = Annotated[
    list[BodyTable],
    BeforeValidator(_one_or_many, json_schema_input_type=BodyTable | list[BodyTable]),
]
