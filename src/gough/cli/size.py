"""`gough size`: what drives a robot needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gough.cli.terminal import RobotArgument, err, in_a_folder, load, out, read_motion, say, warn
from gough.errors import InputError

if TYPE_CHECKING:
    from gough.robot import Robot
    from gough.sizing.region import Region

SIX = "x,y,z linear, then angular; one number stands for the first three"


def size(
    robot: RobotArgument,
    motions: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MOTION]...", help="motion files, or papers' motions by name"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="table: .csv, .json or .html", callback=in_a_folder),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="torque over speed: .png, .svg or .pdf; needs --lead", callback=in_a_folder
        ),
    ] = None,
    lead: Annotated[float | None, typer.Option(help="of the screw, m a turn")] = None,
    efficiency: Annotated[float, typer.Option(help="of the screw, motor driving")] = 1.0,
    back_efficiency: Annotated[
        float | None, typer.Option(help="load driving; default 2 − 1/efficiency")
    ] = None,
    rotor_inertia: Annotated[
        float | None, typer.Option(help="kg m²; default: the robot file's rotor_mass")
    ] = None,
    margin: Annotated[float, typer.Option(help="factor on forces, speeds, powers")] = 1.0,
    friction: Annotated[bool, typer.Option(help="with the friction of the robot file")] = True,
    shift: Annotated[
        str | None, typer.Option(help="region about home: ± x,y,z, m", metavar="X,Y,Z")
    ] = None,
    turn: Annotated[
        str | None, typer.Option(help="± rotation vector x,y,z, rad", metavar="X,Y,Z")
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
    steps: Annotated[int, typer.Option(help="grid poses an axis of the region", min=2)] = 3,
    samples: Annotated[int, typer.Option(help="samples of a paper's motion", min=2)] = 601,
) -> None:
    """Size the drives: peaks, rms, energy over motions, and the worst case in a region.

    A region (--shift, --turn, --acceleration, --load, --twist) is computed without friction, exact
    over all accelerations, loads and twists within the bounds, on a grid of poses with a search.

    Example: gough size kim-ryu-2002 kim-ryu-2002/circle-60rpm --lead 0.01 -o size.html
    """
    from gough.show.sheets.drives import drive_table
    from gough.sizing import Drive, Region
    from gough.sizing import size as find
    from gough.sizing.region import worst_in_region
    from gough.sizing.table import kind_of, requirements

    if output is not None:
        kind_of(output)
    drive = None
    if lead is not None:
        drive = Drive(lead, efficiency, back_efficiency, rotor_inertia)
    elif plot is not None or rotor_inertia is not None:
        raise InputError("motor torque and speed need the screw's --lead")
    machine: Robot = load(robot)
    sizing = None
    if motions:
        given = {name: read_motion(name, samples) for name in motions}
        sizing = find(machine, given, drive, friction=friction)
        for name, states in given.items():
            for violation in machine.check(states).violations:
                warn(f"{name}: {violation}")
    region = None
    bounds = {"acceleration": acceleration, "load": load_bound, "twist": twist}
    if any(one is not None for one in (shift, turn, *bounds.values())):
        place = Region(machine.home, _numbers("shift", shift, 3), _numbers("turn", turn, 3))
        boxes: dict[str, Any] = {name: _numbers(name, text, 6) for name, text in bounds.items()}
        with err.status("worst case over the region …"):
            region = worst_in_region(machine, place, steps=steps, **boxes)
        _warn_of_region(machine, place)
    rotor = machine.mechanism.legs.rotor_mass[..., 0]
    found = requirements(sizing, region, drive, margin, machine.name, rotor)
    out.print(drive_table(found), highlight=False)
    if region is not None:
        err.print(
            f"region: {region.poses} poses, without friction", highlight=False, soft_wrap=True
        )
    if output is not None:
        found.write(output)
        say(str(output))
    if plot is not None:
        if sizing is None:
            raise InputError("--plot shows motors along motions: needs a motion")
        from gough.show.pictures.sizing import torque_speed
        from gough.show.plots import save

        save(torque_speed(sizing, margin), plot)
        say(str(plot))


def _warn_of_region(robot: Robot, region: Region) -> None:
    """What its corners say: limits exceeded, and poses on two sides of a singularity."""
    import itertools

    import numpy as np

    corners = region.poses(np.array([[0.0] * 6, *itertools.product((-1.0, 1.0), repeat=6)]))
    for violation in robot.check(corners).violations[:1]:
        warn(f"the region goes beyond the robot's limits: {violation}")
    jacobian = robot.jacobian(corners, on_error="nan")[..., :6]
    if robot.leg_count == 6 and len(set(np.sign(np.linalg.det(jacobian)))) > 1:
        warn("the region holds singular poses, near which forces have no bound")


def _numbers(name: str, text: str | None, count: int) -> list[float]:
    """Numbers of an option, 0 where it is missing; of six, one or three stand for the linear part."""
    if text is None:
        return [0.0] * count
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"--{name}: {text[:40]!r} is no list of numbers x,y,z") from None
    if len(values) == 1:
        values *= 3
    if len(values) == 3 and count == 6:
        values += [0.0] * 3
    if len(values) != count:
        raise InputError(f"--{name} has {len(values)} numbers, needs {count}")
    return values
