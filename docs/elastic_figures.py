"""Pictures of what modes do while the frame, the terminal frame or the legs of a robot follow."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

import gough
from gough.model.collocation import Conditions
from gough.model.elastic_search import Search
from gough.model.zero_dynamics import ZeroDynamics
from gough.trajectories import RestToRest

COLORS = {"frame": "#0b62a8", "terminal": "#b3261e", "legs": "#007a5a"}
SOFT = "#8a929c"
POSES = 1000


def robots() -> tuple[gough.Robot, gough.Robot]:
    """Long, Khalil & Martinet's robot, and the same with a plate ten times as stiff."""
    with warnings.catch_warnings(action="ignore"):
        robot = gough.load("long-khalil-martinet-2014")
        stiff = robot.edited({"platform.plate.young": 2e11, "platform.plate.damping_ratio": 0.1})
    return robot, stiff


def move(robot: gough.Robot) -> RestToRest:
    """7 mm and 5° in 0.1 s, between rests of 0.05 s."""
    poses = gough.Motion(
        robot.home.position + np.array([[0, 0, 0], [0.004, 0.002, 0.006]]),
        Rotation.from_euler("x", np.array([[0.0], [5.0]]), degrees=True),
    )
    return RestToRest(poses, 0.1, [0.05, 0.05])


def poles() -> Figure:
    """The fastest growth of the zero dynamics at random poses, by what is commanded."""
    robot, _ = robots()
    rng = np.random.default_rng(5)
    shifts = rng.uniform(-0.3, 0.3, (POSES, 3))
    turns = Rotation.from_rotvec(rng.uniform(-0.5, 0.5, (POSES, 3)))
    cloud = gough.Motion(robot.home.position + shifts, turns)
    figure = Figure(figsize=(8, 2.9), layout="constrained")
    axes: Any = figure.subplots(1, 3, sharey=True)
    for one, (output, color) in zip(axes, COLORS.items(), strict=True):
        with warnings.catch_warnings(action="ignore"):
            health = robot.elastic_health(cloud, output)  # type: ignore[arg-type]  # a key of COLORS
        real = health.poles.real.max(axis=-1)
        part = 100 * float(np.mean(~health.stable))
        edges = np.concatenate([-np.geomspace(100, 1, 15), [0], np.geomspace(1, 1e4, 29)])
        one.hist(np.clip(real, -99, 9999), edges, color=color, alpha=0.85)
        one.axvline(0, color="#1d2126", lw=1)
        one.set_xscale("symlog", linthresh=1)
        one.set_xticks([-100, 0, 100, 1e4], ["−100", "0", "100", "10⁴"])
        one.set_title(f"{output}: unstable in {part:.0f} %", color=color, fontsize=10)
        one.set_xlabel("rightmost pole [1/s]")
    axes[0].set_ylabel(f"of {POSES} poses")
    return figure


def anticipation() -> Figure:
    """The terminal frame commanded: the bounded solution, and what forward integration does."""
    _, robot = robots()
    samples = move(robot).sample(401)
    motion = robot.elastic_motion(samples, "terminal")
    time = 1e3 * samples.time
    rest = robot.static_deflection(samples)

    def off_rest(elastic: Any) -> Any:
        """Largest displacement of a tip from where it rests, µm."""
        moved = np.einsum("lck,nk->nlc", tips, elastic - rest.elastic[: len(elastic)])
        return 1e6 * np.linalg.norm(moved, axis=-1).max(axis=-1)

    assert robot.modal is not None
    tips = robot.modal.tip_shapes
    figure = Figure(figsize=(8, 4.6), layout="constrained")
    top, below = figure.subplots(2, 1, sharex=True)
    top.semilogy(time, off_rest(motion.elastic), color=COLORS["terminal"], label="bounded")
    moving = np.flatnonzero((samples.time > 0.0499) & (samples.time < 0.057))
    grown = off_rest(leaving(robot, samples[moving]))
    top.plot(time[moving], grown, color="#1d2126", ls=":", label="forward from rest")
    top.set_ylim(1e-3, 1e5)
    top.set_ylabel("tips off rest [µm]")
    forces = robot.inverse_dynamics(motion).forces
    below.plot(time, forces - forces[0], lw=1)
    below.set_ylabel("forces less those\nat rest [N]")
    below.set_xlabel("time [ms]")
    for one in (top, below):
        one.axvspan(50, 150, color="#f0f2f5", zorder=0)
        one.margins(x=0)
    top.legend(loc="upper left", fontsize=9)
    top.set_title(
        "shaded: the terminal frame moves; before it, the forces already prepare", fontsize=10
    )
    return figure


def leaving(robot: gough.Robot, few: gough.Motion) -> Any:
    """qe while the terminal frame follows and the modes start at rest."""
    dynamics = ZeroDynamics(robot, "terminal", True)
    load = np.zeros((len(few), 6))
    rest = dynamics.rest(few[[0, -1]], load[:2])
    x = np.concatenate([rest.elastic[0], 0 * rest.elastic[0]])
    start = Conditions(np.eye(len(x)), x, np.zeros((0, len(x))), np.zeros(0))
    course, _ = (search := Search(dynamics, few, load, start)).solve(rest.elastic)
    return search.motion(course).elastic


def followers() -> Figure:
    """Where the terminal frame is while the frame, the terminal frame or the legs follow."""
    _, robot = robots()
    samples = move(robot).sample(401)
    time = 1e3 * samples.time
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    axes = figure.subplots()
    for output, color in COLORS.items():
        motion = robot.elastic_motion(samples, output)  # type: ignore[arg-type]  # a key of COLORS
        off = robot.terminal_motion(motion).position - samples.position
        axes.plot(time, 1e6 * (off - off[0])[:, 2], color=color, label=f"{output} ({motion.way})")
    axes.axvspan(50, 150, color="#f0f2f5", zorder=0)
    axes.set_ylabel("terminal frame off the command,\nless its sag at the start [µm]")
    axes.set_xlabel("time [ms]")
    axes.margins(x=0)
    axes.legend(title="what follows", loc="upper left", fontsize=9)
    return figure


FIGURES = {"zero-dynamics": poles, "anticipation": anticipation, "followers": followers}
