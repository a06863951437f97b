"""The command line: robots, motions and forces without a line of Python."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from gough.analysis import commands as analysis_commands
from gough.errors import GoughError
from gough.simulate_command import simulate
from gough.studio.command import studio

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

    from gough.files import catalogue, parse, read_text
    from gough.paper_motions import MOTIONS

    table = Table("robot", "legs", "source", box=None, pad_edge=False, header_style="bold")
    for name in catalogue():
        file = parse(*read_text(name))
        table.add_row(name, f"{len(file.legs.platform)} {file.legs.kind}", file.source)
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
    from gough.datasets import leg_dataset, write_dataset

    machine, states = _load(robot), _motion(motion, samples)
    legs = _in_parts("kinematics", machine.inverse_kinematics, states)
    write_dataset(leg_dataset(machine, states, legs), output)
    out.print(f"{output}: {states.shape[0] if states.shape else 1} samples")
    _report_limits(machine, states)


@app.command()
def forces(
    robot: RobotArgument,
    motion: MotionArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="result file, .nc or .csv")],
    friction: Annotated[bool, typer.Option(help="with the friction of the robot file")] = True,
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
) -> None:
    """The forces and powers that the actuators need for a motion.

    Example: gough forces kim-ryu-2002 kim-ryu-2002/circle-40rpm -o forces.csv --contributions
    """
    from gough.datasets import force_dataset, write_dataset
    from gough.plots import contribution_curves, force_curves, save

    machine, states = _load(robot), _motion(motion, samples)
    needed = _in_parts("forces", machine.inverse_dynamics, states, friction=friction)
    split = joints = None
    if contributions:
        split = _in_parts("contributions", machine.contributions, states, friction=friction)
    if reactions:
        joints = _in_parts("reactions", machine.reactions, states, friction=friction)
    write_dataset(force_dataset(machine, states, needed, split, joints), output)
    picture = plot or output.with_suffix(".png")
    if states.shape:
        figure = force_curves(states, needed)
        if split is not None:
            figure = contribution_curves(states, split)
        save(figure, picture)
    largest, power = abs(needed.forces).max(initial=0.0), abs(needed.power).max(initial=0.0)
    out.print(f"{output}: {states.shape[0] if states.shape else 1} samples", highlight=False)
    out.print(f"largest force {largest:.6g} N, largest power {power:.6g} W", highlight=False)
    if states.shape:
        out.print(str(picture), highlight=False)
    _report_limits(machine, states)


@app.command()
def reproduce(
    name: Annotated[
        str, typer.Argument(metavar="PAPER", help="kim-ryu-2002, … or all; see gough list")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="folder for page and figures")] = (
        Path("reproduction")
    ),
) -> None:
    """Redo a paper's tables and figures; says what agrees, what does not, and where it is wrong.

    Example: gough reproduce kim-ryu-2002 -o kim
    """
    from gough.reproduction import print_claims, run

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the claims say what is odd about a paper's robot
        with err.status("…") as status:
            found = run(name, output, lambda message: status.update(message))
    for one in found:
        print_claims(one, out)
    out.print(f"\npage: {output / (name + '.html')}", highlight=False, soft_wrap=True)
    out.print(f"figures: {output / 'figures'}", highlight=False, soft_wrap=True)


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
def modes(
    robot: RobotArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="picture of the shapes: .png, .svg, .pdf")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="the numbers as JSON, all digits")] = False,
) -> None:
    """Modes of a flexible platform: frequencies, stiffness, damping, and a picture of the shapes.

    Example: gough modes long-khalil-martinet-2014 -o modes.png
    """
    from gough.errors import MissingDataError
    from gough.mode_sheet import mode_numbers, print_modes

    machine = _load(robot)
    body = machine.description.modal
    if body is None:
        raise MissingDataError(
            f"{machine.name} has a rigid platform: [platform.plate] or [platform.modes] makes it bend"
        )
    if json:
        from json import dumps

        print(dumps(mode_numbers(body), indent=2, ensure_ascii=False))
    else:
        print_modes(body, machine.name, out)
    if output is not None:
        from gough.mode_plots import mode_sheet
        from gough.plots import save

        save(mode_sheet(body, machine.name), output)
        (err if json else out).print(str(output), highlight=False, soft_wrap=True)


export = typer.Typer(help="A robot's equations for other programs.", no_args_is_help=True)
app.add_typer(export, name="export")


@export.command(name="c")
def export_to_c(
    robot: RobotArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="folder for the C files")],
    single: Annotated[bool, typer.Option("--float", help="float in place of double")] = False,
    program: Annotated[
        list[str] | None, typer.Option(help="one program, may be given again; default: all")
    ] = None,
) -> None:
    """Portable C99 with header, test program and Makefile; needs nothing but math.h.

    Example: gough export c kim-ryu-2002 -o kim && make -C kim test
    """
    from gough.export import export_c

    real = "float" if single else "double"
    folder = export_c(_load(robot), output, programs=program or None, real=real)
    out.print(f"{folder}: make -C {folder} test", highlight=False, soft_wrap=True)


@app.command()
def ops(robot: RobotArgument) -> None:
    """Operations a state of the inverse and direct models, beside Khalil & Guegan's Table IV.

    Example: gough ops long-khalil-martinet-2014
    """
    from rich.table import Table

    from gough.engine.operations import PAPER, count, paper_robot

    headers = (
        "robot",
        "model",
        "kinematics",
        "dynamics",
        "solve",
        "+ −",
        "×",
        "÷",
        "√",
        "total",
        "paper",
    )
    table = Table(*headers, box=None, pad_edge=False, header_style="bold")
    for column in table.columns[2:]:
        column.justify = "right"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # grouped parameters are no real bodies
        machines = [(f"UPS, {n} parameters", paper_robot(n), n) for n in (52, 88)]
    machine = _load(robot)
    if not machine.description.missing:
        machines.append((machine.name, machine, 0))
    for label, one, parameters in machines:
        for model, solver, shown in (
            ("inverse", "qr", "inverse, QR"),
            ("inverse", "lu", "inverse, LU"),
            ("direct", "ldl", "direct, LDLᵀ"),
        ):
            if solver == "lu" and (one.leg_count != 6 or one.modes):
                continue
            found = count(one, model, solver)
            sums = found.kinds["add"] + found.kinds["sub"]
            counts = (found.kinematics, found.dynamics, found.solve, sums)
            kinds = (found.kinds["mul"], found.kinds["div"], found.kinds["sqrt"], found.total)
            paper = PAPER.get((model, parameters), "")
            table.add_row(label, shown, *map(str, (*counts, *kinds, paper)))
    out.print(table)
    out.print(
        "LU without pivoting is counted as in the paper; it is not accurate everywhere, so gough "
        "solves by QR.",
        highlight=False,
    )


@app.command()
def parameters(
    robot: RobotArgument,
    friction: Annotated[
        bool, typer.Option("--friction", help="also viscous and constant Coulomb friction")
    ] = False,
    assume: Annotated[
        str | None,
        typer.Option(help="essential parameters if bodies are off-centre, symmetric or revolution"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="every parameter and term as JSON")] = False,
) -> None:
    """Base inertial parameters: what of the bodies the forces depend on, grouping relations, values.

    Example: gough parameters kim-ryu-2002 --assume symmetric
    """
    from json import dumps

    from gough.parameters.tables import find, print_parameters, to_json

    machine = load_rigid(robot)
    found = find(machine, friction, assume)
    if json:
        print(dumps(to_json(machine, found), indent=2, ensure_ascii=False))
    else:
        print_parameters(machine, found, out)


@app.command()
def doctor() -> None:
    """What gough runs on here: engine, processor, threads, kernel cache, extras; checks itself.

    Example: gough doctor
    """
    from gough.doctor import print_report

    if not print_report(out):
        raise typer.Exit(1)


@app.command()
def schema() -> None:
    """JSON Schema of robot files, for editors.

    Example: gough schema > robot.schema.json
    """
    import json

    from gough.schema import json_schema

    print(json.dumps(json_schema(), indent=2, ensure_ascii=False))


app.command()(simulate)
app.command()(studio)


def load_rigid(name: str) -> Robot:
    """A robot for what knows rigid platforms only; says so where the platform bends."""
    robot = _load(name)
    if robot.modes:
        err.print(
            f"note: {robot.name} has a flexible platform, taken as rigid here", highlight=False
        )
    return robot.rigid


def _load(name: str) -> Robot:
    """A robot; what it warns of goes to stderr, a line each."""
    from gough.robot import load

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = load(name)
    for warning in caught:
        err.print(f"warning: {warning.message}", style="yellow", highlight=False, soft_wrap=True)
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


analysis_commands.register(app, _load, _motion)


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


from gough.commands import identification as _identification  # noqa: E402, F401 (they register themselves)
