"""Arguments and command lines that nobody sane would give: errors of gough's own, or an answer."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import random
import sys
from collections.abc import Callable
from functools import cache
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
    robot = _robot(rng.choice(ROBOTS))
    home = robot.home
    motion: Any = home
    with contextlib.suppress(GoughError):
        motion = gough.Motion(
            _odd(rng, home.position), _odd(rng, home.rotation), _odd(rng, np.ones(3))
        )
    each = np.ones(robot.actuator_count)
    usual: dict[str, Any] = {
        "motion": motion, "guess": home, "q": each, "forces": each, "preload": each,
        "u": np.zeros(robot.mobility), "ud": np.ones(robot.mobility), "wrench": np.ones(6),
        "on_error": "nan", "output": "frame", "actuators": "free", "at": "tips", "method": "quick",
        "force": np.ones(3), "moment": np.ones(3), "friction": True, "threads": 1,
        "changes": {rng.choice(("platform.mass", "legs", "", ".", 3, None)): _odd(rng, 3.0)},
    }  # fmt: skip
    name = rng.choice(METHODS)
    method = getattr(robot, name)
    given = {
        one.name: _odd(rng, usual.get(one.name))
        for one in inspect.signature(method).parameters.values()
        if one.default is inspect.Parameter.empty or rng.random() < 0.3
    }
    with contextlib.suppress(GoughError), np.errstate(all="ignore"):
        _finite(method(**given), "on_error" in given)


ROBOTS = ("kim-ryu-2002", "long-khalil-martinet-2014", "chablat-orthoglide-2003")
"""Six freedoms, three, and modes."""
METHODS = (
    "inverse_kinematics", "forward_kinematics", "assembly_modes", "motion", "jacobian",
    "condition_number", "inverse_dynamics", "direct_dynamics", "reactions", "contributions",
    "drive_forces", "mass_matrix", "bias", "condensed", "energy", "check", "edited", "variants",
    "inverse_dynamics_derivatives", "direct_dynamics_derivatives", "linearize", "regressor",
    "generalised_regressor", "static_deflection", "deformation", "elastic_motion",
    "elastic_health", "natural_frequencies", "tool_wrench",
)  # fmt: skip
"""Of a robot; `room` and `clamp` take longer than the rest together."""


def _finite(answer: Any, may_be_nan: bool) -> None:
    for name in ("q", "forces", "linear", "position"):
        value = getattr(answer, name, None)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and not may_be_nan:
            assert np.isfinite(value).all(), f"{name} is not finite"


@cache
def _robot(name: str) -> gough.Robot:
    return gough.load(name)


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
