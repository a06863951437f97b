"""Forces of an MJCF model by MuJoCo's tree and a projection: no soft constraints, no gough.

With the constraints' Jacobian J of the equality rows, q̇ in its null space and J q̈ = −J̇ q̇,
M q̈ + b − passive = S Γ + Jᵀ λ is solved for Γ, λ and the accelerations that the platform does not feel.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from numpy.random import Generator

from .arrays import Array

STEP = 1e-5
EQUALITY = 0
WIDTHS = (6, 3, 1, 1)
"""Coordinates of a free joint, a ball, a slide, a hinge."""


class TreeState(NamedTuple):
    """How a platform moves, and the forces that takes; world axes."""

    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array
    acceleration: Array
    angular_acceleration: Array
    forces: Array


class MujocoTree:
    """A model in the posture of its file, some of its joints held."""

    def __init__(self, text: str, actuated: tuple[str, ...], held: tuple[str, ...] = ()) -> None:
        self.model = mujoco.MjModel.from_xml_string(text)
        self.model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        self.actuated = [self._dof(name) for name in actuated]
        self.held = [self._dof(name) for name in held]
        for joint in range(self.model.njnt):
            first = self.model.jnt_dofadr[joint]
            if first not in self.actuated:  # gough has no inertia on passive joints
                width = WIDTHS[self.model.jnt_type[joint]]
                self.model.dof_armature[first : first + width] = 0.0

    def _dof(self, name: str) -> int:
        return int(self.model.jnt_dofadr[self.model.joint(name).id])

    def _data(self, qpos: Array, qvel: Array) -> mujoco.MjData:
        data = mujoco.MjData(self.model)
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_forward(self.model, data)
        return data

    def _jacobians(self, qpos: Array, platform: str) -> tuple[Array, Array]:
        data = self._data(qpos, np.zeros(self.model.nv))
        rows = np.array(data.efc_J).reshape(-1, self.model.nv)[: data.nefc]
        rows = rows[np.array(data.efc_type[: data.nefc]) == EQUALITY]
        moving = np.zeros((6, self.model.nv))
        site = self.model.site(platform).id
        mujoco.mj_jacSite(self.model, data, moving[:3], moving[3:], site)
        return np.concatenate([rows, np.eye(self.model.nv)[self.held]]), moving

    def state(self, rng: Generator, platform: str) -> TreeState:
        """A random motion that the loops allow, of a site; spins that move nothing are left at rest."""
        model = self.model
        qpos = np.array(model.qpos0)
        rows, moving = self._jacobians(qpos, platform)
        sizes = np.linalg.svd(rows, compute_uv=False)
        rank = int(np.sum(sizes > 1e-8 * sizes[0]))
        free = np.linalg.svd(rows)[2][rank:].T
        felt = np.linalg.pinv(moving @ free, rcond=1e-8)
        qd = free @ (felt @ (moving @ free @ rng.normal(size=free.shape[1])))
        after, before = (self._moved(qpos, sign * STEP * qd) for sign in (1.0, -1.0))
        ends = [self._jacobians(one, platform) for one in (after, before)]
        slope, moving_slope = ((ends[0][i] - ends[1][i]) @ qd / (2 * STEP) for i in (0, 1))
        particular = np.linalg.lstsq(rows, -slope, rcond=1e-10)[0]
        still = particular - free @ (free.T @ particular)
        spun = moving @ free
        wanted = spun @ rng.normal(size=free.shape[1])
        qdd = still + free @ (felt @ wanted)
        twist, acceleration = moving @ qd, moving @ qdd + moving_slope
        data = self._data(qpos, qd)
        mass = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, mass)
        rub = np.array(model.dof_frictionloss) * np.sign(qd)
        demand = mass @ qdd + data.qfrc_bias - data.qfrc_passive + rub
        idle = (
            free
            @ np.linalg.svd(moving @ free)[2][np.linalg.matrix_rank(moving @ free, tol=1e-8) :].T
        )
        columns = np.concatenate([np.eye(model.nv)[:, self.actuated], rows.T, mass @ idle], axis=1)
        found = np.linalg.lstsq(columns, demand, rcond=1e-12)[0]
        assert np.abs(columns @ found - demand).max() < 1e-6 * np.abs(demand).max()
        place = data.site_xpos[model.site(platform).id]
        turn = data.site_xmat[model.site(platform).id].reshape(3, 3)
        return TreeState(
            np.array(place),
            np.array(turn),
            twist[:3],
            twist[3:],
            acceleration[:3],
            acceleration[3:],
            found[: len(self.actuated)],
        )

    def _moved(self, qpos: Array, step: Array) -> Array:
        moved = np.array(qpos)
        mujoco.mj_integratePos(self.model, moved, step, 1.0)
        return moved
