"""`gough retime`."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from gough.cli.arguments import (
    PICTURES,
    SAMPLES,
    TABLES,
    Friction,
    Json,
    RobotArgument,
    Smooth,
    Within,
    file_to_write,
    load_rigid,
    motion_argument,
    output_file,
    per_actuator,
    picture_beside,
    read_motion,
    samples_option,
    smoothing,
)
from gough.cli.terminal import finishing, print_json, progress_bar, say, say_written, warn

IDLE = 0.5
"""Share of the time without any limit from which it is a warning."""
EACH = "one number, or one per actuator with commas between"


def command(
    name: RobotArgument,
    motion: Annotated[
        str,
        motion_argument("motion file (.csv, .nc), path file (.toml) or a paper's motion by name"),
    ],
    output: Annotated[Path, output_file("motion file, .csv or .nc", TABLES)],
    uniform: Annotated[
        bool, typer.Option("--uniform", help="keep the timing but for one factor on time")
    ] = False,
    speed: Annotated[
        str | None, typer.Option(help=f"limit of actuators, m/s or rad/s: {EACH}")
    ] = None,
    force: Annotated[str | None, typer.Option(help="N or N m")] = None,
    power: Annotated[str | None, typer.Option(help="of |force × speed|, W")] = None,
    jerk: Annotated[str | None, typer.Option(help="m/s³ or rad/s³")] = None,
    platform_speed: Annotated[float | None, typer.Option(help="m/s")] = None,
    platform_turn_rate: Annotated[float | None, typer.Option(help="rad/s")] = None,
    platform_acceleration: Annotated[float | None, typer.Option(help="m/s²")] = None,
    platform_turn_acceleration: Annotated[float | None, typer.Option(help="rad/s²")] = None,
    friction: Friction = True,
    plot: Annotated[
        Path | None, file_to_write("picture; default: beside the motion, .png", kinds=PICTURES)
    ] = None,
    samples: Annotated[
        int | None,
        samples_option(
            "of what is written, and of a paper's motion that is read; default: as many as keep "
            "limits between them"
        ),
    ] = None,
    smooth: Smooth = False,
    within: Within = None,
    json: Json = False,
) -> None:
    """The same path as fast as limits allow.

    From rest to rest, by TOPP-RA, with the limits of the robot file and those given, whichever is
    less.

    Example: gough retime kim-ryu-2002 kim-ryu-2002/circle-20rpm -o fast.csv --speed 0.5 --force 200
    """
    from gough.data.motion_files import write_motion
    from gough.planning import retime
    from gough.planning.path_files import read_path
    from gough.planning.written import written
    from gough.show.pictures.retiming import retiming_curves
    from gough.show.style import save

    picture = picture_beside(plot, output)
    robot = load_rigid(name, output, picture)
    count = robot.actuator_count
    given: dict[str, Any] = {
        key: per_actuator(f"--{key}", text, count)
        for key, text in (("speed", speed), ("force", force), ("power", power), ("jerk", jerk))
    }
    path = (
        read_path(motion, robot)
        if motion.lower().endswith(".toml")
        else read_motion(
            motion, None, robot, usual=samples or SAMPLES, smooth=smoothing(smooth, within)
        )
    )
    with progress_bar() as bar:
        task = bar.add_task("retiming", total=1.0)
        found = retime(
            robot,
            path,
            uniform=uniform,
            friction=friction,
            platform_speed=platform_speed,
            platform_turn_rate=platform_turn_rate,
            platform_acceleration=platform_acceleration,
            platform_turn_acceleration=platform_turn_acceleration,
            progress=lambda share: bar.update(task, completed=share),
            **given,
        )
        made = written(found, samples)
    with finishing(output):
        write_motion(made.motion, output)
        save(retiming_curves(found), picture)
    if made.share > 1 + 1e-3:
        warn(
            f"{made.limit} is exceeded by {100 * (made.share - 1):.2g} % between the "
            f"{len(made.motion)} samples, on the polynomials through their rates: leave --samples out "
            "for as many as keep limits"
        )
    if found.idle > IDLE:
        warn(f"no limit is reached for {100 * found.idle:.2g} % of the time that it moves")
    if json:
        print_json(
            {
                "output": str(output),
                "picture": str(picture),
                "before": found.before,
                "duration": found.duration,
                "samples": len(made.motion),
                "written": made.duration,
                "share": made.share if isfinite(made.share) else None,
                "binding": found.binding_times(),
                "bindings": [
                    {
                        "begin": one.begin,
                        "end": one.end,
                        "who": None if one.limit is None else one.limit.who,
                        "limit": None if one.limit is None else one.limit.limit,
                    }
                    for one in found.bindings
                ],
            }
        )
        return
    say(f"{output}: {found}")
    if made.duration > found.duration * (1 + 1e-9):
        say(
            f"{len(made.motion)} samples take {made.duration:.6g} s: accelerations take a while to "
            "change, so that limits are kept between samples too"
        )
    say_written(picture)
