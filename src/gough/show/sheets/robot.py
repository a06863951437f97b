"""A robot's sheet: geometry, masses, friction, limits, home pose, checks; as text and as numbers.

`tables`, `friction`, `limits` and `home` say it in words for the terminal and for pages,
`sheet_numbers` in numbers for programs.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.errors import GoughError
from gough.mechanics.body import Body
from gough.mechanics.friction import Friction
from gough.robot import Robot
from gough.show.sheets.bare_table import bare_table

LIMITS = ("force", "speed", "universal_angle", "spherical_angle")


class Grid(NamedTuple):
    """A table: cells are text or the components of a vector."""

    header: tuple[str, ...]
    rows: list[tuple[str | list[str], ...]]


Fact = tuple[str, str]
"""A name and what it is."""


def print_sheet(robot: Robot, console: Console) -> None:
    """Print all there is to know about a robot before it moves."""
    console.print(f"[bold]{escape(robot.name)}[/bold]   {robot.leg_count} {robot.kind} legs")
    for label, text in about(robot):
        for i, line in enumerate(textwrap.wrap(text, max(40, console.width - 12))):
            console.print(f"{label if i == 0 else '':<10}{line}", markup=False, highlight=False)
    console.print()
    points, others, masses = tables(robot)
    for grid in (points, others):
        console.print(_rich(grid))
        console.print()
    console.print(_rich(masses))
    for title, facts in (("friction", friction(robot)), ("limits", limits(robot))):
        if facts:
            _print_facts(title, facts, console)
    facts, trouble = home(robot)
    _print_facts("home", facts, console)
    for line in trouble:
        console.print(f"  {line}", style="yellow", markup=False, highlight=False)


def about(robot: Robot) -> list[Fact]:
    """Where the numbers come from, gravity and tool."""
    file, parts = robot.file, robot.description
    facts = [("source", file.source)] if file.source else []
    facts += [("assumed", item) for item in file.assumed]
    facts.append(("gravity", f"{vector(parts.gravity)} m/s²"))
    if np.any(parts.tool):
        facts.append(("tool", f"{vector(parts.tool)} m"))
    return facts


def tables(robot: Robot) -> list[Grid]:
    """Points, directions and lengths, masses; each fits a narrow terminal."""
    points, others = _geometry(robot)
    grids = []
    for parts in (points, others):
        rows: list[tuple[str | list[str], ...]] = [
            (str(i + 1), *(components(part[i]) for part in parts.values()))
            for i in range(robot.leg_count)
        ]
        grids.append(Grid(("leg", *parts), rows))
    return [*grids, _masses(robot)]


def friction(robot: Robot) -> list[Fact]:
    """Friction coefficients that are not 0."""
    found = []
    for name in _friction_names(robot):
        values = getattr(robot.description.legs.friction, name)[:, 0]
        if np.any(values):
            unit = robot.leg_kind.words.friction_units.get(name, "")
            found.append((name, f"{_per_leg(values)} {unit}".rstrip()))
    return found


def _friction_names(robot: Robot) -> list[str]:
    """The coefficients of friction that such legs have."""
    legs = robot.mechanism.legs
    own = {*legs.LINEAR_FRICTION, *legs.LOAD_FRICTION, "width"}
    return [name for name in Friction._fields if name in own]


def limits(robot: Robot) -> list[Fact]:
    """Limits that the robot file sets."""
    allowed, units = robot.description.limits, robot.leg_kind.units.limits
    found = []
    if np.all(np.isfinite(allowed.longest)):
        ends = f"{_per_leg(allowed.shortest)} to {_per_leg(allowed.longest)}"
        found.append(("stroke", f"{ends} {units['stroke']}"))
    for name in LIMITS:
        values = getattr(allowed, name)
        if np.any(np.isfinite(values)):
            found.append((name, f"{_per_leg(values)} {units[name]}"))
    return found


def home(robot: Robot) -> tuple[list[Fact], list[str]]:
    """The home pose and what holds it, and what is wrong with it."""
    if robot.description.home is None:
        return [("position", "not given")], []
    pose = robot.home
    turn = Rotation.from_matrix(pose.rotation).as_rotvec()
    facts = [
        ("position", f"{vector(pose.position)} m"),
        ("rotation vector", f"{vector(turn)} rad"),
    ]
    try:
        legs = robot.inverse_kinematics(pose)
        condition = float(robot.condition_number(pose))
    except GoughError as error:
        return facts, [str(error)]
    facts.append(("q", f"{vector(legs.q)} {robot.leg_kind.units.q}"))
    scale = f"length scale {robot.length_scale:.4g} m"
    facts.append(("condition number", f"{condition:.4g} ({scale})"))
    trouble = []
    if can_be_held(robot):
        try:
            forces = robot.inverse_dynamics(pose).forces
            facts.append(("holding forces", f"{vector(forces)} {robot.leg_kind.units.force}"))
        except GoughError as error:
            trouble.append(str(error))
    try:
        report = robot.check(pose)
    except GoughError as error:
        return facts, [*trouble, str(error)]
    verdict = "within all limits" if report.ok else "; ".join(map(str, report.violations))
    return [*facts, ("check", verdict)], list(dict.fromkeys(trouble))


def can_be_held(robot: Robot) -> bool:
    """Whether actuator forces can be asked for at all: masses known, six legs or more."""
    return not robot.description.missing and robot.leg_count >= 6


def sheet_numbers(robot: Robot) -> dict[str, Any]:
    """The sheet as plain numbers and lists, SI units; what is not given or unlimited is None."""
    parts, file = robot.description, robot.file
    allowed, rubbing = parts.limits, parts.legs.friction
    return {
        "name": robot.name,
        "source": file.source,
        "assumed": list(file.assumed),
        "kind": robot.kind,
        "legs": robot.leg_count,
        "modes": robot.modes,
        "gravity": parts.gravity.tolist(),
        "tool": parts.tool.tolist(),
        "length_scale": robot.length_scale,
        "geometry": _geometry_numbers(robot),
        "bodies": {
            name: None if body is None else [_central_numbers(*one) for one in _one_by_one(body)]
            for name, body in _bodies(robot)
        },
        "friction": {
            name: getattr(rubbing, name)[:, 0].tolist() for name in _friction_names(robot)
        },
        "limits": {
            "stroke": np.stack([allowed.shortest, allowed.longest], axis=-1).tolist(),
            **{name: getattr(allowed, name).tolist() for name in LIMITS},
        },
        "home": _home_numbers(robot),
    }


def _home_numbers(robot: Robot) -> dict[str, Any] | None:
    if robot.description.home is None:
        return None
    pose = robot.home
    found: dict[str, Any] = {
        "position": pose.position.tolist(),
        "rotation_vector": Rotation.from_matrix(pose.rotation).as_rotvec().tolist(),
        "q": None,
        "condition_number": None,
        "forces": None,
        "violations": [],
        "errors": [],
    }
    try:
        found["q"] = robot.inverse_kinematics(pose).q.tolist()
        found["condition_number"] = float(robot.condition_number(pose))
        if can_be_held(robot):
            found["forces"] = robot.inverse_dynamics(pose).forces.tolist()
        found["violations"] = [one._asdict() for one in robot.check(pose).violations]
    except GoughError as error:
        found["errors"] = [str(error)]
    return found


def _geometry(robot: Robot) -> tuple[dict[str, Array], dict[str, Array]]:
    """Points by heading, and directions and lengths; columns of zeros are left out of these."""
    listed = robot.leg_kind.shape.dimensions(robot.description.legs)
    points = {"platform P (m)": robot.description.platform_points[..., 0].T}
    points |= {one.heading: one.values for one in listed if one.point}
    others = {one.heading: one.values for one in listed if not one.point and np.any(one.values)}
    return points, others


def _geometry_numbers(robot: Robot) -> dict[str, Any]:
    """By the robot file's keys."""
    found = {"platform": robot.description.platform_points[..., 0].T}
    found |= {
        one.key: one.values for one in robot.leg_kind.shape.dimensions(robot.description.legs)
    }
    return {name: value.tolist() for name, value in found.items()}


def _bodies(robot: Robot) -> list[tuple[str, Body | None]]:
    """Every body by name; None where the robot file does not give it."""
    legs, missing = robot.description.legs, robot.description.missing
    found = [
        (name, None if f"legs.{name}" in missing else getattr(legs, name))
        for name in robot.mechanism.legs.BODIES
    ]
    return [*found, ("platform", None if "platform" in missing else robot.description.platform)]


def _one_by_one(body: Body) -> list[tuple[float, Array, Array]]:
    """Mass, centre of mass and inertia there, of one body if all legs have the same."""
    same = all(np.allclose(part, part[..., :1, :]) for part in body)
    found = []
    for i in range(1 if same else len(body.mass)):
        mass, moment = float(body.mass[i, 0]), body.first_moment[:, i, 0]
        center = moment / mass if mass else np.zeros(3)
        spread = center @ center * np.eye(3) - np.outer(center, center)
        found.append((mass, center, body.inertia[..., i, 0] - mass * spread))
    return found


def _central_numbers(mass: float, center: Array, inertia: Array) -> dict[str, Any]:
    return {"mass": mass, "center_of_mass": center.tolist(), "inertia": inertia.tolist()}


def _masses(robot: Robot) -> Grid:
    rows: list[tuple[str | list[str], ...]] = []
    for name, body in _bodies(robot):
        if body is None:
            rows.append((name, "not given", "", ""))
            continue
        found = _one_by_one(body)
        for i, (mass, center, inertia) in enumerate(found):
            label = name if len(found) == 1 else f"{name} {i + 1}"
            principal = components(np.linalg.eigvalsh(inertia))
            rows.append((label, f"{mass:.6g}", components(center), principal))
    heads = ("body", "mass (kg)", "centre of mass (m)", "principal inertia there (kg m²)")
    return Grid(heads, rows)


def _rich(grid: Grid) -> Table:
    """A grid for the terminal."""
    first, *others = grid.header
    table = bare_table(first, numbers=others)
    table.columns[0].no_wrap = True
    for row in grid.rows:
        table.add_row(
            *(
                escape(one) if isinstance(one, str) else "  ".join(f"{x:>7}" for x in one)
                for one in row
            )
        )
    return table


def _print_facts(title: str, facts: Sequence[Fact], console: Console) -> None:
    console.print(f"\n[bold]{title}[/bold]")
    for name, text in facts:
        console.print(f"  {name:<20}{text}", markup=False, highlight=False)


def components(values: Array) -> list[str]:
    """Numbers as text, without the −0 of rounding."""
    tidy = (0.0 if abs(value) < 1e-12 else float(value) for value in np.ravel(values))
    return [f"{value:.4g}" for value in tidy]


def vector(values: Array) -> str:
    """Numbers of one width in a line."""
    return "  ".join(f"{one:>7}" for one in components(values))


def _per_leg(values: Array) -> str:
    first = values.flat[0]
    return f"{first:.6g}" if np.all(values == first) else ", ".join(f"{v:.6g}" for v in values.flat)
