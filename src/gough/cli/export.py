"""`gough export`: a command of its own for each language."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gough.cli.arguments import (
    RobotArgument,
    load,
    load_rigid,
    output_file,
    output_folder,
    tell_rigid_legs,
)
from gough.cli.help import Command, CommandGroup
from gough.cli.terminal import note, say, say_written

if TYPE_CHECKING:
    from gough.robot import Robot

command = typer.Typer(
    cls=CommandGroup,
    add_completion=False,
    help="A robot for other programs: C, FMU, MJCF, URDF; washout in C.",
)


@command.callback()
def _several() -> None: ...


@command.command(cls=Command)
def c(
    name: RobotArgument,
    output: Annotated[Path, output_folder("folder for the C files")],
    single: Annotated[bool, typer.Option("--float", help="float in place of double")] = False,
    program: Annotated[
        list[str] | None, typer.Option(help="one program, may be given again; default: all")
    ] = None,
) -> None:
    """Portable C99 with header, test program and Makefile; needs nothing but math.h.

    Example: gough export c kim-ryu-2002 -o kim && make -C kim test
    """
    from gough.exchange.c import export_c

    real = "float" if single else "double"
    folder = export_c(_with_rigid_legs(name), output, programs=program or None, real=real)
    say(f"{folder}: make -C {folder} test")


@command.command(cls=Command)
def mjcf(
    name: RobotArgument,
    output: Annotated[Path, output_file("XML file", kinds=(".xml",))],
) -> None:
    """MuJoCo's format: bodies, joints, loops, motors, sensors, and home as a keyframe.

    Example: gough export mjcf kim-ryu-2002 -o kim.xml
    """
    from gough.exchange.mjcf import export_mjcf

    for line in export_mjcf(_with_rigid_legs(name, output), output):
        note(line)
    say_written(output)


@command.command(cls=Command)
def urdf(
    name: RobotArgument,
    output: Annotated[Path, output_file("URDF file; a YAML file goes beside it", kinds=(".urdf",))],
) -> None:
    """URDF, for Pinocchio and ROS, and its loops in YAML as toolbox-parallel-robots reads them.

    Example: gough export urdf kim-ryu-2002 -o kim.urdf
    """
    from gough.exchange.urdf import SIDECAR, export_urdf

    beside = output.with_suffix(SIDECAR)
    for line in export_urdf(_with_rigid_legs(name, output, beside), output):
        note(line)
    say_written(output)
    say_written(beside)


@command.command(cls=Command)
def fmu(
    name: RobotArgument,
    output: Annotated[Path, output_file("the file, .fmu", kinds=(".fmu",))],
    fmi: Annotated[int, typer.Option(help="version of the standard, 2 or 3")] = 2,
    inverse: Annotated[bool, typer.Option("--inverse", help="motion in, forces out")] = False,
    reactions: Annotated[
        bool, typer.Option("--reactions", help="forces and moments in the joints as outputs")
    ] = False,
    sources_only: Annotated[
        bool, typer.Option("--sources-only", help="no binary, which takes a C compiler")
    ] = False,
) -> None:
    """A functional mock-up unit for other simulators: co-simulation and model exchange.

    Example: gough export fmu kim-ryu-2002 -o kim.fmu --fmi 3
    """
    from gough.exchange.fmu import export_fmu
    from gough.exchange.fmu.parameters import WIDTH, with_width

    robot = _with_rigid_legs(name, output)
    path = export_fmu(
        robot,
        output,
        fmi=fmi,
        inverse=inverse,
        reactions=reactions,
        sources_only=sources_only,
    )
    if not inverse and with_width(robot) is not robot:
        note(
            f"Coulomb friction without width has one of {WIDTH:g} m/s and rad/s in the FMU, which an "
            "integrator can pass; the key width of the robot file sets another"
        )
    say(f"{path}: FMI {fmi}.0, co-simulation and model exchange")


@command.command(cls=Command)
def washout(
    name: RobotArgument,
    output: Annotated[Path, output_folder("folder for the C files")],
    step: Annotated[float, typer.Option(metavar="S", help="between calls")] = 0.01,
    gain: Annotated[float, typer.Option(help="of all displacements; gough cue finds it")] = 1.0,
    translation: Annotated[
        float, typer.Option(metavar="HZ", help="break frequency of accelerations")
    ] = 0.1,
    rotation: Annotated[
        float, typer.Option(metavar="HZ", help="break frequency of turn rates")
    ] = 0.1,
    tilt: Annotated[float, typer.Option(metavar="HZ", help="break frequency of tilting")] = 0.3,
    tilt_rate: Annotated[float, typer.Option(metavar="DEG/S", help="fastest tilting")] = 3.0,
    single: Annotated[bool, typer.Option("--float", help="float in place of double")] = False,
) -> None:
    """The classical washout of gough cue in real time: portable C99, a sample per call.

    Example: gough export washout simulator.toml -o washout --step 0.005 && make -C washout test
    """
    from gough.cueing import Washout, export_washout

    asked = Washout(translation=translation, rotation=rotation, tilt=tilt, tilt_rate=tilt_rate)
    real = "float" if single else "double"
    folder = export_washout(load_rigid(name), output, asked, step=step, gain=gain, real=real)
    say(f"{folder}: make -C {folder} test")


def _with_rigid_legs(name: str, *written: Path) -> Robot:
    """A robot for programs whose legs do not bend."""
    robot = load(name, *written)
    tell_rigid_legs(robot)
    return robot
