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

MOST_SPANS = 4
"""Pieces of a log that a line names."""


def command(
    name: RobotArgument,
    log: Annotated[
        Path, typer.Argument(metavar="LOG", help="what encoders said: time, q1 …; .csv or .nc")
    ],
    output: Annotated[Path, output_file("the motion, .csv or .nc", (".csv", ".nc"))],
    offset: Annotated[
        str,
        typer.Option(
            metavar="A,B,…",
            help="added to q, in the unit of the log's q: one for all, or one per actuator",
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
        shift = np.broadcast_to(added, robot.actuator_count)
        if given.units:
            shift = np.array(
                [unit.to_si(one) for unit, one in zip(given.units, shift, strict=True)]
            )
        try:
            found = measured_motion(robot, given, offset=shift, cutoff=cutoff)
        except GoughError as error:
            raise FileError(f"{log}: {error}") from None
        status.update("other postures")
        postures = _postures(robot, found.q[0])
        status.update("writing")
        # CSV holds finite numbers only: samples without rates are left out there
        kept = found.known if output.suffix.lower() == ".csv" else np.ones_like(found.known)
        with finishing(output):
            write_motion(found.motion[kept], output, deviations=found.deviations[kept])
        save(measured_figure(robot, found), picture)
    certain = found.certain
    checked = robot.check(found.motion[certain])
    span = float(given.time[-1] - given.time[0])
    if json:
        result: dict[str, Any] = {"output": str(output), "picture": str(picture)}
        result |= {"samples": len(given.time), "duration": span, "cutoff": found.cutoff}
        result |= {"marks": [one._asdict() for one in found.marks], "notes": found.notes}
        result |= {"postures": postures, "limits_kept": checked.ok}
        result |= {"uncertain_samples": int((~certain).sum())}
        print_json(result)
    for one in found.marks:
        note(one.text)
    if not kept.all():
        note(
            f"{counted(int((~kept).sum()), 'sample')} without rates left out; .nc keeps them as NaN"
        )
    if not certain.all():
        note(
            f"{counted(int((~certain).sum()), 'sample')}, {_times(found.motion.time, certain)}, are "
            "left out of limits: noise makes their accelerations uncertain by over 5 % of the largest "
            "(columns sd_ax …)"
        )
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


def _times(time: Any, certain: Any) -> str:
    """Return the first times of samples that are not certain, in words."""
    import numpy as np

    edges = np.flatnonzero(np.diff(np.concatenate([[True], certain, [True]]).astype(int)))
    spans = [
        f"{time[first]:.4g} to {time[last - 1]:.4g} s"
        for first, last in zip(edges[::2], edges[1::2], strict=True)
    ]
    more = f" and {len(spans) - MOST_SPANS} more pieces" if len(spans) > MOST_SPANS else ""
    return "at " + ", ".join(spans[:MOST_SPANS]) + more


def _triple(values: Any) -> str:
    return " × ".join(f"{value:.4g}" for value in values)


def _postures(robot: Any, q: Any) -> int | None:
    """In how many postures the legs can have these coordinates; None where nobody knows a way."""
    from gough.errors import GoughError

    try:
        return len(robot.assembly_modes(q))
    except GoughError:
        return None
