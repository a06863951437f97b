"""The numbers of one instant as HTML: compact tables, coloured by how near a limit they are."""

from __future__ import annotations

from html import escape

import numpy as np

from gough.base.arrays import Array
from gough.show.colors import leg_color
from gough.studio.levels import Level, condition_level, level, worst
from gough.studio.record import StudioRecord
from gough.studio.skin import BANDS

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


def leg_table(shown: StudioRecord, sample: int) -> str:
    """Coordinate, rate, force and power of each leg."""
    units = shown.robot.leg_kind.units
    columns = [
        (f"q [{units.q}]", shown.q, 4, "stroke"),
        (f"q̇ [{units.speed}]", shown.qd, 3, "speed"),
    ]
    if shown.forces is not None and shown.power is not None:
        columns.append((f"Γ [{units.force}]", shown.forces, 1, "force"))
        columns.append(("power [W]", shown.power, 1, ""))
    return _table(shown, sample, columns)


def load_table(shown: StudioRecord, sample: int) -> str:
    """What the joints of each leg bear."""
    if not shown.loads:
        return note(shown.note or "no forces are known")
    columns = [(f"{name} [N]", value, 1, "") for name, value in shown.loads.items()]
    return _table(shown, sample, columns)


def limit_table(shown: StudioRecord, sample: int) -> str:
    """Used part of every limit of the robot file, a bar for each leg."""
    if not shown.used:
        return note(
            "The robot file gives no limits: [legs.limits] sets stroke, force, speed, angles."
        )
    rows = [f'<th style="{HEAD};text-align:left">used of</th>']
    rows[0] += "".join(f'<th style="{HEAD}">{_leg(i)}</th>' for i in range(shown.q.shape[1]))
    for name, parts in shown.used.items():
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
        unit_of_force = shown.robot.leg_kind.units.force
        for name, values, unit in (
            ("force", shown.forces, unit_of_force),
            ("power", shown.power, "W"),
        ):
            now = np.abs(values[sample])
            largest = float(np.nanmax(now)) if np.isfinite(now).any() else np.nan
            used = _most(shown, sample, name)
            parts.append(_badge(f"largest {name}", f"{_number(largest, 1)} {unit}", level(used)))
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


def legend(count: int) -> str:
    """The legs and their colours."""
    legs = "&ensp;".join(_leg(i) for i in range(count))
    return f'<div style="font-size:12px;color:#6B717A">leg &ensp;{legs}</div>'


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


def _table(shown: StudioRecord, sample: int, columns: list[tuple[str, Array, int, str]]) -> str:
    head = f'<th style="{HEAD};text-align:left">leg</th>'
    head += "".join(f'<th style="{HEAD}">{name}</th>' for name, *_ in columns)
    rows = [head]
    for leg in range(shown.q.shape[1]):
        cells = f'<td style="{CELL};text-align:left">{_leg(leg)}</td>'
        for _, values, digits, limit in columns:
            value = float(values[sample, leg])
            used = shown.used[limit][sample, leg] if limit in shown.used else None
            grade = level(None if used is None or used == -np.inf else float(used))
            cells += f'<td style="{_paint(grade)}">{_number(value, digits)}</td>'
        rows.append(cells)
    return f'<table style="{TABLE}">' + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def _most(shown: StudioRecord, sample: int, limit: str) -> float | None:
    """Largest used part of a limit over the legs; None where no leg has it."""
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


def _number(value: float, digits: int) -> str:
    """Fixed decimals, so that numbers stand still; large and tiny ones in powers of ten."""
    if not np.isfinite(value):
        return "–"
    if abs(value) >= 1e6:
        return f"{value:.3g}"
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else f"{0:.{digits}f}"
