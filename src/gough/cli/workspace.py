"""`gough workspace`."""

from __future__ import annotations

import warnings
from math import radians
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gough.cli.arguments import (
    PICTURES,
    Json,
    RobotArgument,
    load,
    need_turns,
    numbers,
    output_file,
    plane,
    tell_undeformed,
)
from gough.cli.terminal import err, note, out, print_json, progress_bar, say_written
from gough.errors import InputError

if TYPE_CHECKING:
    from gough.analysis.workspace_result import Workspace
    from gough.robot import Robot

FILES = (*PICTURES, ".stl", ".vtk")
TOLERANCE = 0.01


def command(
    name: RobotArgument,
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
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="also what no path from home reaches")
    ] = False,
    tolerance: Annotated[float, typer.Option(help="of the volume, relative, proved")] = TOLERANCE,
    output: Annotated[
        Path | None, output_file("picture .png .svg .pdf, surface .stl, boxes .vtk")
    ] = None,
    json: Json = False,
) -> None:
    """Where a robot can go from home within its limits.

    The part that is reached from home without crossing a singularity: volume with its error, slices,
    surface; positions or orientations. Ctrl-C ends it early with what is known so far.

    Example: gough workspace kim-ryu-2002 --slice z=0.8 --slice y=0 -o workspace.png
    """
    from gough.analysis.own_workspace import provable
    from gough.show.sheets.workspace import print_workspace, workspace_numbers

    if output is not None and output.suffix.lower() not in FILES:
        raise InputError(f"{output}: the name must end in {', '.join(FILES)}")
    planes = [plane("--slice", one, degrees=point is not None) for one in slices or []]
    if planes and (output is None or output.suffix.lower() not in PICTURES):
        raise InputError(f"--slice draws: needs -o with a name that ends in {', '.join(PICTURES)}")
    common: dict[str, Any] = {
        "tolerance": tolerance,
        "from_home": not everywhere,
        "leg_radius": leg_radius,
        "platform_angle": None if platform_angle is None else radians(platform_angle),
    }
    robot = load(name, output)
    tell_undeformed(robot)
    if stroke is not None:
        robot = robot.edited({"legs.limits.stroke": numbers("--stroke", stroke, 2)})
    if point is None and not provable(robot):
        proving = {
            "--tilt": tilt is not None, "--any": any_tilt, "--leg-radius": leg_radius is not None,
            "--platform-angle": platform_angle is not None, "--everywhere": everywhere,
            "--tolerance": tolerance != TOLERANCE, "--output": output is not None,
        }  # fmt: skip
        given = [word for word, value in proving.items() if value]
        if given:
            raise InputError(
                f"{', '.join(given)}: need bounds that prove; {robot.name} is sampled in its own "
                f"coordinates {', '.join(robot.coordinates)}"
            )
        _sampled(robot, orientation, bounds, json)
        return
    if bounds is not None:
        if point is not None:
            raise InputError("--bounds limits positions, --point asks for orientations")
        six = numbers("--bounds", bounds, 6)
        common["bounds"] = [six[:2], six[2:4], six[4:]]
    found, whole = _solve(robot, orientation, point, tilt, any_tilt, common)
    if json:
        print_json(workspace_numbers(found))
    else:
        print_workspace(found, out)
        if not found.met:
            note("the tolerance asked for is not met")
    if not whole:
        err.print("interrupted: this is what is known so far", style="yellow")
    if output is not None:
        _write(found, output, planes)
        say_written(output, json)


def _sampled(
    robot: Robot,
    orientation: str | None,
    bounds: str | None,
    json: bool,
) -> None:
    """The workspace of a robot of which none can be proved, in its own coordinates."""
    from gough.analysis.own_space import OwnSpace
    from gough.analysis.own_workspace import own_workspace
    from gough.show.sheets.workspace import own_workspace_numbers, print_own_workspace

    turn = None
    if orientation is not None:
        from scipy.spatial.transform import Rotation

        turn = Rotation.from_rotvec(_turn(orientation), degrees=True)
    box = None
    if bounds is not None:
        count = len(OwnSpace.of(robot).names)
        flat = numbers("--bounds", bounds, 2 * count)
        box = [flat[2 * i : 2 * i + 2] for i in range(count)]
    with err.status("sampling …"):
        found = own_workspace(robot, box, rotation=turn)
    if json:
        print_json(own_workspace_numbers(found))
    else:
        print_own_workspace(found, out)


def _turn(text: str) -> list[float]:
    """A rotation vector in degrees."""
    vector = numbers("--orientation", text, 3)
    need_turns("--orientation", text, vector)
    return vector


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
    from scipy.spatial.transform import Rotation

    from gough.analysis import workspace as spaces
    from gough.errors import ToleranceWarning

    turn = None
    if orientation is not None:
        turn = Rotation.from_rotvec(_turn(orientation), degrees=True).as_matrix()
    if any_tilt and tilt is None:
        raise InputError("--any goes with --tilt")
    if tilt is not None and point is not None:
        raise InputError("--tilt asks for positions, --point for orientations: give one of them")
    seen: list[Workspace] = []
    with warnings.catch_warnings(), progress_bar() as progress:
        warnings.simplefilter("ignore", ToleranceWarning)  # a note says so
        bar = progress.add_task("workspace", total=1.0)

        def show(now: Workspace) -> None:
            """Digits won of those asked for."""
            seen[:] = [now]
            doubt = now.error / now.volume if now.volume else 1.0
            part = float(np.log(max(doubt, 1e-12)) / np.log(common["tolerance"]))
            progress.update(bar, completed=min(part, 1.0), description=f"workspace ± {doubt:.2%}")

        try:
            if point is not None:
                place = None if point == "home" else numbers("--point", point, 3)
                found = spaces.orientation_workspace(
                    robot, place, about=turn, progress=show, **common
                )
            elif tilt is not None:
                middle = robot.home.rotation if turn is None else turn
                solve = spaces.reachable if any_tilt else spaces.dexterous
                found = solve(robot, spaces.cone(radians(tilt), middle), progress=show, **common)
            else:
                found = spaces.workspace(robot, turn, progress=show, **common)
        except KeyboardInterrupt:
            if not seen:
                raise
            return seen[0], False
    return found, True


def _write(found: Workspace, output: Path, planes: list[tuple[str, float]]) -> None:
    kind = output.suffix.lower()
    if kind == ".stl":
        from gough.exchange.mesh_files import write_stl

        write_stl(found.surface(), output, f"{found.robot.name} {found.name}, {found.unit}")
    elif kind == ".vtk":
        from gough.exchange.mesh_files import write_vtk

        write_vtk(found, output)
    else:
        from gough.show.pictures import workspace as pictures
        from gough.show.plots import save

        save(pictures.slices(found, planes) if planes else pictures.surface_picture(found), output)
