"""What `gough singularities` prints: measures of how near a robot is to its singularities."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from gough.analysis.clearance import Clearance
from gough.analysis.singularities import Singularity
from gough.mechanics.leg import Driven
from gough.motion import Motion
from gough.robot import Robot
from gough.show.sheets.bare_table import bare_table

MEASURES = ("condition", "smallest", "parallel", "transmission", "serial", "universal", "output")


def singularity_numbers(
    robot: Robot, measures: Singularity, near: Clearance | None
) -> dict[str, Any]:
    """The measures as arrays, SI units."""
    numbers: dict[str, Any] = {"robot": robot.name, "length": measures.length}
    numbers |= {name: getattr(measures, name) for name in (*MEASURES, "kind")}
    if near is not None:
        numbers |= {"distance": near.distance, "determinant": near.determinant}
        numbers["crossings"] = near.crossings
    return numbers


def print_singularity(
    robot: Robot, states: Motion, measures: Singularity, near: Clearance | None, console: Console
) -> None:
    """The worst of each measure along a motion, or the measures of one pose."""
    unit = ", m/rad" if any(one.units.turns for one in robot.actuators) else ""
    where = f"{len(states)} samples, the worst" if states.shape else "at home"
    console.print(f"[bold]{escape(robot.name)}[/bold]   {where}")
    rows = [
        ("condition number", measures.condition.max(), f"length scale {measures.length:.4g} m"),
        ("smallest singular value", measures.smallest.min(), "the same length scale"),
        ("parallel, 0 is singular", measures.parallel.min(), "legs' lines, the same length scale"),
        ("serial, 0 is singular", measures.serial.min(), f"speed along the leg over q̇{unit}"),
        *_joints(robot, measures),
        ("transmission index", measures.transmission.min(), "0 singular, 1 best; needs no length"),
    ]
    if near is not None:
        said = "position and turn times length scale; none nearer was found"
        rows.append(("distance, m", near.distance.min(), said))
    table = bare_table("measure", "value", "")
    for name, value, said in rows:
        table.add_row(name, f"{float(value):.6g}", said)
    console.print(table)
    bad = sorted({*np.ravel(measures.kind).tolist()} - {"regular"})
    if bad:
        console.print(f"[yellow]singular: {', '.join(bad)}[/yellow]")
    if near is not None and len(near.crossings):
        at = near.crossings[0]
        when = f"sample {at}" if states.time is None else f"t = {states.time[at]:.6g} s"
        console.print(
            f"[yellow]crosses {len(near.crossings)} singularities, first after {when}[/yellow]"
        )


def _joints(robot: Robot, measures: Singularity) -> list[tuple[str, float, str]]:
    """Rows on the joints of legs: of universal joints, and of chains."""
    links = np.zeros(robot.leg_count, dtype=bool)
    for group in robot.description.groups:
        own = slice(group.first, group.first + group.leg_count)
        links[own] = isinstance(group.legs, Driven)
    rows = []
    if links.any():
        least = float(measures.universal[..., links].min())
        rows.append(("universal joints", least, "sine of leg and first axis"))
    if not links.all():
        least = float(measures.universal[..., ~links].min())
        rows.append(("joints of chains", least, "0: they can move while the platform rests"))
    return rows
