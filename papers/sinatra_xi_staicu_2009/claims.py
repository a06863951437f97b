"""The paper's claims beside what came out."""

from __future__ import annotations

import numpy as np

import gough
from gough.show.reproduction import Claim, Study, number

from .configuration import Geometry, catalogue_error, leg_limits, meeting_point, nearest_joints
from .motions import Run


def hexapod_claims(
    robot: gough.Robot,
    size: Geometry,
    closed: float,
    missed: float,
    runs: dict[str, Run],
    worst: float,
) -> list[Claim]:
    """On geometry, as its loops close and miss closure (m), and on the three motions.

    `worst` is the largest difference of any route to the forces, relative.
    """
    up, across, turn = runs["vertical"], runs["horizontal"], runs["rotation"]
    force, power = up.actuation.forces, up.actuation.power
    inclination = np.degrees(np.arcsin(robot.inverse_kinematics(up.motion).direction[:, 0, 2]))
    active, passive = turn.actuation.power[:, 1::2], turn.actuation.power[:, ::2]
    size_b, size_a = (np.abs(turn.actuation.forces[:, place]) for place in (1, 0))
    above = robot.edited({"gravity": [0.0, 0.0, -9.81]}).inverse_dynamics(turn.motion).power
    pairs = np.abs(across.actuation.forces[:, :3] - across.actuation.forces[:, :2:-1]).max()
    legs = 6 * (0.1 + 0.05 + 0.398)
    felt = robot.mass_matrix(robot.home)[2, 2]
    most, center = leg_limits()
    return [
        Claim(
            "Dimensions at the central configuration follow from L₀, l₀, l₃, α₀, γ (Section 2).",
            "formulas only",
            f"l₁ = {size.l1:.6f} m, β₀ = {np.degrees(size.beta0):.3f}°, "
            f"β = {np.degrees(size.beta):.3f}°, h = {size.h:.6f} m",
            "agrees",
            f"all six loops close within {number(closed)} m; the robot file has the same joints "
            "within "
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
            "The platform is at “an elevation OG = h above the centre of the fixed base” (Section "
            "2).",
            "above; Section 4 says lower",
            f"with z₀ up, B, D, F would brake: power down to {number(above[:, 1::2].min(), '.2f')} "
            "W",
            "paper wrong",
            "z₀ points down: Eq. 19, Section 4 and Fig. 8 agree on it",
        ),
        Claim(
            "Newton–Euler, Lagrange and virtual work give the same inputs (Section 3).",
            "the same",
            "virtual work, Newton–Euler, Lagrange's equations (energies differentiated by CasADi), "
            "the "
            f"leg-by-leg closed form and Pinocchio agree within {number(worst)} of the largest "
            "force on all "
            "three motions",
            "agrees",
            "table below",
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
            "as printed the forces are off by up to "
            f"{max(one.printed for one in runs.values()):.2f} N",
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
            f"here all inertia is at most {max(one.inertia for one in runs.values()):.1%} of the "
            "largest "
            f"force; it reaches the weight's part if the motions are made in {across.equal:.2f} s "
            f"(horizontal), {up.equal:.2f} s (vertical) and {turn.equal:.2f} s (rotation), where "
            "the paper "
            "takes 3 s",
            "not checkable",
            "a statement on parallel robots in general, true of fast ones: the figure shows where "
            "it "
            "begins for this one",
        ),
        Claim(
            "Inertia tensor of a leg about A₃ (Eq. 24)",
            "Ĵ₃ = diag(0.0722, –, 0.0722) kg m²",
            f"a 0.398 kg leg of 0.5 m with its centre of mass in the middle has at most {most:.4f} "
            "kg m²; "
            f"Ĵ₃ takes a centre of mass beyond {center:.0%} of the leg",
            "paper incomplete",
            "the leg's centre of mass is not printed: Ĵ₃ is possible if it is far out, not if it "
            "is in the "
            "middle. Carried as printed",
        ),
    ]


def studies(robot: gough.Robot, runs: dict[str, Run]) -> list[Study]:
    """What the paper leaves open."""
    point, missed = meeting_point()
    near = {name: nearest_joints(robot, this.motion) for name, this in runs.items()}
    return [
        Study(
            "Can the hexapod be built as it is given?",
            f"All six guide-ways meet at (0, 0, {point[2]:.3f}) m within {number(missed)} m, since "
            "2 l₀ = L₀: six sliders cannot come near their lower ends. In the horizontal example "
            "the "
            f"universal joints of legs {near['horizontal'][1]}, which are no neighbours, come "
            "within "
            f"{1e3 * near['horizontal'][0]:.0f} mm of each other; in the other two none come "
            "nearer than "
            f"{1e3 * min(near['vertical'][0], near['rotation'][0]):.0f} mm. Neighbours are never "
            "nearer "
            f"than {1e3 * 2 * 0.3 * np.sin(np.pi / 36):.0f} mm.",
        ),
    ]


NOTES = (
    "Forces and powers are those of the actuators along growing λ, which runs down the guide-ways; "
    "no friction, no external load, as in the paper.",
    "Centre of mass of a leg at its middle, which the paper does not print; the universal joint's "
    "mass m₂ is a point at the joint; "
    "no inertia of a leg about its own axis (Eq. 24 leaves it blank).",
    "s = 2 (L_b − L_p)/√2 is s = (L_b − L_p)/cos γ at γ = 45°.",
    "Eq. 13 needs ṙ₀^G and Eq. 16 r̈₀^G: dots are lost in print. The last entry of Eq. 15 is v^F. "
    "“Three "
    "actuators” (Sections 4 and 5) are six.",
)
