"""The panel beside the robot: tabs with sliders, numbers, the player and the robot's settings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

import viser

from gough.base.arrays import Array
from gough.model.places import architecture
from gough.studio import curves, tables
from gough.studio.levels import Level
from gough.studio.plan_panel import PlanActions, PlanPanel
from gough.studio.player import SPEEDS, Player
from gough.studio.pose_panel import PoseActions, PosePanel, when
from gough.studio.record import StudioRecord
from gough.studio.scene import View
from gough.studio.setup import StudioSetup

if TYPE_CHECKING:
    from gough.studio.library import Loaded

NO_MOTION = "none: move by hand"
WIDTH = 400
EXPORTS = {
    "Motion, CSV": "motion",
    "Forces, CSV": "forces",
    "Picture, PNG": "picture",
    "Film, GIF": "film",
}


class Actions(PoseActions, PlanActions, Protocol):
    """What the panel asks for; called from viser's threads."""

    def choose_robot(self, label: str) -> None:
        """Another robot."""

    def choose_motion(self, name: str) -> None:
        """Another motion, or none."""

    def play(self) -> None:
        """Play or pause."""

    def seek(self, time: float) -> None:
        """Show an instant of the motion."""

    def set_speed(self, speed: float) -> None:
        """Seconds of motion a second."""

    def set_loop(self, loop: bool) -> None:
        """Start again at the end."""

    def set_up(self, setup: StudioSetup) -> None:
        """Other gravity, payload, friction."""

    def view(self, chosen: View) -> None:
        """What the scene shows."""

    def export(self, what: str, client: viser.ClientHandle) -> None:
        """Send a file to a browser."""


class Panel:
    """All fields of the page, one set for all browsers."""

    def __init__(self, server: viser.ViserServer, robots: Sequence[str], actions: Actions) -> None:
        self._gui: Any = server.gui
        self._actions = actions
        gui = self._gui
        gui.configure_theme(
            dark_mode=False,
            show_logo=False,
            show_share_button=False,
            brand_color=(0, 114, 178),
            control_width="large",
        )
        gui.set_panel_label("gough studio")
        gui.main_panel.dock_right()
        gui.main_panel.set_width(WIDTH)
        self._title = gui.add_html("")
        self._message = gui.add_html("")
        self._summary = gui.add_html("")
        self._colors = gui.add_html("")
        tabs = gui.add_tab_group()
        with tabs.add_tab("Pose", viser.Icon.ARROWS_MOVE):
            self._pose = PosePanel(gui, actions)
        with tabs.add_tab("Numbers", viser.Icon.TABLE):
            self._numbers = gui.add_html("")
        with tabs.add_tab("Motion", viser.Icon.PLAYER_PLAY):
            self._build_motion()
        with tabs.add_tab("Plan", viser.Icon.ROUTE):
            self.plan = PlanPanel(gui, actions)
        with tabs.add_tab("Robot", viser.Icon.SETTINGS):
            self._build_robot(robots)
        self._build_view()

    def _build_motion(self) -> None:
        gui, act = self._gui, self._actions
        self._motion = gui.add_dropdown("Motion", (NO_MOTION,), initial_value=NO_MOTION)
        when(self._motion, lambda: act.choose_motion(self._motion.value))
        self._play = gui.add_button("Play", icon=viser.Icon.PLAYER_PLAY)
        self._play.on_click(lambda _: act.play())
        self._time = gui.add_slider("Time [s]", min=0.0, max=1.0, step=0.001, initial_value=0.0)
        when(self._time, lambda: act.seek(float(self._time.value)))
        self._speed = gui.add_dropdown("Speed ×", SPEEDS, initial_value="1")
        when(self._speed, lambda: act.set_speed(float(self._speed.value)))
        self._loop = gui.add_checkbox("Repeat", True)
        when(self._loop, lambda: act.set_loop(bool(self._loop.value)))
        self._motion_note = gui.add_html("")
        self._plots_place = gui.add_folder("Forces and powers", expand_by_default=True)
        self._plots: list[Any] = []
        self._markers: list[Any] = []
        with gui.add_folder("Export", expand_by_default=True):
            for label, what in EXPORTS.items():
                button = gui.add_button(label, icon=viser.Icon.DOWNLOAD, color="gray")
                button.on_click(partial(self._export, what))

    def _export(self, what: str, event: viser.GuiEvent[Any]) -> None:
        if event.client is not None:
            self._actions.export(what, event.client)

    def _build_robot(self, robots: Sequence[str]) -> None:
        gui = self._gui
        self._robot = gui.add_dropdown("Robot", tuple(robots), initial_value=robots[0])
        when(self._robot, lambda: self._actions.choose_robot(self._robot.value))
        self._flexible = gui.add_checkbox("Flexible platform", True)
        self._friction = gui.add_checkbox("Friction", True)
        self._gravity = gui.add_vector3("Gravity [m/s²]", (0.0, 0.0, -9.81), step=0.01)
        self._payload = gui.add_number("Payload [kg]", 0.0, min=0.0, step=0.1)
        self._payload_place = gui.add_vector3("Payload at [m]", (0.0, 0.0, 0.0), step=0.001)
        for field in (
            self._flexible,
            self._friction,
            self._gravity,
            self._payload,
            self._payload_place,
        ):
            when(field, self._changed)
        self._facts = gui.add_html("")

    def _build_view(self) -> None:
        gui = self._gui
        with gui.add_folder("View", expand_by_default=True):
            self._show_forces = gui.add_checkbox("Leg forces", True)
            self._show_weight = gui.add_checkbox("Weight", False)
            self._show_handle = gui.add_checkbox("Drag handle", True)
            self._shadows = gui.add_checkbox(
                "Shadows", True, hint="off where there is no graphics card"
            )
            self._magnified = gui.add_slider(
                "Deformation ×", min=0.0, max=100.0, step=1.0, initial_value=1.0, visible=False
            )
        for field in (
            self._show_forces,
            self._show_weight,
            self._show_handle,
            self._shadows,
            self._magnified,
        ):
            when(field, self._viewed)

    def _changed(self) -> None:
        x, y, z = map(float, self._gravity.value)
        a, b, c = map(float, self._payload_place.value)
        self._actions.set_up(
            StudioSetup(
                (x, y, z),
                float(self._payload.value),
                (a, b, c),
                bool(self._friction.value),
                bool(self._flexible.value),
            )
        )

    def _viewed(self) -> None:
        self._actions.view(
            View(
                bool(self._show_forces.value),
                bool(self._show_weight.value),
                bool(self._show_handle.value),
                bool(self._shadows.value),
                float(self._magnified.value),
            )
        )

    def show_robot(
        self, label: str, loaded: Loaded, setup: StudioSetup, low: Array, high: Array
    ) -> None:
        """Another robot, or the same from a changed file: slider ends and settings."""
        robot = loaded.robot
        style = "font-size:15px;font-weight:600;color:#3C4148"
        kind = architecture(robot)
        grey = '<span style="font-weight:400;color:#8A9099">'
        self._title.content = tables.inset(
            f'<div style="{style}">{escape(robot.name)} {grey}{kind}</span></div>'
        )
        self._robot.value = label
        self._pose.show_robot(robot, low, high)
        self._flexible.disabled = not robot.modes
        self._flexible.value = bool(robot.modes) and setup.flexible
        self._friction.value = setup.friction
        self._gravity.value = setup.gravity
        self._payload.value, self._payload_place.value = setup.payload, setup.payload_place
        self._facts.content = tables.inset(_facts(loaded))

    def choose(self, label: str) -> None:
        """The robot chooser says which robot is shown."""
        self._robot.value = label

    def show_setup(self, flexible: bool) -> None:
        """Which settings make sense: a flexible platform takes no payload."""
        self._payload.disabled = self._payload_place.disabled = flexible
        self._magnified.visible = flexible

    def show_magnified(self, value: float, largest: float) -> None:
        """The slider of the drawn deformation."""
        self._magnified.max = largest
        self._magnified.step = largest / 100
        self._magnified.value = value

    def show_deepest(self, deepest: float) -> None:
        """The colours of a deformed platform, up to a displacement in m; none for 0."""
        self._colors.content = tables.inset(tables.color_bar(deepest)) if deepest > 0 else ""

    def show_motions(self, names: Sequence[str], chosen: str | None) -> None:
        """The motions on offer."""
        self._motion.options = (NO_MOTION, *names)
        self._motion.value = NO_MOTION if chosen is None else chosen

    def show_curves(self, shown: StudioRecord | None, player: Player | None, note: str) -> None:
        """The plots of a motion, none without one."""
        for handle in (*self._plots, *self._markers):
            handle.remove()
        self._plots, self._markers = [], []
        self._motion_note.content = tables.inset(tables.note(note)) if note else ""
        self._plots_place.visible = shown is not None
        if shown is None or player is None:
            self._motion.value = NO_MOTION
            return
        self._time.min, self._time.max = player.start, player.end
        with self._plots_place:
            self._legend = self._gui.add_html("")
            self._plots.append(self._legend)
            legs = [one.leg for one in shown.robot.actuators]
            limits = curves.limit_lines(shown)
            for label, values in curves.panels(shown).items():
                levels = limits.get(label, [])
                options = curves.plot_options(player.times, values, label, legs, levels)
                self._plots.append(self._gui.add_uplot(**options))
                self._markers.append(self._gui.add_html(curves.marker(0.0)))

    def show_values(self, shown: StudioRecord, sample: int) -> None:
        """What the plots have where the player is."""
        if self._plots:
            self._legend.content = tables.inset(tables.legend(shown, sample))

    def show_player(self, player: Player) -> None:
        """Where the player is."""
        self._time.value = round(player.now, 3)
        part = (player.now - player.start) / (player.duration or 1.0)
        for handle in self._markers:
            handle.content = curves.marker(part)

    def show_playing(self, playing: bool) -> None:
        """The button says what it would do."""
        self._play.label = "Pause" if playing else "Play"
        self._play.icon = viser.Icon.PLAYER_PAUSE if playing else viser.Icon.PLAYER_PLAY

    def show_pose(self, values: Array) -> None:
        """Sliders at a pose, as `gough.studio.pose.values_of` has it."""
        self._pose.show_pose(values)

    def show_numbers(self, shown: StudioRecord, sample: int) -> None:
        """All numbers of an instant."""
        driven = tables.actuator_table(shown, sample, self._pose.units)
        self._summary.content = tables.inset(tables.summary(shown, sample))
        self._pose.legs.content = tables.inset(driven)
        parts = [("Actuators", driven), ("Joint loads", tables.load_table(shown, sample))]
        parts += [("Limits", tables.limit_table(shown, sample))]
        self._numbers.content = tables.inset(
            "".join(
                f'<div style="font-weight:600;font-size:12px;margin:8px 0 2px">{name}</div>{html}'
                for name, html in parts
            )
        )

    def show_message(self, text: str, grade: Level) -> None:
        """A message across the panel, or none."""
        self._message.content = tables.inset(tables.banner(text, grade))


def _facts(loaded: Loaded) -> str:
    """What the robot's file says about it."""
    robot = loaded.robot
    rows = [("Source", robot.file.source or "not given")]
    if not robot.description.missing:
        rows.append(("Platform", f"{robot.platform.mass:.4g} kg with payload"))
    if robot.modes:
        rows.append(("Modes", f"{robot.modes}"))
    rows += [("Assumed", one) for one in robot.file.assumed]
    rows += [("Warning", one) for one in loaded.warnings]
    head = "color:#8A9099;padding:2px 8px 2px 0;vertical-align:top"
    cells = "".join(
        f'<tr><td style="{head}">{name}</td><td style="overflow-wrap:anywhere">{escape(text)}</td></tr>'
        for name, text in rows
    )
    return f'<table style="font-size:12px;line-height:1.35;width:100%">{cells}</table>'
