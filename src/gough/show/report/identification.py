"""The page about an identification: what was found, how well, and where it does not fit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gough.base.arrays import Array
from gough.base.files import replacing
from gough.parameters.base import unit_of
from gough.parameters.identification import GOOD, ROUGH, Identification, Validation
from gough.show import plots
from gough.show.page import Cell, Mark, Marked, Page

if TYPE_CHECKING:
    from gough.robot import Robot

MOST_POINTS = 2000
"""Of a curve: more cannot be seen."""
COLORS = {
    "good": plots.GREEN,
    "rough": plots.ORANGE,
    "not identifiable": plots.VERMILION,
    "not excited": plots.GREY,
}
MARKS: dict[str, Mark] = {
    "good": "good",
    "rough": "fair",
    "not identifiable": "bad",
    "not excited": "quiet",
}


def write_report(
    robot: Robot,
    found: Identification,
    judged: Validation | None,
    path: str | os.PathLike[str],
    logs: Sequence[str] = ("", ""),
) -> None:
    """Write the page, whole or not at all; it needs nothing but itself."""
    with replacing(path) as temporary:
        temporary.write_text(page(robot, found, judged, logs), "utf-8")


def page(
    robot: Robot, found: Identification, judged: Validation | None, logs: Sequence[str] = ("", "")
) -> str:
    """The page as HTML."""
    verdicts = [*found.verdicts]
    measured = found.measured
    span = len(measured.raw_forces) / measured.rate
    facts = [
        f"log {logs[0]}: {span:.4g} s at {measured.rate:.4g} Hz, "
        f"coordinates filtered to {measured.cutoff:.3g} Hz",
        f"{found.method} least squares, {found.base.rank} base parameters, "
        f"{measured.forces.size} equations, condition number {found.condition:.4g}",
        ", ".join(f"{verdicts.count(one)} {one}" for one in COLORS if one in verdicts)
        + f" (good: σ up to {100 * GOOD:g} %, rough: up to {100 * ROUGH:g} %)",
        "residual, rms of the filtered forces: "
        + ", ".join(f"leg {i + 1} {one:.3g} N" for i, one in enumerate(found.noise)),
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
        _validation(whole, judged)
        whole.figure(
            force_figure(judged),
            "Forces measured in the second log, and those of the parameters found.",
        )
    whole.heading("Residuals")
    whole.figure(residual_figure(found), "Filtered forces less those of the parameters found.")
    whole.heading("Base parameters")
    whole.figure(deviation_figure(found), "How well each base parameter is known.")
    _parameters(whole, found)
    whole.heading("What they are made of")
    whole.points([one for one in found.base.relations() if " " in one])
    return whole.html()


LOST = ("not identifiable", "not excited")


def force_figure(judged: Validation) -> Figure:
    """Measured forces, those of the parameters found and their difference, a panel a leg."""
    thin = slice(None, None, max(1, len(judged.time) // MOST_POINTS))
    legs = judged.measured.shape[1]
    time = judged.time[thin]
    with matplotlib.rc_context(plots.STYLE):
        figure = Figure(figsize=(9.0, 1.0 + 2.0 * (-(-legs // 2))), layout="constrained")
        panels = figure.subplots(-(-legs // 2), 2, sharex=True, squeeze=False)
        for leg, axes in enumerate(panels.flat):
            if leg >= legs:
                axes.set_axis_off()
                continue
            measured, predicted = judged.measured[thin, leg], judged.predicted[thin, leg]
            axes.plot(time, measured, color=plots.PALE, linewidth=2.5, label="measured")
            axes.plot(time, predicted, color=plots.BLUE, linewidth=1.0, label="parameters found")
            axes.plot(
                time, measured - predicted, color=plots.VERMILION, linewidth=0.8, label="difference"
            )
            axes.set_title(
                f"leg {leg + 1}: {judged.percent[leg]:.2f} % rms", loc="left", fontsize=10
            )
            axes.margins(x=0)
        for axes in panels[:, 0]:
            axes.set_ylabel(r"$\Gamma$ [N]")
        for axes in panels[-1]:
            axes.set_xlabel("time [s]")
        figure.legend(handles=panels[0, 0].get_lines(), loc="outside lower center", ncols=3)
    return figure


def residual_figure(found: Identification) -> Figure:
    """Residuals of the filtered forces over time, a panel a leg, with two standard deviations."""
    residuals, time = found.residuals, found.measured.time
    legs = residuals.shape[1]
    thin = slice(None, None, max(1, len(time) // MOST_POINTS))
    largest = 1.1 * float(np.abs(residuals).max()) or 1.0
    with matplotlib.rc_context(plots.STYLE):
        figure = Figure(figsize=(9.0, 0.8 + 1.6 * (-(-legs // 2))), layout="constrained")
        panels = figure.subplots(-(-legs // 2), 2, sharex=True, sharey=True, squeeze=False)
        for leg, axes in enumerate(panels.flat):
            if leg >= legs:
                axes.set_axis_off()
                continue
            axes.axhspan(-2 * found.noise[leg], 2 * found.noise[leg], color=plots.PALE, alpha=0.5)
            color = plots.PALETTE[leg % len(plots.PALETTE)]
            axes.plot(time[thin], residuals[thin, leg], color=color, linewidth=0.9)
            axes.set_title(
                f"leg {leg + 1}: ± 2σ = {2 * found.noise[leg]:.3g} N", loc="left", fontsize=10
            )
            axes.margins(x=0)
            axes.set_ylim(-largest, largest)
        for axes in panels[:, 0]:
            axes.set_ylabel("residual [N]")
        for axes in panels[-1]:
            axes.set_xlabel("time [s]")
    return figure


def deviation_figure(found: Identification) -> Figure:
    """Relative standard deviations of the base parameters, best first."""
    shown = np.clip(100 * found.relative, 1e-3, 1e4)
    order = np.argsort(shown)
    verdicts = np.array(found.verdicts)[order]
    with matplotlib.rc_context(plots.STYLE):
        figure = Figure(figsize=(9.0, 3.4), layout="constrained")
        axes = figure.subplots()
        for verdict, color in COLORS.items():
            which = np.flatnonzero(verdicts == verdict)
            if which.size:
                label = f"{verdict} ({which.size})"
                axes.plot(which + 1, shown[order][which], "o", color=color, ms=4, label=label)
        for limit in (GOOD, ROUGH):
            axes.axhline(100 * limit, color=plots.DARK, linewidth=0.8, linestyle="--")
        axes.set_yscale("log")
        axes.set(xlabel="base parameters, best known first", ylabel="σ / |value| [%]")
        axes.legend(loc="upper left")
    return figure


def _validation(whole: Page, judged: Validation) -> None:
    columns: tuple[Array, ...] = (judged.error, judged.percent, judged.percent_before)
    rows = [
        [f"leg {i + 1}", f"{error:.4g}", f"{now:.2f}", f"{before:.2f}"]
        for i, (error, now, before) in enumerate(zip(*columns, strict=True))
    ]
    headers = ("", "rms error [N]", "of the rms force [%]", "robot file as it was [%]")
    whole.table(headers, rows)


def _parameters(whole: Page, found: Identification) -> None:
    rows: list[list[Cell]] = []
    for i, name in enumerate(found.base.base_names):
        verdict, part = found.verdicts[i], 100 * found.relative[i]
        rows.append(
            [
                name,
                unit_of(name),
                f"{found.base.values[i]:.5g}",
                f"{found.values[i]:.5g}",
                f"{found.deviations[i]:.2g}",
                f"{part:.2f}" if part < 1000 else "–",
                Marked(verdict, MARKS[verdict]),
            ]
        )
    whole.table(("base parameter", "unit", "file", "found", "σ", "σ [%]", ""), rows)
