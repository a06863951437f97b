"""The page about a robot: drawings, geometry, masses, limits, checks, home, modes, and a motion."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gough.analysis.singularities import singularity
from gough.base.arrays import Array
from gough.data.datasets import force_dataset, leg_dataset
from gough.errors import GoughError, UnstableWarning
from gough.legs.reading import actuator_names
from gough.model.deflected import deflected, how_deflected
from gough.model.places import alike
from gough.motion import Motion
from gough.show.page import Cell, Mark, Marked, Page
from gough.show.pictures.modes import mode_sheet
from gough.show.pictures.views import home_bars, three_views
from gough.show.report.result import add_result
from gough.show.sheets import gaps, mobility
from gough.show.sheets import robot as sheet
from gough.show.sheets.holding import can_be_held, holding, too_few
from gough.show.sheets.modes import mode_rows
from gough.show.turnable import Turnable

if TYPE_CHECKING:
    from gough.robot import Robot

STIFF, POOR = 30.0, 300.0
"""Condition numbers above which a pose is called fair, and bad."""
TURN = "Drag to turn; click, then the wheel zooms; a double click starts again."


def robot_page(
    robot: Robot, motion: Motion | None = None, warned: Sequence[str] = (), what: str = "a motion"
) -> Page:
    """All there is to say about a robot before it runs, and what a motion asks of its legs.

    `warned` is what loading the robot file warned of, `what` the motion's name.
    """
    page = Page(robot.name, robot.file.source)
    page.facts(_facts(robot))
    page.heading("Checks")
    page.facts(_checks(robot, warned))
    if robot.description.home is not None:
        _draw(page, robot)
    _tables(page, robot)
    if robot.description.home is not None:
        _home(page, robot)
    if robot.description.modal is not None:
        _modes(page, robot)
    if robot.bends:
        page.heading("Legs that bend")
    if robot.modes or robot.bends:
        _frequencies(page, robot)
    if motion is not None:
        _motion(page, robot, motion, what)
    if robot.file.assumptions:
        page.heading("Assumed")
        page.points(robot.file.assumptions)
    return page


def _facts(robot: Robot) -> list[tuple[str, str]]:
    facts = mobility.legs(robot)
    platform = f"flexible, {robot.modes} modes" if robot.modes else "rigid"
    facts.append(("platform", platform))
    facts += [(f"platform {name}", words) for name, words in mobility.freedom(robot)]
    facts += [_flat(one) for one in sheet.about(robot) if one[0] in ("gravity", "tool")]
    total = _total_mass(robot)
    if total is not None:
        facts.append(("mass that moves", f"{total:.6g} kg, of which legs {_legs_mass(robot):.6g}"))
    return facts


def _flat(fact: sheet.Fact) -> sheet.Fact:
    """A fact with commas in place of the terminal's columns."""
    return fact[0], re.sub(" {2,}", ", ", fact[1].strip())


def _legs_mass(robot: Robot) -> float:
    bodies = (body for one in alike(robot) for body in one.legs.named_bodies().values())
    return float(sum(body.mass.sum() for body in bodies))


def _total_mass(robot: Robot) -> float | None:
    if robot.description.missing:
        return None
    modal = robot.description.modal
    platform = robot.description.platform.mass[0, 0] if modal is None else modal.mass
    return float(platform) + _legs_mass(robot)


def _checks(robot: Robot, warned: Sequence[str]) -> list[tuple[str, str | Marked]]:
    """What was looked at, and whether it is well."""
    found: list[tuple[str, str | Marked]] = []
    own = f"{robot.name}: "
    found += [("robot file", Marked(one.removeprefix(own), "fair")) for one in warned]
    if not warned:
        found.append(("robot file", Marked("nothing to complain about", "good")))
    found += [("robot", Marked(one, "bad")) for one in gaps.wrong(robot)]
    if robot.description.missing:
        lacks = f"not given: {', '.join(sorted(robot.description.missing))}; no dynamics"
        found.append(("masses", Marked(lacks, "fair")))
    if robot.description.home is None:
        return [*found, ("home", Marked("not given", "fair"))]
    home = robot.home
    try:
        if not too_few(robot):
            condition = float(robot.condition_number(home))
            mark = Marked(f"{condition:.4g}", _grade(condition), CONDITION)
            found.append(("condition number at home", mark))
        if (robot.modes or robot.bends) and can_be_held(robot):
            falls = holding(robot).falls
            stands = Marked("with its actuators locked", "good")
            found.append(("stands at home", Marked(falls, "bad") if falls else stands))
        report = robot.check(home)
    except GoughError as error:
        return [*found, ("home", Marked(str(error), "bad"))]
    if not sheet.limits(robot):
        return [*found, ("limits", Marked("none given", "quiet"))]
    found += [("limits at home", Marked(str(one), "bad")) for one in report.violations]
    if report.ok:
        found.append(("limits at home", Marked("within all limits", "good")))
    return found


MOST_MODES = 24
"""Of natural frequencies that the page lists, the lowest."""
CONDITION = "of the Jacobian, angles made lengths by the platform's size; 1 is best"


def _grade(condition: float) -> Mark:
    return "good" if condition < STIFF else "fair" if condition < POOR else "bad"


def _draw(page: Page, robot: Robot) -> None:
    page.heading("Drawings")
    try:
        page.turnable(Turnable.of(robot), f"At home. {TURN}")
        page.figure(three_views(robot), "Top, front and side view at home, to one scale.")
    except GoughError as error:
        page.text(f"No drawing: {error}", "fair")


def _tables(page: Page, robot: Robot) -> None:
    geometry, masses = sheet.tables(robot)
    page.heading("Geometry")
    frame = (
        "Base points, rails and joints at home in world axes, platform points in the platform's."
    )
    for i, grid in enumerate(geometry):
        page.table(grid.header, grid.rows, "" if i else frame)
    page.heading("Masses")
    page.table(masses.header, masses.rows, "Each body in its own frame.")
    for title, facts in (("Friction", sheet.friction(robot)), ("Limits", sheet.limits(robot))):
        if facts:
            page.heading(title)
            page.facts([(name.replace("_", " "), text) for name, text in facts])


def _home(page: Page, robot: Robot) -> None:
    page.heading("Home")
    facts, trouble = sheet.home(robot)
    page.facts([_flat(one) for one in facts if one[0] in ("position", "rotation vector")])
    try:
        q = robot.inverse_kinematics(robot.home).q
        held = holding(robot) if can_be_held(robot) else None
    except GoughError as error:
        page.text(str(error), "bad")
        return
    forces = None if held is None else held.forces
    for line in trouble:
        if held is None or line != held.falls:  # the checks say that
            page.text(line, "bad")
    page.table(*_home_table(robot, q, forces))
    caption = "Actuated coordinates at home"
    if forces is not None:
        caption += ", and the actuator forces that hold the robot there against gravity"
        caption += ", its platform deflected" if robot.modes else ""
    page.figure(home_bars(robot, q, forces), f"{caption}.")
    _singularity(page, robot)


def _home_table(
    robot: Robot, q: Array, forces: Array | None
) -> tuple[list[str], list[list[Cell]], str]:
    """q, the room left in the stroke, and the holding force of every actuator."""
    limits, actuators = robot.description.limits, robot.actuators
    units = {name: [getattr(one.units, name) for one in actuators] for name in ("q", "force")}
    strokes = np.isfinite(limits.shortest) & np.isfinite(limits.longest)
    header = ["actuator", "q"]
    columns = [[*actuator_names(actuators)], [f"{one:.5f}" for one in q]]
    if np.any(strokes):
        header += ["to the shortest", "to the longest"]
        columns += [
            [f"{one:.4f}" if np.isfinite(one) else "–" for one in room]
            for room in (q - limits.shortest, limits.longest - q)
        ]
    header, columns = _with_units(header, columns, units["q"])
    if forces is not None:
        own, shown = _with_units(
            ["holding force"], [[f"{one:.2f}" for one in forces]], units["force"]
        )
        header, columns = header + own, columns + shown
        if np.any(np.isfinite(limits.force)):
            header.append("of the limit [%]")
            share = 100 * np.abs(forces) / limits.force
            columns.append([f"{one:.1f}" if one > 0 else "–" for one in share])
    rows: list[list[Cell]] = [list(row) for row in zip(*columns, strict=True)]
    caption = "Γ > 0 pushes towards larger q." if forces is not None else ""
    return header, rows, caption


def _with_units(
    header: list[str], columns: list[list[str]], units: list[str]
) -> tuple[list[str], list[list[str]]]:
    """Columns of numbers with their unit in the head, or where they differ in a column of its own."""
    numbers = [name for name in header if name != "actuator"]
    if len({*units}) == 1:
        return [f"{one} [{units[0]}]" if one in numbers else one for one in header], columns
    return [*header, "unit"], [*columns, units]


def _singularity(page: Page, robot: Robot) -> None:
    try:
        measures = singularity(robot, robot.home)
    except GoughError:
        return
    rows: list[list[Cell]] = [
        ["condition number", f"{float(measures.condition):.4g}", "1 best"],
        ["smallest singular value", f"{float(measures.smallest):.4g}", "0 singular"],
        ["transmission index", f"{float(measures.transmission):.4g}", "0 singular, 1 best"],
        ["legs' lines (parallel)", f"{float(measures.parallel):.4g}", "0 singular"],
        [
            "legs (serial)",
            f"{float(np.min(measures.serial)):.4g}",
            "0 singular; speed along the link over q̇",
        ],
        ["universal joints", f"{float(np.min(measures.universal)):.4g}", "0 locked, 1 best"],
    ]
    page.table(
        ["how far from singular", "at home", ""],
        rows,
        f"Angles are made lengths by {measures.length:.4g} m; the transmission index needs none.",
    )


def _modes(page: Page, robot: Robot) -> None:
    body = robot.description.modal
    assert body is not None
    page.heading("Flexible platform")
    page.facts([("mass", f"{body.mass:.6g} kg"), ("nodes", str(len(body.masses)))])
    page.table(*mode_rows(body), "Modes of the platform alone, its frame held.")
    if body.modes:
        page.figure(mode_sheet(body, robot.name), "Mode shapes; the dots are the legs' tips.")


def _frequencies(page: Page, robot: Robot) -> None:
    """Natural frequencies at home, and what of each is bending of legs."""
    if robot.description.home is None or not can_be_held(robot):
        return
    try:
        with warnings.catch_warnings(action="ignore", category=UnstableWarning):  # in the checks
            found = robot.natural_frequencies(robot.home)
    except GoughError as error:
        page.text(f"No natural frequencies: {error}", "fair")
        return
    rows: list[list[Cell]] = [
        [
            str(k + 1),
            f"{f:.4g}".replace("-", "−"),
            *([f"{100 * bent:.0f} %"] if robot.bends else []),
        ]
        for k, (f, bent) in enumerate(zip(found.frequencies, found.bending, strict=True))
    ]
    page.table(
        ["mode", "Hz", *(["of its energy in legs that bend"] if robot.bends else [])],
        rows[:MOST_MODES],
        "Lowest natural frequencies of the whole robot at home with its actuators locked, undamped; "
        "−f: the pose does not hold itself, motion grows as exp(2π f t).",
    )


def _motion(page: Page, robot: Robot, motion: Motion, what: str) -> None:
    page.heading(f"Along {what}")
    given = motion
    if can_be_held(robot):
        motion = deflected(robot, given)
        how = how_deflected(given, motion)
        if how:
            page.text(f"The platform deflects: {how}.")
    found = leg_dataset(robot, motion, robot.inverse_kinematics(motion))
    if can_be_held(robot):
        forces = robot.inverse_dynamics(motion)
        found = found.merge(force_dataset(robot, motion, forces), combine_attrs="drop_conflicts")
    found.attrs["limits"] = str(robot.check(motion))
    path = "The path of the platform's origin is a line."
    page.turnable(Turnable.of(robot, motion), f"Along the motion. {path} {TURN}")
    add_result(page, found)
