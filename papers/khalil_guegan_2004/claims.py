"""The paper's claims beside what came out."""

from __future__ import annotations

import numpy as np

from gough.base.arrays import Array
from gough.model.operation_count import Count
from gough.model.seven_processors import Cut
from gough.show.reproduction import Claim, Study, number, rms

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
            f"with L̂ and M̂S it equals gough's mass matrix within {both('inertia')}; as printed "
            "it "
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
            "once corrected; even with the grouped link tensors of Long's Table 3",
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
            "½ Σ v_iᵀ A_xi v_i equals the links' and rotors' kinetic energy within "
            f"{both('energy')}",
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


def count_claims(
    parameters: dict[str, int], counts: dict[int, dict[str, Count]], cuts: dict[str, Cut]
) -> list[Claim]:
    """On numbers of parameters and of operations."""
    inverse, direct = cuts["inverse, LU"].path, cuts["direct, LDLᵀ"].path
    fewer = {name: counts[52][name].total for name in ("inverse, LU", "direct, LDLᵀ")}
    return [
        Claim(
            "190 standard parameters group into 88 base parameters (Table II).",
            "88 of 190",
            f"{parameters['base']} of {parameters['standard']}; "
            f"{parameters['first axes along gravity']} if "
            f"the first universal axes are along gravity, {parameters['no gravity']} without "
            "gravity",
            "agrees",
            "closed form here; the regressor's rank says the same: "
            "test_a_general_hexapod_has_94_of_196_and_88_of_190_without_rotors",
        ),
        Claim(
            "52 essential parameters if links are symmetrical and links 1 and 2 are one (Table "
            "III).",
            "52",
            f"{parameters['off-centre']} with MX₃ and MY₃, which Table III keeps; symmetric in two "
            "planes, "
            f"as the text says: {parameters['symmetric']}; bodies of revolution: "
            f"{parameters['revolution']}",
            "paper wrong",
            "a symmetric rod has no MX₃ and MY₃: table and text assume different things",
        ),
        Claim(
            "Inverse and direct model take 2078 and 2943 operations (Section VII, Table IV).",
            "2078, 2943",
            f"{fewer['inverse, LU']} and {fewer['direct, LDLᵀ']} on gough's traced program, "
            "essential "
            "parameters, elimination in fixed order",
            "not checkable",
            "a count of code that is in a laboratory report; gough's own is beside it. Section "
            "VII's 788 + "
            "and 1290 × are Table IV's row of essential parameters, not of base ones as it says",
        ),
        Claim(
            "On seven processors the inverse model costs 226 + and 300 ×, the direct one 387 + and "
            "414 ×.",
            "526, 801",
            f"{inverse.total()} and {direct.total()} operations on the critical path of gough's "
            "program",
            "not checkable",
            "how the paper cuts is not said; how we do is below the table",
        ),
    ]


def number_claims(share: Share) -> list[Claim]:
    """On what the legs ask for."""
    largest = np.abs(share.total).max()
    return [
        Claim(
            "The models take all dynamic parameters of the links into account.",
            "all links",
            f"rest to rest: inertia of the legs up to {np.abs(share.inertia).max():.0f} N of "
            f"{largest:.0f} N ({rms(share.inertia) / rms(share.total):.0%} rms), with their weight "
            f"up to {np.abs(share.legs).max():.0f} N ({rms(share.legs) / rms(share.total):.0%} "
            "rms)",
            "agrees",
            "on this robot the legs are no small correction",
        ),
    ]


def studies(level: tuple[Array, Array], turned: tuple[Array, Array]) -> list[Study]:
    """What the paper leaves open: what a solve loses, level and turned."""
    infinite = np.isinf(level[0])
    return [
        Study(
            "How is J_p⁻ᵀ Γ = F solved?",
            f"On a level platform, {len(level[0])} positions within 0.2 m of home, elimination "
            "without "
            f"pivoting loses {np.median(level[0]):.0%} in the median and divides by zero in "
            f"{infinite.mean():.0%}; turned by 0.1 rad it loses at most {number(turned[0].max())}. "
            "gough's "
            f"orthogonal solve loses at most {number(max(level[1].max(), turned[1].max()))}. "
            "Fixed-order "
            "code needs pivoting: J_p is regular in all these poses, but y of B₁ to B₄ is a linear "
            "function of y of P₁ to P₄, so the leading 4×4 block is singular.",
        ),
    ]


NOTES = (
    "The paper has no numerical example. Robots here: that of Long, Khalil & Martinet 2014 with a "
    "rigid "
    "platform and a random general one, whose platform frame is placed as in the paper's Fig. 2.",
    "Arms L_i run from the platform frame's origin, which need not be P₁; the equations are the "
    "same.",
    "The rotor's mass along q₃ is added to the third joint's inertia.",
    "J̇ lost its dot in Eqs. 34 and 37 and in the notes below Eq. 37; ω×(ω×MS) takes the vector "
    "MS; "
    "the moment of the centrifugal force is L̂ A_x (…), without transpose.",
    "“As printed” is as in a scan of the paper, which may have lost or added a transpose or a dot.",
)
