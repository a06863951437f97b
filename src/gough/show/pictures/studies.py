"""Pictures of a study: how results depend on what was varied, and the front of an optimisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from gough.base.arrays import Array
from gough.errors import InputError
from gough.show.colors import BLUE, DARK, GREY, PALE, VERMILION
from gough.show.style import STYLE
from gough.studies.evaluate import Outcome
from gough.studies.optimise import NOT_ASKED, judged, pareto

if TYPE_CHECKING:
    import xarray

    from gough.studies.plan import Plan

MOST_ROWS, MOST_COLUMNS = 4, 5
MOST_DOTS = 5000


def overview(plan: Plan, dataset: xarray.Dataset) -> Figure:
    """Results over variables, a dot per point; or histograms where only tolerances vary."""
    inputs = list(plan.recipe.variables)[:MOST_COLUMNS]
    columns = [*plan.evaluator.results, *plan.recipe.measures][:MOST_ROWS]
    good = np.flatnonzero(dataset["failed"].values == "")
    if not good.size:
        raise InputError("no point of the study has an answer: nothing to draw")
    if not inputs:
        return histograms(plan, dataset, good)
    step = max(1, good.size // MOST_DOTS)
    shown = good[::step]
    dot = float(np.clip(60 / np.sqrt(len(shown)), 3.0, 9.0))
    with matplotlib.rc_context(STYLE):
        size = (1.4 + 1.9 * len(inputs), 1.1 + 1.6 * len(columns))
        figure = Figure(figsize=(max(size[0], 4.5), size[1]), layout="constrained")
        panels = figure.subplots(
            len(columns), len(inputs), sharex="col", sharey="row", squeeze=False
        )
        for i, column in enumerate(columns):
            for j, name in enumerate(inputs):
                axes = panels[i, j]
                axes.plot(
                    dataset[name].values[shown], dataset[column].values[shown],
                    linestyle="", marker=".", markersize=dot, alpha=0.5, color=BLUE,
                    markeredgewidth=0,
                )  # fmt: skip
                if i == len(columns) - 1:
                    axes.set_xlabel(_label(dataset, name, " "), parse_math=False)
                axes.locator_params(axis="x", nbins=4)
            panels[i, 0].set_ylabel(_label(dataset, column))
            values = dataset[column].values[shown]
            if values.min() > 0 and values.max() > 8 * np.median(values):
                panels[i, 0].set_yscale("log")
        figure.align_ylabels()
        failed = plan.points - good.size
        more = f", {failed} failed" if failed else ""
        figure.suptitle(f"{plan.recipe.name}: {plan.points} points{more}", parse_math=False)
    return figure


def histograms(plan: Plan, dataset: xarray.Dataset, good: Array) -> Figure:
    """How results spread, with mean and the middle 95 %."""
    columns = [*plan.evaluator.results, *plan.recipe.measures][: 2 * MOST_ROWS]
    with matplotlib.rc_context(STYLE):
        rows = -(-len(columns) // 2)
        wide = min(len(columns), 2)
        figure = Figure(figsize=(3.6 * wide, 0.8 + 2.1 * rows), layout="constrained")
        panels = figure.subplots(rows, wide, squeeze=False)
        for axes, column in zip(panels.flat, columns, strict=False):
            values = dataset[column].values[good]
            axes.hist(values, bins=40, color=BLUE, alpha=0.75)
            low, middle, high = np.quantile(values, (0.025, 0.5, 0.975))
            for place, style in ((low, ":"), (middle, "-"), (high, ":")):
                axes.axvline(place, color=VERMILION, linestyle=style, linewidth=1.4)
            axes.set_xlabel(_label(dataset, column, " "))
            axes.locator_params(axis="x", nbins=4)
        for axes in list(panels.flat)[len(columns) :]:
            axes.set_visible(False)
        for row in panels:
            row[0].set_ylabel("points")
        figure.suptitle(
            f"{plan.recipe.name}: median and middle 95 % of {good.size} points", parse_math=False
        )
    return figure


def front(plan: Plan, dataset: xarray.Dataset) -> Figure:
    """All designs that were tried over the first two objectives, and those that none beats."""
    search = plan.search
    if search is None:
        raise InputError("a sweep has no front; [optimise] does")
    best = pareto(plan, dataset)
    points = np.stack([dataset[name].values for name in plan.inputs], axis=1)
    values = np.stack([dataset[name].values for name in plan.columns], axis=1)
    reasons = tuple(dataset["failed"].values.tolist())
    goals, excess = judged(plan, search, points, Outcome(values, reasons))
    goals = goals * search.signs
    good = np.array([not reason for reason in reasons])
    holds = good & (excess <= 0).all(axis=1)
    labels = [one.text for one in search.objectives]
    units = [str(dataset[one].attrs.get("units", "")) if one in dataset else "" for one in labels]
    shown = [
        f"{one} [{unit}]" if unit not in ("", "1") else one
        for one, unit in zip(labels, units, strict=True)
    ]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.0, 4.6), layout="constrained")
        axes: Any = figure.subplots()
        if len(labels) == 1:
            number = np.arange(len(goals)) // search.population + 1
            running = np.minimum.accumulate(np.where(holds, search.signs[0] * goals[:, 0], np.inf))
            axes.plot(number[holds], goals[holds, 0], ".", color=GREY, markersize=3, label="tried")
            axes.plot(number, search.signs[0] * running, color=VERMILION, label="best so far")
            axes.set(xlabel="generation", ylabel=shown[0])
        else:
            broken = good & ~holds
            dots: dict[str, Any] = {"linestyle": "", "marker": ".", "markersize": 4}
            if broken.any():
                axes.plot(*goals[broken, :2].T, **dots, color=PALE, label="breaks a constraint")
            axes.plot(*goals[holds, :2].T, **dots, color=GREY, label="tried")
            path = best[np.argsort(goals[best, 0], kind="stable")]
            style: dict[str, Any] = {"marker": "o", "markersize": 5, "linewidth": 0.8}
            axes.plot(*goals[path, :2].T, color=VERMILION, **style, label="none is better")
            axes.set(xlabel=shown[0], ylabel=shown[1])
            if holds.any():
                _focus(axes, goals[holds, :2], goals[path, :2])
        asked = sum(reason != NOT_ASKED for reason in reasons)
        axes.legend()
        figure.suptitle(f"{plan.recipe.name}: {asked} designs", parse_math=False, color=DARK)
    return figure


def _focus(axes: Any, tried: Array, best: Array) -> None:
    """Leave far outliers out of the picture."""
    low = np.minimum(tried.min(axis=0), best.min(axis=0))
    high = np.maximum(np.quantile(tried, 0.98, axis=0), best.max(axis=0))
    room = 0.06 * np.where(high > low, high - low, 1.0)
    axes.set(xlim=(low[0] - room[0], high[0] + room[0]), ylim=(low[1] - room[1], high[1] + room[1]))


def _label(dataset: xarray.Dataset, name: str, between: str = "\n") -> str:
    unit = str(dataset[name].attrs.get("units", ""))
    return f"{name}{between}[{unit}]" if unit not in ("", "1") else name
