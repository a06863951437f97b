"""Faults at every instant of every command that writes: kills, Ctrl-C, full disks, closed outputs.

A command runs once. At each instant (a temporary file made, brought to the disk, renamed) its process is
copied, the copy meets a fault, and the folder is looked at and set back: what the command writes is
there as it was before or whole, nothing else is, and the copy ends as it should. `interrupted` has
signals at any time of a command that runs in a process of its own.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np

import gough
from cases.mjcf import stewart
from cases.studies import SWEEP
from gough.__main__ import main
from gough.base import files
from gough.data.motion_files import write_motion
from gough.data.paper_motions import paper_motion

KIM = "kim-ryu-2002"
EXCITED = "long-khalil-martinet-2014"
"""A robot without friction, whose search takes seconds: each copy goes through what is left of it."""
BEFORE = b"what was here before"
SIMULATION = """
robot = "kim-ryu-2002"
duration = 0.004
[motion]
name = "kim-ryu-2002/circle-40rpm"
[controller]
kind = "computed torque"
frequency = 30.0
"""
COMMANDS: dict[str, tuple[str, ...]] = {
    "new hexapod": ("new.toml",),
    f"new motion {KIM}": ("new.csv",),
    f"new log {KIM}": ("new.nc",),
    f"new simulation {KIM}": ("new.toml",),
    f"new study {KIM} {KIM}/circle-40rpm": ("new.toml",),
    f"kinematics {KIM} motion.csv": ("legs.nc",),
    f"forces {KIM} motion.csv --plot forces.png": ("forces.csv", "forces.png"),
    f"retime {KIM} motion.csv --speed 0.5 --uniform": ("fast.csv", "fast.png"),
    f"cue {KIM} vehicle.csv --classical --stroke 0.1 --speed 1 --force 1000": (
        "cued.csv",
        "cued.png",
    ),
    "simulate simulation.toml": ("simulated.nc", "simulated.png"),
    f"workspace {KIM} --tolerance 0.5": ("space.stl",),
    f"clamp {KIM} motion.csv": ("poses.csv",),
    f"postures {KIM} --quick": ("postures.png",),
    f"singularities {KIM} motion.csv": ("near.png",),
    f"stiffness {KIM} --stiffness 1e7 --points 3": ("map.png",),
    "modes long-khalil-martinet-2014": ("modes.png",),
    f"size {KIM} motion.csv": ("size.csv",),
    "study study.toml --plot study.png --csv study.csv": ("study.zarr", "study.png", "study.csv"),
    f"pose {KIM} log.csv": ("seen.csv", "seen.png"),
    f"calibrate {KIM} --plan 12": ("plan.csv",),
    f"calibrate {KIM} measured.csv --report page.html": ("true.toml", "page.html"),
    f"excite {EXCITED} --no-friction --iterations 2 --random 1 --harmonics 3 --period 2 --rate 20"
    " --seconds 1000": ("excite.csv",),
    f"identify {KIM} log.csv --no-friction --report page.html": ("found.toml", "page.html"),
    "convert hexapod.xml": ("robot.toml",),
    f"draw {KIM}": ("robot.png",),
    f"draw {KIM} short.csv --animate": ("film.gif",),
    f"report {KIM}": ("report.html",),
    f"export mjcf {KIM}": ("kim.xml",),
    f"export urdf {KIM}": ("kim.urdf", "kim.yaml"),
    f"export fmu {KIM} --sources-only": ("kim.fmu",),
    f"export c {KIM} --program jacobian": ("kim_c",),
    f"export washout {KIM}": ("washout",),
}
"""What is run with -o and the first of these; all of them is what it writes."""
COPIED = [words for words in COMMANDS if not words.startswith("study ")]
"""Commands that can be copied while they write: a study's lock would be its copy's too."""
NEW = ("new ", "study ", "export c", "export washout")
"""Commands that do not write over what is there, or write folders."""


class Fault(NamedTuple):
    """Something that goes wrong, and how a command may end then."""

    strike: Callable[[], None]
    codes: tuple[int, ...]
    """Exit codes; minus the signal that killed it."""


def _signal(number: int) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)


def _full() -> None:
    """No file grows beyond 100 bytes: whatever writes, of any library, meets a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


def _read_only() -> None:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def _closed() -> None:
    """Whoever read standard output is gone."""
    reading, writing = os.pipe()
    os.close(reading)
    sys.stdout = os.fdopen(writing, "w")


def _full_output() -> None:
    """Standard output is a file on a full disk."""
    sys.stdout = open("/dev/full", "w")  # noqa: SIM115  # to the end


FAULTS = {
    "kill": Fault(_signal(signal.SIGKILL), (-signal.SIGKILL,)),
    "terminate": Fault(_signal(signal.SIGTERM), (128 + signal.SIGTERM,)),
    "interrupt": Fault(_signal(signal.SIGINT), (0, 128 + signal.SIGINT)),
    "full disk": Fault(_full, (0, 2)),
    "read only": Fault(_read_only, (0, 2)),
    "closed output": Fault(_closed, (0, 1)),
    "full output": Fault(_full_output, (0, 2)),
}


def inputs(folder: Path) -> None:
    """What the commands read."""
    circle = paper_motion(f"{KIM}/circle-40rpm")
    write_motion(circle.sample(12), folder / "motion.csv")
    write_motion(circle.sample(2), folder / "short.csv")
    (folder / "simulation.toml").write_text(SIMULATION)
    (folder / "study.toml").write_text(SWEEP.format(points=100))
    (folder / "hexapod.xml").write_text(stewart())
    kim, motion = gough.load(KIM), circle.sample(200)
    act = kim.inverse_dynamics(motion)
    q = kim.inverse_kinematics(motion).q
    _table(folder / "log.csv", {"time": motion.time} | _each("q", q) | _each("force", act.forces))
    rng = np.random.default_rng(3)
    home = kim.home
    shifts = 0.05 * rng.uniform(-1, 1, (40, 3))
    seen = home.replace(
        position=home.position + shifts, rotation=np.broadcast_to(home.rotation, (40, 3, 3))
    )
    poses = {axis: seen.position[:, i] for i, axis in enumerate("xyz")}
    _table(folder / "measured.csv", _each("q", kim.inverse_kinematics(seen).q) | poses)
    time_ = np.linspace(0, 2, 41)
    zero = 0 * time_
    named = {"ax": np.sin(time_)} | dict.fromkeys(("ay", "az", "wx", "wy", "wz"), zero)
    _table(folder / "vehicle.csv", {"time": time_} | named)


def _each(name: str, values: np.ndarray) -> dict[str, np.ndarray]:
    return {f"{name}{i + 1}": column for i, column in enumerate(values.T)}


def _table(path: Path, columns: dict[str, np.ndarray]) -> None:
    rows = [",".join(map(repr, map(float, row))) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join([",".join(columns), *rows]) + "\n")


def prepared(folder: Path, words: str) -> list[str]:
    """Arguments of a command, with something of each name it writes there before."""
    written = COMMANDS[words]
    if not words.startswith(NEW):
        for name in written:
            (folder / name).write_bytes(BEFORE)
    return [*words.split(), "-o", written[0]]


def asked(arguments: list[str]) -> tuple[int, str]:
    """Exit code and what a command says on standard error."""
    said = io.StringIO()
    before = sys.stdout
    try:
        with (
            mock.patch.object(sys, "argv", ["gough", *arguments]),
            contextlib.redirect_stderr(said),
        ):
            sys.stdout = io.StringIO()
            main()
    except SystemExit as ended:
        return int(ended.code or 0), said.getvalue()
    finally:
        sys.stdout = before
    return 0, said.getvalue()


class Findings:
    """Faults at the instants of one command in a folder."""

    def __init__(self, folder: Path, words: str, rng: random.Random, most: int) -> None:
        self.folder, self.words, self.rng, self.most = folder, words, rng, most
        self.arguments = prepared(folder, words)
        self.before = _listed(folder)
        self.instants = 0
        self.seen: list[tuple[str, dict[str, bytes]]] = []
        self.wrong: list[str] = []
        self.copy, self.told = False, -1

    def run(self) -> list[str]:
        """What went wrong; the command itself must end well."""
        heard = signal.signal(signal.SIGINT, signal.default_int_handler)
        with self._struck(), contextlib.chdir(self.folder):
            try:
                code, said = asked(self.arguments)
            except BaseException:
                code, said = 99, traceback.format_exc()
            if self.copy:
                os.write(self.told, said[-4000:].encode())
                os._exit(code)
        signal.signal(signal.SIGINT, heard)
        if code:
            return [f"{self.words}: ended with {code}: {said[-500:]}"]
        after = _listed(self.folder)
        for when, left in self.seen:
            for name, data in left.items():
                known = data in (self.before.get(name), after.get(name))
                if not known and not _early(when, name, data, after.get(name, b"")):
                    self.wrong.append(f"{self.words}, {when}: {name} is neither old nor whole")
            if self.before.keys() - left.keys():
                self.wrong.append(f"{self.words}, {when}: lost {self.before.keys() - left.keys()}")
        return self.wrong

    @contextlib.contextmanager
    def _struck(self) -> Iterator[None]:
        """While each instant is one for faults."""
        with tempfile.TemporaryDirectory() as beside, contextlib.ExitStack() as stack:
            self.kept = Path(beside) / "kept"
            for owner, name in (
                (files, "_locked"),
                (files, "_locked_folder"),
                (files, "to_disk"),
                (Path, "replace"),
                (Path, "rename"),
            ):
                true = getattr(owner, name)
                stack.enter_context(mock.patch.object(owner, name, self._instant(name, true)))
            yield

    def _instant(self, name: str, true: Callable[..., object]) -> Callable[..., object]:
        def struck(*given: object, **options: object) -> object:
            if not self.copy and os.getcwd() == str(self.folder):
                self.instants += 1
                for kind in self._chosen():
                    self._strike(kind, f"{kind} at {name} ({self.instants})")
                    if self.copy:
                        break
            return true(*given, **options)

        return struck

    def _chosen(self) -> list[str]:
        """Faults at an instant: `most` of them at the first twenty and at some of the others."""
        often = self.instants <= 20 or self.rng.random() < 20 / self.instants
        return self.rng.sample([*FAULTS], self.most if often else 0)

    def _strike(self, kind: str, when: str) -> None:
        snapshot = _listed(self.folder)
        shutil.copytree(self.folder, self.kept, copy_function=os.link)
        told, self.told = os.pipe()
        copy = os.fork()
        if not copy:
            self.copy = True
            FAULTS[kind].strike()
            return
        os.close(self.told)
        code = _ended(copy)
        with os.fdopen(told, encoding="utf-8") as pipe:
            said = pipe.read()
        left = _listed(self.folder)
        where = f"{self.words}, {when}"
        if code not in FAULTS[kind].codes:
            self.wrong.append(f"{where}: ended with {code}: {said[-2000:]}")
        if code == 2 and not said.splitlines()[-1].startswith("gough: "):
            self.wrong.append(f"{where}: said {said[-500:]}")
        unfinished = {one for one in left if files.UNFINISHED in one}
        if kind != "kill" and unfinished - set(snapshot):
            self.wrong.append(f"{where}: left {unfinished - set(snapshot)}")
        self.seen.append((when, {n: d for n, d in left.items() if n not in unfinished}))
        _restore(self.folder, snapshot, self.kept)
        shutil.rmtree(self.kept)


def _early(when: str, name: str, data: bytes, whole: bytes) -> bool:
    """Whether a file is what `excite` leaves when it ends early, whole.

    Arrays that the same command would go on from; after Ctrl-C, the best motion so far.
    """
    if name.endswith(".state"):
        return zipfile.is_zipfile(io.BytesIO(data))
    lines = data.count(b"\n") == whole.count(b"\n") and data.endswith(b"\n")
    return when.startswith("interrupt") and name == "excite.csv" and lines


def _ended(process: int, patience: float = 150.0) -> int:
    """Exit code of a copy; one that does not end is killed."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return 98


def _listed(folder: Path) -> dict[str, bytes]:
    """All files of a folder and below."""
    return {
        str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()
    }


def _restore(folder: Path, snapshot: dict[str, bytes], kept: Path) -> None:
    """A folder as it was; files are the same ones, as the locks on them are."""
    for name in _listed(folder).keys() - snapshot.keys():
        (folder / name).unlink()
    for name, data in snapshot.items():
        one = folder / name
        one.parent.mkdir(parents=True, exist_ok=True)
        if not (one.exists() and one.samefile(kept / name)):
            one.unlink(missing_ok=True)
            os.link(kept / name, one)
        if one.read_bytes() != data:
            one.write_bytes(data)


def check(words: str, most: int = 2, seed: int = 0) -> list[str]:
    """What goes wrong where faults meet a command."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    try:
        inputs(folder)
        return Findings(folder, words, random.Random(seed), most).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_whole: dict[str, tuple[float, dict[str, bytes]]] = {}
"""Seconds that commands take, and the files there are then."""


def interrupted(words: str, rng: random.Random) -> list[str]:
    """What goes wrong where a signal meets a command at any time."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    try:
        inputs(folder)
        arguments = prepared(folder, words)
        before = _listed(folder)
        if words not in _whole:
            begun = time.monotonic()
            code = _ended(_started(folder, arguments))
            _whole[words] = time.monotonic() - begun, _listed(folder)
            return [f"{words}: ended with {code}"] if code else []
        seconds, whole = _whole[words]
        copy, number = _started(folder, arguments), rng.choice(SIGNALS)
        time.sleep(rng.uniform(0, seconds))
        os.kill(copy, number)
        code, left, when = _ended(copy), _listed(folder), f"{words}, signal {number}"
        wrong = [] if code in (0, -number, 128 + number) else [f"{when}: ended with {code}"]
        unfinished = {one for one in left if files.UNFINISHED in one}
        if unfinished and number != signal.SIGKILL:
            wrong.append(f"{when}: left {unfinished}")
        if before.keys() - left.keys():
            wrong.append(f"{when}: lost {before.keys() - left.keys()}")
        for name in left.keys() - unfinished:
            # Ctrl-C ends a search or a simulation early: what it has is written then
            early = number == signal.SIGINT and name in COMMANDS[words]
            if not early and left[name] not in (before.get(name), whole.get(name)):
                wrong.append(f"{when}: {name} is neither old nor whole")
        return wrong
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(folder: Path, arguments: list[str]) -> int:
    """A command in a process of its own."""
    copy = os.fork()
    if copy:
        return copy
    try:
        os.chdir(folder)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        code = asked(arguments)[0]
    except KeyboardInterrupt:  # before or behind the command itself
        code = 128 + signal.SIGINT
    except BaseException:
        code = 99
    os._exit(code)
