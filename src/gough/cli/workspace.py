"""Command line: `gough workspace`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gough.cli.terminal import (
    Json,
    RobotArgument,
    err,
    in_a_folder,
    load,
    numbers_of,
    out,
    print_json,
    progress_bar,
    say,
)
from gough.errors import InputError

if TYPE_CHECKING:
    from gough.analysis.workspace_result import Workspace
    from gough.base.arrays import Array
    from gough.robot import Robot

FILES = (".png", ".svg", ".pdf", ".stl", ".vtk")


def workspace(
    robot: RobotArgument,
    orientation: Annotated[
        str | None,
        typer.Option(help="rotation vector of the platform, degrees, rx,ry,rz; default: home's"),
    ] = None,
    point: Annotated[
        str | None,
        typer.Option(help="orientations at this position x,y,z (m), or at 'home', instead"),
    ] = None,
    tilt: Annotated[
        float | None,
        typer.Option(help="positions for all of 12 tilts by this angle, degrees (dexterous)"),
    ] = None,
    any_tilt: Annotated[
        bool, typer.Option("--any", help="with --tilt: for any of them (reachable)")
    ] = False,
    slices: Annotated[
        list[str] | None,
        typer.Option("--slice", help="draw this plane, such as z=0.8 (degrees: --point)"),
    ] = None,
    stroke: Annotated[
        str | None, typer.Option(help="shortest,longest stroke in m, in place of the file's")
    ] = None,
    bounds: Annotated[
        str | None, typer.Option(help="search here only: x0,x1,y0,y1,z0,z1 in m")
    ] = None,
    leg_radius: Annotated[
        float | None, typer.Option(help="radius of the legs, m: they must not touch")
    ] = None,
    platform_angle: Annotated[
        float | None, typer.Option(help="least angle of legs off the platform, degrees")
    ] = None,
    tolerance: Annotated[float, typer.Option(help="of the volume, relative, proved")] = 0.01,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="picture .png .svg .pdf, surface .stl, boxes .vtk",
            callback=in_a_folder,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Where a robot can go within its limits: volume with a proved error, slices, surface.

    Ctrl-C ends it early with what is proved so far.

    Example: gough workspace kim-ryu-2002 --slice z=0.8 --slice y=0 -o workspace.png
    """
    if output is not None and output.suffix.lower() not in FILES:
        raise InputError(f"{output}: the name must end in {', '.join(FILES)}")
    planes = [plane_of(one, point is not None) for one in slices or []]
    machine = load(robot)
    if stroke is not None:
        low, high = numbers_of("--stroke", stroke, 2)
        machine = machine.edited({"legs.limits.stroke": [low, high]})
    import numpy as np

    common: dict[str, Any] = {
        "tolerance": tolerance,
        "leg_radius": leg_radius,
        "platform_angle": None if platform_angle is None else float(np.radians(platform_angle)),
    }
    if bounds is not None:
        if point is not None:
            raise InputError("--bounds limits positions, --point asks for orientations")
        common["bounds"] = np.reshape(numbers_of("--bounds", bounds, 6), (3, 2))
    found, whole = _solve(machine, orientation, point, tilt, any_tilt, common)
    if json:
        print_json(workspace_numbers(found))
    else:
        _print(found)
    if not whole:
        err.print("interrupted: this is what is proved so far", style="yellow")
    if output is not None:
        _write(found, output, planes)
        say(str(output), err if json else out)


def _solve(
    robot: Robot,
    orientation: str | None,
    point: str | None,
    tilt: float | None,
    any_tilt: bool,
    common: dict[str, Any],
) -> tuple[Workspace, bool]:
    """The workspace asked for, behind a progress bar, and whether it was let finish."""
    import numpy as np
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from scipy.spatial.transform import Rotation

    from gough.analysis import workspace as spaces
    from gough.errors import ToleranceWarning

    turn: Array | None = None
    if orientation is not None:
        turn = Rotation.from_rotvec(
            numbers_of("--orientation", orientation, 3), degrees=True
        ).as_matrix()
    if any_tilt and tilt is None:
        raise InputError("--any goes with --tilt")
    if tilt is not None and point is not None:
        raise InputError("--tilt asks for positions, --point for orientations: give one of them")
    seen: list[Workspace] = []
    columns = (TextColumn("workspace"), BarColumn(), TextColumn("{task.description}"))
    with (
        warnings.catch_warnings(),
        progress_bar(*columns, TimeRemainingColumn()) as progress,
    ):
        warnings.simplefilter("ignore", ToleranceWarning)  # the table says so
        bar = progress.add_task("", total=1.0)

        def show(now: Workspace) -> None:
            """Digits won of those asked for."""
            seen[:] = [now]
            doubt = now.error / now.volume if now.volume else 1.0
            part = np.log(max(doubt, 1e-12)) / np.log(common["tolerance"])
            progress.update(bar, completed=min(float(part), 1.0), description=f"± {doubt:.2%}")

        try:
            if point is not None:
                place = None if point == "home" else numbers_of("--point", point, 3)
                found = spaces.orientation_workspace(
                    robot, place, about=turn, progress=show, **common
                )
            elif tilt is not None:
                middle = robot.home.rotation if turn is None else turn
                solve = spaces.reachable if any_tilt else spaces.dexterous
                turns = spaces.cone(float(np.radians(tilt)), middle)
                found = solve(robot, turns, progress=show, **common)
            else:
                found = spaces.workspace(robot, turn, progress=show, **common)
        except KeyboardInterrupt:
            if not seen:
                raise
            return seen[0], False
    return found, True


def workspace_numbers(found: Workspace) -> dict[str, Any]:
    """A result as plain numbers, SI units."""
    return {
        "robot": found.robot.name,
        "set": found.name,
        "unit": f"{found.unit}³",
        "volume": found.volume,
        "error": found.error,
        "tolerance_met": found.met,
        "extent": found.extent.tolist(),
        "bounds": found.bounds.tolist(),
        "boxes": len(found.centre),
        "boxes_proved_inside": int(found.inside.sum()),
        "conditions": sorted(set(found.labels)),
    }


def _print(found: Workspace) -> None:
    import numpy as np
    from rich.table import Table

    from gough.analysis.rotation_measure import ALL_ORIENTATIONS

    out.print(f"[bold]{found.robot.name}[/bold]   {found.name}")
    table = Table(box=None, show_header=False, pad_edge=False)
    unit = f"{found.unit}³"
    table.add_row("volume", f"{found.volume:.6g} ± {found.error:.2g} {unit} (proved)")
    if found.unit == "rad":
        table.add_row("", f"{found.volume / ALL_ORIENTATIONS:.3%} of all orientations")
    names = "xyz" if found.unit == "m" else ("rx", "ry", "rz")
    scale, shown = (1.0, "m") if found.unit == "m" else (float(np.degrees(1.0)), "°")
    for name, (low, high), (least, most) in zip(names, found.extent, found.bounds, strict=True):
        spread = f"about {scale * low:.4g} to {scale * high:.4g} {shown}"
        table.add_row(name, f"{spread}, surely within {scale * least:.4g} to {scale * most:.4g}")
    inside = int(found.inside.sum())
    table.add_row("boxes", f"{len(found.centre)}, of which {inside} are proved inside")
    table.add_row("limits", ", ".join(sorted(set(found.labels))))
    out.print(table, highlight=False)
    if not found.met:
        err.print("note: the tolerance asked for is not met", style="yellow")


def _write(found: Workspace, output: Path, planes: list[tuple[str, float]]) -> None:
    kind = output.suffix.lower()
    if kind == ".stl":
        from gough.exchange.mesh_files import write_stl

        write_stl(found.surface(), output, f"{found.robot.name} {found.name}, {found.unit}")
    elif kind == ".vtk":
        from gough.exchange.mesh_files import write_vtk

        write_vtk(found, output)
    else:
        from gough.show.pictures import workspace as workspace_pictures
        from gough.show.plots import save

        if planes:
            save(workspace_pictures.slices(found, planes), output)
        else:
            save(workspace_pictures.surface_picture(found), output)


def plane_of(text: str, degrees: bool) -> tuple[str, float]:
    """A plane such as z=0.8: its axis and value, m or, from degrees, rad."""
    axis, equals, value = text.replace(" ", "").partition("=")
    axis = axis.removeprefix("r") if degrees else axis
    if axis not in ("x", "y", "z") or not equals:
        raise InputError(f"--slice is {text!r}, needs a plane such as z=0.8")
    (at,) = numbers_of("--slice", value, 1)
    if degrees:
        from math import radians

        at = radians(at)
    return axis, at
