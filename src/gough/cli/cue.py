"""`gough cue`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gough.cli.arguments import (
    PICTURES,
    TABLES,
    ColumnNames,
    Json,
    RobotArgument,
    Units,
    file_to_write,
    load_rigid,
    output_file,
    per_actuator,
    picture_beside,
)
from gough.cli.terminal import err, finishing, note, print_json, say, say_written
from gough.errors import InputError

PREVIEW = 20.0


def command(
    name: RobotArgument,
    vehicle: Annotated[
        Path,
        typer.Argument(
            metavar="VEHICLE", help="recorded vehicle (.csv): time, ax, ay, az, wx, wy, wz"
        ),
    ],
    output: Annotated[Path, output_file("motion file, .csv or .nc", TABLES)],
    scale: Annotated[float, typer.Option(help="of the vehicle's accelerations and rates")] = 1.0,
    classical: Annotated[
        bool, typer.Option("--classical", help="write the classical washout, not the optimised cue")
    ] = False,
    translation: Annotated[
        float, typer.Option(metavar="HZ", help="washout: break frequency of accelerations")
    ] = 0.1,
    rotation: Annotated[
        float, typer.Option(metavar="HZ", help="washout: break frequency of turn rates")
    ] = 0.1,
    tilt: Annotated[
        float, typer.Option(metavar="HZ", help="washout: break frequency of tilting")
    ] = 0.3,
    tilt_rate: Annotated[
        float, typer.Option(metavar="DEG/S", help="washout: fastest tilting")
    ] = 3.0,
    preview: Annotated[
        float, typer.Option(metavar="S", help="how far the optimised cue looks ahead")
    ] = PREVIEW,
    stroke: Annotated[
        str | None, typer.Option(help="of actuators, either way from home, m or rad")
    ] = None,
    speed: Annotated[str | None, typer.Option(help="of actuators, m/s or rad/s")] = None,
    force: Annotated[str | None, typer.Option(help="of actuators, N or N m")] = None,
    units: Units = "",
    names: ColumnNames = "",
    plot: Annotated[
        Path | None, file_to_write("picture; default: beside the motion, .png", kinds=PICTURES)
    ] = None,
    json: Json = False,
) -> None:
    """A recorded vehicle as a motion that the platform can make.

    Felt as near to it as can be.

    The optimised cue is written, and compared with a classical washout; with --classical the
    washout alone. Limits are the robot file's and those given, whichever is
    less: one number, or one per actuator.

    Example: gough cue simulator.toml drive.csv -o motion.csv --scale 0.7 --tilt-rate 3
    """
    from gough.cueing import Predictive, Washout, cue, read_vehicle
    from gough.data.columns import Columns
    from gough.data.motion_files import write_motion
    from gough.show.pictures.cueing import cueing_curves
    from gough.show.style import save

    if classical and preview != PREVIEW:
        raise InputError("--preview is about the optimised cue: --classical makes none")
    picture = picture_beside(plot, output)
    robot = load_rigid(name, output, picture)
    count = robot.actuator_count
    given: dict[str, Any] = {
        key: per_actuator(f"--{key}", text, count)
        for key, text in (("stroke", stroke), ("speed", speed), ("force", force))
    }
    ways: dict[str, Any] = {
        "classical": Washout(
            translation=translation, rotation=rotation, tilt=tilt, tilt_rate=tilt_rate
        )
    }
    if not classical:
        ways["optimised"] = Predictive(preview=preview, kept=min(Predictive.kept, preview))
    record = read_vehicle(vehicle, columns=Columns.of(units, names), say=note)
    found = {}
    for way, how in ways.items():
        with err.status(f"{way} cue …"):
            found[way] = cue(robot, record, how, scale=scale, **given)
    written = [*found.values()][-1]
    with finishing(output):
        write_motion(written.motion, output)
        save(cueing_curves(robot.name, found), picture)
    if json:
        numbers = {
            way: {
                "error": one.error,
                "force_error": one.sensation.force_error,
                "rate_error": one.sensation.rate_error,
                "gain": one.gain,
                "held_back": one.held_back,
                "real_time": one.real_time,
                "shares": {limit: float(share.max()) for limit, share in one.shares.items()},
            }
            for way, one in found.items()
        }
        print_json({"output": str(output), "picture": str(picture), **numbers})
        return
    for way, one in found.items():
        say(f"{way}: {one}")
    say_written(output)
    say_written(picture)
