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
from gough.errors import InputError
from gough.legs.bodies import STANDARD_PARAMETERS
from gough.legs.grouping import LegGrouping, point_mass
from gough.legs.parameters import LegParameters, SpecialCase
from gough.model.model import Model
from gough.model.places import alike
from gough.parameters.base import NEGLIGIBLE, BaseParameters, first_independent, relation
from gough.parameters.layout import Layout, rules_of_legs
from gough.parameters.regressor import (
    columns,
    refuse_load_friction,
    standard_parameters,
)
from gough.parameters.special import FREE, special_cases, special_of_legs
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
    opened: LegGrouping,
    special: Sequence[SpecialCase],
    leg: int,
    place: Array,
    keeps_tip: bool = False,
) -> tuple[LegGrouping, Array]:
    """An open leg in the closed robot, and the row of masses at its tip, which the platform takes over.

    Or not: a leg that keeps its tip mass has that row as a parameter of its own. `place` (3,) is that
    of the tip in the frame of its body.
    """
    unit = rules.unit_tip_mass(opened.names, place)
    closed, tip = opened.closed(rules.tip_mass.parameter, unit)
    felt = opened if keeps_tip else closed
    for case in special:
        if case.which[leg]:
            factor = 1.0 if case.factor is None else case.factor[leg]
            for name, other in case.merged.items():
                felt.row(other)[:] += factor * felt.row(name)
            for name in (*case.merged, *case.silent):
                felt.row(name)[:] = 0.0
    return felt, tip


def has_closed_form(robot: Model) -> bool:
    """Whether `grouped_parameters` knows the robot's legs, and its platform moves freely."""
    return robot.mobility == FREE and all(one.tip is not None for one in rules_of_legs(robot))


def grouped_parameters(robot: Model, friction: bool = False) -> BaseParameters:
    """The base parameters of a robot in closed form: Eqs. 44–50 and 57–66, any platform frame.

    Every sum of Eqs. 57–66 runs over all legs: none of the P_i need be on an axis. With the frame of the
    paper (x_p along P1P2) it is L_{2,2} that vanishes, not L_{1,2}: the sums for YY and MX as printed,
    Eqs. 60 and 63, leave leg 2 out. Of a flexible platform `tip_masses` says what is felt of them.
    """
    if robot.mobility != FREE:
        raise InputError(
            f"{robot.name} moves in {robot.mobility} directions: base parameters in closed form "
            f"(grouped_parameters) are known for {FREE}; base_parameters finds them by numbers"
        )
    if friction:
        refuse_load_friction(robot)
    found = columns(robot, friction)
    layout = Layout.of(robot.mechanism.legs, friction)
    special, tips = special_of_legs(robot), tip_masses(robot)
    square = np.eye(len(found))  # platform, friction and modes by themselves
    on_platform = tips.on_platform(robot.mechanism.points[..., 0].T)
    legs: list[tuple[LegGrouping, Array]] = []
    own: list[Array] = []
    units: list[Array] = []
    for part, places in zip(alike(robot), layout.places(), strict=True):
        rules = part.kind.parameters
        for i, tip_place in enumerate(rules.tip_places(part.legs)):
            opened, leg = rules.opened(part.legs, i), part.which.start + i
            units.append(rules.unit_tip_mass(opened.names, tip_place))
            legs.append(closed_leg(rules, opened, special, leg, tip_place, tips.kept[leg]))
        own += list(places.inertia)
        if friction:
            felt = dict(zip(part.legs.LINEAR_FRICTION, places.friction.T, strict=True))
            for name, another in rules.felt_as.items():
                square[felt[another], felt[name]] = 1.0
                square[felt[name], felt[name]] = 0.0
    for i, (grouped, tip) in enumerate(legs):
        square[np.ix_(own[i], own[i])] = grouped.rows
        square[layout.of_platform, own[i]] = np.outer(on_platform[:, i], tip)
        for other in np.flatnonzero(tips.shares[:, i]):
            share = np.outer(legs[other][0].rows @ units[other], tip)
            square[np.ix_(own[other], own[i])] = tips.shares[other, i] * share
    independent = np.flatnonzero(square.any(axis=1))
    return BaseParameters(
        columns=found,
        independent=independent,
        grouping=square[independent],
        standard=standard_parameters(robot, friction),
        singular_values=np.zeros(0),
        friction=friction,
        special=special_cases(robot),
        legs=rules_of_legs(robot),
    )


def leg_symbols(robot: Model, leg: int, keeps_tip: bool = False) -> dict[str, str]:
    """The relations of one leg in symbols, by "rod XX", …, "rotor_mass"; see `legend` of its kind."""
    part = next(one for one in alike(robot) if leg < one.which.stop)
    parts, rules, first = part.legs, part.kind.parameters, part.which.start
    general = rules.opened(parts, leg - first)
    found = {
        name: relation(general.names, general.row(name), i) for i, name in enumerate(general.names)
    } | dict(rules.symbols(parts, leg - first))
    silent = set() if keeps_tip else {rules.tip_mass.parameter}
    if not keeps_tip:
        for name, term in rules.tip_mass.terms.items():
            found[name] += f" {term}"
    for case in special_of_legs(robot):
        if case.which[leg]:
            for name, other in case.merged.items():
                more = f"{case.symbol} ({found[name]})" if case.symbol else f"+ {found[name]}"
                found[other] += f" {more}"
            silent |= {*case.merged, *case.silent}
    return {name: found[name] for name in general.felt if name not in silent}


def platform_symbols(legs: Sequence[LegParameters[Any]]) -> dict[str, str]:
    """The platform's relations in symbols, by "XX", …: sums over the legs; (x, y, z) is P_i."""
    masses = dict.fromkeys(rules.tip_mass.symbol for rules in legs)
    found = {}
    for key, factor in zip(STANDARD_PARAMETERS, POINT_MASS, strict=True):
        sign = "−" if factor.startswith("−") else "+"
        place = factor.removeprefix("−").split()
        found[key] = " ".join([key, *(" ".join([sign, "Σ", *place, mass]) for mass in masses)])
    return found
