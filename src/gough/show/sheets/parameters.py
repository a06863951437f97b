"""What `gough parameters` prints: the base parameters of a robot, as in Khalil & Guegan's Table II."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gough.base.arrays import Array
from gough.parameters.base import BaseParameters, base_parameters, unit_of
from gough.parameters.essential import ASSUMPTIONS, EssentialParameters, essential_parameters
from gough.parameters.grouping import grouped_parameters, leg_symbols, platform_symbols, tip_masses
from gough.parameters.special import special_of_legs
from gough.show.sheets.bare_table import bare_table

if TYPE_CHECKING:
    from gough.robot import Robot

SHOWN = 6
"""Parameters that break an assumption, as many as are printed."""
ROUNDING = 1e-14


class Findings(NamedTuple):
    """A robot's parameters in closed form and by numbers."""

    closed: BaseParameters
    numerical: BaseParameters
    essential: EssentialParameters | None

    @property
    def disagreement(self) -> float:
        """Largest difference of the two groupings; infinite if they keep different parameters."""
        if not np.array_equal(self.closed.independent, self.numerical.independent):
            return float("inf")
        return float(np.abs(self.closed.grouping - self.numerical.grouping).max(initial=0.0))


def find(robot: Robot, friction: bool = False, assumption: str | None = None) -> Findings:
    """The base parameters both ways, and the essential ones if an assumption is given."""
    closed = grouped_parameters(robot, friction)
    essential = None if assumption is None else essential_parameters(closed, assumption)
    return Findings(closed, base_parameters(robot, friction), essential)


def counts(base: BaseParameters) -> dict[str, tuple[int, int]]:
    """Standard and base parameters of the legs' bodies, the rotors, the platform, friction, modes."""
    parts = [_part(name) for name in base.names]
    kept = [parts[i] for i in base.independent]
    return {part: (parts.count(part), kept.count(part)) for part in dict.fromkeys(parts)}


def _part(name: str) -> str:
    if name.startswith("platform"):
        return "platform"
    if name.rpartition(" ")[2].startswith("rotor_"):
        return "rotors"
    if name.startswith("mode"):
        return "modes"
    return "legs" if len(name.split()) == 4 else "friction"


def to_json(robot: Robot, found: Findings) -> dict[str, Any]:
    """Everything as plain data: every parameter with its terms, value and unit."""
    closed = found.closed
    result: dict[str, Any] = {
        "robot": robot.name,
        "kind": robot.kind,
        "counts": {
            part: {"standard": standard, "base": base}
            for part, (standard, base) in counts(closed).items()
        },
        "standard": len(closed.names),
        "base": closed.rank,
        "rank": found.numerical.rank,
        "gap": found.numerical.gap if np.isfinite(found.numerical.gap) else None,
        "special": list(closed.special),
        "parameters": [
            {
                "name": name,
                "relation": text,
                "terms": {closed.names[i]: row[i] for i in np.flatnonzero(row).tolist()},
                "value": float(value),
                "unit": unit_of(name),
            }
            for name, text, row, value in zip(
                closed.base_names, closed.relations(), closed.grouping, closed.values, strict=True
            )
        ],
        "no_effect": [closed.names[i] for i in closed.no_effect],
    }
    if found.essential is not None:
        one = found.essential
        result["essential"] = {
            "assumption": ASSUMPTIONS[one.assumption],
            "count": one.count,
            "names": list(one.names),
            "dropped": one.dropped(),
            "broken": list(one.broken),
        }
    return result


def print_parameters(robot: Robot, found: Findings, console: Console) -> None:
    """Counts, relations in symbols, values; what is special; what an assumption leaves."""
    closed, numerical = found.closed, found.numerical
    console.print(
        f"[bold]{escape(robot.name)}[/bold]: {len(closed.names)} standard parameters, "
        f"{closed.rank} base parameters, {len(closed.no_effect)} without effect",
        highlight=False,
    )
    shares = [f"{part} {old} → {new}" for part, (old, new) in counts(closed).items()]
    console.print("; ".join(shares), highlight=False)
    console.print(
        f"rank of the regressor on random states: {numerical.rank}, singular values fall by "
        f"{numerical.gap:.1e}; its relations and these differ by {found.disagreement:.1e}",
        highlight=False,
    )
    for one in closed.special:
        console.print(f"special: {one}", highlight=False)
    console.print(_legs_table(robot, closed))
    console.print(_platform_table(robot, closed))
    if tip_masses(robot).kept.any():
        console.print(
            "the platform is the undeformed one; tip masses move with the modes and are felt apart",
            highlight=False,
        )
    else:
        console.print(robot.leg_kind.parameters.legend, highlight=False)
    if robot.modes:
        console.print(_modes_table(closed))
        console.print(
            "units of shapes normalised by mass; mass integrals of the modes are known, not parameters",
            highlight=False,
        )
    if found.essential is not None:
        _print_essential(found.essential, console)


def _legs_table(robot: Robot, base: BaseParameters) -> Table:
    """A row for each parameter of a leg, a value for each leg or one for all."""
    special, values, tips = special_of_legs(robot), _values(base), tip_masses(robot)
    numbers = dict(zip(base.base_names, base.relations(), strict=True))
    rows: dict[tuple[str, str], Array] = {}
    for leg in range(robot.leg_count):
        relations = leg_symbols(base.legs, special, leg, bool(tips.kept[leg]))
        if tips.shares[leg].any():  # it has part of other legs' tip masses
            relations = {name: numbers[f"leg {leg + 1} {name}"] for name in relations}
        if base.friction:
            relations |= {key: key for key in robot.mechanism.legs.LINEAR_FRICTION}
            for name, other in base.legs.felt_as.items():
                relations[other] += f" + {relations.pop(name)}"
        for name, text in relations.items():
            row = rows.setdefault((name, text), np.full(robot.leg_count, np.nan))
            row[leg] = values[f"leg {leg + 1} {name}"]
    alike = all(np.ptp(row) <= 1e-12 * np.abs(row).max() for row in rows.values())  # NaN is not
    heads = ["each leg"] if alike else [f"leg {i + 1}" for i in range(robot.leg_count)]
    table = bare_table("leg", "relation", "unit", numbers=heads)
    for (name, text), row in rows.items():
        shown = ["—" if np.isnan(one) else f"{one + 0.0:.4g}" for one in row[: len(heads)]]
        table.add_row(name, text, unit_of(name), *shown)
    return table


def _platform_table(robot: Robot, base: BaseParameters) -> Table:
    values = _values(base)
    table = bare_table("platform", "relation", "unit", numbers=("value",))
    symbols, kept = platform_symbols(base.legs), tip_masses(robot).kept
    if kept.any():
        named = dict(zip(base.base_names, base.relations(), strict=True))
        symbols = {key: named[f"platform {key}"] for key in symbols}
    size = {"kg": 1.0, "kg m": robot.length_scale, "kg m²": robot.length_scale**2}
    for key, text in symbols.items():
        name = f"platform {key}"
        value, unit = values[name], unit_of(name)
        if abs(value) < 10 * ROUNDING * values["platform M"] * size[unit]:
            value = 0.0
        table.add_row(key, text, unit, f"{value:.6g}")
    return table


def _modes_table(base: BaseParameters) -> Table:
    """Stiffness and damping of each mode, or pair of modes."""
    values: dict[str, dict[str, float]] = {}
    for name, value in _values(base).items():
        if _part(name) == "modes":
            where, _, key = name.rpartition(" ")
            values.setdefault(where.partition(" ")[2], {})[key] = value
    heads = [f"{key} [{unit_of(key)}]" for key in ("stiffness", "damping")]
    table = bare_table("modes", numbers=heads)
    for where, own in values.items():
        shown = [f"{own[key]:.6g}" if key in own else "—" for key in ("stiffness", "damping")]
        table.add_row(where, *shown)
    return table


def _print_essential(essential: EssentialParameters, console: Console) -> None:
    rotors = sum(_part(name) == "rotors" for name in essential.names)
    console.print(
        f"\n[bold]{essential.count} essential parameters[/bold] ({rotors} of them rotor masses), "
        f"assuming that {ASSUMPTIONS[essential.assumption]}:",
        highlight=False,
    )
    console.print(", ".join(_each_leg(list(essential.names))), highlight=False)
    tied = [one for one in essential.dropped() if not one.endswith("= 0")]
    if tied:
        console.print(f"follow from these: {'; '.join(_each_leg(tied))}", highlight=False)
    if essential.broken:
        more = len(essential.broken) - SHOWN
        shown = "; ".join(essential.broken[:SHOWN]) + (f"; and {more} more" if more > 0 else "")
        console.print(f"the robot's own numbers are not so: {shown}", highlight=False)


def _each_leg(texts: list[str]) -> list[str]:
    """Each text once, legs as "leg i"."""
    return list(dict.fromkeys(re.sub(r"leg \d+", "leg i", one) for one in texts))


def _values(base: BaseParameters) -> dict[str, float]:
    """Base parameters by name; what is rounding of its terms counts as 0."""
    values, terms = base.values, np.abs(base.grouping) @ np.abs(base.standard)
    return dict(
        zip(base.base_names, np.where(np.abs(values) < ROUNDING * terms, 0.0, values), strict=True)
    )
