"""What gough does, on this machine, as a page worth showing: an answer, papers, speed, what to try."""

from __future__ import annotations

import platform
import shutil
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path

import numpy as np

from gough.engine.run.threads import cores
from gough.robot import Robot
from gough.show.page import Hyperlink, Page
from gough.show.pictures.curves import leg_panels
from gough.show.pictures.robot import draw
from gough.show.reproduction import COLORS, EVERY, run, tally
from gough.show.speed import BATCH, Speed, measure
from gough.trajectories import Circle

QUESTION = "What forces do my actuators need for this motion?"
CODE = """\
import gough

robot = gough.load("kim-ryu-2002")  # a catalogue name, or the path of your robot file
motion = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=40).sample(601)

act = robot.inverse_dynamics(motion)  # act.forces (601, 6) N, act.power (601, 6) W, with friction
legs = robot.inverse_kinematics(motion)  # strokes, rates and accelerations of the sliders
react = robot.reactions(motion)  # forces and moments in every joint, for sizing bearings
print(abs(act.forces).max(), abs(act.power).max(), abs(legs.qd).max())
"""
"""The question in lines of code; the page shows what they give."""
SHOWN = {
    "kim-ryu-2002": "robot",
    "sinatra-xi-staicu-2009": "fig-3-4",
    "khalil-guegan-2004": "leg-inertia",
    "long-khalil-martinet-2014": "fig-4",
    "chablat-wenger-2003": "diagonal",
}
"""A paper's figure on the first page."""
COMMANDS = (
    (
        "gough report kim-ryu-2002 --motion kim-ryu-2002/circle-40rpm -o kim.html",
        "a page about one robot and what a motion asks of its legs",
    ),
    ("gough show kim-ryu-2002", "its sheet in the terminal; copy the robot file and make it yours"),
    (
        "gough forces kim-ryu-2002 kim-ryu-2002/circle-60rpm -o forces.csv --contributions",
        "actuator forces along a motion, and where each newton comes from",
    ),
)


def make(folder: Path, progress: Callable[[str], None]) -> list[str]:
    """Write the pages; returns what was found, a line each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the claims say what is odd about a paper's robot
        papers = run(EVERY, folder, progress)
    speeds = measure(progress)
    progress("writing the first page")
    page = Page("gough: parallel robots, computed")
    page.text(
        "gough computes geometry, kinematics and dynamics of parallel robots, from hexapods to "
        "Deltas. "
        "This page was made by computing all of it on this machine just now."
    )
    _answer(page)
    page.heading("Papers, reproduced")
    page.table(
        ("paper", "claims", *COLORS),
        [
            (
                Hyperlink(one.title, f"{EVERY}.html#{one.name}"),
                str(len(one.claims)),
                *(str(sum(item.verdict == kind for item in one.claims)) for kind in COLORS),
            )
            for one in papers
        ],
        "Every claim of the papers that can be checked. Paper wrong: shown to be a misprint or an "
        "error, with the number as it should be. A title leads to its claims, tables and figures.",
    )
    for one in papers:
        chosen = [item for item in one.figures if item.name == SHOWN.get(one.name)]
        for item in chosen or one.figures[:1]:
            page.figure(item.figure, f"{one.title.split(':')[0]}. {item.caption}")
    studio = studio_picture()
    if studio is not None:
        page.heading("Studio")
        page.image(studio, "The studio: a robot in the browser, forces and limits live.")
    page.heading("Speed on this machine")
    header, rows = speed_table(speeds)
    page.table(header, rows, _caption(speeds))
    page.heading("Next, try")
    page.commands([(typed(line), what) for line, what in COMMANDS])
    page.write(folder / "index.html")
    fastest = [one for one in speeds if one.model == "inverse dynamics"]
    lines = [f"{one.title}: {tally(one)}" for one in papers]
    return lines + [
        f"{one.robot} {one.model}: {1e9 * one.batch:.0f} ns per state" for one in fastest
    ]


def _answer(page: Page) -> None:
    """The reader's question first: a robot, a motion, the forces."""
    robot = Robot.load("kim-ryu-2002")
    motion = Circle([0, 0, 0.8], 0.1, rpm=40).sample(601)
    act, legs = robot.inverse_dynamics(motion), robot.inverse_kinematics(motion)
    react = robot.reactions(motion)
    page.heading(QUESTION)
    page.code(CODE)
    page.facts(
        [
            ("largest actuator force", f"{np.abs(act.forces).max():.1f} N"),
            ("largest power of an actuator", f"{np.abs(act.power).max():.1f} W"),
            ("largest speed of a slider", f"{np.abs(legs.qd).max():.3f} m/s"),
            ("stroke used", f"{1e3 * np.ptp(legs.q, axis=0).max():.0f} mm"),
            (
                "largest force in a spherical joint",
                f"{np.linalg.norm(react.spherical, axis=-1).max():.1f} N",
            ),
        ]
    )
    page.figure(
        draw(robot, motion[::6]), "The robot of Kim & Ryu 2002 and the circle its platform follows."
    )
    curves = [("friction included", act.forces, "actuator force [N]")]
    page.figure(
        leg_panels(np.asarray(motion.time), curves),
        "Forces of the six actuators; they jump where a slider turns back, since friction does.",
    )


def speed_table(speeds: Sequence[Speed]) -> tuple[list[str], list[list[str]]]:
    """Headings and rows; Pinocchio's column only where it was measured."""
    compared = any(one.pinocchio is not None for one in speeds)
    header = ["robot", "model", "ns per state", "million states per second", "one call [µs]"]
    rows = [
        [
            one.robot,
            one.model,
            f"{1e9 * one.batch:.0f}",
            f"{1e-6 / one.batch:.2f}",
            f"{1e6 * one.single:.1f}",
        ]
        for one in speeds
    ]
    if compared:
        header.append("Pinocchio's call [ns]")
        for row, one in zip(rows, speeds, strict=True):
            row.append("–" if one.pinocchio is None else f"{1e9 * one.pinocchio:.0f}")
    return header, rows


def _caption(speeds: Sequence[Speed]) -> str:
    said = (
        f"{platform.machine()}, {cores()} cores, batches of {BATCH} states; the best of a few "
        "tries "
        "within this run, without friction. One call: one state from Python, with all checks."
    )
    if any(one.pinocchio is not None for one in speeds):
        said += (
            " Pinocchio: rnea, or constraintDynamics, of the opened tree, one state from Python, "
            "its "
            "joint coordinates known; the same forces to 1e-9."
        )
    return said


def studio_picture() -> bytes | None:
    """The studio's picture from the repository's documentation, if it is there."""
    path = Path(str(resources.files("gough"))).parents[1] / "docs" / "studio.png"
    try:
        return path.read_bytes()
    except OSError:
        return None


def typed(line: str) -> str:
    """A command as it is typed here: of a virtual environment in this folder by its path."""
    own = Path(sys.prefix) / "bin" / "gough"
    if shutil.which("gough") is None and own.is_relative_to(Path.cwd()) and own.exists():
        return line.replace("gough", str(own.relative_to(Path.cwd())), 1)
    return line
