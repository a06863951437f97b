"""`gough kinematics`."""

from __future__ import annotations

from gough.cli.arguments import (
    Json,
    MotionArgument,
    ResultFile,
    RobotArgument,
    Samples,
    load,
    read_motion,
)
from gough.cli.results import in_parts, joined, violations, warn_of_limits, write_result
from gough.cli.terminal import print_json, say


def command(
    name: RobotArgument,
    motion: MotionArgument,
    output: ResultFile,
    samples: Samples = 601,
    json: Json = False,
) -> None:
    """What every leg does along a motion: coordinates and joints.

    Coordinates, rates and accelerations, and the angles of its joints.

    Example: gough kinematics kim-ryu-2002 kim-ryu-2002/circle-40rpm -o legs.csv
    """
    from gough.data.datasets import leg_dataset

    robot, states = load(name), read_motion(motion, samples)
    legs = joined(in_parts("kinematics", robot.inverse_kinematics, states))
    checked = robot.check(states)
    write_result(leg_dataset(robot, states, legs), checked, output)
    count = states.shape[0] if states.shape else 1
    if json:
        print_json({"output": str(output), "samples": count} | violations(checked))
    else:
        say(f"{output}: {count} samples")
    warn_of_limits(checked)
