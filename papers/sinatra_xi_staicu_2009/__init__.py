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

import gough
from gough.show import plots
from gough.show.reproduction import Figure, Progress, Reproduction

from .claims import NOTES, hexapod_claims, studies
from .configuration import geometry, loop_error
from .items import ITEMS
from .motions import NAME, crossover_figure, figure, routes, run


def reproduce(progress: Progress) -> Reproduction:
    """Everything: claims, figures, notes."""
    robot = gough.load(NAME)
    progress("geometry")
    size, closed, missed = geometry(), loop_error(printed=False), loop_error(printed=True)
    runs = {}
    for name in ("vertical", "horizontal", "rotation"):
        progress(f"{name} motion")
        runs[name] = run(robot, name)
    progress("other routes")
    several = routes()
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
            "and positive power; A, C, E brake. “Increasing forces” are those of B, D, F in size: "
            "with λ "
            "down the guide-ways they are negative, and |f| rises.",
            "BDF",
        ),
        crossover_figure(runs),
    ]
    return Reproduction(
        NAME,
        "Sinatra, Xi & Staicu 2009: dynamics of the hexapod parallel robot",
        robot.file.source,
        hexapod_claims(robot, size, closed, missed, runs, several.worst()),
        figures,
        NOTES,
        [several.table("The three motions' forces by four routes.")],
        studies(robot, runs),
        ITEMS,
    )
