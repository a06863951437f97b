"""The tab that makes motions: a path through poses, retimed; a vehicle felt; room to move in words."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Protocol

import viser

from gough.studio import tables
from gough.studio.plans import MANOEUVRES, WAYS, PlanLimits

SMALL = "font-size:12px;line-height:1.4"


class PlanActions(Protocol):
    """What the tab asks for; called from viser's threads."""

    def add_pose(self) -> None:
        """The pose shown becomes the next of the path."""

    def clear_poses(self) -> None:
        """No path."""

    def plan(self, corner: float, limits: PlanLimits) -> None:
        """The path as fast as limits allow."""

    def retime(self, limits: PlanLimits) -> None:
        """The motion shown as fast as limits allow."""

    def feel(self, manoeuvre: str, way: str, scale: float, limits: PlanLimits) -> None:
        """A vehicle's manoeuvre made felt."""

    def ask_room(self) -> None:
        """How far the pose shown can go."""


class PlanPanel:
    """The fields of the tab."""

    def __init__(self, gui: Any, actions: PlanActions) -> None:
        with gui.add_folder("Path", expand_by_default=True):
            add = gui.add_button("Add this pose", icon=viser.Icon.PLUS)
            add.on_click(lambda _: actions.add_pose())
            self._poses = gui.add_html("")
            self._corner = gui.add_number("Miss corners by [mm]", 5.0, min=0.0, step=0.1)
            go = gui.add_button("Plan and play", icon=viser.Icon.ROUTE)
            go.on_click(lambda _: actions.plan(1e-3 * float(self._corner.value), self._limits()))
            clear = gui.add_button("Clear", icon=viser.Icon.TRASH, color="gray")
            clear.on_click(lambda _: actions.clear_poses())
        with gui.add_folder("Limits beside the file's", expand_by_default=False):
            hint = "of every actuator; 0: as the robot file says"
            self._speed = gui.add_number("Speed [m/s, rad/s]", 0.0, min=0.0, step=0.001, hint=hint)
            self._force = gui.add_number("Force [N, N m]", 0.0, min=0.0, step=0.1, hint=hint)
            self._stroke = gui.add_number("Stroke ± [m, rad]", 0.0, min=0.0, step=0.001, hint=hint)
        faster = gui.add_button("Retime this motion", icon=viser.Icon.CLOCK)
        faster.on_click(lambda _: actions.retime(self._limits()))
        with gui.add_folder("A vehicle felt", expand_by_default=False):
            self._manoeuvre = gui.add_dropdown("Vehicle", tuple(MANOEUVRES))
            self._way = gui.add_dropdown("Cueing", tuple(WAYS))
            self._scale = gui.add_number("Scale", 1.0, min=0.01, max=100.0, step=0.01)
            feel = gui.add_button("Cue and play", icon=viser.Icon.STEERING_WHEEL)
            feel.on_click(
                lambda _: actions.feel(
                    self._manoeuvre.value, self._way.value, float(self._scale.value), self._limits()
                )
            )
        with gui.add_folder("Room to move", expand_by_default=True):
            ask = gui.add_button(
                "How far from here?", icon=viser.Icon.ARROWS_MAXIMIZE, color="gray"
            )
            ask.on_click(lambda _: actions.ask_room())
            self._room = gui.add_html("")

    def _limits(self) -> PlanLimits:
        given = (float(one.value) for one in (self._speed, self._force, self._stroke))
        return PlanLimits(*(one if one > 0 else None for one in given))

    def show_poses(self, poses: Sequence[str]) -> None:
        """The path so far, a line per pose."""
        listed = "".join(f"<li>{escape(one)}</li>" for one in poses)
        text = f"<ol style='margin:0;padding-left:20px'>{listed}</ol>" if poses else "No poses yet."
        self._poses.content = tables.inset(f'<div id="studio-path" style="{SMALL}">{text}</div>')

    def show_room(self, where: str, rows: Sequence[tuple[str, str, str]]) -> None:
        """From a pose: directions, how far, until what; no rows take the table away."""
        pad = "padding:1px 8px 1px 0"
        cells = "".join(
            "<tr>" + "".join(f'<td style="{pad}">{escape(one)}</td>' for one in row) + "</tr>"
            for row in rows
        )
        table = f"<div>from {escape(where)}</div><table>{cells}</table>"
        table = f'<div id="studio-room" style="{SMALL}">{table}</div>'
        self._room.content = tables.inset(table) if rows else ""
