"""How far an answer can be told: what rounding may change of it.

What the last digits of the robot's and the state's numbers change: each is moved by up to 32 units of
its last digit, four times, in a pattern that is always the same (`answer`). And what the last digits of
the matrix that is solved change, whatever its entries are made of (`lost_in_forces`,
`lost_in_accelerations`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from gough.base.arrays import Array
from gough.engine.functions import VARIANT, Function
from gough.engine.tree import map_arrays
from gough.mechanics import programs
from gough.mechanics.mechanism import Mechanism
from gough.model.execution import numpy_executor

EPSILON = float(np.finfo(float).eps)
Fields = Mapping[str, Array]
LAST_DIGITS = 32
"""Units of the last digit by which numbers are moved, at most."""
TIMES = 4
AT_REST = 1e-2
"""Share of gravity with which accelerations are compared at least."""
ROUNDED = 2 * EPSILON
"""Share of a matrix' entries, or of what they are sums of, that may be lost."""


class Answer(NamedTuple):
    """What a program finds, of each row, and how much of it the last digits change."""

    found: Array
    """Γ (rows, actuators), (v̇, L ω̇) (rows, 6), (q, q̇, q̈), or Γ and what the legs push with."""
    size: Array
    """What errors of each component are compared with, of the same shape."""
    change: Array
    """Largest relative change (rows,); NaN where there is no answer."""


def answer(mechanism: Mechanism, function: Function, rows: int, fields: Fields) -> Answer:
    """What a program finds, with numbers as they are and with other last digits.

    Of q, q̇, q̈ and actuator forces in relation to the largest of a state. Of accelerations in relation to
    the largest of v̇ and L ω̇ where the platform's joints are on average, or of v̇ to itself: of a frame
    far away v̇ is so large that against it ω̇ could be wrong unseen. A platform at rest has none but
    rounding of the forces that hold its weight: there it is in relation to a part of gravity.
    """
    parts = PARTS[function.__name__]
    first = parts(mechanism, rows, fields)
    sizes = [np.where(size == 0, 1, size) for _, size in first]
    largest = np.zeros(rows)
    for turn in range(TIMES):
        rng = np.random.default_rng(turn)
        moved = map_arrays(mechanism, partial(_moved, rng, samples=-1))
        given = {
            name: value if name == VARIANT else _moved(rng, value, samples=0)
            for name, value in fields.items()
        }
        for (one, _), (other, _), size in zip(first, parts(moved, rows, given), sizes, strict=True):
            largest = np.maximum(largest, _length(other - one) / size)
    wide = [
        np.broadcast_to(size[:, np.newaxis], one.shape)
        for (one, _), size in zip(first, sizes, strict=True)
    ]
    return Answer(np.hstack([one for one, _ in first]), np.hstack(wide), largest)


def lost_in_forces(jacobian: Array, forces: Array) -> Array:
    """What rounding of T = Jᵀ changes of Γ with T Γ = demand, (actuators,).

    2 ε |T⁺| E |Γ|, of E each column as large as the column of T is long.
    """
    carried = np.linalg.norm(jacobian, axis=1) @ np.abs(forces)
    return np.asarray(ROUNDED * carried * np.abs(np.linalg.pinv(jacobian)).sum(axis=0))


def lost_in_accelerations(mass: Array, accelerations: Array, loose: Array) -> Array:
    """What rounding of M changes of x (6,) with M x = driving on the free directions (6, m).

    2 ε |M⁻¹| d (d·|x|), d_k = √M_kk.
    """
    d = np.sqrt(np.abs(np.diagonal(mass)))
    shares = np.abs(np.linalg.pinv(mass)) @ d * (d @ np.abs(loose.T @ accelerations))
    return np.asarray(ROUNDED * np.abs(loose) @ shares)


def _moved(rng: Generator, numbers: Array, samples: int) -> Array:
    """Numbers with other last digits, those of all samples changed alike."""
    shape = list(numbers.shape)
    shape[samples] = 1
    return np.asarray(numbers * (1 + LAST_DIGITS * EPSILON * rng.uniform(-1, 1, shape)))


Parts = list[tuple[Array, Array]]
"""Vectors (rows, components) and the sizes (rows,) that their changes are compared with."""


def _forces(mechanism: Mechanism, rows: int, fields: Fields) -> Parts:
    """Γ, and the largest."""
    forces = numpy_executor(mechanism)(programs.inverse_dynamics, rows, fields)["forces"]
    return [(forces, np.abs(forces).max(axis=1, initial=0))]


def _reactions(mechanism: Mechanism, rows: int, fields: Fields) -> Parts:
    """Γ, and what the legs push the platform with: where drives carry most, it is far less than Γ."""
    pushed = numpy_executor(mechanism)(programs.reactions, rows, fields)["spherical"]
    each = pushed.reshape(rows, -1)
    return [*_forces(mechanism, rows, fields), (each, np.abs(each).max(axis=1, initial=0))]


def _coordinates(mechanism: Mechanism, rows: int, fields: Fields) -> Parts:
    """q, q̇ and q̈, and the largest of each.

    q is no smaller than 1 rad or the length scale: where all coordinates read 0, at home say, what
    rounding leaves of them is not compared with itself.
    """
    found = numpy_executor(mechanism)(programs.inverse_kinematics, rows, fields)
    sizes = {name: np.abs(found[name]).max(axis=1, initial=0) for name in programs.SCALARS}
    scale = of_rows(np.atleast_1d(mechanism.length_scale), fields)
    sizes["q"] = np.maximum(sizes["q"], np.minimum(scale, 1.0))
    return [(found[name], sizes[name]) for name in programs.SCALARS]


def of_rows(values: Array, fields: Fields) -> Array:
    """Values (robots, ...) of the robot of each row, or (1, ...) where there is one robot."""
    if len(values) == 1 or VARIANT not in fields:
        return values
    return np.asarray(values[fields[VARIANT].astype(np.intp)])


def _accelerations(mechanism: Mechanism, rows: int, fields: Fields) -> Parts:
    """v̇ and L ω̇; sizes are about the mean c of the platform's joints, v̇ + ω̇×R c + ω×(ω×R c)."""
    found = numpy_executor(mechanism)(programs.direct_dynamics, rows, fields)
    linear, angular = found["linear"], found["angular"]
    middle = of_rows(mechanism.points.mean(axis=1).T, fields)
    scale = of_rows(np.atleast_1d(mechanism.length_scale), fields)
    weight = of_rows(AT_REST * _length(mechanism.gravity[:, 0].T), fields)
    arm = (fields["rotation"] @ middle[:, :, np.newaxis])[:, :, 0]
    omega = fields["angular_velocity"]
    there = linear + np.cross(angular, arm) + np.cross(omega, np.cross(omega, arm))
    size = np.maximum(np.maximum(_length(there), scale * _length(angular)), weight)
    return [(linear, np.maximum(size, _length(linear))), (scale[:, np.newaxis] * angular, size)]


def _length(vectors: Array) -> Array:
    return np.asarray(np.linalg.norm(vectors, axis=1))


def _whole(function: Function, mechanism: Mechanism, rows: int, fields: Fields) -> Parts:
    """All that a program gives, and the largest of each."""
    found = numpy_executor(mechanism)(function, rows, fields)
    each = [one.reshape(rows, -1) for part, one in found.items() if part != "margin"]
    return [(one, np.abs(one).max(axis=1, initial=0)) for one in each]


WHOLE = (
    programs.jacobian,
    programs.mass_matrix,
    programs.bias,
    programs.condensed,
    programs.energy,
)
"""Programs of which all is looked at."""
PARTS = {
    "inverse_kinematics": _coordinates,
    "inverse_dynamics": _forces,
    "contributions": _forces,
    "reactions": _reactions,
    "direct_dynamics": _accelerations,
} | {one.__name__: partial(_whole, one) for one in WHOLE}
"""What tells of a program's answers, of those that are looked at."""
