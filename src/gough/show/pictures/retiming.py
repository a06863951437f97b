"""A retimed motion: what holds it back when, and forces, powers and speeds beside their limits."""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from gough.base.arrays import Array
from gough.legs.reading import actuator_names, by_units
from gough.planning.retimed import BINDING, Retimed
from gough.show.colors import GREY, PALE, leg_color
from gough.show.pictures.curves import curves, draw_limits
from gough.show.style import STYLE

KINDS = {
    "speed": 0,
    "force": 1,
    "power": 2,
    "acceleration": 3,
    "turn rate": 4,
    "turn acceleration": 5,
}
"""A colour for every kind of limit."""


def retiming_curves(found: Retimed, samples: int = 2001) -> Figure:
    """Speeds, forces and powers of the actuators over time, with limit lines; below, what holds back.

    The lowest panel is the largest share of any limit: 1 where the motion is as fast as it may be, in
    the colour of the limit it is.
    """
    robot, limits = found.robot, found.demands.limits
    t = np.linspace(0.0, found.duration, samples)
    motion = found.motion(t)
    rates = robot.inverse_kinematics(motion).qd
    shares = found.demands.shares(motion)
    panels: list[tuple[Array, str]] = []
    levels: list[Array] = []

    def add(values: Array, name: str, unit: str, limit: Array) -> None:
        for units, which in by_units(robot.actuators):
            own = np.full_like(values, np.nan)
            own[:, which] = values[:, which]
            panels.append((own, f"{name} [{units.of(unit)}]"))
            levels.append(limit)

    add(rates, r"$\dot q$", "[q]/s", limits.speed)
    if not robot.missing:
        needed = robot.inverse_dynamics(motion, found.demands.wrench, found.demands.friction)
        add(needed.forces, r"$\Gamma$", "[force]", limits.force)
        panels.append((needed.power, "power [W]"))
        levels.append(limits.power)
    share = np.full_like(rates, np.nan)
    panels.append((share, "of a limit"))
    legs = [one.leg for one in robot.actuators]
    title = f"{robot.name}: {found.change}"
    figure = curves(t, "time [s]", panels, actuator_names(robot.actuators), title, legs)
    for i, (values, limit) in enumerate(zip([one for one, _ in panels], levels, strict=False)):
        draw_limits(figure, [values], limit, i)
    with matplotlib.rc_context(STYLE):
        _draw_shares(figure, found, t, shares)
    return figure


def _draw_shares(figure: Figure, found: Retimed, t: Array, shares: Array) -> None:
    """The largest share of any limit, in the colour of its kind."""
    axes = figure.axes[-1]
    most, which = shares.max(axis=1), np.argmax(shares, axis=1)
    kinds = np.array([KINDS[found.demands.bounds[i].limit] for i in which])
    kinds[most < BINDING] = -1
    axes.plot(t, most, color=GREY, linewidth=0.8)
    for kind in dict.fromkeys(kinds.tolist()):
        color = PALE if kind < 0 else leg_color(kind)
        axes.fill_between(t, 0, most, where=kinds == kind, color=color, step="mid", linewidth=0)
    axes.axhline(1.0, color=GREY, linewidth=0.8)
    axes.set_ylim(0, 1.08)
    names = [name for name, kind in KINDS.items() if kind in kinds]
    handles = [Patch(color=leg_color(KINDS[name]), label=name) for name in names]
    if np.any(kinds < 0):
        handles.append(Patch(color=PALE, label="no limit"))
    axes.legend(handles=handles, loc="lower right", ncols=len(handles), fontsize=8, frameon=True)
