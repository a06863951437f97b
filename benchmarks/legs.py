"""Kernels by kind of leg: one platform on six legs of each kind, all bodies with all ten parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from benchmarks import ours
from benchmarks.section import Row, Section
from benchmarks.timing import race
from gough import Robot

PROGRAMS = ("inverse_dynamics", "direct_dynamics")
BESIDE = "PUS"
GOAL = 1.3
"""How many times the inverse kernel of PUS legs that of RUS legs may take."""
RUS, OBLIQUE = "RUS", "RUS, oblique universal axis"
BODIES = {
    "UPS": ("cross", "cylinder", "rod"),
    "PUS": ("slider", "cross", "link"),
    "RUS": ("crank", "cross", "link"),
}
Array = np.ndarray[Any, Any]


class LegSpeed(NamedTuple):
    """The kernels of a robot."""

    name: str
    operations: dict[str, int]
    """By program."""
    seconds: dict[str, float]
    """A state, by program."""


def measure(seconds: float) -> list[LegSpeed]:
    """All kinds in one race for each program, of so many seconds."""
    given = {name: ours.setup(Robot.from_dict(table)) for name, table in robots().items()}
    times = {
        program: race({name: ours.kernel(one, program) for name, one in given.items()}, seconds)
        for program in PROGRAMS
    }
    return [
        LegSpeed(
            name,
            {program: ours.operations(one.robot, program) for program in PROGRAMS},
            {program: times[program][name] for program in PROGRAMS},
        )
        for name, one in given.items()
    ]


def robots() -> dict[str, dict[str, Any]]:
    """Robot files by name: hexapods of 1 m, general in shape and mass."""
    rng = np.random.default_rng(16)
    ground, tips = _ring(0.6, 0.2, rng), _ring(0.35, 0.8, rng)
    home = [0.02, -0.03, 0.7]
    outward = ground * [1, 1, 0] / np.linalg.norm(ground[:, :2], axis=1, keepdims=True)
    around = np.cross([0.0, 0.0, 1.0], outward)
    up = np.array([0.0, 0.0, 1.0]) + 0.1 * rng.normal(size=(6, 3))
    crank = {
        "motor": ground,
        "motor_axis": -around + 0.1 * rng.normal(size=(6, 3)),
        "crank_zero": outward,
        "crank_length": 0.2,
        "length": 0.75,
    }
    oblique = crank["motor_axis"] + 0.4 * rng.normal(size=(6, 3))
    slider = {"rail_origin": ground - [0, 0, 0.3], "rail_direction": up, "length": 0.75}
    axis = around + 0.1 * rng.normal(size=(6, 3))
    legs: dict[str, dict[str, Any]] = {
        "UPS": {"kind": "UPS", "base": ground, "axis": axis},
        BESIDE: {"kind": "PUS", "axis": axis, **slider},
        RUS: {"kind": "RUS", **crank},
        OBLIQUE: {"kind": "RUS", "axis": oblique, **crank},
    }
    found = {}
    for name, table in legs.items():
        bodies = {body: [_body(rng, 1.0) for _ in range(6)] for body in BODIES[table["kind"]]}
        rotor = "rotor_inertia" if table["kind"] == "RUS" else "rotor_mass"
        plain = {key: _plain(value) for key, value in table.items()}
        found[name] = {
            "format": 1,
            "name": name,
            "home": {"position": home},
            "legs": {**plain, "platform": tips.tolist(), rotor: 0.3, **bodies},
            "platform": _body(rng, 20.0),
        }
    return found


HEADERS = ("", "operations", "inverse", f"× {BESIDE}", "operations", "direct", f"× {BESIDE}")


def rows(speeds: list[LegSpeed]) -> list[Row]:
    """A line for each kind; times in nanoseconds a state."""
    base = next(one for one in speeds if one.name == BESIDE)
    found = []
    for one in speeds:
        cells = [f"6-{one.name}"]
        for program in PROGRAMS:
            spent = one.seconds[program]
            cells += [
                str(one.operations[program]),
                f"{1e9 * spent:.3g} ns",
                f"{spent / base.seconds[program]:.2f}",
            ]
        found.append(tuple(cells))
    return found


def section(speeds: list[LegSpeed]) -> Section:
    """The table with its words."""
    text = (
        "Kernels alone of one platform on six legs of each kind, all bodies with all ten parameters, "
        f"in one race. Goal: the inverse kernel of RUS legs in at most {GOAL:g} times that of "
        f"{BESIDE} legs. The universal axis of RUS legs is along the motor's unless the file says "
        "otherwise."
    )
    return Section("Kinds of legs", text, HEADERS, rows(speeds))


def _ring(radius: float, half: float, rng: np.random.Generator) -> Array:
    """Six points in pairs about a circle, a little off it."""
    angle = np.repeat(np.arange(3) * 2 * np.pi / 3, 2) + np.tile([-half, half], 3)
    ring = radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    return np.asarray(ring + 0.02 * rng.normal(size=(6, 3)))


def _body(rng: np.random.Generator, mass: float) -> dict[str, Any]:
    """A body of a few points of mass, general in all ten parameters."""
    points = 0.1 * rng.normal(size=(5, 3)) + 0.05
    center = points.mean(axis=0)
    arms = points - center
    inertia = mass / 5 * (np.sum(arms**2) * np.eye(3) - arms.T @ arms)
    return {"mass": mass, "center_of_mass": center.tolist(), "inertia": inertia.tolist()}


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value
