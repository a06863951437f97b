"""What `gough size` prints: the worst leg of each quantity that drives are chosen by."""

from __future__ import annotations

import numpy as np
from rich.markup import escape
from rich.table import Table

from gough.sizing.demand import ADDED
from gough.sizing.table import QUANTITIES, Requirements


def drive_table(found: Requirements) -> Table:
    """The table for the console; files have every leg."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(escape(found.robot), no_wrap=True)
    table.add_column("unit")
    for name in ("worst", "leg", f"× {found.margin:g}"):
        table.add_column(name, justify="right")
    for name, (value, worst, wanted) in found.rows().items():
        last = "" if wanted is None else f"{wanted:.4g}"
        place = np.argmin(value) if name == "shortest" else np.argmax(value)
        leg = "all" if name in ADDED else str(place + 1)
        table.add_row(QUANTITIES[name].meaning, found.label(name), f"{worst:.4g}", leg, last)
    return table
