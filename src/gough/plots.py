"""Pictures: the robot in space and what its legs do over time, fit for a paper.

Every function returns a `matplotlib.figure.Figure` of its own; nothing is shown and no global state
of matplotlib is changed. A leg has the same colour in every picture, and colour-blind readers tell
the colours apart (Okabe & Ito 2008).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from mpl_toolkits.mplot3d.proj3d import proj_transform
from numpy.typing import ArrayLike

from gough.errors import FileError, InputError
from gough.files import replacing
from gough.legs.pus import PUS
from gough.motion import Array, Motion

if TYPE_CHECKING:
    from gough.results import LegMotion
    from gough.robot import Robot

KINDS = (".png", ".svg", ".pdf")
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK = "#E69F00", "#56B4E9", "#000000"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
DARK, GREY, PALE = "#3C4148", "#8A9099", "#D5D8DC"
STYLE: Any = {
    "font.size": 10,
    "axes.titlesize": 12,
    "figure.titlesize": 12,
    "axes.grid": True,
    "grid.color": "#E3E5E8",
    "grid.linewidth": 0.6,
    "axes.edgecolor": DARK,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.useoffset": False,
    "legend.frameon": False,
    "pdf.fonttype": 42,
}
HALO = (withStroke(linewidth=3, foreground="white"),)
"""White around text that crosses lines."""
CYLINDER = 0.55
"""Part of a UPS leg's length that is drawn as its cylinder."""
SYMBOLS = {"q1": "$q_1$", "q2": "$q_2$", "phi1": "$φ_1$", "phi2": "$φ_2$"}


def draw(robot: Robot, motion: Motion | None = None) -> Figure:
    """The robot in the world frame (m), at home or at the first sample of a motion.

    Gravity points down the page. The path of the platform's origin is a line if the motion has
    several samples.
    """
    motion = robot.home if motion is None else motion
    pose = motion[(0,) * len(motion.shape)]
    ground, universal, spherical = _joints(robot, pose)
    tool = pose.position + pose.rotation @ robot.description.tool
    path = motion.position.reshape(-1, *motion.shape[-1:], 3)
    points = [ground, spherical, path, tool, np.zeros(3)]
    everything = np.concatenate([np.reshape(one, (-1, 3)) for one in points])
    low, high = np.nanmin(everything, axis=0), np.nanmax(everything, axis=0)
    size = float(np.max(high - low))
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 7.0))
        axes: Any = figure.add_axes((0.02, 0.08, 0.92, 0.86), projection="3d")
        _space(axes, low - 0.08 * size, high + 0.08 * size, robot.description.gravity)
        _ground(axes, ground)
        _legs(axes, robot, universal, spherical)
        _polygon(axes, spherical, facecolor=SKY, edgecolor=DARK, alpha=0.35)
        joint = {"linestyle": "", "markersize": 7, "markeredgecolor": DARK}
        axes.plot(*universal.T, marker="s", color=DARK, label="universal joint", **joint)
        axes.plot(*spherical.T, marker="o", color="white", label="spherical joint", **joint)
        if pose.shape != motion.shape:
            for run in path:
                axes.plot(*run.T, color=BLACK, linewidth=1.5, label="path of the platform's origin")
        if np.any(robot.description.tool):
            axes.plot(*np.stack([pose.position, tool]).T, color=DARK, linewidth=1, linestyle=":")
            axes.plot(*tool, marker="*", color=ORANGE, label="tool", **joint | {"markersize": 13})
        _numbers(axes, ground, 0.07 * size)
        _triad(axes, np.zeros(3), np.eye(3), 0.18 * size, "0")
        _triad(axes, pose.position, pose.rotation, 0.15 * size, "P")
        _gravity(axes, robot.description.gravity, low, 0.2 * size)
        handles = {handle.get_label(): handle for handle in axes.get_legend_handles_labels()[0]}
        figure.legend(handles=[*handles.values()], loc="lower center", ncols=len(handles))
        figure.suptitle(_title(robot, pose), y=0.97)
    return figure


def leg_curves(motion: Motion, legs: LegMotion) -> Figure:
    """Actuated coordinates (m), rates and accelerations of all legs over time."""
    panels = [
        (legs.q, "$q$ [m]"),
        (legs.qd, r"$\dot q$ [m/s]"),
        (legs.qdd, r"$\ddot q$ [m/s²]"),
    ]
    return _leg_panels(motion, panels, "Actuated coordinates")


def joint_curves(robot: Robot, motion: Motion, legs: LegMotion) -> Figure:
    """The two angles (rad) of every leg's universal joint over time."""
    equations = robot.machine.equations
    panels = [
        (legs.joints[..., i], f"{SYMBOLS[equations.JOINTS[i]]} [rad]") for i in equations.UNIVERSAL
    ]
    return _leg_panels(motion, panels, "Universal joints")


def over_time(
    time: ArrayLike, values: ArrayLike, labels: Sequence[str], ylabel: str, title: str
) -> Figure:
    """Curves `values` (n, k) over `time` (n,) in s, one label a curve; `ylabel` has the unit."""
    panels = [(np.asarray(values, dtype=np.float64), ylabel)]
    return _curves(np.asarray(time, dtype=np.float64), "time [s]", panels, labels, title)


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as .png, .svg or .pdf, whole or not at all."""
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise FileError(f"{path}: the name of a picture must end in {', '.join(KINDS)}")
    try:
        with replacing(path) as temporary, matplotlib.rc_context(STYLE):
            figure.savefig(temporary, format=kind[1:], dpi=200)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None


class _Arrow(FancyArrowPatch):
    """An arrow in space from `start` to `end`."""

    def __init__(self, start: Array, end: Array, **style: Any) -> None:
        super().__init__((0, 0), (0, 0), arrowstyle="-|>", shrinkA=0, shrinkB=0, **style)
        self.ends = np.stack([start, end])

    def do_3d_projection(self) -> float:
        """Place the arrow on the page; return its depth."""
        axes: Any = self.axes
        x, y, z = proj_transform(*self.ends.T, axes.M)
        self.set_positions((x[0], y[0]), (x[1], y[1]))
        return float(np.min(z))


def _joints(robot: Robot, pose: Motion) -> tuple[Array, Array, Array]:
    """What stands on the ground (legs, 1 or 2, 3): base joints, ends of rails; U and S joints."""
    legs, parts = robot.inverse_kinematics(pose), robot.description.legs
    if isinstance(parts, PUS):
        origin, along = (one[..., 0].T for one in (parts.rail_origin, parts.rail_direction))
        limits, length = robot.description.limits, parts.length[:, 0]
        first = np.where(np.isfinite(limits.shortest), limits.shortest, legs.q - length / 2)
        last = np.where(np.isfinite(limits.longest), limits.longest, legs.q + length / 2)
        ground = (
            origin[:, np.newaxis]
            + np.stack([first, last], axis=1)[..., np.newaxis] * (along[:, np.newaxis])
        )
        universal = origin + legs.q[:, np.newaxis] * along
    else:
        universal, length = parts.base[..., 0].T, legs.q
        ground = universal[:, np.newaxis]
    return ground, universal, universal + length[:, np.newaxis] * legs.direction


def _space(axes: Any, low: Array, high: Array, gravity: Array) -> None:
    """Equal scales along all axes, and gravity down the page.

    Where gravity points along a positive axis, that axis and one more are turned round, so that the
    picture stays right-handed.
    """
    vertical = int(np.argmax(np.abs(gravity))) if np.any(gravity) else 2
    turned = (vertical, (vertical + 2) % 3) if gravity[vertical] > 0 else ()
    for i, name in enumerate("xyz"):
        ends = (high[i], low[i]) if i in turned else (low[i], high[i])
        axes.set(**{f"{name}lim": ends, f"{name}label": f"{name} [m]"})
        axis = getattr(axes, f"{name}axis")
        axis.set_major_locator(MaxNLocator(5))
        axis.set_pane_color("white")
        axis.labelpad = 8
    axes.set_box_aspect(high - low)
    axes.view_init(elev=20, azim=-60, vertical_axis="xyz"[vertical])


def _ground(axes: Any, ground: Array) -> None:
    """The base polygon, or the rails and the frame their far ends hang on."""
    if ground.shape[1] == 1:
        _polygon(axes, ground[:, 0], facecolor=PALE, edgecolor=GREY, alpha=0.5)
        return
    _polygon(axes, ground[:, 0], facecolor="none", edgecolor=PALE, linewidth=1.5)
    for rail in ground:
        axes.plot(*rail.T, color=GREY, linewidth=5, solid_capstyle="butt", gid="rail")


def _legs(axes: Any, robot: Robot, universal: Array, spherical: Array) -> None:
    """UPS: a thick cylinder and a thin rod; PUS: a link."""
    for leg, (start, end) in enumerate(zip(universal, spherical, strict=True)):
        color = PALETTE[leg % len(PALETTE)]
        if robot.kind == "UPS":
            middle = start + CYLINDER * (end - start)
            axes.plot(*np.stack([middle, end]).T, color=DARK, linewidth=3, gid="rod")
            axes.plot(*np.stack([start, middle]).T, color=color, linewidth=7, gid="leg")
        else:
            axes.plot(*np.stack([start, end]).T, color=color, linewidth=4, gid="leg")


def _polygon(axes: Any, points: Array, **style: Any) -> None:
    """The polygon through points, in the order of their angle about their middle."""
    spread = points - points.mean(axis=0)
    first, second = np.linalg.svd(spread, full_matrices=True)[2][:2]
    order = np.argsort(np.arctan2(spread @ second, spread @ first))
    axes.add_collection3d(Poly3DCollection([points[order]], **style))


def _numbers(axes: Any, ground: Array, away: float) -> None:
    """Leg numbers beside what stands on the ground, on the outside."""
    middle = ground.mean(axis=(0, 1))
    for leg, ends in enumerate(ground):
        distances = np.linalg.norm(ends - middle, axis=-1)
        end = ends[np.argmax(distances)]
        place = end + away * (end - middle) / np.max(distances)
        color = PALETTE[leg % len(PALETTE)]
        _text(axes, place, str(leg + 1), color=color, fontweight="bold", fontsize=12)


def _triad(axes: Any, origin: Array, rotation: Array, length: float, index: str) -> None:
    """The axes of a frame."""
    colors = (VERMILION, GREEN, BLUE)
    for name, direction, color in zip("xyz", rotation.T, colors, strict=True):
        end = origin + length * direction
        axes.add_artist(_Arrow(origin, end, color=color, linewidth=1.5, mutation_scale=9))
        _text(axes, origin + 1.2 * length * direction, f"${name}_{index}$", color=color)


def _gravity(axes: Any, gravity: Array, corner: Array, length: float) -> None:
    if not np.any(gravity):
        return
    end = corner + length * gravity / np.linalg.norm(gravity)
    axes.add_artist(_Arrow(corner, end, color=DARK, linewidth=2.5, mutation_scale=15))
    _text(axes, end, "g", color=DARK)


def _text(axes: Any, place: Array, text: str, **style: Any) -> None:
    axes.text(*place, text, ha="center", va="center", path_effects=HALO, zorder=100, **style)


def _title(robot: Robot, pose: Motion) -> str:
    if pose is robot.description.home:
        return f"{robot.name}, home"
    return robot.name if pose.time is None else f"{robot.name}, {float(pose.time):.4g} s"


def _leg_panels(motion: Motion, panels: Sequence[tuple[Array, str]], title: str) -> Figure:
    """One curve a leg, over time or, without it, over samples."""
    if len(motion.shape) != 1:
        raise InputError(f"motion of batch shape {motion.shape}: curves need shape (n,)")
    labels = [f"leg {i + 1}" for i in range(panels[0][0].shape[-1])]
    if motion.time is None:
        return _curves(np.arange(len(motion)), "sample", panels, labels, title)
    return _curves(motion.time, "time [s]", panels, labels, title)


def _curves(
    x: Array, xlabel: str, panels: Sequence[tuple[Array, str]], labels: Sequence[str], title: str
) -> Figure:
    """Panels of curves (n, k) above each other; the second half of the curves is dashed."""
    for values, ylabel in panels:
        if values.shape != (*x.shape, len(labels)):
            raise InputError(
                f"{ylabel}: values have shape {values.shape}, needs {(*x.shape, len(labels))} "
                f"for {len(labels)} labels over {xlabel} of shape {x.shape}"
            )
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 1.6 + 1.9 * len(panels)), layout="constrained")
        rows = figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
        for axes, (values, ylabel) in zip(rows, panels, strict=True):
            for i, (curve, label) in enumerate(zip(values.T, labels, strict=True)):
                style = "-" if i < (len(labels) + 1) // 2 else (0, (4, 2))
                color = PALETTE[i % len(PALETTE)]
                axes.plot(x, curve, color=color, linestyle=style, linewidth=1.6, label=label)
            axes.set_ylabel(ylabel)
            axes.margins(x=0)
        rows[-1].set_xlabel(xlabel)
        figure.align_ylabels()
        figure.legend(handles=rows[0].get_lines(), loc="outside right center")
        figure.suptitle(title)
    return figure
