"""A part of the page: words and a table, for the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.table import Table

Row = tuple[str, ...]


class Section(NamedTuple):
    """What was measured, as it is shown."""

    title: str
    text: str
    headers: Row
    rows: Sequence[Row]
    picture: str = ""
    """A line of Markdown."""

    def shown(self) -> Table:
        """For the terminal."""
        table = Table(*self.headers, title=self.title, box=None)
        table.columns[0].no_wrap = True
        for column in table.columns[1:]:
            column.justify = "right"
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> list[str]:
        """Lines for the page."""
        lines = ["", f"## {self.title}", "", self.text, "", "| " + " | ".join(self.headers) + " |"]
        lines.append("|" + "|".join([" --- ", *[" ---: "] * (len(self.headers) - 1)]) + "|")
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return [*lines, "", self.picture] if self.picture else lines


def time_text(seconds: float | None) -> str:
    """A time in the unit that suits it; nothing where there is none."""
    if seconds is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
