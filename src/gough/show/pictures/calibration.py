"""Pictures of a calibration: errors before and after, changes of the geometry, what is told."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gough.base.arrays import Array
from gough.calibration import Calibration
from gough.calibration.search import UNTOLD
from gough.show.colors import BLUE, DARK, GREEN, GREY, PALE, VERMILION, leg_color
from gough.show.style import STYLE

EDGE = 8.0
"""Residuals are shown up to it, in standard deviations; larger ones stand there."""


def error_figure(found: Calibration) -> Figure:
    """Errors of positions and rotations at the poses that judge, as drawn and as found."""
    kinds = [
        ("position [mm]", slice(0, 3)),
        ("rotation [mrad]", slice(3, 6)),
        ("distance [mm]", slice(6, 7)),
    ]
    shown = [one for one in kinds if np.any(np.isfinite(found.before.seen[:, one[1]]))]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 3.4), layout="constrained")
        panels = figure.subplots(1, len(shown), squeeze=False)[0]
        for axes, (label, part) in zip(panels, shown, strict=True):
            for errors, color, words in (
                (found.before, VERMILION, "as drawn"),
                (found.after, BLUE, "as found"),
            ):
                length = 1e3 * _lengths(errors.seen[:, part])
                place = np.arange(1, len(length) + 1)
                axes.plot(place, length, "o", color=color, ms=4, label=words)
            axes.set_yscale("log")
            axes.set(xlabel="pose", ylabel=f"error of the {label}")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _lengths(errors: Array) -> Array:
    length = np.sqrt(np.nansum(errors**2, axis=1))
    length = length[np.isfinite(errors).any(axis=1)]
    return np.asarray(np.maximum(length, 1e-15))


def change_figure(found: Calibration) -> Figure:
    """Changes of all numbers of the geometry with two standard deviations, a panel per key."""
    geometry = found.geometry
    groups: dict[str, list[int]] = {}
    for i, one in enumerate(geometry.unknowns):
        groups.setdefault(one.name.split("[")[0], []).append(i)
    columns = 2 if len(groups) in (2, 4) else min(3, len(groups))
    rows = -(-len(groups) // columns)
    told = found.told
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 0.6 + 2.2 * rows), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False)
        for axes, (key, which) in zip(panels.flat, groups.items(), strict=False):
            unit = "mm" if geometry.unknowns[which[0]].unit == "m" else "mrad"
            for place, i in enumerate(which):
                color = leg_color(geometry.unknowns[i].leg)
                marker: Any = {"ms": 4, "color": color, "mfc": color if told[i] else "white"}
                size = 2e3 * found.deviations[i]
                axes.errorbar(place + 1, 1e3 * found.values[i], size, fmt="o", capsize=2, **marker)
            axes.axhline(0.0, color=DARK, linewidth=0.8)
            axes.set_title(key, loc="left", fontsize=10)
            axes.set_ylabel(f"change [{unit}]")
            axes.set_xticks([])
        for axes in list(panels.flat)[len(groups) :]:
            axes.set_axis_off()
    return figure


def residual_figure(found: Calibration) -> Figure:
    """Residuals over their standard deviations, by pose and as a histogram beside the normal law."""
    scale = found.fit if found.noise_found else 1.0
    residuals = np.clip(found.residuals / (scale or 1.0), 0.98 * -EDGE, 0.98 * EDGE)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=[2, 1], sharey=True)
        left.axhspan(-2, 2, color=PALE, alpha=0.5)
        light = found.weights < 0.5
        left.plot(found.samples[~light] + 1, residuals[~light], ".", color=BLUE, ms=4)
        left.plot(found.samples[light] + 1, residuals[light], "x", color=VERMILION, ms=5)
        left.set(xlabel="pose", ylabel="residual / σ", ylim=(-EDGE, EDGE))
        bins = np.linspace(-EDGE, EDGE, 33)
        right.hist(residuals, bins, orientation="horizontal", density=True, color=BLUE, alpha=0.6)
        grid = np.linspace(-EDGE, EDGE, 200)
        right.plot(np.exp(-(grid**2) / 2) / np.sqrt(2 * np.pi), grid, color=DARK, linewidth=1)
        right.set_xlabel("share")
    return figure


def spectrum_figure(found: Calibration) -> Figure:
    """Standard deviations of the combinations that are told, and how many are not."""
    told = found.spectrum.told
    size = 1e3 / found.spectrum.values[told]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.0, 2.8), layout="constrained")
        axes = figure.subplots()
        axes.plot(np.arange(1, len(size) + 1), size, "o", color=GREEN, ms=4, label="told")
        lost = int(np.sum(~told))
        if lost:
            place = np.arange(len(size) + 1, len(size) + lost + 1)
            limit = 1e3 * UNTOLD * found.geometry.robot.length_scale
            axes.plot(place, np.full(lost, limit), "^", color=GREY, ms=5, label="not told")
        axes.set_yscale("log")
        axes.set(xlabel="combinations of unknowns, best known first", ylabel="σ [mm; angles × L]")
        axes.legend(loc="upper left")
    return figure


def correlation_figure(found: Calibration) -> Figure:
    """Correlations of the geometric unknowns that were looked for."""
    count = int(np.sum(found.free[: found.geometry.count]))
    matrix = np.nan_to_num(found.correlations[:count, :count])
    names = [one.name for one, free in zip(found.names, found.free, strict=True) if free][:count]
    keys = [name.split("[")[0] for name in names]
    edges = [i for i in range(count) if not i or keys[i] != keys[i - 1]]
    settings: Any = {**STYLE, "axes.grid": False}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(6.4, 5.2), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(matrix, vmin=-1, vmax=1, cmap="RdBu_r", interpolation="nearest")
        for edge in edges[1:]:
            axes.axhline(edge - 0.5, color=DARK, linewidth=0.6)
            axes.axvline(edge - 0.5, color=DARK, linewidth=0.6)
        middles = [(a + b - 1) / 2 for a, b in zip(edges, [*edges[1:], count], strict=True)]
        axes.set_yticks(middles, [keys[edge] for edge in edges])
        axes.set_xticks(middles, [keys[edge] for edge in edges], rotation=30, ha="right")
        figure.colorbar(image, ax=axes, label="correlation", shrink=0.8)
    return figure
