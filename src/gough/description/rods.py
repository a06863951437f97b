"""A robot with its actuators locked: rods between fixed points and the platform.

UPS: a rod from B_i to P_i of length q_i. PUS: one from rail_origin + q_i a_i to P_i of length l_i. The
equations are those of `gough.model.forward`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array


class Rods(NamedTuple):
    """Fixed ends and platform ends (rods, 3) and lengths (rods,) of rods, m."""

    anchor: Array
    point: Array
    length: Array


class RodFrame(NamedTuple):
    """Where the origins were put and what length counts as 1, so that numbers are near 1."""

    base: Array
    """New origin of the world, (3,) m."""
    platform: Array
    """New origin of the platform frame, (3,) m."""
    scale: float
    """A power of two, m: dividing by it does not round."""


UNFRAMED = RodFrame(np.zeros(3), np.zeros(3), 1.0)


def framed(rods: Rods) -> tuple[Rods, RodFrame]:
    """The rods about the means of their ends, divided by a length near their size."""
    base, platform = rods.anchor.mean(axis=0), rods.point.mean(axis=0)
    anchor, point = rods.anchor - base, rods.point - platform
    size = np.sqrt(np.mean(np.sum(anchor**2 + point**2, axis=1) + rods.length**2) / 3)
    scale = float(2.0 ** np.round(np.log2(size)))
    return Rods(anchor / scale, point / scale, rods.length / scale), RodFrame(base, platform, scale)


def constants(rods: Rods) -> Array:
    """c = ‖A‖² + ‖b‖² − l² (rods,), the constant of a rod's equation (`gough.analysis.study`)."""
    return np.asarray(np.sum(rods.anchor**2 + rods.point**2, axis=1) - rods.length**2)
