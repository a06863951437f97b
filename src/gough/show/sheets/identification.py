"""What `gough identify` prints: every base parameter, how well it is known, and the validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from gough.legs.reading import Actuator, actuator_names
from gough.parameters.identification import Identification, Validation
from gough.parameters.known import summary
from gough.show.sheets.bare_table import bare_table

SHORT = {"not identifiable": "no", "not excited": "unseen"}


def identification_numbers(
    found: Identification, judged: Validation | None, moved: Sequence[str] | None = None
) -> dict[str, Any]:
    """The result for programs, SI units; `moved` names what a robot file with it has anew."""
    table = zip(
        found.base.base_columns,
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
        "summary": summary(found),
        "unmodelled": list(found.unmodelled),
        "offsets": found.offsets,
        "offset_deviations": found.offset_deviations,
        "equal_legs": found.equal is not None,
        "parameters": [
            {
                "name": column.name,
                "unit": column.unit,
                "file": before,
                "value": value,
                "deviation": deviation,
                "verdict": verdict,
            }
            for column, before, value, deviation, verdict in table
        ],
    }
    if moved is not None:
        result["moved"] = list(moved)
    if judged is not None:
        names = ("error", "percent", "percent_before")
        result["validation"] = {name: getattr(judged, name) for name in names}
    return result


def print_identification(
    found: Identification,
    judged: Validation | None,
    actuators: Sequence[Actuator],
    console: Console,
    moved: Sequence[str] | None = None,
) -> None:
    """What is known and what is not, a row for each base parameter, the error on the second log.

    `moved` names the standard parameters that a robot file with the result has anew.
    """
    for line in summary(found):
        console.print(line, highlight=False, soft_wrap=True)
    if found.equal is not None:
        console.print("one set of parameters for legs of a kind: the first leg stands for all")
    console.print()
    table = bare_table("base parameter", "unit", numbers=("file", "found", "σ rel."))
    table.add_column("known")
    for one in table.columns:
        one.no_wrap = True
    rows = zip(
        found.base.base_columns,
        found.base.values,
        found.values,
        found.relative,
        found.verdicts,
        strict=True,
    )
    for column, before, value, part, verdict in rows:
        shown = f"{100 * part:.1f} %" if part < 10 else "–"
        numbers = (f"{before:.4g}", f"{value:.4g}", shown)
        style = "" if verdict in ("good", "rough") else "bright_black"
        shown_as = SHORT.get(verdict, verdict)
        table.add_row(column.name, column.unit, *numbers, shown_as, style=style)
    console.print(table)
    verdicts = [*found.verdicts]
    counts = ", ".join(
        f"{verdicts.count(one)} {one}"
        for one in ("good", "rough", "biased", "not identifiable", "not excited")
        if one in verdicts
    )
    console.print(f"{len(verdicts)} base parameters: {counts}", highlight=False)
    if not {*SHORT}.isdisjoint(verdicts):
        console.print("no: not identifiable from this log; unseen: its motion does not excite it")
    if found.offsets is not None and found.offset_deviations is not None:
        for i, actuator in enumerate(actuators):
            console.print(
                f"offset of force {i + 1}: {found.offsets[i]:.4g} ± {found.offset_deviations[i]:.2g} "
                f"{actuator.units.force}",
                highlight=False,
            )
    if moved is not None:
        _print_moved(found, moved, console)
    if judged is not None:
        names = actuator_names(actuators)
        for i, actuator in enumerate(actuators):
            error = f"{judged.error[i]:.4g} {actuator.units.force}, {judged.percent[i]:.2f} %"
            before = f"{judged.percent_before[i]:.2f} %"
            console.print(
                f"validation, {names[i]}: rms error {error} (robot file as it was: {before})",
                highlight=False,
            )


def _print_moved(found: Identification, moved: Sequence[str], console: Console) -> None:
    """Which bodies and friction the robot file has anew, and which as before."""
    count = len(found.base.names)
    console.print(
        f"robot file: {len(moved)} of {count} standard parameters are moved, the others stay as they "
        "were: the log does not tell them better than the file",
        highlight=False,
        soft_wrap=True,
    )
    whole: dict[str, list[str]] = {}
    for name in moved:
        part, _, last = name.rpartition(" ")
        whole.setdefault(part, []).append(last)
    for part, names in whole.items():
        console.print(f"  {part}: {', '.join(names)}", highlight=False, soft_wrap=True)
