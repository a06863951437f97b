"""Drawings of the documentation, made by the build: frames of the leg kinds, `elastic_figures`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

import elastic_figures
from gough.base.files import replacing
from gough.robot import load
from gough.show import plots

INK, SOFT = "#1d2126", "#8a929c"
BLUE, RED, GREEN, ORANGE = "#0b62a8", "#b3261e", "#007a5a", "#b04a00"
Vector = Any


def write(folder: Path) -> None:
    """Draw what is missing; remove a picture to have it drawn anew."""
    for name, draw in FIGURES.items():
        path = folder / f"{name}.png"
        if not path.is_file():
            with matplotlib.rc_context(plots.STYLE), replacing(path) as temporary:
                draw().savefig(
                    temporary, format="png", dpi=130, bbox_inches="tight", pad_inches=0.15
                )


class Drawing:
    """An orthographic drawing: x to the right and towards us, y away, z up."""

    def __init__(self, width: float, height: float, view: tuple[float, float]) -> None:
        self.figure = Figure(figsize=(width, height), layout="none")
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set_aspect("equal")
        self.axes.axis("off")
        azimuth, elevation = np.deg2rad(view)
        right = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
        towards = np.array([np.sin(azimuth), -np.cos(azimuth), 0.0])
        up = np.cos(elevation) * np.array([0, 0, 1.0]) - np.sin(elevation) * towards
        self.onto = np.stack([right, up])

    def __call__(self, point: Vector) -> Vector:
        """Where a point of space is on the paper."""
        return np.asarray(point, float) @ self.onto.T

    def line(self, *points: Vector, **style: Any) -> None:
        """A line through points."""
        x, y = self(points).T
        self.axes.plot(x, y, **{"color": INK, "lw": 1.2, "solid_capstyle": "round", **style})

    def dot(self, point: Vector, **style: Any) -> None:
        """A joint."""
        x, y = self(point)
        drawn = {"marker": "o", "ms": 7, "mfc": "white", "mec": INK, "mew": 1.4, "zorder": 5}
        self.axes.plot([x], [y], **{**drawn, **style})

    def text(
        self, point: Vector, text: str, shift: tuple[float, float] = (0, 0), **style: Any
    ) -> None:
        """A label, moved by points of the paper."""
        drawn = {"ha": "center", "va": "center", "fontsize": 11, "color": INK}
        self.axes.annotate(
            text, self(point), shift, textcoords="offset points", **{**drawn, **style}
        )

    def arrow(
        self,
        start: Vector,
        along: Vector,
        label: str,
        color: str = INK,
        shift: tuple[float, float] = (0, 0),
        **style: Any,
    ) -> None:
        """A vector with a label beyond its head."""
        head = np.asarray(start) + np.asarray(along)
        self.line(start, head, alpha=0)  # annotations alone do not count for the axes' limits
        self.axes.annotate(
            "",
            self(head),
            self(start),
            arrowprops={
                "arrowstyle": "-|>,head_length=.5,head_width=.2",
                "color": color,
                "lw": 1.8,
                "shrinkA": 0,
                "shrinkB": 0,
                **style,
            },
        )
        away = self(head) - self(start)
        away = 11 * away / max(float(np.hypot(*away)), 1e-9)
        self.text(head, label, (away[0] + shift[0], away[1] + shift[1]), color=color)

    def arc(
        self,
        center: Vector,
        first: Vector,
        second: Vector,
        radius: float,
        label: str,
        color: str = ORANGE,
        shift: tuple[float, float] = (0, 0),
    ) -> None:
        """The angle from one unit vector to another."""
        angle = np.arccos(np.clip(np.dot(first, second), -1, 1))
        side = second - np.cos(angle) * np.asarray(first)
        side = side / np.linalg.norm(side)
        turn = np.linspace(0, angle, 60)[:, None]
        points = center + radius * (np.cos(turn) * first + np.sin(turn) * side)
        self.line(*points[:-4], color=color, lw=1.4)
        self.axes.annotate(
            "",
            self(points[-1]),
            self(points[-6]),
            arrowprops={
                "arrowstyle": "-|>,head_length=.4,head_width=.15",
                "color": color,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
        middle = points[len(points) // 2] - center
        self.text(center + 1.22 * middle, label, shift, color=color)


def unit(vector: Vector) -> Vector:
    """A vector made unit length."""
    return np.asarray(vector, float) / np.linalg.norm(vector)


def world() -> Figure:
    """World and platform frame."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = load("long-khalil-martinet-2014").rigid
    drawing = Drawing(6.4, 5.6, (25, 20))
    p = np.array([0.25, 0.43, 1.05])
    turned = Rotation.from_rotvec([0.1, -0.22, 0.15]).as_matrix()
    base = robot.description.legs.base[:, :, 0].T
    tips = p + robot.description.platform_points[:, :, 0].T @ turned.T
    order = np.argsort(np.arctan2(*(tips - p)[:, 1::-1].T))
    ring = [*tips[order], tips[order[0]]]
    drawing.axes.fill(*drawing(ring).T, color="#dfe7ef", zorder=0)
    drawing.line(*ring, lw=1.6)
    for i, (b, t) in enumerate(zip(base, tips, strict=True)):
        drawing.line(b, t, color=SOFT, lw=3.2, zorder=1)
        drawing.dot(b, ms=6)
        drawing.dot(t, ms=6)
        if i == 5:
            drawing.text(b, r"$B_i$", (-14, -8))
            drawing.text(t, r"$P_i$", (-14, 8))
    o = np.zeros(3)
    for k, name in enumerate("xyz"):
        away = (-10, 0) if name == "z" else (0, 0)
        drawing.arrow(o, 0.3 * np.eye(3)[k], rf"${name}_0$", BLUE, away)
        drawing.arrow(p, 0.3 * turned[:, k], rf"${name}_p$", RED, (12, -8) if name == "y" else away)
    drawing.arrow(o, p, "", GREEN, lw=1.4)
    drawing.text(0.45 * p, "$p$", (12, -4), color=GREEN)
    drawing.text(o, "world frame 0", (-52, -14), color=BLUE)
    drawing.text(p, "platform frame", (52, 66), color=RED)
    return fitted(drawing)


def ups() -> Figure:
    """Frames of a UPS leg."""
    drawing = Drawing(7.2, 6.4, (-15, 30))
    B = np.zeros(3)
    axis, reference = np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    q1, q2, q3 = np.deg2rad(-62), np.deg2rad(55), 1.15
    x1 = np.cos(q1) * reference + np.sin(q1) * np.cross(axis, reference)
    y1 = np.cross(axis, x1)
    z3 = -np.cos(q2) * axis + np.sin(q2) * x1
    x3 = np.cos(q2) * x1 + np.sin(q2) * axis
    P = B + q3 * z3
    drawing.line(B, 0.66 * P, color="#c3ccd6", lw=15, zorder=0)
    drawing.line(0.55 * P, P, color="#dfe5ec", lw=8, zorder=1)
    drawing.text(0.5 * P, "cylinder", (40, -8), color=SOFT)
    drawing.text(0.82 * P, "rod", (22, -10), color=SOFT)
    size = 0.4
    drawing.line(B - 0.3 * axis, B + 0.85 * axis, color=SOFT, lw=0.9, ls=(0, (5, 3)))
    drawing.arrow(B, 1.2 * size * axis, r"$z_1$ = axis", BLUE, (-32, -2))
    drawing.arrow(B, size * x1, r"$x_1$", BLUE, (2, 2))
    drawing.arrow(B, size * y1, r"$y_1$", BLUE, (2, 0))
    drawing.arrow(B, size * reference, "reference", SOFT, (22, 0), lw=1.2)
    drawing.arrow(B, size * x3, r"$x_2$", GREEN, (0, 2))
    drawing.arrow(B, -0.3 * z3, r"$y_2$", GREEN)
    drawing.arrow(B, -0.8 * size * y1, r"$z_2$", GREEN)
    drawing.arrow(P, 0.8 * size * x3, r"$x_3$", RED)
    drawing.arrow(P, 0.8 * size * z3, r"$z_3$", RED)
    drawing.arrow(P, -0.8 * size * y1, r"$y_3$", RED)
    drawing.arc(B, reference, x1, 0.23, r"$-q_1$", shift=(10, -6))
    drawing.arc(B, x1, x3, 0.31, r"$q_2$", GREEN, shift=(-1, 2))
    drawing.dot(B, ms=9)
    drawing.dot(P, ms=9)
    drawing.text(B, "B", (-4, -20), fontweight="bold")
    drawing.text(P, "P", (12, -14), fontweight="bold")
    drawing.text(B, "frames 1 (blue) and 2 (green) at B", (-20, -88), color=SOFT)
    drawing.text(P, "frame 3 at P", (64, -2), color=SOFT)
    return fitted(drawing)


def pus() -> Figure:
    """Frames of a PUS leg."""
    drawing = Drawing(7.2, 5.4, (-15, 30))
    origin, rail = np.zeros(3), np.array([1.0, 0.0, 0.0])
    axis, reference = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    q, length, phi1, phi2 = 0.75, 1.05, np.deg2rad(40), np.deg2rad(118)
    x = np.cos(phi1) * reference + np.sin(phi1) * np.cross(axis, reference)
    n = np.cos(phi2) * axis + np.sin(phi2) * x
    y = unit(np.cross(n, axis))
    A = origin + q * rail
    P = A + length * n
    drawing.line(origin - 0.15 * rail, origin + 1.5 * rail, color="#c3ccd6", lw=9, zorder=0)
    drawing.line(A - 0.1 * rail, A + 0.1 * rail, color=SOFT, lw=17, zorder=1)
    drawing.line(A, P, color="#dfe5ec", lw=8, zorder=1)
    drawing.text(A + 0.75 * length * n, "link", (16, -12), color=SOFT)
    drawing.text(A, "slider", (46, -22), color=SOFT)
    drawing.text(origin, "rail_origin", (-34, 16), color=SOFT)
    drawing.dot(origin, ms=5, mfc=INK)
    drawing.arrow(origin + 1.5 * rail, 0.2 * rail, r"$a$ = rail_direction", INK, (-24, -18))
    down = np.array([0, 0, -0.2])
    drawing.line(origin + down, A + down, alpha=0)
    drawing.axes.annotate(
        "",
        drawing(A + down),
        drawing(origin + down),
        arrowprops={"arrowstyle": "<|-|>", "color": ORANGE, "shrinkA": 0, "shrinkB": 0},
    )
    drawing.text(0.5 * (origin + A) + down, r"$q = \lambda$", (0, -12), color=ORANGE)
    drawing.line(A - 0.2 * axis, A + 0.85 * axis, color=SOFT, lw=0.9, ls=(0, (5, 3)))
    drawing.arrow(A, 0.55 * axis, r"$z_{cross}$ = axis", BLUE, (-46, 0))
    drawing.arrow(A, 0.5 * x, r"$x_{cross}$", BLUE, (4, 4))
    drawing.arrow(A, 0.5 * reference, "reference", SOFT, (0, 2), lw=1.2)
    drawing.arrow(A, 0.62 * n, r"$z_{link} = n$", RED, (30, -14))
    drawing.arrow(A, 0.36 * y, r"$y_{link}$", RED, (-6, 0))
    drawing.arc(A, axis, n, 0.22, "")
    middle = unit(axis + n)
    drawing.text(A + 0.22 * middle, r"$\varphi_2$", (-3, 9), color=ORANGE)
    drawing.arc(A, reference, x, 0.4, r"$\varphi_1$", shift=(0, 0))
    drawing.dot(A, ms=9)
    drawing.dot(P, ms=9)
    drawing.text(A, "A", (-16, -16), fontweight="bold")
    drawing.text(P, "P", (14, 8), fontweight="bold")
    return fitted(drawing)


def rus() -> Figure:
    """Frames of a RUS leg, its universal axis along the motor's."""
    drawing = Drawing(7.2, 6.0, (-38, 24))
    motor, a = np.zeros(3), np.array([0.0, 1.0, 0.0])
    e1 = np.array([1.0, 0.0, 0.0])
    e2 = np.cross(a, e1)
    q, r, length, phi1, phi2 = np.deg2rad(-28), 1.0, 1.25, np.deg2rad(-72), np.deg2rad(112)
    u = np.cos(q) * e1 + np.sin(q) * e2
    t = np.cross(a, u)
    A, axis, reference = motor + r * u, a, u
    x = np.cos(phi1) * reference + np.sin(phi1) * np.cross(axis, reference)
    n = np.cos(phi2) * axis + np.sin(phi2) * x
    y = unit(np.cross(n, axis))
    P = A + length * n
    turn = np.deg2rad(np.linspace(-85, 25, 60))[:, None]
    circle = motor + r * (np.cos(turn) * e1 + np.sin(turn) * e2)
    drawing.line(*circle, color=SOFT, lw=0.9, ls=(0, (2, 3)), zorder=0)
    drawing.line(motor - 0.22 * a, motor + 0.22 * a, color="#dfe5ec", lw=26, zorder=0)
    drawing.line(motor, A, color="#c3ccd6", lw=11, zorder=1)
    drawing.line(A, P, color="#dfe5ec", lw=8, zorder=1)
    drawing.text(A + 0.82 * length * n, "link", (20, -4), color=SOFT)
    drawing.text(motor + 0.3 * r * u, "crank", (28, -4), color=SOFT)
    drawing.text(motor, "motor", (-6, -34), color=SOFT)
    drawing.line(motor - 0.35 * a, motor + 0.85 * a, color=SOFT, lw=0.9, ls=(0, (5, 3)))
    drawing.arrow(motor, 0.6 * a, r"$z_{crank} = a$ = motor_axis", GREEN, (-24, 14))
    drawing.arrow(motor, 0.5 * u, r"$x_{crank} = u$", GREEN, (-46, -2))
    drawing.arrow(motor, 0.42 * t, r"$y_{crank} = t$", GREEN, (-4, 0))
    drawing.arrow(motor, 1.3 * e1, r"$e_1$ (crank_zero)", SOFT, (36, -8), lw=1.2)
    drawing.arc(motor, e1, u, 0.72, r"$-q$", shift=(-2, 0))
    drawing.line(A - 0.2 * axis, A + 0.75 * axis, color=SOFT, lw=0.9, ls=(0, (5, 3)))
    drawing.arrow(A, 0.55 * axis, r"$z_{cross}$ = axis", BLUE, (-22, 10))
    drawing.arrow(A, 0.5 * x, r"$x_{cross}$", BLUE, (-2, 2))
    drawing.arrow(A, 0.48 * reference, "reference", SOFT, (30, -4), lw=1.2)
    drawing.arrow(A, 0.62 * n, r"$z_{link} = n$", RED, (38, 10))
    drawing.arrow(A, 0.36 * y, r"$y_{link}$", RED, (-6, 4))
    drawing.arc(A, axis, n, 0.24, "")
    drawing.text(A + 0.24 * unit(axis + n), r"$\varphi_2$", (-6, 10), color=ORANGE)
    drawing.arc(A, reference, x, 0.36, r"$-\varphi_1$", shift=(30, -4))
    drawing.dot(motor, ms=8, mfc=INK)
    drawing.dot(A, ms=9)
    drawing.dot(P, ms=9)
    drawing.text(A, "A", (4, -20), fontweight="bold")
    drawing.text(P, "P", (14, 8), fontweight="bold")
    return fitted(drawing)


def chain() -> Figure:
    """Frames of a chain leg at home: a revolute, a universal, a spherical joint."""
    drawing = Drawing(7.6, 5.6, (25, 22))
    world, leg = np.array([-1.05, 0.0, -0.35]), np.zeros(3)
    x, y, z = np.eye(3)
    first, second, last = 0.5 * x, 0.95 * x + 0.72 * z, 0.2 * x + 1.15 * z
    axis2 = unit(np.cross(last - second, y))
    drawing.line(first - 0.2 * y, first + 0.2 * y, color="#dfe5ec", lw=22, zorder=0)
    drawing.line(first, second, color="#c3ccd6", lw=11, zorder=1)
    drawing.line(second, last, color="#dfe5ec", lw=8, zorder=1)
    plate = last + np.array([[0, 0, 0], [-1.0, -0.5, 0.12], [-0.9, 0.5, 0.12]])
    drawing.axes.fill(*drawing(plate).T, color="#eef2f6", zorder=0)
    drawing.line(*plate, plate[0], color=SOFT, lw=1.0, zorder=0)
    drawing.text(plate.mean(axis=0), "platform", color=SOFT)
    drawing.line(world, leg, color=SOFT, lw=1.0, ls=(0, (2, 3)))
    drawing.text(0.5 * (world + leg), "position,\nrotation_vector", (-4, 24), color=SOFT)
    drawing.text(world, "world frame 0", (-40, -22), color=SOFT)
    drawing.text(leg, "the leg's frame", (0, -24))
    turned = Rotation.from_rotvec([0, 0, -0.6]).as_matrix()
    shifts = {"x": (6, 6), "y": (6, -8), "z": (-10, -6)}
    for k, name in enumerate("xyz"):
        drawing.arrow(world, 0.26 * turned[:, k], rf"${name}_0$", SOFT, lw=1.2)
        drawing.arrow(leg, 0.3 * np.eye(3)[k], rf"${name}$")
        for number, point, color in ((1, first, BLUE), (2, second, RED)):
            label = rf"${name}_{number}$"
            drawing.arrow(point, 0.28 * np.eye(3)[k], label, color, shifts[name])
    for point, direction, label, shift in (
        (first, y, "axis", (18, 2)),
        (second, y, "axis", (18, 2)),
        (second, -axis2, "axis2", (0, 10)),
    ):
        ends = point - 0.3 * direction, point + 0.62 * direction
        drawing.line(*ends, color=ORANGE, lw=1.0, ls=(0, (5, 3)))
        drawing.text(ends[1], label, shift, color=ORANGE)
    drawing.dot(first, ms=8, mfc=INK)
    drawing.dot(second, ms=9)
    drawing.dot(last, ms=9)
    drawing.text(first, "revolute", (-22, -26), color=SOFT)
    drawing.text(second, "universal", (44, -26), color=SOFT)
    drawing.text(last, "spherical", (-8, -20), color=SOFT)
    drawing.text(0.5 * (first + second), "body 1", (40, 10), color=BLUE)
    drawing.text(0.5 * (second + last), "body 2", (2, 20), color=RED)
    return fitted(drawing)


def fitted(drawing: Drawing) -> Figure:
    """The drawing with a margin about all that is on it."""
    drawing.axes.margins(0.16)
    return drawing.figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "frames-world": world,
    "frames-ups": ups,
    "frames-pus": pus,
    "frames-rus": rus,
    "frames-chain": chain,
    **elastic_figures.FIGURES,
}
