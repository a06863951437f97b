"""Free-free against pinned mode shapes: the table and picture of docs/boundary.md.

python docs/boundary_figures.py    # some minutes
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

import gough
from gough.model.elastic_motion import elastic_motion
from gough.trajectories import RestToRest

COUNTS = (3, 6, 10, 15, 20, 30)
COLORS = {"free": "#0b62a8", "pinned": "#b3261e"}


class Found(NamedTuple):
    """What a number of modes gives."""

    sag: float
    """Of the terminal frame under its weight, legs locked at their undeformed lengths, m."""
    force: float
    """Largest along the motion with these lengths commanded, N."""
    frequencies: np.ndarray
    """The lowest three with locked legs, Hz."""
    pole: float
    """Rightmost pole of the zero dynamics while the terminal frame is commanded, 1/s."""


def found(boundary: str, modes: int) -> Found:
    """The robot of Long, Khalil & Martinet with E = 2·10¹¹ N/m², which stands."""
    with warnings.catch_warnings(action="ignore"):
        robot = gough.load("long-khalil-martinet-2014").edited(
            {
                "platform.plate.young": 2e11,
                "platform.plate.boundary": boundary,
                "platform.plate.modes": modes,
            }
        )
        poses = gough.Motion(
            robot.home.position + np.array([[0, 0, 0], [0.02, 0.01, 0.03]]),
            Rotation.from_euler("x", np.array([[0.0], [5.0]]), degrees=True),
        )
        path = RestToRest(poses, 0.4, [0.1, 0.3]).sample(161)
        motion = elastic_motion(robot, path, "legs")
        force = float(np.abs(robot.inverse_dynamics(motion).forces).max())
        place = robot.terminal_motion(motion).position[0]
        hertz = robot.natural_frequencies(motion[0]).frequencies[:3]
        health = robot.elastic_health(robot.home, "terminal")
    sag = float(robot.home.position[2] - place[2])
    return Found(sag, force, hertz, float(health.poles.real.max()))


def table() -> tuple[dict[str, list[Found]], Figure]:
    """All of it, printed and drawn."""
    known = {one: [found(one, count) for count in COUNTS] for one in COLORS}
    print("boundary | modes | sag [mm] | force [N] | frequencies [Hz] | pole [1/s]")
    for boundary, rows in known.items():
        for count, one in zip(COUNTS, rows, strict=True):
            hertz = ", ".join(f"{value:.3f}" for value in one.frequencies)
            print(
                f"{boundary} | {count} | {1e3 * one.sag:.4f} | {one.force:.1f} | {hertz} | "
                f"{one.pole:.0f}"
            )
    figure = Figure(figsize=(8, 3.0), layout="constrained")
    axes: Any = figure.subplots(1, 3)
    for boundary, rows in known.items():
        color = COLORS[boundary]
        axes[0].semilogy(COUNTS, [1e3 * one.sag for one in rows], "o-", color=color, label=boundary)
        axes[1].semilogy(COUNTS, [one.frequencies[0] for one in rows], "o-", color=color)
        axes[2].semilogy(COUNTS, [one.pole for one in rows], "o-", color=color, label=boundary)
    for one, title in zip(
        axes,
        ("sag [mm]", "lowest frequency, locked legs [Hz]", "rightmost pole, terminal [1/s]"),
        strict=True,
    ):
        one.set(xlabel="modes", title=title)
        one.title.set_fontsize(9)
    axes[0].legend(frameon=False, fontsize=8)
    return known, figure


if __name__ == "__main__":
    table()[1].savefig(Path(__file__).parent / "boundary.png", dpi=130)
