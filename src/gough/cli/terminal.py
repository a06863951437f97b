"""What all commands share: consoles, arguments, robots and motions by name, JSON, progress."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from gough.errors import FileError, InputError

if TYPE_CHECKING:
    from rich.progress import Progress

    from gough.model.limits import Report
    from gough.motion import Motion
    from gough.robot import Robot

out = Console()
err = Console(stderr=True)
MOST_SAMPLES = 100_000_000
PART = 20_000
"""Samples of a long motion between two steps of the progress bar."""


def robot_names(incomplete: str) -> list[str]:
    """Catalogue names for the shell; it completes paths by itself."""
    from gough.description.files import catalogue

    return [name for name in catalogue() if name.startswith(incomplete)]


def motion_names(incomplete: str) -> list[str]:
    """The papers' motions for the shell; it completes paths by itself."""
    from gough.data.paper_motions import MOTIONS

    return [name for name in MOTIONS if name.startswith(incomplete)]


def in_a_folder(path: Path | None) -> Path | None:
    """A file to write, refused before anything is computed for it if its folder is not there."""
    from gough.description import files

    if path is not None and files.in_a_folder(path).is_dir():
        raise FileError(f"{path}: a folder; a file is needed")
    return path


ROBOT_HELP = "catalogue name or path to a robot file (TOML)"
MOTION_HELP = "motion file (.csv, .nc) or a paper's motion by name"
RobotArgument = Annotated[
    str, typer.Argument(metavar="ROBOT", help=ROBOT_HELP, autocompletion=robot_names)
]
MotionArgument = Annotated[
    str, typer.Argument(metavar="MOTION", help=MOTION_HELP, autocompletion=motion_names)
]
Samples = Annotated[
    int, typer.Option(metavar="N", help="samples of a paper's motion", min=2, max=MOST_SAMPLES)
]
ResultFile = Annotated[
    Path, typer.Option("--output", "-o", help="result file, .nc or .csv", callback=in_a_folder)
]
Json = Annotated[bool, typer.Option("--json", help="all numbers as JSON on standard output")]


def print_json(data: Any) -> None:
    """Strict JSON on standard output: numbers that are not finite are null."""
    import json

    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(json.dumps(strict(data), indent=2, ensure_ascii=not unicode, allow_nan=False))


def strict(data: Any) -> Any:
    """Plain lists, dictionaries, texts and finite numbers."""
    if isinstance(data, dict):
        return {str(key): strict(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [strict(value) for value in data]
    if isinstance(data, bool | str | None):
        return data
    if hasattr(data, "tolist"):
        return strict(data.tolist())
    if isinstance(data, float):
        return data if abs(data) < float("inf") else None
    return data if isinstance(data, int) else str(data)


def load(name: str) -> Robot:
    """A robot; what it warns of goes to stderr, a line each."""
    robot, warned = load_with_warnings(name)
    for one in warned:
        warn(one)
    return robot


def load_with_warnings(name: str) -> tuple[Robot, list[str]]:
    """A robot, and what it warns of."""
    from gough.robot import load as load_robot

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = load_robot(name)
    return robot, [str(one.message) for one in caught]


def load_rigid(name: str) -> Robot:
    """A robot for what knows rigid platforms only; says so where the platform bends."""
    robot = load(name)
    if robot.modes:
        note(f"{robot.name} has a flexible platform, taken as rigid here")
    return robot.rigid


def read_motion(name: str, samples: int) -> Motion:
    """A motion from a file, or a paper's by its name."""
    from gough.data.paper_motions import MOTIONS, paper_motion

    if name in MOTIONS:
        return paper_motion(name).sample(samples)
    if not Path(name).suffix and not Path(name).exists():
        paper_motion(name)  # raises with the nearest name
    from gough.data.motion_files import read_motion as read

    return read(name)


def plain(text: str) -> str:
    """Text without what would steer the terminal: names in files may hold anything."""
    return "".join(one if one.isprintable() or one == "\n" else "�" for one in text)


def say(text: str, console: Console = out) -> None:
    """A line as it is, on standard output if not told otherwise."""
    console.print(plain(text), markup=False, highlight=False, soft_wrap=True)


def note(text: str) -> None:
    """A remark on standard error."""
    say(f"note: {text}", err)


def warn(text: str) -> None:
    """A warning on standard error."""
    line = plain(f"warning: {text}")
    err.print(line, style="yellow", markup=False, highlight=False, soft_wrap=True)


def numbers_of(name: str, text: str, count: int) -> list[float]:
    """So many finite numbers of an option, with commas between them."""
    from math import isfinite

    try:
        values = [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise InputError(f"{name} is {text!r}, needs numbers with commas between them") from None
    if len(values) != count or not all(map(isfinite, values)):
        raise InputError(
            f"{name} is {text!r}, needs {count} finite number{'s' if count > 1 else ''}"
        )
    return values


def progress_bar(*columns: Any) -> Progress:
    """A bar on standard error that goes when all is done; none where nobody watches."""
    from rich.progress import Progress

    return Progress(*columns, console=err, transient=True, disable=not err.is_terminal)


def in_parts(label: str, model: Any, motion: Motion, **inputs: Any) -> Any:
    """Run a model over parts of a long motion behind a progress bar, and join the results."""
    import dataclasses

    import numpy as np
    from rich.progress import Progress, TimeRemainingColumn

    if not motion.shape or len(motion) <= PART:
        return model(motion, **inputs)
    parts = []
    columns = (*Progress.get_default_columns()[:-1], TimeRemainingColumn())
    with progress_bar(*columns) as progress:
        for start in progress.track(range(0, len(motion), PART), description=label):
            parts.append(model(motion[start : start + PART], **inputs))
    joined = {}
    for item in dataclasses.fields(parts[0]):
        values = [getattr(part, item.name) for part in parts]
        joined[item.name] = None if values[0] is None else np.concatenate(values)
    return type(parts[0])(**joined)


def warn_of_limits(report: Report) -> None:
    """A line on standard error for each limit that is exceeded."""
    for violation in report.violations:
        warn(str(violation))


def command_line() -> str:
    """What was typed, for the record in a result file."""
    import shlex

    return shlex.join(["gough", *sys.argv[1:]])
