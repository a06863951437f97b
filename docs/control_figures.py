"""The comparison of controllers in docs/control.md: its tables, printed, and its pictures.

python docs/control_figures.py    # two minutes
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

import gough
from gough.model.elastic_motion import elastic_motion
from gough.parameters.base import base_parameters
from gough.parameters.consistency import changes
from gough.parameters.regressor import columns, standard_parameters
from gough.simulation import (
    AdaptiveControl,
    ComputedTorque,
    ForceFeedback,
    LegTuned,
    ObservedTorque,
    Sensors,
    StableInversion,
    VelocityFeedback,
)
from gough.trajectories import RestToRest

FREQUENCY = 60.0
SETTLED = 0.7
ENCODERS = Sensors(resolution=1e-6)
STYLES = {
    "legs PD, rigid model": ("#8a929c", "-"),
    "legs PD": ("#8a929c", "-"),
    "computed torque, rigid model": ("#5b6470", ":"),
    "computed torque, true q_e": ("#0b62a8", "-"),
    "computed torque, observer": ("#7fd0ff", "--"),
    "stable inversion": ("#b3261e", "-"),
    "velocity feedback": ("#007a5a", "-"),
    "force feedback": ("#c77700", "-"),
}
COLORS = ("#8a929c", "#5b6470", "#0b62a8", "#5aa9e6", "#b3261e", "#007a5a", "#c77700")


def flexible_move() -> tuple[gough.Robot, gough.Motion]:
    """Long, Khalil & Martinet's robot; 3.7 cm and 5° in 0.4 s between rests."""
    with warnings.catch_warnings(action="ignore"):
        robot = gough.load("long-khalil-martinet-2014")
    poses = gough.Motion(
        robot.home.position + np.array([[0, 0, 0], [0.02, 0.01, 0.03]]),
        Rotation.from_euler("x", np.array([[0.0], [5.0]]), degrees=True),
    )
    return robot, RestToRest(poses, 0.4, [0.1, 0.5]).sample(201)


def terminal(robot: gough.Robot, motion: gough.Motion) -> np.ndarray:
    """Where the material at the platform frame's origin is, (n, 3) m."""
    assert robot.modal is not None
    assert robot.modal.origin_shapes is not None
    moved = np.einsum("tij,jk,tk->ti", motion.rotation, robot.modal.origin_shapes, motion.elastic)
    return np.asarray(motion.position + moved)


def flexible() -> Figure:
    """Tracking of the terminal frame by each controller; feedback on legs of a plate that stands."""
    robot, path = flexible_move()
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    axes: Any = figure.subplots(1, 2, sharey=True)
    rigid = robot.rigid
    laws: dict[str, Any] = {
        "legs PD, rigid model": LegTuned(FREQUENCY, 0.7, model=rigid),
        "computed torque, rigid model": ComputedTorque(FREQUENCY, model=rigid),
        "computed torque, true q_e": ComputedTorque(FREQUENCY),
        "computed torque, observer": ObservedTorque(FREQUENCY),
        "stable inversion": StableInversion(FREQUENCY, 0.7),
        "velocity feedback": VelocityFeedback(FREQUENCY),
        "force feedback": ForceFeedback(FREQUENCY, 0.7, damped=200.0),
    }
    print("controller | largest error [µm] | rms error [µm] | residual vibration [µm] | force [N]")
    sag = np.linalg.norm(terminal(robot, robot.static_deflection(path[:1])) - path.position[:1])
    print(f"sag of the terminal frame at the start: {1e6 * sag:.0f} µm")
    follow(axes[0], robot, path, laws)
    with warnings.catch_warnings(action="ignore"):
        stands = robot.edited({"platform.plate.young": 2e11, "platform.plate.damping_ratio": 0.05})
    print("E = 2e11 N/m², damped by 5 %")
    some = ("legs PD", "velocity feedback", "force feedback", "stable inversion")
    held = dict.fromkeys(some) | {"legs PD": LegTuned(FREQUENCY, 0.7)}
    follow(axes[1], stands, path, {name: law or laws[name] for name, law in held.items()})
    axes[0].set(ylabel="terminal frame off its command [µm]", ylim=(0.3, 1e6))
    axes[0].set_title("as in the paper: falls with locked legs", fontsize=9)
    axes[1].set_title("ten times as stiff, damped by 5 %: stands", fontsize=9)
    for one in axes:
        one.axvspan(0.1, 0.5, color="#eef1f4", zorder=0)
        one.set(xlabel="time [s]")
    handles = {line.get_label(): line for one in axes for line in one.get_lines()}
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncol=4,
        fontsize=8,
        frameon=False,
    )
    return figure


def follow(axes: Any, robot: gough.Robot, path: gough.Motion, laws: dict[str, Any]) -> None:
    """Simulate each law, print its line of the table and draw its error."""
    inverted = elastic_motion(robot, path, "terminal")
    for name, law in laws.items():
        start = inverted[0] if name == "stable inversion" else None
        run = gough.simulate(robot, law, path, sensors=ENCODERS, step=2.5e-4, start=start)
        place, wanted = terminal(robot, run.motion), run.reference.position
        error = np.linalg.norm(place - wanted, axis=-1)
        rest = place[run.time > SETTLED]
        apart = rest - rest.mean(axis=0) if len(rest) else np.full((1, 3), np.nan)
        told = " (ends early)" if run.partial else ""
        print(
            f"{name}{told} | {1e6 * np.nanmax(error):.0f} | "
            f"{1e6 * np.sqrt(np.nanmean(error**2)):.0f} | "
            f"{1e6 * np.sqrt(np.mean(np.sum(apart**2, axis=-1))):.1f} | "
            f"{np.nanmax(np.abs(run.forces)):.0f}"
        )
        if name == "computed torque, observer":
            off = run.memory["estimated_elastic"][1:-1] - run.motion.elastic[:-2]
            at_tips = np.einsum("pck,tk->tpc", robot.modal.tip_shapes, off)  # type: ignore[union-attr]
            print(
                f"estimate at the tips: {1e6 * np.abs(at_tips).max():.2f} µm largest, "
                f"{1e6 * np.sqrt(np.mean(at_tips**2)):.2f} µm rms"
            )
        color, dashes = STYLES[name]
        axes.semilogy(
            run.time, 1e6 * np.maximum(error, 1e-8), color=color, ls=dashes, lw=1.3, label=name
        )


def wrong_masses() -> tuple[gough.Robot, gough.Robot]:
    """Kim & Ryu's robot without friction, and one whose bodies are 30 % too heavy or too light."""
    robot = gough.load("kim-ryu-2002").edited({"legs.friction": {}})
    rng, standard, names = np.random.default_rng(0), standard_parameters(robot), columns(robot)
    factors, place = np.ones(len(standard)), 0
    while place < len(standard):
        count = 10 if names[place].name.endswith(" XX") else 1
        factors[place : place + count] = 1 + 0.3 * rng.choice([-1, 1])
        place += count
    table = changes(robot, tuple(one.name for one in names), standard * factors)
    return robot, robot.edited(table)


def rich_motion(robot: gough.Robot, duration: float) -> gough.Motion:
    """Five harmonics of 0.5 Hz in every direction, up to 6 m/s² and 11 rad/s²."""
    rng = np.random.default_rng(1)
    size = np.array([0.03] * 3 + [0.12] * 3)
    sines, cosines = rng.normal(size=(5, 6)) * size, rng.normal(size=(5, 6)) * size
    t = np.arange(0, duration + 1e-9, 0.005)
    grown = np.minimum(t / 0.5, 1)
    grown = grown**3 * (10 - 15 * grown + 6 * grown**2)
    x = np.zeros((len(t), 6))
    for k in range(5):
        angle = np.pi * (k + 1) * t[:, np.newaxis]
        x += (np.sin(angle) * sines[k] + (1 - np.cos(angle)) * cosines[k] / 2) / (k + 1)
    x *= grown[:, np.newaxis]
    return gough.Motion.from_samples(
        t, robot.home.position + x[:, :3], Rotation.from_rotvec(x[:, 3:])
    )


def adaptive() -> Figure:
    """Tracking and parameters while a controller with wrong masses learns."""
    robot, wrong = wrong_masses()
    path = rich_motion(robot, 4.0)
    base = base_parameters(robot)
    G, truth = base.grouping, standard_parameters(robot)
    learner = AdaptiveControl(30.0, model=wrong)
    widths = np.sqrt(G**2 @ learner.learner(robot).widths ** 2)
    widths = np.where(widths > 0, widths, 1.0)
    noisy = Sensors(resolution=1e-6, rate_resolution=1e-4, noise=1e-6, rate_noise=2e-4)
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    axes: Any = figure.subplots(1, 2)
    for name, law, sensors, color in (
        ("computed torque, wrong masses", ComputedTorque(30.0, model=wrong), None, COLORS[0]),
        ("computed torque, true masses", ComputedTorque(30.0), None, COLORS[2]),
        ("adaptive", learner, None, COLORS[4]),
        ("adaptive, noisy encoders", learner, noisy, COLORS[6]),
    ):
        run = gough.simulate(robot, law, path, sensors=sensors)
        error = np.linalg.norm(run.tracking_errors()[0], axis=-1)
        half = len(error) // 2
        audit = np.abs(run.energy_audit()["energy_residual"]).max()
        print(
            f"{name} | {1e6 * np.sqrt(np.mean(error**2)):.1f} | "
            f"{1e6 * np.sqrt(np.mean(error[half:] ** 2)):.1f} | audit {audit:.1e} J"
        )
        axes[0].semilogy(run.time, 1e6 * np.maximum(error, 1e-9), color=color, lw=1, label=name)
        if run.memory:
            off = (run.memory["parameters"] - truth) @ G.T / widths
            rms = np.sqrt(np.mean(off**2, axis=1))
            axes[1].semilogy(run.time, 100 * rms, color=color, label=name)
            print(
                f"  base parameters: {100 * rms[0]:.2f} % rms, {100 * rms[-1]:.3f} % at the end, "
                f"largest {100 * np.abs(off[0]).max():.1f} and {100 * np.abs(off[-1]).max():.2f} %"
            )
    axes[0].set(xlabel="time [s]", ylabel="position error [µm]", ylim=(0.3, None))
    axes[1].set(xlabel="time [s]", ylabel="error of base parameters, rms [%]")
    axes[0].legend(fontsize=7, frameon=False)
    axes[1].legend(fontsize=7, frameon=False)
    return figure


if __name__ == "__main__":
    for figure, file in ((flexible, "controllers.png"), (adaptive, "adaptive.png")):
        figure().savefig(Path(__file__).parent / file, dpi=130)
