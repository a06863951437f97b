"""The path of the simulation, part by part: rests and moves by fifth-order polynomials."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.data.paper_motions import paper_motion

from .printed import NAME

MOTION = f"{NAME}/poses"


class Part(NamedTuple):
    """A part of the path: V̇ᵈ = s̈(t) (Δp, θ), s = 10τ³ − 15τ⁴ + 6τ⁵, τ = (t − start)/(stop − start)."""

    start: float
    stop: float
    move: Array
    """Δp and rotation vector θ, (6,); zero where the robot rests."""

    def asked(self, t: float) -> Array:
        """V̇ᵈ (6,)."""
        T = self.stop - self.start
        u = (t - self.start) / T
        return (60 * u - 180 * u**2 + 120 * u**3) / T**2 * self.move


def path() -> list[Part]:
    """Rest, moves through several poses, rest: the trajectory of the catalogue, part by part."""
    trajectory: Any = paper_motion(MOTION)
    poses, now = trajectory.poses, 0.0
    parts = []
    for i, rest in enumerate(np.broadcast_to(trajectory.rests, len(poses))):
        if rest:
            parts.append(Part(now, now + rest, np.zeros(6)))
            now += rest
        if i + 1 < len(poses):
            turn = Rotation.from_matrix(poses.rotation[i + 1] @ poses.rotation[i].T).as_rotvec()
            move = np.concatenate([poses.position[i + 1] - poses.position[i], turn])
            length = np.broadcast_to(trajectory.durations, len(poses) - 1)[i]
            parts.append(Part(now, now + length, move))
            now += length
    return parts
