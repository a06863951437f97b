"""`gough calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gough.cli.arguments import (
    PAGES,
    ColumnNames,
    Json,
    RobotArgument,
    Units,
    file_to_write,
    load_rigid,
    numbers,
    output_file,
)
from gough.cli.terminal import err, note, out, print_json, progress_bar, say, say_written
from gough.errors import FileError, InputError

if TYPE_CHECKING:
    from gough.robot import Robot

LEAST, MOST = 2, 500
"""Poses of a plan."""
HOLD_BACK, SEEN, TURN = 0.2, "x,y,z,rx,ry,rz", 34.0


def command(
    name: RobotArgument,
    poses: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="POSES",
            help="q1 … or commanded_x …, and what was seen: x, y, z, rx …; .csv or .nc, one per set-up",
        ),
    ] = None,
    output: Annotated[
        Path | None, output_file("corrected robot file, .toml; of --plan the poses, .csv or .nc")
    ] = None,
    plan: Annotated[
        int | None,
        typer.Option("--plan", metavar="N", help="choose N poses to measure", min=LEAST, max=MOST),
    ] = None,
    known: Annotated[
        str,
        typer.Option(metavar="tracker,target", help="frames that are known; else they are found"),
    ] = "",
    fixed: Annotated[
        str,
        typer.Option("--fix", metavar="legs.length,…", help="numbers that are taken as drawn"),
    ] = "",
    noise: Annotated[
        str,
        typer.Option(
            metavar="position=1e-5,…",
            help="standard deviations of position, rotation, distance, q; else they are found",
        ),
    ] = "",
    prior: Annotated[
        str,
        typer.Option(
            metavar="legs=1e-3,…", help="standard deviations about what is drawn: tolerances"
        ),
    ] = "",
    robust: Annotated[bool, typer.Option("--robust", help="outliers count less")] = False,
    residual: Annotated[
        str | None,
        typer.Option(help="inverse (errors of legs) or forward (of poses); default: what fits"),
    ] = None,
    hold_back: Annotated[
        float, typer.Option(help="part of the poses that judges the result", min=0.0, max=0.9)
    ] = HOLD_BACK,
    validation: Annotated[
        Path | None,
        typer.Option(
            "--validate", metavar="POSES2", help="other poses to judge by, same frames as the first"
        ),
    ] = None,
    report: Annotated[
        Path | None, file_to_write("page with tables and figures", kinds=PAGES)
    ] = None,
    seen: Annotated[
        str, typer.Option(metavar="x,y,z", help="of --plan: what will be measured")
    ] = SEEN,
    turn: Annotated[
        float, typer.Option(help="of --plan: largest turn from home, degrees", min=0.0, max=180.0)
    ] = TURN,
    seed: Annotated[int, typer.Option(help="of what is drawn at random", min=0)] = 0,
    units: Units = "",
    columns: ColumnNames = "",
    json: Json = False,
) -> None:
    """A robot's true geometry from poses; or poses to measure.

    Frames of trackers and targets are found too. The corrected file keeps its comments.

    Example: gough calibrate my.toml poses.csv -o corrected.toml --report page.html

    Example: gough calibrate my.toml --plan 30 -o measure.csv
    """
    robot = load_rigid(name, output, report)
    if plan is not None:
        others_given = {
            "POSES": poses, "--validate": validation, "--report": report, "--noise": noise,
            "--prior": prior, "--robust": robust, "--residual": residual, "--units": units,
            "--map": columns, "--hold-back": hold_back != HOLD_BACK,
        }  # fmt: skip
        unused = [word for word, value in others_given.items() if value]
        if unused:
            raise InputError(f"--plan chooses poses to measure: it takes no {', '.join(unused)}")
        _plan(robot, plan, output, _texts(known), _texts(fixed), _texts(seen), turn, seed, json)
        return
    if seen != SEEN or turn != TURN:
        raise InputError("--seen and --turn are about poses to be measured: they go with --plan")
    if validation is not None and hold_back != HOLD_BACK:
        raise InputError("--validate and --hold-back both say which poses judge: give one of them")
    if not poses:
        raise InputError("needs POSES, measured ones, or --plan N to choose poses to measure")
    from gough.calibration import advice, calibrate, read_poses, save_corrected, together, untold
    from gough.data.columns import Columns
    from gough.show.report.calibration import write_report
    from gough.show.sheets.calibration import calibration_numbers, print_calibration

    if residual not in (None, "inverse", "forward"):
        raise InputError(f"--residual is inverse or forward, not {residual!r}")
    if output is not None and output.suffix.lower() != ".toml":
        raise FileError(f"{output}: the name of a robot file must end in .toml")
    given = Columns.of(units, columns)
    with err.status("reading") as status:
        measured = together([read_poses(robot, path, given, note) for path in poses])
        others = None if validation is None else read_poses(robot, validation, given)
        status.update("calibrating")
        found = calibrate(
            robot,
            measured,
            noise=_deviations("--noise", noise) or None,
            known=_texts(known),
            fixed=_texts(fixed),
            priors=_deviations("--prior", prior),
            robust=robust,
            residual=residual,  # type: ignore[arg-type]  # checked above
            hold_back=hold_back,
            validation=others,
            seed=seed,
        )
        status.update("looking for what cannot be told")
        lost, said = untold(found), advice(found)
        if output is not None:
            save_corrected(found, output)
        if report is not None:
            status.update("drawing")
            write_report(found, lost, said, report, [str(path) for path in poses])
    if json:
        print_json(calibration_numbers(found, lost, said))
    else:
        print_calibration(found, lost, said, out)
    for path in (output, report):
        if path is not None:
            say_written(path, json)


def _plan(
    robot: Robot,
    count: int,
    output: Path | None,
    known: list[str],
    fixed: list[str],
    seen: list[str],
    turn: float,
    seed: int,
    json: bool,
) -> None:
    """Choose poses, write and tell."""
    from math import radians

    from gough.calibration import plan
    from gough.data.datasets import kind_of
    from gough.data.motion_files import write_motion

    if output is not None:
        kind_of(output)
    with progress_bar() as progress:
        task = progress.add_task("candidates", total=1.0)

        def told(stage: str, share: float) -> None:
            progress.update(task, description=stage, completed=share)

        found = plan(
            robot,
            count,
            known=known,
            fixed=fixed,
            seen=seen,
            turn=radians(turn),
            seed=seed,
            progress=told,
        )
    if output is not None:
        write_motion(found.poses, output)
    if json:
        print_json(
            {
                "poses": None if output is None else str(output),
                "index": found.index,
                "best_random": found.random,
                "ratio": found.ratio,
                "rank": found.rank,
                "unknowns": found.unknowns,
                "assumed": found.assumed,
            }
        )
        return
    for line in found.assumed:
        note(f"assumed: {line}")
    say(f"{count} poses tell {found.rank} combinations of {found.unknowns} unknowns")
    say(
        f"noise amplification index {found.index:.3g}, {found.ratio:.1f} times that of the best of 1000 "
        f"random sets ({found.random:.3g})"
    )
    if output is not None:
        say_written(output)


def _texts(text: str) -> list[str]:
    """Names with commas between them."""
    return [one.strip() for one in text.split(",") if one.strip()]


def _deviations(option: str, text: str) -> dict[str, float]:
    """Numbers by name: legs.base=1e-3,legs.length=1e-4."""
    found = {}
    for part in _texts(text):
        name, equals, value = (one.strip() for one in part.partition("="))
        if not (name and equals):
            raise InputError(f"{option} has {part!r}, needs name=number")
        if name in found:
            raise InputError(f"{option} has {name} twice")
        (found[name],) = numbers(f"{option} {name}", value, 1)
    return found
