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
from gough.model.mesh_places import mesh_places
from gough.model.places import PlacedLegs, bodies, ground, placed_legs, tips
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
from gough.show.pictures.meshes import shaded
from gough.show.style import HALO, STYLE

if TYPE_CHECKING:
    from gough.robot import Robot

JOINT = {"linestyle": "", "markersize": 6.5, "color": "white", "markeredgecolor": DARK}
FRONT = 1000.0
"""Drawing order of what no body hides."""
FLAT = 1e-6
"""Part of their extent within which points are on a line."""
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
    stands, legs = joint_places(robot, pose)
    held = tips(legs)
    tool = pose.position + pose.rotation @ robot.description.tool
    path = motion.position.reshape(-1, *motion.shape[-1:], 3)
    joints = [one.places.points for one in legs]
    points = [stands, *(np.reshape(one, (-1, 3)) for one in joints), path, tool, np.zeros(3)]
    shapes = _shapes(robot, pose)
    points += [place for place, _, _ in shapes.values()]
    everything = np.concatenate([np.reshape(one, (-1, 3)) for one in points])
    everything = everything[np.all(np.isfinite(everything), axis=-1)]
    low, high = np.min(everything, axis=0), np.max(everything, axis=0)
    size = float(np.max(high - low))
    low, high = low - 0.08 * size, high + 0.08 * size
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 6.0))
        axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d", computed_zorder=False)
        corner = _space(axes, low, high, robot.description.gravity)
        _ground(axes, stands)
        _legs(axes, stands, legs, joint_places(robot, robot.home)[1], size, {*shapes})
        for vertices, faces, color in shapes.values():
            order = _nearness(axes, vertices)
            axes.add_collection3d(shaded(vertices, faces, color, order))
        depth = _nearness(axes, held)
        if (None, "platform") not in shapes:
            _polygon(axes, held, facecolor=SKY, edgecolor=DARK, alpha=0.35, zorder=depth)
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


def joint_places(robot: Robot, pose: Motion) -> tuple[Array, list[PlacedLegs]]:
    """What stands on the ground (legs, 2, 3), ends of rails or twice a point; and all joints."""
    legs = robot.inverse_kinematics(pose)
    return ground(robot, legs.q), placed_legs(robot, pose, legs)


def rails(stands: Array) -> Array:
    """Which of what stands on the ground (legs, 2, 3) are rails, (legs,)."""
    return np.asarray(np.any(stands[:, 0] != stands[:, 1], axis=-1))


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


def _ground(axes: Any, stands: Array) -> None:
    """The base polygon, or the rails and the frame their first ends hang on."""
    long = rails(stands)
    fill: dict[str, Any] = {"facecolor": "none", "edgecolor": PALE}
    if not np.any(long):
        fill = {"facecolor": PALE, "edgecolor": GREY, "alpha": 0.5}
    _polygon(axes, stands[:, 0], zorder=-FRONT, **fill)
    for rail in stands[long]:
        _bar(axes, *rail, color=GREY, linewidth=4, gid="rail")


def _shapes(robot: Robot, pose: Motion) -> dict[tuple[int | None, str], tuple[Array, Array, str]]:
    """Meshes of bodies in the world by leg and name: vertices (n, 3), faces, colour."""
    found = {}
    for one, (place, turn) in zip(
        robot.meshes, mesh_places(robot, pose, robot.meshes), strict=True
    ):
        color = SKY if one.leg is None else leg_color(one.leg)
        found[one.leg, one.name] = place + one.vertices @ turn.T, one.faces, color
    return found


def _legs(
    axes: Any,
    stands: Array,
    legs: list[PlacedLegs],
    home: list[PlacedLegs],
    size: float,
    covered: set[tuple[int | None, str]],
) -> None:
    """The bodies of each leg, its joints and its number; `covered` ones have meshes."""
    for alike, bar in bodies(legs, home, size):
        for leg, start, end in zip(
            range(alike.which.start, alike.which.stop), bar.seen, bar.end, strict=True
        ):
            if (leg, bar.name) in covered:
                continue
            gid = "leg" if bar.colored else bar.name
            color = leg_color(leg) if bar.colored else DARK
            _bar(axes, start, end, linewidth=bar.line, color=color, gid=gid)
    feet = stands[:, 0]
    inward = unit(np.where(rails(stands)[:, np.newaxis], stands[:, 1], tips(legs)) - feet)
    for leg, label in enumerate(feet - 0.06 * size * inward):
        _text(axes, label, str(leg + 1), color=leg_color(leg), fontweight="bold", fontsize=12)
    for one in legs:
        _joints(axes, one, size)


MARKERS = {"universal": "s", "spherical": "o"}


def _joints(axes: Any, legs: PlacedLegs, size: float) -> None:
    """Universal and spherical joints as dots, revolute ones as short cylinders along their axes."""
    places = legs.places
    for i, (joint, driven) in enumerate(zip(places.joints, places.driven, strict=True)):
        points = places.points[:, i]
        if joint in MARKERS:
            mark = {"marker": MARKERS[joint], "label": f"{joint} joint"}
            axes.plot(*points.T, zorder=FRONT - 1, **mark, **JOINT)
        elif joint == "revolute":
            color, label = (DARK, "driven joint") if driven else ("white", "revolute joint")
            for point, axis in zip(points, places.axes[:, i], strict=True):
                order = _nearness(axes, point[np.newaxis]) + 1e-6
                for width, half, shade in ((9.0, 0.026, DARK), (6.0, 0.02, color)):
                    ends = np.stack([point - half * size * axis, point + half * size * axis])
                    line = {"color": shade, "linewidth": width, "solid_capstyle": "butt"}
                    axes.plot(*ends.T, zorder=order, gid=joint, **line)
            block = {"marker": "s", "markerfacecolor": color, "markersize": 9}
            axes.plot([], [], label=label, **JOINT | block)


def _bar(axes: Any, start: Array, end: Array, **style: Any) -> None:
    """A straight body."""
    ends = np.stack([start, end])
    axes.plot(*ends.T, zorder=_nearness(axes, ends), solid_capstyle="butt", **style)


def _nearness(axes: Any, points: Array) -> float:
    """Drawing order of a body: what is nearer to the viewer hides what is farther away."""
    return -float(proj_transform(*points.mean(axis=0), axes.get_proj())[2])


def _polygon(axes: Any, points: Array, **style: Any) -> None:
    """The convex outline of points in a plane, or else their hull; a line where they are on one."""
    spread = points - points.mean(axis=0)
    _, sizes, directions = np.linalg.svd(np.concatenate([spread, np.zeros((3, 3))]))
    wide, across, thick = sizes
    if across <= FLAT * wide:
        along = spread @ directions[0]
        ends = points[[int(np.argmin(along)), int(np.argmax(along))]]
        color = style["edgecolor"]
        axes.plot(*ends.T, color=color, linewidth=4, alpha=0.6, zorder=style["zorder"])
        return
    if thick > 0.1 * wide:
        faces = points[ConvexHull(points).simplices]
        style |= {"alpha": 0.12, "linewidth": 0.5}
    else:
        faces = points[ConvexHull(spread @ directions[:2].T).vertices][np.newaxis]
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
