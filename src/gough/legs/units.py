"""Units of what an actuator does: along a line, or about an axis."""

from __future__ import annotations

from collections.abc import Mapping
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
    def speed(self) -> str:
        """Of q̇."""
        return f"{self.q}/s"

    def of(self, unit: str) -> str:
        """A unit in which [q] and [force] stand for those of q and Γ: "[q]/s" is "m/s"."""
        return unit.replace("[q]", self.q).replace("[force]", self.force)

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
        }


LINEAR = LegUnits("m", "N", "newtons", "millimetres")
ROTARY = LegUnits("rad", "N m", "newton metres", "degrees")
