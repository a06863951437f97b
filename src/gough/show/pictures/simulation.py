"""Pictures of simulations."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gough.base.arrays import Array
from gough.show.colors import BLACK, BLUE, GREEN, GREY, ORANGE, PALETTE, VERMILION
from gough.show.style import STYLE, leg_line

if TYPE_CHECKING:
    from gough.simulation.result import Simulation

ENERGIES = {
    "actuator_work": ("actuators", BLUE, "-"),
    "stored": ("stored", GREEN, "-"),
    "loss": ("lost", VERMILION, "-"),
    "wrench_work": ("wrench", ORANGE, "-"),
    "energy_residual": ("unexplained", BLACK, ":"),
}
"""Curves of an energy audit: label, colour, line."""
BEYOND = 1e-9
UNITS = {1.0: "", 1e3: "m", 1e6: "µ", 1e9: "n"}


def overview(simulation: Simulation, row: int = 0) -> Figure:
    """Tracking errors, actuator forces, powers and the energy audit of one simulation over time."""
    one = simulation.row(row) if simulation.shape else simulation
    time, legs = one.time, one.forces.shape[-1]
    apart, turn = one.tracking_errors()
    audit = one.energy_audit()
    power = one.forces * one.legs()["qd"]
    unit = one.plants[0][1].units.force
    with matplotlib.rc_context(STYLE):
        count = 6 if one.motion.modes else 5
        figure = Figure(figsize=(8.0, 1.0 + 1.75 * count), layout="constrained")
        panels = list(figure.subplots(count, sharex=True))
        vectors = [(apart, "position\nerror [{}m]"), (turn, "rotation\nerror [{}rad]")]
        for axes, (value, label) in zip(panels, vectors, strict=False):
            scale, prefix = _prefix(value)
            for k, name in enumerate("xyz"):
                axes.plot(time, scale * value[:, k], color=PALETTE[k], label=name)
            axes.set_ylabel(label.format(prefix))
        for axes, (value, label) in zip(
            panels[2:],
            [(one.forces, f"actuator\nforce [{unit}]"), (power, "power [W]")],
            strict=False,
        ):
            for k in range(legs):
                axes.plot(time, value[:, k], label=f"leg {k + 1}", **leg_line(k, legs))
            axes.set_ylabel(label)
        limit = float(one.force_limit.min())
        if np.nanmax(np.abs(one.forces), initial=0.0) > 0.5 * limit:
            for side in (-limit, limit):
                panels[2].axhline(side, color=GREY, linestyle=":", linewidth=1)
        energy = panels[4]
        stored = audit["kinetic_energy"] + audit["potential_energy"]
        _draw_energy(energy, time, {**audit, "stored": stored - stored[0]})
        if one.motion.modes:
            moved = np.linalg.norm(one.deflection(), axis=-1)
            scale, prefix = _prefix(moved)
            for k in range(legs):
                panels[5].plot(time, scale * moved[:, k], linewidth=1, **leg_line(k, legs))
            panels[5].set_ylabel(f"tip\ndeflection [{prefix}m]")
        for axes in panels:
            axes.margins(x=0)
        panels[-1].set_xlabel("time [s]")
        for axes in (panels[0], panels[2], energy):
            axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=9)
        figure.align_ylabels(panels)
        ended = "".join(f"\nended at {stop}" for stop in one.stops.values())
        figure.suptitle(_wrapped(f"{one.plants[0][1].name}{ended}"), parse_math=False)
    return figure


def energy_curves(x: Array, xlabel: str, parts: Mapping[str, Array]) -> Figure:
    """An energy audit: those of its `ENERGIES` (n,), J, that there are."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 3.5), layout="constrained")
        axes = figure.subplots()
        _draw_energy(axes, x, parts)
        axes.margins(x=0)
        axes.set_xlabel(xlabel)
        figure.legend(loc="outside right center")
    return figure


def _draw_energy(axes: Any, x: Array, parts: Mapping[str, Array]) -> None:
    for name, (label, color, style) in ENERGIES.items():
        if name in parts:
            axes.plot(x, parts[name], color=color, linestyle=style, label=label)
    axes.set_ylabel("energy [J]")


def _prefix(value: Any) -> tuple[float, str]:
    """A factor and its unit prefix that keep numbers readable."""
    largest = np.nanmax(np.abs(value), initial=0.0)
    for scale, prefix in UNITS.items():
        if largest * scale >= 0.5:
            return scale, prefix
    return 1.0 if largest < BEYOND * 0.5 else 1e9, "" if largest < BEYOND * 0.5 else "n"


def _wrapped(text: str) -> str:
    return "\n".join(
        piece for line in text.split("\n") for piece in textwrap.wrap(line, 90) or [line]
    )
