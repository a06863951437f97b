"""Tables I to IV, Appendix B, and the cost on seven processors: the paper's beside ours."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import gough
from gough.base.arrays import Array
from gough.errors import ImpossibleBodyWarning
from gough.legs.bodies import STANDARD_PARAMETERS
from gough.legs.grouping import revolute
from gough.legs.ups.khalil_frames import geometric_parameters
from gough.model.operation_count import Count, count, paper_robot
from gough.model.seven_processors import Cut, cut
from gough.parameters.essential import essential_parameters
from gough.parameters.grouping import grouped_parameters
from gough.show.reproduction import NumberTable, number

TABLE_II = {
    "ZZ_1R": "Eq. 44", "MX_1": "", "MY_1R": "Eq. 45", "XX_2R": "Eq. 46", "XY_2R": "Eq. 47",
    "XZ_2R": "Eq. 48", "YZ_2R": "Eq. 49", "ZZ_2R": "Eq. 50", "MX_2": "", "MY_2": "",
    "MX_3": "", "MY_3": "", "MZ_3": "",
}  # fmt: skip
"""The paper's thirteen of a leg, in the order of gough's, and the equation of each."""
TABLE_III = ("ZZ_1R", "XX_2R", "ZZ_2R", "MY_2", "MX_3", "MY_3", "MZ_3")
TABLE_IV = (
    ("Khalil & Guegan, essential parameters", (659, 299), (631, 489), 2078),
    ("Khalil & Guegan, base parameters", (659, 299), (715, 609), 2282),
    ("Gosselin 1993", (468, 282), (834, 566), 2150),
    ("Dasgupta & Mruthyunjaya 1998", None, None, 4489),
)
"""Multiplications and additions of kinematics and of dynamics, and the total."""
SEVEN = {"inverse": (300, 226), "direct": (414, 387)}
"""Multiplications and additions on seven processors, Section VII."""
LINKS = {"cross": "1", "cylinder": "2", "rod": "3"}


def table_i(robot: gough.Robot) -> NumberTable:
    """Table I for the robot of Long, Khalil & Martinet 2014."""
    legs: Any = robot.description.legs
    found = geometric_parameters(legs)
    assert found is not None  # this robot's axes are as Table I has them
    rows = [
        [f"{i + 1}", f"{np.degrees(gamma):.3f}", f"{b:.4f}", f"{d:.4f}"]
        for i, (gamma, b, d) in enumerate(found)
    ]
    return NumberTable(
        "Table I: the paper gives the links' parameters in symbols, α = −π/2, π/2, π/2, θ = q₁, "
        "q₂, 0, "
        "r = 0, 0, q₃, which gough's frames have. γ, b and d belong to a robot: here of Long, "
        "Khalil & "
        "Martinet 2014, from its base points and axes; γ₁₁ = b₁₁ = d₁₁ = γ₁₂ = b₁₂ = b₁₆ = 0 as "
        "below it.",
        ("leg", "γ₁ᵢ [°]", "b₁ᵢ [m]", "d₁ᵢ [m]"),
        rows,
    )


def table_ii(general: gough.Robot) -> NumberTable:
    """Table II: how a leg's thirteen base parameters, and the platform's ten, group."""
    found = grouped_parameters(general)
    own = [one for one in found.relations() if one.startswith("leg 2 ") and "rotor" not in one]
    rows = [
        [paper, _papers_words(relation), equation or "by itself"]
        for (paper, equation), relation in zip(TABLE_II.items(), own, strict=True)
    ]
    rows.append(["XX_RP … M_RP", "platform's ten, with Σ M₃ᵢ as masses at P_i", "Eqs. 57 to 66"])
    return NumberTable(
        f"Table II: base parameters. Here {len(own)} of a leg and 10 of the platform: "
        f"{6 * len(own) + 10} of 190 (of 196 with six rotor masses, {found.rank}). Read XZ_RP, "
        "YZ_RP, "
        "MZ_RP for the table's XZ_P, YZ_P, MZ_P.",
        ("paper", "gough: what it stands for", "grouping relation"),
        rows,
    )


def _papers_words(relation: str) -> str:
    """The relation "leg 2 cylinder XX − leg 2 rod ZZ" as "XX_2 − ZZ_3"."""
    words = relation.replace("leg 2 ", "").split()
    found = []
    for word in words:
        if word in LINKS:
            found.append(LINKS[word])
        elif found and found[-1] in LINKS.values():
            found[-1] = f"{word}_{found[-1]}"
        else:
            found.append(word)
    return " ".join(found)


def parameter_counts(data: dict[str, Any]) -> dict[str, int]:
    """Numbers of parameters under each assumption, rotor masses left out."""
    upright = data | {"legs": data["legs"] | {"axis": [[0.0, 0.0, 1.0]] * 6}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleBodyWarning)
        base = grouped_parameters(gough.Robot.from_dict(data))
        others = {
            "first axes along gravity": upright,
            "no gravity": data | {"gravity": [0.0, 0.0, 0.0]},
        }
        found = {"standard": len(base.names) - 6, "base": base.rank - 6}
        for name, one in others.items():
            found[name] = grouped_parameters(gough.Robot.from_dict(one)).rank - 6
    for assumption in ("off-centre", "symmetric", "revolution"):
        found[assumption] = essential_parameters(base, assumption).count - 6
    return found


def table_iii(data: dict[str, Any]) -> NumberTable:
    """Table III and Section VI: numbers of parameters, each with what it assumes."""
    found = parameter_counts(data)
    rows = [
        ["190", f"{found['standard']}", "standard: ten of each of 18 links and of the platform"],
        ["88", f"{found['base']}", "base: general bodies, general geometry, gravity"],
        ["–", f"{found['first axes along gravity']}", "base: first universal axes along gravity"],
        ["–", f"{found['no gravity']}", "base: no gravity"],
        [
            "52",
            f"{found['off-centre']}",
            "essential, as Table III lists them: links 1 and 2 are one body, symmetric in two "
            "planes; "
            "link 3 has no products of inertia, but MX_3 and MY_3",
        ],
        [
            "–",
            f"{found['symmetric']}",
            "essential, as the text says (“links are symmetrical”): MX_3 = MY_3 = 0 too",
        ],
        ["–", f"{found['revolution']}", "essential: cylinder and rod are bodies of revolution"],
    ]
    return NumberTable(
        "Table III and Section VI: numbers of inertial parameters. Essential ones of a leg in the "
        "paper: "
        f"{', '.join(TABLE_III)}.",
        ("paper", "gough", "what is assumed"),
        rows,
    )


def printed_74(alpha: float, d: float, r: float) -> Array:
    """Eq. 74 as printed: what YY, MZ and M of a link add to its antecedent, (10, 3)."""
    cos, sin = np.cos(alpha), np.sin(alpha)
    table = revolute(cos, sin, d, r)
    rows = {name: STANDARD_PARAMETERS.index(name) for name in ("XY", "XZ", "MY")}
    table[rows["XY"]] = [0, d * sin + d * r * sin, 0]
    table[rows["XZ"]] = [0, -d * cos - d * r * cos, 0]
    table[rows["MY"]] = [0, -sin, r * sin]
    return np.asarray(table)


def moved_mass(alpha: float, d: float, r: float) -> Array:
    """What a unit mass at the origin of frame j adds to link i, (10,): parallel axes alone.

    The origin is (d, −r sin α, r cos α) in frame i (Khalil & Kleinfinger, b = γ = 0).
    """
    x, y, z = d, -r * np.sin(alpha), r * np.cos(alpha)
    tensor = [y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y]
    return np.array([*tensor, x, y, z, 1.0])


def appendix_b() -> NumberTable:
    """Appendix B: Eq. 74 as printed and corrected, beside a mass moved by parallel axes."""
    alpha, d, r = 0.7, 0.3, 0.5
    right = revolute(np.cos(alpha), np.sin(alpha), d, r)[:, 2]
    printed, wanted = printed_74(alpha, d, r)[:, 2], moved_mass(alpha, d, r)
    texts = {
        "XY": ("+ d r Sα MZ", "+ d r Sα M"),
        "XZ": ("− d r Cα MZ", "− d r Cα M"),
        "MY": ("+ r Sα M", "− r Sα M"),
    }
    rows = []
    for name, (one, other) in texts.items():
        i = STANDARD_PARAMETERS.index(name)
        cells = (number(value[i], ".4f") for value in (printed, right, wanted))
        rows.append([f"{name}_iR", one, other, *cells])
    same = [name for name in STANDARD_PARAMETERS if name not in texts]
    off = max(abs(printed[i] - wanted[i]) for i in map(STANDARD_PARAMETERS.index, same))
    return NumberTable(
        "Appendix B, Eq. 74: a link of mass M = 1 alone (MZ = YY = 0) with α = 0.7, d = 0.3, r = "
        "0.5, "
        "grouped with its antecedent; right is what moving a point mass by parallel axes gives. "
        "The other "
        f"seven relations agree within {number(max(off, 1e-17))}. On this robot d = r = 0, so "
        "nothing is "
        "felt of it. Eqs. 67 to 73 (Appendix A) and 75 are right as printed: "
        "test_energy_functions_give_the_energy, test_equation_75_is_right_as_printed.",
        ("", "printed", "corrected", "printed value", "corrected value", "right value"),
        rows,
    )


MODELS = {
    "inverse, LU": ("inverse", "lu"),
    "inverse, QR": ("inverse", "qr"),
    "direct, LDLᵀ": ("direct", "ldl"),
}


def operations() -> tuple[dict[int, dict[str, Count]], dict[str, Cut]]:
    """Counts of the paper's robot with 52 and 88 parameters, and cuts of that with 52, by model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleBodyWarning)
        robots = {parameters: paper_robot(parameters) for parameters in (52, 88)}
    counts = {
        parameters: {name: count(robot, *how) for name, how in MODELS.items()}
        for parameters, robot in robots.items()
    }
    cuts = {name: cut(robots[52], *MODELS[name]) for name in ("inverse, LU", "direct, LDLᵀ")}
    return counts, cuts


def table_iv(counts: dict[int, dict[str, Count]]) -> NumberTable:
    """Table IV: operations of the inverse model by stage."""

    def pair(found: Any) -> str:
        """Multiplications and additions; divisions and roots count as multiplications."""
        plus = found["add"] + found["sub"]
        return f"{found.total() - plus} × and {plus} +"

    rows = [
        [
            name,
            *("–" if one is None else f"{one[0]} × and {one[1]} +" for one in both),
            "",
            str(total),
        ]
        for name, *both, total in TABLE_IV
    ]
    for model in MODELS:
        for parameters, named in ((52, "essential"), (88, "base")):
            one = counts[parameters][model]
            stages = (one.moving, one.gathering, one.solving)
            rows.append([f"gough, {model}, {named} parameters", *map(pair, stages), str(one.total)])
    return NumberTable(
        "Table IV: operations for one state. gough's are counted on its traced program, all "
        "numbers of the "
        "robot symbolic; divisions and roots are in the ×. LU is elimination in fixed order, as "
        "the "
        "paper's customised code, which is not accurate everywhere; gough uses QR. The paper's "
        "dynamics "
        "include the solve. Its direct model: 1823 × and 1120 +, 2943 in all.",
        ("method", "kinematics", "dynamics", "solve", "total"),
        rows,
    )


def seven_processors(cuts: dict[str, Cut]) -> NumberTable:
    """Section VII: the cost on seven processors by stage."""
    rows = []
    for name, model in (("inverse, LU", "inverse"), ("direct, LDLᵀ", "direct")):
        one = cuts[name]
        stages = (one.shared, one.slowest, one.gather, one.solve)
        plus = one.path["add"] + one.path["sub"]
        total = one.path.total()
        paper = SEVEN[model]
        rows.append(
            [
                name,
                *(str(stage.total()) for stage in stages),
                f"{total} ({total - plus} × and {plus} +)",
                f"{sum(paper)} ({paper[0]} × and {paper[1]} +)",
                str(one.whole.total()),
            ]
        )
    return NumberTable(
        "Section VII: operations on seven processors, essential parameters. The paper does not say "
        "how it "
        "cuts. Here: shared is what depends on no leg's numbers and legs need; leg is what depends "
        "on "
        "one leg's numbers alone, of the leg with most (six processors; the seventh does the "
        "platform's "
        "own part meanwhile, which is less); gather is what depends on several legs (sums); solve "
        "the 6×6 "
        "system. They follow one another, and their sum is the critical path; passing numbers on "
        "counts "
        "nothing.",
        ("model", "shared", "leg", "gather", "solve", "sum", "paper", "on one processor"),
        rows,
    )


def number_tables(
    robot: gough.Robot,
    data: dict[str, Any],
    counts: dict[int, dict[str, Count]],
    cuts: dict[str, Cut],
) -> list[NumberTable]:
    """All of them."""
    return [
        table_i(robot),
        table_ii(gough.Robot.from_dict(data)),
        table_iii(data),
        table_iv(counts),
        seven_processors(cuts),
        appendix_b(),
    ]
