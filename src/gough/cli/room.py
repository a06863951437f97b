"""`gough room`."""

from __future__ import annotations

from math import degrees, isfinite, radians
from typing import Annotated, Any

import typer

from gough.cli.arguments import (
    Json,
    RobotArgument,
    load,
    need_turns,
    numbers,
    tell_undeformed,
)
from gough.cli.terminal import out, print_json


def command(
    name: RobotArgument,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,Z,…",
            help="pose: x,y,z,rx,ry,rz (m, degrees; the turn from home), or the robot's own "
            "coordinates; default: home",
        ),
    ] = None,
    pivot: Annotated[
        str | None,
        typer.Option(metavar="X,Y,Z", help="point about which it turns, platform frame, m"),
    ] = None,
    json: Json = False,
) -> None:
    """How far a pose can go each way, until which limit.

    Example: gough room kim-ryu-2002 --at 0,0,0.7,0,0,0 --pivot 0,0,0.1
    """
    from rich.table import Table

    robot = load(name)
    tell_undeformed(robot)
    point = None if pivot is None else numbers("--pivot", pivot, 3)
    pose = robot.home
    if at is not None:
        given = [*zip(robot.coordinates, numbers("--at", at, robot.mobility), strict=True)]
        need_turns("--at", at, (u for one, u in given if one.startswith("r")))
        pose = robot.motion([radians(u) if one.startswith("r") else u for one, u in given])
    found = robot.room(pose, pivot=point)
    ends = list(zip(found.ends(), found.units, strict=True))
    if json:
        listed: list[dict[str, Any]] = [
            {
                "direction": direction,
                "distance": far,
                "unit": unit,
                "leg": None if end is None else end.leg,
                "limit": None if end is None else end.limit,
                "allowed": None if end is None else end.allowed,
            }
            for (direction, far, end), unit in ends
        ]
        print_json({"robot": robot.name, "coordinates": list(robot.coordinates), "room": listed})
        return
    table = Table(box=None, header_style="")
    for label, side in (("direction", "left"), ("room", "right"), ("", "left"), ("until", "left")):
        table.add_column(label, justify=side)  # type: ignore[arg-type]  # rich takes these words
    for (direction, far, end), unit in ends:
        shown = f"{far:.5g}" if isfinite(far) else "∞"
        extra = f"{unit} ({degrees(far):.4g}°)" if unit == "rad" and isfinite(far) else unit
        table.add_row(direction, shown, extra, "no limit" if end is None else str(end))
    out.print(table, highlight=False)
