"""Chablat & Wenger 2003: the Orthoglide, a Delta on three sliders at right angles.

The platform translates. With ρ_i the sliders' places and L the legs' length

    (x − ρ_x)² + y² + z² = L²,  and so on:   ρ̇ = J v,   rows of J: n_i/(a_i·n_i)

n_i the leg's direction, a_i its rail's. The velocity amplification factors ψ are 1 over the singular
values of J. Design rule: 1/2 ≤ ψ ≤ 2 throughout a cube. On its diagonal x = y = z = p these are the ends
−L/√6 ≤ p ≤ L/(3√2), so an edge of 0.2 m takes L = 0.2/(1/√6 + 1/(3√2)).
"""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure as Picture

import gough
from gough.base.arrays import Array
from gough.show import plots
from gough.show.colors import BLUE, DARK, VERMILION
from gough.show.reproduction import (
    Claim,
    Figure,
    Item,
    NumberTable,
    Progress,
    Reproduction,
    number,
)
from gough.show.style import STYLE

NAME = "chablat-wenger-2003"
ROBOT = "chablat-orthoglide-2003"
EDGE, LENGTH, STROKE = 0.2, 0.31058, 0.257
"""Of the cube, of the legs and of the sliders, m, as the paper has them."""


def amplification(robot: gough.Robot, places: Array) -> Array:
    """ψ (n, 3), the largest first, at places (n, 3) of the platform."""
    rates = robot.jacobian(gough.Motion(places))[..., :3]
    return np.asarray(1 / np.linalg.svd(rates, compute_uv=False)[..., ::-1])


def cube(robot: gough.Robot, count: int) -> Array:
    """Places (count³, 3) in the cube, its corners included."""
    legs: Any = robot.description.legs
    length = float(legs.length[0, 0])
    ends = np.linspace(-length / np.sqrt(6), length / np.sqrt(18), count)
    return np.stack(np.meshgrid(ends, ends, ends), axis=-1).reshape(-1, 3)


def reproduce(progress: Progress) -> Reproduction:
    """Everything: claims, table, figures, notes."""
    robot = gough.load(ROBOT)
    progress("amplification in the cube")
    places = cube(robot, 21)
    factors = amplification(robot, places)
    rails = np.concatenate([places, places * [1.0, 0.0, 0.0]])  # farthest along its own axis
    strokes = robot.inverse_kinematics(gough.Motion(rails)).q[:, 0]
    home = amplification(robot, np.zeros((1, 3)))[0]
    length = EDGE / (1 / np.sqrt(6) + 1 / np.sqrt(18))
    span = float(np.ptp(strokes))
    claims = [
        Claim(
            "The Orthoglide is isotropic at one place.",
            "ψ = 1",
            f"ψ = 1 within {number(max(float(np.abs(home - 1).max()), 1e-17))} where the rails "
            "meet",
            "agrees",
        ),
        Claim(
            "A cube of 200 mm with amplification between 1/2 and 2 takes legs of L = 310.58 mm.",
            f"{1e3 * LENGTH:.2f} mm",
            f"{1e3 * length:.3f} mm",
            "agrees",
            "2 is met at both ends of the cube's diagonal, 1/2 at the lower one",
        ),
        Claim(
            "Throughout this cube the amplification factors stay between 1/2 and 2.",
            "1/2 ≤ ψ ≤ 2",
            f"{factors.min():.6f} to {factors.max():.6f} at {len(places)} places",
            "agrees",
            "the extremes are in corners",
        ),
        Claim(
            "The sliders take strokes of 257 mm.",
            f"{1e3 * STROKE:.0f} mm",
            f"{1e3 * span:.2f} mm over the cube",
            "agrees",
        ),
    ]
    progress("figures")
    figures = [
        Figure("robot", "The Orthoglide where it is isotropic.", plots.draw(robot)),
        _diagonal(robot, length),
    ]
    return Reproduction(
        NAME,
        "Chablat & Wenger 2003: the Orthoglide",
        robot.file.source,
        claims,
        figures,
        NOTES,
        [_corners(robot)],
        items=ITEMS,
    )


def _corners(robot: gough.Robot) -> NumberTable:
    """ψ in the corners of the cube."""
    rows = []
    for place, factors in zip(cube(robot, 2), amplification(robot, cube(robot, 2)), strict=True):
        here = ", ".join(number(1e3 * one, ".1f") for one in place)
        rows.append([here, *(f"{one:.4f}" for one in factors)])
    return NumberTable(
        "Velocity amplification factors in the corners of the cube.",
        ("x, y, z [mm]", "ψ₁", "ψ₂", "ψ₃"),
        rows,
    )


def _diagonal(robot: gough.Robot, length: float) -> Figure:
    """ψ along the cube's diagonal, beyond its ends too."""
    p = np.linspace(-0.14, 0.085, 200)
    factors = amplification(robot, np.repeat(p[:, np.newaxis], 3, axis=1))
    with matplotlib.rc_context(STYLE):
        picture = Picture(figsize=(7.5, 3.4), layout="constrained")
        axes = picture.subplots()
        axes.axhspan(0.5, 2, color=BLUE, alpha=0.08, linewidth=0)
        for end in (-length / np.sqrt(6), length / np.sqrt(18)):
            axes.axvline(1e3 * end, color=DARK, linewidth=0.8, linestyle=":")
        axes.semilogy(1e3 * p, factors[:, 0], color=VERMILION, label="largest")
        axes.semilogy(1e3 * p, factors[:, 2], color=BLUE, label="least")
        axes.set(xlabel="p on the diagonal x = y = z = p [mm]", ylabel="amplification ψ")
        axes.set_yticks([0.5, 1, 2], labels=["1/2", "1", "2"])
        axes.minorticks_off()
        axes.margins(x=0)
        axes.legend(loc="upper center")
    caption = (
        "Velocity amplification along the diagonal of the cube, whose ends are dotted: the limits "
        "1/2 and "
        "2 are met there."
    )
    return Figure("diagonal", caption, picture)


NOTES = (
    "L in the robot file is the design rule's to full precision; 310.58 mm is that rounded.",
    "Forces are not compared: the paper prints no masses. Those of the robot file are assumed.",
    "A Delta of a known machine is in the catalogue too (alikoc-delta-2023). Its source prints "
    "torques as "
    "curves only, so there is no number to reproduce; test_delta_carries_its_weight has its "
    "statics.",
)
ITEMS = (
    Item("design rule", "L from the cube and the limits of ψ", "second claim, figure “diagonal”"),
    Item("strokes", "257 mm", "fourth claim"),
    Item("isotropy", "ψ = 1", "first claim; test_orthoglide_is_isotropic_and_reaches_its_cube"),
    Item("dynamics", "not in the paper", "docs/howto/delta.md: forces of such robots"),
)
