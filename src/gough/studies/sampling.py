"""Points of a study, all drawn from the seed before anything is computed: point i stays point i."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
import scipy
from pydantic import ConfigDict, Field, model_validator
from scipy.special import ndtri

from gough.base.arrays import Array
from gough.base.keys import Table
from gough.errors import InputError

MOST_POINTS = 10_000_000
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

    def grid(self) -> Array:
        """Its values in a grid."""
        if self.values is not None:
            return np.array(self.values)
        if self.normal is not None or self.steps is None:
            raise InputError("a grid needs values, or from, to and steps")
        return self.at(np.linspace(0.0, 1.0, self.steps) if self.steps > 1 else np.array([0.5]))

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


def draw(kind: Kind, variables: Sequence[Variable], points: int | None, seed: int) -> Array:
    """All points (points, variables) of a sweep."""
    if kind == "grid":
        if points is not None:
            raise InputError(
                "sampling: a grid has as many points as its steps say; leave points out"
            )
        axes = [variable.grid() for variable in variables]
        count = math.prod(len(axis) for axis in axes)
        _check(count)
        shape = tuple(len(axis) for axis in axes)
        places = np.unravel_index(np.arange(count), shape) if axes else ()
        return np.stack([axis[place] for axis, place in zip(axes, places, strict=True)], axis=1)
    if points is None:
        raise InputError(f"sampling: {kind} needs points")
    _check(points)
    rng = np.random.default_rng(seed)
    if kind == "random":
        parts = rng.random((points, len(variables)))
    else:
        parts = scipy.stats.qmc.LatinHypercube(len(variables), rng=rng).random(points)
    return np.stack([one.at(parts[:, i]) for i, one in enumerate(variables)], axis=1)


def _check(count: int) -> None:
    if not 1 <= count <= MOST_POINTS:
        raise InputError(f"sampling: {count} points; needs 1 to {MOST_POINTS}")
