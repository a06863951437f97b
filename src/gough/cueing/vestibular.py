"""What the inner ear makes of a motion: sensed specific force and sensed turn rate.

Otoliths and semicircular canals as linear filters (R. J. Telban, F. M. Cardullo, Motion Cueing Algorithm
Development: Human-Centered Linear and Nonlinear Approaches, NASA/CR-2005-213747):

    otoliths  0.4 (10 s + 1)/((5 s + 1)(0.016 s + 1))         of specific force, m/s²
    canals    5.73·80 s²/((80 s + 1)(5.73 s + 1))             of turn rates, rad/s

in axes of the head. Between samples inputs are straight, and the filters exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.signal import cont2discrete, lfilter, tf2ss

from gough.base.arrays import Array
from gough.cueing.vehicle import Vehicle
from gough.motion import Motion

OTOLITHS = ([4.0, 0.4], np.polymul([5.0, 1.0], [0.016, 1.0]))
CANALS = ([5.73 * 80.0, 0.0, 0.0], np.polymul([80.0, 1.0], [5.73, 1.0]))
"""Numerator and denominator, falling powers of s."""
FORCE_THRESHOLD = 0.17
"""m/s²: what of a specific force is just noticed (L. D. Reid, M. A. Nahon, UTIAS Report 296, 1985)."""
RATE_THRESHOLD = np.radians(3.0)
"""rad/s: what of a turn rate is just noticed (likewise, roll)."""


class StateSpace(NamedTuple):
    """x' = A x + B u, y = C x + D u; one input, one output."""

    A: Array
    B: Array
    C: Array
    D: Array


def state_space(organ: tuple[list[float], Array]) -> StateSpace:
    """A filter of this module as a system of first order."""
    return StateSpace(*tf2ss(*organ))


def filtered(numerator: list[float], denominator: Array, values: Array, step: float) -> Array:
    """Values (n, k), straight between samples `step` s apart, through a filter that begins at rest."""
    system: Any = (numerator, denominator)
    b, a, _ = cont2discrete(system, step, method="foh")
    return np.asarray(lfilter(np.ravel(b), a, values, axis=0))


def sensed(force: Array, rates: Array, step: float) -> Array:
    """Sensed specific force and rates (n, 6), m/s² and rad/s, from those of the head (n, 3) each."""
    return np.concatenate(
        [filtered(*OTOLITHS, force, step), filtered(*CANALS, rates, step)], axis=1
    )


def felt_on_platform(motion: Motion, home: Motion, gravity: Array) -> tuple[Array, Array]:
    """Specific force less that at rest, and turn rates, (n, 3) each, in axes of the head.

    With R = R_platform R_homeᵀ: Rᵀ(v̇ − g) + g and Rᵀω; the head is at the platform's origin.
    """
    turned = motion.rotation @ home.rotation.T
    force = np.einsum("nji,nj->ni", turned, motion.acceleration - gravity) + gravity
    return force, np.einsum("nji,nj->ni", turned, motion.angular_velocity)


@dataclass(frozen=True)
class Sensation:
    """What the platform makes felt beside what the vehicle does, over time."""

    time: Array
    wanted: Array
    """(n, 6) sensed specific force (m/s²) and turn rates (rad/s) in the vehicle."""
    given: Array
    """(n, 6) on the platform."""

    @property
    def error(self) -> float:
        """√ mean(‖δf‖²/(0.17 m/s²)² + ‖δω‖²/(3 deg/s)²): in thresholds of what is noticed.

        δf and δω are differences of what is *sensed*, behind the filters: a specific force that lasts is
        sensed as 0.4 of itself, so one that is off by 1 m/s² for long counts as 0.4 m/s².
        """
        return float(np.sqrt(np.mean(np.sum(self._weighed() ** 2, axis=1))))

    @property
    def force_error(self) -> float:
        """Root mean square of ‖δf‖ as sensed (0.4 of a force that lasts), m/s²."""
        return float(np.sqrt(np.mean(np.sum((self.given - self.wanted)[:, :3] ** 2, axis=1))))

    @property
    def rate_error(self) -> float:
        """Root mean square of ‖δω‖ as sensed, rad/s."""
        return float(np.sqrt(np.mean(np.sum((self.given - self.wanted)[:, 3:] ** 2, axis=1))))

    def _weighed(self) -> Array:
        return np.asarray((self.given - self.wanted) / THRESHOLDS)


THRESHOLDS = np.repeat([FORCE_THRESHOLD, RATE_THRESHOLD], 3)
"""Of the six sensed quantities."""


def sensation(vehicle: Vehicle, motion: Motion, home: Motion, gravity: Array) -> Sensation:
    """What a motion (n,) at the vehicle's times makes felt beside the vehicle."""
    wanted = sensed(vehicle.specific_force(gravity), vehicle.rates, vehicle.step)
    given = sensed(*felt_on_platform(motion, home, gravity), vehicle.step)
    return Sensation(vehicle.time, wanted, given)
