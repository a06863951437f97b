"""What people read of a kind of leg: names and units of its joints, bodies and friction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

FRICTION_UNITS: Mapping[str, str] = MappingProxyType(
    {
        "slider_viscous": "N s/m",
        "universal_viscous": "N m s/rad",
        "universal_coulomb": "m",
        "spherical_viscous": "N m s/rad",
        "spherical_coulomb": "m",
        "screw_drag": "N",
        "motor_viscous": "N m s/rad",
        "motor_coulomb": "N m",
        "width": "m/s, rad/s",
    }
)
"""Of the coefficients that have the same one in most kinds of legs."""


@dataclass(frozen=True)
class LegWords:
    """Names and units for reports, pictures, files and generated C."""

    joints: tuple[str, ...]
    """The joint coordinates, `Leg.JOINTS`."""
    joint_units: tuple[str, ...]
    """Theirs."""
    passive: Mapping[str, str]
    """Those that no actuator moves, and how a picture writes them."""
    carried: str
    """The body that the cross of the universal joint carries."""
    friction_units: Mapping[str, str] = field(default_factory=lambda: FRICTION_UNITS)
    """Of the coefficients of friction that have one, by name or its last word."""
    body_key: str = "{name}"
    """The key of a body in a group of legs, by its `name` or its `place` from 0."""

    @property
    def c_notes(self) -> Mapping[str, str]:
        """Comments of generated C, by the name of what they explain."""
        units, names = ", ".join(self.joint_units), ", ".join(self.joints)
        notes = {"universal": f"N: force of the cross on the {self.carried}, world axes."}
        return notes | ({"joints": f"{units}: ({names}) of each leg."} if names else {})
