"""The numbers of one instant as HTML: compact tables, coloured by how near a limit they are."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.legs.reading import actuator_names, by_units
from gough.model.limits import OF_LEGS
from gough.show.colors import leg_color
from gough.studio.levels import Level, condition_level, level, worst
from gough.studio.record import StudioRecord
from gough.studio.skin import BANDS
from gough.studio.units import SI, PageUnits

if TYPE_CHECKING:
    from gough.robot import Robot

INSET = 9
"""Pixels between the panel's edge and its fields."""
CELL = "padding:2px 6px;text-align:right;border-radius:3px;white-space:nowrap"
HEAD = "padding:2px 6px;text-align:right;font-weight:600;color:#8A9099;white-space:nowrap"
TABLE = (
    "width:100%;border-collapse:separate;border-spacing:1px 1px;font-size:12px;"
    "font-variant-numeric:tabular-nums;line-height:1.35"
)
LIMITS = {
    "stroke": "stroke",
    "speed": "speed",
    "force": "force",
    "universal_angle": "universal angle",
    "spherical_angle": "spherical angle",
}


def actuator_table(shown: StudioRecord, sample: int, shown_in: PageUnits = SI) -> str:
    """Coordinate, rate, force and power of each actuator."""
    robot = shown.robot
    units = [one.units for one in robot.actuators]
    columns = [
        _converted("q", shown.q, 4, [one.q for one in units], "stroke", shown_in),
        _converted("q̇", shown.qd, 3, [one.speed for one in units], "speed", shown_in),
    ]
    if shown.forces is not None and shown.power is not None:
        forces, power = shown.forces, shown.power
        names = [one.force for one in units]
        columns.append(Column("Γ", forces, _digits(forces), names, "force"))
        columns.append(Column("power", power, _digits(power), ["W"] * len(units)))
    return _table(shown, sample, columns, actuator_labels(robot))


def load_table(shown: StudioRecord, sample: int) -> str:
    """What the joints of each leg bear."""
    if not shown.loads:
        return note(shown.note or "no forces are known")
    legs = shown.robot.leg_count
    columns = [
        Column(
            name.replace("_", " ").removesuffix(" moment"),
            value,
            _digits(value),
            ["N m" if name.endswith("moment") else "N"] * legs,
        )
        for name, value in shown.loads.items()
    ]
    return _table(shown, sample, columns, [_leg(i) for i in range(legs)])


def limit_table(shown: StudioRecord, sample: int) -> str:
    """Used part of every limit of the robot file, a bar for each actuator or leg."""
    if not shown.used:
        return note(
            "The robot file gives no limits: [legs.limits] sets stroke, force, speed, angles."
        )
    rows = []
    heads: list[str] = []
    for name, parts in shown.used.items():
        legs = [_leg(i) for i in range(shown.robot.leg_count)]
        labels = legs if name in OF_LEGS else actuator_labels(shown.robot)
        if labels != heads:
            heads = labels
            rows.append(
                f'<th style="{HEAD};text-align:left">used of</th>'
                + "".join(f'<th style="{HEAD}">{one}</th>' for one in heads)
            )
        cells = f'<td style="{CELL};text-align:left">{LIMITS[name]}</td>'
        for part in parts[sample]:
            if part == -np.inf:
                cells += f'<td style="{CELL}">–</td>'
                continue
            grade = level(float(part))
            text = "–" if np.isnan(part) else f"{100 * part:.0f} %"
            cells += f'<td style="{_paint(grade)}">{text}</td>'
        rows.append(cells)
    return f'<table style="{TABLE}">' + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def summary(shown: StudioRecord, sample: int) -> str:
    """One line: condition number, largest force and power, the limit that is nearest."""
    condition = float(shown.condition[sample])
    parts = [_badge("condition", _number(condition, 1), condition_level(condition))]
    if shown.forces is not None and shown.power is not None:
        forces = [
            (units.force, shown.forces[sample, which])
            for units, which in by_units(shown.robot.actuators)
        ]
        for name, values in (("force", forces), ("power", [("W", shown.power[sample])])):
            texts = [f"{_number(_largest(now), _digits(now))} {unit}" for unit, now in values]
            used = _most(shown, sample, name)
            parts.append(_badge(f"largest {name}", ", ".join(texts), level(used)))
    nearest = [(used, name) for name in shown.used if (used := _most(shown, sample, name))]
    if nearest:
        used, name = max(nearest, key=lambda one: -np.inf if np.isnan(one[0]) else one[0])
        text = "–" if np.isnan(used) else f"{100 * used:.0f} %"
        parts.append(_badge(f"{LIMITS[name]} used", text, level(used)))
    style = "display:flex;flex-wrap:wrap;gap:4px;margin:2px 0 8px;font-variant-numeric:tabular-nums"
    return f'<div id="studio-summary" style="{style}">' + "".join(parts) + "</div>"


def state_level(shown: StudioRecord, sample: int) -> Level:
    """The most alarming level of an instant."""
    found = [condition_level(float(shown.condition[sample]))]
    found += [
        level(float(part))
        for parts in shown.used.values()
        for part in parts[sample]
        if part != -np.inf
    ]
    return worst(found)


def past_limits(shown: StudioRecord, sample: int) -> str:
    """What is past its limit at an instant, in words; empty where nothing is."""
    robot, told = shown.robot, []
    limits = robot.description.limits
    names = actuator_names(robot.actuators)
    for name, parts in shown.used.items():
        for i in np.flatnonzero(parts[sample] > 1).tolist():
            if name == "stroke":
                room = f"{limits.shortest[i]:.6g} to {limits.longest[i]:.6g}"
                q, unit = shown.q[sample, i], robot.actuators[i].units.q
                told.append(f"{names[i]} is out of its stroke: q is {q:.4f}, limits {room} {unit}")
            else:
                part = 100 * parts[sample, i]
                who = f"leg {i + 1}" if name in OF_LEGS else names[i]
                told.append(f"{LIMITS[name]} of {who} is {part:.3g} % of its limit")
    condition = float(shown.condition[sample])
    if condition_level(condition) is Level.PAST:
        told.append(f"as good as singular: the condition number is {condition:.3g}")
    return " · ".join(told)


def banner(text: str, grade: Level = Level.PAST) -> str:
    """A message across the panel; nothing for an empty one."""
    if not text:
        return ""
    style = (
        f"background:{grade.background};color:{grade.text};border-left:3px solid {grade.text};"
        "padding:6px 8px;border-radius:3px;font-size:12px;line-height:1.35;overflow-wrap:anywhere"
    )
    return f'<div id="studio-message" style="{style}">{escape(text)}</div>'


def inset(html: str) -> str:
    """HTML in line with the other fields of the panel."""
    return f'<div style="padding:0 {INSET}px 6px">{html}</div>' if html else ""


def legend(shown: StudioRecord, sample: int) -> str:
    """The actuators, their legs' colours, and what the plots have at an instant."""
    time = "" if shown.motion.time is None else f"{float(shown.motion.time[sample]):.3f} s"
    heads = "".join(f'<th style="{HEAD}">{one}</th>' for one in actuator_labels(shown.robot))
    rows = [f'<th style="{HEAD};text-align:left">{time}</th>{heads}']
    units = dict.fromkeys(one.units.force for one in shown.robot.actuators)
    values = {"q": shown.q}
    if shown.forces is not None and shown.power is not None:
        values = {f"Γ [{', '.join(units)}]": shown.forces, "power [W]": shown.power}
    for name, numbers in values.items():
        digits = _digits(numbers)
        cells = "".join(
            f'<td style="{CELL}">{_number(float(one), digits)}</td>' for one in numbers[sample]
        )
        rows.append(f'<td style="{CELL};text-align:left;color:#8A9099">{name}</td>{cells}')
    small = TABLE.replace("font-size:12px", "font-size:11px")
    return f'<table style="{small}">' + "".join(f"<tr>{one}</tr>" for one in rows) + "</table>"


def actuator_labels(robot: Robot) -> list[str]:
    """Each actuator's leg with its colour; a letter more in legs with several."""
    legs = [one.leg for one in robot.actuators]
    return [
        _leg(leg) + ("abcdefgh"[legs[:i].count(leg) % 8] if legs.count(leg) > 1 else "")
        for i, leg in enumerate(legs)
    ]


def color_bar(deepest: float) -> str:
    """The colours of a deformed platform, up to a displacement in m."""
    stops = ", ".join(f"rgb{color}" for color in BANDS)
    bar = f"height:9px;border-radius:2px;background:linear-gradient(to right, {stops})"
    ends = f"<span>0</span><span>moved by</span><span>{1e3 * deepest:.3g} mm</span>"
    row = "display:flex;justify-content:space-between;font-size:11px;color:#6B717A"
    return f'<div style="{bar}"></div><div style="{row}">{ends}</div>'


def note(text: str) -> str:
    """A remark in grey."""
    style = "color:#6B717A;font-size:12px;line-height:1.4;overflow-wrap:anywhere"
    return f'<div style="{style}">{escape(text)}</div>'


class Column(NamedTuple):
    """Numbers (n, rows) of a table."""

    name: str
    values: Array
    digits: int
    units: list[str]
    """Of each row."""
    limit: str = ""
    """The limit whose used part colours it."""


def _converted(
    name: str, values: Array, digits: int, units: list[str], limit: str, shown_in: PageUnits
) -> Column:
    """A column in the page's units."""
    found = [shown_in.shown(one) for one in units]
    fewer = min(less for _, _, less in found)
    factors = np.array([factor for _, factor, _ in found])
    return Column(
        name, values * factors, max(1, digits - fewer), [one for one, _, _ in found], limit
    )


def _table(shown: StudioRecord, sample: int, columns: list[Column], labels: list[str]) -> str:
    """A row per label; units in the head, or where they differ behind the numbers."""
    head = f'<th style="{HEAD};text-align:left">leg</th>'
    for one in columns:
        unit = f" [{one.units[0]}]" if len({*one.units}) == 1 else ""
        head += f'<th style="{HEAD}">{one.name}{unit}</th>'
    rows = [head]
    for row, label in enumerate(labels):
        cells = f'<td style="{CELL};text-align:left">{label}</td>'
        for one in columns:
            used = shown.used[one.limit][sample, row] if one.limit in shown.used else None
            grade = level(None if used is None or used == -np.inf else float(used))
            unit = f" {one.units[row]}" if len({*one.units}) > 1 else ""
            text = _number(float(one.values[sample, row]), one.digits)
            cells += f'<td style="{_paint(grade)}">{text}{unit}</td>'
        rows.append(cells)
    return f'<table style="{TABLE}">' + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def _largest(values: Array) -> float:
    return float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else np.nan


def _most(shown: StudioRecord, sample: int, limit: str) -> float | None:
    """Largest used part of a limit; None where nothing has it."""
    if limit not in shown.used:
        return None
    parts = shown.used[limit][sample]
    parts = parts[parts != -np.inf]
    return float(np.max(parts)) if parts.size else None


def _leg(index: int) -> str:
    """A leg's number with its colour."""
    color = leg_color(index)
    dot = f"display:inline-block;width:8px;height:8px;border-radius:4px;background:{color}"
    return f'<span style="{dot}"></span>&nbsp;{index + 1}'


def _paint(grade: Level) -> str:
    return f"{CELL};color:{grade.text};background:{grade.background}"


def _badge(name: str, value: str, grade: Level) -> str:
    style = (
        f"background:{grade.background};color:{grade.text};border:1px solid #E3E5E8;"
        "border-radius:4px;padding:2px 7px;font-size:12px;white-space:nowrap"
    )
    return f'<span style="{style}"><span style="opacity:0.75">{name}</span> <b>{value}</b></span>'


def _digits(values: Array) -> int:
    """Decimals by how large values are at most: small torques need more than large forces."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    return 1 if largest < 1e-9 or 10 <= largest < 1e4 else 0 if largest >= 1e4 else 3


def _number(value: float, digits: int) -> str:
    """Fixed decimals, so that numbers stand still; large and tiny ones in powers of ten."""
    if not np.isfinite(value):
        return "–"
    if abs(value) >= 1e6:
        return f"{value:.3g}"
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else f"{0:.{digits}f}"
