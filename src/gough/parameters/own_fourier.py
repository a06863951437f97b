"""Fourier series of a robot's own coordinates: what the platform does besides is solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.model.freedom import COORDINATES
from gough.model.model import Model
from gough.trajectories import Outside, State, Trajectory


def waves(sine: Array, cosine: Array, period: float, time: Array) -> tuple[Array, Array, Array]:
    """x = Σ S_h sin(2π h t/period) + C_h cos(2π h t/period) with ẋ and ẍ, (..., k) each.

    S and C are (..., k, harmonics), with which times (...) broadcast.
    """
    h = 2 * np.pi * np.arange(1, sine.shape[-1] + 1) / period
    turning = (cosine - 1j * sine) * np.exp(1j * h * time[..., np.newaxis, np.newaxis])
    x, xd, xdd = ((turning * (1j * h) ** k).sum(-1).real for k in range(3))
    return x, xd, xdd


@dataclass(frozen=True, eq=False, init=False)
class OwnFourier(Trajectory):
    """Sums of sines and cosines of a robot's own coordinates about home; goes on for all times.

        u = u_home + Σ S_h sin(2π h t/period) + C_h cos(2π h t/period),    h = 1 … harmonics

    `sine`, `cosine` (m, harmonics) are S and C, rows as `robot.coordinates`; m and rad.
    """

    outside: ClassVar[Outside] = "continue"
    robot: Model
    sine: Array
    cosine: Array
    period: float

    def __init__(self, robot: Model, sine: ArrayLike, cosine: ArrayLike, period: float) -> None:
        self._set(robot=robot, sine=self._numbers("sine", sine), period=float(period))
        self._set(cosine=self._numbers("cosine", cosine, self.sine.shape), duration=float(period))

    def _state(self, t: Array) -> State:
        x, xd, xdd = waves(self.sine, self.cosine, self.period, t)
        found = self.robot.motion(home_coordinates(self.robot) + x, xd, xdd)
        return (
            found.position,
            found.rotation,
            found.velocity,
            found.angular_velocity,
            found.acceleration,
            found.angular_acceleration,
        )


def home_coordinates(robot: Model) -> Array:
    """u (m,) at home."""
    whole = np.concatenate([robot.home.position, np.zeros(3)])
    return whole[[COORDINATES.index(name) for name in robot.coordinates]]
