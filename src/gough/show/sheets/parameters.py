"""What `gough parameters` prints: the base parameters of a robot, as in Khalil & Guegan's Table II."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gough.base.arrays import Array
from gough.model.places import alike
from gough.parameters.base import BaseParameters, base_parameters
from gough.parameters.essential import ASSUMPTIONS, EssentialParameters, essential_parameters
from gough.parameters.grouping import (
    grouped_parameters,
    has_closed_form,
    leg_symbols,
    platform_symbols,
    tip_masses,
)
from gough.parameters.layout import rules_of_legs
from gough.parameters.regressor import MODAL_UNITS, TEN_UNITS
from gough.show.sheets.bare_table import bare_table

if TYPE_CHECKING:
    from gough.robot import Robot

SHOWN = 6
"""Parameters that break an assumption, as many as are printed."""
ROUNDING = 1e-14


class Findings(NamedTuple):
    """A robot's parameters in closed form, where there is one, and by numbers."""

    closed: BaseParameters | None
    numerical: BaseParameters
    essential: EssentialParameters | None

    @property
    def base(self) -> BaseParameters:
        """Those that are shown: in closed form, where there is one."""
        return self.numerical if self.closed is None else self.closed

    @property
    def disagreement(self) -> float:
        """Largest difference of the two groupings; infinite if they keep different parameters."""
        if not np.array_equal(self.base.independent, self.numerical.independent):
            return float("inf")
        return float(np.abs(self.base.grouping - self.numerical.grouping).max(initial=0.0))


def find(robot: Robot, friction: bool = False, assumption: str | None = None) -> Findings:
    """The base parameters both ways, and the essential ones if an assumption is given."""
    closed = grouped_parameters(robot, friction) if has_closed_form(robot) else None
    found = Findings(closed, base_parameters(robot, friction), None)
    if assumption is None:
        return found
    return found._replace(essential=essential_parameters(found.base, assumption))


def counts(base: BaseParameters) -> dict[str, tuple[int, int]]:
    """Standard and base parameters of the legs' bodies, the rotors, the platform, friction, modes."""
    parts: list[str] = [one.part for one in base.columns]
    kept = [parts[i] for i in base.independent]
    return {part: (parts.count(part), kept.count(part)) for part in dict.fromkeys(parts)}


def to_json(robot: Robot, found: Findings) -> dict[str, Any]:
    """Everything as plain data: every parameter with its terms, value and unit."""
    base = found.base
    result: dict[str, Any] = {
        "robot": robot.name,
        "kind": robot.kind,
        "counts": {
            part: {"standard": standard, "base": left}
            for part, (standard, left) in counts(base).items()
        },
        "standard": len(base.names),
        "base": base.rank,
        "closed_form": found.closed is not None,
        "rank": found.numerical.rank,
        "gap": found.numerical.gap if np.isfinite(found.numerical.gap) else None,
        "special": list(base.special),
        "parameters": [
            {
                "name": name,
                "relation": text,
                "terms": {base.names[i]: row[i] for i in np.flatnonzero(row).tolist()},
                "value": float(value),
                "unit": unit,
            }
            for name, unit, text, row, value in zip(
                base.base_names,
                base.base_units,
                base.relations(),
                base.grouping,
                base.values,
                strict=True,
            )
        ],
        "no_effect": [base.names[i] for i in base.no_effect],
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
    base, numerical = found.base, found.numerical
    console.print(
        f"[bold]{escape(robot.name)}[/bold]: {len(base.names)} standard parameters, "
        f"{base.rank} base parameters, {len(base.no_effect)} without effect",
        highlight=False,
    )
    shares = [f"{part} {old} → {new}" for part, (old, new) in counts(base).items()]
    console.print("; ".join(shares), highlight=False)
    compared = (
        f"no closed form for this robot of {_kinds(robot)} legs: relations by numbers"
        if found.closed is None
        else f"its relations and these differ by {found.disagreement:.1e}"
    )
    console.print(
        f"rank of the regressor on random states: {numerical.rank}, singular values fall by "
        f"{numerical.gap:.1e}; {compared}",
        highlight=False,
    )
    for one in base.special:
        console.print(f"special: {one}", highlight=False)
    if found.closed is None:
        console.print(_numbers_table(base))
    else:
        _print_symbols(robot, found.closed, console)
    if robot.modes:
        console.print(_modes_table(base))
        console.print(
            "units of shapes normalised by mass; mass integrals of the modes are known, not parameters",
            highlight=False,
        )
    if found.essential is not None:
        _print_essential(found.essential, console)


def _kinds(robot: Robot) -> str:
    """The kinds of its legs: "UPS", "UPS and chain"."""
    return " and ".join(dict.fromkeys(one.kind for one in rules_of_legs(robot)))


def _print_symbols(robot: Robot, closed: BaseParameters, console: Console) -> None:
    """Relations in symbols, a row for all legs where they are alike."""
    for part in alike(robot):
        console.print(_legs_table(robot, closed, part.which))
    console.print(_platform_table(robot, closed))
    if tip_masses(robot).kept.any():
        console.print(
            "the platform is the undeformed one; tip masses move with the modes and are felt apart",
            highlight=False,
        )
    else:
        for legend in dict.fromkeys(rules.legend for rules in closed.legs):
            console.print(legend, highlight=False)


def _numbers_table(base: BaseParameters) -> Table:
    """A row for each parameter, its relation in numbers."""
    table = bare_table("parameter", "relation", "unit", numbers=("value",))
    values = _values(base)
    for column, text in zip(base.base_columns, base.relations(), strict=True):
        if column.part != "modes":
            table.add_row(column.name, text, column.unit, f"{values[column.name]:.6g}")
    return table


def _legs_table(robot: Robot, base: BaseParameters, which: slice) -> Table:
    """A row for each parameter of some legs of a kind, a value for each leg or one for all."""
    values, tips = _values(base), tip_masses(robot)
    numbers = dict(zip(base.base_names, base.relations(), strict=True))
    units = {one.name: one.unit for one in base.base_columns}
    legs = range(which.start, which.stop)
    rows: dict[tuple[str, str, str], Array] = {}
    for i, leg in enumerate(legs):
        own = f"leg {leg + 1} "
        relations = leg_symbols(robot, leg, bool(tips.kept[leg]))
        if tips.shares[leg].any():  # it has part of other legs' tip masses
            relations = {name: numbers[own + name] for name in relations}
        rubs = [
            one.name.removeprefix(own)
            for one in base.columns
            if one.part == "friction" and one.name.startswith(own)
        ]
        relations |= {name: name for name in rubs}
        for name, other in base.legs[leg].felt_as.items() if rubs else ():
            relations[other] += f" + {relations.pop(name)}"
        for name, text in relations.items():
            row = rows.setdefault((name, text, units[own + name]), np.full(len(legs), np.nan))
            row[i] = values[own + name]
    same = all(np.ptp(row) <= 1e-12 * np.abs(row).max() for row in rows.values())  # NaN is not
    heads = ["each leg"] if same else [f"leg {leg + 1}" for leg in legs]
    table = bare_table("leg", "relation", "unit", numbers=heads)
    for (name, text, unit), row in rows.items():
        shown = ["—" if np.isnan(one) else f"{one + 0.0:.4g}" for one in row[: len(heads)]]
        table.add_row(name, text, unit, *shown)
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
        value, unit = values[f"platform {key}"], TEN_UNITS[key]
        if abs(value) < 10 * ROUNDING * values["platform M"] * size[unit]:
            value = 0.0
        table.add_row(key, text, unit, f"{value:.6g}")
    return table


def _modes_table(base: BaseParameters) -> Table:
    """Stiffness and damping of each mode, or pair of modes."""
    values: dict[str, dict[str, float]] = {}
    found = _values(base)
    for name in (one.name for one in base.base_columns if one.part == "modes"):
        where, _, key = name.rpartition(" ")
        values.setdefault(where.partition(" ")[2], {})[key] = found[name]
    heads = [f"{key} [{unit}]" for key, unit in MODAL_UNITS.items()]
    table = bare_table("modes", numbers=heads)
    for where, own in values.items():
        shown = [f"{own[key]:.6g}" if key in own else "—" for key in ("stiffness", "damping")]
        table.add_row(where, *shown)
    return table


def _print_essential(essential: EssentialParameters, console: Console) -> None:
    rotors = sum(essential.base.base_columns[i].part == "rotors" for i in essential.kept)
    console.print(
        f"\n[bold]{essential.count} essential parameters[/bold] ({rotors} of them the rotors'), "
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
