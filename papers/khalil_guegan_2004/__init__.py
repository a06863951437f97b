"""Khalil & Guegan 2004: closed forms of the Gough-Stewart robot's inverse and direct dynamics.

The legs are opened at their spherical joints P_i. With H_i the inverse dynamics of an opened leg,
J_i its Jacobian (tip velocity = J_i q̇_i), A_i and h_i the parts of H_i = A_i q̈_i + h_i, and
L_i the arm of P_i, all in world axes (hat: cross-product matrix):

    H_xi = J_i⁻ᵀ H_i,   A_xi = J_i⁻ᵀ A_i J_i⁻¹,   h_xi = J_i⁻ᵀ h_i                       (22, 34)
    J_p⁻¹ = rows [a_3iᵀ, (L̂_i a_3i)ᵀ]                                                        (13)
    Γ = J_pᵀ (F_p + Σ [I; L̂_i] H_xi)                                                     (31, 32)
    H_xi = A_xi [I, −L̂_i] V̇ + A_xi (ω×(ω×L_i) − J̇_i q̇_i) + h_xi           (34, sign corrected)
    A_robot V̇ = J_p⁻ᵀ Γ − h_robot                                          (35, signs corrected)
    A_robot = Σ [A_xi, −A_xi L̂_i; L̂_i A_xi, −L̂_i A_xi L̂_i] + [M I, −M̂S; M̂S, I_p]   (36, corrected)
    h_robot = Σ [I; L̂_i] (A_xi (ω×(ω×L_i) − J̇_i q̇_i) + h_xi)
              + [ω×(ω×MS); ω×(I_p ω)] − [M I; M̂S] g                               (37, corrected)

This script works the legs out in joint coordinates, in the paper's link frames, and shares no
equation with the library it is compared with. The arms L_i run from the platform frame's origin,
which in the paper is P_1.
"""

from __future__ import annotations

import warnings

import numpy as np

import gough
from gough.errors import ImpossibleBodyWarning
from gough.show import plots
from gough.show.reproduction import Figure, Progress, Reproduction, relative_error

from .claims import NOTES, count_claims, form_claims, number_claims, studies
from .closed_forms import release
from .comparison import compare
from .figures import loss_figure, matrix_figure, share_figure
from .items import ITEMS
from .regrouping import regrouped
from .robots import POSES, ROBOT, STATES, general_robot, random_states, turned_poses
from .routes import routes
from .shares import leg_share
from .solves import solve_losses
from .tables import number_tables, operations, parameter_counts

NAME = "khalil-guegan-2004"
SOURCE = (
    "W. Khalil, S. Guegan: Inverse and direct dynamic modeling of Gough-Stewart robots. "
    "IEEE Transactions on Robotics and Automation 20 (2004) 754-762"
)


def reproduce(progress: Progress) -> Reproduction:
    """Everything: claims, figures, notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleBodyWarning)
        robot = gough.load(ROBOT).rigid
        data = general_robot()
        general = gough.Robot.from_dict(data)
        progress("closed forms")
        found = [compare(one, random_states(one, STATES)) for one in (robot, general)]
        progress("regrouped masses")
        states = random_states(general, STATES)
        forces = general.inverse_dynamics(states).forces
        grouped = [
            relative_error(regrouped(data, printed).inverse_dynamics(states).forces, forces)
            for printed in (False, True)
        ]
        progress("solves without pivoting")
        level = solve_losses(robot, turned_poses(robot, np.zeros(POSES)))
        turned = solve_losses(robot, turned_poses(robot, np.full(POSES, 0.1)))
        progress("leg inertia")
        share = leg_share(robot)
        progress("tables")
        several = routes()
        counts, cuts = operations()
        tables = [
            *number_tables(robot, data, counts, cuts),
            several.table("Rest to rest, rigid platform: the same forces by five routes."),
        ]
        progress("figures")
        figures = [
            Figure(
                "robot", "The robot of Long, Khalil & Martinet 2014 at home.", plots.draw(robot)
            ),
            matrix_figure(general),
            share_figure(share),
            loss_figure(robot),
        ]
        fall = release(robot)
    claims = [
        *form_claims(found[0], found[1], fall, grouped),
        *count_claims(parameter_counts(data), counts, cuts),
        *number_claims(share),
    ]
    return Reproduction(
        NAME,
        "Khalil & Guegan 2004: closed-form dynamics of Gough-Stewart robots",
        SOURCE,
        claims,
        figures,
        NOTES,
        tables,
        studies(level, turned),
        ITEMS,
    )
