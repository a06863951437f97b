"""What `gough workspace` prints: volume with its proved error, extent, limits that matter."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gough.analysis.own_workspace import OwnWorkspace
from gough.analysis.rotation_measure import ALL_ORIENTATIONS
from gough.analysis.workspace_result import Workspace
from gough.base.words import lower, upper, within


def workspace_numbers(found: Workspace) -> dict[str, Any]:
    """A result as plain numbers, SI units."""
    return {
        "robot": found.robot.name,
        "set": found.name,
        "unit": f"{found.unit}³",
        "volume": found.volume,
        "error": found.error,
        "beyond": list(found.beyond),
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
    table.add_row("volume", f"{within(found.volume, found.error, 6, 2)} {unit}")
    least, most = found.beyond
    if least > 0:
        far = f"{lower(least, 4)} to {upper(most, 4)} {unit} that no path from home reaches"
        table.add_row("beyond", far)
    if found.unit == "rad":
        table.add_row("", f"{found.volume / ALL_ORIENTATIONS:.3%} of all orientations")
    names = "xyz" if found.unit == "m" else ("rx", "ry", "rz")
    scale, shown = (1.0, "m") if found.unit == "m" else (float(np.degrees(1.0)), "°")
    for name, (low, high), (least, most) in zip(names, found.extent, found.bounds, strict=True):
        spread = f"about {scale * low:.4g} to {scale * high:.4g} {shown}"
        bounds = f"{lower(scale * least, 4)} to {upper(scale * most, 4)}"
        table.add_row(name, f"{spread}, surely within {bounds}")
    inside = int(found.inside.sum())
    table.add_row("boxes", f"{len(found.centre)}, of which {inside} are proved inside")
    table.add_row("limits", ", ".join(sorted(set(found.labels))))
    console.print(table, highlight=False)


def own_workspace_numbers(found: OwnWorkspace) -> dict[str, Any]:
    """A sampled workspace as plain numbers, SI units."""
    return {
        "robot": found.robot.name,
        "set": "own coordinates, sampled",
        "coordinates": list(found.names),
        "unit": found.measure,
        "volume": found.volume,
        "estimated_error": found.error,
        "extent": found.extent.tolist(),
        "cells": int(found.inside.size),
        "cells_inside": int(found.inside.sum()),
        "kept_out": found.limits,
    }


def print_own_workspace(found: OwnWorkspace, console: Console) -> None:
    """Volume, extent along each coordinate, cells, limits."""
    console.print(f"[bold]{escape(found.robot.name)}[/bold]   workspace in its own coordinates")
    table = Table(box=None, show_header=False, pad_edge=False)
    volume = f"{found.volume:.4g} ± {found.error:.2g} {found.measure} (sampled, not proved)"
    table.add_row(found.kind, volume)
    for name, unit, (low, high) in zip(found.names, found.units, found.extent, strict=True):
        table.add_row(name, f"about {low:.4g} to {high:.4g} {unit}")
    table.add_row("cells", f"{found.inside.size}, of which {int(found.inside.sum())} count")
    kept = [f"{name} ({count})" for name, count in found.limits.items() if count]
    table.add_row("kept out by", ", ".join(kept) or "nothing")
    console.print(table, highlight=False)
