"""Figs. 7 to 10, and link inertia over speed."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure as Picture

import gough
from gough.show.colors import BLUE, GREY, PALETTE, VERMILION
from gough.show.pictures.curves import leg_panels
from gough.show.reproduction import Figure, rms
from gough.show.style import STYLE

from .comparison import EVERY, Accuracy
from .hexaslide import SPEEDS, TIME
from .links import LinkInertia, link_inertia


def accuracy_figure(name: str, this: Accuracy, caption: str) -> Figure:
    """Forces of both programs, and their difference."""
    sampled = TIME[::EVERY]
    difference = (this.forces[::EVERY] - this.reference) * 1e6
    panels = [
        (f"(a) lines: Kim & Ryu, circles: {this.program}", this.forces, "actuator force [N]"),
        ("(b) difference", np.full_like(this.forces, np.nan), "difference [µN]"),
    ]
    picture = leg_panels(TIME, panels)
    upper, lower = picture.axes
    for i, color in enumerate(PALETTE[:6]):
        marks: Any = {"color": color, "marker": "o", "markersize": 3, "markerfacecolor": "white"}
        upper.plot(sampled, this.reference[:, i], linestyle="", **marks)
        style = upper.get_lines()[i].get_linestyle()
        lower.plot(sampled, difference[:, i], color=color, linestyle=style)
    lower.set_xlim(TIME[0], TIME[-1])
    return Figure(name, caption, picture)


def link_figure(rpm: int, this: LinkInertia) -> Figure:
    """Figs. 9 and 10: forces at one speed, and link inertia's part of them."""
    paper = {20: "Fig. 9. ", 60: "Fig. 10. "}.get(rpm, "Between Figs. 9 and 10. ")
    panels = [
        ("(a) total", this.total, "actuator force [N]"),
        ("(b) link inertia alone", this.links, "actuator force [N]"),
    ]
    name = {20: "fig-9", 60: "fig-10"}.get(rpm, f"link-inertia-{rpm}rpm")
    caption = (
        f"{paper}Circle of 100 mm at {rpm} rpm, no friction: total force, and link inertia's part."
    )
    return Figure(name, caption, leg_panels(TIME, panels))


def speed_figure(robot: gough.Robot) -> Figure:
    """Link inertia over speed."""
    rpm = np.geomspace(10, 100, 21)
    found = [link_inertia(robot, one, np.linspace(0, 60 / one, 121)) for one in rpm]
    peak, mean = ([kind(one.links) for one in found] for kind in (lambda x: np.abs(x).max(), rms))
    with matplotlib.rc_context(STYLE):
        picture = Picture(figsize=(7.5, 3.3), layout="constrained")
        left, right = picture.subplots(1, 2)
        left.loglog(rpm, peak, color=BLUE, label="peak")
        left.loglog(rpm, mean, color=VERMILION, linestyle="--", label="rms")
        right.semilogx(rpm, [100 * one.peak_share for one in found], color=BLUE)
        right.semilogx(rpm, [100 * one.rms_share for one in found], color=VERMILION, ls="--")
        left.set(ylabel="link-inertia force [N]")
        left.set_title("(a) grows as speed squared", loc="left", fontsize=10)
        right.set(ylabel="share of the actuator force [%]", ylim=(0, None))
        right.set_title("(b) share", loc="left", fontsize=10)
        for axes in (left, right):
            axes.set(xlabel="speed on the circle [rpm]")
            axes.set_xticks([10, *SPEEDS, 100], labels=["10", *map(str, SPEEDS), "100"])
            axes.minorticks_off()
            for one in SPEEDS:
                axes.axvline(one, color=GREY, linewidth=0.8, linestyle=":")
        left.set_yticks([0.3, 1, 3, 10, 30], labels=["0.3", "1", "3", "10", "30"])
        picture.legend(handles=left.get_lines()[:2], loc="outside right center")
    caption = (
        "Actuator force for the links' inertia alone on the circle of 100 mm, largest and "
        "root-mean-square values over legs and time; dotted: the paper's speeds and 40 rpm."
    )
    return Figure("link-inertia-speed", caption, picture)
