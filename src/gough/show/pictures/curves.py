"""What the legs do over time: panels of curves above each other."""

from __future__ import annotations

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
from gough.legs.units import LINEAR, LegUnits
from gough.motion import Motion
from gough.show.colors import leg_color
from gough.show.style import DASHED, STYLE

if TYPE_CHECKING:
    from gough.model.contributions import Contributions
    from gough.results import Actuation, LegMotion
    from gough.robot import Robot


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


def leg_curves(motion: Motion, legs: LegMotion, *, units: LegUnits = LINEAR) -> Figure:
    """Actuated coordinates, rates and accelerations of all legs over time.

    `units` are those of the robot's actuators, `robot.leg_kind.units`.
    """
    panels = [
        (legs.q, f"$q$ [{units.q}]"),
        (legs.qd, rf"$\dot q$ [{units.speed}]"),
        (legs.qdd, rf"$\ddot q$ [{units.speed}²]"),
    ]
    return _over_motion(motion, panels, "Actuated coordinates")


def joint_curves(robot: Robot, motion: Motion, legs: LegMotion) -> Figure:
    """The coordinates of every leg's passive joints, mostly angles of a universal joint, over time."""
    words = robot.leg_kind.words
    panels = [
        (legs.joints[..., i], f"{words.passive[name]} [{unit}]")
        for i, (name, unit) in enumerate(zip(words.joints, words.joint_units, strict=True))
        if name in words.passive
    ]
    return _over_motion(motion, panels, "Universal joints")


def force_curves(motion: Motion, actuation: Actuation, *, units: LegUnits = LINEAR) -> Figure:
    """Actuator forces and powers (W) of all legs over time; `units` as in `leg_curves`."""
    panels = [(actuation.forces, rf"$\Gamma$ [{units.force}]"), (actuation.power, "power [W]")]
    return _over_motion(motion, panels, "Actuator forces and powers")


def contribution_curves(
    motion: Motion, contributions: Contributions, *, units: LegUnits = LINEAR
) -> Figure:
    """Actuator forces of all legs over time, split by cause; causes without effect are left out.

    `units` as in `leg_curves`.
    """
    panels = [(contributions.total, f"total [{units.force}]")]
    visible = 1e-9 * np.abs(contributions.total).max(initial=0.0)
    panels += [
        (value, part.name.replace("_", "\n") + f" [{units.force}]")
        for part in fields(contributions)
        if np.any(np.abs(value := getattr(contributions, part.name)) > visible)
    ]
    return _over_motion(motion, panels, "Where the actuator forces come from")


def over_time(
    time: ArrayLike, values: ArrayLike, labels: Sequence[str], ylabel: str, title: str
) -> Figure:
    """Curves `values` (n, k) over `time` (n,) in s, one label per curve; `ylabel` has the unit."""
    panels = [(np.asarray(values, dtype=np.float64), ylabel)]
    return curves(np.asarray(time, dtype=np.float64), "time [s]", panels, labels, title)


def _over_motion(motion: Motion, panels: Sequence[tuple[Array, str]], title: str) -> Figure:
    """One curve per leg, over time or, without it, over samples."""
    if len(motion.shape) != 1:
        raise InputError(f"motion of batch shape {motion.shape}: curves need shape (n,)")
    labels = [f"leg {i + 1}" for i in range(panels[0][0].shape[-1])]
    if motion.time is None:
        return curves(np.arange(len(motion)), "sample", panels, labels, title)
    return curves(motion.time, "time [s]", panels, labels, title)


def curves(
    x: Array,
    xlabel: str,
    panels: Sequence[tuple[Array, str]],
    labels: Sequence[str],
    title: str = "",
) -> Figure:
    """Panels of curves (n, k) above each other; the second half of the curves is dashed."""
    for values, ylabel in panels:
        if values.shape != (*x.shape, len(labels)):
            raise InputError(
                f"{ylabel}: values have shape {values.shape}, needs {(*x.shape, len(labels))} "
                f"for {len(labels)} labels over {xlabel} of shape {x.shape}"
            )
    figure = stacked(x, xlabel, [("", *panel) for panel in panels], labels, SCREEN)
    if title:
        with matplotlib.rc_context(STYLE):
            figure.suptitle(title)
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
) -> Figure:
    """Panels (title, curves (n, k), axis label) above each other, one label per curve."""
    half = (len(labels) + 1) // 2
    styles = look.styles or ("-",) * half + (DASHED,) * half
    with matplotlib.rc_context(STYLE):
        size = (look.width, look.frame + look.height * len(panels))
        figure = Figure(figsize=size, layout="constrained")
        rows = figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
        for axes, (title, values, ylabel) in zip(rows, panels, strict=True):
            for i, (curve, label) in enumerate(zip(values.T, labels, strict=True)):
                line = {"color": leg_color(i), "linestyle": styles[i], "linewidth": look.line}
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
