"""Where the actuator forces come from: the demand of the one equation, split by cause.

The forces depend linearly on what they must provide, so each part of the demand has its own share of Γ,
T Γ = part with T of `gough.mechanics.equation`, and the shares add up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.mechanics import equation
from gough.mechanics.driving import drive, holding
from gough.mechanics.leg import at_port
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.platforms.platform import gather, jacobian_rows
from gough.mechanics.programs import Outputs, margin
from gough.mechanics.state import State
from gough.mechanics.vectors import Components


class PartDemand(NamedTuple):
    """What a motion takes, each part where it is felt, on the platform's own axes."""

    pushed: Components
    """(6, samples) of the platform."""
    modal: Components
    """(modes, samples) of the platform."""
    tips: Components
    """(3 or 6, legs, samples) at the legs' ports."""

    def less(self, other: PartDemand) -> PartDemand:
        """The difference."""
        return PartDemand(*(a - b for a, b in zip(self, other, strict=True)))

    def of_platform(self) -> PartDemand:
        """Without the legs."""
        return self._replace(tips=0 * self.tips)

    def of_legs(self) -> PartDemand:
        """Without the platform."""
        return self._replace(pushed=0 * self.pushed, modal=0 * self.modal)


def contributions(
    mechanism: Mechanism, state: State, wrench: Components, preload: Components | None = None
) -> Outputs:
    """Shares of the frictionless actuator forces; see `gough.model.contributions.Contributions`."""
    zero, still = 0 * state.velocity, 0 * state.elastic
    state = state._replace(elastic_acceleration=still)
    steady = state.coasting()
    resting = steady._replace(velocity=zero, angular_velocity=zero, elastic_velocity=still)
    moving, coasting, at_rest = (_demand(mechanism, one) for one in (state, steady, resting))
    platform, legs = equation.unforced(mechanism, state)
    nothing = moving.less(moving)
    spring, damper = platform.springs()
    acting, modal = platform.outside(wrench, 0 * legs.direction)
    parts = {
        "gravity": at_rest._replace(modal=at_rest.modal - spring),
        "platform_inertia": moving.less(coasting).of_platform(),
        "leg_inertia": moving.less(coasting).of_legs(),
        "platform_coriolis": coasting.less(at_rest)
        .of_platform()
        .less(nothing._replace(modal=damper)),
        "leg_coriolis": coasting.less(at_rest).of_legs(),
        "wrench": nothing._replace(pushed=-acting, modal=-modal),
        "elastic": nothing._replace(modal=spring + damper),
    }
    holders = legs.leg.holders
    T = jacobian_rows(platform.tips, platform.own(legs.w), holders)
    flexible = platform.visible.shape[2] > 0
    if flexible:
        felt = equation.feel(platform, platform.terms(wrench, 0 * legs.direction), legs)
        _, mix = felt.yielding()
        seen = equation.at_visible_each(platform, platform.own(legs.w), holders)
        T = T - (mix[:, np.newaxis] * seen).sum(axis=2)
    held = holding(mechanism, platform, legs)
    driving = drive(mechanism, T, held)
    shares: Outputs = {}
    for name, part in parts.items():
        wanted, visible = platform.eliminated(part.pushed, part.modal)
        wanted = wanted + gather(platform.tips, part.tips)
        if flexible:
            visible = visible + equation.at_visible(platform, part.tips)
            wanted = wanted - (mix * visible).sum(axis=1)
        shares[name] = driving.least(wanted)
    shares["preload"] = 0 * wrench[0] * legs.q
    if preload is not None:
        shares["preload"] = driving.internal(preload)
    return shares | {
        "margin": margin(mechanism, platform, legs, held, driving.health, accelerated=True)
    }


def _demand(mechanism: Mechanism, state: State) -> PartDemand:
    """M ξ̇ + b of platform and legs."""
    platform, legs = equation.moving(mechanism, state)
    pushed, modal = platform.inertial()
    return PartDemand(pushed, modal, platform.own(at_port(legs, legs.load(mechanism.gravity))))
