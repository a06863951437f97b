"""What `gough calibrate` prints: errors before and after, what is told and what is not, every number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from gough.calibration import Calibration, PoseErrors
from gough.calibration.untold import Untold
from gough.show.sheets.bare_table import bare_table

THOUSAND = {"m": "mm", "rad": "mrad"}
STRONG = 0.95
"""Correlation from which a pair is named."""
MOST_PAIRS = 5
MOST_OUTLIERS = 8


class Row(NamedTuple):
    """A number of the geometry, in mm or mrad."""

    name: str
    unit: str
    drawn: float
    """NaN of directions, which have no number of their own."""
    change: float
    deviation: float
    told: bool
    looked: bool


def rows(found: Calibration) -> list[Row]:
    """All numbers of the geometry and zeros of encoders."""
    geometry = found.geometry
    drawn = np.full(geometry.count, np.nan)
    for place in geometry.places:
        if place.measurable.form in ("point", "length", "angle"):
            size = place.group.leg_count * place.freedoms
            drawn[place.first : place.first + size] = place.value.ravel()
    drawn[geometry.count - len(geometry.offsets) :] = 0.0
    told, deviations = found.told, found.deviations
    return [
        Row(
            one.name,
            THOUSAND[one.unit],
            1e3 * drawn[i],
            1e3 * float(found.values[i]),
            1e3 * float(deviations[i]),
            bool(told[i]),
            bool(found.free[i]),
        )
        for i, one in enumerate(geometry.unknowns)
    ]


def strong_pairs(found: Calibration) -> list[tuple[str, str, float]]:
    """Pairs of unknowns that are strongly correlated, the strongest first."""
    matrix = np.triu(np.nan_to_num(found.correlations), 1)
    names = [one.name for one, free in zip(found.names, found.free, strict=True) if free]
    places = np.argwhere(np.abs(matrix) > STRONG)
    pairs = [(names[i], names[j], float(matrix[i, j])) for i, j in places]
    return sorted(pairs, key=lambda one: -abs(one[2]))


def errors_text(errors: PoseErrors) -> str:
    """Rms errors in words."""
    parts = [
        (errors.position, "mm of position"),
        (errors.rotation, "mrad of rotation"),
        (errors.distance, "mm of distance"),
    ]
    return ", ".join(f"{1e3 * value:.3g} {words}" for value, words in parts if np.isfinite(value))


def summary(found: Calibration) -> list[str]:
    """The result in a few lines."""
    rank, unknowns = found.spectrum.rank, int(np.sum(found.free))
    used = len(found.problem.measured)
    judged = f"{len(found.held_back)} poses held back" if len(found.held_back) else "the same poses"
    if len(found.before.seen) != len(found.held_back) and len(found.before.seen) != used:
        judged = f"{len(found.before.seen)} other poses"
    noise = found.noise
    seen = np.isfinite(found.problem.measured.seen)
    parts = [
        (seen[:, :3], f"position {1e3 * noise.position:.3g} mm"),
        (seen[:, 3:6], f"rotation {1e3 * noise.rotation:.3g} mrad"),
        (seen[:, 6:], f"distance {1e3 * noise.distance:.3g} mm"),
    ]
    said = ", ".join(words for which, words in parts if np.any(which))
    fit = "" if found.noise_found else f"; residuals are {found.fit:.2f} times that"
    return [
        f"pose error, rms, on {judged}: as drawn {errors_text(found.before)}; "
        f"found {errors_text(found.after)}",
        f"{rank} combinations of {unknowns} unknowns are told by {len(found.residuals)} numbers of "
        f"{used} poses ({found.problem.residual} residuals)",
        f"noise {'found' if found.noise_found else 'given'}: {said}{fit}",
        f"noise amplification index {found.index:.3g}{_per_leg(found)}",
    ]


def _per_leg(found: Calibration) -> str:
    """What whole poses tell of each leg, where the robot as drawn can have them."""
    if not found.per_leg:
        return ""
    ranks = ", ".join(f"{rank} of {count}" for rank, count in sorted({*found.per_leg}))
    return f"; per leg {ranks} unknowns by whole poses like these"


def outliers_text(found: Calibration) -> str:
    """Samples with large residuals, by their place in the file."""
    named = [found.problem.measured.where(row) for row in found.outliers[:MOST_OUTLIERS]]
    more = len(found.outliers) - len(named)
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def calibration_numbers(
    found: Calibration, lost: Sequence[Untold], said: Sequence[str]
) -> dict[str, Any]:
    """The result for programs, SI units."""
    frames = found.numbers.frames
    return {
        "residual": found.problem.residual,
        "rank": found.spectrum.rank,
        "unknowns": int(np.sum(found.free)),
        "per_leg": [{"told": rank, "unknowns": count} for rank, count in found.per_leg],
        "index": found.index,
        "noise": found.noise._asdict(),
        "noise_found": found.noise_found,
        "fit": found.fit,
        "before": _errors(found.before),
        "after": _errors(found.after),
        "held_back": found.held_back,
        "outliers": [found.problem.measured.where(row) for row in found.outliers],
        "offsets": found.offsets,
        "parameters": [
            {
                "name": one.name,
                "unit": unknown.unit,
                "change": one.change / 1e3,
                "deviation": one.deviation / 1e3,
                "told": one.told,
                "fixed": not one.looked,
            }
            for one, unknown in zip(rows(found), found.geometry.unknowns, strict=True)
        ],
        "trackers": _frames(frames.tracker_position, frames.tracker_rotation),
        "targets": _frames(frames.target_position, frames.target_rotation),
        "untold": [{"what": one.text, "combinations": one.size} for one in lost],
        "advice": list(said),
    }


def _errors(errors: PoseErrors) -> dict[str, float]:
    return {name: getattr(errors, name) for name in ("position", "rotation", "distance", "largest")}


def _frames(positions: Any, rotations: Any) -> list[dict[str, Any]]:
    return [
        {"position": position, "rotation": rotation}
        for position, rotation in zip(positions, rotations, strict=True)
    ]


def print_calibration(
    found: Calibration, lost: Sequence[Untold], said: Sequence[str], console: Console
) -> None:
    """Summary first, then what cannot be told, then every number."""
    for line in summary(found):
        console.print(line, highlight=False, soft_wrap=True)
    for one in lost:
        console.print(f"cannot be told: {one.text}", highlight=False, markup=False, soft_wrap=True)
    for line in said:
        console.print(
            f"advice: {line}", style="yellow", highlight=False, markup=False, soft_wrap=True
        )
    if found.outliers:
        text = f"far off the others: {outliers_text(found)}"
        console.print(text, style="yellow", highlight=False, markup=False, soft_wrap=True)
    table = bare_table("number", "unit", numbers=("drawn", "change", "σ"))
    table.add_column("told")
    for row in rows(found):
        words = "" if row.told else ("in part" if row.looked else "as drawn")
        drawn = "" if np.isnan(row.drawn) else f"{row.drawn:.3f}"
        deviation = f"{row.deviation:.4f}" if row.looked else ""
        style = "" if row.told else "bright_black"
        name = row.name.replace("[", r"\[")
        table.add_row(name, row.unit, drawn, f"{row.change:+.4f}", deviation, words, style=style)
    console.print(table)
    pairs = strong_pairs(found)
    for first, second, value in pairs[:MOST_PAIRS]:
        text = f"correlation {value:+.3f}: {first} and {second}"
        console.print(text, highlight=False, markup=False, soft_wrap=True)
    if len(pairs) > MOST_PAIRS:
        more = f"{len(pairs) - MOST_PAIRS} more pairs are correlated by over {STRONG:g}"
        console.print(more, highlight=False)
