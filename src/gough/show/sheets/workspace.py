"""What `gough workspace` prints: volume with its proved error, extent, limits that matter."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gough.analysis.rotation_measure import ALL_ORIENTATIONS
from gough.analysis.workspace_result import Workspace


def workspace_numbers(found: Workspace) -> dict[str, Any]:
    """A result as plain numbers, SI units."""
    return {
        "robot": found.robot.name,
        "set": found.name,
        "unit": f"{found.unit}³",
        "volume": found.volume,
        "error": found.error,
        "tolerance_met": found.met,
        "extent": found.extent.tolist(),
        "bounds": found.bounds.tolist(),
        "boxes": len(found.centre),
        "boxes_proved_inside": int(found.inside.sum()),
        "conditions": sorted(set(found.labels)),
    }


def print_workspace(found: Workspace, console: Console) -> None:
    """Volume, extent along each axis, boxes, limits."""
    console.print(f"[bold]{escape(found.robot.name)}[/bold]   {found.name}")
    table = Table(box=None, show_header=False, pad_edge=False)
    unit = f"{found.unit}³"
    table.add_row("volume", f"{found.volume:.6g} ± {found.error:.2g} {unit} (proved)")
    if found.unit == "rad":
        table.add_row("", f"{found.volume / ALL_ORIENTATIONS:.3%} of all orientations")
    names = "xyz" if found.unit == "m" else ("rx", "ry", "rz")
    scale, shown = (1.0, "m") if found.unit == "m" else (float(np.degrees(1.0)), "°")
    for name, (low, high), (least, most) in zip(names, found.extent, found.bounds, strict=True):
        spread = f"about {scale * low:.4g} to {scale * high:.4g} {shown}"
        table.add_row(name, f"{spread}, surely within {scale * least:.4g} to {scale * most:.4g}")
    inside = int(found.inside.sum())
    table.add_row("boxes", f"{len(found.centre)}, of which {inside} are proved inside")
    table.add_row("limits", ", ".join(sorted(set(found.labels))))
    console.print(table, highlight=False)
