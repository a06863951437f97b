"""`gough show`."""

from __future__ import annotations

from gough.cli.arguments import Json, RobotArgument, load
from gough.cli.terminal import out, print_json


def command(name: RobotArgument, json: Json = False) -> None:
    """A robot's sheet: geometry, masses, limits, home pose, checks.

    Example: gough show kim-ryu-2002
    """
    from gough.show.sheets.robot import print_sheet, sheet_numbers

    robot = load(name)
    if json:
        print_json(sheet_numbers(robot))
    else:
        print_sheet(robot, out)
