"""The page about an identification: what was found, how well, and where it does not fit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gough.base.arrays import Array
from gough.parameters.identification import GOOD, ROUGH, Identification, Validation
from gough.show.page import Cell, Mark, Marked, Page
from gough.show.pictures.identification import (
    COLORS,
    deviation_figure,
    force_figure,
    residual_figure,
)

if TYPE_CHECKING:
    from gough.robot import Robot

MARKS: dict[str, Mark] = {
    "good": "good",
    "rough": "fair",
    "not identifiable": "bad",
    "not excited": "quiet",
}
LOST = ("not identifiable", "not excited")


def write_report(
    robot: Robot,
    found: Identification,
    judged: Validation | None,
    path: str | os.PathLike[str],
    logs: Sequence[str] = ("", ""),
) -> None:
    """Write the page, whole or not at all; it needs nothing but itself."""
    identification_page(robot, found, judged, logs).write(path)


def identification_page(
    robot: Robot, found: Identification, judged: Validation | None, logs: Sequence[str] = ("", "")
) -> Page:
    """A page about parameters found in one log and judged by another; `logs` are their names."""
    verdicts = [*found.verdicts]
    measured, unit = found.measured, robot.units.force
    span = len(measured.raw_forces) / measured.rate
    facts = [
        f"log {logs[0]}: {span:.4g} s at {measured.rate:.4g} Hz, "
        f"coordinates filtered to {measured.cutoff:.3g} Hz",
        f"{found.method} least squares, {found.base.rank} base parameters, "
        f"{measured.forces.size} equations, condition number {found.condition:.4g}",
        ", ".join(f"{verdicts.count(one)} {one}" for one in COLORS if one in verdicts)
        + f" (good: σ up to {100 * GOOD:g} %, rough: up to {100 * ROUGH:g} %)",
        "residual, rms of the filtered forces: "
        + ", ".join(f"leg {i + 1} {one:.3g} {unit}" for i, one in enumerate(found.noise)),
    ]
    lost = [n for n, v in zip(found.base.base_names, verdicts, strict=True) if v in LOST]
    if lost:
        facts.append(f"cannot be told from this log: {', '.join(lost)}")
    if not found.base.friction:
        facts.append("friction left out")
    whole = Page(f"Identification of {robot.name}")
    whole.points(facts)
    if judged is not None:
        whole.heading(f"Validation on {logs[1]}")
        _validation(whole, judged, unit)
        whole.figure(
            force_figure(judged, unit),
            "Forces measured in the second log, and those of the parameters found.",
        )
    whole.heading("Residuals")
    whole.figure(
        residual_figure(found, unit), "Filtered forces less those of the parameters found."
    )
    whole.heading("Base parameters")
    whole.figure(deviation_figure(found), "How well each base parameter is known.")
    _parameters(whole, found)
    whole.heading("What they are made of")
    whole.points([one for one in found.base.relations() if " " in one])
    return whole


def _validation(whole: Page, judged: Validation, unit: str) -> None:
    columns: tuple[Array, ...] = (judged.error, judged.percent, judged.percent_before)
    rows = [
        [f"leg {i + 1}", f"{error:.4g}", f"{now:.2f}", f"{before:.2f}"]
        for i, (error, now, before) in enumerate(zip(*columns, strict=True))
    ]
    headers = ("", f"rms error [{unit}]", "of the rms force [%]", "robot file as it was [%]")
    whole.table(headers, rows)


def _parameters(whole: Page, found: Identification) -> None:
    rows: list[list[Cell]] = []
    for i, column in enumerate(found.base.base_columns):
        verdict, part = found.verdicts[i], 100 * found.relative[i]
        rows.append(
            [
                column.name,
                column.unit,
                f"{found.base.values[i]:.5g}",
                f"{found.values[i]:.5g}",
                f"{found.deviations[i]:.2g}",
                f"{part:.2f}" if part < 1000 else "–",
                Marked(verdict, MARKS[verdict]),
            ]
        )
    whole.table(("base parameter", "unit", "file", "found", "σ", "σ [%]", ""), rows)
