"""The page about drives: what every leg needs, the worst of them, and what to choose."""

from __future__ import annotations

from gough.show.page import Cell, Page
from gough.sizing.table import QUANTITIES, Requirements


def drives_page(found: Requirements) -> Page:
    """A page that a drive catalogue is read against."""
    rows = found.rows()
    legs = len(next(iter(rows.values()))[0])
    page = Page(f"Drives of {found.robot}")
    if found.sizing is not None:
        page.text(f"Motions: {', '.join(found.sizing.names)}")
    cells: list[list[Cell]] = [
        [
            QUANTITIES[name].meaning,
            found.label(name),
            *(f"{one:.4g}" for one in (*value, worst)),
            "" if wanted is None else f"{wanted:.4g}",
        ]
        for name, (value, worst, wanted) in rows.items()
    ]
    heads = ["", "unit", *(f"leg {i + 1}" for i in range(legs)), "worst", f"× {found.margin:g}"]
    page.table(heads, cells)
    return page
