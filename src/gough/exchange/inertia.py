"""One body's inertia as other programs have it: about the centre of mass."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from gough.base.arrays import Array
from gough.legs.bodies import steiner
from gough.mechanics.body import Body


class Inertia(NamedTuple):
    """Mass and inertia of one body, in its own frame."""

    mass: float
    """kg."""
    center: Array
    """(3,) of mass, m."""
    inertia: Array
    """(3, 3) about the centre of mass, kg m²."""

    @property
    def nothing(self) -> bool:
        """Neither mass nor inertia."""
        return self.mass == 0 and not np.any(self.inertia)

    def at(self, center: Array) -> Self:
        """The same elsewhere."""
        return self._replace(center=center)


NOTHING = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))


def inertia_of(body: Body, i: int) -> Inertia:
    """Of the i-th of some bodies, from 0."""
    return central(float(body.mass[i, 0]), body.first_moment[:, i, 0], body.inertia[:, :, i, 0])


def central(mass: float, moment: Array, inertia: Array) -> Inertia:
    """From first moments, and inertia about the frame's origin: I_G = I_O − M (c·c 1 − c cᵀ).

    Without mass first moments are lost; no real body has them.
    """
    center = moment / mass if mass else np.zeros(3)
    return Inertia(mass, center, inertia - mass * steiner(center))
