"""Small pictures of the robots in `which-robot.md`, drawn from the files on that page."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from scipy.spatial import ConvexHull, QhullError

from figures import SOFT, Drawing
from gough.base.files import replacing
from gough.model.places import bodies, ground, placed_legs, tips
from gough.robot import Robot
from gough.show.colors import DARK, SKY, leg_color
from gough.show.style import STYLE

FILE = re.compile(r"^```toml ([\w-]+)\.toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VIEW, ABOVE = (25.0, 22.0), (0.0, 90.0)
"""Azimuth and elevation in degrees of what is seen from the side, and of planar robots."""
MARKERS = {"universal": "s", "spherical": "o"}


def write(folder: Path) -> None:
    """Draw what is missing into `robots/`; remove a picture to have it drawn anew."""
    page = (folder / "which-robot.md").read_text("utf-8")
    for name, text in FILE.findall(page):
        path = folder / "robots" / f"{name}.png"
        if not path.is_file():
            path.parent.mkdir(exist_ok=True)
            with matplotlib.rc_context(STYLE), replacing(path) as temporary:
                picture(Robot.from_dict(tomllib.loads(text))).savefig(
                    temporary, format="png", dpi=110
                )


def picture(robot: Robot) -> Figure:
    """A robot at home: ground, legs in their colours, joints and platform."""
    legs = robot.inverse_kinematics(robot.home)
    placed, stands = placed_legs(robot, robot.home, legs), ground(robot, legs.q)
    points = np.concatenate([one.places.points.reshape(-1, 3) for one in placed])
    flat = np.ptp(points[:, 2]) == 0
    drawing = Drawing(2.0, 1.75, ABOVE if flat else VIEW)
    towards = np.cross(*drawing.onto)
    size = float(np.ptp(np.concatenate([points, stands.reshape(-1, 3)]), axis=0).max())
    for feet in stands:
        drawing.line(*feet, color="#c3ccd6", lw=3.5, zorder=-1e3)
    hull(drawing, stands[:, 0], color="#eef1f4", zorder=-1e4)
    hull(drawing, tips(placed), color=SKY, alpha=0.45, zorder=1e3)
    if robot.file.platform is not None and robot.file.platform.mobility == "rotation":
        pivot = robot.home.position
        drawing.line(pivot, pivot * [1, 1, 0], color="#c3ccd6", lw=3.5, zorder=-1e3)
        drawing.dot(pivot, ms=3.6, mew=0.9, zorder=2e3)
    for alike, bar in bodies(placed, placed, size):
        for leg, start, end in zip(
            range(alike.which.start, alike.which.stop), bar.seen, bar.end, strict=True
        ):
            color = leg_color(leg) if bar.colored else DARK
            depth = float((start + end) @ towards)
            drawing.line(start, end, color=color, lw=0.55 * bar.line, zorder=depth)
    for one in placed:
        for k, joint in enumerate(one.places.joints):
            for point, axis in zip(one.places.points[:, k], one.places.axes[:, k], strict=True):
                mark(drawing, joint, one.places.driven[k], point, 0.035 * size * axis)
    drawing.axes.margins(0.08)
    return drawing.figure


def mark(drawing: Drawing, joint: str, driven: bool, point: Any, half: Any) -> None:
    """A joint: a square, a circle, or a short line along its axis; filled where a motor drives it."""
    filled = {"mfc": DARK} if driven else {}
    if joint == "revolute" and np.linalg.norm(drawing(half)) > 0.1 * np.linalg.norm(half):
        drawing.line(point - half, point + half, color=DARK, lw=3.4, zorder=2e3)
        inside = DARK if driven else "white"
        drawing.line(point - half, point + half, color=inside, lw=2.0, zorder=2e3 + 1)
    elif joint != "prismatic":
        marker = MARKERS.get(joint, "o")
        drawing.dot(point, marker=marker, ms=3.6, mew=0.9, zorder=2e3, **filled)


def hull(drawing: Drawing, points: Any, **style: Any) -> None:
    """What points span on the paper, with an edge; points on a line span a bar."""
    flat = drawing(np.asarray(points))
    try:
        flat = flat[ConvexHull(flat).vertices]
    except QhullError:
        drawing.axes.plot(*flat.T, lw=4.0, solid_capstyle="round", **style)
    else:
        drawing.axes.fill(*flat.T, **style)
        closed = np.concatenate([flat, flat[:1]])
        drawing.axes.plot(*closed.T, color=SOFT, lw=0.7, zorder=style["zorder"])
