"""The paper's three motions: forces and powers, by several routes, and made in less time."""

from __future__ import annotations

from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.figure import Figure as Picture
from scipy.integrate import simpson

import gough
from gough.base.arrays import Array
from gough.data.paper_motions import paper_motion
from gough.formulations import newton_euler, virtual_work
from gough.results import Actuation
from gough.show.colors import DARK, GREY, PALETTE
from gough.show.pictures.curves import leg_panels
from gough.show.reproduction import Figure, load_paper, relative_error
from gough.show.style import STYLE

peers: Any = load_paper("peers")
NAME = "sinatra-xi-staicu-2009"
SAMPLES = 301
DURATION = 3.0
"""Of the paper's motions, s."""


class Run(NamedTuple):
    """One of the paper's three motions."""

    motion: gough.Motion
    actuation: Actuation
    formulations: float
    """Largest difference of the other two formulations over the largest force."""
    energy: float
    """Work of the actuators less the change of energy, over the largest work of one of them."""
    inertia: float
    """Largest part of the forces that any acceleration causes, over the largest force."""
    printed: float
    """Largest error of the forces with Eq. 20 as printed, N."""
    gravity: Array
    """Part of the forces that holds the weight, N."""
    equal: float
    """Time, s, for the motion at which inertia's largest part is that of the weight; 3 s in the paper.

    Along a path made in T, weight's part stays and all others grow as 1/T².
    """


def run(robot: gough.Robot, name: str) -> Run:
    """Forces and powers along a motion, by three formulations, and their energy balance."""
    motion = paper_motion(f"{NAME}/{name}").sample(SAMPLES)
    found = robot.inverse_dynamics(motion)
    largest = np.abs(found.forces).max()
    others = (
        virtual_work.inverse_dynamics(robot, motion),
        newton_euler.inverse_dynamics(robot, motion),
    )
    differences = [relative_error(one.forces, found.forces) for one in others]
    energy = robot.energy(motion)
    stored = energy.kinetic + energy.potential
    work = simpson(found.power, x=motion.time, axis=0)
    parts = robot.contributions(motion)
    masses = {"legs.link.XX": 0.398, "legs.link.YY": 0.398}
    printed = robot.edited(
        {key: 0.0722 * mass for key, mass in masses.items()}
        | {"platform.inertia": 3.983 * np.diag([0.068, 0.068, 0.136])}
    )
    wrong = printed.inverse_dynamics(motion).forces
    return Run(
        motion,
        found,
        float(max(differences)),
        float(abs(work.sum() - stored[-1] + stored[0]) / np.abs(work).max()),
        float(np.abs(found.forces - parts.gravity).max() / largest),
        float(np.abs(wrong - found.forces).max()),
        parts.gravity,
        float(
            DURATION
            * np.sqrt(np.abs(found.forces - parts.gravity).max() / np.abs(parts.gravity).max())
        ),
    )


def routes() -> Any:
    """The forces by virtual work, by Newton–Euler, by Lagrange and by Pinocchio."""
    return peers.Routes(
        {name: f"{NAME}/{name}" for name in ("vertical", "horizontal", "rotation")},
        {
            "virtual work, Eqs. 2 to 23 corrected": lambda robot, motion: (
                virtual_work.inverse_dynamics(robot, motion).forces
            ),
            "Newton–Euler (Kim & Ryu)": lambda robot, motion: (
                newton_euler.inverse_dynamics(robot, motion).forces
            ),
        },
    )


def crossover_figure(runs: dict[str, Run]) -> Figure:
    """Inertia's part beside the weight's, over the time the motion is made in."""
    durations = np.geomspace(0.2, 4.0, 100)
    with matplotlib.rc_context(STYLE):
        picture = Picture(figsize=(7.5, 3.4), layout="constrained")
        axes = picture.subplots()
        axes.axhline(1, color=DARK, linewidth=0.8)
        axes.axvline(DURATION, color=GREY, linewidth=0.8, linestyle=":")
        axes.text(
            DURATION, 1.3e-3, "the paper's 3 s", rotation=90, ha="right", va="bottom", fontsize=9
        )
        for (name, this), color in zip(runs.items(), PALETTE, strict=False):
            label = f"{name}: equal at {this.equal:.2f} s"
            axes.loglog(durations, (this.equal / durations) ** 2, color=color, label=label)
        axes.set(
            xlabel="time for the motion [s]", ylabel="largest inertia / weight", ylim=(1e-3, 20)
        )
        axes.set_xticks([0.2, 0.3, 0.5, 1, 2, 3], labels=["0.2", "0.3", "0.5", "1", "2", "3"])
        axes.minorticks_off()
        axes.margins(x=0)
        axes.legend(loc="lower left")
    caption = (
        "Largest part of the actuator forces that all inertia asks for, over that of all weights, "
        "if "
        "the paper's motions are made in another time. Inertia dominates below half a second."
    )
    return Figure("crossover", caption, picture)


def figure(
    name: str, this: Run, title: str, alike: tuple[str, ...], caption: str, rising: str = ""
) -> Figure:
    """Forces above powers, as the paper's pairs of figures; one curve for legs that do the same.

    `rising` legs, whose forces are negative and grow in size, are said to do so.
    """
    legs = ["ABCDEF".index(group[0]) for group in alike]
    labels = [f"legs {', '.join(group)}" if len(group) < 6 else "all six legs" for group in alike]
    panels = [
        (f"{title}: forces", this.actuation.forces[:, legs], "actuator force [N]"),
        (f"{title}: powers", this.actuation.power[:, legs], "power [W]"),
    ]
    picture = leg_panels(np.asarray(this.motion.time), panels, labels)
    if rising:
        upper = picture.axes[0]
        said = f"{', '.join(rising)}: |f| rises; f < 0, since λ grows downwards"
        upper.text(0.02, 0.05, said, transform=upper.transAxes, fontsize=9)
    return Figure(name, caption, picture)
