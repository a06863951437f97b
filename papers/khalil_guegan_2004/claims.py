"""The paper's claims beside what came out."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.show.reproduction import Claim, number, rms

from .robots import STATES
from .shares import Share


def form_claims(
    long: dict[str, float],
    general: dict[str, float],
    fall: tuple[float, float],
    grouped: list[float],
) -> list[Claim]:
    """On the equations: found with Long's robot and the general one, fall at home, forces regrouped."""

    def both(name: str) -> str:
        return number(max(long[name], general[name]))

    def printed(name: str) -> str:
        return f"{long[f'printed {name}']:.0%} and {general[f'printed {name}']:.0%}"

    return [
        Claim(
            "Eqs. 31 and 32 are the inverse dynamic model in closed form.",
            "Γ = J_pᵀ (F_p + F_leg)",
            f"equal to gough's forces within {both('forces')} on Long's robot and on a general one",
            "agrees",
            f"{STATES} random states each; legs by a recursion in the paper's link frames",
        ),
        Claim(
            "A_robot of Eq. 36 is the inertia of platform and legs.",
            "lower blocks with L̂ᵀ and M̂Sᵀ",
            f"with L̂ and M̂S it equals gough's mass matrix within {both('inertia')}; as printed it "
            f"is off by {printed('inertia')} of the largest entry",
            "paper wrong",
            "drop both transposes; Eq. 29 has M̂S right",
        ),
        Claim(
            "A_robot is symmetric and positive definite.",
            "symmetric, positive definite",
            f"corrected: symmetric within {both('asymmetry')}, least eigenvalues "
            f"{long['least eigenvalue']:.1f} and {general['least eigenvalue']:.1f}; as printed: "
            f"asymmetry {printed('asymmetry')}, least eigenvalues of the symmetric part "
            f"{number(long['printed least eigenvalue'], '.1f')} and "
            f"{number(general['printed least eigenvalue'], '.1f')}",
            "agrees",
            "once corrected; even with the link tensors of Long's Table 3, which no body can have",
        ),
        Claim(
            "h_robot of Eq. 37 holds the Coriolis, centrifugal and gravity effects.",
            "gravity moment M̂Sᵀ g",
            f"with M̂S g it equals gough's bias within {both('bias')}; as printed it is off by "
            f"{general['printed bias']:.0%} on the general robot",
            "paper wrong",
            "Eq. 24 has M̂S g right; Long's platform has MS = 0 and does not show it",
        ),
        Claim(
            "Eqs. 34 and 35 give the acceleration.",
            "A V̇ = −J_p⁻ᵀ Γ + h",
            f"Long's robot, released at home, would rise with {fall[1]:.2f} m/s²; with the signs "
            f"turned it falls: {number(fall[0], '.2f')} m/s²",
            "paper wrong",
            "A V̇ = J_p⁻ᵀ Γ − h, and H_x = +A_x …",
        ),
        Claim(
            "A leg is equivalent to a 3×3 mass matrix A_x at P_i (Fig. 5, Eq. 38).",
            "equivalent spatial inertia",
            f"½ Σ v_iᵀ A_xi v_i equals the links' and rotors' kinetic energy within {both('energy')}",
            "agrees",
            "energy summed link by link, Eq. 68",
        ),
        Claim(
            "A leg acts on the platform as the force −H_xi at P_i (Fig. 4).",
            "equivalent external force",
            f"massless legs and these forces give the same Γ within {both('equivalent force')}",
            "agrees",
        ),
        Claim(
            "Eq. 35 inverts Eq. 31.",
            "direct and inverse model",
            f"direct(inverse(V̇)) = V̇ within {both('identity')}",
            "agrees",
        ),
        Claim(
            "The rods' masses M_3i act as if suspended at the P_i (Eqs. 57 to 66).",
            "sums for YY and MX start at i = 3",
            f"summed over all legs, forces change by {number(grouped[0])}; as printed by "
            f"{grouped[1]:.0%}",
            "paper wrong",
            "with x_p along P₁P₂ it is L₂,₂ that is zero, not L₁,₂: start at i = 2",
        ),
    ]


def number_claims(
    share: Share, level: tuple[Array, Array], turned: tuple[Array, Array]
) -> list[Claim]:
    """On what the legs ask for and what a solve loses, level and turned."""
    largest = np.abs(share.total).max()
    infinite = np.isinf(level[0])
    return [
        Claim(
            "The models take all dynamic parameters of the links into account.",
            "all links",
            f"rest to rest: inertia of the legs up to {np.abs(share.inertia).max():.0f} N of "
            f"{largest:.0f} N ({rms(share.inertia) / rms(share.total):.0%} rms), with their weight "
            f"up to {np.abs(share.legs).max():.0f} N ({rms(share.legs) / rms(share.total):.0%} rms)",
            "agrees",
            "on this robot the legs are no small correction",
        ),
        Claim(
            "J_p should be regular in the reachable space; the model solves with it.",
            "does not say how",
            f"level platform, {len(level[0])} positions within 0.2 m of home: elimination without "
            f"pivoting loses {np.median(level[0]):.0%} in the median and divides by zero in "
            f"{infinite.mean():.0%}; turned by 0.1 rad it loses at most {number(turned[0].max())}; "
            f"gough's orthogonal solve at most {number(max(level[1].max(), turned[1].max()))}",
            "not checkable",
            "fixed-order code needs pivoting: J_p is regular in all these poses, but y of B₁ to B₄ is "
            "a linear function of y of P₁ to P₄, so the leading 4×4 block is singular",
        ),
    ]


NOTES = (
    "The paper has no numerical example. Robots here: that of Long, Khalil & Martinet 2014 with a rigid "
    "platform and a random general one, whose platform frame is placed as in the paper's Fig. 2.",
    "Arms L_i run from the platform frame's origin, which need not be P₁; the equations are the same.",
    "The rotor's mass along q₃ is added to the third joint's inertia.",
    "J̇ lost its dot in Eqs. 34 and 37 and in the notes below Eq. 37; ω×(ω×MS) takes the vector MS; "
    "the moment of the centrifugal force is L̂ A_x (…), without transpose.",
    "“As printed” is as in a scan of the paper, which may have lost or added a transpose or a dot.",
)
