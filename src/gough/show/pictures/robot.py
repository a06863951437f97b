"""The robot in space, at home or along a motion: solid, near parts over far ones."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from matplotlib.ticker import FixedLocator, MaxNLocator
from mpl_toolkits.mplot3d.proj3d import proj_transform

from gough.base.arrays import Array, unit
from gough.errors import InputError
from gough.model.places import PlacedLegs, ground, placed_legs, tips
from gough.motion import Motion
from gough.show.colors import BLACK, BLUE, DARK, GREEN, ORANGE, VERMILION, leg_color
from gough.show.layout import SceneLayout
from gough.show.parts import Part, PartPlaces, robot_parts
from gough.show.pictures.solid import FINE, faces, paint, upward, viewer
from gough.show.style import HALO, STYLE

if TYPE_CHECKING:
    from gough.robot import Robot

View = tuple[float, float]
VIEWS: dict[str, View] = {
    "front": (-90.0, 0.0),
    "right": (0.0, 0.0),
    "back": (90.0, 0.0),
    "left": (180.0, 0.0),
    "top": (-90.0, 90.0),
}
"""Where a robot is seen from: azimuth about the vertical and elevation above the level, degrees."""
JOINTS = ("universal joint", "spherical joint", "revolute joint", "driven joint")
FRONT = 1000.0
"""Drawing order of what no body hides."""
ROOM = np.array([[0.12, 0.17], [0.88, 0.92]])
"""Lower left and upper right corner of what a drawing may fill of its page."""


def draw(robot: Robot, motion: Motion | None = None, *, view: View | None = None) -> Figure:
    """The robot in the world frame (m), at home or at the first sample of a motion.

    Gravity points down the page. The path of the platform's origin is a line if the motion has
    several samples.

    Args:
        robot: any robot.
        motion: what is drawn; the home pose without.
        view: azimuth about the vertical and elevation above the level of who looks at it, degrees;
            `VIEWS` has some by name. Without, from aside and a little above.

    Returns:
        A figure of its own; `gough.show.plots.save` writes it.

    """
    return Drawing.of(robot, motion, view).figure


@dataclass
class Drawing:
    """A robot on paper, at one instant of a motion after the other: space and view stay."""

    robot: Robot
    motion: Motion
    """(n,), or () of one pose."""
    parts: list[Part]
    places: PartPlaces
    figure: Figure
    axes: Any
    size: float
    moving: list[Any]
    """What is drawn anew for another instant."""

    @classmethod
    def of(
        cls, robot: Robot, motion: Motion | None, view: View | None = None, every: bool = False
    ) -> Drawing:
        """The first instant of a motion; with `every` its space has room for all of them."""
        motion = robot.home if motion is None else motion
        if 0 in motion.shape:
            raise InputError(f"motion of batch shape {motion.shape}: nothing to draw")
        first = motion[(0,) * len(motion.shape)]
        layout = SceneLayout.of(robot)
        parts, places = robot_parts(robot, layout, motion if every else first)
        shown = motion if every else first
        instants = np.ndindex(shown.shape)
        corners = [faces(parts, at(places, k)).corners.reshape(-1, 3) for k in instants]
        tool = shown.position + shown.rotation @ robot.description.tool
        points = [*corners, motion.position, tool, np.zeros(3)]
        everything = np.concatenate([np.reshape(one, (-1, 3)) for one in points])
        low, high = np.min(everything, axis=0), np.max(everything, axis=0)
        size = float(np.max(high - low))
        low, high = low - 0.06 * size, high + 0.06 * size
        with matplotlib.rc_context(STYLE):
            figure = Figure(figsize=(7.0, 6.0))
            axes: Any = figure.add_axes(
                (0.0, 0.0, 1.0, 1.0),
                projection="3d",
                computed_zorder=False,
                proj_type="ortho",
            )
            corner = _space(axes, low, high, robot.description.gravity, view or _view(layout))
            _triad(axes, np.zeros(3), np.eye(3), 0.16 * size, "0")
            _gravity(axes, robot.description.gravity, corner, 0.16 * size)
            if first.shape != motion.shape:
                for run in motion.position.reshape(-1, *motion.shape[-1:], 3):
                    axes.plot(*run.T, color=BLACK, linewidth=1.5, label="path of the origin")
            _number(axes, layout, size)
            drawing = cls(robot, shown, parts, places, figure, axes, size, [])
            drawing.show((0,) * len(shown.shape))
            figure.legend(handles=drawing.handles(), loc="lower center", ncols=6)
            if motion is robot.description.home:
                figure.suptitle(f"{robot.name}, home", parse_math=False)
        return drawing

    def show(self, index: tuple[int, ...], fine: float = FINE) -> None:
        """Draw an instant in place of the one before, with `fine` pixels an inch."""
        for artist in self.moving:
            artist.remove()
        axes, pose = self.axes, self.motion[index]
        already = {*axes.get_children()}
        with matplotlib.rc_context(STYLE):
            paint(axes, self.parts, at(self.places, index), fine)
            tool = pose.position + pose.rotation @ self.robot.description.tool
            if np.any(self.robot.description.tool):
                line = np.stack([pose.position, tool]).T
                axes.plot(*line, color=DARK, linewidth=1, linestyle=":")
                axes.plot(*tool, label="tool", **STAR)
            _triad(axes, pose.position, pose.rotation, 0.13 * self.size, "P")
            time = "" if pose.time is None else f", t = {pose.time:.4g} s"
            self.figure.suptitle(f"{self.robot.name}{time}", parse_math=False)
        self.moving = [one for one in axes.get_children() if one not in already]

    def handles(self) -> list[Any]:
        """What the legend explains."""
        lines = {one.get_label(): one for one in self.axes.get_lines()}
        joints = {one.name: one.color for one in self.parts if one.name in JOINTS}
        style: Any = {"linestyle": "", "marker": "o", "markersize": 8, "markeredgecolor": DARK}
        return [
            *(Line2D([], [], color=color, label=name, **style) for name, color in joints.items()),
            *(one for name, one in lines.items() if not name.startswith("_")),
        ]


STAR = {
    "linestyle": "",
    "marker": "*",
    "color": ORANGE,
    "markersize": 13,
    "markeredgecolor": DARK,
    "zorder": FRONT - 1,
}
"""The tool."""


def at(places: PartPlaces, index: tuple[int, ...]) -> PartPlaces:
    """One instant of many."""
    return PartPlaces(*(one[index] for one in places))


def _view(layout: SceneLayout) -> View:
    """Azimuth and elevation, in degrees, of the layout's own point of view."""
    main = int(np.argmax(np.abs(layout.up)))
    upright = layout.up[main] > 0
    turned = np.ones(3) if upright else np.where(np.isin(range(3), [main, main - 1]), -1.0, 1.0)
    first, second, up = np.roll(turned * layout.aside, -(main + 1))
    azimuth = np.degrees(np.arctan2(second, first))
    return float(azimuth), float(np.degrees(np.arctan2(up, np.hypot(first, second))))


class _Arrow(FancyArrowPatch):
    """An arrow in space from `start` to `end`."""

    def __init__(self, start: Array, end: Array, **style: Any) -> None:
        super().__init__(
            (0, 0), (0, 0), arrowstyle="-|>", shrinkA=0, shrinkB=0, zorder=FRONT, **style
        )
        self.ends = np.stack([start, end])

    def do_3d_projection(self) -> float:
        """Place the arrow on the page; returns its depth."""
        axes: Any = self.axes
        x, y, depth = proj_transform(*self.ends.T, axes.M)
        self.set_positions((x[0], y[0]), (x[1], y[1]))
        return float(np.min(depth))


def joint_places(robot: Robot, pose: Motion) -> tuple[Array, list[PlacedLegs]]:
    """What stands on the ground (legs, 2, 3), ends of rails or twice a point; and all joints."""
    legs = robot.inverse_kinematics(pose)
    return ground(robot, legs.q), placed_legs(robot, pose, legs)


def rails(stands: Array) -> Array:
    """Which of what stands on the ground (legs, 2, 3) are rails, (legs,)."""
    return np.asarray(np.any(stands[:, 0] != stands[:, 1], axis=-1))


def _space(axes: Any, low: Array, high: Array, gravity: Array, view: View) -> Array:
    """Equal scales along all axes, and gravity down the page; returns the upper left corner.

    Where gravity points along a positive axis, that axis and one more are turned round, so that the
    picture stays right-handed.
    """
    vertical = int(np.argmax(np.abs(gravity))) if np.any(gravity) else 2
    turned = np.zeros(3, dtype=bool)
    turned[[vertical, vertical - 1]] = gravity[vertical] > 0
    first, last = np.where(turned, high, low), np.where(turned, low, high)
    for i, name in enumerate("xyz"):
        axes.set(**{f"{name}lim": (first[i], last[i]), f"{name}label": f"{name} [m]"})
        axis = getattr(axes, f"{name}axis")
        count = round(5 * (high - low)[i] / np.max(high - low))
        axis.set_major_locator(MaxNLocator(count) if count > 1 else _one_tick(low[i], high[i]))
        axis.set_pane_color("white")
        axis.labelpad = 6
    axes.view_init(elev=view[1], azim=view[0], vertical_axis="xyz"[vertical])
    axes.set_box_aspect(high - low)
    _fill_page(axes, low, high)
    upper = np.array(list(itertools.product(*zip(low, high, strict=True))))
    upper = upper[upper[:, vertical] == last[vertical]]
    return np.asarray(upper[np.argmin(proj_transform(*upper.T, axes.get_proj())[0])])


def _one_tick(low: float, high: float) -> FixedLocator:
    """A round number near the middle: a thin space has room for one label."""
    ticks = np.asarray(MaxNLocator(4).tick_values(low, high))
    return FixedLocator([ticks[np.argmin(np.abs(ticks - (low + high) / 2))]])


def _fill_page(axes: Any, low: Array, high: Array) -> None:
    """Zoom and move the box low … high into the page, less a margin for labels."""
    corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
    flat = proj_transform(*corners.T, axes.get_proj())[:2]
    axes.apply_aspect()
    onto_page = axes.transData - axes.figure.transFigure
    page = onto_page.transform(np.transpose(flat))
    first, last = page.min(axis=0), page.max(axis=0)
    zoom = float(np.min((ROOM[1] - ROOM[0]) / (last - first)))
    axes.set_box_aspect(high - low, zoom=zoom)
    middle = axes.get_position().get_points().mean(axis=0)
    move = ROOM.mean(axis=0) - middle - zoom * ((first + last) / 2 - middle)
    axes.set_position(axes.get_position().translated(*move))


def _number(axes: Any, layout: SceneLayout, size: float) -> None:
    """The number of each leg beside where it stands."""
    stands = layout.ground
    feet = stands[:, 0]
    inward = unit(np.where(rails(stands)[:, np.newaxis], stands[:, 1], tips(layout.legs)) - feet)
    for leg, place in enumerate(feet - 0.06 * size * inward):
        _text(axes, place, str(leg + 1), color=leg_color(leg), fontweight="bold", fontsize=12)


def _triad(axes: Any, origin: Array, rotation: Array, length: float, index: str) -> None:
    """The axes of a frame."""
    colors = (VERMILION, GREEN, BLUE)
    for name, direction, color in zip("xyz", rotation.T, colors, strict=True):
        end, style = origin + length * direction, {"linewidth": 1.5, "mutation_scale": 9}
        axes.add_artist(_Arrow(origin, end, color=color, path_effects=HALO, **style))
        _text(axes, origin + 1.25 * length * direction, f"${name}_{index}$", color=color)


def _gravity(axes: Any, gravity: Array, start: Array, length: float) -> None:
    if np.any(gravity):  # left of the box, whose axis may have its labels there
        start = start - 0.6 * length * np.cross(upward(axes), viewer(axes))
        along = length * gravity / np.linalg.norm(gravity)
        axes.add_artist(_Arrow(start, start + along, color=DARK, linewidth=2, mutation_scale=14))
        _text(axes, start + 1.25 * along, "$g$", color=DARK, fontsize=12)


def _text(axes: Any, place: Array, text: str, **style: Any) -> None:
    axes.text(*place, text, ha="center", va="center", path_effects=HALO, zorder=FRONT + 1, **style)
