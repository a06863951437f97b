"""Base parameters of any robot, from its regressor: the fewest from which its forces follow.

Γ = W X for every state. Where columns of W depend on each other, W_d = W_b B whatever the state, only
X_base = X_b + B X_d can be felt (Gautier 1991; Khalil & Guegan 2004, Eqs. 41–42):

    Γ = W_b X_base,    X_base = G X with G = 1 in the independent columns b and B in the others d.

Independent columns are taken in an order of preference, so that a hexapod's base parameters carry the
names of the paper's Table II. Of a flexible platform the equation is that of all generalised forces,
Jᵀ Γ + (f, m, φ) − y0 = Y X, and Y takes the place of W (`gough.parameters.generalised`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.base.arrays import Array
from gough.errors import InputError
from gough.legs.parameters import LegParameters
from gough.model.batch import OnError
from gough.model.model import Model
from gough.model.places import alike
from gough.motion import Motion
from gough.parameters.generalised import generalised_regressor
from gough.parameters.layout import rules_of_legs
from gough.parameters.regressor import (
    Column,
    columns,
    refuse_load_friction,
    regressor,
    standard_parameters,
)
from gough.parameters.special import special_cases
from gough.parameters.states import largest_displacements, random_states

NO_EFFECT = 1e-11
"""A column so much shorter than the longest of its unit counts as 0."""
NEGLIGIBLE = 1e-9
"""Share of a column below which a coefficient of a relation is 0."""
SMALLEST_GAP = 1e4
"""Ratio of neighbouring singular values below which the rank is not clear."""
STATES = 4
"""Equations for each column of the regressor."""


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Which parameters a robot's forces depend on, and in what combinations."""

    columns: tuple[Column, ...]
    """All columns of the regressor."""
    independent: Array
    """(rank,) columns that name the groups, in the columns' order."""
    grouping: Array
    """G (rank, columns): X_base = G X."""
    standard: Array
    """X (columns,) of the robot."""
    singular_values: Array
    """Of the regressor on random states, columns of unit length; falling. None in closed form."""
    friction: bool
    """With friction columns."""
    special: tuple[str, ...]
    """What is special about this robot, in words."""
    legs: tuple[LegParameters[Any], ...]
    """What is known of the parameters of each leg."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of all columns."""
        return tuple(one.name for one in self.columns)

    @property
    def units(self) -> tuple[str, ...]:
        """SI units of all columns; of modes those of shapes normalised by mass."""
        return tuple(one.unit for one in self.columns)

    @property
    def base_columns(self) -> tuple[Column, ...]:
        """Those that name the groups."""
        return tuple(self.columns[i] for i in self.independent)

    @property
    def base_units(self) -> tuple[str, ...]:
        """SI units of the groups."""
        return tuple(one.unit for one in self.base_columns)

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return len(self.independent)

    @property
    def no_effect(self) -> Array:
        """Columns without any effect on the forces."""
        return np.flatnonzero(~self.grouping.any(axis=0))

    @property
    def gap(self) -> float:
        """Ratio of the last singular value that counts to the first that does not; NaN if unknown."""
        sizes = self.singular_values
        if not sizes.size:
            return float("nan")
        if self.rank == len(sizes) or sizes[self.rank] == 0:
            return float("inf")
        return float(sizes[self.rank - 1] / sizes[self.rank])

    @property
    def values(self) -> Array:
        """X_base (rank,) of the robot, SI units."""
        return np.asarray(self.grouping @ self.standard)

    @property
    def base_names(self) -> tuple[str, ...]:
        """Names of the groups: that of the column each is named after."""
        return tuple(one.name for one in self.base_columns)

    @property
    def null_space(self) -> Array:
        """N (columns, columns − rank) with W N = 0: [−B; 1]."""
        dependent = np.setdiff1d(np.arange(len(self.names)), self.independent)
        null = np.zeros((len(self.names), len(dependent)))
        null[dependent, np.arange(len(dependent))] = 1.0
        null[self.independent] = -self.grouping[:, dependent]
        return null

    def relations(self) -> list[str]:
        """Each base parameter as a sum of standard ones: "leg 1 cross ZZ + leg 1 cylinder YY"."""
        return [
            relation(self.names, row, first)
            for row, first in zip(self.grouping, self.independent, strict=True)
        ]


def base_parameters(robot: Model, friction: bool = False, *, seed: int = 0) -> BaseParameters:
    """The base parameters of a robot, found from the rank of its regressor on random states.

    `friction` includes viscous and constant Coulomb friction; see `gough.parameters.regressor`.
    """
    if friction:
        refuse_load_friction(robot)
    found = columns(robot, friction)
    W = _equations(robot, found, friction, seed)
    W = W / np.linalg.norm(W, axis=(1, 2), keepdims=True)
    W = W.reshape(-1, len(found))
    W = np.asarray(np.linalg.qr(W, mode="r"))  # the same lengths and dependences in fewer rows
    sizes = np.linalg.norm(W, axis=0)
    effect = sizes > NO_EFFECT * _natural_sizes([one.unit for one in found], sizes)
    unit = W / np.where(effect, sizes, 1.0)
    felt = np.flatnonzero(effect)
    singular_values = np.linalg.svd(unit[:, felt], compute_uv=False)
    limit = _limit(robot, singular_values)
    order = [i for i in preference(robot, found) if effect[i]]
    independent = first_independent(unit, order, limit)
    dependent = np.setdiff1d(felt, independent)
    grouping = np.zeros((len(independent), len(found)))
    grouping[np.arange(len(independent)), independent] = 1.0
    shares = _shares(unit[:, independent], unit[:, dependent])
    grouping[:, dependent] = shares * sizes[dependent] / sizes[independent][:, np.newaxis]
    return BaseParameters(
        columns=found,
        independent=independent,
        grouping=grouping,
        standard=standard_parameters(robot, friction),
        singular_values=singular_values,
        friction=friction,
        special=special_cases(robot),
        legs=rules_of_legs(robot),
    )


def base_regressor(
    robot: Model, base: BaseParameters, motion: Motion, *, on_error: OnError = "raise"
) -> Array:
    """W_b (..., actuators, rank): Γ = W_b X_base, W's independent columns.

    Of a flexible platform Y_b (..., 6 + N, rank): Jᵀ Γ + (f, m, φ) − y0 = Y_b X_base.
    """
    if robot.modes:
        found = generalised_regressor(robot, motion, base.friction, on_error=on_error)
        return found.matrix[..., base.independent]
    return regressor(robot, motion, base.friction, on_error=on_error)[..., base.independent]


def _equations(robot: Model, found: Sequence[Column], friction: bool, seed: int) -> Array:
    """The regressor (states, equations, columns) on as many random states as it takes.

    Of a flexible platform rows count as forces: moments are divided by a length, modal forces by
    the largest displacement of their mode.
    """
    rows = STATES * len(found)
    if not robot.modes:
        motion = random_states(robot, -(-rows // robot.mobility), seed)
        return regressor(robot, motion, friction)
    elastic = sum(one.part == "modes" for one in found)
    count = max(rows // (6 + robot.modes), (rows - STATES * elastic) // 6) + 1
    motion = random_states(robot, count, seed)
    lengths = np.array([1.0] * 3 + [robot.length_scale] * 3)
    scale = np.concatenate([lengths, largest_displacements(robot)])
    return np.asarray(generalised_regressor(robot, motion, friction).matrix / scale[:, np.newaxis])


def preference(robot: Model, found: Sequence[Column]) -> list[int]:
    """Columns in the order in which they are taken as independent.

    The platform's, the rotors, those that name a leg's groups, friction and modes, then the rest.
    """
    naming = {
        f"leg {part.which.start + i + 1} {name}"
        for part in alike(robot)
        for i in range(part.legs.count)
        for name in part.kind.parameters.naming(part.legs)
    }
    ranks = {"platform": 0, "rotors": 1, "legs": 4, "friction": 3, "modes": 3}

    def place(column: Column) -> int:
        named = column.part == "legs" and column.name in naming
        return 2 if named else ranks[column.part]

    return sorted(range(len(found)), key=lambda i: place(found[i]))


def relation(names: Sequence[str], row: Array, first: int) -> str:
    """A sum of named parameters, one of them first: "leg 1 rod XX − 0.5 leg 1 rod M"."""
    text = ""
    for i in [first, *(i for i in np.flatnonzero(row).tolist() if i != first)]:
        size = abs(row[i])
        factor = "" if abs(size - 1) < NEGLIGIBLE else f"{size:.6g} "
        sign = "−" if row[i] < 0 else "+"
        text += f" {sign} {factor}{names[i]}" if text else f"{sign} {factor}{names[i]}"
    return text.removeprefix("+ ")


def _natural_sizes(units: Sequence[str], sizes: Array) -> Array:
    """For each column the largest size among columns of its own unit."""
    largest = {
        unit: max(s for s, u in zip(sizes, units, strict=True) if u == unit) for unit in set(units)
    }
    return np.array([largest[unit] or 1.0 for unit in units])


def _limit(robot: Model, singular_values: Array) -> float:
    """The middle of the gap: between singular values that count and rounding."""
    floor = np.finfo(float).eps * len(singular_values)
    sizes = np.maximum(np.append(singular_values, floor), floor)
    steps = sizes[:-1] / sizes[1:]
    last = int(np.argmax(steps))
    if steps[last] < SMALLEST_GAP:
        raise InputError(
            f"{robot.name}: the number of base parameters is not clear: no gap in the regressor's "
            f"singular values is over {steps[last]:.2g} (limit {SMALLEST_GAP:g})"
        )
    return float(np.sqrt(sizes[last] * sizes[last + 1]))


def first_independent(unit: Array, order: Sequence[int], limit: float) -> Array:
    """The columns that, taken in the given order, do not depend on those before; sorted.

    Columns are of unit length; one depends on others if what they leave of it is below the limit.
    """
    basis = np.zeros((unit.shape[0], 0))
    chosen: list[int] = []
    for column in order:
        left = unit[:, column]
        for _ in range(2):  # twice is enough
            left = left - basis @ (basis.T @ left)
        rest = np.linalg.norm(left)
        if rest > limit:
            basis = np.column_stack([basis, left / rest])
            chosen.append(column)
    return np.sort(np.array(chosen, dtype=int))


def _shares(independent: Array, dependent: Array) -> Array:
    """B with dependent = independent B: by all columns, then each again by those that count alone."""
    shares = np.linalg.lstsq(independent, dependent, rcond=None)[0]
    for column, share in zip(dependent.T, shares.T, strict=True):
        counts = np.abs(share) > NEGLIGIBLE
        share[~counts] = 0.0
        share[counts] = np.linalg.lstsq(independent[:, counts], column, rcond=None)[0]
    return np.asarray(shares)
