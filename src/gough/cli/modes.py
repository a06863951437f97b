"""`gough modes`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from gough.cli.arguments import PICTURES, Json, RobotArgument, load, output_file
from gough.cli.terminal import out, print_json, say_written
from gough.errors import MissingDataError


def command(
    name: RobotArgument,
    output: Annotated[
        Path | None, output_file("picture of the shapes: .png, .svg, .pdf", PICTURES)
    ] = None,
    json: Json = False,
) -> None:
    """Modes of a flexible platform: frequencies, damping, shapes.

    Example: gough modes long-khalil-martinet-2014 -o modes.png
    """
    from gough.show.sheets.modes import mode_numbers, print_modes

    robot = load(name)
    body = robot.description.modal
    if body is None:
        tables = "[platform.plate] or [platform.modes]"
        raise MissingDataError(f"{robot.name} has a rigid platform: {tables} makes it flexible")
    if json:
        print_json(mode_numbers(body))
    else:
        print_modes(body, robot.name, out)
        for line in robot.file.assumptions[len(robot.file.assumed) :]:
            out.print(f"assumed: {line}")
    if output is not None:
        from gough.show.pictures.modes import mode_sheet
        from gough.show.plots import save

        save(mode_sheet(body, robot.name), output)
        say_written(output, json)
