"""`gough parameters`."""

from __future__ import annotations

from typing import Annotated

import typer

from gough.cli.arguments import Json, RobotArgument, load
from gough.cli.terminal import out, print_json


def command(
    name: RobotArgument,
    friction: Annotated[
        bool, typer.Option("--friction", help="also viscous and constant Coulomb friction")
    ] = False,
    assume: Annotated[
        str | None,
        typer.Option(help="essential parameters if bodies are off-centre, symmetric or revolution"),
    ] = None,
    json: Json = False,
) -> None:
    """Base inertial parameters: what the forces depend on.

    Grouping relations and values; of a flexible platform also stiffness and damping of its modes.

    Example: gough parameters kim-ryu-2002 --assume symmetric
    """
    from gough.show.sheets.parameters import find, print_parameters, to_json

    robot = load(name)
    found = find(robot, friction, assume)
    if json:
        print_json(to_json(robot, found))
    else:
        print_parameters(robot, found, out)
