"""Arguments and command lines that nobody sane would give: errors of gough's own, or an answer."""

from __future__ import annotations

import contextlib
import io
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import gough
from gough.errors import GoughError

SHAPES: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (3,), (6,), (2, 3), (2, 6), (3, 3), (0, 3))
ODD: tuple[Callable[[random.Random], Any], ...] = (
    lambda r: None,
    lambda r: r.choice((0, 1, -1, 10**400, 2**63, True, False, 1.5, -0.0)),
    lambda r: r.choice((float("nan"), float("inf"), 1e308, 1e-320, 1e160, 3 + 4j)),
    lambda r: r.choice(("", "text", "kim-ryu-2002", "\x00", b"bytes", "nan")),
    lambda r: r.choice(([], {}, (), [[]], [1, [2]], {"a": 1}, set(), object(), range(3))),
    lambda r: np.full(
        r.choice(((), (0,), (1,), (3,), (6,), (2, 3), (2, 6), (3, 3), (0, 3))), _number(r)
    ),
    lambda r: np.ma.masked_array([0.0, 1.0, 2.0], [True, False, False]),
    lambda r: np.array(["2020-01-01"] * 3, dtype="datetime64[D]"),
    lambda r: np.array([1, None, "x"], dtype=object),
    lambda r: np.zeros(3, dtype=[("a", "f8")]),
    lambda r: [_number(r) for _ in range(r.choice((3, 6, 9)))],
)


def _number(rng: random.Random) -> float:
    return rng.choice((0.0, 1.0, -1.0, 1e-3, 1e30, 1e59, 1e160, float("nan"), float("inf"), 0.7))


def _odd(rng: random.Random, usual: Any = None) -> Any:
    return usual if usual is not None and rng.random() < 0.6 else rng.choice(ODD)(rng)


def call(rng: random.Random) -> None:
    """One call of the public face with odd arguments; whatever is not gough's own error is raised."""
    robot = _robot()
    home = robot.home
    motion: Any = home
    with contextlib.suppress(GoughError):
        motion = gough.Motion(
            _odd(rng, home.position), _odd(rng, home.rotation), _odd(rng, np.ones(3))
        )
    motion = _odd(rng, motion)
    switches: dict[str, Any] = {}
    if rng.random() < 0.3:
        switches["on_error"] = _odd(rng, "nan")
    six = _odd(rng, np.ones(6))
    chosen = rng.choice((
        lambda: robot.inverse_kinematics(motion, **switches),
        lambda: robot.jacobian(motion, **switches),
        lambda: robot.inverse_dynamics(motion, six, _odd(rng, True), **switches),
        lambda: robot.direct_dynamics(motion, six, _odd(rng, np.zeros(6)), _odd(rng, True), **switches),
        lambda: robot.reactions(motion, six, **switches),
        lambda: robot.mass_matrix(motion, **switches),
        lambda: robot.bias(motion, **switches),
        lambda: robot.forward_kinematics(six, motion, **switches),
        lambda: [gough.Motion(_odd(rng, home.position), time=_odd(rng, 0.0))],  # holds any number
        lambda: gough.load(_odd(rng)),
        lambda: robot.edited({rng.choice(("platform.mass", "legs", "", ".", 3, None)): _odd(rng, 3.0)}),
        lambda: robot.check(motion),
        lambda: robot.condition_number(motion, **switches),
    ))  # fmt: skip
    with contextlib.suppress(GoughError), np.errstate(all="ignore"):
        _finite(chosen(), "on_error" in switches)


def _finite(answer: Any, may_be_nan: bool) -> None:
    for name in ("q", "forces", "linear", "position"):
        value = getattr(answer, name, None)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and not may_be_nan:
            assert np.isfinite(value).all(), f"{name} is not finite"


_known: list[Any] = []


def _robot() -> Any:
    if not _known:
        _known.append(gough.load("kim-ryu-2002"))
    return _known[0]


WORDS = (
    "kim-ryu-2002", "kim-ryu-2002/circle-40rpm", "nowhere.toml", "-o", "out.csv", "out.nc",
    "out.png", "--plot", "out.jpeg", "--samples", "2", "0", "-1", "1e400", "--json",
    "--no-friction", "--help", "--shift", "0,0,0", "nan,1,2", "--lead", "0.01", "--at",
    "\x1b[31m", "", "--", ".", "/dev/null", "/", "--jobs", "--validate", "z=0.8", "text" * 100,
    "--map", "a=b", "--units", "mm,deg", "--plan", "--speed", "fmu", "mjcf", "urdf",
    "out.fmu", "out.xml",
)  # fmt: skip
COMMANDS = (
    "list", "show", "kinematics", "forces", "simulate", "modes", "size", "study", "parameters",
    "schema", "postures", "identify", "export", "report", "draw", "stiffness", "singularities",
    "excite", "calibrate", "retime", "cue", "pose", "convert", "room", "clamp", "nonsense",
)  # fmt: skip


def command_line(rng: random.Random, folder: Path) -> list[str]:
    """Words of a command line, run in a folder; raises what is no exit with a code of gough's."""
    from gough.__main__ import main

    words = [rng.choice(COMMANDS), *(rng.choice(WORDS) for _ in range(rng.randrange(7)))]
    code: Any = None
    stdout, stderr, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["gough", *words]
    try:
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(stdout),
            contextlib.redirect_stderr(stderr),
            np.errstate(all="ignore"),
        ):
            main()
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.argv = before
        for left in folder.iterdir():
            assert left.suffix != ".unfinished", f"{words} left {left.name}"
            if left.is_file():
                os.unlink(left)
    assert code in (0, None, 2), f"{words}: code {code}"
    said = stderr.getvalue()
    assert code != 2 or said.count("\n") == 1, f"{words}: {said[:500]}"
    return words
