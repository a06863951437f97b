"""Sliders and slender links of a PUS robot: Kim & Ryu 2002, Section 2, and which robots fit it.

A slender link is taken not to turn about its own axis, n·ω_l = 0, so its inertia about n never enters.
World axes, SI units; arrays are (samples, legs) and (samples, legs, 3).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.errors import InputError
from gough.formulations.parts import BodyParts, Parts
from gough.formulations.samples import Pose, dot, matvec, transposed

NEGLIGIBLE = 1e-12
"""Moments, relative to those of the leg's mass at the end of the link, that count as zero."""


class SlenderLinks(NamedTuple):
    """Motion of sliders and links."""

    arm: Array
    """GB_i, from the platform's centre of mass to the spherical joint, m."""
    radicand: Array
    """k of Eq. 8, m²."""
    q: Array
    """λ, m."""
    qd: Array
    qdd: Array
    n: Array
    """Unit vector from the universal joint A_i to the spherical joint B_i."""
    n_dd: Array
    """n̈, 1/s²."""
    omega: Array
    """ω_l = n×ṅ, rad/s: the slender one, n·ω_l = 0."""
    omega_dot: Array
    inertia: Array
    """I_l about the link's centre of mass, (samples, legs, 3, 3)."""
    tilt: Array
    """(α·n) n×α/‖n×α‖²: zero where the link is perpendicular to the universal axis α."""
    spin: Array
    """n·ω_l = −tilt·ṅ, rad/s: what the slender ω_l leaves out, (samples, legs)."""


def kinematics(parts: Parts, pose: Pose) -> SlenderLinks:
    """Motion of sliders and links from that of the platform: Kim & Ryu 2002, Eqs. 4–19.

        B = C + R CB′,  Ḃ = Ċ + ω×R CB′,  B̈ = C̈ + (ω̇× + ω×ω×) R CB′             (4)
        λ = aᵀd ∓ √k,  k = (aᵀd)² − dᵀd + l²,  d = B − A_0                        (8)
        λ̇ = aᵀḋ ∓ k̇/(2√k)                                                       (9)
        λ̈ = aᵀd̈ ∓ (2 k̈ k − k̇²)/(4 k √k),                                       (10)
        k̇ = 2 (aᵀḋ)(aᵀd) − 2 ḋᵀd,  k̈ = 2 (aᵀḋ)² + 2 (aᵀd)(aᵀd̈) − 2 ḋᵀḋ − 2 dᵀd̈
        l n = d − λ a,  l ṅ = ḋ − λ̇ a,  l n̈ = d̈ − λ̈ a                           (6, 15)
        R_l = [(n×α)×n, n×α, n] / (‖n×α‖, ‖n×α‖, 1),  I_l = R_l I′_l R_lᵀ          (13, 14)
        ω_l = n×ṅ,  ω̇_l = n×n̈                                                   (19)

    Corrected: k̈ where Eq. 10 prints k̇ in the numerator, and its last term −2 dᵀd̈; third column n of
    Eq. 13; I′_l in Eq. 14; ṅ×ṅ = 0 below Eq. 19. The upper sign is the paper's, branch "minus". The spin
    that Eq. 19 leaves out: with ω_l = φ̇1 α + φ̇2 β, n·ω_l = φ̇1 α·n and ṅ·(α×n) = φ̇1 ‖α×n‖².
    """
    R, omega = pose.rotation[:, np.newaxis], pose.angular_velocity[:, np.newaxis]
    omega_dot = pose.angular_acceleration[:, np.newaxis]
    offset = matvec(R, parts.points)
    d = pose.position[:, np.newaxis] + offset - parts.origin
    d_d = pose.velocity[:, np.newaxis] + np.cross(omega, offset)
    d_dd = pose.acceleration[:, np.newaxis] + swing(omega, omega_dot, offset)

    a, length = parts.rail, parts.length
    along, along_d, along_dd = dot(a, d), dot(a, d_d), dot(a, d_dd)
    k = along**2 - dot(d, d) + length**2
    k_d = 2 * along_d * along - 2 * dot(d_d, d)
    k_dd = 2 * along_d**2 + 2 * along * along_dd - 2 * dot(d_d, d_d) - 2 * dot(d, d_dd)
    root = parts.sign * np.sqrt(k)
    q = along + root
    qd = along_d + k_d / (2 * root)
    qdd = along_dd + (2 * k_dd * k - k_d**2) / (4 * k * root)

    def over_rail(vector: Array, rate: Array) -> Array:
        return np.asarray((vector - rate[..., np.newaxis] * a) / length[:, np.newaxis])

    n, n_d, n_dd = over_rail(d, q), over_rail(d_d, qd), over_rail(d_dd, qdd)
    y = np.cross(n, parts.axis)
    sine = np.linalg.norm(y, axis=-1, keepdims=True)
    y = y / sine
    tilt = dot(n, parts.axis)[..., np.newaxis] * y / sine
    frame = np.stack([np.cross(y, n), y, n], axis=-1)
    center = matvec(R, parts.platform.center_of_mass)
    return SlenderLinks(
        arm=offset - center,
        radicand=k,
        q=q,
        qd=qd,
        qdd=qdd,
        n=n,
        n_dd=n_dd,
        omega=np.cross(n, n_d),
        omega_dot=np.cross(n, n_dd),
        inertia=frame @ central_inertia(parts.link) @ transposed(frame),
        tilt=tilt,
        spin=-dot(tilt, n_d),
    )


def swing(omega: Array, omega_dot: Array, arm: Array) -> Array:
    """(ω̇× + ω×ω×) r: acceleration of a point of a turning body relative to another one."""
    return np.asarray(np.cross(omega_dot, arm) + np.cross(omega, np.cross(omega, arm)))


def central_inertia(body: BodyParts) -> Array:
    """I_G = I_O − M (c·c 1 − c cᵀ), (..., 3, 3), body axes, kg m²."""
    center = body.center_of_mass
    square = dot(center, center)[..., np.newaxis, np.newaxis] * np.eye(3)
    spread = square - center[..., :, np.newaxis] * center[..., np.newaxis, :]
    return np.asarray(body.inertia - body.mass[..., np.newaxis, np.newaxis] * spread)


def refuse_others(parts: Parts) -> None:
    """InputError for bodies that Kim & Ryu's equations do not know.

    Their slider is a point mass (it does not turn, so how its mass is spread plays no part) and the
    universal joint has no body of its own; a cross whose mass lies on the slider's axis α moves with the
    slider and counts with it. Their link has principal axes of inertia along and across n and
    its centre of mass on n: at the middle there, anywhere here.
    """
    slider, cross, link = parts.slider, parts.cross, parts.link
    reach = (slider.mass + cross.mass + link.mass) * parts.length
    products = link.inertia[:, (0, 0, 1), (1, 2, 2)]
    misfits = {
        "the cross has mass off the axis fixed to the slider (MX, MY or ZZ)": (
            (np.abs(cross.first_moment[:, :2]).max(axis=1) > NEGLIGIBLE * reach)
            | (np.abs(cross.inertia[:, 2, 2]) > NEGLIGIBLE * reach * parts.length)
        ),
        "the link's centre of mass is off its axis (MX or MY)": (
            np.abs(link.first_moment[:, :2]).max(axis=1) > NEGLIGIBLE * reach
        ),
        "the link has products of inertia (XY, XZ or YZ)": (
            np.abs(products).max(axis=1) > NEGLIGIBLE * np.abs(link.inertia).max(axis=(1, 2))
        ),
        "the link has a first moment (MZ) but no mass": (
            (link.mass == 0) & (link.first_moment[:, 2] != 0)
        ),
    }
    for reason, bad in misfits.items():
        if np.any(bad):
            raise InputError(
                f"{parts.name}, leg {int(np.argmax(bad)) + 1}: {reason}; "
                "Kim & Ryu's equations do not cover that"
            )
    if parts.platform.mass == 0 and np.any(parts.platform.first_moment):
        raise InputError(f"{parts.name}: the platform has first moments but no mass")
