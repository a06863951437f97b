"""What `gough identify` prints: every base parameter, how well it is known, and the validation."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from gough.parameters.base import unit_of
from gough.parameters.identification import Identification, Validation
from gough.show.sheets.bare_table import bare_table

SHORT = {"not identifiable": "no", "not excited": "unseen"}


def identification_numbers(found: Identification, judged: Validation | None) -> dict[str, Any]:
    """The result for programs, SI units."""
    table = zip(
        found.base.base_names,
        found.base.values,
        found.values,
        found.deviations,
        found.verdicts,
        strict=True,
    )
    result: dict[str, Any] = {
        "method": found.method,
        "condition_number": found.condition,
        "cutoff": found.measured.cutoff,
        "residual": found.noise,
        "parameters": [
            {
                "name": name,
                "unit": unit_of(name),
                "file": before,
                "value": value,
                "deviation": deviation,
                "verdict": verdict,
            }
            for name, before, value, deviation, verdict in table
        ],
    }
    if judged is not None:
        names = ("error", "percent", "percent_before")
        result["validation"] = {name: getattr(judged, name) for name in names}
    return result


def print_identification(
    found: Identification, judged: Validation | None, unit: str, console: Console
) -> None:
    """A row for each base parameter, how many are known, and the error on the second log.

    `unit` of the actuator forces: `robot.leg_kind.units.force`.
    """
    table = bare_table("base parameter", "unit", numbers=("file", "found", "σ rel."))
    table.add_column("known")
    for column in table.columns:
        column.no_wrap = True
    rows = zip(
        found.base.base_names,
        found.base.values,
        found.values,
        found.relative,
        found.verdicts,
        strict=True,
    )
    for name, before, value, part, verdict in rows:
        shown = f"{100 * part:.1f} %" if part < 10 else "–"
        numbers = (f"{before:.4g}", f"{value:.4g}", shown)
        style = "" if verdict in ("good", "rough") else "bright_black"
        table.add_row(name, unit_of(name), *numbers, SHORT.get(verdict, verdict), style=style)
    console.print(table)
    verdicts = [*found.verdicts]
    counts = ", ".join(
        f"{verdicts.count(one)} {one}"
        for one in ("good", "rough", "not identifiable", "not excited")
        if one in verdicts
    )
    console.print(f"{len(verdicts)} base parameters: {counts}", highlight=False)
    if not {*SHORT}.isdisjoint(verdicts):
        console.print("no: not identifiable from this log; unseen: its motion does not excite it")
    if judged is not None:
        for leg, (error, percent) in enumerate(zip(judged.error, judged.percent, strict=True)):
            before = judged.percent_before[leg]
            console.print(
                f"validation, leg {leg + 1}: rms error {error:.4g} {unit}, {percent:.2f} % "
                f"(robot file as it was: {before:.2f} %)",
                highlight=False,
            )
