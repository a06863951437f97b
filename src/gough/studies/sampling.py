"""Points of a study, all drawn from the seed before anything is computed: point i stays point i."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Self

import numpy as np
import scipy
from pydantic import ConfigDict, Field, model_validator
from scipy.special import ndtri

from gough.base.arrays import Array
from gough.base.keys import Table
from gough.errors import InputError

MOST_POINTS = 10_000_000
MOST_NUMBERS = 100_000_000
"""Inputs and values of all points of a study."""
Kind = Literal["grid", "random", "latin hypercube"]


class Variable(Table):
    """What a variable may be: a range, a list of values, or a normal distribution."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    low: float | None = Field(None, alias="from", allow_inf_nan=False)
    high: float | None = Field(None, alias="to", allow_inf_nan=False)
    steps: int | None = Field(None, description="values of a grid", ge=1, le=MOST_POINTS)
    log: bool = Field(False, description="spread by ratio")
    values: tuple[float, ...] | None = None
    normal: float | None = Field(None, description="standard deviation", gt=0, allow_inf_nan=False)
    mean: float = Field(0.0, allow_inf_nan=False)
    unit: str = Field("", description="for labels", max_length=20)

    @model_validator(mode="after")
    def _one(self) -> Self:
        ranged = self.low is not None or self.high is not None
        if ranged + (self.values is not None) + (self.normal is not None) != 1:
            raise ValueError("needs one of from and to, values, normal")
        if ranged:
            if self.low is None or self.high is None:
                raise ValueError("needs both from and to")
            if not self.low < self.high:
                raise ValueError(f"empty range: from {self.low:g} to {self.high:g}")
            if self.log and self.low <= 0:
                raise ValueError(f"a range by ratio starts above 0, not at {self.low:g}")
        if self.values is not None:
            if not self.values:
                raise ValueError("values is empty")
            if not all(map(math.isfinite, self.values)):
                raise ValueError("has a value that is not finite")
        return self

    @property
    def size(self) -> int:
        """How many values it has in a grid."""
        if self.values is not None:
            return len(self.values)
        if self.normal is not None or self.steps is None:
            raise InputError("a grid needs values, or from, to and steps")
        return self.steps

    def grid(self) -> Array:
        """Its values in a grid."""
        if self.values is not None:
            return np.array(self.values)
        return self.at(np.linspace(0.0, 1.0, self.size) if self.size > 1 else np.array([0.5]))

    def at(self, part: Array) -> Array:
        """Its value below which lies a part (0 … 1) of its distribution."""
        if self.values is not None:
            count = len(self.values)
            return np.array(self.values)[np.minimum((part * count).astype(np.intp), count - 1)]
        if self.normal is not None:
            return np.asarray(self.mean + self.normal * ndtri(np.clip(part, 1e-300, 1 - 1e-16)))
        assert self.low is not None
        assert self.high is not None
        if self.log:
            ends = math.log(self.low), math.log(self.high)
            return np.asarray(np.exp(ends[0] + part * (ends[1] - ends[0])))
        return np.asarray(self.low + part * (self.high - self.low))


class Way(NamedTuple):
    """A way to sample: how many points, of variables and what the file says, and where they are."""

    points: Callable[[Sequence[Variable], int | None], int]
    places: Callable[[Sequence[Variable], int, int], Array]
    """(points, variables) of so many points and a seed."""


def _steps(variables: Sequence[Variable], points: int | None) -> int:
    if points is not None:
        raise InputError("sampling: a grid has as many points as its steps say; leave points out")
    return math.prod(variable.size for variable in variables)


def _on_grid(variables: Sequence[Variable], points: int, _: int) -> Array:
    found, place = np.empty((points, len(variables))), np.arange(points)
    for i, variable in reversed([*enumerate(variables)]):  # the last changes fastest
        found[:, i] = variable.grid()[place % variable.size]
        place //= variable.size
    return found


def _drawn(kind: Kind, parts: Callable[[np.random.Generator, int, int], Array]) -> Way:
    """By a part (0 … 1) of each variable's distribution, (points, variables)."""

    def points(_: Sequence[Variable], given: int | None) -> int:
        if given is None:
            raise InputError(f"sampling: {kind} needs points")
        return given

    def places(variables: Sequence[Variable], total: int, seed: int) -> Array:
        found = parts(np.random.default_rng(seed), total, len(variables))
        for i, variable in enumerate(variables):
            found[:, i] = variable.at(found[:, i])
        return found

    return Way(points, places)


WAYS: dict[Kind, Way] = {
    "grid": Way(_steps, _on_grid),
    "random": _drawn("random", lambda rng, points, count: rng.random((points, count))),
    "latin hypercube": _drawn(
        "latin hypercube",
        lambda rng, points, count: scipy.stats.qmc.LatinHypercube(count, rng=rng).random(points),
    ),
}


def count(kind: Kind, variables: Sequence[Variable], points: int | None) -> int:
    """How many points a sweep has."""
    found = WAYS[kind].points(variables, points)
    if not 1 <= found <= MOST_POINTS:
        given = found if abs(found) < 10**12 else "over 10^12"
        raise InputError(f"sampling: {given} points; needs 1 to {MOST_POINTS}")
    return found


def draw(kind: Kind, variables: Sequence[Variable], points: int | None, seed: int) -> Array:
    """All points (points, variables) of a sweep."""
    return WAYS[kind].places(variables, count(kind, variables, points), seed)
