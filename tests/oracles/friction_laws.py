"""Friction in a leg's joints at given load magnitudes.

With ω_l the link's (UPS: cylinder's) angular velocity and ω the platform's, in world axes,

    universal couple on the link   −c_u ω_u − k_u F_A dir(ω_u)            N m
    spherical couple on the link   −c_b ω_r − k_b F_B dir(ω_r),  ω_r = ω_l − ω
    force along q, PUS             −c_s q̇ − (μ_s (|u·N| + |v·N|) + 2π T/l) dir(q̇)    N
    force along q, UPS             −c_s q̇ − (F_c + 2π T/l) dir(q̇)
    torque about q, RUS            −c_m q̇ − τ_c dir(q̇)                    N m

ω_u is ω_l relative to what carries the universal joint: ω_l − q̇ a on a crank (RUS).
dir(x) = x / ‖x‖, 0 at 0; with a width w, dir(x) = x / √(‖x‖² + w²). F_A, F_B are magnitudes, N is
the guide force normal to the rail; u is the universal axis made perpendicular to the rail and
v = rail × u.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array, Robot, leg_value
from .legs import Leg

KEYS = (
    "slider_viscous",
    "slider_coulomb",
    "universal_viscous",
    "universal_coulomb",
    "spherical_viscous",
    "spherical_coulomb",
    "screw_torque",
    "screw_lead",
    "motor_viscous",
    "motor_coulomb",
    "width",
)


@dataclass(frozen=True)
class FrictionLoads:
    """Friction on every leg.

    along_q: force towards larger q (legs,). universal: couple on the link (UPS: cylinder), its
    opposite on the slider (UPS: base) (legs, 3). spherical: couple on the link (UPS: rod), its
    opposite on the platform (legs, 3).
    """

    along_q: Array
    universal: Array
    spherical: Array


def coefficients(robot: Robot, i: int) -> dict[str, float]:
    """Leg i's friction coefficients, 0 where the file says nothing."""
    table = robot["legs"].get("friction", {})
    return {key: float(leg_value(table.get(key, 0.0), i, 0)) for key in KEYS}


def heading(rate: Array | float, width: float) -> Array | float:
    """rate / ‖rate‖, 0 at 0; smoothed by the width if there is one."""
    size = np.sqrt(np.sum(np.square(rate)) + width**2)
    return rate / size if size > 0 else 0.0 * rate


def joint_couple(viscous: float, coulomb: float, load: float, omega: Array, width: float) -> Array:
    """Couple of a universal or spherical joint against the relative angular velocity omega."""
    return -viscous * omega - coulomb * load * heading(omega, width)


def guide_load(leg: Leg, guide: Array) -> float:
    """|u·N| + |v·N| of the guide force N (PUS); 0 for UPS."""
    return leg.kind.guide_load(leg, guide)


def drive_friction(leg: Leg, c: dict[str, float], qd: float, load: float) -> float:
    """Force along q of slider and screw; load is `guide_load` (PUS)."""
    if leg.kind.rotary:
        return float(-c["motor_viscous"] * qd - c["motor_coulomb"] * heading(qd, c["width"]))
    coulomb = c["slider_coulomb"] * leg.kind.coulomb_load(load)
    screw = 2 * np.pi * c["screw_torque"] / c["screw_lead"] if c["screw_torque"] else 0.0
    return float(-c["slider_viscous"] * qd - (coulomb + screw) * heading(qd, c["width"]))
