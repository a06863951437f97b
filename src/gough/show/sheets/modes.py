"""What `gough modes` prints: frequencies, stiffness, damping and health of the mode shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from gough.description.modal.body import ORTHOGONAL, ModalBody
from gough.show.sheets.bare_table import bare_table


def mode_numbers(body: ModalBody) -> dict[str, Any]:
    """All numbers of the sheet, SI units, as plain lists; a mode's own values are the diagonals'."""
    stiffness, damping = np.diagonal(body.stiffness), np.diagonal(body.damping)
    mass, report = np.diagonal(body.modal_mass), body.report
    critical = 2 * np.sqrt(stiffness * mass)
    ratio = np.divide(damping, critical, out=np.zeros_like(damping), where=critical > 0)
    return {
        "name": body.name,
        "nodes": len(body.masses),
        "mass": body.mass,
        "center_of_mass": body.center_of_mass.tolist(),
        "inertia": body.inertia.tolist(),
        "frequencies": body.frequencies.tolist(),
        "worst_coupling": report.worst_coupling,
        "modes": [
            {
                "mode": k + 1,
                "frequency": float(np.sqrt(stiffness[k] / mass[k]) / (2 * np.pi)),
                "stiffness": float(stiffness[k]),
                "damping": float(damping[k]),
                "damping_ratio": float(ratio[k]),
                "modal_mass": float(mass[k]),
                "rigid_content": float(report.rigid_content[k]),
            }
            for k in range(body.modes)
        ],
    }


def mode_rows(body: ModalBody) -> tuple[tuple[str, ...], list[list[str]]]:
    """Headings and rows of the table of modes."""
    rows = [
        [
            str(row["mode"]),
            f"{row['frequency']:.3f}",
            f"{row['stiffness']:.6g}",
            f"{row['damping']:.6g}",
            f"{row['damping_ratio']:.4g}",
            f"{row['modal_mass']:.6g}",
            f"{100 * row['rigid_content']:.2g} %" if row["rigid_content"] > 1e-12 else "0",
        ]
        for row in mode_numbers(body)["modes"]
    ]
    return ("mode", "Hz", "stiffness", "damping", "ratio", "modal mass", "rigid content"), rows


def print_modes(body: ModalBody, title: str, console: Console) -> None:
    """The table of modes, and what the nodes say of the whole body."""
    numbers = mode_numbers(body)
    console.print(f"[bold]{escape(title)}[/bold]   {body.modes} modes, {numbers['nodes']} nodes")
    center = ", ".join(f"{round(x, 9) + 0.0:.6g}" for x in numbers["center_of_mass"])
    inertia = ", ".join(f"{x:.6g}" for x in np.diagonal(body.inertia))
    console.print(f"{'mass':<20}{body.mass:.6g} kg", highlight=False)
    console.print(f"{'centre of mass':<20}{center} m", highlight=False)
    console.print(f"{'inertia xx, yy, zz':<20}{inertia} kg m², about the frame", highlight=False)
    console.print()
    heads, rows = mode_rows(body)
    table = bare_table(numbers=heads)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    worst = numbers["worst_coupling"]
    if worst > ORTHOGONAL:
        together = ", ".join(f"{x:.4g}" for x in body.frequencies)
        console.print(
            f"\nm_ee couples modes with up to {worst:.2g}; together, frame held: {together} Hz"
        )
