"""What can be changed about a robot on the page: gravity, payload, friction, a flexible platform."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gough.errors import GoughError, InputError

if TYPE_CHECKING:
    from gough.robot import Robot

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class StudioSetup:
    """Changes to the robot of a file."""

    gravity: Vector
    """m/s², world axes."""
    payload: float = 0.0
    """Mass added to a rigid platform, kg."""
    payload_place: Vector = (0.0, 0.0, 0.0)
    """Its centre of mass, platform frame, m."""
    friction: bool = True
    flexible: bool = True
    """A flexible platform is taken as such; else as rigid."""

    @classmethod
    def of(cls, robot: Robot) -> StudioSetup:
        """The robot as its file has it; a payload sits at the tool."""
        x, y, z = map(float, robot.description.tool)
        down = tuple(map(float, robot.description.gravity))
        return cls((down[0], down[1], down[2]), payload_place=(x, y, z))

    def apply(self, robot: Robot) -> Robot:
        """The robot with these changes; the file's own payload stays."""
        base = robot if self.flexible else robot.rigid
        changes: dict[str, Any] = {}
        if self.gravity != tuple(base.description.gravity):
            changes["gravity"] = list(self.gravity)
        if self.payload < 0:
            raise InputError(f"payload of {self.payload:g} kg is negative")
        if self.payload and base.modes:
            raise InputError(
                "a flexible platform takes no payload on this page: take it as rigid, or write the "
                "payload and its point into the robot file"
            )
        if self.payload:
            table = base.file.platform
            own = [] if table is None else table.payload
            bodies = [body.model_dump(exclude_unset=True) for body in own]
            added = {"mass": self.payload, "center_of_mass": list(self.payload_place)}
            changes["platform.payload"] = [*bodies, added]
        if not changes:
            return base
        with warnings.catch_warnings(
            action="ignore"
        ):  # the file's own were shown when it was opened
            try:
                return base.edited(changes)
            except GoughError as error:
                raise InputError(f"these changes do not fit the robot: {error}") from None
