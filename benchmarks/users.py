"""What users ask of robots, with friction and without, through the robot's methods."""

from __future__ import annotations

import tomllib
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np

import gough
from benchmarks import beside
from benchmarks.ours import BATCH
from benchmarks.section import Row, Section, time_text
from benchmarks.timing import Contender, race
from gough.engine.run.threads import at_most
from gough.show.speed import states

mpl.use("agg")

POINTS = {"universal_coulomb": 0.005, "spherical_coulomb": 0.005, "universal_viscous": 0.01}
ROBOTS: dict[str, tuple[str, dict[str, Any]]] = {
    "6-UPS": ("long-khalil-martinet-2014", {**POINTS, "slider_coulomb": 20.0}),
    "6-PUS": ("kim-ryu-2002", {}),
    "6-RUS": (
        "pollen-reachy-mini-2025",
        {**POINTS, "universal_coulomb": 5e-4, "spherical_coulomb": 5e-4},
    ),
    "Delta": ("alikoc-delta-2023", POINTS),
    "3-RPS, chains": ("shyam-heliostat-2017", {"viscous": 1.0, "coulomb": 0.5}),
    "6-UPS, flexible": ("long-khalil-martinet-2014", {**POINTS, "slider_coulomb": 20.0}),
}
"""Catalogue robots, and friction where the file has none; that of chains is one per joint."""
FLEXIBLE = "6-UPS, flexible"
GOALS = {"inverse": 4.0, "direct": 4.0, "reactions": 1.5}
FEWER = 4096
"""States of robots whose poses take long to find, and of a flexible one."""


class Times(NamedTuple):
    """Seconds a state of one robot, by what was asked."""

    name: str
    states: int
    seconds: dict[str, float]

    def ratio(self, asked: str, beside: str) -> float:
        """How many times as long one takes as the other."""
        return self.seconds[asked] / self.seconds[beside]


def robot_of(name: str) -> gough.Robot:
    """A robot of the table, with friction."""
    catalogued, friction = ROBOTS[name]
    data = tomllib.loads(gough.load(catalogued).text)
    groups = data["legs"] if isinstance(data["legs"], list) else [data["legs"]]
    for group in groups if friction else ():
        for joint in group.get("joints", ()):
            if joint["type"] in ("revolute", "prismatic"):
                joint |= friction
        if "joints" not in group:
            group["friction"] = friction
    robot = gough.Robot.from_dict(data)
    return robot if name == FLEXIBLE else robot.rigid


def motion_of(robot: gough.Robot, count: int) -> gough.Motion:
    """Random states near home."""
    if robot.mobility == 6:
        return states(robot, count)
    rng = np.random.default_rng(0)
    home = [
        robot.home.position["xyz".index(one)] if one in "xyz" else 0 for one in robot.coordinates
    ]
    u, ud, udd = 0.02 * rng.uniform(-1, 1, (3, count, robot.mobility))
    return robot.motion(np.array(home) + u, 10 * ud, 50 * udd)


def measure(name: str, seconds: float) -> Times:
    """A robot's race of so many seconds on one thread; Pinocchio in C++ before and after it."""
    robot = robot_of(name)
    count = BATCH if robot.mobility == 6 and not robot.modes else FEWER
    motion = motion_of(robot, count)
    one, forces = motion[0], robot.inverse_dynamics(motion, friction=False).forces
    pushed = robot.inverse_dynamics(motion).forces
    calls = {
        "inverse": Contender(lambda: robot.inverse_dynamics(motion, friction=False), count),
        "inverse, friction": Contender(lambda: robot.inverse_dynamics(motion), count),
        "direct": Contender(lambda: robot.direct_dynamics(motion, forces, friction=False), count),
        "direct, friction": Contender(lambda: robot.direct_dynamics(motion, pushed), count),
        "reactions": Contender(lambda: robot.reactions(motion, friction=False), count),
        "one state": Contender(lambda: robot.inverse_dynamics(one, friction=False)),
        "one state, friction": Contender(lambda: robot.inverse_dynamics(one)),
    }
    if robot.mobility == 6:
        q, near = robot.inverse_kinematics(motion).q, _near(motion)
        calls["forward kinematics"] = Contender(lambda: robot.forward_kinematics(q, near), count)
    native = beside.native(robot)
    with at_most(1):
        found = race(calls | beside.contenders(robot, motion), seconds)
    again = beside.native(robot)
    found |= {one: min(native[one], again[one]) for one in native}
    return Times(name, count, found)


def _near(motion: gough.Motion) -> gough.Motion:
    """Poses a millimetre off."""
    shift = 1e-3 * np.random.default_rng(1).normal(size=motion.position.shape)
    bent = motion.elastic if motion.modes else None
    return gough.Motion(motion.position + shift, motion.rotation, elastic=bent)


HEADERS = (
    "", "states", "inverse", "× with friction", "direct", "× with friction", "reactions × inverse",
    "forward kinematics", "one state", "with friction",
)  # fmt: skip


OTHERS = ("inverse", *beside.INVERSE, "direct", *beside.DIRECT)


def other_rows(found: list[Times]) -> list[Row]:
    """A line for each robot: gough and others, with how many times as long they take."""

    def cell(one: Times, name: str) -> str:
        ours = "inverse" if name in beside.INVERSE else "direct"
        if name not in one.seconds or name in ("inverse", "direct"):
            return time_text(one.seconds.get(name))
        return f"{time_text(one.seconds[name])} ({one.ratio(name, ours):.0f}×)"

    return [(one.name, *(cell(one, name) for name in OTHERS)) for one in found]


def rows(found: list[Times]) -> list[Row]:
    """A line for each robot."""
    return [
        (
            one.name,
            f"{one.states}",
            time_text(one.seconds["inverse"]),
            f"{one.ratio('inverse, friction', 'inverse'):.1f}",
            time_text(one.seconds["direct"]),
            f"{one.ratio('direct, friction', 'direct'):.1f}",
            f"{one.ratio('reactions', 'inverse'):.1f}",
            time_text(one.seconds.get("forward kinematics")),
            time_text(one.seconds["one state"]),
            time_text(one.seconds["one state, friction"]),
        )
        for one in found
    ]


def sections(found: list[Times]) -> list[Section]:
    """Friction, reactions, poses and one state; and the same beside others."""
    asked = (
        "The robot's own methods on one thread with all checks, one race per robot; rigid platforms but "
        "for the last. Where the robot file has no friction, Coulomb and viscous friction were added in "
        "all joints. Goals: with friction at most "
        f"{GOALS['inverse']:g} times the same call without, reactions at most "
        f"{GOALS['reactions']:g} times inverse dynamics, forward kinematics from a guess 1 mm off in "
        "1 µs, one state in 10 µs and with friction in 30 µs. What bounds friction and one state is in "
        "CONTRIBUTING.md."
    )
    others = (
        "The same states in the same races and without friction; in brackets how many times as long as "
        "gough. Pinocchio (from Python, joint coordinates known; C++ in a process of its own before and "
        "after) and MuJoCo have the opened tree and its loops from the robot's MJCF file; MuJoCo's "
        "loops are stiff springs, and neither has modes. JAX and CasADi's C are gough's own programs, "
        f"JAX for {beside.STATES} states at once, the C for one at a time."
    )
    picture = (
        "![Time a state of each robot, with friction, without, and beside others](benchmarks.png)"
    )
    return [
        Section(
            "What users ask: friction, reactions, poses, one state", asked, HEADERS, rows(found)
        ),
        Section("Beside others", others, ("", *OTHERS), other_rows(found), picture),
    ]


def picture(found: list[Times], path: Path) -> None:
    """Times a state of each robot, side by side, on a logarithmic scale."""
    from matplotlib import pyplot as plt

    ours = ["inverse", "inverse, friction", "direct", "direct, friction", "reactions"]
    figure, panels = plt.subplots(2, figsize=(8, 7), layout="constrained")
    for axes, names in zip(panels, (ours, OTHERS), strict=True):
        width = 0.8 / len(names)
        for k, name in enumerate(names):
            heights = [1e9 * one.seconds.get(name, np.nan) for one in found]
            places = np.arange(len(found)) + width * (k - (len(names) - 1) / 2)
            label = (
                name
                if names is ours or name in beside.INVERSE + beside.DIRECT
                else f"gough, {name}"
            )
            axes.bar(places, heights, width, label=label)
        axes.set(yscale="log", ylabel="ns a state, one thread")
        axes.set_xticks(range(len(found)), [one.name for one in found])
        axes.set_ylim(top=50 * axes.get_ylim()[1])
        axes.legend(frameon=False, ncols=3, fontsize="small", loc="upper left")
    figure.savefig(path, dpi=130)
    plt.close(figure)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    found = [measure(name, 2.0) for name in ROBOTS]
    for row in (HEADERS, *rows(found), ("", *OTHERS), *other_rows(found)):
        print(*row, sep=" | ")
