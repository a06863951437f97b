"""Every table, figure and equation of the paper, and where it is found here."""

from __future__ import annotations

from gough.show.reproduction import Item

ITEMS = (
    Item("Fig. 1", "the robot", "figure “robot”: that of Long, Khalil & Martinet 2014"),
    Item("Fig. 2", "frames F_0 and F_p", "general_robot() places F_p so; Table I below has F_0"),
    Item("Fig. 3", "link frames of a leg", "docs/frames.md, drawn for UPS legs"),
    Item("Table I", "geometric parameters of a leg's frames", "Table I below, test_khalil_tables"),
    Item("Eqs. 1–2", "transformation matrices", "opened_leg.py; test_frames"),
    Item(
        "Eqs. 3–7", "velocity and acceleration of P_i", "closed_forms.py; test_khalil_closed_forms"
    ),
    Item("Eqs. 8–11", "names of vectors", "docs/theory.md, table of symbols"),
    Item("Eqs. 12–13", "inverse Jacobian of the robot", "test_khalil_closed_forms (“jacobian”)"),
    Item(
        "Eqs. 14–17", "Jacobian of a leg and its inverse", "opened_leg.py; test_khalil_closed_forms"
    ),
    Item("Eqs. 18–19", "second-order kinematics of a leg", "test_khalil_closed_forms; errata K2"),
    Item(
        "Eqs. 20–23",
        "reaction of a leg on the platform",
        "claim on Fig. 4; test_khalil_closed_forms",
    ),
    Item("Eqs. 24–30", "Newton–Euler of the platform", "test_khalil_closed_forms"),
    Item("Eqs. 31–32", "inverse model in closed form", "first claim; table of routes"),
    Item("Fig. 4", "equivalent external forces", "claim on Fig. 4"),
    Item("Section IV.C", "other robots, translation only", "docs/howto/delta.md: mobility"),
    Item("Eqs. 33–35", "direct model", "claims; errata K1, K2, K3"),
    Item(
        "Eqs. 36–38",
        "A_robot, h_robot, a leg's inertia",
        "claims, figure “inertia-matrix”; errata K4, K5",
    ),
    Item("Fig. 5", "equivalent spatial inertia", "claim on Fig. 5"),
    Item("Eqs. 39–43", "conditions for grouping", "docs/parameters.md; test_grouping; errata K6"),
    Item(
        "Eqs. 44–50",
        "grouping relations of a leg",
        "Table II below; test_table_ii_names_the_groups",
    ),
    Item("Table II", "88 base parameters", "Table II below and claim"),
    Item("Table III", "52 essential parameters", "Table III below and claim; errata K13"),
    Item(
        "Eqs. 51–56",
        "energy function of M_3i",
        "test_equation_55_as_printed_is_wrong_in_its_first_line",
    ),
    Item(
        "Eqs. 57–66",
        "rods' masses on the platform",
        "claim; test_equations_57_to_66_as_printed_are_wrong_in_60_and_63",
    ),
    Item("Table IV", "operations, beside Gosselin and Dasgupta", "Table IV below and claim"),
    Item(
        "Section VII",
        "cost on seven processors",
        "Section VII below and claim; test_seven_processors",
    ),
    Item(
        "Eqs. 67–73", "Appendix A: energy functions", "right: test_energy_functions_give_the_energy"
    ),
    Item("Eq. 74", "Appendix B: a link on a revolute joint", "Appendix B below; errata K10, K11"),
    Item(
        "Eq. 75",
        "Appendix B: a link on a prismatic joint",
        "right: test_equation_75_is_right_as_printed",
    ),
)
