"""Kim & Ryu 2002: inverse dynamics of the HexaSlide (PUS legs), link inertia and joint friction.

Every body alone (Newton–Euler), links slender (n·ω_l = 0). With a the rail's direction, n the link's,
λ the slider's coordinate, l the link's length, G the platform's centre of mass and f_u, f_p the
friction couples on a link, corrected:

    λ = a·d − √k,  k = (a·d)² − d·d + l²,  λ̇ = a·ḋ − k̇/(2√k),  λ̈ = a·d̈ − (2 k̈ k − k̇²)/(4 k √k)    (8-10)
    ω_l = n×ṅ,  ω̇_l = n×n̈                                                                    (19)
    T_1 = [n_i; GB_i×n_i],  T = [m g − m G̈ + Σ t_i; −I ω̇ − ω×I ω + Σ GB_i×t_i]                (26)
    t = n×((I_l + m_l l²/4) ω̇_l + ω_l×I_l ω_l)/l + ½ m_l n×n×(λ̈ a − g)                    (23, 27)
    τ = m_s (λ̈ − a·g) + a·{n×(I_l ω̇_l + ω_l×I_l ω_l)/l + ½ m_l (1 + n nᵀ)(l n̈/2 + λ̈ a − g)
        − n γ T_1⁻¹ T}                                                                       (29)

Joint friction, iterated until it agrees with the loads F_A, F_B, N it depends on:

    f_s = −c_s λ̇ − μ (|u·N| + |v·N|) sign λ̇                                              (30)
    f_u = −c_u ω_l − k_u ‖F_A‖ ω_l/‖ω_l‖,  f_p the same with ω_l − ω and F_B               (31)

The paper's reference, the program DADS, is replaced by Pinocchio (legs opened at the spherical
joints and closed by projection); its results are stored in `papers/peers`.
"""

from __future__ import annotations

import gough
from gough.data.paper_motions import kim_ryu_circle, paper_motion
from gough.formulations import newton_euler
from gough.show import plots
from gough.show.pictures.curves import leg_panels
from gough.show.reproduction import Figure, Progress, Reproduction

from .claims import NOTES, accuracy_claims, friction_claims, link_claims
from .comparison import accuracy, routes
from .figures import accuracy_figure, link_figure, speed_figure
from .friction import explicit_friction
from .hexaslide import NAME, SPEEDS, TIME
from .items import ITEMS
from .links import link_inertia


def reproduce(progress: Progress) -> Reproduction:
    """Everything: claims, figures, notes."""
    robot = gough.load(NAME)
    progress("accuracy against an independent program")
    circle = accuracy(robot, kim_ryu_circle(40), f"{NAME}/circle-40rpm")
    ramp = accuracy(robot, paper_motion(f"{NAME}/acceleration"), f"{NAME}/acceleration")
    fast = accuracy(robot, kim_ryu_circle(120), f"{NAME}/circle-120rpm")
    table = routes().table("The same forces by four routes, no friction.")
    progress("link inertia")
    links = {rpm: link_inertia(robot, rpm) for rpm in SPEEDS}
    progress("friction")
    motion = kim_ryu_circle(20)(TIME)
    friction = newton_euler.friction_forces(robot, motion)
    sticky = robot.edited(
        {f"legs.friction.{joint}_coulomb": 5 * 0.006 for joint in ("universal", "spherical")}
    )
    more = newton_euler.friction_forces(sticky, motion)
    explicit = {rpm: explicit_friction(robot, rpm) for rpm in (*SPEEDS, 120)}
    progress("figures")
    figures = [
        Figure(
            "robot",
            "The HexaSlide at the start of the circle, assumed horizontal about the home point. z₀ "
            "points down.",
            plots.draw(robot, kim_ryu_circle(40).sample(101)),
        ),
        accuracy_figure(
            "fig-7",
            circle,
            "Fig. 7. Circle of 100 mm at 40 rpm, no friction: (a) actuator forces, (b) difference "
            "of "
            f"the two programs. {circle.program} stands in for DADS.",
        ),
        accuracy_figure(
            "fig-8",
            ramp,
            "Fig. 8. Accelerations ±(0.1, 0.1, 0.1 m/s², 0.05, 0.05, 0.1 rad/s²) of Eq. 33, from "
            "home, no friction. The acceleration changes sign at 1.5 s.",
        ),
        *(link_figure(rpm, links[rpm]) for rpm in SPEEDS),
        speed_figure(robot),
        Figure(
            "fig-11",
            "Fig. 11. Additional actuator forces due to friction at (a) sliders, (b) universal and "
            "(c) spherical joints; circle of 100 mm at 20 rpm. Coulomb friction jumps where a "
            "slider "
            "turns back.",
            leg_panels(
                TIME,
                [
                    ("(a) sliders", friction.slider, "force [N]"),
                    ("(b) universal joints", friction.universal, "force [N]"),
                    ("(c) spherical joints", friction.spherical, "force [N]"),
                ],
            ),
        ),
    ]
    return Reproduction(
        NAME,
        "Kim & Ryu 2002: inverse dynamics of the HexaSlide",
        robot.file.source,
        [
            *accuracy_claims(circle, ramp, fast),
            *link_claims(robot, links),
            *friction_claims(links[20].total, friction, more, explicit),
        ],
        figures,
        NOTES,
        [table],
        items=ITEMS,
    )
