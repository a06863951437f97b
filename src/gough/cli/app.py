"""The command line: robots, motions and forces without a line of Python."""

from __future__ import annotations

import io
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gough.cli.analysis import postures, singularities
from gough.cli.demo import demo
from gough.cli.report import report
from gough.cli.simulate import simulate
from gough.cli.size import size
from gough.cli.stiffness import stiffness
from gough.cli.studio import studio
from gough.cli.study import study
from gough.cli.terminal import (
    Json,
    MotionArgument,
    ResultFile,
    RobotArgument,
    Samples,
    command_line,
    err,
    in_a_folder,
    in_parts,
    load,
    motion_names,
    out,
    plain,
    print_json,
    read_motion,
    say,
    warn_of_limits,
)
from gough.cli.workspace import workspace
from gough.errors import GoughError

if TYPE_CHECKING:
    from gough.model.limits import Report

app = typer.Typer(
    name="gough",
    epilog="Start with: gough list · gough show kim-ryu-2002 · "
    "gough forces kim-ryu-2002 kim-ryu-2002/circle-40rpm -o forces.csv",
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:
    if wanted:
        from gough import __version__

        say(f"gough {__version__}")
        raise typer.Exit


@app.callback()
def _everywhere(
    version: Annotated[
        bool,
        typer.Option("--version", help="print the version", callback=_version, is_eager=True),
    ] = False,
) -> None:
    """Parallel robots (hexapods): geometry, kinematics and dynamics from a robot file."""


@app.command(name="list")
def list_(json: Json = False) -> None:
    """Robots and motions that come with gough.

    Example: gough list
    """
    from rich.table import Table

    from gough.data.paper_motions import MOTIONS
    from gough.description.files import catalogue, parse, read_text

    files = {name: parse(*read_text(name)) for name in catalogue()}
    if json:
        robots = [
            {"name": name, "kind": one.legs.kind, "legs": len(one.legs.platform)}
            | {"source": one.source}
            for name, one in files.items()
        ]
        print_json({"robots": robots, "motions": list(MOTIONS)})
        return
    table = Table("robot", "legs", "source", box=None, pad_edge=False, header_style="bold")
    for name, one in files.items():
        table.add_row(name, f"{len(one.legs.platform)} {one.legs.kind}", one.source)
    out.print(table)
    out.print("\n[bold]motions[/bold]")
    for name in MOTIONS:
        out.print(f"  {name}")


@app.command()
def show(robot: RobotArgument, json: Json = False) -> None:
    """A readable sheet of a robot: geometry, masses, checks, home pose, condition number.

    Example: gough show kim-ryu-2002
    """
    from gough.show.sheet import print_sheet, sheet_numbers

    machine = load(robot)
    if json:
        print_json(sheet_numbers(machine))
    else:
        print_sheet(machine, out)


@app.command()
def kinematics(
    robot: RobotArgument,
    motion: MotionArgument,
    output: ResultFile,
    samples: Samples = 601,
    json: Json = False,
) -> None:
    """What every leg does along a motion: coordinates, rates, accelerations, joint angles.

    Example: gough kinematics kim-ryu-2002 kim-ryu-2002/circle-40rpm -o legs.csv
    """
    from gough.data.datasets import leg_dataset, write_dataset

    machine, states = load(robot), read_motion(motion, samples)
    legs = in_parts("kinematics", machine.inverse_kinematics, states)
    found, checked = leg_dataset(machine, states, legs), machine.check(states)
    write_dataset(found.assign_attrs(_made(found.attrs, checked)), output)
    count = states.shape[0] if states.shape else 1
    if json:
        result = {"output": str(output), "samples": count}
        print_json(result | _violations(checked))
    else:
        say(f"{output}: {count} samples")
    warn_of_limits(checked)


@app.command()
def forces(
    robot: RobotArgument,
    motion: MotionArgument,
    output: ResultFile,
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
    json: Json = False,
) -> None:
    """The forces and powers that the actuators need for a motion.

    Example: gough forces kim-ryu-2002 kim-ryu-2002/circle-40rpm -o forces.csv --contributions
    """
    from gough.data.datasets import force_dataset, write_dataset
    from gough.show.plots import contribution_curves, force_curves, save

    machine, states = load(robot), read_motion(motion, samples)
    needed = in_parts("forces", machine.inverse_dynamics, states, friction=friction)
    split = joints = None
    if contributions:
        split = in_parts("contributions", machine.contributions, states, friction=friction)
    if reactions:
        joints = in_parts("reactions", machine.reactions, states, friction=friction)
    found, checked = force_dataset(machine, states, needed, split, joints), machine.check(states)
    write_dataset(found.assign_attrs(_made(found.attrs, checked)), output)
    picture = plot or output.with_suffix(".png")
    if states.shape:
        figure = force_curves(states, needed)
        if split is not None:
            figure = contribution_curves(states, split)
        save(figure, picture)
    largest, power = abs(needed.forces).max(initial=0.0), abs(needed.power).max(initial=0.0)
    count = states.shape[0] if states.shape else 1
    if json:
        result: dict[str, Any] = {"output": str(output)}
        result |= {"picture": str(picture) if states.shape else None, "samples": count}
        result |= {"largest_force": largest, "largest_power": power}
        print_json(result | _violations(checked))
    else:
        say(f"{output}: {count} samples")
        say(f"largest force {largest:.6g} N, largest power {power:.6g} W")
        if states.shape:
            say(str(picture))
    warn_of_limits(checked)


def _made(known: dict[Any, Any], checked: Report) -> dict[str, str]:
    """What a result file says of itself: title, program, command, limits exceeded."""
    from gough import __version__

    made = {"source": f"gough {__version__}", "history": command_line(), "limits": str(checked)}
    return {**known, **made}


def _violations(checked: Report) -> dict[str, Any]:
    return {"ok": checked.ok, "violations": [one._asdict() for one in checked.violations]}


@app.command()
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            help="kim-ryu-2002, sinatra-xi-staicu-2009, khalil-guegan-2004, "
            "long-khalil-martinet-2014 or all",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="folder for page and figures")] = (
        Path("reproduction")
    ),
) -> None:
    """Redo a paper's tables and figures; says what agrees, what does not, and where it is wrong.

    Example: gough reproduce kim-ryu-2002 -o kim
    """
    from gough.show.reproduction import print_claims, run

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the claims say what is odd about a paper's robot
        with err.status("…") as status:
            found = run(name, output, lambda message: status.update(message))
    for one in found:
        print_claims(one, out)
    say(f"\npage: {output / (name + '.html')}")
    say(f"figures: {output / 'figures'}")


@app.command()
def draw(
    robot: RobotArgument,
    motion: Annotated[
        str | None,
        typer.Argument(
            metavar="MOTION", help="draw its path and first pose", autocompletion=motion_names
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help=".png, .svg or .pdf", callback=in_a_folder)
    ] = Path("robot.png"),
) -> None:
    """Draw a robot in 3-D, at home or along a motion.

    Example: gough draw sinatra-xi-staicu-2009 -o hexapod.svg
    """
    from gough.show.plots import draw as draw_robot
    from gough.show.plots import save

    machine = load(robot)
    save(draw_robot(machine, None if motion is None else read_motion(motion, 201)), output)
    say(str(output))


@app.command()
def modes(
    robot: RobotArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="picture of the shapes: .png, .svg, .pdf", callback=in_a_folder
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Modes of a flexible platform: frequencies, stiffness, damping, and a picture of the shapes.

    Example: gough modes long-khalil-martinet-2014 -o modes.png
    """
    from gough.errors import MissingDataError
    from gough.show.mode_sheet import mode_numbers, print_modes

    machine = load(robot)
    body = machine.description.modal
    if body is None:
        raise MissingDataError(
            f"{machine.name} has a rigid platform: [platform.plate] or [platform.modes] makes it bend"
        )
    if json:
        print_json(mode_numbers(body))
    else:
        print_modes(body, machine.name, out)
    if output is not None:
        from gough.show.pictures.modes import mode_sheet
        from gough.show.plots import save

        save(mode_sheet(body, machine.name), output)
        say(str(output), err if json else out)


export = typer.Typer(help="A robot's equations for other programs.")
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
    from gough.exchange.export import export_c

    real = "float" if single else "double"
    folder = export_c(load(robot), output, programs=program or None, real=real)
    say(f"{folder}: make -C {folder} test")


@app.command()
def ops(robot: RobotArgument, json: Json = False) -> None:
    """Operations a state of the inverse and direct models, beside Khalil & Guegan's Table IV.

    Example: gough ops long-khalil-martinet-2014
    """
    from gough.show.operation_table import operation_rows, print_operations

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # grouped parameters are no real bodies
        rows = operation_rows(load(robot))
    if json:
        print_json({"counts": rows})
    else:
        print_operations(rows, out)


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
    json: Json = False,
) -> None:
    """Base inertial parameters: what of the bodies the forces depend on, grouping relations, values.

    Of a flexible platform also stiffness and damping of its modes.

    Example: gough parameters kim-ryu-2002 --assume symmetric
    """
    from gough.show.parameter_tables import find, print_parameters, to_json

    machine = load(robot)
    found = find(machine, friction, assume)
    if json:
        print_json(to_json(machine, found))
    else:
        print_parameters(machine, found, out)


@app.command()
def doctor(json: Json = False) -> None:
    """What gough runs on here: engine, processor, threads, kernel cache, extras; checks itself.

    Example: gough doctor
    """
    from gough.cli.doctor import print_report
    from gough.cli.doctor import report as look

    if json:
        found = look()
        ok = all(one.ok for one in found)
        print_json({"ok": ok, "findings": [one._asdict() for one in found]})
    else:
        ok = print_report(out)
    if not ok:
        raise typer.Exit(1)


@app.command()
def schema() -> None:
    """JSON Schema of robot files, for editors.

    Example: gough schema > robot.schema.json
    """
    from gough.description.schema import json_schema

    print_json(json_schema())


ANALYSES = (postures, singularities, workspace, stiffness, size, study)
for command in (*ANALYSES, simulate, report, studio, demo):
    app.command()(command)


def main() -> None:
    """Entry point: errors are one line on stderr and exit code 2, Ctrl-C is 130."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a sign shows another
            stream.reconfigure(errors="replace")
    try:
        code = app(sys.argv[1:] or ["--help"], prog_name="gough", standalone_mode=False)
        sys.stdout.flush()
    except GoughError as error:
        code = _fail(str(error))
    except UsageError as error:
        code = _fail(_usage(error))
    except BrokenPipeError:  # the reader has seen enough: | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except OSError as error:
        code = _fail(f"{error.filename or 'file'}: {error.strerror or error}")
    except MemoryError as error:
        code = _fail(f"out of memory: {error}" if str(error) else "out of memory")
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    sys.exit(code if isinstance(code, int) else 0)


UsageError: type[Exception] = next(
    one for one in typer.BadParameter.__mro__ if one.__name__ == "ClickException"
)
"""What the parser raises; typer brings its own click or uses the installed one."""


def _usage(error: Any) -> str:
    """What is wrong with a command line, and where to look."""
    context = getattr(error, "ctx", None)
    path = "gough" if context is None else context.command_path
    return f"{error.format_message().rstrip('.')}; see {path} --help"


def _fail(message: str) -> int:
    print(f"gough: {plain(' '.join(message.split()))}", file=sys.stderr)
    return 2


from gough.cli import identification as _identification  # noqa: E402, F401 (they register themselves)
