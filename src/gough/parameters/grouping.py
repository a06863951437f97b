"""Base parameters in closed form: which standard parameters are felt together, and why.

Khalil & Guegan 2004, Section VI and Appendix B, corrected; the same reasoning for PUS legs.

UPS, an open leg. Cross, cylinder, rod are links 1, 2, 3. Rod and cylinder turn together, so the rod's
tensor is grouped with the cylinder's (rule 2). The cylinder turns on the cross about z2, so its YY, MZ
and M are grouped with its XX and with the cross (rule 1). The cross turns about a fixed axis, so of it
only ZZ, MX, MY are felt (rule 3). 30 → 14 parameters. Closed: the rod's frame sits at the tip P, which
is a point of the platform too, so its mass is felt as a mass on the platform there. 13 a leg, 10
platform: 88, and 94 with rotor masses.

PUS, an open leg. All frames sit at the universal joint A, which moves along the rail with q. The link
turns on the cross as the cylinder does on its cross: the link's y axis is the joint's, so in the axes
(x, −z, y) it is rule 1's link, and its ZZ, MY, M are grouped with its XX and with the cross. The cross
turns about an axis of fixed direction while A moves. So of its tensor only ZZ is felt. Its MZ lies on
the axis: it is not swung, and its height over A never changes: no effect. MX and MY are felt; M moves as
A does and is grouped with the slider's. The slider does not turn: M alone is felt. 30 → 11 parameters.
Closed: a mass m at the tip, l along the link, adds M = m, MZ = l m, XX = YY = l² m to the link, and is
felt as a mass on the platform at P: one relation a leg. As for a connecting rod it divides the link
between its ends: m = MZ/l goes to the platform, −MZ/l to the slider, −l MZ to XX and YY. 10 a leg,
10 platform: 70, and 76 with rotor masses.

A rotor is felt as ½ I q̇², without weight: apart from UPS rods, which turn, and from PUS sliders, unless
their rail is level; then both are one.

On a platform that bends a tip moves with the modes as well: a mass m there, tip shapes Φ_k, adds m Φ_k,
m Φ_k Pᵀ and m Φ_k Φ_jᵀ to the mass integrals, which are known and no parameters. It is felt by itself,
and a leg has its 14 (PUS: 11) of the open leg; but tips whose sets of these numbers depend on each
other (tips that coincide or do not move, or a mode or two only) share what the sets do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.legs.bodies import STANDARD_PARAMETERS
from gough.legs.pus.equations import PUS
from gough.legs.ups.equations import UPS
from gough.model.model import Model
from gough.parameters.base import NEGLIGIBLE, BaseParameters, first_independent, relation
from gough.parameters.regressor import (
    parameter_names,
    refuse_load_friction,
    standard_parameters,
)
from gough.parameters.special import Special, special_cases, special_directions
from gough.parameters.states import largest_displacements

BODIES = {"UPS": UPS.BODIES, "PUS": PUS.BODIES}
PLACE = {key: i for i, key in enumerate(STANDARD_PARAMETERS)}
POINT_MASS = ("(y² + z²)", "−x y", "−x z", "(x² + z²)", "−y z", "(x² + y²)", "x", "y", "z", "")
"""Ten parameters of a unit mass at (x, y, z), in symbols."""
TIP_MASS = {"UPS": "rod M", "PUS": "link MZ/l"}
"""What of a leg is felt as a mass on the platform at P."""


def revolute(cos: float, sin: float, d: float, r: float) -> Array:
    """What YY, MZ and M of a link on a revolute joint add to its antecedent's ten parameters, (10, 3).

    Khalil & Guegan 2004, Eq. 74, corrected: d and r as in the Khalil–Kleinfinger notation, cos and sin
    of α, b = γ = 0. With it XX_jR = XX_j − YY_j. Printed wrongly: in XY and XZ the terms in d r belong
    to M_j, not MZ_j, and in MY the term in r is −r Sα M_j.
    """
    cc, ss, cs = cos * cos, sin * sin, cos * sin
    return np.array(
        [
            [1.0, 2 * r, r * r],
            [0.0, d * sin, d * r * sin],
            [0.0, -d * cos, -d * r * cos],
            [cc, 2 * r * cc, d * d + r * r * cc],
            [cs, 2 * r * cs, r * r * cs],
            [ss, 2 * r * ss, d * d + r * r * ss],
            [0.0, 0.0, d],
            [0.0, -sin, -r * sin],
            [0.0, cos, r * cos],
            [0.0, 0.0, 1.0],
        ]
    )


def prismatic(rotation: Array) -> Array:
    """What the tensor of a link on a prismatic joint adds to its antecedent's, (6, 6).

    R I Rᵀ, both turning together: Khalil & Guegan 2004, Eq. 43 (R acts on ʲI_j), which is Eq. 75.
    """
    rows, columns = np.triu_indices(3)
    result = np.zeros((6, 6))
    for k in range(6):
        unit = np.zeros((3, 3))
        unit[rows[k], columns[k]] = unit[columns[k], rows[k]] = 1.0
        result[:, k] = (rotation @ unit @ rotation.T)[rows, columns]
    return result


def point_mass(point: Array) -> Array:
    """The ten parameters (10,) of a unit mass at a point: Khalil & Guegan 2004, Eq. 56."""
    x, y, z = point
    tensor = [y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y]
    return np.array([*tensor, x, y, z, 1.0])


class LegGrouping(NamedTuple):
    """What is felt of a leg: a row for each parameter, 0 where it is not or not by itself."""

    names: tuple[str, ...]
    """"rod XX", …, "rotor_mass"."""
    rows: Array
    """(31, 31): combinations of the leg's standard parameters."""

    def place(self, name: str) -> int:
        """Row and column of a parameter."""
        return self.names.index(name)

    def row(self, name: str) -> Array:
        """One row; changes to it stay."""
        return np.asarray(self.rows[self.place(name)])

    def link(self, body: str) -> Array:
        """The ten rows of a body; changes to them stay."""
        first = self.place(f"{body} XX")
        return self.rows[first : first + 10]

    @property
    def felt(self) -> tuple[str, ...]:
        """Names of rows that are not 0."""
        return tuple(name for name, row in zip(self.names, self.rows, strict=True) if np.any(row))


ACROSS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""²R₃: frame 3's axes in frame 2 (α = π/2, θ = 0), and rule 1's axes in the PUS link's."""


def open_leg(kind: str) -> LegGrouping:
    """A leg opened at its spherical joint, general in shape and against gravity.

    UPS: Eqs. 44–50. 14 parameters of 30 (PUS: 11), and the rotor mass.
    """
    names = [f"{body} {key}" for body in BODIES[kind] for key in STANDARD_PARAMETERS]
    leg = LegGrouping((*names, "rotor_mass"), np.eye(31))
    cross = leg.link("cross")
    if kind == "UPS":
        cylinder, rod = leg.link("cylinder"), leg.link("rod")
        cylinder[:6] += prismatic(ACROSS) @ rod[:6]
        rod[:6] = 0.0
        _hang(cylinder, cross, ("XX", "YY", "MZ"))
    else:
        slider, link = leg.link("slider"), leg.link("link")
        # in the axes (x, −z, y): YY is the link's ZZ, MZ its MY
        _hang(link, cross, ("XX", "ZZ", "MY"))
        slider[PLACE["M"]] += cross[PLACE["M"]]
        slider[: PLACE["M"]] = 0.0
    for key in ("XX", "XY", "XZ", "YY", "YZ", "MZ", "M"):  # rule 3
        cross[PLACE[key]] = 0.0
    return leg


def _hang(link: Array, cross: Array, keys: tuple[str, str, str]) -> None:
    """Rule 1 for a link whose joint crosses the antecedent's at right angles (α = π/2, d = r = 0)."""
    xx, yy, mz = (PLACE[key] for key in keys)
    grouped = [yy, mz, PLACE["M"]]
    cross += revolute(0.0, 1.0, 0.0, 0.0) @ link[grouped]
    link[xx] -= link[yy]
    link[grouped] = 0.0


def tip_mass(kind: str, names: Sequence[str], length: float) -> Array:
    """The standard parameters (31,) of a leg that has nothing but a unit mass at its tip."""
    body = "rod" if kind == "UPS" else "link"
    ten = point_mass(np.array([0.0, 0.0, length if kind == "PUS" else 0.0]))
    own = dict(zip([f"{body} {key}" for key in STANDARD_PARAMETERS], ten, strict=True))
    return np.array([own.get(name, 0.0) for name in names])


class TipMasses(NamedTuple):
    """How masses at the tips are felt."""

    kept: Array
    """(legs,) booleans: those felt by themselves."""
    shares: Array
    """B (legs, legs): a mass at tip d is felt as B_bd at each kept tip b, and the rest as one on the
    undeformed platform."""

    def on_platform(self, points: Array) -> Array:
        """Ten parameters of the undeformed platform (10, legs) that a unit mass at each tip adds."""
        masses = np.stack([point_mass(point) for point in points], axis=1)
        return np.asarray(np.where(self.kept, 0.0, masses - masses @ self.shares))


def tip_masses(robot: Model) -> TipMasses:
    """Which tip masses are felt by themselves: none on a rigid platform.

    The columns Φ_k, Φ_k Pᵀ, Φ_k Φ_jᵀ of each tip, the first that are independent in the legs' order.
    """
    count, body = robot.leg_count, robot.description.modal
    shares = np.zeros((count, count))
    if body is None or not robot.modes:
        return TipMasses(np.zeros(count, dtype=bool), shares)
    shapes = body.tip_shapes / largest_displacements(robot)  # all in one unit
    arms = body.tip_positions / robot.length_scale
    columns = np.concatenate(
        [
            shapes.reshape(count, -1),
            np.einsum("lak,lb->lkab", shapes, arms).reshape(count, -1),
            np.einsum("lak,lbj->lkjab", shapes, shapes).reshape(count, -1),
        ],
        axis=1,
    ).T
    sizes = np.linalg.norm(columns, axis=0)
    moving = [i for i in range(count) if sizes[i] > NEGLIGIBLE * max(1.0, sizes.max())]
    unit = columns / np.where(sizes > 0, sizes, 1.0)
    kept = first_independent(unit, moving, NEGLIGIBLE)
    shares[kept] = np.linalg.lstsq(columns[:, kept], columns, rcond=None)[0]
    shares[np.abs(shares) < NEGLIGIBLE] = 0.0
    shares[:, kept] = 0.0
    return TipMasses(np.isin(np.arange(count), kept), shares)


def closed_leg(
    kind: str, special: Special, leg: int, length: float, keeps_tip: bool = False
) -> tuple[LegGrouping, Array]:
    """A leg of the closed robot, and the row of masses at its tip, which the platform takes over.

    Or not: a leg that keeps its tip mass has that row as a parameter of its own.
    """
    open_ = open_leg(kind)
    upright = special.axis_upright[leg]
    if kind == "UPS":
        tip = open_.row("rod M").copy()
        if not keeps_tip:
            open_.row("rod M")[:] = 0.0
        silent = ["cross MX", "cross MY"] if upright else []
        if special.weightless[leg]:
            silent += ["cylinder MX", "cylinder MY"]
    else:
        tip = open_.row("link MZ") / length
        if not keeps_tip:
            open_.rows[:] -= np.outer(open_.rows @ tip_mass(kind, open_.names, length), tip)
            open_.row("link MZ")[:] = 0.0  # but for rounding it is
        still = upright and special.axis_along_rail[leg]
        silent = ["cross MX", "cross MY"] if still else []
        if special.rail_level[leg]:
            open_.row("rotor_mass")[:] += open_.row("slider M")
            silent.append("slider M")
    for name in silent:
        open_.row(name)[:] = 0.0
    return open_, tip


def grouped_parameters(robot: Model, friction: bool = False) -> BaseParameters:
    """The base parameters of a robot in closed form: Eqs. 44–50 and 57–66, any platform frame.

    Every sum of Eqs. 57–66 runs over all legs: none of the P_i need be on an axis. With the frame of the
    paper (x_p along P1P2) it is L_{2,2} that vanishes, not L_{1,2}: the sums for YY and MX as printed,
    Eqs. 60 and 63, leave leg 2 out. Where the platform bends, `tip_masses` says what is felt of them.
    """
    if friction:
        refuse_load_friction(robot)
    count, names = robot.leg_count, parameter_names(robot, friction)
    special = special_directions(robot)
    lengths = robot.mechanism.legs.length[:, 0] if robot.kind == "PUS" else np.zeros(count)
    square = np.zeros((len(names), len(names)))
    inertial = 31 * count
    platform = slice(inertial, inertial + 10)
    square[platform, platform] = np.eye(10)
    tips = tip_masses(robot)
    on_platform = tips.on_platform(robot.mechanism.points[..., 0].T)
    legs = [closed_leg(robot.kind, special, i, lengths[i], tips.kept[i]) for i in range(count)]
    own = [[*range(30 * i, 30 * (i + 1)), 30 * count + i] for i in range(count)]
    for i, (leg, tip) in enumerate(legs):
        square[np.ix_(own[i], own[i])] = leg.rows
        square[platform, own[i]] = np.outer(on_platform[:, i], tip)
        for other in np.flatnonzero(tips.shares[:, i]):
            rows = legs[other][0].rows
            felt = rows @ tip_mass(robot.kind, leg.names, lengths[other])
            square[np.ix_(own[other], own[i])] = tips.shares[other, i] * np.outer(felt, tip)
    alone = np.arange(inertial + 10, len(names))  # friction and modes
    square[alone, alone] = 1.0
    if friction and robot.kind == "UPS":  # both are constant forces against q̇
        kinds = UPS.LINEAR_FRICTION
        rubbing = alone[: count * len(kinds)].reshape(count, len(kinds))
        drag = rubbing[:, kinds.index("screw_drag")]
        coulomb = rubbing[:, kinds.index("slider_coulomb")]
        square[coulomb, drag], square[drag, drag] = 1.0, 0.0
    independent = np.flatnonzero(square.any(axis=1))
    return BaseParameters(
        names=names,
        independent=independent,
        grouping=square[independent],
        standard=standard_parameters(robot, friction),
        singular_values=np.zeros(0),
        friction=friction,
        special=special_cases(robot),
    )


def leg_symbols(kind: str, special: Special, leg: int, keeps_tip: bool = False) -> dict[str, str]:
    """The relations of one leg in symbols, by "rod XX", …, "rotor_mass"; l is a PUS link's length."""
    general, (closed, _) = open_leg(kind), closed_leg(kind, special, leg, 1.0, keeps_tip)
    found = {
        name: relation(general.names, general.row(name), i) for i, name in enumerate(general.names)
    }
    if kind == "PUS":
        if not keeps_tip:
            found["slider M"] += f" − {TIP_MASS[kind]}"
            for key in ("XX", "YY"):
                found[f"link {key}"] += " − l link MZ"
        if special.rail_level[leg]:
            found["rotor_mass"] += f" + {found['slider M']}"
    return {name: found[name] for name in closed.felt}


def platform_symbols(kind: str) -> dict[str, str]:
    """The platform's relations in symbols, by "XX", …: sums over the legs; (x, y, z) is P_i."""
    found = {}
    for key, factor in zip(STANDARD_PARAMETERS, POINT_MASS, strict=True):
        sign = "−" if factor.startswith("−") else "+"
        found[key] = " ".join([key, sign, "Σ", *factor.removeprefix("−").split(), TIP_MASS[kind]])
    return found
