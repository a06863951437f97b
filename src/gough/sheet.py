"""A robot's sheet for the terminal: geometry, masses, friction, limits, home pose, checks."""

from __future__ import annotations

import textwrap

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.spatial.transform import Rotation

from gough.check import UNITS
from gough.errors import GoughError
from gough.friction import Friction
from gough.legs.ups import UPS
from gough.motion import Array
from gough.robot import Robot

FRICTION_UNITS = {
    "slider_viscous": "N s/m",
    "universal_viscous": "N m s/rad",
    "universal_coulomb": "m",
    "spherical_viscous": "N m s/rad",
    "spherical_coulomb": "m",
    "screw_drag": "N",
    "width": "m/s, rad/s",
}


def print_sheet(robot: Robot, console: Console) -> None:
    """Print all there is to know about a robot before it moves."""
    file = robot.file
    console.print(f"[bold]{robot.name}[/bold]   {robot.leg_count} {robot.kind} legs")
    for label, text in (("source", file.source), *(("assumed", item) for item in file.assumed)):
        if text:
            wrapped = textwrap.wrap(text, max(40, console.width - 12))
            for i, line in enumerate(wrapped):
                console.print(f"{label if i == 0 else '':<10}{line}", markup=False, highlight=False)
    console.print(f"{'gravity':<10}{_vector(robot.description.gravity)} m/s²", highlight=False)
    if np.any(robot.description.tool):
        console.print(f"{'tool':<10}{_vector(robot.description.tool)} m", highlight=False)
    console.print()
    for table in _geometry(robot):
        console.print(table)
        console.print()
    console.print(_masses(robot))
    _print_friction(robot, console)
    _print_limits(robot, console)
    _print_home(robot, console)


def _table(*headers: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for i, header in enumerate(headers):
        table.add_column(header, justify="left" if i == 0 else "right", no_wrap=True)
    return table


def _geometry(robot: Robot) -> list[Table]:
    """Points in one table, directions and lengths in another: each fits a narrow terminal."""
    legs = robot.description.legs
    points = {"platform P (m)": robot.description.platform_points[..., 0].T}
    others = {"universal axis": legs.axis[..., 0].T}
    if np.any(legs.rotor_mass):
        others["rotor mass (kg)"] = legs.rotor_mass
    if isinstance(legs, UPS):
        points["base B (m)"] = legs.base[..., 0].T
    else:
        points["rail origin (m)"] = legs.rail_origin[..., 0].T
        others = {
            "rail direction": legs.rail_direction[..., 0].T,
            "length (m)": legs.length,
        } | others
    tables = []
    for parts in (points, others):
        table = _table("leg", *parts)
        for i in range(robot.leg_count):
            table.add_row(str(i + 1), *(_vector(part[i]) for part in parts.values()))
        tables.append(table)
    return tables


def _masses(robot: Robot) -> Table:
    table = _table("body", "mass (kg)", "centre of mass (m)", "principal inertia there (kg m²)")
    legs = robot.description.legs
    bodies = [
        (name, getattr(legs, name), f"legs.{name}") for name in robot.machine.equations.BODIES
    ]
    bodies.append(("platform", robot.description.platform, "platform"))
    for name, body, key in bodies:
        if key in robot.description.missing:
            table.add_row(name, "not given", "", "")
            continue
        same = all(np.allclose(part, part[..., :1, :]) for part in body)
        count = 1 if same else robot.leg_count
        for i in range(count):
            mass, moment, inertia = (
                body.mass[i, 0],
                body.first_moment[:, i, 0],
                body.inertia[..., i, 0],
            )
            center = moment / mass if mass else np.zeros(3)
            central = inertia - mass * (center @ center * np.eye(3) - np.outer(center, center))
            label = name if same else f"{name} {i + 1}"
            table.add_row(
                label, f"{mass:.6g}", _vector(center), _vector(np.linalg.eigvalsh(central))
            )
    return table


def _print_friction(robot: Robot, console: Console) -> None:
    friction = robot.description.friction
    if friction.none:
        return
    console.print("\n[bold]friction[/bold]")
    for name in Friction._fields:
        values = getattr(friction, name)[:, 0]
        if np.any(values):
            coulomb = "N" if robot.kind == "UPS" else ""
            unit = FRICTION_UNITS.get(name, coulomb)
            console.print(f"  {name:<20}{_per_leg(values)} {unit}", highlight=False)


def _print_limits(robot: Robot, console: Console) -> None:
    limits = robot.description.limits
    lines = []
    if np.all(np.isfinite(limits.longest)):
        lines.append(f"  {'stroke':<20}{_per_leg(limits.shortest)} to {_per_leg(limits.longest)} m")
    for name in ("force", "speed", "universal_angle", "spherical_angle"):
        values = getattr(limits, name)
        if np.any(np.isfinite(values)):
            lines.append(f"  {name:<20}{_per_leg(values)} {UNITS[name]}")
    if lines:
        console.print("\n[bold]limits[/bold]")
        for line in lines:
            console.print(line, highlight=False)


def _print_home(robot: Robot, console: Console) -> None:
    console.print("\n[bold]home[/bold]")
    if robot.description.home is None:
        console.print("  not given")
        return
    home = robot.home
    turn = Rotation.from_matrix(home.rotation).as_rotvec()
    console.print(f"  {'position':<20}{_vector(home.position)} m", highlight=False)
    console.print(f"  {'rotation vector':<20}{_vector(turn)} rad", highlight=False)
    try:
        legs = robot.inverse_kinematics(home)
        condition = float(robot.condition_number(home))
    except GoughError as error:
        console.print(f"  [yellow]{error}[/yellow]")
        return
    console.print(f"  {'q':<20}{_vector(legs.q)} m", highlight=False)
    console.print(
        f"  {'condition number':<20}{condition:.4g} (length scale {robot.length_scale:.4g} m)",
        highlight=False,
    )
    if not robot.description.missing and robot.leg_count >= 6:
        try:
            forces = robot.inverse_dynamics(home).forces
            console.print(f"  {'holding forces':<20}{_vector(forces)} N", highlight=False)
        except GoughError as error:
            console.print(f"  [yellow]{error}[/yellow]")
    report = robot.check(home)
    verdict = "within all limits" if report.ok else "; ".join(map(str, report.violations))
    console.print(f"  {'check':<20}{verdict}", highlight=False)


def _vector(values: Array) -> str:
    """Numbers of one width, without the −0 of rounding."""
    return "  ".join(f"{_tidy(value):>7.4g}" for value in np.ravel(values))


def _tidy(value: float) -> float:
    return 0.0 if abs(value) < 1e-12 else float(value)


def _per_leg(values: Array) -> str:
    first = values.flat[0]
    return f"{first:.6g}" if np.all(values == first) else ", ".join(f"{v:.6g}" for v in values.flat)
