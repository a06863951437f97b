"""`gough draw`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from gough.cli.arguments import (
    PICTURES,
    ColumnNames,
    RobotArgument,
    Units,
    load,
    motion_argument,
    output_file,
    read_motion,
)
from gough.cli.terminal import say_written

SAMPLES = 201
"""Of the path of a paper's motion."""


def command(
    name: RobotArgument,
    motion: Annotated[str | None, motion_argument("draw its path and first pose")] = None,
    output: Annotated[Path, output_file(".png, .svg or .pdf", PICTURES)] = Path("robot.png"),
    units: Units = "",
    columns: ColumnNames = "",
) -> None:
    """Draw a robot in 3-D, at home or along a motion.

    Example: gough draw sinatra-xi-staicu-2009 -o hexapod.svg
    """
    from gough.show.plots import draw, save

    robot = load(name)
    states = None if motion is None else read_motion(motion, SAMPLES, robot, units, columns)
    save(draw(robot, states), output)
    say_written(output)
