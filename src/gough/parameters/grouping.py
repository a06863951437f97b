"""Base parameters in closed form: which standard parameters are felt together, and why.

Khalil & Guegan 2004, Section VI and Appendix B, corrected. What holds for the bodies of one leg its kind
tells (`gough.legs.parameters`), by the rules of `gough.legs.grouping`: an open leg, of which a part is
felt as a mass at its tip. Closed, the platform takes this mass over: the tip is a point of it too.

On a flexible platform a tip moves with the modes as well: a mass m there, tip shapes Φ_k, adds m Φ_k,
m Φ_k Pᵀ and m Φ_k Φ_jᵀ to the mass integrals, which are known and no parameters. It is felt by itself,
and a leg has all parameters of the open leg; but tips whose sets of these numbers depend on each
other (tips that coincide or do not move, or a mode or two only) share what the sets do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.legs.bodies import STANDARD_PARAMETERS
from gough.legs.grouping import LegGrouping, point_mass
from gough.legs.parameters import LegParameters, SpecialCase
from gough.model.model import Model
from gough.parameters.base import NEGLIGIBLE, BaseParameters, first_independent, relation
from gough.parameters.layout import Layout
from gough.parameters.regressor import (
    parameter_names,
    refuse_load_friction,
    standard_parameters,
)
from gough.parameters.special import special_cases, special_of_legs
from gough.parameters.states import largest_displacements

POINT_MASS = ("(y² + z²)", "−x y", "−x z", "(x² + z²)", "−y z", "(x² + y²)", "x", "y", "z", "")
"""Ten parameters of a unit mass at (x, y, z), in symbols."""


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
    rules: LegParameters[Any],
    special: Sequence[SpecialCase],
    leg: int,
    place: Array,
    keeps_tip: bool = False,
) -> tuple[LegGrouping, Array]:
    """A leg of the closed robot, and the row of masses at its tip, which the platform takes over.

    Or not: a leg that keeps its tip mass has that row as a parameter of its own. `place` (3,) is that
    of the tip in the frame of its body.
    """
    opened = rules.opened()
    closed, tip = opened.closed(rules.tip_mass.parameter, rules.unit_tip_mass(place))
    felt = opened if keeps_tip else closed
    for case in special:
        if case.which[leg]:
            for name, other in case.merged.items():
                felt.row(other)[:] += felt.row(name)
            for name in (*case.merged, *case.silent):
                felt.row(name)[:] = 0.0
    return felt, tip


def grouped_parameters(robot: Model, friction: bool = False) -> BaseParameters:
    """The base parameters of a robot in closed form: Eqs. 44–50 and 57–66, any platform frame.

    Every sum of Eqs. 57–66 runs over all legs: none of the P_i need be on an axis. With the frame of the
    paper (x_p along P1P2) it is L_{2,2} that vanishes, not L_{1,2}: the sums for YY and MX as printed,
    Eqs. 60 and 63, leave leg 2 out. Of a flexible platform `tip_masses` says what is felt of them.
    """
    if friction:
        refuse_load_friction(robot)
    count, names = robot.leg_count, parameter_names(robot, friction)
    rules, parts = robot.leg_kind.parameters, robot.mechanism.legs
    layout = Layout.of(parts, count, friction)
    special, places, tips = special_of_legs(robot), rules.tip_places(parts), tip_masses(robot)
    square = np.eye(len(names))  # platform, friction and modes by themselves
    on_platform = tips.on_platform(robot.mechanism.points[..., 0].T)
    legs = [closed_leg(rules, special, i, places[i], tips.kept[i]) for i in range(count)]
    own = layout.inertia_of_legs
    for i, (leg, tip) in enumerate(legs):
        square[np.ix_(own[i], own[i])] = leg.rows
        square[layout.of_platform, own[i]] = np.outer(on_platform[:, i], tip)
        for other in np.flatnonzero(tips.shares[:, i]):
            felt = legs[other][0].rows @ rules.unit_tip_mass(places[other])
            square[np.ix_(own[other], own[i])] = tips.shares[other, i] * np.outer(felt, tip)
    if friction:
        columns = dict(zip(parts.LINEAR_FRICTION, layout.friction_of_legs.T, strict=True))
        for name, another in rules.felt_as.items():
            square[columns[another], columns[name]] = 1.0
            square[columns[name], columns[name]] = 0.0
    independent = np.flatnonzero(square.any(axis=1))
    return BaseParameters(
        names=names,
        independent=independent,
        grouping=square[independent],
        standard=standard_parameters(robot, friction),
        singular_values=np.zeros(0),
        friction=friction,
        special=special_cases(robot),
        legs=rules,
    )


def leg_symbols(
    rules: LegParameters[Any], special: Sequence[SpecialCase], leg: int, keeps_tip: bool = False
) -> dict[str, str]:
    """The relations of one leg in symbols, by "rod XX", …, "rotor_mass"; see `rules.legend`."""
    general = rules.opened()
    found = {
        name: relation(general.names, general.row(name), i) for i, name in enumerate(general.names)
    }
    silent = set() if keeps_tip else {rules.tip_mass.parameter}
    if not keeps_tip:
        for name, term in rules.tip_mass.terms.items():
            found[name] += f" {term}"
    for case in special:
        if case.which[leg]:
            for name, other in case.merged.items():
                found[other] += f" + {found[name]}"
            silent |= {*case.merged, *case.silent}
    return {name: found[name] for name in general.felt if name not in silent}


def platform_symbols(rules: LegParameters[Any]) -> dict[str, str]:
    """The platform's relations in symbols, by "XX", …: sums over the legs; (x, y, z) is P_i."""
    found = {}
    for key, factor in zip(STANDARD_PARAMETERS, POINT_MASS, strict=True):
        sign = "−" if factor.startswith("−") else "+"
        mass = rules.tip_mass.symbol
        found[key] = " ".join([key, sign, "Σ", *factor.removeprefix("−").split(), mass])
    return found
