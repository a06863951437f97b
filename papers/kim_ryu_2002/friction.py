"""Eqs. 30 to 32 in one pass, beside friction that agrees with the loads it depends on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import gough
from gough.base.arrays import Array
from gough.data.paper_motions import kim_ryu_circle
from gough.formulations import newton_euler
from gough.formulations.samples import dot

from .hexaslide import TIME, numbers


class Rubbing(NamedTuple):
    """Loss of explicit friction at one speed, N: largest error of the actuator forces."""

    couples: float
    """With couples of the frictionless loads F_A, F_B, and N of the loads these couples cause."""
    everything: float
    """With N of the frictionless loads too."""
    printed: float
    """With (u − v)·N for |u·N| + |v·N| in the slider's friction, Eq. 30 as printed."""
    driving: float
    """Part of all states and legs in which the printed friction pushes the slider along."""
    spin: float
    """Difference of the consistent slender model from the exact one, whose links spin."""
    largest: float
    """Largest force of the exact model."""
    couple: float
    """Difference from the exact model if links spin, but M_A is along n."""
    inertia: float
    """Difference of the slender model from the exact one without any friction."""


def explicit_friction(robot: gough.Robot, rpm: float) -> Rubbing:
    """One pass of Eqs. 30 to 32 in place of the fixed point."""
    motion, this = kim_ryu_circle(rpm)(TIME), numbers(robot)
    law: Any = robot.file.legs.friction
    legs, free = robot.inverse_kinematics(motion), robot.reactions(motion, friction=False)
    n, a = legs.direction, this.a
    spinning = legs.link_angular_velocity
    omega = spinning - n * dot(n, spinning)[..., None]
    GB = np.einsum("...ij,kj->...ki", motion.rotation, this.CB - this.CG)
    T1 = np.concatenate([n, np.cross(GB, n)], axis=-1).swapaxes(-1, -2)

    def couple(viscous: float, coulomb: float, load: Array, rate: Array) -> Array:
        size = np.linalg.norm(rate, axis=-1, keepdims=True)
        pressed = np.linalg.norm(load, axis=-1, keepdims=True)
        return np.asarray(-(viscous + coulomb * pressed / size) * rate)

    def felt(on_link: Array, on_platform: Array) -> Array:
        """Eq. 32: what couples add to F_A."""
        across = -np.cross(n, on_link) / this.length
        moment = (np.cross(GB, across) + on_platform).sum(axis=-2)
        T = np.concatenate([across.sum(axis=-2), moment], axis=-1)
        return np.asarray(across - n * np.linalg.solve(T1, T[..., None]))

    f_u = couple(law.universal_viscous, law.universal_coulomb, free.universal, omega)
    relative = omega - motion.angular_velocity[:, None]
    f_p = couple(law.spherical_viscous, law.spherical_coulomb, free.spherical, relative)
    added = felt(f_u, 0 * f_u) + felt(f_p, -f_p)
    smooth = robot.inverse_dynamics(motion, friction=False).forces + dot(a, added)
    u, v = this.alpha, np.cross(a, this.alpha)

    def forces(F_A: Array, printed: bool = False) -> Array:
        N = F_A - this.slider_mass * this.gravity
        load = dot(u - v, N) if printed else np.abs(dot(u, N)) + np.abs(dot(v, N))
        sense = np.sign(legs.qd)
        return np.asarray(smooth + law.slider_viscous * legs.qd + law.slider_coulomb * load * sense)

    right = newton_euler.inverse_dynamics(robot, motion).forces
    pressed = free.universal + added
    once, all_once, printed = forces(pressed), forces(free.universal), forces(pressed, True)
    normal = dot(u - v, pressed - this.slider_mass * this.gravity)
    exact = robot.inverse_dynamics(motion).forces
    tilted = newton_euler.inverse_dynamics(robot, motion, slender=False, along_link=True).forces
    smooth_slender = newton_euler.inverse_dynamics(robot, motion, friction=False).forces
    smooth_exact = robot.inverse_dynamics(motion, friction=False).forces
    return Rubbing(
        couples=float(np.abs(once - right).max()),
        everything=float(np.abs(all_once - right).max()),
        printed=float(np.abs(printed - once).max()),
        driving=float(np.mean(normal < 0)),
        spin=float(np.abs(exact - right).max()),
        largest=float(np.abs(exact).max()),
        couple=float(np.abs(exact - tilted).max()),
        inertia=float(np.abs(smooth_exact - smooth_slender).max()),
    )
