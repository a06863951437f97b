"""`gough convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gough.cli.arguments import Json, output_file
from gough.cli.terminal import note, print_json, say, say_written, warn


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="MuJoCo's MJCF (.xml), or URDF (.urdf) with its loops in a .yaml beside it",
        ),
    ],
    output: Annotated[Path, output_file("robot file to write, .toml", (".toml",))],
    platform: Annotated[
        str | None,
        typer.Option(help="body, link or site that is the platform; default: what most legs hold"),
    ] = None,
    meshes: Annotated[
        bool, typer.Option("--meshes/--no-meshes", help="with the meshes that the file names")
    ] = True,
    json: Json = False,
) -> None:
    """A robot file from another program's: MuJoCo's MJCF, URDF.

    Loops are closed, legs found and told by their kind; what a robot file has no place for is listed.

    Example: gough convert robot.xml --platform head -o robot.toml
    """
    import warnings

    from gough.base.files import replacing
    from gough.description.files import moved
    from gough.errors import InputError
    from gough.exchange.incoming.reading import READERS, is_foreign, read_foreign
    from gough.robot import Robot

    if not is_foreign(name):
        raise InputError(f"{name}: needs a name that ends in {' or '.join(READERS)}")
    found = read_foreign(name, platform, meshes=meshes)
    folder = Path(name).absolute().parent
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = Robot.from_text(found.text, name, folder)
    with replacing(output) as temporary:
        temporary.write_text(moved(found.text, folder, output.absolute().parent), "utf-8")
    warned = [str(one.message) for one in caught]
    if json:
        print_json(
            {
                "name": robot.name,
                "platform": found.platform,
                "kind": robot.kind,
                "legs": robot.leg_count,
                "actuators": found.actuators,
                "mobility": robot.mobility,
                "gap_m": {"file": found.gap[0], "closed": found.gap[1]},
                "notes": found.told,
                "warnings": warned,
            }
        )
    else:
        freedom = f"moves in {robot.mobility} directions"
        say(f"platform {found.platform}, {robot.leg_count} legs ({robot.kind}), {freedom}")
        say(f"q: {', '.join(found.actuators) or 'no actuated joint'}")
        say(f"loops: {found.gap[0]:.2g} m open in the file, closed to {found.gap[1]:.2g} m")
        for one in found.told:
            note(one)
        for one in warned:
            warn(one)
    say_written(output, json)
