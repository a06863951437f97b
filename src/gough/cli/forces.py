"""`gough forces`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from gough.cli.arguments import (
    Friction,
    Json,
    MotionArgument,
    ResultFile,
    RobotArgument,
    Samples,
    load,
    read_motion,
)
from gough.cli.results import in_parts, joined, violations, warn_of_limits, write_result
from gough.cli.terminal import print_json, say, say_written


def command(
    name: RobotArgument,
    motion: MotionArgument,
    output: ResultFile,
    friction: Friction = True,
    contributions: Annotated[
        bool, typer.Option("--contributions", help="also the forces split by cause")
    ] = False,
    reactions: Annotated[
        bool, typer.Option("--reactions", help="also the forces and moments in the joints")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="picture; default: beside the result, .png")
    ] = None,
    samples: Samples = 601,
    json: Json = False,
) -> None:
    """The forces and powers that the actuators need for a motion.

    Example: gough forces kim-ryu-2002 kim-ryu-2002/circle-40rpm -o forces.csv --contributions
    """
    from gough.data.datasets import force_dataset
    from gough.show.plots import contribution_curves, force_curves, save

    robot, states = load(name), read_motion(motion, samples)
    units = robot.leg_kind.units

    def over_motion(label: str, model: Any) -> Any:
        return joined(in_parts(label, partial(model, friction=friction), states))

    needed = over_motion("forces", robot.inverse_dynamics)
    split = over_motion("contributions", robot.contributions) if contributions else None
    joints = over_motion("reactions", robot.reactions) if reactions else None
    checked = robot.check(states)
    write_result(force_dataset(robot, states, needed, split, joints), checked, output)
    picture = plot or output.with_suffix(".png")
    if states.shape:
        if split is None:
            save(force_curves(states, needed, units=units), picture)
        else:
            save(contribution_curves(states, split, units=units), picture)
    largest, power = abs(needed.forces).max(initial=0.0), abs(needed.power).max(initial=0.0)
    count = states.shape[0] if states.shape else 1
    if json:
        result: dict[str, Any] = {"output": str(output)}
        result |= {"picture": str(picture) if states.shape else None, "samples": count}
        result |= {"largest_force": largest, "largest_power": power}
        print_json(result | violations(checked))
    else:
        say(f"{output}: {count} samples")
        say(f"largest force {largest:.6g} {units.force}, largest power {power:.6g} W")
        if states.shape:
            say_written(picture)
    warn_of_limits(checked)
