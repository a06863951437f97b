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
from gough.legs.reading import actuator_names, by_units
from gough.mechanics.body import Body
from gough.mechanics.friction import Friction
from gough.model.places import AlikeLegs, alike, architecture
from gough.robot import Robot
from gough.show.sheets import gaps, mobility
from gough.show.sheets.bare_table import bare_table
from gough.show.sheets.holding import can_be_held, holding, too_few

LIMITS = ("force", "speed", "universal_angle", "spherical_angle")


class Grid(NamedTuple):
    """A table: cells are text or the components of a vector."""

    header: tuple[str, ...]
    rows: list[tuple[str | list[str], ...]]


Fact = tuple[str, str]
"""A name and what it is."""


def print_sheet(robot: Robot, console: Console) -> None:
    """Print all there is to know about a robot before it moves."""
    console.print(f"[bold]{escape(robot.name)}[/bold]   {architecture(robot)} legs")
    for label, text in (*about(robot), *mobility.legs(robot), *mobility.freedom(robot)):
        _print_wrapped(label, text, console)
    for text in gaps.wrong(robot):
        _print_wrapped("wrong", text, console, "red")
    for text in gaps.missing(robot):
        _print_wrapped("missing", text, console, "yellow")
    _print_wrapped("defaults", ", ".join(gaps.defaults(robot)), console)
    console.print()
    geometry, masses = tables(robot)
    fitting = [one for grid in (*geometry, masses) for one in _fitting(grid, console.width)]
    for grid in fitting[:-1]:
        console.print(_rich(grid))
        console.print()
    console.print(_rich(fitting[-1]))
    for title, facts in (("friction", friction(robot)), ("limits", limits(robot))):
        if facts:
            _print_facts(title, facts, console)
    facts, trouble = home(robot)
    _print_facts("home", facts, console)
    for line in trouble:
        console.print(f"  {line}", style="yellow", markup=False, highlight=False)


def _print_wrapped(label: str, text: str, console: Console, style: str | None = None) -> None:
    """A text behind its label, in lines that fit; nothing for an empty one."""
    for i, line in enumerate(textwrap.wrap(text, max(40, console.width - 14))):
        words = f"{label if i == 0 else '':<13}{line}"
        console.print(words, style=style, markup=False, highlight=False)


def about(robot: Robot) -> list[Fact]:
    """Where the numbers come from, gravity and tool."""
    file, parts = robot.file, robot.description
    facts = [("source", file.source)] if file.source else []
    facts += [("assumed", item) for item in file.assumptions]
    facts.append(("gravity", f"{vector(parts.gravity)} m/s²"))
    if np.any(parts.tool):
        facts.append(("tool", f"{vector(parts.tool)} m"))
    return facts


def tables(robot: Robot) -> tuple[list[Grid], Grid]:
    """Points, and directions and lengths, of each group of legs; and masses."""
    grids = []
    for one in alike(robot):
        numbers = range(one.which.start, one.which.stop)
        for parts in _geometry(robot, one):
            if not parts:
                continue
            rows: list[tuple[str | list[str], ...]] = [
                (str(leg + 1), *(components(part[i]) for part in parts.values()))
                for i, leg in enumerate(numbers)
            ]
            grids.append(Grid(("leg", *parts), rows))
    return grids, _masses(robot)


def friction(robot: Robot) -> list[Fact]:
    """Friction coefficients that are not 0."""
    several = len(alike(robot)) > 1
    found = []
    for one in alike(robot):
        for name, values, unit in _rubs(one):
            if np.any(values):
                label = f"{name} of {_legs(one)}" if several else name
                found.append((label, f"{_per_leg(values)} {unit}".rstrip()))
    return found


def _rubs(one: AlikeLegs) -> list[tuple[str, Array, str]]:
    """Coefficients of friction that such legs have, (legs,), with their units."""
    legs, units = one.legs, one.kind.words.friction_units
    values = {name: value[:, 0] for name, value in legs.linear_friction().items()}
    values |= {name: getattr(legs.friction, name)[:, 0] for name in legs.LOAD_FRICTION}
    if {*values} < {*Friction._fields}:
        values["width"] = legs.friction.width[:, 0]
        values = {name: values[name] for name in Friction._fields if name in values}
    return [
        (name, value, units.get(name) or units.get(name.split()[-1], ""))
        for name, value in values.items()
    ]


def _legs(one: AlikeLegs) -> str:
    """Which legs, for a label."""
    first, last = one.which.start + 1, one.which.stop
    return f"leg {first}" if first == last else f"legs {first}–{last}"


def limits(robot: Robot) -> list[Fact]:
    """Limits that the robot file sets, those of passive joints included."""
    allowed = robot.description.limits
    parts = by_units(robot.actuators)
    found = []
    for units, which in parts:
        of = "" if len(parts) == 1 else f" of {_actuators(robot, which)}"
        if np.all(np.isfinite(allowed.longest[which])):
            ends = f"{_per_leg(allowed.shortest[which])} to {_per_leg(allowed.longest[which])}"
            found.append(("stroke", f"{ends} {units.q}{of}"))
        for name in ("force", "speed"):
            values = getattr(allowed, name)[which]
            if np.any(np.isfinite(values)):
                found.append((name, f"{_per_leg(values)} {units.limits[name]}{of}"))
    for name in ("universal_angle", "spherical_angle"):
        values = getattr(allowed, name)
        if np.any(np.isfinite(values)):
            found.append((name, f"{_per_leg(values)} rad"))
    for one in robot.description.passive:
        label = f"leg {one.leg + 1} joint {one.joint + 1}"
        found.append((label, f"{one.shortest:.6g} to {one.longest:.6g} {one.units.q}"))
    return found


def _actuators(robot: Robot, which: Array) -> str:
    return ", ".join(np.array(actuator_names(robot.actuators))[which])


def _by_units(robot: Robot, name: str, values: Array, unit: str) -> list[Fact]:
    """A value per actuator, unit by unit."""
    parts = by_units(robot.actuators)
    return [
        (name, f"{vector(values[which])} {getattr(units, unit)}")
        if len(parts) == 1
        else (name, f"{vector(values[which])} {getattr(units, unit)} of {_actuators(robot, which)}")
        for units, which in parts
    ]


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
    facts += _by_units(robot, "q", legs.q, "q")
    scale = f"length scale {robot.length_scale:.4g} m"
    if robot.mobility < 6:
        scale = f"{robot.mobility} directions, {scale}"
    few = too_few(robot)
    facts.append(
        ("condition number", "none: too few actuators" if few else f"{condition:.4g} ({scale})")
    )
    trouble = []
    if not can_be_held(robot):
        why = "none: too few actuators" if few else "not known: masses are missing"
        facts.append(("holding forces", why))
    else:
        try:
            held = holding(robot)
            facts += _by_units(robot, "holding forces", held.forces, "force")
            trouble += [held.falls] if held.falls else []
        except GoughError as error:
            trouble.append(str(error))
    try:
        report = robot.check(pose)
    except GoughError as error:
        return facts, [*trouble, str(error)]
    well = "within all limits" if limits(robot) else "no limits given"
    verdict = well if report.ok else "; ".join(map(str, report.violations))
    return [*facts, ("check", verdict)], list(dict.fromkeys(trouble))


def sheet_numbers(robot: Robot) -> dict[str, Any]:
    """The sheet as plain numbers and lists, SI units; what is not given or unlimited is None."""
    parts, file = robot.description, robot.file
    allowed = parts.limits
    return {
        "name": robot.name,
        "source": file.source,
        "assumed": file.assumptions,
        "kind": robot.kind,
        "legs": robot.leg_count,
        **mobility.freedom_numbers(robot),
        "modes": robot.modes,
        "gravity": parts.gravity.tolist(),
        "tool": parts.tool.tolist(),
        "length_scale": robot.length_scale,
        "geometry": _geometry_numbers(robot),
        "bodies": {
            name: None if body is None else [_central_numbers(*one) for one in _one_by_one(body)]
            for name, body in _bodies(robot)
        },
        "friction": _friction_numbers(robot),
        "limits": {
            "stroke": np.stack([allowed.shortest, allowed.longest], axis=-1).tolist(),
            **{name: getattr(allowed, name).tolist() for name in LIMITS},
        },
        "home": _home_numbers(robot),
        "wrong": gaps.wrong(robot),
        "missing": list(parts.missing),
        "defaults": gaps.defaults(robot),
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
        "warnings": [],
        "errors": [],
    }
    try:
        found["q"] = robot.inverse_kinematics(pose).q.tolist()
        if not too_few(robot):
            found["condition_number"] = float(robot.condition_number(pose))
        if can_be_held(robot):
            held = holding(robot)
            found["forces"] = held.forces.tolist()
            found["warnings"] = [held.falls] if held.falls else []
        found["violations"] = [one._asdict() for one in robot.check(pose).violations]
    except GoughError as error:
        found["errors"] = [str(error)]
    return found


def _friction_numbers(robot: Robot) -> dict[str, list[float]]:
    """By name, one number a leg; None of legs that have no such friction."""
    found: dict[str, list[Any]] = {}
    for one in alike(robot):
        for name, values, _ in _rubs(one):
            row = found.setdefault(name, [None] * robot.leg_count)
            row[one.which] = values.tolist()
    return found


def _geometry(robot: Robot, legs: AlikeLegs) -> tuple[dict[str, Array], dict[str, Array]]:
    """Points by heading, and directions and lengths; columns of zeros are left out of these."""
    listed = legs.kind.shape.dimensions(legs.legs)
    points = {"platform P (m)": robot.description.platform_points[..., 0].T[legs.which]}
    points |= {one.heading: one.values for one in listed if one.point}
    others = {one.heading: one.values for one in listed if not one.point and np.any(one.values)}
    return points, others


def _geometry_numbers(robot: Robot) -> dict[str, Any]:
    """By the robot file's keys, one value a leg; None of legs that have no such key."""
    found: dict[str, list[Any]] = {"platform": robot.description.platform_points[..., 0].T.tolist()}
    for one in alike(robot):
        for dimension in one.kind.shape.dimensions(one.legs):
            row = found.setdefault(dimension.key, [None] * robot.leg_count)
            row[one.which] = dimension.values.tolist()
    return found


def _bodies(robot: Robot) -> list[tuple[str, Body | None]]:
    """Every body by name; None where the robot file does not give it."""
    missing = robot.description.missing
    several = len(alike(robot)) > 1
    found: list[tuple[str, Body | None]] = []
    for one in alike(robot):
        for place, (name, body) in enumerate(one.legs.named_bodies().items()):
            key = one.kind.words.body_key.format(name=name, place=place)
            lacks = f"{one.where}.{key}" in missing
            label = f"{name} of {_legs(one)}" if several else name
            found.append((label, None if lacks else body))
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
        table.add_row(*(escape(_text(one)) for one in row))
    return table


def _text(cell: str | list[str]) -> str:
    """A cell for the terminal."""
    return cell if isinstance(cell, str) else "  ".join(f"{one:>7}" for one in cell)


def _fitting(grid: Grid, width: int) -> list[Grid]:
    """The grid, or where it is too wide its columns in several, each with the first column."""
    cells = zip(grid.header, *grid.rows, strict=True)
    widths = [max(len(_text(cell)) for cell in column) + 2 for column in cells]
    parts: list[list[int]] = []
    used = width
    for column, own in enumerate(widths[1:], 1):
        if used + own > width:
            parts.append([0])
            used = widths[0] - 2
        parts[-1].append(column)
        used += own
    return [
        Grid(
            tuple(grid.header[i] for i in part), [tuple(row[i] for i in part) for row in grid.rows]
        )
        for part in parts
    ]


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
