"""How many modes the plate needs: deflection and forces against their number."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

import gough
from gough.base.arrays import Array
from gough.show.reproduction import Progress

from .simulation import simulate

COUNTS = (3, 5, 10, 17, 24)
"""Numbers of modes for the study of convergence; the last is the reference."""


class Convergence(NamedTuple):
    """Results with n modes beside those with the most."""

    counts: Array
    sag: Array
    """Largest deflection of a tip at rest, m."""
    forces: Array
    """Largest difference of Γ along the path from that of the most modes, N; NaN for the most."""


def convergence(robot: gough.Robot, progress: Progress) -> Convergence:
    """Deflection and forces against the number of modes; `robot` has the most of them."""
    runs = []
    for count in COUNTS:
        progress(f"convergence: {count} modes")
        one = muted(robot, count)
        rest = one.static_deflection(one.home)
        sag = np.abs(one.deformation(rest, "tips").displacement).max()
        run = simulate(one, rest, 1e-5, samples=226)
        runs.append((sag, run.forces))
    best = runs[-1][1]
    off = [np.abs(forces - best).max() for _, forces in runs[:-1]]
    return Convergence(np.array(COUNTS), np.array([s for s, _ in runs]), np.array([*off, np.nan]))


def with_body(robot: gough.Robot, **changes: Any) -> gough.Robot:
    """The robot with arrays of its flexible body replaced."""
    assert robot.description.modal is not None
    body = dataclasses.replace(robot.description.modal, **changes)
    return dataclasses.replace(robot, description=robot.description._replace(modal=body))


def muted(robot: gough.Robot, count: int) -> gough.Robot:
    """The robot with its first modes only.

    The others stay, but move no tip: of a free plate (s = β = 0) nothing then excites them. One
    compiled program so serves many numbers of modes.
    """
    body: Any = robot.description.modal
    felt = np.arange(body.modes) < count
    return with_body(
        robot, tip_shapes=body.tip_shapes * felt, tip_rotations=body.tip_rotations * felt
    )
