"""The robot in space, at home or along a motion."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from mpl_toolkits.mplot3d.proj3d import proj_transform
from scipy.spatial import ConvexHull

from gough.base.arrays import Array, unit
from gough.errors import InputError
from gough.legs.shape import Places
from gough.model.places import bodies, ground, places
from gough.motion import Motion
from gough.show.colors import (
    BLACK,
    BLUE,
    DARK,
    GREEN,
    GREY,
    ORANGE,
    PALE,
    SKY,
    VERMILION,
    leg_color,
)
from gough.show.style import HALO, STYLE

if TYPE_CHECKING:
    from gough.robot import Robot

JOINT = {"linestyle": "", "markersize": 6.5, "color": "white", "markeredgecolor": DARK}
FRONT = 1000.0
"""Drawing order of what no body hides."""
ROOM = np.array([[0.08, 0.17], [0.88, 0.92]])
"""Lower left and upper right corner of what a drawing may fill of its page."""


def draw(robot: Robot, motion: Motion | None = None) -> Figure:
    """The robot in the world frame (m), at home or at the first sample of a motion.

    Gravity points down the page. The path of the platform's origin is a line if the motion has
    several samples.
    """
    motion = robot.home if motion is None else motion
    if 0 in motion.shape:
        raise InputError(f"motion of batch shape {motion.shape}: nothing to draw")
    pose = motion[(0,) * len(motion.shape)]
    ground, universal, spherical = joint_places(robot, pose)
    tool = pose.position + pose.rotation @ robot.description.tool
    path = motion.position.reshape(-1, *motion.shape[-1:], 3)
    points = [ground, spherical, path, tool, np.zeros(3)]
    everything = np.concatenate([np.reshape(one, (-1, 3)) for one in points])
    everything = everything[np.all(np.isfinite(everything), axis=-1)]
    low, high = np.min(everything, axis=0), np.max(everything, axis=0)
    size = float(np.max(high - low))
    low, high = low - 0.08 * size, high + 0.08 * size
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 6.0))
        axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d", computed_zorder=False)
        corner = _space(axes, low, high, robot.description.gravity)
        _ground(axes, ground)
        _legs(axes, robot, ground, universal, spherical, size)
        depth = _nearness(axes, spherical)
        _polygon(axes, spherical, facecolor=SKY, edgecolor=DARK, alpha=0.35, zorder=depth)
        if pose.shape != motion.shape:
            for run in path:
                axes.plot(*run.T, color=BLACK, linewidth=1.5, label="path of the origin")
        if np.any(robot.description.tool):
            axes.plot(*np.stack([pose.position, tool]).T, color=DARK, linewidth=1, linestyle=":")
            star = JOINT | {"marker": "*", "color": ORANGE, "markersize": 13}
            axes.plot(*tool, label="tool", **star)
        _triad(axes, np.zeros(3), np.eye(3), 0.16 * size, "0")
        _triad(axes, pose.position, pose.rotation, 0.13 * size, "P")
        _gravity(axes, robot.description.gravity, corner, 0.16 * size)
        handles = {handle.get_label(): handle for handle in axes.get_legend_handles_labels()[0]}
        figure.legend(handles=[*handles.values()], loc="lower center", ncols=len(handles))
        state = ", home" if motion is robot.description.home else ""
        state = state if pose.time is None else f", t = {pose.time:.4g} s"
        figure.suptitle(f"{robot.name}{state}", parse_math=False)
    return figure


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


def joint_places(robot: Robot, pose: Motion) -> tuple[Array, Array, Array]:
    """What stands on the ground (legs, 1 or 2, 3): points, ends of rails; U and S joints."""
    legs = robot.inverse_kinematics(pose)
    return ground(robot, legs.q), *places(robot, legs)


def _space(axes: Any, low: Array, high: Array, gravity: Array) -> Array:
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
        axis.set_major_locator(MaxNLocator(5))
        axis.set_pane_color("white")
        axis.labelpad = 6
    axes.view_init(elev=20, azim=-65, vertical_axis="xyz"[vertical])
    axes.set_box_aspect(high - low)
    _fill_page(axes, low, high)
    return np.where(np.arange(3) == vertical, last, first)


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


def _ground(axes: Any, ground: Array) -> None:
    """The base polygon, or the rails and the frame their first ends hang on."""
    if ground.shape[1] == 1:
        _polygon(axes, ground[:, 0], facecolor=PALE, edgecolor=GREY, alpha=0.5, zorder=-FRONT)
        return
    _polygon(axes, ground[:, 0], facecolor="none", edgecolor=PALE, zorder=-FRONT)
    for rail in ground:
        _bar(axes, *rail, color=GREY, linewidth=4, gid="rail")


def _legs(
    axes: Any, robot: Robot, ground: Array, universal: Array, spherical: Array, size: float
) -> None:
    """The bodies of each leg, its joints and its number."""
    lengths = np.linalg.norm(spherical - universal, axis=-1)
    bars = bodies(robot, Places(universal, spherical), lengths, size)
    feet = ground[:, 0]
    inward = unit((ground[:, 1] if ground.shape[1] > 1 else spherical) - feet)
    for leg, label in enumerate(feet - 0.06 * size * inward):
        color = leg_color(leg)
        for bar in bars:
            style = (
                {"color": color, "gid": "leg"} if bar.colored else {"color": DARK, "gid": bar.name}
            )
            _bar(axes, bar.seen[leg], bar.end[leg], linewidth=bar.line, **style)
        _text(axes, label, str(leg + 1), color=color, fontweight="bold", fontsize=12)
    axes.plot(*universal.T, marker="s", label="universal joint", zorder=FRONT - 1, **JOINT)
    axes.plot(*spherical.T, marker="o", label="spherical joint", zorder=FRONT - 1, **JOINT)


def _bar(axes: Any, start: Array, end: Array, **style: Any) -> None:
    """A straight body."""
    ends = np.stack([start, end])
    axes.plot(*ends.T, zorder=_nearness(axes, ends), solid_capstyle="butt", **style)


def _nearness(axes: Any, points: Array) -> float:
    """Drawing order of a body: what is nearer to the viewer hides what is farther away."""
    return -float(proj_transform(*points.mean(axis=0), axes.get_proj())[2])


def _polygon(axes: Any, points: Array, **style: Any) -> None:
    """The polygon through points in a plane, by their angle about their middle, or else their hull."""
    spread = points - points.mean(axis=0)
    _, (wide, _, thick), (first, second, _) = np.linalg.svd(spread, full_matrices=False)
    if thick > 0.1 * wide:
        faces = points[ConvexHull(points).simplices]
        style |= {"alpha": 0.12, "linewidth": 0.5}
    else:
        faces = points[np.argsort(np.arctan2(spread @ second, spread @ first))][np.newaxis]
    axes.add_collection3d(Poly3DCollection(faces, **style))


def _triad(axes: Any, origin: Array, rotation: Array, length: float, index: str) -> None:
    """The axes of a frame."""
    colors = (VERMILION, GREEN, BLUE)
    for name, direction, color in zip("xyz", rotation.T, colors, strict=True):
        end, style = origin + length * direction, {"linewidth": 1.5, "mutation_scale": 9}
        axes.add_artist(_Arrow(origin, end, color=color, path_effects=HALO, **style))
        _text(axes, origin + 1.25 * length * direction, f"${name}_{index}$", color=color)


def _gravity(axes: Any, gravity: Array, start: Array, length: float) -> None:
    if np.any(gravity):
        along = length * gravity / np.linalg.norm(gravity)
        axes.add_artist(_Arrow(start, start + along, color=DARK, linewidth=2, mutation_scale=14))
        _text(axes, start + 1.25 * along, "$g$", color=DARK, fontsize=12)


def _text(axes: Any, place: Array, text: str, **style: Any) -> None:
    axes.text(*place, text, ha="center", va="center", path_effects=HALO, zorder=FRONT + 1, **style)
