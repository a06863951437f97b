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
from gough.results import Result


@dataclass(frozen=True, repr=False)
class Contributions(Result):
    """Shares of the actuator forces, (..., actuators) each, N or N m."""

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
    """Internal forces asked for (more actuators than freedoms)."""
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
