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
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from matplotlib.patheffects import withStroke
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from mpl_toolkits.mplot3d.proj3d import proj_transform
from numpy.typing import ArrayLike

from gough.errors import FileError, InputError
from gough.files import replacing
from gough.legs.ups import UPS
from gough.motion import Array, Motion

if TYPE_CHECKING:
    from gough.results import LegMotion
    from gough.robot import Robot

KINDS = (".png", ".svg", ".pdf")
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK = "#E69F00", "#56B4E9", "#000000"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
DARK, GREY, PALE = "#3C4148", "#8A9099", "#D5D8DC"
STYLE: dict[str, Any] = {
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
CYLINDER = 0.55
"""Part of a UPS leg's length that is drawn as its cylinder."""


def draw(robot: Robot, motion: Motion | None = None) -> Figure:
    """The robot in the world frame (m), at home or at the first sample of a motion.

    Gravity points down the page. The path of the platform's origin is a line if the motion has
    several samples.
    """
    motion = robot.home if motion is None else motion
    pose = motion[(0,) * len(motion.shape)]
    legs, parts, tool = robot.inverse_kinematics(pose), robot.description.legs, pose.position
    tool = pose.position + pose.rotation @ robot.description.tool
    if isinstance(parts, UPS):
        universal, lengths = parts.base[..., 0].T, legs.q
        grounded = universal[:, np.newaxis]
    else:
        grounded = _rails(robot, legs.q)
        along, lengths = parts.rail_direction[..., 0].T, parts.length[:, 0]
        universal = parts.rail_origin[..., 0].T + legs.q[:, np.newaxis] * along
    spherical = universal + lengths[:, np.newaxis] * legs.direction
    path = motion.position.reshape(-1, 3)
    everything = np.concatenate([grounded.reshape(-1, 3), spherical, path, [tool, np.zeros(3)]])
    low, high = np.nanmin(everything, axis=0), np.nanmax(everything, axis=0)
    size = float(np.max(high - low))

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 7.0))
        axes: Any = figure.add_axes((0.02, 0.08, 0.92, 0.86), projection="3d")
        _space(axes, low - 0.08 * size, high + 0.08 * size, robot.description.gravity)
        _grounded(axes, grounded)
        for leg, (start, end) in enumerate(zip(universal, spherical, strict=True)):
            _leg(axes, leg, start, end, parts)
            _number(axes, leg, grounded, size)
        _polygon(axes, spherical, facecolor=SKY, edgecolor=DARK, alpha=0.35)
        axes.plot(*universal.T, "s", color=DARK, markersize=7, label="universal joint")
        axes.plot(*spherical.T, "o", color="white", markersize=7, markeredgecolor=DARK,
                  markeredgewidth=1.5, label="spherical joint")  # fmt: skip
        if len(path) > 1:
            for run in motion.position.reshape(-1, *motion.position.shape[-2:]):
                axes.plot(*run.T, color=PURPLE, linewidth=1.8, label="path of the platform's origin")
        if np.any(tool != pose.position):
            axes.plot(*np.stack([pose.position, tool]).T, color=DARK, linewidth=1.0, linestyle=":")
            axes.plot(*tool, "*", color=ORANGE, markersize=13, markeredgecolor=DARK, label="tool")
        _triad(axes, np.zeros(3), np.eye(3), 0.2 * size, "0")
        _triad(axes, pose.position, pose.rotation, 0.16 * size, "P")
        _gravity(axes, low, high, robot.description.gravity, 0.2 * size)
        handles = {handle.get_label(): handle for handle in axes.get_legend_handles_labels()[0]}
        figure.legend(handles=[*handles.values()], loc="lower center", ncols=len(handles))
        axes.set_title(_title(robot, motion, pose))
    return figure


def leg_curves(motion: Motion, legs: LegMotion) -> Figure:
    """Actuated coordinates (m), rates and accelerations of all legs over time."""
    panels = [
        (legs.q, "$q$ [m]"),
        (legs.qd, r"$\dot q$ [m/s]"),
        (legs.qdd, r"$\ddot q$ [m/s²]"),
    ]
    return _panels(motion, panels, "Actuated coordinates")


def joint_curves(robot: Robot, motion: Motion, legs: LegMotion) -> Figure:
    """The two angles (rad) of every universal joint over time."""
    equations = robot.machine.equations
    panels = [
        (legs.joints[..., i], rf"{SYMBOLS[equations.JOINTS[i]]} [rad]") for i in equations.UNIVERSAL
    ]
    return _panels(motion, panels, "Angles of the universal joints")


def over_time(
    time: ArrayLike, values: ArrayLike, labels: Sequence[str], ylabel: str, title: str
) -> Figure:
    """Curves values (n, k) over time (n,) in s, with one label a curve; `ylabel` has the unit."""
    return _curves(np.asarray(time), "time [s]", [(np.asarray(values), ylabel)], labels, title)


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as .png, .svg or .pdf, whole or not at all."""
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise FileError(f"{path}: a picture's name must end in {', '.join(KINDS)}")
    try:
        with replacing(path) as temporary, matplotlib.rc_context(STYLE):
            figure.savefig(temporary, format=kind[1:], dpi=200)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None


class _Arrow(FancyArrowPatch):
    """An arrow in space, from `start` to `start + vector`."""

    def __init__(self, start: Array, vector: Array, **style: Any) -> None:
        super().__init__((0, 0), (0, 0), arrowstyle="-|>", shrinkA=0, shrinkB=0, **style)
        self.ends = np.stack([start, start + vector])

    def do_3d_projection(self) -> float:
        x, y, z = proj_transform(*self.ends.T, self.axes.M)
        self.set_positions((x[0], y[0]), (x[1], y[1]))
        return float(np.min(z))


def _space(axes: Any, low: Array, high: Array, gravity: Array) -> None:
    """Equal scales on all axes, and gravity down the page.

    Where gravity points along a positive axis, that one and one more are turned round: the picture
    stays right-handed.
    """
    vertical = int(np.argmax(np.abs(gravity))) if np.any(gravity) else 2
    turned = {vertical, (vertical + 2) % 3} if gravity[vertical] > 0 else set()
    for i, name in enumerate("xyz"):
        ends = (high[i], low[i]) if i in turned else (low[i], high[i])
        axes.set(**{f"{name}lim": ends, f"{name}label": f"{name} [m]"})
        axis = getattr(axes, f"{name}axis")
        axis.set_major_locator(matplotlib.ticker.MaxNLocator(5))
        axis.set_pane_color("white")
        axis.labelpad = 8
    axes.set_box_aspect(high - low)
    axes.view_init(elev=20, azim=-60, vertical_axis="xyz"[vertical])
