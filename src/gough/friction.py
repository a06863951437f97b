"""Friction in the joints, and the loop that makes it agree with the loads it depends on.

Kim & Ryu 2002, Eqs. 30–31, corrected. On the link (UPS: cylinder) with angular velocity ω_l, F_A and F_B
being the universal and spherical reactions, e(ω) = ω/‖ω‖:

    universal  m_u = −c_u ω_l − k_u ‖F_A‖ e(ω_l)
    spherical  m_p = −c_p (ω_l − ω) − k_p ‖F_B‖ e(ω_l − ω), and −m_p on the platform
    slider     f_s = −c_s q̇ − (μ_s (|u·N| + |v·N|) or F_c) sign q̇ − (2π τ_b/lead) sign q̇

The couples depend on reactions, which depend on the couples. For given load magnitudes s the model is
linear, so one pass maps s to new reactions, affine in s; the loop seeks s = |V0 + G s|.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gough.legs.leg import LegKinematics
from gough.vectors import Components, dot, norm, or_one

TOLERANCE = 1e-13
"""Residual, relative to the largest load, at which the loop stops."""
WORST_RESIDUAL = 1e-12
"""Residual above which there is no answer."""
MOST_PASSES = 25
MOST_NEWTON_STEPS = 60


class Friction(NamedTuple):
    """Friction coefficients, (legs, 1) each; see `gough.schema.Friction` for units."""

    slider_viscous: Components
    slider_coulomb: Components
    universal_viscous: Components
    universal_coulomb: Components
    spherical_viscous: Components
    spherical_coulomb: Components
    screw_drag: Components
    """2π τ_b/lead, N."""
    width: Components

    @property
    def none(self) -> bool:
        """No friction at all."""
        return not any(np.any(value) for value in self[:-1])


class Loads(NamedTuple):
    """Load magnitudes that friction feels, (legs, samples) each, N."""

    universal: Components
    spherical: Components
    guide: Components
    """|u·N| + |v·N| of a PUS slider; for UPS, 1: its `slider_coulomb` is a force."""


class JointFriction(NamedTuple):
    """Friction on each leg's link and slider."""

    universal: Components
    """Couple m_u on the link, N m."""
    spherical: Components
    """Couple m_p on the link, N m; its opposite acts on the platform."""
    slider: Components
    """Force f_s along q, N."""


def joint_friction(
    friction: Friction, legs: LegKinematics, angular_velocity: Components, loads: Loads
) -> JointFriction:
    """Friction for given loads: the laws above, smoothed where the file gives a width."""
    omega = legs.link_angular_velocity
    relative = omega - angular_velocity
    width = friction.width
    sense = legs.qd / or_one(np.sqrt(legs.qd * legs.qd + width * width))
    sliding = friction.slider_coulomb * loads.guide + friction.screw_drag
    return JointFriction(
        universal=-friction.universal_viscous * omega
        - friction.universal_coulomb * loads.universal * _direction(omega, width),
        spherical=-friction.spherical_viscous * relative
        - friction.spherical_coulomb * loads.spherical * _direction(relative, width),
        slider=-friction.slider_viscous * legs.qd - sliding * sense,
    )


def _direction(rate: Components, width: Components) -> Components:
    """ω/√(‖ω‖² + w²), which is 0 where ω = 0."""
    direction: Components = rate / or_one(np.sqrt(dot(rate, rate) + width * width))
    return direction


def magnitudes(vectors: Components) -> Components:
    """(3, legs, samples) from (8, legs, samples): ‖F_A‖, ‖F_B‖, |u·N| + |v·N|."""
    guide = np.abs(vectors[6]) + np.abs(vectors[7])
    return np.stack([norm(vectors[0:3]), norm(vectors[3:6]), guide])


class Consistent(NamedTuple):
    """Loads that agree with the friction they cause."""

    loads: Loads
    residual: Components
    """Largest disagreement over the largest load, (samples,)."""
    passes: int


def consistent(
    respond: Callable[[Loads], Components], unloaded: Components, friction: Friction
) -> Consistent:
    """Solve s = |V(s)| for the load magnitudes s, (3, legs, samples).

    `respond` maps loads to the vectors V (8, legs, samples): F_A, F_B, u·N, v·N, which are affine in
    the loads; `unloaded` is V(0). Plain passes first; they contract by about k/l each. Samples
    that contract slowly go to Newton's method on the affine map.
    """
    loads = magnitudes(unloaded)
    feeds_back = any(
        np.any(one)
        for one in (friction.universal_coulomb, friction.spherical_coulomb, friction.slider_coulomb)
    )
    if not feeds_back:
        return Consistent(Loads(*loads), np.zeros(loads.shape[-1]), 1)
    new = loads
    residual = np.full(loads.shape[-1], np.inf)
    for passes in range(1, MOST_PASSES + 1):
        new = magnitudes(respond(Loads(*loads)))
        residual = _residual(new, loads)
        if np.all((residual <= TOLERANCE) | np.isnan(residual)):
            return Consistent(Loads(*loads), residual, passes)
        loads = new
    slow = np.flatnonzero(~(residual <= TOLERANCE))
    loads = loads.copy()
    loads[:, :, slow] = _newton(respond, unloaded, loads, slow)
    new = magnitudes(respond(Loads(*loads)))
    return Consistent(Loads(*loads), _residual(new, loads), passes)


def _residual(new: Components, old: Components) -> Components:
    change = np.abs(new - old).max(axis=(0, 1), initial=0.0)
    largest = np.abs(new).max(axis=(0, 1), initial=0.0)
    return np.asarray(change / or_one(largest))


def _newton(
    respond: Callable[[Loads], Components],
    unloaded: Components,
    loads: Components,
    slow: Components,
) -> Components:
    """Damped Newton on s − |V0 + G s| for the slow samples; G column by column, exactly."""
    kinds, legs, _ = loads.shape
    columns = []
    for place in range(kinds * legs):
        unit = np.zeros((kinds * legs, 1))
        unit[place] = 1.0
        probe = Loads(*np.broadcast_to(unit.reshape(kinds, legs, 1), loads.shape))
        columns.append((respond(probe) - unloaded)[:, :, slow])
    gain = np.stack(columns, axis=-1)  # (8, legs, slow, unknowns)
    start = unloaded[:, :, slow]

    def vectors(s: Components) -> Components:
        return np.asarray(start + np.einsum("vlsu,us->vls", gain, s))

    def disagreement(s: Components) -> Components:
        return s - magnitudes(vectors(s)).reshape(kinds * legs, -1)

    best = magnitudes(start).reshape(kinds * legs, -1)
    wrong = disagreement(best)
    for _ in range(MOST_NEWTON_STEPS):
        error = np.abs(wrong).max(axis=0)
        scale = np.abs(best).max(axis=0) + 1e-300
        if np.all(~(error > 0.01 * TOLERANCE * scale)):
            break
        slope = np.eye(kinds * legs) - _slopes(vectors(best), gain)
        step = np.zeros_like(best)
        for i in np.flatnonzero(np.isfinite(slope).all(axis=(1, 2)) & np.isfinite(error)):
            step[:, i] = np.linalg.lstsq(slope[i], wrong[:, i], rcond=None)[0]
        damping = np.ones_like(error)
        for _ in range(12):
            trial = best - damping * step
            trial_error = np.abs(disagreement(trial)).max(axis=0)
            worse = trial_error > error
            if not np.any(worse):
                break
            damping = np.where(worse, damping / 2, damping)
        best = trial
        wrong = disagreement(best)
    return best.reshape(kinds, legs, -1)


def _slopes(vectors: Components, gain: Components) -> Components:
    """d|V|/ds, (samples, unknowns, unknowns)."""
    parts = [
        np.einsum("vls,vlsu->slu", block / or_one(norm(block)), gain[rows])
        for block, rows in ((vectors[0:3], slice(0, 3)), (vectors[3:6], slice(3, 6)))
    ]
    parts.append(np.einsum("vls,vlsu->slu", np.sign(vectors[6:8]), gain[6:8]))
    return np.concatenate(parts, axis=1)
