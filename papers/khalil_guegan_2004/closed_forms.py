"""Eqs. 31 to 38: the robot put together from its opened legs, corrected and as printed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import gough
from gough.base.arrays import Array

from .opened_leg import Leg, cross, hat


class ClosedForms(NamedTuple):
    """Eqs. 31 to 38 at one state; `printed` forms as they stand in the paper."""

    inverse_jacobian: Array
    inertia: Array
    bias: Array
    forces: Array
    leg_wrench: Array
    printed_inertia: Array
    printed_bias: Array
    undotted: Array
    """What J q̇ in place of J̇ q̇ adds to the legs' wrench, Eqs. 34 and 37."""
    leg_energy: float
    tip_energy: float


def closed_forms(robot: gough.Robot, state: gough.Motion) -> ClosedForms:
    """The robot from its legs, literally by the paper's equations."""
    g, platform = robot.description.gravity, robot.description.platform
    R, omega = state.rotation, state.angular_velocity
    M, MS = float(platform.mass[0, 0]), R @ platform.first_moment[:, 0, 0]
    tensor = R @ platform.inertia[:, :, 0, 0] @ R.T
    unit, zero = np.eye(3), np.zeros(3)
    inertia = np.block([[M * unit, -hat(MS)], [hat(MS), tensor]])
    printed_inertia = np.block([[M * unit, -hat(MS)], [hat(MS).T, tensor]])
    turning = np.concatenate([cross(omega, cross(omega, MS)), cross(omega, tensor @ omega)])
    bias = turning - np.concatenate([M * g, hat(MS) @ g])
    printed_bias = turning - np.concatenate([M * g, hat(MS).T @ g])
    acceleration = np.concatenate([state.acceleration, state.angular_acceleration])
    wrench = inertia @ acceleration + bias  # F_p of Eq. 24
    leg_wrench, undotted = np.zeros(6), np.zeros(6)
    rows, energies = [], []
    joints = robot.inverse_kinematics(state).joints
    for i in range(6):
        leg, q = Leg(robot, i), joints[i]
        L = R @ robot.description.platform_points[:, i, 0]
        inverse = np.linalg.inv(leg.jacobian(q))
        v = state.velocity + cross(omega, L)
        centripetal = cross(omega, cross(omega, L))
        vd = state.acceleration + cross(state.angular_acceleration, L) + centripetal
        qd = inverse @ v
        drift = leg.rates(q, qd, zero)[2][3]  # J̇ q̇
        A = np.column_stack([leg.dynamics(q, zero, column, zero) for column in unit])
        Ax, hx = inverse.T @ A @ inverse, inverse.T @ leg.dynamics(q, qd, zero, g)
        Hx = inverse.T @ leg.dynamics(q, qd, inverse @ (vd - drift), g)
        up, load = np.vstack([unit, hat(L)]), Ax @ (centripetal - drift) + hx
        inertia += np.block([[Ax, -Ax @ hat(L)], [hat(L) @ Ax, -hat(L) @ Ax @ hat(L)]])
        printed_inertia += np.block([[Ax, -Ax @ hat(L)], [hat(L).T @ Ax, -hat(L).T @ Ax @ hat(L)]])
        bias, printed_bias = bias + up @ load, printed_bias + up @ load
        leg_wrench += up @ Hx
        undotted += up @ Ax @ (drift - v)
        a3 = leg.frames(q)[2][:, 2]
        rows.append(np.concatenate([a3, hat(L) @ a3]))
        energies.append([leg.energy(q, qd), 0.5 * v @ Ax @ v])
    inverse_jacobian = np.array(rows)
    forces = np.linalg.solve(inverse_jacobian.T, wrench + leg_wrench)
    leg_energy, tip_energy = np.sum(energies, axis=0)
    return ClosedForms(
        inverse_jacobian, inertia, bias, forces, leg_wrench,
        printed_inertia, printed_bias, undotted, float(leg_energy), float(tip_energy),
    )  # fmt: skip


def release(robot: gough.Robot) -> tuple[float, float]:
    """Vertical acceleration at home without actuator forces: Eq. 35 corrected and as printed."""
    form = closed_forms(robot, robot.home)
    corrected = np.linalg.solve(form.inertia, -form.bias)[2]
    printed = np.linalg.solve(form.inertia, form.bias)[2]
    return float(corrected), float(printed)
