"""The page about a calibration: errors before and after, every number, and what cannot be told."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from gough.calibration import Calibration
from gough.calibration.untold import Untold
from gough.show.page import Cell, Marked, Page
from gough.show.pictures.calibration import (
    change_figure,
    correlation_figure,
    error_figure,
    residual_figure,
    spectrum_figure,
)
from gough.show.sheets.calibration import outliers_text, rows, strong_pairs, summary

WHY = (
    "Poses can be predicted far better than single numbers are known: what was seen depends on "
    "combinations of numbers, and the errors of numbers that always act together cancel in every pose. "
    "So the pose error on poses held back is at the noise of the tracker, while the standard deviation "
    "of a single number may be many times that; it says how far the number may be off with the others "
    "following it."
)


def write_report(
    found: Calibration,
    lost: Sequence[Untold],
    said: Sequence[str],
    path: str | os.PathLike[str],
    files: Sequence[str] = (),
) -> None:
    """Write the page, whole or not at all; it needs nothing but itself."""
    calibration_page(found, lost, said, files).write(path)


def calibration_page(
    found: Calibration, lost: Sequence[Untold], said: Sequence[str], files: Sequence[str] = ()
) -> Page:
    """A page about a calibration from files of poses."""
    page = Page(f"Calibration of {found.geometry.robot.name}", ", ".join(files))
    page.points(summary(found))
    for line in said:
        page.text(f"Advice: {line}", "fair")
    if found.outliers:
        page.text(f"Far off the others: {outliers_text(found)}", "bad")
    page.heading("Pose errors before and after")
    page.figure(
        error_figure(found),
        "Errors at the poses that judge the result; the robot as drawn with frames fitted to it.",
    )
    page.text(WHY)
    page.heading("What cannot be told")
    if lost:
        page.points([f"{one.text} ({one.size})" for one in lost])
        page.text(
            "Along these the numbers stay as drawn; no error comes from that in poses like these."
        )
    else:
        page.text("Nothing: every unknown is told.")
    page.figure(
        spectrum_figure(found),
        "Standard deviations of combinations of unknowns: the worst ones make single numbers uncertain.",
    )
    page.heading("Changes of the geometry")
    page.figure(
        change_figure(found),
        "Changes from what is drawn with ± 2 σ, a colour per leg; open where a number is told in part.",
    )
    page.table(("number", "unit", "drawn", "change", "σ", ""), _numbers(found))
    if found.geometry.offsets:
        offsets = ", ".join(f"{1e3 * one:.4f}" for one in found.offsets)
        page.text(f"Encoders read too much by {offsets} mm: q = reading − offset.")
    page.heading("Residuals")
    page.figure(
        residual_figure(found),
        "Residuals over their standard deviations; crosses count little, and those at the edge are "
        "beyond it. Beside them the normal law.",
    )
    page.heading("Correlations")
    page.figure(correlation_figure(found), "Correlations of the numbers, as far as they are told.")
    pairs = strong_pairs(found)
    if pairs:
        page.points([f"{value:+.3f}: {first} and {second}" for first, second, value in pairs[:12]])
    return page


def _numbers(found: Calibration) -> list[list[Cell]]:
    table: list[list[Cell]] = []
    for row in rows(found):
        verdict = Marked("told", "good") if row.told else Marked("in part", "fair")
        if not row.looked:
            verdict = Marked("as drawn", "quiet")
        table.append(
            [
                row.name,
                row.unit,
                "–" if np.isnan(row.drawn) else f"{row.drawn:.4f}",
                f"{row.change:+.4f}",
                f"{row.deviation:.4f}" if row.looked else "–",
                verdict,
            ]
        )
    return table
