"""Table 4: where the legs hold the plate, and how far it gives way there."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import gough
from gough.base.arrays import Array

from .printed import TABLE_4


def table_4(robot: gough.Robot) -> tuple[Array, float, float]:
    """The P_i that Table 4 gives, (6, 3); how far they are from the robot's; its q_3 from ours, m.

    P = B + q3 z3, z3 = (cos q1 sin q2, −cos q2, −sin q1 sin q2) in Σ_0i (Eq. 3), which is the
    world frame turned about z until x is along B1→Bi.
    """
    x, y, q1, q2, q3 = TABLE_4
    base = np.column_stack([x, y, np.zeros(6)])
    angle = np.arctan2(y - y[0], x - x[0])
    z3 = np.column_stack([np.cos(q1) * np.sin(q2), -np.cos(q2), -np.sin(q1) * np.sin(q2)])
    turn = Rotation.from_euler("z", angle[:, np.newaxis])
    points = base + q3[:, np.newaxis] * turn.apply(z3)
    home = robot.home
    tips = home.position + np.moveaxis(robot.description.platform_points[..., 0], 0, 1)
    q = robot.rigid.inverse_kinematics(home).q
    off = np.linalg.norm(points - tips, axis=1).max()
    return points, float(off), float(np.abs(q - q3).max())


def deformations(robot: gough.Robot, motion: gough.Motion) -> tuple[Array, Array, Array]:
    """Φ_d(p) qe and Φ_r(p) qe (n, 3) at the origin, and Φ_d(i) qe (n, 6, 3) at the tips."""
    body: Any = robot.description.modal
    center = robot.deformation(motion, "origin").displacement
    tips = robot.deformation(motion, "tips").displacement
    return center, motion.elastic @ body.origin_rotations.T, tips
