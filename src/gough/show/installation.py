"""What gough runs on here: engine, processor, threads, kernel cache, extras, and a self-check.

`report()` finds out, `print_report()` shows it: what, the finding, and what to do where something is
wrong or could be better.
"""

from __future__ import annotations

import importlib
import os
import platform
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from gough.base.version import VERSION
from gough.engine.run.threads import threads
from gough.errors import GoughError
from gough.model.execution import numpy_executor
from gough.motion import Motion
from gough.robot import Robot, load
from gough.show.speed import states

CHECKED = ("long-khalil-martinet-2014", "kim-ryu-2002")
"""Robots of the self-check: UPS and PUS."""
STATES = 20_000
AGREEMENT = 1e-9
"""Largest relative difference that the self-check lets pass; rounding gives less than 1e-11."""
LARGE = 500e6
"""Size of a cache, bytes, from which clearing it is worth a word."""


MARKS = "[green]✓[/green]", "[yellow]–[/yellow]"
"""Of what is well, and of what is not but harms nothing."""


class Finding(NamedTuple):
    """One thing looked at."""

    what: str
    finding: str
    advice: str = ""
    """What to do; nothing where all is well."""
    ok: bool = True
    """False where answers are wrong, or slow without need."""


def report() -> list[Finding]:
    """All findings; takes about a second, some more where kernels have to be compiled first."""
    found = [_versions()]
    found += _guarded("engine", _engine)
    found += _guarded("threads", _threads)
    found += _guarded("kernel cache", _cache)
    found += _guarded("extras", _extras)
    for name in CHECKED:
        found += _guarded("self-check", partial(_self_check, name))
    return found


def print_report(console: Console) -> bool:
    """Print the findings; False if something is wrong."""
    with console.status("looking around …"):
        found = report()
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in found:
        mark = "[red]✗[/red]" if not one.ok else MARKS[bool(one.advice)]
        table.add_row(f"{mark} {one.what}", _plain(one.finding))
        if one.advice:
            table.add_row("", f"[yellow]→ {_plain(one.advice)}[/yellow]")
    console.print(table)
    return all(one.ok for one in found)


def _plain(text: str) -> str:
    """Text that rich prints as it is."""
    return text.replace("[", r"\[")


def _guarded(what: str, look: Callable[[], Iterator[Finding]]) -> list[Finding]:
    """Findings, or the error that looking ended with."""
    try:
        return list(look())
    except GoughError as error:
        return [Finding(what, str(error), "see the message", ok=False)]
    except Exception as error:
        advice = "please report this"
        return [Finding(what, f"failed: {type(error).__name__}: {error}", advice, ok=False)]


def _versions() -> Finding:
    parts = [f"{VERSION}", f"Python {platform.python_version()}"]
    parts += [f"{name} {metadata.version(name)}" for name in ("numpy", "scipy")]
    return Finding("gough", ", ".join([*parts, f"{platform.system()} {platform.machine()}"]))


def _compiler() -> tuple[ModuleType | None, str]:
    """llvmlite's binding, or why there is none."""
    try:
        binding = importlib.import_module("llvmlite.binding")
    except ModuleNotFoundError:
        return None, "llvmlite is not installed"
    except Exception as error:
        return None, f"llvmlite does not load ({type(error).__name__}: {error})"
    return binding, ""


def _engine() -> Iterator[Finding]:
    binding, why = _compiler()
    wanted = os.environ.get("GOUGH_ENGINE", "llvm")
    if wanted not in ("llvm", "numpy"):
        finding = f"GOUGH_ENGINE is 'llvm' or 'numpy', not {wanted!r}"
        yield Finding("engine", finding, "unset GOUGH_ENGINE", ok=False)
    elif binding is None:
        advice = "pip install llvmlite: models then run ten to a hundred times faster"
        yield Finding("engine", f"NumPy, because {why}", advice, ok=False)
    elif wanted == "numpy":
        advice = "unset GOUGH_ENGINE: models then run ten to a hundred times faster"
        yield Finding("engine", "NumPy, because GOUGH_ENGINE=numpy", advice)
    else:
        yield Finding("engine", "LLVM: models run as compiled vector code")
    if binding is not None:
        from gough.engine.emit.llvm import lanes

        version = ".".join(map(str, binding.llvm_version_info))
        yield Finding("compiler", f"llvmlite {metadata.version('llvmlite')}, LLVM {version}")
        features = binding.get_host_cpu_features()
        units = ("avx512f", "avx2", "avx", "neon", "sve", "sse2")
        unit = next((one for one in units if features.get(one)), "no vector unit known")
        finding = f"{binding.get_host_cpu_name()}, {unit}, {lanes()} states at a time"
        yield Finding("processor", finding)


def _threads() -> Iterator[Finding]:
    wanted = os.environ.get("GOUGH_THREADS")
    if _compiler()[0] is None:
        yield Finding("threads", "1: the NumPy engine uses no more")
        return
    source = "one per core" if wanted is None else f"GOUGH_THREADS={wanted}"
    yield Finding("threads", f"{threads()}, {source}")


def _cache() -> Iterator[Finding]:
    if _compiler()[0] is None:
        yield Finding("kernel cache", "not used by the NumPy engine")
        return
    from gough.engine.run import cache as disk

    folder = disk.folder()
    kernels = sorted(folder.glob("*.kernel"))
    left = [path for path in folder.glob(".writing-*") if _age(path) > 3600]
    size = sum(_size(path) for path in (*kernels, *left))
    damaged = [path for path in kernels if _damaged(path)]
    parts = [str(folder), f"{len(kernels)} kernels", f"{size / 1e6:.1f} MB"]
    advice, ok = "", True
    if damaged:
        parts.append(f"{len(damaged)} damaged")
        advice = (
            "no harm: they are made anew when needed; to be rid of them now delete "
            + ", ".join(str(path) for path in damaged[:3])
        )
    elif left:
        parts.append(f"{len(left)} left by killed processes")
        advice = f"delete {folder}/.writing-*"
    elif size > LARGE:
        advice = "kernels of older versions are never read again: the folder may be deleted"
    trouble, doubt = _unwritable(folder), _doubtful(folder)
    if doubt:
        parts.append(f"not used: {doubt}")
        advice = f"chmod 700 {folder} if it is yours, or set GOUGH_CACHE to a folder of your own"
        ok = False
    elif trouble:
        parts.append(f"not writable: {trouble}")
        advice = "set GOUGH_CACHE to a folder of your own: every start compiles anew without one"
        ok = False
    yield Finding("kernel cache", ", ".join(parts), advice, ok)


def _doubtful(folder: Path) -> str:
    """Why kernels are neither kept in a folder nor loaded from it, if they are not."""
    from gough.engine.run.private_folder import private

    try:
        if folder.is_symlink():
            return "it is a link"
        with private(folder, make=False):
            pass
    except OSError as error:
        return "" if error.strerror else str(error)
    return ""


def _age(path: Path) -> float:
    """Seconds since a file was written; 0 if it is gone."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _damaged(path: Path) -> bool:
    """Whether a kernel's file is not as it was written, or cannot be read."""
    from gough.engine.run import cache as disk

    return path.exists() and disk.read(path) is None


def _unwritable(folder: Path) -> str:
    """Why nothing can be written to the folder; nothing if it can."""
    place = folder
    try:
        while not place.exists():  # the first kernel makes the folder
            place = place.parent
        with tempfile.TemporaryFile(dir=place):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def _extras() -> Iterator[Finding]:
    """Each extra of the installed distribution, with the packages that it lacks."""
    extras: dict[str, list[str]] = {}
    for requirement in metadata.requires("gough") or []:
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", requirement)
        package = re.match(r"[A-Za-z0-9._-]+", requirement)
        if extra and package and package[0] != "gough":
            extras.setdefault(extra[1], []).append(package[0])
    for name, packages in sorted(extras.items()):
        missing = [package for package in packages if not _installed(package)]
        if not missing:
            yield Finding(f"extra {name}", "installed: " + ", ".join(packages))
            continue
        finding = "not installed" if len(missing) == len(packages) else "incomplete"
        advice = f"if you need it: pip install 'gough[{name}]'"
        yield Finding(f"extra {name}", f"{finding}: {', '.join(missing)}", advice)


def _installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _self_check(name: str) -> Iterator[Finding]:
    """direct(inverse(motion)) = motion, compiled = NumPy, and the time that a state takes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a paper's robot may be odd
        robot, plain = load(name), load(name)
    plain.__dict__["executor"] = numpy_executor(plain.mechanism)
    motion = states(robot, STATES)
    forces = robot.inverse_dynamics(motion, friction=False).forces
    few = motion[:200]
    expected = plain.inverse_dynamics(few, friction=False).forces
    back = robot.direct_dynamics(few, forces[:200], friction=False)
    scale = np.abs(few.acceleration).max()
    identity = max(
        np.abs(back.linear - few.acceleration).max(),
        np.abs(back.angular - few.angular_acceleration).max(),
    )
    agreement = np.abs(forces[:200] - expected).max() / np.abs(expected).max()
    seconds = min(_seconds(robot, motion) for _ in range(5))
    ok = bool(identity / scale < AGREEMENT and agreement < AGREEMENT)
    yield Finding(
        "self-check",
        f"{robot.leg_count}-{robot.kind}: direct(inverse) to {identity / scale:.0e}, equal to NumPy "
        f"to {agreement:.0e}, inverse dynamics {seconds / STATES * 1e9:.0f} ns per state",
        "" if ok else "answers are wrong here: please report this with the lines above",
        ok,
    )


def _seconds(robot: Robot, motion: Motion) -> float:
    start = time.perf_counter()
    robot.inverse_dynamics(motion, friction=False)
    return time.perf_counter() - start
