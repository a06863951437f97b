"""The paper's claims beside what came out, and what it leaves open."""

from __future__ import annotations

from typing import Any

import numpy as np

from gough.data.paper_motions import paper_motion
from gough.show.reproduction import Claim, Study, number, rms

from .attachment import deformations
from .modes import COUNTS
from .path import MOTION
from .plate import frequencies, mass_of_typed_corners, meshes
from .printed import PRINTED_MASS, TABLE_2, THICKNESS
from .results import TOLERANCES, Results
from .simulation import OFFSET, imbalance


def plate_claims(found: Results) -> list[Claim]:
    """On the plate alone: Tables 2 and 4."""
    ours, mass = frequencies(found.robot), found.robot.platform.mass
    off = np.abs(TABLE_2[:, 0] / ours - 1)
    body: Any = found.robot.description.modal
    shells = found.calculix.values
    coarse = meshes(shells)
    near = np.abs(TABLE_2[:7, 0] / shells[:7] - 1).max()
    squares = np.abs(TABLE_2[:, 0] ** 2 / TABLE_2[:, 1] - 1).max()
    _, points, lengths = found.geometry
    return [
        Claim(
            "The plate's mass (Section 6.1)",
            f"{PRINTED_MASS} kg",
            f"{mass:.3f} kg; with corners at ±0.433 m, √3/4 m cut off, "
            f"{mass_of_typed_corners():.5f} kg",
            "agrees",
            "the corners were typed in with three digits; Young's modulus is printed in N m, it is "
            "in N/m²",
        ),
        Claim(
            "Natural frequencies, modes 7 to 13 (Table 2)",
            "188.75 … 709.58 rad/s",
            f"modes 7 to 11 within {off[:5].max():.1%}, 12 and 13 within {off[5:7].max():.1%} of "
            f"gough's plate; {found.calculix.label}: all seven within {near:.1%}",
            "agrees",
            "Poisson's ratio is not printed; 0.3 fits",
        ),
        Claim(
            "Natural frequencies, modes 14 to 16 (Table 2)",
            ", ".join(f"{one:.1f}" for one in TABLE_2[7:, 0]),
            f"{', '.join(f'{one:.1f}' for one in ours[7:])}: the paper is "
            f"{100 * off[7:].min():.1f} to {100 * off[7:].max():.1f} % above; "
            f"{found.calculix.label} has "
            f"{', '.join(f'{one:.1f}' for one in shells[7:])}",
            "paper wrong",
            "gough's plate and CalculiX's shells are converged. A coarse mesh as the cause is not "
            "proved: "
            f"{coarse.like} of {coarse.count} coarse meshes show this pattern, see below",
        ),
        Claim(
            "Generalized stiffness with m_ee = 1 (Table 2)",
            "35625.55 … 1717622",
            f"ω² within {number(squares)} of the printed stiffness; gough's m_ee = 1 within "
            f"{number(np.abs(body.modal_mass - np.eye(body.modes)).max())}",
            "agrees",
        ),
        Claim(
            "Ten modes represent the plate (Section 6.1).",
            "modes 7 to 16",
            f"against {COUNTS[-1]} modes the forces change by at most {found.fit.forces[2]:.0f} N "
            "of "
            f"{np.abs(found.runs[-1].forces).max():.0f} N, the largest deflection at rest from "
            f"{1e3 * found.fit.sag[2]:.1f} to {1e3 * found.fit.sag[-1]:.1f} mm",
            "agrees",
            "for forces; ten modes cut the pair 16, 17 of equal frequency in half",
        ),
        Claim(
            "Base points and initial joint values (Table 4)",
            "b_j, q_1j, q_2j, q_3j",
            f"tips within {1e3 * points:.2f} mm of a hexagon of radius 0.5 m, q₃ within "
            f"{1e3 * lengths:.2f} mm",
            "agrees",
            "with γ_1j the angle of B₁→B_j, d = |B₁B_j|, b = 0, which the paper does not print",
        ),
        Claim(
            "Base inertial parameters of the legs (Table 3)",
            "cylinder of 30.176 kg",
            "entry by entry no body has them (central inertias are negative), but real legs with "
            "the same "
            f"base parameters exist, with a cylinder of at least {found.cylinder:.1f} kg; with the "
            "printed "
            "30.176 kg there is none",
            "agrees",
            "as the table is headed: *base* parameters. The cylinder's mass has no effect on Γ",
        ),
    ]


def model_claims(found: Results) -> list[Claim]:
    """On the equations: Eqs. 46 to 49 and the zero dynamics."""
    poles = found.health
    body: Any = found.robot.description.modal
    coupling = np.abs(body.report.translation).max(), np.abs(body.report.rotation).max()
    return [
        Claim(
            "A, c and J_sys of Eqs. 47 to 49 eliminate the elastic accelerations.",
            "Eqs. 46 to 49",
            f"equal to elimination from the full mass matrix within {number(found.elimination)}",
            "agrees",
            "with q̈e for q̇e in Eqs. 23 and 40, and A_x, c_x turned into platform axes",
        ),
        Claim(
            "The coupling of frame and modes is in s, β, λ (after Eq. 34).",
            "MS_de, MS_re",
            f"of this plate |s| ≤ {number(coupling[0])}, |β| ≤ {number(coupling[1])}, λ = 0: all "
            "coupling goes through the legs",
            "paper incomplete",
            "f_c, n_c, Q_c are not printed, and a free flat plate about its centre cannot test s, "
            "β, λ; "
            "general bodies can: test_flexible",
        ),
        Claim(
            "A and J_sys are invertible outside special configurations (after Eq. 46).",
            "outside special configurations",
            f"turned about x at home from −30° to 30°, det J_sys⁻ᵀ changes its sign once, at "
            f"{number(poles.crossing, '.2f')}°, where J_p is regular (condition number "
            f"{poles.condition:.1f})",
            "agrees",
            "literally: such a configuration is special, though J_p does not show it",
        ),
    ]


def simulation_claims(found: Results) -> list[Claim]:
    """On the simulation: Figs. 3 to 7."""
    robot, run, coarse = found.robot, found.runs[-1], found.runs[0]
    still = run.time < 0.75
    drift = np.abs(run.forces[still] - run.forces[0]).max()
    center, turn, tips = deformations(robot, run.motion)
    agreement = found.agreement
    desired = paper_motion(MOTION)(run.time)
    strayed = np.abs(run.motion.position - desired.position).max()
    difference = run.forces - found.rigid
    largest = np.abs(run.forces).max()
    spike = np.abs(found.zero.forces).max()
    return [
        Claim(
            "Simulation of Fig. 3 with ten modes",
            "results of Figs. 4 to 7",
            f"4.5 s in {run.seconds:.1f} s, {run.evaluations} evaluations; tolerances "
            f"{number(TOLERANCES[0])} and {number(TOLERANCES[1])} differ by "
            f"{number(np.abs(run.forces - coarse.forces).max())} N in Γ and "
            f"{number(np.abs(run.motion.elastic - coarse.motion.elastic).max())} in q_e",
            "agrees",
            "work less damping less change of energy: "
            f"{number(imbalance(robot, run))} of the change",
        ),
        Claim(
            "Actuator forces (Fig. 4)",
            "curves without numbers",
            f"between {number(run.forces.min(), '.0f')} and {number(run.forces.max(), '.0f')} N; "
            f"constant within {number(drift)} N in the first rest, started from the static "
            "deflection",
            "not checkable",
            "the path's poses are not printed",
        ),
        Claim(
            "The platform's flexibility has to be modelled (Section 1).",
            "for large or light platforms",
            f"forces differ from the rigid robot's by up to {np.abs(difference).max():.0f} N of "
            f"{largest:.0f} N ({rms(difference):.0f} N rms), at rest by up to "
            f"{np.abs(difference[0]).max():.0f} N",
            "agrees",
            "on this robot and path",
        ),
        Claim(
            "Direct model less desired acceleration is almost zero, which validates the model "
            "(Fig. 5).",
            "almost zero",
            f"{number(agreement.right)} of the largest; with the stiffness 10 % wrong in both "
            "models "
            f"{number(agreement.both_wrong)}, in the inverse model alone {agreement.one_wrong:.0%}",
            "disagrees",
            "it is zero, but it is direct(inverse) = identity: it proves that J_sys is regular and "
            "the "
            "solves are sound, not that mass, stiffness or equations are right",
        ),
        Claim(
            "Deformation at the origin is greatest along z, rotation about x and y (Fig. 6).",
            "z; x and y",
            f"z up to {1e3 * np.abs(center[:, 2]).max():.2f} mm, x and y "
            f"{1e3 * np.abs(center[:, :2]).max():.1g} mm; rotation about x and y up to "
            f"{1e3 * np.abs(turn[:, :2]).max():.2f} mrad, about z "
            f"{1e3 * np.abs(turn[:, 2]).max():.1g}",
            "agrees",
            "the others are zero: a plate does not stretch",
        ),
        Claim(
            "The manipulator undergoes small deformations (Section 4.1; Fig. 7).",
            "small",
            f"tips deflect by {1e3 * np.abs(tips[0]).max():.1f} mm at rest and up to "
            f"{1e3 * np.abs(tips).max():.1f} mm in motion; the plate is {1e3 * THICKNESS:.0f} mm "
            "thick",
            "disagrees",
            "linear plate theory needs deflections well below the thickness",
        ),
        Claim(
            "Initial state (Section 6.1)",
            "joint values; q_e is not given",
            f"from q_e = 0 the inverse model asks for {1e-3 * spike:.1f} kN at once, from the "
            "static "
            f"deflection for {1e-3 * np.abs(run.forces[0]).max():.1f} kN",
            "paper incomplete",
            "start from the static deflection",
        ),
        Claim(
            "The system follows a spatial trajectory (Section 6).",
            "follows",
            f"in the loop of Fig. 3 within {number(strayed)} m",
            "agrees",
        ),
    ]


def studies(found: Results) -> list[Study]:
    """What the paper leaves open."""
    poles, growth, coarse = found.health, found.growth, meshes(found.calculix.values)
    unstable = poles.angles[poles.poles > 0]
    return [
        Study(
            "Can the forces of the inverse model be followed?",
            "The plate's zero dynamics are stable at home (slowest pole "
            f"{number(poles.home, '.1f')} 1/s) "
            f"and along the path ({number(poles.along, '.1f')} 1/s), but unstable when turned at "
            "home "
            f"beyond {number(unstable.max(), '.1f')}° about x, and in {poles.unstable:.0%} of "
            "random poses "
            "within 0.3 m and 0.5 rad of home on each axis. There J_sys is regular and Γ exists, "
            "but it "
            "grows without bound.",
        ),
        Study(
            "Do the forces work open loop?",
            f"With the same Γ(t) an offset of {number(OFFSET)} m grows to "
            f"{1e3 * growth.distance[-1]:.0f} mm in {growth.time[-1]:.0f} s, small motions as "
            f"exp({growth.rate:.1f} t). The loop of Fig. 3 recomputes Γ from the simulated state, "
            "so errors "
            "do not grow; a real robot needs feedback.",
        ),
        Study(
            "Why are modes 14 to 16 of Table 2 high?",
            f"Not known. A coarse mesh is the first suspect, but none of {coarse.count} meshes "
            "(shells S8R, "
            "S8 and S4, 2 to 7 along an edge) shows the pattern: in the paper modes 14 and 15 are "
            "off "
            f"{coarse.paper:.0f} times as much as 12 and 13, in these meshes at most "
            f"{coarse.worst:.1f} times. {coarse.origin}.",
        ),
    ]


NOTES = (
    "The path's poses are not printed: home, two poses away from it in position and orientation, "
    "home; "
    "0.75 s rest, three moves of 1 s by fifth-order polynomials, 0.75 s rest.",
    "Gravity 9.81 m/s² along −z. Damping D = 2 · 0.4 · √K. No friction.",
    "What Fig. 5 does not prove is tested elsewhere: both models agree within 10⁻⁹ with an energy "
    "model "
    "of nodal masses, differentiated automatically, on general bodies with s, β, λ.",
    "λ is a cross product, ∫ Φ_k × Φ_j dm; the printed order of its indices turns its sign. I_op "
    "depends on q_e; the columns of MS_re stand side by side. The vector of Eq. 34 is (v̇ − g, ω̇, "
    "q̈_e).",
    "Eq. 12 has q̇_e for q_e; after Eq. 4, a₃ᵀ is the third row of the inverse Jacobian; Eqs. 9 "
    "and 10 "
    "are the same, 9 should read f = J⁻ᵀ (Γ − A q̈ − c); Eq. 43 has A_reᵀ in its second row.",
    "Table 3 is carried as printed; the legs' mass matrices are positive definite. IA of the "
    "prismatic "
    "joint is a mass, kg.",
)
