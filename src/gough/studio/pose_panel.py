"""The first tab: a slider per coordinate, units, jog steps and the pivot."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import viser

from gough.base.arrays import Array
from gough.data.motion_files import POSE
from gough.studio import pose
from gough.studio.units import CHOICES, SI

if TYPE_CHECKING:
    from gough.robot import Robot
    from gough.studio.units import PageUnits

MOST_SLIDERS = 6
WORLD, OWN = "world", "platform"
SHIFT, TURN = 10.0, 1.0
"""First jog steps, mm and degrees."""


class PoseActions(Protocol):
    """What the tab asks for; called from viser's threads."""

    def move_to(self, values: Array) -> None:
        """Slider values (m,) of a pose."""

    def go_home(self) -> None:
        """Back to the home pose."""

    def jog(self, step: Array, platform_axes: bool) -> None:
        """A step (6,) from here."""

    def set_pivot(self, pivot: Array) -> None:
        """What the handle holds."""

    def redraw(self) -> None:
        """Show all numbers again."""


def when(field: Any, action: Callable[[], None]) -> None:
    """Act on what a browser changes; what the studio itself writes comes without a client."""
    field.on_update(lambda event: action() if event.client is not None else None)


class PosePanel:
    """The fields of the tab."""

    def __init__(self, gui: Any, actions: PoseActions) -> None:
        self._actions = actions
        self.units: PageUnits = SI
        self._robot: Robot | None = None
        self._values = np.zeros(0)
        """Of the sliders, as `pose.values_of` has them."""
        self._ends: list[tuple[float, float]] = []
        """Of those sliders, SI; a pose beyond them moves them."""
        self._sliders = [
            gui.add_slider(f"{i + 1}", min=-1.0, max=1.0, step=0.1, initial_value=0.0)
            for i in range(MOST_SLIDERS)
        ]
        for slider in self._sliders:
            when(slider, self._moved)
        home = gui.add_button("Home", icon=viser.Icon.HOME, color="gray")
        home.on_click(lambda _: actions.go_home())
        self._unit = gui.add_dropdown("Units", tuple(CHOICES), initial_value="m, rad")
        when(self._unit, self._choose_units)
        with gui.add_folder("Jog and pivot", expand_by_default=False):
            self._axes = gui.add_dropdown("Axes", (WORLD, OWN), initial_value=WORLD)
            self._shift = gui.add_number("Step [mm]", SHIFT, min=0.0, step=0.001)
            self._turn = gui.add_number("Step [°]", TURN, min=0.0, step=0.001)
            self._jogs = []
            for row in (POSE[:3], POSE[3:]):
                names = tuple(f"{name}{sign}" for name in row for sign in "−+")
                group = gui.add_button_group("Move" if row == POSE[:3] else "Turn", names)
                group.on_click(lambda event: self._jog(str(event.target.value)))
                self._jogs.append(group)
            self._pivot = gui.add_vector3("Pivot [mm]", (0.0, 0.0, 0.0), step=0.1)
            when(self._pivot, self._set_pivot)
        self.legs = gui.add_html("")

    def _jog(self, name: str) -> None:
        place = POSE.index(name[:-1])
        step = np.zeros(6)
        amount = 1e-3 * self._shift.value if place < 3 else np.radians(self._turn.value)
        step[place] = amount if name[-1] == "+" else -amount
        self._actions.jog(step, self._axes.value == OWN)

    def _set_pivot(self) -> None:
        self._actions.set_pivot(1e-3 * np.array(self._pivot.value, dtype=np.float64))

    def _moved(self) -> None:
        if self._robot is not None:
            values = [float(one.value) for one in self._sliders[: self._robot.mobility]]
            self._actions.move_to(np.array(values) / self._factors)

    @property
    def _factors(self) -> Array:
        """Shown numbers over `pose.values_of`, (m,)."""
        assert self._robot is not None
        return np.where(pose.are_places(self._robot), self.units.per_metre, 1.0)

    def _choose_units(self) -> None:
        self.units = CHOICES.get(self._unit.value, SI)
        self._label()
        self.show_pose(self._values)
        self._actions.redraw()

    def show_robot(self, robot: Robot, low: Array, high: Array) -> None:
        """Sliders for another robot, from and to."""
        self._robot = robot
        self._ends = [(float(a), float(b)) for a, b in zip(low, high, strict=True)]
        for i, slider in enumerate(self._sliders):
            slider.visible = i < robot.mobility
        self._pivot.value = (0.0, 0.0, 0.0)
        for group, row in zip(self._jogs, (POSE[:3], POSE[3:]), strict=True):
            group.visible = any(name in robot.coordinates for name in row)
        self._label()

    def _label(self) -> None:
        assert self._robot is not None
        names = pose.labels(self._robot, self.units.length)
        steps = pose.steps(self._robot) * self._factors
        fewer = np.where(pose.are_places(self._robot), self.units.digits, 0)
        for slider, name, step, less in zip(self._sliders, names, steps, fewer, strict=False):
            slider.label, slider.step = name, float(step)
            slider.precision = max(1, pose.DIGITS - int(less))  # else that of its first step

    def show_pose(self, values: Array) -> None:
        """Sliders at a pose; one beyond their ends moves the ends."""
        self._values = values
        for slider, (low, high), value, factor in zip(
            self._sliders, self._ends, values, self._factors, strict=False
        ):
            seen = value * factor
            near = seen / slider.step
            slider.min = float(min(low * factor, np.floor(near) * slider.step))
            slider.max = float(max(high * factor, np.ceil(near) * slider.step))
            slider.value = float(np.round(seen, pose.DIGITS) + 0.0)
