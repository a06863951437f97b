"""What the legs do over time: panels of curves above each other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.errors import InputError
from gough.legs.reading import Actuator, Limits, actuator_names, by_units
from gough.legs.units import LINEAR
from gough.motion import Motion
from gough.show.colors import DARK, leg_color
from gough.show.style import DASHED, HALO, STYLE

if TYPE_CHECKING:
    from gough.model.contributions import Contributions
    from gough.results import Actuation, LegMotion
    from gough.robot import Robot


FAR = 3.0
"""How many times the largest value a limit may be to be drawn as a line."""
LIMIT_LINE: Any = (0, (6, 2, 1, 2))
HIDDEN = 0.01
"""Part of a panel's range within which a curve hides another."""
TURN = 5.0
"""Dashes of curves that lie on each other, in widths of a line."""


class Look(NamedTuple):
    """How stacked panels look; lengths in inches."""

    width: float
    frame: float
    """Height of what is not a panel."""
    height: float
    """Of a panel."""
    line: float
    """Width of a curve, points."""
    ticks: int | None = None
    """Most intervals of an upright axis; as many as fit without."""
    styles: tuple[Any, ...] = ()
    """Of the curves, in their order; without, the second half of them is dashed."""


SCREEN = Look(7.0, 1.6, 1.9, 1.6)
LEGS = Look(7.5, 0.7, 2.4, 1.5, 6, ("-",) * 3 + (DASHED,) * 3)
AXES = Look(7.5, 0.7, 1.9, 1.2, 5, ("-", "--", "-."))
"""Of what is shown on a screen, and of legs and axes in the papers' pages."""


def leg_curves(motion: Motion, legs: LegMotion, *, actuators: Sequence[Actuator] = ()) -> Figure:
    """Actuated coordinates, rates and accelerations over time.

    `actuators` are `robot.actuators`; without them one per leg, in metres and newtons.
    """
    found: list[tuple[Array, str]] = []
    for values, symbol, unit in (
        (legs.q, "$q$", "[q]"),
        (legs.qd, r"$\dot q$", "[q]/s"),
        (legs.qdd, r"$\ddot q$", "[q]/s²"),
    ):
        found += _by_units(values, symbol, unit, actuators)
    return _over_motion(motion, found, "Actuated coordinates", actuators)


def joint_curves(robot: Robot, motion: Motion, legs: LegMotion) -> Figure:
    """The coordinates of every leg's passive joints, mostly angles of a universal joint, over time."""
    kinds = {group.kind.name: group.kind for group in robot.description.groups}
    words = next(iter(kinds.values())).words
    if len(kinds) > 1 or not words.passive:
        raise InputError(
            f"joint_curves: {robot.name} has legs of kind {' and '.join(kinds)}, whose passive joints "
            "have no names in common"
        )
    panels = [
        (legs.joints[..., i], f"{words.passive[name]} [{unit}]")
        for i, (name, unit) in enumerate(zip(words.joints, words.joint_units, strict=True))
        if name in words.passive
    ]
    return _over_motion(motion, panels, "Universal joints")


def force_curves(
    motion: Motion,
    actuation: Actuation,
    *,
    actuators: Sequence[Actuator] = (),
    limits: Limits | None = None,
) -> Figure:
    """Actuator forces and powers (W) over time; `actuators` as in `leg_curves`.

    `limits` are `robot.limits`: lines where forces have theirs.
    """
    panels = _by_units(actuation.forces, r"$\Gamma$", "[force]", actuators)
    forces = len(panels)
    panels.append((actuation.power, "power [W]"))
    figure = _over_motion(motion, panels, "Actuator forces and powers", actuators)
    if limits is not None:
        draw_limits(figure, [values for values, _ in panels[:forces]], limits.force)
    return figure


def contribution_curves(
    motion: Motion,
    contributions: Contributions,
    *,
    actuators: Sequence[Actuator] = (),
    limits: Limits | None = None,
) -> Figure:
    """Actuator forces over time, split by cause; causes without effect are left out.

    `actuators` and `limits` as in `force_curves`.
    """
    panels = _by_units(contributions.total, "total", "[force]", actuators)
    total = [values for values, _ in panels]
    visible = 1e-9 * np.abs(contributions.total).max(initial=0.0)
    for part in fields(contributions):
        value = getattr(contributions, part.name)
        if np.any(np.abs(value) > visible):
            panels += _by_units(value, part.name.replace("_", "\n"), "[force]", actuators)
    figure = _over_motion(motion, panels, "Where the actuator forces come from", actuators)
    if limits is not None:
        draw_limits(figure, total, limits.force)
    return figure


def draw_limits(figure: Figure, panels: Sequence[Array], limit: Array, first: int = 0) -> None:
    """Lines at ± limits (actuators,) in panels of curves (n, actuators), from the first-th panel on.

    A limit far off is named in the corner, so that curves stay legible.
    """
    line = None
    with matplotlib.rc_context(STYLE):
        for axes, values in zip(figure.axes[first:], panels, strict=False):
            own = np.isfinite(values).any(axis=0) & np.isfinite(limit)
            levels = np.unique(limit[own])
            most = np.nanmax(np.abs(values), initial=0.0)
            far = levels[levels > FAR * most]
            for level in levels[levels <= FAR * most]:
                for sign in (-1, 1):
                    line = axes.axhline(sign * level, color=DARK, linestyle=LIMIT_LINE, linewidth=1)
            if far.size:
                text = "limit ±" + ", ±".join(f"{level:.4g}" for level in far)
                style: Any = {"color": DARK, "fontsize": 8, "ha": "right", "va": "top"}
                axes.text(0.99, 0.97, text, transform=axes.transAxes, path_effects=HALO, **style)
        if line is not None:
            line.set_label("limit")
            before = [one for one in figure.legends[0].legend_handles if one is not None]
            handles = [*(one for one in before if one.get_label() != "limit"), line]
            figure.legends[0].remove()
            figure.legend(handles=handles, loc="outside right center")


def coinciding(panels: Sequence[Array]) -> list[list[int]]:
    """Groups of curves that lie on each other all along a panel (n, k), which hide each other."""
    count = panels[0].shape[-1]
    groups = [{i} for i in range(count)]
    for values in panels:
        if len(values) < 2:
            continue
        wide = np.nanmax(values, initial=-np.inf) - np.nanmin(values, initial=np.inf)
        if not wide > 0:
            continue
        for i, j in itertools.combinations(range(count), 2):
            apart = np.abs(values[:, i] - values[:, j])
            if np.isfinite(apart).any() and np.nanmax(apart) < HIDDEN * wide:
                both = groups[i] | groups[j]
                for k in both:
                    groups[k] = both
    return [sorted(one) for i, one in enumerate(groups) if len(one) > 1 and min(one) == i]


def taking_turns(place: int, count: int) -> Any:
    """Dashes of a curve that is one of `count` on each other: each is seen where the others are not."""
    return (TURN * ((count - place) % count), (TURN, TURN * (count - 1)))


def _by_units(
    values: Array, symbol: str, unit: str, actuators: Sequence[Actuator]
) -> list[tuple[Array, str]]:
    """A panel per unit: values (n, actuators) that are NaN where an actuator has another."""
    if not actuators:
        return [(values, f"{symbol} [{LINEAR.of(unit)}]")]
    found = []
    for units, which in by_units(actuators):
        own = np.full_like(values, np.nan)
        own[..., which] = values[..., which]
        found.append((own, f"{symbol} [{units.of(unit)}]"))
    return found


def over_time(
    time: ArrayLike, values: ArrayLike, labels: Sequence[str], ylabel: str, title: str
) -> Figure:
    """Curves `values` (n, k) over `time` (n,) in s, one label per curve; `ylabel` has the unit."""
    panels = [(np.asarray(values, dtype=np.float64), ylabel)]
    return curves(np.asarray(time, dtype=np.float64), "time [s]", panels, labels, title)


def _over_motion(
    motion: Motion,
    panels: Sequence[tuple[Array, str]],
    title: str,
    actuators: Sequence[Actuator] = (),
) -> Figure:
    """One curve per leg or actuator, over time or, without it, over samples."""
    if len(motion.shape) != 1:
        raise InputError(f"motion of batch shape {motion.shape}: curves need shape (n,)")
    legs = [f"leg {i + 1}" for i in range(panels[0][0].shape[-1])]
    labels = actuator_names(actuators) if actuators else legs
    x, xlabel = np.arange(len(motion)), "sample"
    if motion.time is not None:
        x, xlabel = motion.time, "time [s]"
    return curves(x, xlabel, panels, labels, title, [one.leg for one in actuators])


def curves(
    x: Array,
    xlabel: str,
    panels: Sequence[tuple[Array, str]],
    labels: Sequence[str],
    title: str = "",
    legs: Sequence[int] = (),
) -> Figure:
    """Panels of curves (n, k) above each other; the second half of the curves is dashed.

    With the leg that each curve is of, from 0, they have its colour.
    """
    for values, ylabel in panels:
        if values.shape != (*x.shape, len(labels)):
            raise InputError(
                f"{ylabel}: values have shape {values.shape}, needs {(*x.shape, len(labels))} "
                f"for {len(labels)} labels over {xlabel} of shape {x.shape}"
            )
    figure = stacked(x, xlabel, [("", *panel) for panel in panels], labels, SCREEN, legs)
    if title:
        with matplotlib.rc_context(STYLE):
            figure.suptitle(title, parse_math=False)
    return figure


def leg_panels(
    time: Array, panels: Sequence[tuple[str, Array, str]], labels: Sequence[str] = ()
) -> Figure:
    """Panels (title, curves (n, legs), axis label with unit) over time in s; "leg 1" … by default."""
    labels = labels or [f"leg {i + 1}" for i in range(panels[0][1].shape[1])]
    return stacked(time, "time [s]", panels, labels, LEGS)


def axis_panels(time: Array, panels: Sequence[tuple[str, Array, str]]) -> Figure:
    """Panels (title, components x, y, z (n, 3), axis label with unit) over time in s."""
    return stacked(time, "time [s]", panels, tuple("xyz"), AXES)


def stacked(
    x: Array,
    xlabel: str,
    panels: Sequence[tuple[str, Array, str]],
    labels: Sequence[str],
    look: Look,
    legs: Sequence[int] = (),
) -> Figure:
    """Panels (title, curves (n, k), axis label) above each other, one label per curve."""
    half = (len(labels) + 1) // 2
    styles = list(look.styles or ("-",) * half + (DASHED,) * half)
    order = list(legs) or list(range(len(labels)))
    if len({*order}) < len(order):  # several actuators in a leg
        styles = ["-" if leg not in order[:i] else DASHED for i, leg in enumerate(order)]
    for alike in coinciding([values for _, values, _ in panels]):
        for place, i in enumerate(alike):
            styles[i] = taking_turns(place, len(alike))
    with matplotlib.rc_context(STYLE):
        size = (look.width, look.frame + look.height * len(panels))
        figure = Figure(figsize=size, layout="constrained")
        rows = figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
        for axes, (title, values, ylabel) in zip(rows, panels, strict=True):
            for i, (curve, label) in enumerate(zip(values.T, labels, strict=True)):
                line = {
                    "color": leg_color(order[i]),
                    "linestyle": styles[i],
                    "linewidth": look.line,
                    "marker": "o" if len(x) == 1 else "",
                }
                axes.plot(x, curve, label=label, **line)
            if title:
                axes.set_title(title, loc="left", fontsize=10)
            axes.set_ylabel(ylabel)
            if look.ticks is not None:
                axes.yaxis.set_major_locator(MaxNLocator(look.ticks))
            axes.margins(x=0)
        rows[-1].set_xlabel(xlabel)
        figure.align_ylabels()
        figure.legend(handles=rows[0].get_lines(), loc="outside right center")
    return figure
