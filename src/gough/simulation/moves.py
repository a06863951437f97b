"""How actuators move a platform along what it is allowed, as part of programs: q̇ = J ξ, Cᵀ ξ = 0.

Where legs or mobility hold the platform, twists have m free components (`gough.mechanics.held`), and J
of these is all that actuators can feel or move. Samples on the last axis, SI units.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np

from gough.mechanics.driving import holding
from gough.mechanics.held import Held
from gough.mechanics.leg import MovingLeg
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.platforms.platform import MovingPlatform
from gough.mechanics.solves import Factors, factor, least_norm, least_squares
from gough.mechanics.vectors import Components, copysign


class Moves(NamedTuple):
    """What actuators do with the platform's free components."""

    mechanism: Mechanism
    platform: MovingPlatform
    held: Held | None
    factors: Factors
    """Of J (actuators, m), of its transpose where there are fewer actuators than that."""
    wide: bool
    """There are fewer."""

    @classmethod
    def of(cls, mechanism: Mechanism, platform: MovingPlatform, legs: MovingLeg) -> Moves:
        """Of a robot in a state."""
        held, scale = holding(mechanism, platform, legs), mechanism.scale()
        J = np.moveaxis(platform.world_rows(legs.w, legs.leg.holders), 0, 1)
        if held is not None:
            free = [held.free(platform.own(one) * scale) for one in J]
            J, scale = np.stack(np.broadcast_arrays(*free)), np.ones((mechanism.mobile, 1))
        wide = len(J) < J.shape[1]
        if wide:
            J, scale = np.swapaxes(J, 0, 1), np.ones((len(J), 1))
        return cls(mechanism, platform, held, factor(J, scale), wide)

    def twist(self, rates: Components) -> Components:
        """The allowed twist (6, samples), world axes, that moves the actuators so; the nearest."""
        solve = least_norm if self.wide else least_squares
        free = solve(self.factors, rates)
        return free if self.held is None else self._whole(self.held, free)

    def _whole(self, held: Held, free: Components) -> Components:
        return self.platform.world(held.whole(free) * self.mechanism.scale())

    def bound(self) -> Components:
        """The least acceleration (6, samples), world axes, that keeps the twist allowed."""
        if self.held is None:
            return 0 * self.platform.state.twist
        return self.platform.world(self.held.least(self.held.second) * self.mechanism.scale())

    def possible(self, acceleration: Components) -> Components:
        """The nearest acceleration (6, samples), world axes, that the platform can have."""
        if self.held is None:
            return acceleration
        own = self.platform.own(acceleration) / self.mechanism.scale()
        return self.bound() + self._whole(self.held, self.held.free(own))

    @property
    def conditioning(self) -> Components:
        """min |R_kk|/max |R_kk| of J = Q R; signed as det J where it has one.

        Signed where J is square and the held directions do not turn, or there are none.
        """
        actuators = len(self.factors.reflectors[0][0])
        if self.wide or actuators > len(self.factors.per_diagonal):
            return self.factors.health
        signs = list(self.factors.per_diagonal)
        if self.held is not None:
            if self.held.mixing is not None or self.held.n.shape[1]:
                return self.factors.health
            signs += self.held.factors.per_diagonal  # a reflection more turns the free components
        signed: Components = copysign(self.factors.health, reduce(np.multiply, signs))
        return signed
