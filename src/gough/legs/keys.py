"""Keys under [legs] that kinds of legs share; those of one kind are in its folder."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from gough.base.keys import LegRange, LegScalar, LegVector, Table
from gough.legs.bodies import BodyTable


def _branch(value: Any) -> Any:
    for item in value if isinstance(value, list) else [value]:
        if item not in ("minus", "plus"):
            raise ValueError(f"needs 'minus' or 'plus', has {item!r}"[:120])
    return value


Sign = Literal["minus", "plus"]
Branch = Annotated[Sign | list[Sign], BeforeValidator(_branch)]


class FrictionTable(Table):
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


class LimitsTable(Table):
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


class LegTable(Table):
    """What all legs have."""

    kind: str
    platform: LegVector = Field(description="spherical joints P_i, m, platform frame")
    friction: FrictionTable = FrictionTable()
    limits: LimitsTable = LimitsTable()


class UniversalLegTable(LegTable):
    """What legs with a universal joint and a linear drive have."""

    axis: LegVector = Field(
        None,
        description="universal axis fixed to base or slider; default z × leg direction at home",
    )
    reference: LegVector = Field(
        None,
        description="zero of the first universal angle; default the world axis least along axis",
    )
    rotor_mass: LegScalar = Field(0.0, description="drive inertia felt along q, kg")


def _one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


# One table for all legs, or an array of tables, one per leg.
LegBodies = Annotated[
    list[BodyTable],
    BeforeValidator(_one_or_many, json_schema_input_type=BodyTable | list[BodyTable]),
]
