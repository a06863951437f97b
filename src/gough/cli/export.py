"""`gough export`: a command of its own for each language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gough.cli.arguments import RobotArgument, load
from gough.cli.help import Command, CommandGroup
from gough.cli.terminal import say

command = typer.Typer(
    cls=CommandGroup,
    add_completion=False,
    help="A robot's equations for other programs: portable C.",
)


@command.callback()
def _several() -> None: ...


@command.command(cls=Command)
def c(
    name: RobotArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="folder for the C files")],
    single: Annotated[bool, typer.Option("--float", help="float in place of double")] = False,
    program: Annotated[
        list[str] | None, typer.Option(help="one program, may be given again; default: all")
    ] = None,
) -> None:
    """Portable C99 with header, test program and Makefile; needs nothing but math.h.

    Example: gough export c kim-ryu-2002 -o kim && make -C kim test
    """
    from gough.exchange.c import export_c

    real = "float" if single else "double"
    folder = export_c(load(name), output, programs=program or None, real=real)
    say(f"{folder}: make -C {folder} test")
