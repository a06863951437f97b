"""`gough size`."""

from __future__ import annotations

from math import radians
from pathlib import Path
from typing import Annotated, Any

import typer

from gough.cli.arguments import (
    PICTURES,
    ColumnNames,
    Commanded,
    Friction,
    RobotArgument,
    Samples,
    Smooth,
    Units,
    Within,
    deflecting,
    file_to_write,
    load,
    numbers,
    output_file,
    read_motion,
    refuse_columns,
    smoothing,
)
from gough.cli.terminal import err, out, say_written, warn
from gough.errors import InputError

STEPS = 3
SIX = "x,y,z linear, then angular; one number stands for the first three"


def command(
    name: RobotArgument,
    motions: Annotated[
        list[str] | None,
        typer.Argument(metavar="MOTION", help="motion files, or papers' motions by name"),
    ] = None,
    output: Annotated[Path | None, output_file("table: .csv, .json or .html")] = None,
    plot: Annotated[
        Path | None,
        file_to_write(
            "torque over speed: .png, .svg or .pdf; needs --lead or --ratio", kinds=PICTURES
        ),
    ] = None,
    lead: Annotated[float | None, typer.Option(help="of the screw, m per turn")] = None,
    ratio: Annotated[
        float | None, typer.Option(help="of the gear of a crank: motor turns per crank turn")
    ] = None,
    efficiency: Annotated[float, typer.Option(help="of screw or gear, motor driving")] = 1.0,
    back_efficiency: Annotated[
        float | None, typer.Option(help="load driving; default 2 − 1/efficiency")
    ] = None,
    rotor_inertia: Annotated[
        float | None, typer.Option(help="kg m²; default: the robot file's rotor")
    ] = None,
    rated_torque: Annotated[float | None, typer.Option(help="of the motor, N m")] = None,
    peak_torque: Annotated[float | None, typer.Option(help="of the motor, N m")] = None,
    top_speed: Annotated[float | None, typer.Option(help="of the motor, rpm")] = None,
    margin: Annotated[float, typer.Option(help="factor on forces, speeds, powers")] = 1.0,
    friction: Friction = True,
    commanded: Commanded = "frame",
    shift: Annotated[
        str | None, typer.Option(help="region about home: ± x,y,z, m", metavar="X,Y,Z")
    ] = None,
    turn: Annotated[
        str | None, typer.Option(help="± rotation vector x,y,z, degrees", metavar="X,Y,Z")
    ] = None,
    acceleration: Annotated[
        str | None, typer.Option(help=f"± bound in the region, m/s², rad/s²: {SIX}")
    ] = None,
    load_bound: Annotated[
        str | None, typer.Option("--load", help=f"± bound in the region, N, N m: {SIX}")
    ] = None,
    twist: Annotated[
        str | None, typer.Option(help=f"± bound in the region, m/s, rad/s: {SIX}")
    ] = None,
    steps: Annotated[int, typer.Option(help="grid poses per axis of the region", min=2)] = STEPS,
    samples: Samples = None,
    units: Units = "",
    columns: ColumnNames = "",
    smooth: Smooth = False,
    within: Within = None,
) -> None:
    """Size the drives over motions, or for the worst of a region.

    Over motions: peaks, rms, energy. A region (--shift, --turn, --acceleration, --load, --twist) is
    computed without friction, exact over all accelerations, loads and twists within the bounds, on a
    grid of poses with a search.

    Example: gough size kim-ryu-2002 kim-ryu-2002/circle-60rpm --lead 0.01 -o size.html
    """
    from gough.show.sheets.drives import drive_table
    from gough.sizing import Drive, Rating, Region
    from gough.sizing import size as find
    from gough.sizing.region import doubts, worst_in_region
    from gough.sizing.table import kind_of, requirements

    if output is not None:
        kind_of(output)
    drive = None
    ratings = (rated_torque, peak_torque, top_speed)
    rating = None if ratings == (None, None, None) else Rating(*ratings)
    if lead is not None or ratio is not None:
        drive = Drive(lead, efficiency, back_efficiency, rotor_inertia, ratio)
    elif (
        plot is not None
        or rotor_inertia is not None
        or rating is not None
        or efficiency != 1
        or back_efficiency is not None
    ):
        raise InputError("motor torque and speed need the screw's --lead or the gear's --ratio")
    bounds = {"acceleration": acceleration, "load": load_bound, "twist": twist}
    regional = any(one is not None for one in (shift, turn, *bounds.values()))
    if steps != STEPS and not regional:
        raise InputError("--steps is about a region: none is given")
    if not motions:
        refuse_columns(units, columns, samples)
        if smooth or within is not None:
            raise InputError("--smooth and --within are about motions: none is given")
        if plot is not None:
            raise InputError("--plot shows motors along motions: needs a motion")
        if not friction or commanded != "frame":
            raise InputError("--no-friction and --commanded are about motions: none is given")
    robot = load(name)
    sizing = None
    if motions:
        given = {
            one: deflecting(
                robot,
                read_motion(one, samples, robot, units, columns, smooth=smoothing(smooth, within)),
                commanded,
                friction,
            )
            for one in motions
        }
        sizing = find(robot, given, drive, friction=friction)
        for one, states in given.items():
            for violation in robot.check(states).violations:
                warn(f"{one}: {violation}")
    region = None
    if regional:
        turns = [radians(one) for one in _bound("--turn", turn, 3)]
        place = Region(robot.home, _bound("--shift", shift, 3), turns)
        boxes: dict[str, Any] = {key: _bound(f"--{key}", one, 6) for key, one in bounds.items()}
        with err.status("worst case over the region …"):
            region = worst_in_region(robot, place, steps=steps, **boxes)
        for doubt in doubts(robot, place):
            warn(doubt)
    rotor = robot.mechanism.legs.rotor[..., 0]
    found = requirements(sizing, region, drive, margin, robot.name, rotor, rating)
    out.print(drive_table(found), highlight=False)
    for short in found.too_small():
        warn(short)
    if region is not None:
        err.print(
            f"region: {region.poses} poses, without friction", highlight=False, soft_wrap=True
        )
    if output is not None:
        found.write(output)
        say_written(output)
    if plot is not None and sizing is not None:
        from gough.show.pictures.sizing import torque_speed
        from gough.show.plots import save

        save(torque_speed(sizing, margin), plot)
        say_written(plot)


def _bound(option: str, text: str | None, count: int) -> list[float]:
    """Numbers of an option, 0 where it is missing; of six, one or three stand for the linear part."""
    if text is None:
        return [0.0] * count
    values = numbers(option, text, *sorted({1, 3, count}))
    if len(values) == 1:
        values *= 3
    return values + [0.0] * (count - len(values))
