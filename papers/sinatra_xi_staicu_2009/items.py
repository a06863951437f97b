"""Every table, figure and equation of the paper, and where it is found here."""

from __future__ import annotations

from gough.show.reproduction import Item

ITEMS = (
    Item("Fig. 1", "scheme of the hexapod", "figure “robot”"),
    Item("Fig. 2", "scheme of leg A", "docs/frames.md, drawn for PUS legs"),
    Item("Section 2", "dimensions l₁, β₀, β, h", "first claim; test_sinatra_geometry; errata S2"),
    Item("Eq. 1", "angles at the central configuration", "configuration.py; test_sinatra_geometry"),
    Item(
        "Eqs. 2–3",
        "transformation matrices",
        "claim; test_transformation_matrices_of_the_paper_close_its_loops; errata S1",
    ),
    Item("Eqs. 4–5", "rotation of the platform", "angles about moving axes; test_rotations"),
    Item("Eq. 6", "motion law", "claim; test_sinatra_motions; errata S3"),
    Item("Eqs. 7–8", "vector loops", "first claim: closed within rounding"),
    Item("Eqs. 9–12", "velocities", "virtual_work.py: test_virtual_work_agrees_for_any_bodies"),
    Item("Eqs. 13–15", "connectivity, virtual velocities", "virtual_work.py; errata S4, S5"),
    Item("Eqs. 16–18", "accelerations", "virtual_work.py; errata S6"),
    Item("Section 3", "three methods give the same inputs", "claim; table of routes"),
    Item("Eqs. 19–20", "weights and inertia forces", "claim; virtual_work.py; errata S7"),
    Item("Eqs. 21–23", "input forces by virtual work", "table of routes; test_the_papers_robots"),
    Item(
        "Eq. 24",
        "numbers of the robot",
        "robot file sinatra-xi-staicu-2009, claim on Ĵ₃; errata S8",
    ),
    Item("Fig. 3", "forces, vertical", "figure “fig-3-4”"),
    Item("Fig. 4", "powers, vertical", "figure “fig-3-4”"),
    Item("Fig. 5", "forces, horizontal", "figure “fig-5-6”"),
    Item("Fig. 6", "powers, horizontal", "figure “fig-5-6”"),
    Item("Fig. 7", "forces, rotation", "figure “fig-7-8”; its sign is explained there"),
    Item("Fig. 8", "powers, rotation", "figure “fig-7-8”"),
)
