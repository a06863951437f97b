"""Every table, figure and equation of the paper, and where it is found here."""

from __future__ import annotations

from gough.show.reproduction import Item

ITEMS = (
    Item("Fig. 1", "three HexaSlide robots", "photographs; the Hexaglide is in gough's catalogue"),
    Item("Fig. 2", "scheme of the robot", "figure “robot”"),
    Item(
        "Eqs. 1–3",
        "Euler angles, ω, ω̇",
        "test_kim_ryu_equations_1_2_and_corrected_3; errata R1, R2",
    ),
    Item("Eqs. 4–5", "motion of B_i and G", "equations.py; test_kim_equations_and_reference"),
    Item("Fig. 3", "slider and link", "docs/frames.md, drawn for PUS legs"),
    Item(
        "Eqs. 6–11",
        "slider from platform",
        "equations.py; test_kim_equations_and_reference; errata R3",
    ),
    Item("Eqs. 12–14", "centre, axes and inertia of a link", "equations.py; errata R4, R5"),
    Item(
        "Eqs. 15–19",
        "a link's angular velocity, slender",
        "claim on spin; test_kim_friction; errata R6",
    ),
    Item("Fig. 4", "free body of a slider", "drawing; its equations are in newton_euler.py"),
    Item("Eqs. 20–21", "slider: actuator and normal force", "test_kim_equations_and_reference"),
    Item("Fig. 5", "free body of a link", "drawing; its equations are in newton_euler.py"),
    Item("Eqs. 22–24", "link: reactions", "claim on M_A; errata R7, R8, R9"),
    Item("Fig. 6", "free body of the platform", "drawing; its equations are in newton_euler.py"),
    Item("Eqs. 25–26", "platform: axial forces of the links", "equations.py; errata R10"),
    Item(
        "Eqs. 27–28",
        "F_B, F_A",
        "newton_euler.py: test_newton_euler_agrees_for_slender_links; errata R11, R12",
    ),
    Item("Eq. 29", "actuator forces", "table of routes; figures “fig-7”, “fig-8”; errata R13"),
    Item("Eqs. 30–32", "friction", "claims on friction; figure “fig-11”; errata R14, R15"),
    Item("Eq. 33", "motion of constant acceleration", "figure “fig-8”; kim-ryu-2002/acceleration"),
    Item(
        "Fig. 7",
        "forces and difference from DADS, circle at 40 rpm",
        "figure “fig-7”, Pinocchio for DADS",
    ),
    Item("Fig. 8", "the same, constant acceleration", "figure “fig-8”, Pinocchio for DADS"),
    Item("Eq. 34", "link inertia's part", "claim; test_kim_link_inertia; errata R11, R16"),
    Item("Fig. 9", "total force and link inertia, 20 rpm", "figure “fig-9”"),
    Item("Fig. 10", "total force and link inertia, 60 rpm", "figure “fig-10”"),
    Item("Section 4.2", "16.59 s and 8.52 s of computing", "claim: not comparable"),
    Item("Fig. 11", "friction's part, 20 rpm", "figure “fig-11”; test_kim_friction"),
    Item("Appendix", "numbers of the robot", "robot file kim-ryu-2002, test_catalogue; errata R17"),
)
