"""`gough identify`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from gough.cli.arguments import (
    PAGES,
    ColumnNames,
    FrictionParameters,
    Json,
    RobotArgument,
    Units,
    file_to_write,
    load,
    output_file,
    tell_rigid_legs,
)
from gough.cli.file_kinds import reading
from gough.cli.terminal import err, note, out, print_json, say_written, warn
from gough.errors import InputError


def command(
    name: RobotArgument,
    log: Annotated[
        Path,
        typer.Argument(metavar="LOG", help="time, q1 … or x, y, z, rx …, force1 …; .csv or .nc"),
    ],
    validation: Annotated[
        Path | None, typer.Option("--validate", metavar="LOG2", help="a second log to judge by")
    ] = None,
    output: Annotated[
        Path | None, output_file("robot file with the result, .toml", (".toml",))
    ] = None,
    report: Annotated[
        Path | None, file_to_write("page with tables and figures", kinds=PAGES)
    ] = None,
    method: Annotated[
        str, typer.Option(help="ordinary, weighted (by the noise of each actuator) or instrumental")
    ] = "weighted",
    reference: Annotated[
        Path | None, typer.Option(help="commanded motion, for --method instrumental")
    ] = None,
    cutoff: Annotated[
        float | None, typer.Option(help="low-pass of the coordinates, Hz; default: 5 × their band")
    ] = None,
    friction: FrictionParameters = True,
    equal_legs: Annotated[
        bool, typer.Option("--equal-legs", help="one set of parameters for all legs of a kind")
    ] = False,
    offsets: Annotated[
        bool,
        typer.Option("--offsets", help="what each force sensor reads too much is unknown, too"),
    ] = False,
    consistent: Annotated[
        bool,
        typer.Option(
            "--consistent/--unconstrained", help="bodies that change are ones that matter can make"
        ),
    ] = True,
    units: Units = "",
    columns: ColumnNames = "",
    json: Json = False,
) -> None:
    """A robot's parameters from its log, each with its deviation.

    Example: gough identify my.toml log.csv --validate log2.csv -o identified.toml --report page.html
    """
    from gough.data.columns import Columns
    from gough.data.logs import read_log
    from gough.data.motion_files import read_motion
    from gough.parameters.consistency import adopted, moved, standard_values
    from gough.parameters.identification import identify, validate
    from gough.show.report.identification import write_report
    from gough.show.sheets.identification import identification_numbers, print_identification

    robot = load(name, output, report)
    tell_rigid_legs(robot)
    with err.status("reading") as status:
        given = Columns.of(units, columns)
        with reading(log, "log with forces"):
            first = read_log(robot, log, columns=given, say=note)
        if robot.modes and first.elastic is None:
            note(f"{robot.name} has a flexible platform, taken as rigid: the log has no e1 …")
            robot = robot.rigid
        if robot.modes and (output is not None or report is not None):
            raise InputError("-o and --report are for rigid platforms; --json has all numbers")
        second = commanded = None
        if validation is not None:
            with reading(validation, "log with forces"):
                second = read_log(robot, validation, columns=given)
        if reference is not None:
            with reading(reference, "motion"):  # its names are gough's, the map is of the log's
                commanded = read_motion(reference, robot, columns=Columns(given.units), say=note)
        status.update("identifying")
        found = identify(
            robot,
            first,
            method=method,  # type: ignore[arg-type]  # checked there
            friction=friction,
            cutoff=cutoff,
            reference=commanded,
            equal_legs=equal_legs,
            offsets=offsets,
        )
        written, changed = None, None
        if not robot.modes and (second is not None or output is not None):
            status.update("fitting bodies")
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                values = standard_values(robot, found, consistent=consistent)
                written = adopted(robot, found, values)
            changed = moved(robot, found, values)
            for one in caught:
                warn(str(one.message))
        status.update("validating")
        judged = None if second is None else validate(robot, found, second, written)
        if output is not None and written is not None:
            written.save(output)
        if report is not None:
            write_report(robot, found, judged, report, (str(log), str(validation or "")))
    if json:
        print_json(identification_numbers(found, judged, changed))
        return
    print_identification(found, judged, robot.actuators, out, changed)
    for path in (output, report):
        if path is not None:
            say_written(path)
