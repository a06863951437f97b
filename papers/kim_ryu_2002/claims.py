"""The paper's claims beside what came out."""

from __future__ import annotations

import numpy as np

import gough
from gough.base.arrays import Array
from gough.data.paper_motions import kim_ryu_circle
from gough.formulations import newton_euler
from gough.show.reproduction import Claim, number

from .comparison import Accuracy
from .friction import Rubbing
from .hexaslide import SPEEDS, TIME
from .links import LinkInertia, growth_error, link_inertia, seconds


def accuracy_claims(circle: Accuracy, ramp: Accuracy, fast: Accuracy) -> list[Claim]:
    """On Eq. 29 beside an independent program, Figs. 7 and 8."""

    def found(this: Accuracy) -> str:
        return (
            f"{this.program}: largest difference {number(this.error, '.1e')} N of "
            f"{np.abs(this.forces).max():.1f} N"
        )

    worst = max(one.slender for one in (circle, ramp, fast))
    return [
        Claim(
            "Circle at 40 rpm: the derived equations give almost the same forces as DADS (Fig. 7).",
            "almost the same",
            found(circle),
            "agrees",
        ),
        Claim(
            "The same for a motion of constant acceleration, Eq. 33 (Fig. 8).",
            "almost the same",
            found(ramp),
            "agrees",
        ),
        Claim(
            "The small discrepancy may be due to the slender-link model.",
            "may be",
            "against an exact model without inertia about the links' axes it falls to "
            f"{number(worst)} N",
            "agrees",
            "here all of it is",
        ),
        Claim(
            "Good agreement at higher speeds too.",
            "good",
            f"at 120 rpm, {found(fast)}",
            "agrees",
            "the neglected term grows as speed squared",
        ),
    ]


def link_claims(robot: gough.Robot, links: dict[int, LinkInertia]) -> list[Claim]:
    """On link inertia by speed in rpm, Figs. 9 and 10."""

    def share(rpm: int) -> str:
        this = links[rpm]
        return (
            f"{rpm} rpm: {np.abs(this.links).max():.2f} N of {np.abs(this.total).max():.1f} N, "
            f"{this.peak_share:.1%} of the peak, {this.rms_share:.1%} rms"
        )

    upright = [link_inertia(robot, 60, plane=plane) for plane in ((0, 2), (1, 2))]
    wrong = [np.abs(links[rpm].printed - links[rpm].total).max() for rpm in (20, 60)]
    motion = kim_ryu_circle(60)(TIME)
    same = newton_euler.link_inertia_forces(robot, motion) - links[60].links
    long, short = (seconds(robot, with_links) for with_links in (True, False))
    return [
        Claim(
            "Link inertia may be insignificant in slow operation (Fig. 9).",
            "20 rpm: may be insignificant",
            share(20),
            "agrees",
        ),
        Claim(
            "The higher the speed, the more significant (Figs. 9, 10).",
            "more significant",
            f"{share(40)}; force over speed squared is the same at 20, 40 and 60 rpm within "
            f"{number(growth_error(robot))}",
            "agrees",
            "Eq. 34 has no terms but those with speed squared",
        ),
        Claim(
            "Link inertia must be included in higher-speed operation (Fig. 10).",
            "60 rpm: must be included",
            share(60),
            "agrees",
            "peak share on circles in the (x, z) and (y, z) planes: "
            + " and ".join(f"{one.peak_share:.0%}" for one in upright),
        ),
        Claim(
            "Eq. 34 is the link inertia's part of Eq. 29.",
            "½ m λ̈ n×a, and ω_l for ω̇_l in its moment row",
            f"corrected, it is, within {number(np.abs(same).max())} N; as printed the forces are "
            "off by "
            f"{wrong[0]:.2f} N at 20 rpm and {wrong[1]:.2f} N at 60 rpm",
            "paper wrong",
            "½ m λ̈ n×n×a, and ω̇_l in both rows",
        ),
        Claim(
            "Calculation time with and without link inertia, 3 s in steps of 0.005 s",
            "16.59 s and 8.52 s, ratio 1.9 (MATLAB, Pentium III 650)",
            f"{1e3 * long:.1f} ms and {1e3 * short:.1f} ms, ratio {long / short:.1f}",
            "not checkable",
            "not comparable: times belong to program and computer, and so does their ratio",
        ),
    ]


def friction_claims(
    total: Array,
    friction: newton_euler.FrictionForces,
    more: newton_euler.FrictionForces,
    explicit: dict[int, Rubbing],
) -> list[Claim]:
    """On joint friction, Fig. 11: five times as much of it, and one explicit pass by speed in rpm."""
    largest = np.abs(total).max()
    slider, universal, spherical = (
        np.abs(one).max() for one in (friction.slider, friction.universal, friction.spherical)
    )
    losses = ", ".join(f"{explicit[rpm].couples:.2f}" for rpm in SPEEDS)
    return [
        Claim(
            "Universal and spherical friction have small influence on the total force (Fig. 11).",
            "small",
            f"at 20 rpm: universal {universal:.2f} N ({universal / largest:.1%}), spherical "
            f"{spherical:.2f} N ({spherical / largest:.1%}), sliders {slider:.2f} N "
            f"({slider / largest:.1%}) of {largest:.1f} N",
            "agrees",
            "but spherical friction asks for more than twice the link inertia's force at this "
            "speed",
        ),
        Claim(
            "That is caused by relatively small friction coefficients.",
            "small coefficients",
            "with five times the Coulomb coefficients of both joints: universal "
            f"{np.abs(more.universal).max():.1f} N, spherical {np.abs(more.spherical).max():.1f} N",
            "agrees",
            "more than five times as much: friction raises the loads it depends on",
        ),
        Claim(
            "Friction couples (Eq. 31) are proportional to ‖F_A‖, ‖F_B‖ and enter by Eq. 32.",
            "no word on F_A, F_B depending on them",
            f"one pass with frictionless F_A, F_B is off by {losses} N at 20, 40, 60 rpm and "
            f"{explicit[120].couples:.2f} N at 120 rpm; with frictionless N too by "
            f"{explicit[20].everything:.2f} N at 20 rpm",
            "paper incomplete",
            "friction is implicit: it takes iterating, of which the paper does not speak",
        ),
        Claim(
            "Slider friction is proportional to (uᵀ − vᵀ) N (Eq. 30).",
            "(uᵀ − vᵀ) N",
            f"off by up to {explicit[20].printed:.1f} N at 20 rpm; at 120 rpm it pushes the slider "
            f"along in {explicit[120].driving:.0%} of all states",
            "paper wrong",
            "it has no definite sign: |u·N| + |v·N|",
        ),
        Claim(
            "A slender link's rotation about its axis is negligible (Section 2.3, before Eq. 18).",
            "may be negligible",
            f"without friction it changes the forces by {number(explicit[20].inertia)} N at 20 "
            "rpm; "
            f"with friction by {explicit[20].spin:.3f} N of {explicit[20].largest:.1f} N "
            f"({explicit[20].spin / explicit[20].largest:.2%}) at 20 rpm and "
            f"{explicit[60].spin:.3f} N "
            f"of {explicit[60].largest:.1f} N at 60 rpm",
            "agrees",
            "in practice: nearly all of the difference is friction, since the joints rub about the "
            "link's axis too",
        ),
        Claim(
            "The universal joint's couple M_A has only the direction of the link n (Section 3.2).",
            "M_A along n",
            "with the links' spin, but M_A along n, forces are off by "
            f"{explicit[20].couple:.3f} N at 20 rpm and {explicit[60].couple:.3f} N at 60 rpm",
            "paper wrong",
            "in principle: M_A is along α×β, which is n only where the link is perpendicular to α. "
            "It "
            "matters only where friction turns the link about its axis",
        ),
    ]


NOTES = (
    "The circle's plane and centre are not given: horizontal, about the home point C = (0, 0, "
    "0.80) m, "
    "R = 1. With it go the home pose, the joint axes α = unit(z × a) and the guide's normals u = "
    "α, "
    "v = a × α. All forces depend on these.",
    "Figures 7 to 10 have no friction, as the paper says of Figs. 7 and 8. The paper's curves "
    "carry no "
    "numbers in the text; claims are its statements.",
    "z₀ points down (g = +9.81 z₀): the platform hangs. The printed GC′ is read as CG′ = +0.007 z.",
    "Euler angles: R = R_Y(θ) R_X(Ψ) R_Z(φ); Eq. 1's subscripts are exchanged, its matrices right.",
    "Also corrected: Eq. 3 (lost dots), Eq. 10 (k̈ in the numerator, last term −2 dᵀd̈), Eq. 13 "
    "(third "
    "column n), Eq. 19 (ṅ×ṅ = 0), Eq. 23 (−f_u/l), Eq. 24 (1 + n×n× = n nᵀ), Eq. 25 (ω̇), Eqs. 27 "
    "and 34 "
    "(n×n×a), Eqs. 28 and 29 (l/4 and n̈), Eq. 30 (ball screw 2π τ_b sign λ̇/lead).",
)
