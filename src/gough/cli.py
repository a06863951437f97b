"""The command line: `gough list`, `show`, `kinematics`, `forces`, `draw`, `reproduce`, `schema`."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from gough.errors import GoughError

if TYPE_CHECKING:
    from gough.motion import Motion
    from gough.robot import Robot

app = typer.Typer(
    name="gough",
    help="Parallel robots (hexapods): geometry, kinematics and dynamics from a robot file.",
    epilog="Start with: gough list · gough show kim-ryu-2002 · "
    "gough forces kim-ryu-2002 kim-ryu-2002/circle-40rpm -o forces.csv",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
out = Console()
err = Console(stderr=True)

RobotArgument = Annotated[
    str, typer.Argument(metavar="ROBOT", help="catalogue name or path to a robot file (TOML)")
]
MotionArgument = Annotated[
    str,
    typer.Argument(metavar="MOTION", help="motion file (.csv, .nc) or a paper's motion by name"),
]
Samples = Annotated[int, typer.Option(help="samples of a paper's motion", min=2)]


@app.command(name="list")
def list_() -> None:
    """Robots and motions that come with gough.

    Example: gough list
    """
    from rich.table import Table

    from gough.files import catalogue
    from gough.paper_motions import MOTIONS

    table = Table("robot", "legs", "source", box=None, pad_edge=False, header_style="bold")
    for name in catalogue():
        robot = _load(name, quiet=True)
        table.add_row(name, f"{robot.leg_count} {robot.kind}", robot.file.source)
    out.print(table)
    out.print("\n[bold]motions[/bold]")
    for name in MOTIONS:
        out.print(f"  {name}")


@app.command()
def show(robot: RobotArgument) -> None:
    """A readable sheet of a robot: geometry, masses, checks, home pose, condition number.

    Example: gough show kim-ryu-2002
    """
    from gough.sheet import print_sheet

    print_sheet(_load(robot), out)


@app.command()
def kinematics(
    robot: RobotArgument,
    motion: MotionArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="result file, .nc or .csv")],
    samples: Samples = 601,
) -> None:
    """What every leg does along a motion: coordinates, rates, accelerations, joint angles.

    Example: gough kinematics kim-ryu-2002 kim-ryu-2002/circle-40rpm -o legs.csv
    """
    from gough.motion_files import leg_dataset, write_dataset

    machine, states = _load(robot), _motion(motion, samples)
    legs = _in_parts("kinematics", machine.inverse_kinematics, states)
    write_dataset(leg_dataset(machine, states, legs), output)
    out.print(f"{output}: {states.shape[0] if states.shape else 1} samples")
    _report_limits(machine, states)


@app.command()
def draw(
    robot: RobotArgument,
    motion: Annotated[
        str | None, typer.Argument(metavar="[MOTION]", help="draw its path and first pose")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help=".png, .svg or .pdf")] = Path(
        "robot.png"
    ),
) -> None:
    """Draw a robot in 3-D, at home or along a motion.

    Example: gough draw sinatra-xi-staicu-2009 -o hexapod.svg
    """
    from gough.plots import draw as draw_robot
    from gough.plots import save

    machine = _load(robot)
    save(draw_robot(machine, None if motion is None else _motion(motion, 201)), output)
    out.print(str(output))


@app.command()
def schema() -> None:
    """JSON Schema of robot files, for editors.

    Example: gough schema > robot.schema.json
    """
    import json

    from gough.schema import json_schema

    print(json.dumps(json_schema(), indent=2, ensure_ascii=False))


def _load(name: str, quiet: bool = False) -> Robot:
    """A robot; what it warns of goes to stderr, a line each."""
    from gough.robot import load

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = load(name)
    if not quiet:
        for warning in caught:
            err.print(
                f"warning: {warning.message}", style="yellow", highlight=False, soft_wrap=True
            )
    return robot


def _motion(name: str, samples: int) -> Motion:
    """A motion from a file, or a paper's by its name."""
    from gough.paper_motions import MOTIONS, paper_motion

    if name in MOTIONS:
        return paper_motion(name).sample(samples)
    if not Path(name).exists() and not Path(name).suffix:
        paper_motion(name)  # raises with the nearest name
    from gough.motion_files import read_motion

    return read_motion(name)


def _in_parts(label: str, model: Any, motion: Motion, **inputs: Any) -> Any:
    """Run a model over parts of a long motion behind a progress bar, and join the results."""
    import dataclasses

    import numpy as np
    from rich.progress import Progress, TimeRemainingColumn

    size = 20_000
    if not motion.shape or len(motion) <= size:
        return model(motion, **inputs)
    parts = []
    columns = (*Progress.get_default_columns()[:-1], TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        for start in progress.track(range(0, len(motion), size), description=label):
            parts.append(model(motion[start : start + size], **inputs))
    joined = {}
    for item in dataclasses.fields(parts[0]):
        values = [getattr(part, item.name) for part in parts]
        joined[item.name] = None if values[0] is None else np.concatenate(values)
    return type(parts[0])(**joined)


def _report_limits(robot: Robot, motion: Motion) -> None:
    report = robot.check(motion)
    for violation in report.violations:
        err.print(f"warning: {violation}", style="yellow", highlight=False, soft_wrap=True)


def main() -> None:
    """Entry point: errors are one line on stderr and exit code 2."""
    try:
        app()
    except GoughError as error:
        message = " ".join(str(error).split())
        print(f"gough: {message}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("gough: interrupted", file=sys.stderr)
        sys.exit(130)
