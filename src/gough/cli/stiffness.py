"""Command line: `gough stiffness`."""

from __future__ import annotations

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
    from gough.analysis.accuracy import Accuracy
    from gough.analysis.stiffness import Stiffness, Turning
    from gough.base.arrays import Array
    from gough.motion import Motion
    from gough.robot import Robot


def stiffness(
    robot: RobotArgument,
    actuator: Annotated[float, typer.Option("--stiffness", help="of each actuator along q, N/m")],
    leg: Annotated[
        float | None, typer.Option("--leg-stiffness", help="of each leg along itself, N/m")
    ] = None,
    pose: Annotated[
        str | None,
        typer.Option(help="x,y,z in m and rotation vector rx,ry,rz in degrees; default: home"),
    ] = None,
    load_: Annotated[
        str | None, typer.Option("--load", help="fx,fy,fz,mx,my,mz at the tool, N and N m")
    ] = None,
    preload: Annotated[
        bool, typer.Option(help="with the forces that hold the weight; needs masses")
    ] = True,
    errors: Annotated[
        str | None,
        typer.Option(help="standard deviations such as leg=1e-5,base=2e-5 (m, rad): accuracy"),
    ] = None,
    plane: Annotated[
        str | None, typer.Option("--slice", help="plane of the map, such as z=0.8")
    ] = None,
    points: Annotated[int, typer.Option(help="points of the map a side", min=2)] = 31,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="map of a plane: .png, .svg, .pdf", callback=in_a_folder
        ),
    ] = None,
    json: Json = False,
) -> None:
    """How stiff and how exact the tool is: compliance, principal axes, frequencies, deflection.

    Example: gough stiffness kim-ryu-2002 --stiffness 1e7 --errors leg=1e-5,base=2e-5 -o map.png
    """
    import numpy as np

    from gough.analysis.stiffness import stiffness as find
    from gough.cli.workspace import plane_of

    machine = load(robot)
    level = None if plane is None else plane_of(plane, False)
    spread = None if errors is None else tolerances_of(errors)
    load_at = None if load_ is None else np.array(numbers_of("--load", load_, 6))
    place = _pose(machine, pose)
    links = np.inf if leg is None else leg
    found = find(machine, place, actuator, links, preload=preload)
    hertz = None
    if preload:
        hertz = machine.natural_frequencies(place, found.along).frequencies[:6]
    exact = None
    if spread is not None:
        from gough.analysis.accuracy import accuracy

        exact = accuracy(machine, place, spread)
    if json:
        print_json(stiffness_numbers(machine, found, hertz, load_at, exact))
    else:
        _print(machine, found, hertz, load_at, exact)
    if not found.stable:
        err.print("warning: this pose does not hold itself against its load", style="yellow")
    if output is not None:
        _draw(machine, actuator, links, level, place, points, preload, output)
        say(str(output), err if json else out)


def tolerances_of(text: str) -> Any:
    """Standard deviations from name=value pairs with commas."""
    from dataclasses import fields

    from gough.analysis.accuracy import Tolerances

    known = [item.name for item in fields(Tolerances)]
    given: dict[str, float] = {}
    for part in text.split(","):
        name, equals, value = part.strip().partition("=")
        if name not in known or not equals:
            raise InputError(
                f"--errors has {part.strip()!r}, needs name=value of {', '.join(known)}"
            )
        (given[name],) = numbers_of(f"--errors {name}", value, 1)
    return Tolerances(**given)


def stiffness_numbers(
    robot: Robot,
    found: Stiffness,
    hertz: Array | None,
    load: Array | None,
    exact: Accuracy | None,
) -> dict[str, Any]:
    """The results as plain lists, SI units, world axes."""
    numbers: dict[str, Any] = {"robot": robot.name, "stable": bool(found.stable)}
    numbers["stiffness"] = found.matrix.tolist()
    numbers["compliance_at_tool"] = found.compliance.tolist()
    for turning in ("free", "locked"):
        values, axes = found.principal(turning)
        numbers[f"principal_{turning}"] = {"stiffness": values.tolist(), "axes": axes.T.tolist()}
    numbers["actuator_forces"] = found.forces.tolist()
    numbers["natural_frequencies"] = None if hertz is None else hertz.tolist()
    if load is not None:
        numbers["deflection"] = found.deflection(load[:3], load[3:]).tolist()
    if exact is not None:
        numbers["accuracy"] = {
            "tool_error": float(exact.tool_error),
            "turn_error": float(exact.turn_error),
            "pose_covariance": exact.pose.tolist(),
            "tool_covariance": exact.tool.tolist(),
        }
    return numbers


def _print(
    robot: Robot,
    found: Stiffness,
    hertz: Array | None,
    load: Array | None,
    exact: Accuracy | None,
) -> None:
    import numpy as np
    from rich.table import Table

    where = ", ".join(f"{x:.4g}" for x in found.motion.position)
    out.print(f"[bold]{robot.name}[/bold]   stiffness of the tool, platform at {where} m")
    table = Table(
        "", "N/µm", "axis x, y, z", box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0)
    )  # fmt: skip
    kinds: list[tuple[Turning, str]] = [("free", "turning freely"), ("locked", "kept from turning")]
    for turning, said in kinds:
        values, axes = found.principal(turning)
        for k in range(3):
            axis = axes[:, k] * np.sign(axes[np.argmax(np.abs(axes[:, k])), k])
            along = " ".join(f"{0.0 if abs(x) < 5e-4 else x:6.3f}" for x in axis)
            table.add_row(said if k == 0 else "", f"{values[k] / 1e6:.5g}", along)
    out.print(table, highlight=False)
    if hertz is not None:
        tones = ", ".join(f"{x:.4g}" for x in hertz)
        out.print(f"natural frequencies   {tones} Hz", highlight=False, soft_wrap=True)
    if load is not None:
        moved = found.deflection(load[:3], load[3:])
        least = 1e-9 * np.abs(moved).max()
        shown = [f"{1e6 * x if abs(x) > least else 0.0:.4g}" for x in moved]
        way, turn = ", ".join(shown[:3]), ", ".join(shown[3:])
        out.print(f"the load moves it by  {way} µm, {turn} µrad", highlight=False, soft_wrap=True)
    if exact is not None:
        out.print(
            f"errors at the tool    {1e6 * exact.tool_error:.4g} µm and "
            f"{1e6 * exact.turn_error:.4g} µrad rms",
            highlight=False,
        )
        total = np.trace(exact.tool)
        parts = {name: np.trace(share) / total for name, share in exact.shares.items() if total}
        of_that = ", ".join(f"{name} {part:.0%}" for name, part in parts.items() if part > 0)
        out.print(f"                      of that {of_that}", highlight=False)


def _pose(robot: Robot, text: str | None) -> Motion:
    from scipy.spatial.transform import Rotation

    from gough.motion import Motion

    if text is None:
        return robot.home
    values = numbers_of("--pose", text, 6)
    return Motion(values[:3], Rotation.from_rotvec(values[3:], degrees=True))


def _draw(
    robot: Robot,
    actuator: float,
    leg: float,
    level: tuple[str, float] | None,
    place: Motion,
    points: int,
    preload: bool,
    output: Path,
) -> None:
    """The map, behind a progress bar."""
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    from gough.analysis.stiffness_map import stiffness_map
    from gough.show.pictures.stiffness import stiffness_picture
    from gough.show.style import KINDS, save

    if output.suffix.lower() not in KINDS:
        raise InputError(f"{output}: the name of a picture must end in {', '.join(KINDS)}")
    across, at = ("z", float(place.position[2])) if level is None else level
    columns = (TextColumn("map"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
    with progress_bar(*columns, TimeRemainingColumn()) as progress:
        bar = progress.add_task("map", total=1.0)
        found = stiffness_map(
            robot, actuator, leg, across=across, at=at, rotation=place.rotation, points=points,
            preload=preload, progress=lambda part: progress.update(bar, completed=part),
        )  # fmt: skip
    save(stiffness_picture(robot, found), output)
