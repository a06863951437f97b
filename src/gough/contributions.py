"""Where the actuator forces come from: the demand of the one equation, split by cause.

The forces depend linearly on the wrench they must provide, so each part of the demand has its own
share of Γ and the shares add up. The papers' question "is the legs' inertia negligible?" is one call.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from gough.dynamics import Machine, State, demand, inverse, without_acceleration
from gough.motion import Array
from gough.vectors import Components


@dataclass(frozen=True)
class Contributions:
    """Shares of the actuator forces, (..., legs) each, N."""

    gravity: Array
    """Weight of platform, payload and legs."""
    platform_inertia: Array
    """Acceleration of the platform."""
    leg_inertia: Array
    """Acceleration of the legs and rotors, as far as it comes from that of the platform."""
    platform_coriolis: Array
    """Centrifugal and gyroscopic terms of the platform."""
    leg_coriolis: Array
    """Coriolis and centrifugal terms of the legs."""
    wrench: Array
    """The external wrench."""
    friction: Array
    preload: Array
    """Internal forces asked for (more than six legs)."""

    @property
    def coriolis(self) -> Array:
        """All velocity-dependent inertia terms."""
        return self.platform_coriolis + self.leg_coriolis

    @property
    def total(self) -> Array:
        """The actuator forces."""
        return np.asarray(sum(getattr(self, part.name) for part in fields(self)))


def split(
    machine: Machine,
    state: State,
    forces: Components,
    wrench: Components | None,
    preload: Components | None,
) -> dict[str, Components]:
    """Shares (legs, samples) of the forces Γ; friction is what the others leave."""
    zero = 0 * state.velocity
    steady = without_acceleration(state)
    resting = steady._replace(velocity=zero, angular_velocity=zero)
    platform, legs = demand(machine, state)
    platform_steady, legs_steady = demand(machine, steady)
    platform_resting, legs_resting = demand(machine, resting)
    nothing = 0 * platform
    wanted = {
        "gravity": platform_resting + legs_resting,
        "platform_inertia": platform - platform_steady,
        "leg_inertia": legs - legs_steady,
        "platform_coriolis": platform_steady - platform_resting,
        "leg_coriolis": legs_steady - legs_resting,
        "wrench": nothing if wrench is None else -wrench,
    }
    # a wrench of (whole demand − part) leaves exactly that part for the actuators
    whole = platform + legs
    parts = {
        name: inverse(machine, state, whole - part, False, None).forces
        for name, part in wanted.items()
    }
    frictionless = inverse(machine, state, wrench, False, preload).forces
    plain = inverse(machine, state, wrench, False, None).forces
    return parts | {"friction": forces - frictionless, "preload": frictionless - plain}
