"""Eq. 34: what the links' inertia asks of the actuators, and what it costs to compute."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

import gough
from gough.base.arrays import Array
from gough.data.paper_motions import kim_ryu_circle
from gough.show.reproduction import relative_error, rms
from gough.trajectories import Circle

from .equations import equation_29
from .hexaslide import RADIUS, SPEEDS, TIME, numbers


class LinkInertia(NamedTuple):
    """Actuator forces on the circle at one speed, no friction, and the links' part of them."""

    total: Array
    links: Array
    printed: Array
    """The total with Eq. 34 as printed."""

    @property
    def peak_share(self) -> float:
        """Largest link-inertia force over largest force."""
        return float(np.abs(self.links).max() / np.abs(self.total).max())

    @property
    def rms_share(self) -> float:
        """The same of root-mean-square values."""
        return rms(self.links) / rms(self.total)


def link_inertia(
    robot: gough.Robot, rpm: float, time: Array = TIME, plane: tuple[int, int] = (0, 1)
) -> LinkInertia:
    """Eqs. 29 and 34 on the circle, in the plane of the axes given."""
    center = robot.home.position
    motion, this = (
        Circle(center, RADIUS, rpm=rpm, axes=np.eye(3)[list(plane)])(time),
        numbers(robot),
    )
    total = equation_29(this, motion)
    links = total - equation_29(this, motion, link_inertia=False)
    return LinkInertia(total, links, equation_29(this, motion, printed=("27", "34")))


def growth_error(robot: gough.Robot) -> float:
    """Largest departure of the link-inertia force from speed squared, at equal places."""
    turn = np.linspace(0.0, 60.0, 121)
    slow, *fast = (link_inertia(robot, rpm, turn / rpm).links / rpm**2 for rpm in SPEEDS)
    return max(relative_error(one, slow) for one in fast)


def seconds(robot: gough.Robot, with_links: bool) -> float:
    """Time for the 601 states of the circle at 40 rpm, best of ten."""
    motion, this = kim_ryu_circle(40)(TIME), numbers(robot)
    times = []
    for _ in range(10):
        start = time.perf_counter()
        equation_29(this, motion, with_links)
        times.append(time.perf_counter() - start)
    return min(times)
