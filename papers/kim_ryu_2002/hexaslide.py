"""The HexaSlide's numbers and the times at which the paper looks at it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import gough
from gough.base.arrays import Array

NAME = "kim-ryu-2002"
RADIUS = 0.1
SPEEDS = (20, 40, 60)
TIME = np.linspace(0.0, 3.0, 601)
"""The paper's simulations: 3 s in steps of 0.005 s."""


class Numbers(NamedTuple):
    """The paper's Appendix A.1 as the robot file has it; a row per leg."""

    A0: Array
    a: Array
    CB: Array
    length: float
    alpha: Array
    slider_mass: float
    link_mass: float
    link_inertia: Array
    mass: float
    CG: Array
    inertia: Array
    gravity: Array


def numbers(robot: gough.Robot) -> Numbers:
    """Read the robot file."""
    legs: Any = robot.file.legs
    platform: Any = robot.file.platform
    parts: Any = robot.description.legs
    slider, link = legs.slider[0], legs.link[0]
    return Numbers(
        A0=parts.rail_origin[..., 0].T,
        a=parts.rail_direction[..., 0].T,
        CB=np.asarray(legs.platform),
        length=float(legs.length),
        alpha=parts.axis[..., 0].T,
        slider_mass=float(slider.mass),
        link_mass=float(link.mass),
        link_inertia=np.asarray(link.inertia),
        mass=float(platform.mass),
        CG=np.asarray(platform.center_of_mass),
        inertia=np.asarray(platform.inertia),
        gravity=robot.description.gravity,
    )
