"""How many numbers of a leg whole poses can tell, by rank: a platform that never turns tells too little.

At a pose (δp, δθ) = −G⁺ ∂g/∂u δu. Of a leg alone u has a few columns; what combinations of them are seen
in all poses is their rank. Of a UPS leg with base B, platform point P and offset, ‖p + R P − B‖ − offset
shows of P and B, where R never changes, only R P − B: 4 of 7.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.calibration.closing import Standing, closing, pose_slopes
from gough.calibration.geometry import Geometry
from gough.motion import Motion

LITTLE = 3.0
"""Degrees: turns below which a platform counts as not turned. Errors of build turn it by as much."""
RANK = 1e-7
"""Singular value, as a share of the largest, that counts."""


def largest_turn(poses: Standing) -> float:
    """The largest turn from the mean orientation, rad."""
    turns = Rotation.from_matrix(poses.rotation)
    return float((turns * turns.mean().inv()).magnitude().max())


def leg_ranks(geometry: Geometry, poses: Standing, looked: Array) -> tuple[tuple[int, int], ...]:
    """Of each leg how many unknowns whole poses tell, and how many were looked for (unknowns,).

    Poses are those of the robot as drawn; little turns are left out, and poses that it cannot have:
    where it can have none of them, nothing is known of its legs.
    """
    robot = geometry.robot
    rotation = poses.rotation
    if robot.mobility == 6 and np.degrees(largest_turn(poses)) < LITTLE:
        mean = Rotation.from_matrix(rotation).mean().as_matrix()
        rotation = np.broadcast_to(mean, rotation.shape)
    there = Motion(poses.position, rotation)
    q = robot.inverse_kinematics(there, on_error="nan").q
    good = np.isfinite(q).all(axis=1)
    legs = np.array([one.leg for one in geometry.unknowns])
    if not np.any(good):
        return ()
    ranks = np.zeros(robot.leg_count, dtype=np.intp)
    counts = [int(np.sum((legs == leg) & looked)) for leg in range(robot.leg_count)]
    standing = Standing(poses.position[good], rotation[good], poses.chains[good])
    slopes = closing(geometry, np.zeros(geometry.count), q[good], standing)
    moved, by_q = pose_slopes(slopes, robot.length_scale)
    first = geometry.count - len(geometry.offsets)
    moved[:, :, first:] = -by_q[:, :, list(geometry.offsets)]
    moved[:, 3:] *= robot.length_scale
    for leg in range(robot.leg_count):
        own = (moved * geometry.sizes)[:, :, (legs == leg) & looked]
        values = np.linalg.svd(np.concatenate(own), compute_uv=False)
        ranks[leg] = np.sum(values > RANK * values.max(initial=0.0))
    return tuple((int(rank), count) for rank, count in zip(ranks, counts, strict=True))


def turned(geometry: Geometry, poses: Standing, degrees: float, seed: int = 0) -> Standing:
    """Poses at the same positions, turned at random by up to so much about each axis."""
    rng = np.random.default_rng(seed)
    count = max(len(poses.position), 2 * geometry.count // geometry.robot.leg_count)
    which = np.arange(count) % len(poses.position)
    angles = np.radians(rng.uniform(-degrees, degrees, (count, 3)))
    rotation = Rotation.from_rotvec(angles).as_matrix() @ poses.rotation[which]
    return Standing(poses.position[which], rotation, poses.chains[which])
