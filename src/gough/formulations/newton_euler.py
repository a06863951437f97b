"""Inverse dynamics by Newton–Euler: PUS robots with slender links, friction included; UPS robots.

UPS legs are in `telescopic_legs`; the rest of this text is on PUS legs.

J.-P. Kim, J. Ryu: Inverse kinematic and dynamic analyses of 6-DOF PUS type parallel manipulators.
KSME International Journal 16 (2002), Eqs. 20–34, corrected. One free body each for slider, link and
platform; only the forces along the links are coupled, through the 6×6 matrix T_1. World axes, SI
units; F_A acts from the slider on the link, F_B from the platform on the link. Beyond the paper: the
link's centre of mass is anywhere on its axis, c = κ l from the universal joint (the paper has
κ = ½), and a rotor's mass adds to the slider's inertia, not to its weight.

The links are slender: they do not turn about their axes, n·ω_l = 0. Without friction that is exact
where I_zz = 0 and I_xx = I_yy. In the friction laws ω_l is the slender one too, and the universal
joint's couple M_A is along n, as the paper has it. M_A is in truth along α×β, and the spin is
φ̇1 cos φ2: both assumptions hold exactly only where n is perpendicular to the joint's axis α.
`slender=False` does without them, and with `along_link=True` M_A alone stays along n. Friction of the
sliders is exact either way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gough.base.arrays import Array
from gough.errors import ConvergenceError
from gough.formulations import parts as robot_parts
from gough.formulations import samples, telescopic_legs
from gough.formulations.parts import Parts, TelescopicParts
from gough.formulations.samples import FormulationTrouble, Pose, dot, matvec
from gough.formulations.slender_links import (
    SlenderLinks,
    central_inertia,
    kinematics,
    refuse_others,
    swing,
)
from gough.model.batch import OnError
from gough.model.model import Model
from gough.motion import Motion
from gough.results import Actuation

TOLERANCE = 1e-13
"""Change of the loads in a pass, relative to the largest load, at which friction agrees with them."""
WORST_RESIDUAL = 1e-10
"""Change above which there is no answer."""
MOST_PASSES = 100


@dataclass(frozen=True)
class FrictionForces:
    """Actuator forces that friction asks for, (..., legs), N; they add to the frictionless ones."""

    slider: Array
    """−f_s, guides and ball screws."""
    universal: Array
    """τ_fu of Eq. 32."""
    spherical: Array
    """τ_fp of Eq. 32."""


def inverse_dynamics(
    robot: Model,
    motion: Motion,
    wrench: ArrayLike | None = None,
    friction: bool = True,
    *,
    slender: bool = True,
    along_link: bool = False,
    on_error: OnError = "raise",
) -> Actuation:
    """Actuator forces and powers, as `Robot.inverse_dynamics`: Kim & Ryu 2002, Eq. 29.

        τ = m_s (λ̈ − aᵀg) − f_s + aᵀF_A                                         (20, 29)

    F_A by Eq. 28, friction by Eqs. 30–31 iterated until it agrees with the loads it depends on; the
    residual is the last change of ‖F_A‖, ‖F_B‖ over the largest of them. `slender=False` gives the
    friction couples the link's spin and M_A its true direction; `along_link=True` keeps M_A along n.
    Robots with UPS legs are taken without friction, see `telescopic_legs.newton_euler`.
    """
    numbers = robot_parts.read(robot)
    if isinstance(numbers, TelescopicParts):
        if friction:
            robot_parts.need_no_friction(numbers, "Newton–Euler for telescopes")

        def telescopes(pose: Pose) -> tuple[dict[str, Array], list[FormulationTrouble]]:
            return telescopic_legs.newton_euler(numbers, pose)

        return samples.actuation(samples.run(telescopes, motion, wrench, on_error))
    parts = _checked(robot)

    def model(pose: Pose) -> tuple[dict[str, Array], list[FormulationTrouble]]:
        bodies = _bodies(parts, pose, slender, along_link)
        found = _with_friction(bodies, friction)
        inertia = (_slider_mass(parts) + parts.rotor_mass) * bodies.links.qdd
        weight = _slider_mass(parts) * (parts.rail @ parts.gravity)
        forces = inertia - weight - found.slider + dot(parts.rail, found.reactions.universal)
        values = {"forces": forces, "rates": bodies.links.qd, "residual": found.residual}
        return values, _troubles(bodies, found.residual)

    return samples.actuation(samples.run(model, motion, wrench, on_error))


def link_inertia_forces(robot: Model, motion: Motion, *, on_error: OnError = "raise") -> Array:
    """Actuator forces (..., legs), N, that the links' inertia asks for: Kim & Ryu 2002, Eq. 34.

        τ_L = aᵀ{n×(I_l ω̇_l + ω_l×I_l ω_l)/l + m_l D (λ̈ a + c n̈)} − aᵀn γ T_1⁻¹ [Σ t; Σ GB×t],
        t = n×((I_l + m_l c²) ω̇_l + ω_l×I_l ω_l)/l + κ m_l λ̈ n×n×a,  D = (1 − κ) 1 + κ n nᵀ

    Corrected: ½ m λ̈ n×n×a for n×a; ω̇_l for ω_l in the second row; T_1⁻¹; κ = ½ is the paper's.
    Weights are not in it.
    """
    parts = _checked(robot)

    def model(pose: Pose) -> tuple[dict[str, Array], list[FormulationTrouble]]:
        bodies = _bodies(parts, pose, True)
        held, turned = _link_inertia(bodies)
        forces = _share(bodies, held, turned, np.zeros_like(turned))
        return {"forces": forces}, _troubles(bodies, np.zeros(len(forces)))

    return samples.run(model, motion, None, on_error)["forces"]


def friction_forces(
    robot: Model,
    motion: Motion,
    wrench: ArrayLike | None = None,
    *,
    slender: bool = True,
    on_error: OnError = "raise",
) -> FrictionForces:
    """Actuator forces that friction asks for, joint by joint: Kim & Ryu 2002, Eq. 32.

        τ_fu = −aᵀn×f_u/l − aᵀn γ T_1⁻¹ [−Σ n×f_u/l; −Σ GB×(n×f_u)/l]
        τ_fp = −aᵀn×f_p/l − aᵀn γ T_1⁻¹ [−Σ n×f_p/l; −Σ GB×(n×f_p)/l − Σ f_p]

    with f_s, f_u, f_p of `inverse_dynamics`; their sum is its forces less the frictionless ones.
    """
    parts = _checked(robot)

    def model(pose: Pose) -> tuple[dict[str, Array], list[FormulationTrouble]]:
        bodies = _bodies(parts, pose, slender)
        found = _with_friction(bodies, True)

        def share(couple: Array, on_platform: Array) -> Array:
            felt = _rubbed(bodies, couple)
            return _share(bodies, felt, felt, on_platform)

        values = {
            "slider": -found.slider,
            "universal": share(found.universal, np.zeros_like(found.universal)),
            "spherical": share(found.spherical, -found.spherical),
        }
        return values, _troubles(bodies, found.residual)

    return FrictionForces(**samples.run(model, motion, wrench, on_error))


class _Bodies(NamedTuple):
    """Everything of a batch of states that does not depend on friction."""

    parts: Parts
    pose: Pose
    links: SlenderLinks
    platform: Array
    """T of Eq. 26 without the legs' share, (samples, 6)."""
    directions: Array
    """T_1 of Eq. 26, 1 where it is singular, (samples, 6, 6)."""
    condition: Array
    """Of T_1, its moments over the platform's characteristic length, (samples,)."""


class _Reactions(NamedTuple):
    spherical: Array
    """F_B, platform on link, (samples, legs, 3)."""
    universal: Array
    """F_A, slider on link."""


class _Rubbing(NamedTuple):
    """Friction and the reactions it agrees with."""

    slider: Array
    """f_s along q, (samples, legs), N."""
    universal: Array
    """f_u on the link, (samples, legs, 3), N m."""
    spherical: Array
    """f_p on the link; its opposite acts on the platform."""
    reactions: _Reactions
    residual: Array


def _checked(robot: Model) -> Parts:
    parts = robot_parts.read_sliding(robot)
    refuse_others(parts)
    return parts


def _slider_mass(parts: Parts) -> Array:
    """m_s: the slider and what moves with it."""
    return parts.slider.mass + parts.cross.mass


def _bodies(parts: Parts, pose: Pose, slender: bool, along_link: bool = False) -> _Bodies:
    """Kinematics, T_1 and the platform's own share of T: Kim & Ryu 2002, Eqs. 25–26.

        T_1 = [n_i; GB_i×n_i],  T = [m g − m G̈ + f; M − I ω̇ − ω×I ω + GC×f] + the links' share

    The wrench (f, M) acts at the platform frame's origin C. Corrected: ω̇ in Eq. 25's first term.
    """
    links = kinematics(parts, pose)
    if slender:
        links = links._replace(spin=np.zeros_like(links.spin))
    if slender or along_link:
        links = links._replace(tilt=np.zeros_like(links.tilt))
    body, omega, omega_dot = parts.platform, pose.angular_velocity, pose.angular_acceleration
    center = pose.rotation @ body.center_of_mass
    inertia = pose.rotation @ central_inertia(body) @ samples.transposed(pose.rotation)
    acceleration = pose.acceleration + swing(omega, omega_dot, center)
    spin = matvec(inertia, omega_dot) + np.cross(omega, matvec(inertia, omega))
    force = body.mass * (parts.gravity - acceleration) + pose.force
    moment = pose.moment - spin - np.cross(center, pose.force)
    columns = np.concatenate([links.n, np.cross(links.arm, links.n)], axis=-1)
    scale = np.array([1.0] * 3 + [parts.scale] * 3)
    condition, scaled = samples.guarded(samples.transposed(columns / scale))
    return _Bodies(
        parts,
        pose,
        links,
        np.concatenate([force, moment], axis=-1),
        scaled * scale[:, np.newaxis],
        condition,
    )


def _link_inertia(bodies: _Bodies) -> tuple[Array, Array]:
    """What a link's inertia adds to F_A (Eq. 28) and to n×n×F_B (Eqs. 23, 27), without its n share."""
    parts, links = bodies.parts, bodies.links
    mass, length = parts.link.mass[:, np.newaxis], parts.length[:, np.newaxis]
    center = parts.link.center_of_mass[:, 2:]
    a = links.qdd[..., np.newaxis] * parts.rail
    spin = matvec(links.inertia, links.omega_dot)
    spin = spin + np.cross(links.omega, matvec(links.inertia, links.omega))
    held = np.cross(links.n, spin) / length + _spread(bodies, mass * (a + center * links.n_dd))
    turned = np.cross(links.n, spin + mass * center**2 * links.omega_dot) / length
    return held, turned + _across(bodies, mass * a)


def _spread(bodies: _Bodies, force: Array) -> Array:
    """D f = (1 − κ) f + κ n nᵀ f: a force at the link's centre of mass, as the slider feels it."""
    n, kappa = bodies.links.n, _kappa(bodies.parts)
    return np.asarray((1 - kappa) * force + kappa * n * dot(n, force)[..., np.newaxis])


def _across(bodies: _Bodies, force: Array) -> Array:
    """κ n×n×f: its part across the link, as the spherical joint feels it."""
    n = bodies.links.n
    return np.asarray(_kappa(bodies.parts) * np.cross(n, np.cross(n, force)))


def _kappa(parts: Parts) -> Array:
    return np.asarray((parts.link.center_of_mass[:, 2] / parts.length)[:, np.newaxis])


def _axial(bodies: _Bodies, turned: Array, couples: Array, platform: Array | float = 0.0) -> Array:
    """F′_Bz = γ T_1⁻¹ T (Eq. 26), (samples, legs).

    T = platform + [Σ n×n×F_B; Σ GB×n×n×F_B + Σ couples], couples being those of links on the platform.
    """
    moments = np.cross(bodies.links.arm, turned) + couples
    right = platform + np.concatenate([turned, moments], axis=-1).sum(axis=-2)
    return np.asarray(np.linalg.solve(bodies.directions, right[..., np.newaxis])[..., 0])


def _share(bodies: _Bodies, held: Array, turned: Array, couples: Array) -> Array:
    """aᵀ(held − n γ T_1⁻¹ T): the actuators' share of what a cause adds to F_A and T (Eqs. 32, 34)."""
    axial = _axial(bodies, turned, couples)
    return dot(bodies.parts.rail, held - bodies.links.n * axial[..., np.newaxis])


def _rubbed(bodies: _Bodies, couple: Array) -> Array:
    """−n×(f + M_A)/l: what a friction couple f on the link adds to F_A and to n×n×F_B.

    The universal joint's couple holds the link against turning about n: n·(f + M_A) = 0. Along n, as
    the paper has it, M_A drops out; along α×β, as it is, n×M_A = (n·f) (α·n) n×α/‖n×α‖².
    """
    n, length = bodies.links.n, bodies.parts.length[:, np.newaxis]
    passed_on = dot(n, couple)[..., np.newaxis] * bodies.links.tilt
    return np.asarray(-(np.cross(n, couple) + passed_on) / length)


def _reactions(bodies: _Bodies, universal: Array, spherical: Array) -> _Reactions:
    """Reactions for given friction couples f_u, f_p on the links.

        F_B = −n×((I_l + m_l c²) ω̇_l + ω_l×I_l ω_l − f_u − f_p)/l
              − κ m_l n×n×(λ̈ a − g) + n γ T_1⁻¹ T                                 (27)
        F_A = n×(I_l ω̇_l + ω_l×I_l ω_l − f_u − f_p)/l + m_l D (λ̈ a + c n̈ − g) − n γ T_1⁻¹ T   (28)

    D = (1 − κ) 1 + κ n nᵀ. Corrected: n×n×a in Eq. 27; (l/4) m (1 + n nᵀ) n̈ in Eq. 28 (κ = ½), where
    (l/2) … λ̈ is printed; −f_u in Eq. 23.
    """
    parts, n = bodies.parts, bodies.links.n
    weight = parts.link.mass[:, np.newaxis] * parts.gravity
    rubbed = _rubbed(bodies, universal + spherical)
    held, turned = _link_inertia(bodies)
    held = held + rubbed - _spread(bodies, weight)
    turned = turned + rubbed - _across(bodies, weight)
    axial = _axial(bodies, turned, -spherical, bodies.platform)[..., np.newaxis]
    return _Reactions(spherical=n * axial - turned, universal=held - n * axial)


def _with_friction(bodies: _Bodies, friction: bool) -> _Rubbing:
    """Friction that agrees with the reactions: Kim & Ryu 2002, Eqs. 30–31, by repeated passes.

        f_s = −c_s λ̇ − (μ_s (|uᵀN| + |vᵀN|) + 2π τ_b/lead) sign λ̇                 (30)
        f_u = −c_u ω_l − k_u ‖F_A‖ e(ω_l)                                        (31)
        f_p = −c_p (ω_l − ω) − k_p ‖F_B‖ e(ω_l − ω),   e(ω) = ω/‖ω‖

    ω_l is the slender one, n·ω_l = 0, unless `slender=False`. Corrected: |uᵀN| + |vᵀN| for
    (uᵀ − vᵀ) N, which has no definite sign; 2π and the sign of λ̇ in the ball screw's term. With a
    width w, sign λ̇ and e(ω) are λ̇/√(λ̇² + w²) and ω/√(‖ω‖² + w²). f_s needs no passes, for N is
    perpendicular to the rail.
    """
    links, law = bodies.links, bodies.parts.friction
    still = np.zeros_like(links.omega)
    reactions = _reactions(bodies, still, still)
    residual = np.zeros(len(links.q))
    if not friction or law.none:
        return _Rubbing(np.zeros_like(links.q), still, still, reactions, residual)
    omega = links.omega + links.spin[..., np.newaxis] * links.n
    relative = omega - bodies.pose.angular_velocity[:, np.newaxis]

    def couple(viscous: Array, coulomb: Array, load: Array, rate: Array) -> Array:
        return np.asarray(
            -viscous * rate - coulomb * load[..., np.newaxis] * _heading(rate, law.width)
        )

    loads = _magnitudes(reactions)
    universal = spherical = still
    residual = np.full_like(residual, np.inf)
    for _ in range(MOST_PASSES):
        universal = couple(law.universal_viscous, law.universal_coulomb, loads[:, 0], omega)
        spherical = couple(law.spherical_viscous, law.spherical_coulomb, loads[:, 1], relative)
        reactions = _reactions(bodies, universal, spherical)
        new = _magnitudes(reactions)
        largest = new.max(axis=(1, 2))
        residual = np.abs(new - loads).max(axis=(1, 2)) / (largest + (largest == 0))
        going = residual > TOLERANCE
        if not np.any(going):
            break
        loads = np.where(going[:, np.newaxis, np.newaxis], new, loads)
    slider = _slider_friction(bodies, reactions)
    return _Rubbing(slider, universal, spherical, reactions, residual)


def _magnitudes(reactions: _Reactions) -> Array:
    """‖F_A‖, ‖F_B‖, (samples, 2, legs)."""
    both = np.stack([reactions.universal, reactions.spherical], axis=1)
    return np.asarray(np.linalg.norm(both, axis=-1))


def _slider_friction(bodies: _Bodies, reactions: _Reactions) -> Array:
    """f_s (Eq. 30), N = the part of F_A − m_s g normal to the rail (Eq. 21), (samples, legs).

    u is the axis α made perpendicular to the rail (the reference where α is along the rail), v = a×u.
    """
    parts, law, qd = bodies.parts, bodies.parts.friction, bodies.links.qd
    a = parts.rail
    across = parts.axis - dot(parts.axis, a)[:, np.newaxis] * a
    parallel = np.linalg.norm(np.cross(a, parts.axis), axis=-1, keepdims=True) < 1e-9
    u = np.where(parallel, parts.reference, across)
    u = u / np.linalg.norm(u, axis=-1, keepdims=True)
    pressed = reactions.universal - _slider_mass(parts)[:, np.newaxis] * parts.gravity
    guide = np.abs(dot(u, pressed)) + np.abs(dot(np.cross(a, u), pressed))
    coulomb = law.slider_coulomb[:, 0] * guide + law.screw_drag[:, 0]
    sense = _heading(qd[..., np.newaxis], law.width)[..., 0]
    return np.asarray(-law.slider_viscous[:, 0] * qd - coulomb * sense)


def _heading(rate: Array, width: Array) -> Array:
    """x/√(‖x‖² + w²), 0 where x = 0."""
    size = np.sqrt(dot(rate, rate)[..., np.newaxis] + width**2)
    return np.asarray(rate / (size + (size == 0)))


def _troubles(bodies: _Bodies, residual: Array) -> list[FormulationTrouble]:
    return [
        *samples.leg_troubles(bodies.parts, bodies.links.radicand, bodies.links.n),
        samples.pose_trouble(bodies.condition),
        FormulationTrouble(
            ~(residual <= WORST_RESIDUAL),
            ConvergenceError,
            lambda place: (
                "friction finds no loads that agree with it: residual "
                f"{residual[place]:.2g}, limit {WORST_RESIDUAL:g}"
            ),
        ),
    ]
