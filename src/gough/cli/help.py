"""Help screens: how a command is called, what it does, and what it takes in two columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import cleandoc
from math import isfinite
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup

from gough.base.files import keeping_inputs
from gough.errors import FileError, InputError

Rows = Sequence[tuple[str, str]]


WRITTEN = "gough.written"
"""Where a command line keeps the names of its options that name files to write."""


class Command(TyperCommand):
    """A command with such a screen, which never overwrites what it was told to read."""

    def invoke(self, ctx: Any) -> Any:
        """Run it, unless a number is none, or a file to write is another one that it names."""
        for param in self.params:
            value = ctx.params.get(param.name)
            if isinstance(value, float) and not isfinite(value):
                raise InputError(f"{max(param.opts, key=len)} is {value:g}, must be finite")
        written = ctx.meta.get(WRITTEN, [])
        for name in written:
            for other, value in ctx.params.items():
                for one in value if isinstance(value, list | tuple) else [value]:
                    if other != name and isinstance(one, str | Path):
                        apart(ctx.params[name], one, other in written)
        with keeping_inputs():
            return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print it: arguments, then options."""
        panels = {"Arguments": taken(self, ctx, "argument"), "Options": taken(self, ctx, "option")}
        print_help(usage(self, ctx), str(self.help), panels)


def apart(target: Path, other: str | Path, both_written: bool) -> None:
    """Refuse a file to write that is another one as well."""
    try:
        same = target.samefile(other)
    except (OSError, ValueError):  # one of them is no file, or not there yet
        same = both_written and target.absolute() == Path(other).absolute()
    if same:
        raise FileError(f"{target}: would be overwritten; choose another name to write")


class CommandGroup(TyperGroup):
    """Several commands under one name."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the commands, then options."""
        commands = self.commands.items()
        panels = {"Commands": [(name, first_line(str(one.help))) for name, one in commands]}
        print_help(
            usage(self, ctx), str(self.help), panels | {"Options": taken(self, ctx, "option")}
        )


def usage(command: Any, ctx: Any) -> str:
    """How a command is called."""
    pieces = " ".join(command.collect_usage_pieces(ctx)).translate({ord(one): "" for one in "{}"})
    return f"{ctx.command_path} {pieces}"


def taken(command: Any, ctx: Any, kind: str) -> Rows:
    """Arguments or options of a command: how they are written, what they are."""
    wanted = [one for one in command.get_params(ctx) if one.param_type_name == kind]
    found = filter(None, (one.get_help_record(ctx) for one in wanted))
    if kind == "argument":
        return [(name.partition(" <")[0], words) for name, words in found]
    return [(name.replace(" range>", ">"), words) for name, words in found]


def first_line(words: str) -> str:
    """What a command does, in one line."""
    return cleandoc(words).partition("\n")[0]


def print_help(called: str, words: str, panels: Mapping[str, Rows], width: int = 0) -> None:
    """Print a screen; the first column of all panels has at least the width given."""
    from rich.padding import Padding
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    from gough.cli.terminal import out

    out.print()
    out.print(
        Padding(Text.assemble(("Usage: ", "yellow"), (called, "bold")), (0, 1, 1, 1), expand=False)
    )
    for paragraph in cleandoc(words).split("\n\n"):
        text = Text(" ".join(paragraph.split()))
        text.highlight_regex("(?<=^Example: ).*", "bold")
        out.print(Padding(text, (0, 1, 1, 1), expand=False))
    for title, rows in panels.items():
        if rows:
            table = Table.grid(padding=(0, 2))
            table.add_column(style="bold cyan", no_wrap=True, min_width=width)
            for row in rows:
                table.add_row(*map(Text, row))
            heading = f"[bold not dim]{title}"
            out.print(Panel(table, title=heading, title_align="left", border_style="dim"))
