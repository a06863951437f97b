"""Sinatra, Xi & Staicu 2009: the hexapod with constant-length sliding legs A to F, by virtual work.

With L_0, l_0 the radii of base and platform, l_3 the leg's length, α_0 half the angle between joints
of a pair, γ the guide-way angle (lengths in m, z_0 down):

    L_b = 2 L_0 sin(π/3 − α_0),  L_p = 2 l_0 sin(π/3 − α_0),  s = 2 l_1 = (L_b − L_p)/cos γ
    sin β_0 = (L_0 − l_0)/l_1,   sin β = 2 (l_0/l_3) sin(π/6 − α_0),   h = l_1 cos β_0 + l_3 cos β

The vector loop of a leg, all angles and displacements zero at the central configuration:

    L_0 a_1αᵀu_1 + l_1 a_10ᵀu_3 + l_3 a_30ᵀu_2 − l_0 (a_3α a_1α)ᵀu_1 = (0, 0, h)               (7, 8)
    a_10 = a°_β θ_3 a_1α,  a_21 = θ_1 a_2α a°_βᵀ (printed: a_2αᵀ),  a_32 = a_β θ_1 θ_2           (2)

The platform moves as X = X_0 + X* (1 − cos(πt/3)) for 3 s (6): along z, along x, about z.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import simpson

import gough
from gough.data.paper_motions import paper_motion
from gough.formulations import newton_euler, virtual_work
from gough.results import Actuation
from gough.show import plots
from gough.show.reproduction import (
    Claim,
    Figure,
    Progress,
    Reproduction,
    leg_panels,
    number,
    run_script,
)

Array = NDArray[np.float64]
NAME = "sinatra-xi-staicu-2009"
SAMPLES = 301

L0, l0, l3 = 0.6, 0.3, 0.5
ALPHA0, GAMMA = np.pi / 36, np.pi / 4
SIGNS = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
ALPHA1 = np.array([0, 2, 2, -2, -2, 0]) * np.pi / 3 + ALPHA0 * np.array([1, -1, 1, -1, 1, -1])
ALPHA2 = -SIGNS * (np.pi / 3 + ALPHA0)
ALPHA3 = SIGNS * (np.pi / 3 - 2 * ALPHA0)
"""Eq. 1, legs A to F."""


class Geometry(NamedTuple):
    """Derived lengths (m) and angles (rad)."""

    l1: float
    beta0: float
    beta: float
    h: float


def geometry() -> Geometry:
    """The formulas above Eq. 1 with the data of Eq. 24."""
    long_base, long_platform = (2 * radius * np.sin(np.pi / 3 - ALPHA0) for radius in (L0, l0))
    l1 = (long_base - long_platform) / (2 * np.cos(GAMMA))
    beta0 = np.arcsin((L0 - l0) / l1)
    beta = np.arcsin(2 * l0 / l3 * np.sin(np.pi / 6 - ALPHA0))
    return Geometry(l1, beta0, beta, l1 * np.cos(beta0) + l3 * np.cos(beta))


def about_z(angle: float) -> Array:
    """a_α and a^φ of Eq. 3."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])


def loop_error(printed: bool) -> float:
    """By how much the loops of Eq. 7 miss closure at the central configuration, m."""
    l1, beta0, beta, h = geometry()
    c, s = np.cos(beta0), np.sin(beta0)
    tilt = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
    theta1 = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    theta2, theta3 = (
        np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
        np.diag([-1.0, -1.0, 1.0]),
    )
    u1, u2, u3 = np.eye(3)
    worst = 0.0
    for one, two, three in zip(ALPHA1, ALPHA2, ALPHA3, strict=True):
        a1, a2, a3 = about_z(one), about_z(two), about_z(three)
        a10 = tilt @ theta3 @ a1
        a21 = theta1 @ (a2.T if printed else a2) @ tilt.T
        a30 = about_z(beta) @ theta1 @ theta2 @ a21 @ a10
        rail = L0 * a1.T @ u1 + l1 * a10.T @ u3
        center = rail + l3 * a30.T @ u2 - l0 * a1.T @ a3.T @ u1
        worst = max(worst, float(np.linalg.norm(center - [0.0, 0.0, h])))
    return worst


def catalogue_error(robot: gough.Robot) -> float:
    """Largest difference of the robot file's joints and rails from Eqs. 1 to 8, m."""
    l1, beta0, _, h = geometry()
    radial = np.column_stack([np.cos(ALPHA1), np.sin(ALPHA1), np.zeros(6)])
    rail = -np.sin(beta0) * radial + [0.0, 0.0, np.cos(beta0)]
    tips = np.column_stack([np.cos(ALPHA1 + ALPHA3), np.sin(ALPHA1 + ALPHA3), np.zeros(6)])
    legs: Any = robot.file.legs
    wanted = [L0 * radial + l1 * rail, rail, l0 * tips, [0.0, 0.0, h]]
    found = [legs.rail_origin, legs.rail_direction, legs.platform, robot.home.position]
    return max(float(np.max(np.abs(a - b))) for a, b in zip(found, wanted, strict=True))


class Run(NamedTuple):
    """One of the paper's three motions."""

    motion: gough.Motion
    actuation: Actuation
    formulations: float
    """Largest difference of the other two formulations over the largest force."""
    energy: float
    """Work of the actuators less the change of energy, over the largest work of one of them."""
    inertia: float
    """Largest part of the forces that any acceleration causes, over the largest force."""
    printed: float
    """Largest error of the forces with Eq. 20 as printed, N."""


def run(robot: gough.Robot, name: str) -> Run:
    """Forces and powers along a motion, by three formulations, and their energy balance."""
    motion = paper_motion(f"{NAME}/{name}").sample(SAMPLES)
    found = robot.inverse_dynamics(motion)
    largest = np.abs(found.forces).max()
    others = (
        virtual_work.inverse_dynamics(robot, motion),
        newton_euler.inverse_dynamics(robot, motion),
    )
    differences = [np.abs(one.forces - found.forces).max() / largest for one in others]
    energy = robot.energy(motion)
    stored = energy.kinetic + energy.potential
    work = simpson(found.power, x=motion.time, axis=0)
    parts = robot.contributions(motion)
    masses = {"legs.link.XX": 0.398, "legs.link.YY": 0.398}
    printed = robot.edited(
        {key: 0.0722 * mass for key, mass in masses.items()}
        | {"platform.inertia": 3.983 * np.diag([0.068, 0.068, 0.136])}
    )
    wrong = printed.inverse_dynamics(motion).forces
    return Run(
        motion,
        found,
        float(max(differences)),
        float(abs(work.sum() - stored[-1] + stored[0]) / np.abs(work).max()),
        float(np.abs(found.forces - parts.gravity).max() / largest),
        float(np.abs(wrong - found.forces).max()),
    )


def figure(name: str, this: Run, title: str, alike: tuple[str, ...], caption: str) -> Figure:
    """Forces above powers, as the paper's pairs of figures; one curve for legs that do the same."""
    legs = ["ABCDEF".index(group[0]) for group in alike]
    labels = [f"legs {', '.join(group)}" if len(group) < 6 else "all six legs" for group in alike]
    panels = [
        (f"{title}: forces", this.actuation.forces[:, legs], "actuator force [N]"),
        (f"{title}: powers", this.actuation.power[:, legs], "power [W]"),
    ]
    return Figure(name, caption, leg_panels(np.asarray(this.motion.time), panels, labels))


def reproduce(progress: Progress) -> Reproduction:
    """Everything: claims, figures, notes."""
    robot = gough.load(NAME)
    progress("geometry")
    size, closed, missed = geometry(), loop_error(printed=False), loop_error(printed=True)
    runs = {}
    for name in ("vertical", "horizontal", "rotation"):
        progress(f"{name} motion")
        runs[name] = run(robot, name)
    progress("figures")
    figures = [
        Figure(
            "robot",
            "The hexapod at its central configuration; legs 1 to 6 are A to F. z₀ points down.",
            plots.draw(robot),
        ),
        figure(
            "fig-3-4",
            runs["vertical"],
            "Vertical translation",
            ("ABCDEF",),
            "Figs. 3 and 4. The platform rises 0.30 m towards the base; all six legs do the same. "
            "Forces are negative where they pull the sliders up their guide-ways.",
        ),
        figure(
            "fig-5-6",
            runs["horizontal"],
            "Translation along x₀",
            ("AF", "BE", "CD"),
            "Figs. 5 and 6. The platform moves 0.20 m along x₀. The robot is symmetric about the "
            "(x₀, z₀) plane: A and F, B and E, C and D do the same.",
        ),
        figure(
            "fig-7-8",
            runs["rotation"],
            "Rotation about z₀",
            ("ACE", "BDF"),
            "Figs. 7 and 8. The platform turns by 30° about z₀. B, D, F work with growing forces "
            "and positive power; A, C, E brake.",
        ),
    ]
    return Reproduction(
        NAME,
        "Sinatra, Xi & Staicu 2009: dynamics of the hexapod parallel robot",
        robot.file.source,
        _claims(robot, size, closed, missed, runs),
        figures,
        NOTES,
    )


def _claims(
    robot: gough.Robot, size: Geometry, closed: float, missed: float, runs: dict[str, Run]
) -> list[Claim]:
    up, across, turn = runs["vertical"], runs["horizontal"], runs["rotation"]
    force, power = up.actuation.forces, up.actuation.power
    inclination = np.degrees(np.arcsin(robot.inverse_kinematics(up.motion).direction[:, 0, 2]))
    active, passive = turn.actuation.power[:, 1::2], turn.actuation.power[:, ::2]
    size_b, size_a = (np.abs(turn.actuation.forces[:, place]) for place in (1, 0))
    above = robot.edited({"gravity": [0.0, 0.0, -9.81]}).inverse_dynamics(turn.motion).power
    pairs = np.abs(across.actuation.forces[:, :3] - across.actuation.forces[:, :2:-1]).max()
    legs = 6 * (0.1 + 0.05 + 0.398)
    felt = robot.mass_matrix(robot.home)[2, 2]
    largest = max(one.formulations for one in runs.values())
    return [
        Claim(
            "Dimensions at the central configuration follow from L₀, l₀, l₃, α₀, γ (Section 2).",
            "formulas only",
            f"l₁ = {size.l1:.6f} m, β₀ = {np.degrees(size.beta0):.3f}°, "
            f"β = {np.degrees(size.beta):.3f}°, h = {size.h:.6f} m",
            "agrees",
            f"all six loops close within {number(closed)} m; the robot file has the same joints within "
            f"{number(catalogue_error(robot))} m",
        ),
        Claim(
            "Transformation matrices of a leg (Eq. 2), a₂₁ = … a₂αᵀ …",
            "close the loops of Eq. 7",
            f"as printed they miss by {missed:.2f} m; with a₂α they close",
            "paper wrong",
            "a₂α must not be transposed",
        ),
        Claim(
            "Motion law (Eq. 6) with the starred values of Eq. 24",
            "x* = 0.1 m, z* = 0.15 m, α₃* = 15°",
            f"moves by {np.ptp(across.motion.position[:, 0]):.2f} m, "
            f"{np.ptp(up.motion.position[:, 2]):.2f} m and 30°",
            "agrees",
            "1 − cos reaches 2: the platform moves by twice the starred values",
        ),
        Claim(
            "Vertical motion: all forces and powers are permanently equal (Figs. 3, 4).",
            "equal",
            f"spread over the legs at most {number(np.ptp(force, axis=1).max())} N of "
            f"{np.abs(force).max():.1f} N, {number(np.ptp(power, axis=1).max())} W of "
            f"{np.abs(power).max():.2f} W",
            "agrees",
        ),
        Claim(
            "Towards the base the legs become more horizontal, therefore the forces grow.",
            "grow",
            f"legs {inclination[0]:.1f}° → {inclination[-1]:.1f}° from the horizontal, forces "
            f"{abs(force[0, 0]):.2f} → {abs(force[-1, 0]):.2f} N, rising all the way",
            "agrees",
        ),
        Claim(
            "Horizontal motion along x₀: six forces and powers (Figs. 5, 6).",
            "curves without numbers",
            f"forces between {number(across.actuation.forces.min(), '.2f')} and "
            f"{number(across.actuation.forces.max(), '.2f')} N; A = F, B = E, C = D within "
            f"{number(pairs)} N",
            "not checkable",
            "the text states nothing; mirror symmetry about the (x₀, z₀) plane holds",
        ),
        Claim(
            "Rotation: only B, D, F work in an active regime, with increasing forces and positive "
            "powers (Figs. 7, 8).",
            "B, D, F positive",
            f"B, D, F: {size_b[0]:.2f} → {size_b[-1]:.2f} N, power 0 to {active.max():.2f} W; "
            f"A, C, E: {size_a[0]:.2f} → {size_a[-1]:.2f} N, power "
            f"{number(passive.min(), '.2f')} to 0 W",
            "agrees",
        ),
        Claim(
            "The platform is at “an elevation OG = h above the centre of the fixed base” (Section 2).",
            "above; Section 4 says lower",
            f"with z₀ up, B, D, F would brake: power down to {number(above[:, 1::2].min(), '.2f')} W",
            "paper wrong",
            "z₀ points down: Eq. 19, Section 4 and Fig. 8 agree on it",
        ),
        Claim(
            "Newton–Euler, Lagrange and virtual work give the same inputs (Section 3).",
            "the same",
            f"virtual work, Newton–Euler and the leg-by-leg closed form agree within {number(largest)} "
            "of the largest force on all three motions",
            "agrees",
            "Lagrange's equations were not tried",
        ),
        Claim(
            "Virtual work accounts for every body's weight and inertia.",
            "all of them",
            "work of the actuators less the change of energy: at most "
            f"{number(max(one.energy for one in runs.values()))} of the work",
            "agrees",
            "checked by integrating the powers",
        ),
        Claim(
            "Moment of the inertia forces (Eq. 20): m_k multiplies all three terms.",
            "M = −m {r̃ γ + Ĵ ε + ω̃ Ĵ ω}",
            f"as printed the forces are off by up to {max(one.printed for one in runs.values()):.2f} N",
            "paper wrong",
            "the mass belongs to the first term only; units show it too",
        ),
        Claim(
            "Leg inertia is comparable with that of the platform (Section 1).",
            "comparable",
            f"legs and sliders {legs:.2f} kg, platform 3.98 kg; vertical inertia felt at home "
            f"{felt:.2f} kg, {felt - 3.983:.2f} of it from the legs",
            "agrees",
        ),
        Claim(
            "Inertial forces dominate over gravity and friction in parallel robots (Section 3).",
            "dominate",
            f"all inertia is at most {max(one.inertia for one in runs.values()):.1%} of the largest "
            "force in the three motions",
            "disagrees",
            "at 3 s a motion these examples are nearly static",
        ),
        Claim(
            "Inertia tensor of a leg about A₃ (Eq. 24)",
            "Ĵ₃ = diag(0.0722, –, 0.0722) kg m²",
            "a 0.398 kg leg of 0.5 m with its centre in the middle has at most 0.0498 kg m²",
            "paper wrong",
            "carried as printed",
        ),
    ]


NOTES = (
    "Forces and powers are those of the actuators along growing λ, which runs down the guide-ways; "
    "no friction, no external load, as in the paper.",
    "Centre of mass of a leg at its middle; the universal joint's mass m₂ is a point at the joint; "
    "no inertia of a leg about its own axis (Eq. 24 leaves it blank).",
    "s = 2 (L_b − L_p)/√2 is s = (L_b − L_p)/cos γ at γ = 45°.",
    "Eq. 13 needs ṙ₀^G and Eq. 16 r̈₀^G: dots are lost in print. The last entry of Eq. 15 is v^F. “Three "
    "actuators” (Sections 4 and 5) are six.",
)

if __name__ == "__main__":
    run_script(NAME, reproduce)
