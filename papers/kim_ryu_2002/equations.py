"""Eq. 29: the actuator forces by the paper's equations one after the other."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

import gough
from gough.base.arrays import Array
from gough.formulations.samples import dot

from .hexaslide import Numbers


def equation_29(
    this: Numbers,
    motion: gough.Motion,
    link_inertia: bool = True,
    printed: Collection[str] = (),
) -> Array:
    """Actuator forces (n, 6), no friction, by the paper's equations one after the other.

    Without `link_inertia` the terms of Eq. 34 are left out. `printed` equations are taken as they stand
    in the paper: "10", k̇ for k̈ in the numerator and −2 ḋᵀd̈ in k̈; "25", ω×CG for ω̇×CG; "27", n×a for
    n×n×a; "34", ω_l for ω̇_l in the moment row.
    """
    a, g, length, m_l = this.a, this.gravity, this.length, this.link_mass
    R, omega, omega_dot = motion.rotation, motion.angular_velocity, motion.angular_acceleration

    def swing(arm: Array) -> Array:
        w, wd = (one[..., None, :] for one in (omega, omega_dot))
        return np.cross(wd, arm) + np.cross(w, np.cross(w, arm))

    arm = np.einsum("...ij,kj->...ki", R, this.CB)
    d = motion.position[..., None, :] + arm - this.A0
    dd = motion.velocity[..., None, :] + np.cross(omega[..., None, :], arm)
    ddd = motion.acceleration[..., None, :] + swing(arm)
    along, along_d, along_dd = (dot(a, one) for one in (d, dd, ddd))
    k = along**2 - dot(d, d) + length**2
    kd = 2 * along_d * along - 2 * dot(dd, d)
    last = dot(dd if "10" in printed else d, ddd)
    kdd = 2 * along_d**2 + 2 * along * along_dd - 2 * dot(dd, dd) - 2 * last
    root = np.sqrt(k)
    lam = (along - root)[..., None]
    second = kd if "10" in printed else kdd
    lam_d, lam_dd = along_d - kd / (2 * root), along_dd - (2 * second * k - kd**2) / (4 * k * root)
    n = (d - lam * a) / length

    center = np.einsum("...ij,j->...i", R, this.CG)
    GB = arm - center[..., None, :]
    tensor = R @ this.inertia @ R.swapaxes(-1, -2)
    spin = np.einsum("...ij,...j->...i", tensor, omega_dot)
    spin = spin + np.cross(omega, np.einsum("...ij,...j->...i", tensor, omega))
    t = -0.5 * m_l * np.cross(n, np.cross(n, g))
    u = t
    held = -0.5 * m_l * (g + n * dot(n, g)[..., None])
    if link_inertia:
        nd = (dd - lam_d[..., None] * a) / length
        ndd = (ddd - lam_dd[..., None] * a) / length
        wl, wld = np.cross(n, nd), np.cross(n, ndd)
        y = np.cross(n, this.alpha)
        y = y / np.linalg.norm(y, axis=-1, keepdims=True)
        Rl = np.stack([np.cross(y, n), y, n], axis=-1)
        Il = Rl @ this.link_inertia @ Rl.swapaxes(-1, -2)
        turn, gyro = (Il @ wld[..., None])[..., 0], np.cross(wl, (Il @ wl[..., None])[..., 0])
        lifted = lam_dd[..., None] * a
        across = np.cross(n, lifted) if "27" in printed else np.cross(n, np.cross(n, lifted))
        t = t + np.cross(n, turn + m_l * length**2 / 4 * wld + gyro) / length + 0.5 * m_l * across
        u = t
        if "34" in printed:
            slow = (Il @ wl[..., None])[..., 0] + m_l * length**2 / 4 * wl
            u = t + np.cross(n, slow - turn - m_l * length**2 / 4 * wld) / length
        moved = length / 2 * ndd + lifted
        held = held + np.cross(n, turn + gyro) / length
        held = held + 0.5 * m_l * (moved + n * dot(n, moved)[..., None])
    accelerated = motion.acceleration + swing(center[..., None, :])[..., 0, :]
    if "25" in printed:
        accelerated = accelerated + np.cross(omega - omega_dot, center)
    force = this.mass * (g - accelerated) + t.sum(axis=-2)
    T = np.concatenate([force, np.cross(GB, u).sum(axis=-2) - spin], axis=-1)
    T1 = np.concatenate([n, np.cross(GB, n)], axis=-1).swapaxes(-1, -2)
    axial = np.linalg.solve(T1, T[..., None])
    forces: Array = this.slider_mass * (lam_dd - a @ g) + dot(a, held - n * axial)
    return forces
