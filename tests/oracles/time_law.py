"""The fastest law along a path by a phase plane, and a hexapod's forces by Newton and Euler.

NumPy alone, and nothing of gough: forces of six telescopic legs that have no mass but their rotors', and
controllable sets on a fine grid of the path's parameter s (Pham & Pham 2018), where at each point the
range of s̈ that forces allow at a given ṡ² is exact, friction included.
"""

from __future__ import annotations

import numpy as np


class Hexapod:
    """Six legs from the base to the platform, each with a rotor and the friction of its slider."""

    def __init__(self, data):
        """From a robot file's numbers: massless legs, a platform with mass, centre and inertia."""
        legs, platform, friction = data["legs"], data["platform"], data["legs"]["friction"]
        self.base, self.platform = np.array(legs["base"]), np.array(legs["platform"])
        self.mass, self.center = platform["mass"], np.array(platform["center_of_mass"])
        self.inertia = np.array(platform["inertia"])
        self.rotor = legs["rotor_mass"]
        self.viscous, self.coulomb = friction["slider_viscous"], friction["slider_coulomb"]
        self.gravity = np.array([0.0, 0.0, -9.81])

    def __call__(self, state, friction=True):
        """q̇ and forces (n, 6) of r, R, v, ω, v̇, ω̇ (n, …)."""
        position, rotation, velocity, omega, acceleration, alpha = state
        arm = self.platform @ np.swapaxes(rotation, -1, -2)
        leg = position[:, None] + arm - self.base
        length = np.linalg.norm(leg, axis=-1)
        along = leg / length[..., None]
        center = rotation @ self.center
        inertia = rotation @ self.inertia @ np.swapaxes(rotation, -1, -2)
        turn = np.cross(omega, np.cross(omega, center))
        force = self.mass * (acceleration + np.cross(alpha, center) + turn - self.gravity)
        momentum = np.einsum("nij,nj->ni", inertia, omega)
        moment = np.einsum("nij,nj->ni", inertia, alpha) + np.cross(omega, momentum)
        wrench = np.concatenate([force, np.cross(center, force) + moment], axis=-1)
        columns = np.concatenate([along, np.cross(arm, along)], axis=-1)
        pushes = np.linalg.solve(np.swapaxes(columns, 1, 2), wrench[..., None])[..., 0]
        spin = omega[:, None]
        tip = velocity[:, None] + np.cross(spin, arm)
        second = np.cross(alpha[:, None], arm) + np.cross(spin, np.cross(spin, arm))
        second = second + acceleration[:, None]
        rates = np.sum(along * tip, axis=-1)
        across = np.sum(tip**2, axis=-1) - rates**2
        pushes = pushes + self.rotor * (np.sum(along * second, axis=-1) + across / length)
        if friction:
            pushes = pushes + self.viscous * rates + self.coulomb * np.sign(rates)
        return rates, pushes


def least_time(machine, path, s, speed, force):
    """The least time from rest to rest along path(s) → r, R and rates by s; NaN where there is none."""
    position, rotation, first, turn, second, turn_second = path(s)
    none = np.zeros_like(first)
    still = machine((position, rotation, none, none, none, none), False)[1]
    rates, drift = machine((position, rotation, first, turn, second, turn_second), False)
    drift = drift - still
    push = machine((position, rotation, none, none, first, turn), False)[1] - still
    steps = np.diff(s)
    cap = np.min((speed / np.maximum(np.abs(rates), 1e-12)) ** 2, axis=1)
    viscous, dry = machine.viscous * rates, machine.coulomb * np.sign(rates)

    def bounds(i, x):
        """The least and largest s̈ at the point i, of x = ṡ² (n,)."""
        load = drift[i] * x[:, None] + still[i] + viscous[i] * np.sqrt(x)[:, None] + dry[i]
        ends = (-force - load) / push[i], (force - load) / push[i]
        return np.minimum(*ends).max(axis=1), np.maximum(*ends).min(axis=1)

    most = np.zeros(len(s))
    for i in range(len(s) - 2, -1, -1):

        def allowed(x, i=i):
            low, high = bounds(i, x)
            arrives = x + 2 * steps[i] * low <= most[i + 1] * (1 + 1e-12)
            return (low <= high) & arrives & (x + 2 * steps[i] * high >= 0)

        x = np.concatenate([[0.0], cap[i] * np.logspace(-9, 0, 60)])
        for _ in range(4):
            good = np.flatnonzero(allowed(x))
            if not good.size:
                return np.nan
            most[i] = x[good[-1]]
            if good[-1] == len(x) - 1:
                break
            x = np.linspace(x[good[-1]], x[good[-1] + 1], 18)
    x = np.zeros(len(s))
    for i, step in enumerate(steps):
        high = bounds(i, x[i : i + 1])[1][0]
        x[i + 1] = max(min(x[i] + 2 * step * high, most[i + 1]), 0.0)
    return float(np.sum(2 * steps / (np.sqrt(x[1:]) + np.sqrt(x[:-1]))))
