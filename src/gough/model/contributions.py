"""Where the actuator forces come from: the demand of the one equation, split by cause.

The forces depend linearly on the wrench they must provide, so each part of the demand has its own
share of Γ and the shares add up. The papers' question "is the legs' inertia negligible?" is one call.

On a flexible platform a demand has six rows d_r and N of its modes, d_e, and the elastic acceleration is
free: each part has the share T⁺ (d_r − M_re M_ee⁻¹ d_e) of Γ, and causes its own share of q̈e
(Long, Khalil & Martinet 2014, Eqs. 46–49, part by part).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from gough.base.arrays import Array
from gough.mechanics import elastic, programs
from gough.mechanics import equation as dynamics
from gough.mechanics.equation import Mechanism, State, at_tip
from gough.mechanics.modes import coupled
from gough.mechanics.platforms import flexible, rigid
from gough.mechanics.platforms.flexible import to_platform
from gough.mechanics.programs import DOUBTFUL, Outputs
from gough.mechanics.solves import factor, factor_symmetric, least_norm
from gough.mechanics.vectors import Components, minimum, transposed_matvec


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
    elastic: Array
    """Stiffness and damping of a flexible platform, K qe + D q̇e; 0 of a rigid one."""

    @property
    def coriolis(self) -> Array:
        """All velocity-dependent inertia terms."""
        return self.platform_coriolis + self.leg_coriolis

    @property
    def total(self) -> Array:
        """The actuator forces."""
        return np.asarray(sum(getattr(self, part.name) for part in fields(self)))


class Demand:
    """What a motion takes, as linear parts; platform axes."""

    def __init__(self, rows: Components, modal: Components, tips: Components) -> None:
        self.rows, self.modal, self.tips = rows, modal, tips
        """(6, samples) and (modes, samples) of the platform, (3, legs, samples) at the legs' tips."""

    def __sub__(self, other: Demand) -> Demand:
        return Demand(self.rows - other.rows, self.modal - other.modal, self.tips - other.tips)

    def of_platform(self) -> Demand:
        """Without the legs."""
        return Demand(self.rows, self.modal, 0 * self.tips)

    def of_legs(self) -> Demand:
        """Without the platform."""
        return Demand(0 * self.rows, 0 * self.modal, self.tips)


def flexible_contributions(
    mechanism: Mechanism, state: State, wrench: Components, preload: Components | None = None
) -> Outputs:
    """Shares of the frictionless actuator forces of a flexible robot; see `Contributions`."""
    assert mechanism.flexible is not None
    modes, rotation = mechanism.flexible, state.rotation
    zero, still = 0 * state.velocity, 0 * state.elastic
    state = state._replace(elastic_acceleration=still)
    steady = state._replace(acceleration=zero, angular_acceleration=zero)
    resting = steady._replace(velocity=zero, angular_velocity=zero, elastic_velocity=still)
    moving, coasting, at_rest = (_demand(mechanism, one) for one in (state, steady, resting))
    nothing = moving - moving
    spring = coupled(modes.couplings.stiffness, state.elastic)
    damper = coupled(modes.couplings.damping, state.elastic_velocity)
    pulled = to_platform(rotation, wrench)
    parts = {
        "gravity": at_rest - Demand(nothing.rows, spring, nothing.tips),
        "platform_inertia": (moving - coasting).of_platform(),
        "leg_inertia": (moving - coasting).of_legs(),
        "platform_coriolis": (coasting - at_rest).of_platform()
        - Demand(nothing.rows, damper, nothing.tips),
        "leg_coriolis": (coasting - at_rest).of_legs(),
        "wrench": nothing - Demand(pulled, flexible.modal_force(modes, pulled), nothing.tips),
        "elastic": Demand(nothing.rows, spring + damper, nothing.tips),
    }
    tips, local = elastic.place(mechanism, state)
    legs = elastic.legs_at(mechanism, tips, tips.bias)
    felt = elastic.feel(mechanism, state, local, legs)
    deformed = flexible.deform(modes, mechanism.platform, state.elastic, state.elastic_velocity)
    terms = {
        name: flexible.terms(modes, deformed, one.rows, one.modal) for name, one in parts.items()
    }
    softness = factor_symmetric(felt.softness, np.ones((len(felt.softness), 1)))
    T, mix = elastic.sharing(mechanism, local, terms["gravity"], felt, legs, rotation, softness)
    factors = factor(np.moveaxis(T, 0, 1), dynamics.scale(mechanism))
    shares: Outputs = {}
    for name, part in parts.items():
        visible = (modes.tips * part.tips[:, :, np.newaxis]).sum(axis=(0, 1))
        through = (mix * (visible + terms[name].visible_bias)).sum(axis=1)
        wanted = terms[name].bias + rigid.gather(local, part.tips) - through
        shares[name] = least_norm(factors, wanted)
    shares["preload"] = 0 * wrench[0] * legs.q
    if preload is not None:
        shares["preload"] = preload - least_norm(factors, (T * preload).sum(axis=1))
    healthy = programs.bias(mechanism, state)["margin"]
    return shares | {"margin": minimum(healthy, factors.health - DOUBTFUL)}


def _demand(mechanism: Mechanism, state: State) -> Demand:
    """M ξ̇ + b of platform and legs, each where it is felt."""
    assert mechanism.flexible is not None
    _, legs = elastic.moving(mechanism, state)
    load = at_tip(legs, mechanism.equations.load(mechanism.legs, legs, mechanism.gravity))
    pushed, modal = flexible.demand(
        mechanism.flexible,
        mechanism.platform,
        state.rotation,
        *state[3:6],
        mechanism.gravity,
        *state[6:],
    )
    tips = transposed_matvec(state.rotation, load)
    return Demand(to_platform(state.rotation, pushed), modal, tips)
