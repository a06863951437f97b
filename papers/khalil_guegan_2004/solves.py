"""What is lost when J_p⁻ᵀ Γ = F is solved without pivoting, and what an orthogonal solve keeps."""

from __future__ import annotations

import numpy as np

import gough
from gough.base.arrays import Array


def eliminate(matrices: Array, right: Array) -> Array:
    """Gaussian elimination in fixed order, without pivoting, of (n, 6, 6) systems."""
    A, b = matrices.copy(), right.copy()
    with np.errstate(all="ignore"):
        for k in range(6):
            for i in range(k + 1, 6):
                ratio = A[:, i, k] / A[:, k, k]
                A[:, i] -= ratio[:, None] * A[:, k]
                b[:, i] -= ratio * b[:, k]
        x = np.zeros_like(b)
        for k in reversed(range(6)):
            known = np.einsum("nj,nj->n", A[:, k, k + 1 :], x[:, k + 1 :])
            x[:, k] = (b[:, k] - known) / A[:, k, k]
    return x


def solve_losses(robot: gough.Robot, poses: gough.Motion, seed: int = 2) -> tuple[Array, Array]:
    """Relative loss in Γ of J_p⁻ᵀ Γ = F: unpivoted elimination, and the library's orthogonal solve.

    Γ is random and F = J_p⁻ᵀ Γ rounded once; moments are about P_1, as in the paper. Where
    elimination divides by zero the loss is infinite. A robot at rest without gravity is the library's
    way to solve J_p⁻ᵀ Γ = F alone.
    """
    wanted = np.random.default_rng(seed).normal(size=(len(poses), 6))
    transposed = robot.jacobian(poses).swapaxes(1, 2)
    right = np.einsum("nij,nj->ni", transposed.astype(np.longdouble), wanted).astype(np.float64)
    resting = robot.edited({"gravity": [0.0, 0.0, 0.0]})
    stable = resting.inverse_dynamics(poses, wrench=-right, friction=False).forces
    arm = poses.rotation @ robot.description.platform_points[:, 0, 0]
    about = transposed.copy()
    about[:, 3:] -= np.cross(arm[:, None], transposed[:, :3].swapaxes(1, 2)).swapaxes(1, 2)
    moment = np.einsum("nij,nj->ni", about[:, 3:].astype(np.longdouble), wanted).astype(np.float64)
    plain = eliminate(about, np.concatenate([right[:, :3], moment], axis=1))
    largest = np.abs(wanted).max(axis=1)
    lost, kept = (np.abs(one - wanted).max(axis=1) / largest for one in (plain, stable))
    return np.where(np.isfinite(lost), lost, np.inf), kept
