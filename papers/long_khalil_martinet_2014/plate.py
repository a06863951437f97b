"""The plate of Section 6.1 and Table 2: mass, frequencies, and meshes that might explain them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import gough
from gough.base.arrays import Array
from gough.show.reproduction import load_paper

from .printed import NAME, TABLE_2, THICKNESS

peers: Any = load_paper("peers")


def frequencies(robot: gough.Robot) -> Array:
    """Natural frequencies of the free plate, rad/s."""
    return np.sqrt(robot.platform.stiffness)


def mass_of_typed_corners(density: float = 7500.0) -> float:
    """Mass, kg, of the hexagon whose corners are (±0.5, 0) and (±0.25, ±0.433), √3/4 cut off there."""
    corner = np.array([0.5, 0.25 + 0.433j, -0.25 + 0.433j, -0.5, -0.25 - 0.433j, 0.25 - 0.433j])
    after = np.roll(corner, -1)
    return float(density * THICKNESS * np.imag(np.conj(corner) * after).sum() / 2)


class Meshes(NamedTuple):
    """Coarse meshes beside Table 2: how far modes 14, 15 are off, over how far 12, 13 are."""

    count: int
    like: int
    """Those with modes 7 to 13 within 1.1 % of the converged ones and 14 to 16 over 8 % above."""
    paper: float
    worst: float
    """The largest such ratio of a mesh."""
    origin: str


def meshes(converged: Array) -> Meshes:
    """Whether a coarse mesh explains modes 14 to 16; `converged` are CalculiX's frequencies."""
    found = peers.beside("calculix", f"{NAME}/coarse-meshes", again=False)
    off = found.values / converged - 1
    printed = TABLE_2[:, 0] / converged - 1
    like = (np.abs(off[:, :7]).max(axis=1) < 0.011) & (off[:, 7:].min(axis=1) > 0.08)
    ratio = off[:, 7:9].mean(axis=1) / off[:, 5:7].mean(axis=1)
    of_paper = printed[7:9].mean() / printed[5:7].mean()
    return Meshes(len(off), int(like.sum()), float(of_paper), float(ratio.max()), found.origin(""))
