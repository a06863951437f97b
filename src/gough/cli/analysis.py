"""Command line: `gough postures` and `gough singularities`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from gough.cli.terminal import (
    Json,
    RobotArgument,
    Samples,
    err,
    in_a_folder,
    load,
    motion_names,
    out,
    print_json,
    progress_bar,
    read_motion,
    say,
)
from gough.errors import InputError

if TYPE_CHECKING:
    from gough.analysis.clearance import Clearance
    from gough.analysis.postures import Postures
    from gough.analysis.singularities import Singularity
    from gough.base.arrays import Array
    from gough.motion import Motion
    from gough.robot import Robot

PART = 50
"""Samples of a motion between two steps of the progress bar."""


def postures(
    robot: RobotArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="picture: .png, .svg, .pdf", callback=in_a_folder),
    ] = None,
    q: Annotated[
        str | None,
        typer.Option("--q", help="leg coordinates in m, with commas; default: those of home"),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="random search in place of all 40 solutions")
    ] = False,
    json: Json = False,
) -> None:
    """Every posture of a robot for one set of leg coordinates, complete and certified.

    Example: gough postures dietmaier-1998 -o postures.png
    """
    from gough.analysis.postures import postures as find

    machine = load(robot)
    coordinates = _coordinates(machine, q)
    found = find(machine, coordinates, method="quick" if quick else "complete")
    if json:
        print_json(posture_numbers(machine, coordinates, found))
    else:
        _print_postures(machine, found)
    if output is not None:
        from gough.show.pictures.postures import posture_sheet
        from gough.show.plots import save

        save(posture_sheet(machine, found.motion, coordinates), output)
        say(str(output), err if json else out)


def singularities(
    robot: RobotArgument,
    motion: Annotated[
        str | None,
        typer.Argument(
            metavar="MOTION",
            help="motion file or a paper's; default: home",
            autocompletion=motion_names,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="picture: slices of the locus, or along MOTION",
            callback=in_a_folder,
        ),
    ] = None,
    surface: Annotated[
        Path | None,
        typer.Option(
            help="picture of the locus as a surface at home's orientation", callback=in_a_folder
        ),
    ] = None,
    length: Annotated[
        float | None, typer.Option(help="characteristic length, m; default: the platform's")
    ] = None,
    samples: Samples = 201,
    json: Json = False,
) -> None:
    """How near a robot is to singularities, at home or along a motion, and where they are.

    Example: gough singularities kim-ryu-2002 kim-ryu-2002/circle-40rpm -o nearness.png
    """
    from gough.analysis.singularities import singularity

    machine = load(robot)
    states = machine.home if motion is None else read_motion(motion, samples)
    measures = singularity(machine, states, length=length)
    near = _clearance(machine, states, length) if machine.leg_count == 6 else None
    if json:
        print_json(singularity_numbers(machine, measures, near))
    else:
        _print_singularity(machine, states, measures, near)
    console = err if json else out
    for picture, draw in ((output, _draw), (surface, _draw_surface)):
        if picture is not None:
            from gough.show.plots import save

            save(draw(machine, states, measures, near, length), picture)
            say(str(picture), console)


def _coordinates(robot: Robot, q: str | None) -> Array:
    import numpy as np

    if q is None:
        return robot.inverse_kinematics(robot.home).q
    try:
        values = [float(part) for part in q.replace(",", " ").split()]
    except ValueError:
        raise InputError(f"--q is {q!r}, needs numbers with commas between them") from None
    if len(values) != robot.leg_count:
        raise InputError(f"--q has {len(values)} numbers, the robot {robot.leg_count} legs")
    return np.array(values)


def posture_numbers(robot: Robot, q: Array, found: Postures) -> dict[str, Any]:
    """A result as plain lists, SI units."""

    def poses(motion: Motion) -> list[dict[str, Any]]:
        return [
            {"position": one.position.tolist(), "rotation": one.rotation.tolist()} for one in motion
        ]

    coverage = found.coverage
    return {
        "robot": robot.name,
        "q": q.tolist(),
        "method": found.method,
        "postures": [
            pose | {"certified": bool(proven)}
            for pose, proven in zip(poses(found.motion), found.certified, strict=True)
        ],
        "other_branch": poses(found.other_branch),
        "continuum": poses(found.continuum),
        "complex_count": found.complex_count,
        "at_infinity": found.at_infinity,
        "singular": found.singular,
        "proven_complete": found.proven,
        "coverage": None if coverage is None else vars(coverage),
    }


def _print_postures(robot: Robot, found: Postures) -> None:
    from scipy.spatial.transform import Rotation

    count = len(found.motion)
    out.print(f"[bold]{escape(robot.name)}[/bold]   {count} posture{'' if count == 1 else 's'}")
    if count:
        from gough.analysis.singularities import singularity

        measures = singularity(robot, found.motion)
        turns = Rotation.from_matrix(found.motion.rotation).as_rotvec()
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
        heads = ("", "position (m)", "rotation vector", "condition", "transm.", "proven")
        for head in heads:
            table.add_column(head, justify="right", no_wrap=True)
        for k in range(count):
            table.add_row(
                str(k + 1),
                _vector(found.motion.position[k]),
                _vector(turns[k]),
                f"{measures.condition[k]:.4g}",
                f"{measures.transmission[k]:.3f}",
                "yes" if found.certified[k] else "no",
            )
        out.print(table)
    for line in _verdict(found):
        out.print(line, highlight=False)


def _verdict(found: Postures) -> list[str]:
    """How sure the answer is, in words."""
    said = []
    if found.coverage is not None:
        part = found.coverage
        said.append(
            f"random search: {part.starts} starts, {part.hits} hits, {part.found} met, "
            f"estimated {part.estimated:.3g}; one more hit is a known one with {part.share:.3%}"
        )
    elif found.complex_count is None:
        said.append("two legs of these lengths cannot both reach the platform")
    elif found.proven:
        said.append("complete: 40 solutions, complex ones included, are proven and different")
    else:
        said.append(
            f"complete: 40 paths followed to {found.complex_count} simple solutions, "
            f"{found.singular} singular, {found.at_infinity} that are no poses (special geometry)"
        )
    if len(found.other_branch):
        said.append(f"{len(found.other_branch)} more with a link on the other branch of its rail")
    if len(found.continuum):
        said.append("there is a continuum of postures: the platform moves with locked actuators")
    return said


def _clearance(robot: Robot, states: Motion, length: float | None) -> Clearance:
    """Behind a progress bar, in parts."""
    import dataclasses

    import numpy as np
    from rich.progress import Progress, TimeRemainingColumn

    from gough.analysis.clearance import clearance
    from gough.motion import Motion

    if not states.shape or len(states) <= PART:
        return clearance(robot, states, length=length)
    parts = []
    columns = (*Progress.get_default_columns()[:-1], TimeRemainingColumn())
    with progress_bar(*columns) as progress:
        for start in progress.track(range(0, len(states), PART), description="distance"):
            parts.append(clearance(robot, states[start : start + PART], length=length))
    signs = np.concatenate([part.determinant for part in parts])
    return dataclasses.replace(
        parts[0],
        distance=np.concatenate([part.distance for part in parts]),
        foot=Motion.concatenate([part.foot for part in parts]),
        determinant=signs,
        crossings=np.flatnonzero(signs[1:] * signs[:-1] < 0),
    )


def singularity_numbers(
    robot: Robot, measures: Singularity, near: Clearance | None
) -> dict[str, Any]:
    """The measures as plain lists, SI units; infinity as null."""
    import numpy as np

    def plain(value: Array) -> Any:
        return np.where(np.isfinite(value), value.astype(object), np.array(None)).tolist()

    names = ("condition", "smallest", "parallel", "transmission", "serial", "universal", "output")
    numbers: dict[str, Any] = {"robot": robot.name, "length": measures.length}
    numbers |= {name: plain(getattr(measures, name)) for name in names}
    numbers["kind"] = measures.kind.tolist()
    if near is not None:
        numbers["distance"] = plain(near.distance)
        numbers["determinant"] = plain(near.determinant)
        numbers["crossings"] = near.crossings.tolist()
    return numbers


def _print_singularity(
    robot: Robot, states: Motion, measures: Singularity, near: Clearance | None
) -> None:
    import numpy as np

    where = f"{len(states)} samples, the worst" if states.shape else "at home"
    out.print(f"[bold]{escape(robot.name)}[/bold]   {where}")
    rows = [
        ("condition number", measures.condition.max(), f"length scale {measures.length:.4g} m"),
        ("smallest singular value", measures.smallest.min(), "the same length scale"),
        ("parallel, 0 is singular", measures.parallel.min(), "legs' lines, the same length scale"),
        ("serial, 0 is singular", measures.serial.min(), "slope of link on rail; UPS: 1"),
        ("universal joints", measures.universal.min(), "sine of leg and first axis"),
        ("transmission index", measures.transmission.min(), "0 singular, 1 best; needs no length"),
    ]
    if near is not None:
        said = "position and turn times length scale; none nearer was found"
        rows.append(("distance, m", near.distance.min(), said))
    table = Table("measure", "value", "", box=None, pad_edge=False, header_style="bold")
    for name, value, said in rows:
        table.add_row(name, f"{float(value):.6g}", said)
    out.print(table)
    bad = sorted({*np.ravel(measures.kind).tolist()} - {"regular"})
    if bad:
        out.print(f"[yellow]singular: {', '.join(bad)}[/yellow]")
    if near is not None and len(near.crossings):
        at = near.crossings[0]
        when = f"sample {at}" if states.time is None else f"t = {states.time[at]:.6g} s"
        out.print(
            f"[yellow]crosses {len(near.crossings)} singularities, first after {when}[/yellow]"
        )


def _draw(
    robot: Robot,
    states: Motion,
    measures: Singularity,
    near: Clearance | None,
    length: float | None,
) -> Any:
    from gough.analysis.locus import around_home, slice_at
    from gough.show.pictures.singularities import course, slice_pictures

    if states.shape:
        if near is None:
            raise InputError(
                "pictures of the distance to singularities are there for six legs only"
            )
        return course(states, measures, near)
    x, y, z = around_home(robot)
    home = robot.home.position
    slices = [
        slice_at(robot, "z", home[2], [x, y], length=length),
        slice_at(robot, "y", home[1], [x, z], length=length),
    ]
    return slice_pictures(robot, slices, robot.home.rotation)


def _draw_surface(
    robot: Robot,
    states: Motion,
    measures: Singularity,
    near: Clearance | None,
    length: float | None,
) -> Any:
    from gough.analysis.locus import around_home
    from gough.analysis.locus import surface as find
    from gough.show.pictures.singularities import surface_picture

    return surface_picture(robot, find(robot, around_home(robot), length=length))


def _vector(values: Array) -> str:
    return " ".join(f"{0.0 if abs(x) < 5e-4 else x:7.3f}" for x in values)
