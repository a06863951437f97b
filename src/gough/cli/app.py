"""The command line: every command is a file of this folder, loaded when it is asked for.

Such a file has a function `command`, whose first line of words is the command's line in
`gough --help` (`GROUPS`). What it takes to load, NumPy above all, it imports when it runs.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import zip_longest
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from gough.cli.help import Command, print_help, taken
from gough.errors import GoughError

GROUPS = {
    "See a robot": {
        "list": "Robots and motions that come with gough.",
        "new": "A file to start from: robot, motion, simulation, study, log.",
        "show": "A robot's sheet: geometry, masses, limits, home pose, checks.",
        "draw": "Draw a robot: at home, in a pose, along a motion; or film it.",
        "report": "A page about a robot or a result: sheet, drawings, curves.",
        "studio": "The robot in the browser: move it, play motions, see forces.",
    },
    "Along a motion": {
        "kinematics": "What every leg does along a motion: coordinates and joints.",
        "forces": "The forces and powers that the actuators need for a motion.",
        "retime": "The same path as fast as limits allow.",
        "cue": "A recorded vehicle as a motion that the platform can make.",
        "simulate": "Simulate a robot under control, as a file describes it.",
    },
    "Where it can go, and how well": {
        "workspace": "Where a robot can go from home within its limits.",
        "room": "How far a pose can go each way, until which limit.",
        "clamp": "The nearest poses that limits allow.",
        "postures": "Every posture for one set of leg coordinates, certified.",
        "singularities": "How near singularities are, at home or along a motion.",
        "stiffness": "How stiff and how exact the tool is; frequencies, errors.",
        "modes": "Modes of a flexible platform: frequencies, damping, shapes.",
    },
    "Design": {
        "size": "Size the drives over motions, or for the worst of a region.",
        "study": "Sweep, sample or optimise numbers of a robot file.",
    },
    "From measurements": {
        "pose": "The pose over time, and its rates, from a log of encoders.",
        "calibrate": "A robot's true geometry from poses; or poses to measure.",
        "parameters": "Base inertial parameters: what the forces depend on.",
        "excite": "A motion that shows every parameter, within the limits.",
        "identify": "A robot's parameters from its log, each with its deviation.",
    },
    "Papers": {
        "demo": "A page to show: papers reproduced, speed on this machine.",
        "reproduce": "Redo a paper's tables and figures; says what agrees.",
        "ops": "Operations per state, beside Khalil & Guegan's Table IV.",
    },
    "Other programs, this installation": {
        "convert": "A robot file from another program's: MuJoCo's MJCF, URDF.",
        "export": "A robot for other programs: C, FMU, MJCF, URDF; washout in C.",
        "schema": "JSON Schema of robot files, for editors.",
        "doctor": "What gough runs on here; checks itself.",
    },
}
"""Commands as a newcomer meets them, each with the first line of its own help: no file is loaded."""


START = (
    "gough list",
    "gough show kim-ryu-2002",
    "gough new hexapod -o my.toml",
    "gough forces kim-ryu-2002 kim-ryu-2002/circle-40rpm -o forces.csv",
    "gough forces --help",
)


ENDING = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
"""Signals that ask a command to end: of a system, and of a terminal that is closed."""
LONGEST = 2000
"""Characters of an error: what it quotes may be as long as it likes."""


class Files(Mapping[str, Any]):
    """The commands by name, in the order of GROUPS, each made when it is first asked for."""

    def __init__(self) -> None:
        self.names = [name for names in GROUPS.values() for name in names]
        self.made: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> Any:
        if name not in self.names:
            raise KeyError(name)
        if name not in self.made:
            found = written(name)
            if not isinstance(found, typer.Typer):
                found = typer.Typer(add_completion=False)
                found.command(name, cls=Command)(written(name))
            self.made[name] = typer.main.get_command(found)
            self.made[name].name = name
        return self.made[name]


def written(name: str) -> Any:
    """What the file of a command has: a function, or several commands under one name."""
    return import_module(f"gough.cli.{name}").command


class Commands(TyperGroup):
    """`gough` itself."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = Files()

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names; no file is loaded for them."""
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the commands in their groups, then options, then what to start with."""
        panels = {group: [*lines.items()] for group, lines in GROUPS.items()}
        options = {"Options": taken(self, ctx, "option")}
        print_help(
            "gough COMMAND …", str(self.help), panels | options, max(map(len, self.commands))
        )
        for label, example in zip_longest([" Start with:"], START, fillvalue=""):
            print(f"{label:12} {example}")


app = typer.Typer(name="gough", cls=Commands, pretty_exceptions_enable=False)


def _version(wanted: bool) -> None:
    if wanted:
        from gough.base.version import VERSION

        print(f"gough {VERSION}")
        raise typer.Exit


@app.callback()
def _everywhere(
    version: Annotated[
        bool,
        typer.Option("--version", help="print the version", callback=_version, is_eager=True),
    ] = False,
) -> None:
    """Parallel robots: geometry, kinematics and dynamics from a robot file."""


def main() -> None:
    """Entry point: errors are one line on stderr and exit code 2, Ctrl-C is 130."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started this
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  # to the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a sign shows another
            stream.reconfigure(errors="replace")
    alone = threading.current_thread() is threading.main_thread()
    before = {one: signal.getsignal(one) for one in ENDING} if alone else {}
    heard = {one: known for one, known in before.items() if known not in (None, signal.SIG_IGN)}
    for one in heard:  # not SIGHUP where nohup has it ignored
        signal.signal(one, _terminated)
    unraisable, sys.unraisablehook = sys.unraisablehook, _once_more
    try:
        code = app(sys.argv[1:] or ["--help"], prog_name="gough", standalone_mode=False)
        sys.stdout.flush()
    except GoughError as error:
        code = _fail(str(error))
    except UsageError as error:
        code = _fail(_usage(error))
    except BrokenPipeError:  # the reader has seen enough: | head
        _give_up_output()
        code = 1
    except OSError as error:
        code = _fail(f"{error.filename or _nameless(error)}: {error.strerror or error}")
    except MemoryError as error:
        code = _fail(f"out of memory: {error}" if str(error) else "out of memory")
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    finally:
        sys.unraisablehook = unraisable
        for one, known in heard.items():
            signal.signal(one, known)
    sys.exit(code if isinstance(code, int) else 0)


def _nameless(error: OSError) -> str:
    """What an error is about that names no file: those that are written are named before."""
    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
        return "system"
    _give_up_output()
    return "standard output"


def _give_up_output() -> None:
    """Let what is left of standard output go nowhere: Python would complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _terminated(number: int, frame: object) -> None:
    """A polite kill ends a command as an error does: what it was writing is cleared away.

    Meanwhile another one changes nothing: systems send both signals, one after the other.
    """
    for one in ENDING:  # ignored, one that came together with this would be told as a fault
        signal.signal(one, lambda *_: None)
    raise SystemExit(128 + number)


def _once_more(told: sys.UnraisableHookArgs) -> None:
    """Let a signal come again that met a destructor, where Python can raise nothing."""
    if isinstance(told.exc_value, KeyboardInterrupt):
        number = int(signal.SIGINT)
    elif isinstance(told.exc_value, SystemExit) and isinstance(told.exc_value.code, int):
        number = told.exc_value.code - 128
        signal.signal(number, _terminated)
    else:
        sys.__unraisablehook__(told)
        return
    threading.Timer(0.01, os.kill, (os.getpid(), number)).start()


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
    from gough.cli.terminal import plain

    line = plain(" ".join(message.split()))
    if len(line) > LONGEST:
        line = f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"
    print(f"gough: {line}", file=sys.stderr)
    return 2
