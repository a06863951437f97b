"""`gough forces`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from gough.base.words import counted
from gough.cli.arguments import (
    PICTURES,
    ColumnNames,
    Commanded,
    Friction,
    Json,
    MotionArgument,
    ResultFile,
    RobotArgument,
    Samples,
    Units,
    deflecting,
    file_to_write,
    load,
    picture_beside,
    read_motion,
)
from gough.cli.results import in_parts, joined, violations, warn_of_limits, write_result
from gough.cli.terminal import print_json, say, say_written


def command(
    name: RobotArgument,
    motion: MotionArgument,
    output: ResultFile,
    friction: Friction = True,
    commanded: Commanded = "frame",
    contributions: Annotated[
        bool, typer.Option("--contributions", help="also the forces split by cause")
    ] = False,
    reactions: Annotated[
        bool, typer.Option("--reactions", help="also the forces and moments in the joints")
    ] = False,
    plot: Annotated[
        Path | None, file_to_write("picture; default: beside the result, .png", kinds=PICTURES)
    ] = None,
    samples: Samples = 601,
    units: Units = "",
    columns: ColumnNames = "",
    json: Json = False,
) -> None:
    """The forces and powers that the actuators need for a motion.

    Example: gough forces kim-ryu-2002 kim-ryu-2002/circle-40rpm -o forces.csv --contributions
    """
    from gough.data.datasets import force_dataset
    from gough.legs.reading import by_units
    from gough.show.plots import contribution_curves, force_curves, save

    picture = picture_beside(plot, output)
    robot = load(name, output, picture)
    states = deflecting(
        robot, read_motion(motion, samples, robot, units, columns), commanded, friction
    )

    def over_motion(label: str, model: Any) -> Any:
        return joined(in_parts(label, partial(model, friction=friction), states))

    if robot.sprung.any():
        say("forces before the compliant drives, whose rotors follow the force in their springs")
        needed = robot.drive_forces(states, friction=friction)
    else:
        needed = over_motion("forces", robot.inverse_dynamics)
    split = over_motion("contributions", robot.contributions) if contributions else None
    joints = over_motion("reactions", robot.reactions) if reactions else None
    checked = robot.check(states)
    write_result(force_dataset(robot, states, needed, split, joints), checked, output)
    if states.shape:
        about: Any = {"actuators": robot.actuators, "limits": robot.limits}
        if split is None:
            save(force_curves(states, needed, **about), picture)
        else:
            save(contribution_curves(states, split, **about), picture)
    largest = {
        units.force: float(abs(needed.forces[..., which]).max(initial=0.0))
        for units, which in by_units(robot.actuators)
    }
    power = abs(needed.power).max(initial=0.0)
    count = states.shape[0] if states.shape else 1
    if json:
        result: dict[str, Any] = {"output": str(output)}
        result |= {"picture": str(picture) if states.shape else None, "samples": count}
        result |= {"largest_force": max(largest.values()), "largest_power": power}
        result |= {"largest_forces": largest} if len(largest) > 1 else {}
        print_json(result | violations(checked))
    else:
        say(f"{output}: {counted(count, 'sample')}")
        forces = " and ".join(f"{value:.6g} {unit}" for unit, value in largest.items())
        say(f"largest force {forces}, largest power {power:.6g} W")
        if states.shape:
            say_written(picture)
    warn_of_limits(checked)
