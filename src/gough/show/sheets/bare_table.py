"""A table for the terminal without lines: columns of words, then columns of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table


def bare_table(*words: str, numbers: Sequence[str] = (), gap: int = 2) -> Table:
    """An empty table with bold headings; numbers stand right and stay on one line."""
    table = Table(*words, box=None, pad_edge=False, header_style="bold", padding=(0, gap, 0, 0))
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table
