"""`gough report`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from gough.cli.arguments import (
    ColumnNames,
    Samples,
    Units,
    load_with_warnings,
    motion_names,
    output_file,
    read_motion,
    refuse_columns,
    robot_names,
)
from gough.cli.terminal import err, say_written, warn
from gough.errors import FileError, GoughError, InputError

NETCDF = (b"CDF", b"\x89HDF")
"""First bytes of a NetCDF file, old and new."""


def command(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="ROBOT|RESULT",
            help="a robot, or what gough simulate, forces or kinematics wrote (.nc)",
            autocompletion=robot_names,
        ),
    ],
    output: Annotated[Path | None, output_file("page, .html; default: NAME.html")] = None,
    motion: Annotated[
        str | None,
        typer.Option(
            metavar="MOTION",
            help="of a robot: also what this motion asks of its legs",
            autocompletion=motion_names,
        ),
    ] = None,
    samples: Samples = None,
    units: Units = "",
    columns: ColumnNames = "",
) -> None:
    """A page about a robot or a result: sheet, drawings, curves.

    With peaks and checks; it opens offline and prints well.

    Example: gough report kim-ryu-2002 --motion kim-ryu-2002/circle-40rpm -o kim.html

    Example: gough report run.nc -o run.html
    """
    target = Path(f"{Path(subject).stem}.html") if output is None else output
    if target.suffix.lower() not in (".html", ".htm"):
        raise FileError(f"{target}: the name of a page must end in .html")
    if target.is_dir():
        raise FileError(f"{target}: a folder")
    if motion is None:
        refuse_columns(units, columns, samples)
    with err.status("reading"):
        if is_result(subject):
            from gough.show.report.result import read_result, result_page

            if motion is not None:
                raise InputError(f"--motion: {subject} is a result; it belongs to a robot")
            try:
                page = result_page(read_result(subject), Path(subject).name)
            except GoughError as error:
                raise FileError(f"{subject}: {error}") from None
        else:
            from gough.show.report.robot import robot_page

            robot, warned = load_with_warnings(subject)
            if robot.bends and motion is not None:
                warned.append("legs that bend ([legs.beams]) are taken as rigid along the motion")
            for one in warned:
                warn(one)
            states = None if motion is None else read_motion(motion, samples, robot, units, columns)
            page = robot_page(robot, states, warned, str(motion))
    page.write(target)
    say_written(target)


def is_result(subject: str) -> bool:
    """Whether the name is that of a NetCDF file, by its first bytes."""
    from gough.base.files import opened
    from gough.base.tables import LARGEST
    from gough.description.catalogue import catalogue

    path = Path(subject)
    if subject in catalogue() or not os.path.exists(path) or path.is_dir():
        return False
    try:
        with os.fdopen(opened(path, "report's subject", LARGEST / 1e6), "rb") as stream:
            start = stream.read(4)
    except FileError as error:
        raise FileError(f"{path}: {error}") from None
    if not start.startswith(NETCDF) and path.suffix.lower() in (".csv", ".nc"):
        raise FileError(f"{path}: no robot file and no NetCDF result; reports need .toml or .nc")
    return start.startswith(NETCDF)
