"""The paper's three motions: forces and powers, by three formulations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.integrate import simpson

import gough
from gough.data.paper_motions import paper_motion
from gough.formulations import newton_euler, virtual_work
from gough.results import Actuation
from gough.show.pictures.curves import leg_panels
from gough.show.reproduction import Figure, relative_error

NAME = "sinatra-xi-staicu-2009"
SAMPLES = 301


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
    )


def figure(name: str, this: Run, title: str, alike: tuple[str, ...], caption: str) -> Figure:
    """Forces above powers, as the paper's pairs of figures; one curve for legs that do the same."""
    legs = ["ABCDEF".index(group[0]) for group in alike]
    labels = [f"legs {', '.join(group)}" if len(group) < 6 else "all six legs" for group in alike]
    panels = [
        (f"{title}: forces", this.actuation.forces[:, legs], "actuator force [N]"),
        (f"{title}: powers", this.actuation.power[:, legs], "power [W]"),
    ]
    return Figure(name, caption, leg_panels(np.asarray(this.motion.time), panels, labels))
