"""Pictures of an identification: forces, residuals, and how well each parameter is known."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gough.parameters.identification import GOOD, ROUGH, Identification, Validation
from gough.show.colors import BLUE, DARK, GREEN, GREY, ORANGE, PALE, VERMILION, leg_color
from gough.show.style import STYLE

MOST_POINTS = 2000
"""Of a curve: more cannot be seen."""
COLORS = {
    "good": GREEN,
    "rough": ORANGE,
    "not identifiable": VERMILION,
    "not excited": GREY,
}


def force_figure(judged: Validation, unit: str) -> Figure:
    """Measured forces, those of the parameters found and their difference, a panel per leg.

    `unit` of the forces: `robot.units.force`.
    """
    thin = slice(None, None, max(1, len(judged.time) // MOST_POINTS))
    legs = judged.measured.shape[1]
    time = judged.time[thin]
    with matplotlib.rc_context(STYLE):
        rows = -(-legs // 2)
        figure = Figure(figsize=(9.0, 1.0 + 2.0 * rows), layout="constrained")
        panels = figure.subplots(rows, 2, sharex=True, squeeze=False)
        for leg, axes in enumerate(_leg_panels(panels, legs, rf"$\Gamma$ [{unit}]")):
            measured, predicted = judged.measured[thin, leg], judged.predicted[thin, leg]
            axes.plot(time, measured, color=PALE, linewidth=2.5, label="measured")
            axes.plot(time, predicted, color=BLUE, linewidth=1.0, label="parameters found")
            axes.plot(
                time, measured - predicted, color=VERMILION, linewidth=0.8, label="difference"
            )
            title = f"leg {leg + 1}: {judged.percent[leg]:.2f} % rms"
            axes.set_title(title, loc="left", fontsize=10)
        figure.legend(handles=panels[0, 0].get_lines(), loc="outside lower center", ncols=3)
    return figure


def residual_figure(found: Identification, unit: str) -> Figure:
    """Residuals of the filtered forces over time, a panel per leg, with two standard deviations.

    `unit` as in `force_figure`.
    """
    residuals, time = found.residuals, found.measured.time
    legs = residuals.shape[1]
    thin = slice(None, None, max(1, len(time) // MOST_POINTS))
    largest = 1.1 * float(np.abs(residuals).max()) or 1.0
    with matplotlib.rc_context(STYLE):
        rows = -(-legs // 2)
        figure = Figure(figsize=(9.0, 0.8 + 1.6 * rows), layout="constrained")
        panels = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False)
        for leg, axes in enumerate(_leg_panels(panels, legs, f"residual [{unit}]")):
            axes.axhspan(-2 * found.noise[leg], 2 * found.noise[leg], color=PALE, alpha=0.5)
            color = leg_color(leg)
            axes.plot(time[thin], residuals[thin, leg], color=color, linewidth=0.9)
            title = f"leg {leg + 1}: ± 2σ = {2 * found.noise[leg]:.3g} {unit}"
            axes.set_title(title, loc="left", fontsize=10)
            axes.set_ylim(-largest, largest)
    return figure


def _leg_panels(panels: Any, legs: int, ylabel: str) -> list[Any]:
    """A panel for each leg, out of rows of two over time; those to spare are empty."""
    for axes in panels.flat:
        axes.margins(x=0)
    for axes in panels[:, 0]:
        axes.set_ylabel(ylabel)
    for axes in panels[-1]:
        axes.set_xlabel("time [s]")
    for axes in panels.flat[legs:]:
        axes.set_axis_off()
    return list(panels.flat[:legs])


def deviation_figure(found: Identification) -> Figure:
    """Relative standard deviations of the base parameters, best first."""
    shown = np.clip(100 * found.relative, 1e-3, 1e4)
    order = np.argsort(shown)
    verdicts = np.array(found.verdicts)[order]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 3.4), layout="constrained")
        axes = figure.subplots()
        for verdict, color in COLORS.items():
            which = np.flatnonzero(verdicts == verdict)
            if which.size:
                label = f"{verdict} ({which.size})"
                axes.plot(which + 1, shown[order][which], "o", color=color, ms=4, label=label)
        for limit in (GOOD, ROUGH):
            axes.axhline(100 * limit, color=DARK, linewidth=0.8, linestyle="--")
        axes.set_yscale("log")
        axes.set(xlabel="base parameters, best known first", ylabel="σ / |value| [%]")
        axes.legend(loc="upper left")
    return figure
