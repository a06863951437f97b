"""`gough clamp`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from gough.base.words import counted
from gough.cli.arguments import (
    TABLES,
    Json,
    MotionArgument,
    RobotArgument,
    Samples,
    load,
    output_file,
    read_motion,
    tell_undeformed,
)
from gough.cli.terminal import err, finishing, print_json, say


def command(
    name: RobotArgument,
    motion: MotionArgument,
    output: Annotated[Path, output_file("motion file, .csv or .nc", TABLES)],
    samples: Samples = None,
    json: Json = False,
) -> None:
    """The nearest poses that limits allow.

    To those of a motion, with what was in the way.

    Poses are written at rest, one for each sample: they are wishes, not a motion any more.

    Example: gough clamp sinatra-xi-staicu-2009 sinatra-xi-staicu-2009/vertical -o poses.csv
    """
    from gough.data.motion_files import write_motion
    from gough.motion import Motion

    robot = load(name)
    tell_undeformed(robot)
    wished = read_motion(motion, samples, robot)
    with err.status("clamping …"):
        found = robot.clamp(Motion(wished.position, wished.rotation))
    with finishing(output):
        write_motion(found.motion, output)
    changed = int((found.distance > 0).sum())
    farthest = float(found.distance.max(initial=0.0))
    times = {str(one): int((found.which == i).sum()) for i, one in enumerate(found.limits)}
    if json:
        result = {"output": str(output), "samples": found.distance.size, "clamped": changed}
        print_json(result | {"farthest": farthest, "limits": times})
        return
    say(f"{output}: {changed} of {counted(found.distance.size, 'pose')} clamped")
    if changed:
        say(f"farthest by {farthest:.6g} m")
    for limit, count in sorted(times.items(), key=lambda pair: -pair[1]):
        say(f"{limit}: {counted(count, 'pose')}")
