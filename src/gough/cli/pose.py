"""`gough pose`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gough.base.words import counted
from gough.cli.arguments import (
    PICTURES,
    ColumnNames,
    Json,
    RobotArgument,
    Strict,
    Units,
    file_to_write,
    load_rigid,
    numbers,
    output_file,
    picture_beside,
)
from gough.cli.file_kinds import reading
from gough.cli.results import end_strictly
from gough.cli.terminal import err, finishing, note, print_json, say, say_written, warn


def command(
    name: RobotArgument,
    log: Annotated[
        Path, typer.Argument(metavar="LOG", help="what encoders said: time, q1 …; .csv or .nc")
    ],
    output: Annotated[Path, output_file("the motion, .csv or .nc", (".csv", ".nc"))],
    offset: Annotated[
        str,
        typer.Option(
            metavar="A,B,…", help="added to q, m or rad: one for all, or one per actuator"
        ),
    ] = "0",
    cutoff: Annotated[
        float | None, typer.Option(help="low-pass of the rates, Hz; default: 5 × the motion's band")
    ] = None,
    plot: Annotated[
        Path | None, file_to_write("picture; default: beside the motion, .png", kinds=PICTURES)
    ] = None,
    units: Units = "",
    columns: ColumnNames = "",
    strict: Strict = False,
    json: Json = False,
) -> None:
    """The pose over time, and its rates, from a log of encoders.

    Example: gough pose my.toml encoders.csv --units mm,ms -o motion.csv
    """
    import numpy as np

    from gough.data.columns import Columns
    from gough.data.encoders import measured_motion, read_encoders
    from gough.data.motion_files import write_motion
    from gough.errors import FileError, GoughError
    from gough.show.pictures.measured import measured_figure
    from gough.show.plots import save

    picture = picture_beside(plot, output)
    robot = load_rigid(name, output, picture)
    added = numbers("--offset", offset, 1, robot.actuator_count)
    with err.status("reading") as status:
        with reading(log, "log of encoders", "log with forces"):
            given = read_encoders(robot, log, columns=Columns.of(units, columns), say=note)
        status.update("poses")
        try:
            found = measured_motion(
                robot, given, offset=added[0] if len(added) == 1 else added, cutoff=cutoff
            )
        except GoughError as error:
            raise FileError(f"{log}: {error}") from None
        status.update("other postures")
        postures = _postures(robot, found.q[0])
        status.update("writing")
        with finishing(output):
            write_motion(found.motion, output)
        save(measured_figure(robot, found), picture)
    checked = robot.check(found.motion)
    span = float(given.time[-1] - given.time[0])
    if json:
        result: dict[str, Any] = {"output": str(output), "picture": str(picture)}
        result |= {"samples": len(given.time), "duration": span, "cutoff": found.cutoff}
        result |= {"marks": [one._asdict() for one in found.marks], "notes": found.notes}
        result |= {"postures": postures, "limits_kept": checked.ok}
        print_json(result)
    for one in found.marks:
        note(one.text)
    for text in (*found.notes, *(str(each) for each in checked.violations)):
        warn(text)
    if json:
        end_strictly(checked, strict)
        return
    far = np.ptp(found.motion.position, axis=0)
    say(f"{len(given.time)} samples over {span:.6g} s; the platform moves {_triple(1e3 * far)} mm")
    say(f"rates below {found.cutoff:.3g} Hz; {len(found.marks)} gaps, outliers and turns marked")
    if postures is not None:
        say(
            f"the legs allow {counted(postures, 'posture')} at the first sample; this one leads there "
            "from home"
        )
    say_written(output)
    say_written(picture)
    end_strictly(checked, strict)


def _triple(values: Any) -> str:
    return " × ".join(f"{value:.4g}" for value in values)


def _postures(robot: Any, q: Any) -> int | None:
    """In how many postures the legs can have these coordinates; None where nobody knows a way."""
    from gough.errors import GoughError

    try:
        return len(robot.assembly_modes(q))
    except GoughError:
        return None
