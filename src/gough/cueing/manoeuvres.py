"""Vehicles made by formula, as a recorder would have them: to try a simulator with."""

from __future__ import annotations

import numpy as np

from gough.cueing.vehicle import Vehicle

GRAVITY = 9.81
"""m/s²"""


def lane_change(
    *, speed: float = 25.0, offset: float = 3.5, duration: float = 4.0, step: float = 0.02
) -> Vehicle:
    """A car changes lanes and back, and brakes a little before each: 24 s.

    The path is y = offset (s − sin(2π s)/2π) with s = t/duration; the yaw rate is that of the path, the
    body rolls out of the curve by 1.5° per m/s² as cars do.

    Args:
        speed: m/s.
        offset: of the lanes, m.
        duration: of each change, s.
        step: between samples, s.

    """
    t = np.arange(0.0, 24.0 + step / 2, step)
    side, bend = np.zeros_like(t), np.zeros_like(t)
    for begin, sign in ((4.0, 1.0), (13.0, -1.0)):
        s = (t - begin) / duration
        within = (s > 0) & (s < 1)
        rate = 2 * np.pi / duration
        side += np.where(within, sign * offset * rate / duration * np.sin(2 * np.pi * s), 0)
        bend += np.where(within, sign * offset * rate**2 / duration * np.cos(2 * np.pi * s), 0)
    forward = sum(-1.5 * np.exp(-(((t - begin) / 0.8) ** 2)) for begin in (2.5, 11.5))
    lean = np.radians(1.5)
    acceleration = np.stack([forward, side, np.zeros_like(t)], axis=1)
    rates = np.stack([lean * np.gradient(side, t), np.zeros_like(t), side / speed], axis=1)
    return Vehicle.of(t, acceleration, rates)


def flight_turn(*, speed: float = 120.0, bank: float = 15.0, step: float = 0.05) -> Vehicle:
    """An aeroplane accelerates, rolls into a coordinated turn, meets a gust and rolls out: 60 s.

    In the turn a_y = −g tan φ in level axes, so that the specific force stays along the body's z; the
    rates are those of bank φ and of heading ψ̇ = g tan φ/speed in axes of the body.

    Args:
        speed: m/s.
        bank: degrees.
        step: between samples, s.

    """
    t = np.arange(0.0, 60.0 + step / 2, step)

    def rise(begin: float, end: float) -> np.ndarray:
        s = np.clip((t - begin) / (end - begin), 0, 1)
        return np.asarray(s**3 * (10 - 15 * s + 6 * s**2))

    gust = 0.3 * np.exp(-(((t - 30.0) / 0.5) ** 2)) * np.sin(2 * np.pi * 1.0 * t)
    forward = 2.0 * (rise(3, 5) - rise(10, 12))
    roll = -np.radians(bank) * (rise(15, 19) - rise(40, 44))
    side = -GRAVITY * np.tan(roll)
    heading = side / speed
    level = np.stack([forward, side, gust], axis=1)
    c, s = np.cos(roll), np.sin(roll)
    acceleration = np.stack(
        [level[:, 0], c * level[:, 1] + s * level[:, 2], -s * level[:, 1] + c * level[:, 2]], axis=1
    )
    rates = np.stack([np.gradient(roll, t), heading * s, heading * c], axis=1)
    return Vehicle.of(t, acceleration, rates)
