"""What `gough stiffness` prints: principal stiffness, frequencies, deflection, errors at the tool."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from gough.analysis.accuracy import Accuracy
from gough.analysis.measured_stiffness import MeasuredStiffness
from gough.analysis.stiffness import Stiffness, Turning
from gough.base.arrays import Array
from gough.legs.reading import actuator_names
from gough.model.vibration import Vibration
from gough.robot import Robot
from gough.show.sheets.bare_table import bare_table

KINDS: dict[Turning, str] = {"free": "turning freely", "locked": "kept from turning"}


def lowest(rings: Vibration | None) -> tuple[Array | None, Array | None]:
    """The lowest frequencies, Hz, of the platform on its legs and of the legs by themselves."""
    if rings is None:
        return None, None
    bends = rings.bending > 0.5
    return rings.frequencies[~bends][:6], rings.frequencies[bends]


def stiffness_numbers(
    robot: Robot,
    found: Stiffness,
    rings: Vibration | None,
    load: Array | None,
    exact: Accuracy | None,
    swinging: bool,
) -> dict[str, Any]:
    """The results as plain lists, SI units, world axes; `swinging`: rotors are held by a stiffness."""
    numbers: dict[str, Any] = {"robot": robot.name, "stable": bool(found.stable)}
    numbers["stiffness"] = found.matrix.tolist()
    numbers["compliance_at_tool"] = found.compliance.tolist()
    for turning in KINDS:
        values, axes = found.principal(turning)
        numbers[f"principal_{turning}"] = {"stiffness": values.tolist(), "axes": axes.T.tolist()}
    numbers["actuator_forces"] = found.forces.tolist()
    hertz, legs = lowest(rings)
    numbers["natural_frequencies"] = None if hertz is None else hertz.tolist()
    numbers["rotors"] = "swing" if swinging else "locked"
    if robot.bends:
        numbers["bending_frequencies"] = None if legs is None else legs.tolist()
    if load is not None:
        numbers["deflection"] = found.deflection(load[:3], load[3:]).tolist()
    if exact is not None:
        numbers["accuracy"] = {
            "tool_error": float(exact.tool_error),
            "turn_error": float(exact.turn_error),
            "pose_covariance": exact.pose.tolist(),
            "tool_covariance": exact.tool.tolist(),
        }
    return numbers


def print_stiffness(
    robot: Robot,
    found: Stiffness,
    rings: Vibration | None,
    load: Array | None,
    exact: Accuracy | None,
    console: Console,
    swinging: bool,
) -> None:
    """Principal stiffness with its axes; what was asked for beside it, a line each.

    `swinging`: rotors are held by a stiffness, and move with it.
    """
    moved = None if load is None else found.deflection(load[:3], load[3:])
    where = ", ".join(f"{x:.4g}" for x in found.motion.position)
    console.print(
        f"[bold]{escape(robot.name)}[/bold]   stiffness of the tool, platform at {where} m"
    )
    table = bare_table("", "N/µm", "axis x, y, z")
    for turning, said in KINDS.items():
        values, axes = found.principal(turning)
        for k in range(3):
            axis = axes[:, k] * np.sign(axes[np.argmax(np.abs(axes[:, k])), k])
            along = " ".join(f"{0.0 if abs(x) < 5e-4 else x:6.3f}" for x in axis)
            table.add_row(said if k == 0 else "", f"{values[k] / 1e6:.5g}", along)
    console.print(table, highlight=False)
    hertz, legs = lowest(rings)
    if hertz is not None and legs is not None:
        tones = ", ".join(f"{x:.4g}" for x in hertz)
        rotors = "rotors swing" if swinging else "rotors locked"
        console.print(
            f"natural frequencies   {tones} Hz, {rotors}", highlight=False, soft_wrap=True
        )
        if len(legs):
            tones = ", ".join(dict.fromkeys(f"{x:.4g}" for x in legs))
            console.print(f"legs bend at          {tones} Hz", highlight=False, soft_wrap=True)
    if moved is not None:
        least = 1e-9 * np.abs(moved).max()
        shown = [f"{1e6 * x if abs(x) > least else 0.0:.4g}" for x in moved]
        way, turn = ", ".join(shown[:3]), ", ".join(shown[3:])
        line = f"the load moves it by  {way} µm, {turn} µrad"
        console.print(line, highlight=False, soft_wrap=True)
    if exact is not None:
        console.print(
            f"errors at the tool    {1e6 * exact.tool_error:.4g} µm and "
            f"{1e6 * exact.turn_error:.4g} µrad rms",
            highlight=False,
        )
        total = np.trace(exact.tool)
        parts = {name: np.trace(share) / total for name, share in exact.shares.items() if total}
        of_that = ", ".join(f"{name} {part:.0%}" for name, part in parts.items() if part > 0)
        console.print(f"                      of that {of_that}", highlight=False)


def measured_numbers(robot: Robot, found: MeasuredStiffness) -> dict[str, Any]:
    """Stiffness of drives from tests, SI units."""
    return {
        "robot": robot.name,
        "stiffness": found.stiffness.tolist(),
        "deviations": found.deviations.tolist(),
        "residuals": found.residuals,
        "unseen": [i + 1 for i in found.unseen],
    }


def print_measured(robot: Robot, found: MeasuredStiffness, console: Console) -> None:
    """A row per actuator, and what the tests leave unexplained."""
    table = bare_table("actuator", "unit", numbers=("stiffness", "σ rel."))
    names = actuator_names(robot.actuators)
    for i, one in enumerate(robot.actuators):
        part = found.deviations[i] / found.stiffness[i]
        known = f"{100 * part:.2g} %" if np.isfinite(part) else "unseen"
        stiff = f"{found.stiffness[i]:.5g}" if np.isfinite(part) else "–"
        table.add_row(names[i], one.units.of("[force]/[q]"), stiff, known)
    console.print(table)
    shown = {"deflection": ("1e3", "mm"), "turn": ("1e3", "mrad"), "frequency": ("100", "%")}
    left = ", ".join(
        f"{name} {float(shown[name][0]) * rms:.3g} {shown[name][1]}"
        for name, rms in found.residuals.items()
    )
    console.print(f"left unexplained, rms: {left}", highlight=False)
    if found.unseen:
        lost = ", ".join(names[i] for i in found.unseen)
        console.print(f"these tests do not tell the stiffness of {lost}: load other directions")
