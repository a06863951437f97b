"""`gough forces`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    Smooth,
    Strict,
    Units,
    Within,
    deflecting,
    file_to_write,
    load,
    picture_beside,
    read_motion,
    smoothing,
)
from gough.cli.help import apart
from gough.cli.results import (
    end_strictly,
    in_parts,
    joined,
    violations,
    warn_of_limits,
    write_result,
)
from gough.cli.terminal import note, print_json, say, say_written

if TYPE_CHECKING:
    import xarray


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
    samples: Samples = None,
    units: Units = "",
    columns: ColumnNames = "",
    smooth: Smooth = False,
    within: Within = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """The forces and powers that the actuators need for a motion.

    As .nc all is in one file. As .csv what --contributions and --reactions add are tables of their own
    beside it: forces-contributions.csv, forces-reactions.csv.

    Example: gough forces kim-ryu-2002 kim-ryu-2002/circle-40rpm -o forces.csv --contributions
    """
    from gough.data.datasets import force_dataset
    from gough.legs.reading import by_units
    from gough.show.plots import contribution_curves, force_curves, save

    picture = picture_beside(plot, output)
    robot = load(name, output, picture)
    read = read_motion(motion, samples, robot, units, columns, smooth=smoothing(smooth, within))
    states = deflecting(robot, read, commanded, friction)

    def over_motion(label: str, model: Any) -> Any:
        return joined(in_parts(label, partial(model, friction=friction), states))

    if robot.sprung.any():
        note("forces before the compliant drives, whose rotors follow the force in their springs")
        needed = robot.drive_forces(states, friction=friction)
    else:
        needed = over_motion("forces", robot.inverse_dynamics)
    split = over_motion("contributions", robot.contributions) if contributions else None
    joints = over_motion("reactions", robot.reactions) if reactions else None
    checked = robot.check(states)
    whole = force_dataset(robot, states, needed, split, joints)
    tables = _tables(whole, output)
    for path, names in tables.items():
        apart(path, motion, False)
        write_result(whole[names], checked, path)
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
    warn_of_limits(checked)
    count = states.shape[0] if states.shape else 1
    if json:
        result: dict[str, Any] = {"output": str(output), "tables": [str(one) for one in tables]}
        result |= {"picture": str(picture) if states.shape else None, "samples": count}
        result |= {"largest_force": max(largest.values()), "largest_power": power}
        result |= {"largest_forces": largest} if len(largest) > 1 else {}
        print_json(result | violations(checked))
    else:
        say(f"{', '.join(map(str, tables))}: {counted(count, 'sample')}")
        forces = " and ".join(f"{value:.6g} {unit}" for unit, value in largest.items())
        say(f"largest force {forces}, largest power {power:.6g} W")
        if states.shape:
            say_written(picture)
    end_strictly(checked, strict)


def _tables(whole: xarray.Dataset, output: Path) -> dict[Path, list[str]]:
    """Files to write, and the variables of each: of a .csv causes and joints are tables of their own."""
    names = [str(one) for one in whole.data_vars]
    if output.suffix.lower() != ".csv":
        return {output: names}
    causes = [one for one in names if one.startswith("force_")]
    joints = [one for one in names if one not in ("force", "power", *causes)]
    found = {output: ["force", "power"]}
    for words, some in (("contributions", causes), ("reactions", joints)):
        if some:
            found[output.with_stem(f"{output.stem}-{words}")] = some
    return found
