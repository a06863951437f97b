"""Units of what an actuator does: along a line, or about an axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class LegUnits:
    """Units of the actuated coordinate q and of the actuator force Γ, whose product is joule."""

    q: str
    force: str
    force_name: str
    """The unit of force in words."""
    mistaken: str
    """The unit in words that a log may have q in by mistake."""

    @property
    def turns(self) -> bool:
        """Whether q is an angle: a whole turn more is the same place."""
        return self.q == "rad"

    @property
    def speed(self) -> str:
        """Of q̇."""
        return self.of("[q]/s")

    def of(self, unit: str) -> str:
        """A unit in which [q] and [force] stand for those of q and Γ: "[q]/s" is "m/s"."""
        q = f"({self.q})" if "or" in self.q.split() and unit != "[q]" else self.q
        return unit.replace("[q]", q).replace("[force]", self.force)

    @property
    def limits(self) -> Mapping[str, str]:
        """Of the keys of [legs.limits]."""
        return {
            "stroke": self.q,
            "force": self.force,
            "speed": self.speed,
            "universal_angle": "rad",
            "spherical_angle": "rad",
        }

    @property
    def c_notes(self) -> Mapping[str, str]:
        """Comments of generated C, by the name of what they explain."""
        own = "actuator forces of which the part that balances itself is added; NULL: none."
        return {
            "q": f"{self.q}: actuated coordinates.",
            "qd": f"{self.speed}: their rates.",
            "qdd": f"{self.speed}^2: their accelerations.",
            "forces": f"{self.force}: actuator forces; positive pushes towards larger q.",
            "preload": f"{self.force}: {own}",
            "jacobian": f"One row per actuator, of q in {self.q}: "
            + (
                "by velocity (rad/m), by angular velocity (1)."
                if self.turns
                else "by velocity (1), by angular velocity (m/rad)."
            ),
        }


LINEAR = LegUnits("m", "N", "newtons", "millimetres")
ROTARY = LegUnits("rad", "N m", "newton metres", "degrees")
MIXED = LegUnits("m or rad", "N or N m", "newtons or newton metres", "millimetres or degrees")
"""Of actuators that differ, where one label has to do for all."""


def common(units: Iterable[LegUnits]) -> LegUnits:
    """The units that all actuators have; `MIXED` where they differ."""
    found = set(units)
    return found.pop() if len(found) == 1 else MIXED if found else LINEAR
