"""Every table, figure and equation of the paper, and where it is found here."""

from __future__ import annotations

from gough.show.reproduction import Item

ITEMS = (
    Item("Fig. 1", "the robot", "khalil-guegan-2004, figure robot: the same robot"),
    Item("Table 1", "geometric parameters of a leg's frames", "khalil-guegan-2004, Table I"),
    Item("Eqs. 1–4", "Jacobian of a leg", "test_khalil_closed_forms; errata L1"),
    Item("Eqs. 5–6", "q̇ and q̈ of a leg", "test_khalil_closed_forms"),
    Item("Eqs. 7–10", "reaction of a leg", "test_khalil_closed_forms; errata L2"),
    Item("Fig. 2", "flexible platform", "figure “modes”"),
    Item(
        "Eqs. 11–13",
        "position of an attachment point",
        "docs/flexible.md; test_flexible; errata L3",
    ),
    Item("Eqs. 14–17", "velocity at the origin", "docs/flexible.md; test_flexible"),
    Item(
        "Eqs. 18–21", "velocities of attachment points", "robot.jacobian; test_flexible; errata L4"
    ),
    Item(
        "Eqs. 22–25",
        "accelerations of attachment points",
        "docs/theory.md; test_flexible; errata L5",
    ),
    Item("Eqs. 26–33", "forces on the platform, W", "docs/theory.md; errata L6, L7"),
    Item(
        "Eqs. 34–35",
        "generalised Newton–Euler of the platform",
        "claim; errata L8 to L11; test_flexible",
    ),
    Item("Eqs. 36–40", "legs felt at their tips", "docs/theory.md; errata L5, L12"),
    Item("Eqs. 41–45", "elastic accelerations", "test_what_fig_5_shows; errata L13"),
    Item("Table 2", "modal properties of the plate", "Table 2 below, figure “table-2”; errata L14"),
    Item("Table 3", "base parameters of the legs", "claim; test_table_3; errata L15"),
    Item(
        "Table 4", "base points and initial joint values", "Table 4 below; test_table_4; errata L16"
    ),
    Item("Eqs. 46–49", "A, c and J_sys", "claims; test_what_fig_5_shows; robot.condensed"),
    Item("Fig. 3", "scheme of the simulation", "loop.py; test_simulation"),
    Item("Fig. 4", "actuator forces", "figure “fig-4”; the path's poses are ours"),
    Item(
        "Fig. 5",
        "acceleration, and difference from the desired one",
        "figure “fig-5”; test_what_fig_5_shows",
    ),
    Item("Fig. 6", "deformation at the origin", "figure “fig-6”"),
    Item("Fig. 7", "deformation at the attachment points", "figure “fig-7”"),
    Item(
        "Section 6.1",
        "the plate's numbers",
        "claims; robot file long-khalil-martinet-2014; errata L17",
    ),
    Item("Section 6.2", "the path", "long-khalil-martinet-2014/poses: its poses are not printed"),
)
