"""Long, Khalil & Martinet 2014: a Gough-Stewart robot whose platform is a flexible plate.

The plate is a floating frame (p, R; twist V = (v, ω)) and N modes qe. Eliminating the elastic
accelerations from the equations of legs and plate gives, in the paper's notation,

    A V̇ + c = J_sys⁻ᵀ Γ                                                                      (46)
    q̈e = A_ee⁻¹ (J_e⁻ᵀ Γ − (A_reᵀ + W_e A_x W_pᵀ) V̇ − W_e (A_x h + c_x) − c_e)                 (44)

The inverse model solves them for Γ and q̈e, the direct model for V̇ and q̈e. The simulation of Fig. 3,
which closes a loop around both, is in `simulation.py`.
"""

from __future__ import annotations

import warnings
from typing import Any

from gough.errors import ImpossibleBodyWarning
from gough.show.pictures.modes import mode_sheet
from gough.show.reproduction import Figure, Progress, Reproduction

from .claims import NOTES, model_claims, plate_claims, simulation_claims, studies
from .figures import (
    acceleration_figure,
    convergence_figure,
    deformation_figures,
    force_figure,
    health_figure,
    open_loop_figure,
    start_figure,
    table_2_figure,
)
from .items import ITEMS
from .plate import frequencies
from .printed import NAME
from .results import compute
from .tables import number_tables


def reproduce(progress: Progress) -> Reproduction:
    """Everything: claims, tables, figures, notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleBodyWarning)
        found = compute(progress)
        progress("figures")
        robot, run = found.robot, found.runs[-1]
        body: Any = robot.description.modal
        figures = [
            Figure(
                "modes",
                "The ten elastic modes of the plate; the paper counts them from 7.",
                mode_sheet(body, "hexagonal plate"),
            ),
            table_2_figure(frequencies(robot), found.calculix),
            force_figure(run, found.rigid),
            acceleration_figure(run),
            *deformation_figures(robot, run),
            start_figure(found.held, found.zero),
            open_loop_figure(found.growth),
            health_figure(found.health),
            convergence_figure(found.fit),
        ]
        claims = plate_claims(found) + model_claims(found) + simulation_claims(found)
    return Reproduction(
        NAME,
        "Long, Khalil & Martinet 2014: parallel robots with flexible platforms",
        robot.file.source.partition(", Tables")[0],
        claims,
        figures,
        NOTES,
        number_tables(found),
        studies(found),
        ITEMS,
    )
