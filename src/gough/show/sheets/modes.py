"""What `gough modes` prints: frequencies, stiffness, damping and health of the mode shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from gough.description.modal.body import ORTHOGONAL, ModalBody
from gough.show.sheets.bare_table import bare_table


def mode_numbers(body: ModalBody) -> dict[str, Any]:
    """All numbers of the sheet, SI units, as plain lists: modes of the body with its frame held."""
    own = body.own_modes
    content = body.rigid_content(own.vectors)
    return {
        "name": body.name,
        "nodes": len(body.masses),
        "mass": body.mass,
        "center_of_mass": body.center_of_mass.tolist(),
        "inertia": body.inertia.tolist(),
        "frequencies": body.frequencies.tolist(),
        "combined": own.combined,
        "worst_coupling": body.report.worst_coupling,
        "modes": [
            {
                "mode": k + 1,
                "frequency": float(own.frequencies[k]),
                "stiffness": float(own.stiffness[k]),
                "damping": float(own.damping[k]),
                "damping_ratio": float(own.damping_ratios[k]),
                "modal_mass": float(own.mass[k]),
                "rigid_content": float(content[k]),
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
    if numbers["combined"]:
        worst = numbers["worst_coupling"]
        through = f"m_ee (up to {worst:.2g})" if worst > ORTHOGONAL else "the stiffness matrix"
        console.print(
            f"\nThe body's shapes are coupled by {through}: the modes are combinations of them, "
            "mass-normalised, frame held"
        )
