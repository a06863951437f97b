"""Legs declared equal: one set of parameters for all legs that have the same joints.

X = P x with x the platform's parameters and those of one leg of each kind, which stands for all of them;
P repeats it. Then Γ = W_b G P x, and the columns of G P depend on each other again:

    G P = M B,    M = (G P)_b the independent columns,    x_base = B x,    Γ = (W_b M) x_base

So six legs of a hexapod share some ten parameters, and each is seen by six actuators.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.model.model import Model
from gough.model.places import alike
from gough.parameters.base import BaseParameters, first_independent, preference

DEPENDENT = 1e-7
"""What other columns leave of one that depends on them, of its own length."""


class EqualLegs(NamedTuple):
    """Base parameters that legs share, beside those of all legs."""

    base: BaseParameters
    """Its columns are the platform's and those of the legs that stand for the others."""
    whole: BaseParameters
    """Of legs that may differ."""
    repeat: Array
    """P (columns of all, columns shared)."""
    spread: Array
    """M (rank of all, rank shared): base parameters of all from those that are shared."""


def equal_legs(robot: Model, whole: BaseParameters, regressor: Array) -> EqualLegs:
    """The base parameters of a robot whose legs of a kind are equal.

    `regressor` W_b (n, equations, rank) of some motion says how much each of the whole is felt.
    """
    names = {name: i for i, name in enumerate(whole.names)}
    stands = np.arange(len(names))
    for part in alike(robot):
        first = f"leg {part.which.start + 1} "
        for leg in range(part.which.start + 2, part.which.stop + 1):
            own = f"leg {leg} "
            for name, place in names.items():
                if name.startswith(own):
                    stands[place] = names[first + name.removeprefix(own)]
    kept = np.unique(stands)
    repeat = (stands[:, np.newaxis] == kept).astype(float)
    felt = np.sqrt(np.mean(regressor**2, axis=(0, 1)))
    grouped = whole.grouping @ repeat
    rows = np.where(felt > 0, felt, felt[felt > 0].min(initial=1.0))[:, np.newaxis] * grouped
    sizes = np.linalg.norm(rows, axis=0)
    unit = rows / np.where(sizes > 0, sizes, 1.0)
    at = {int(column): i for i, column in enumerate(kept)}
    order = [at[i] for i in preference(robot, whole.columns) if i in at and sizes[at[i]]]
    independent = first_independent(unit, order, DEPENDENT)
    grouping = np.zeros((len(independent), len(kept)))
    grouping[np.arange(len(independent)), independent] = 1.0
    dependent = np.setdiff1d(np.flatnonzero(sizes), independent)
    shares = np.linalg.lstsq(unit[:, independent], unit[:, dependent], rcond=None)[0]
    shares[np.abs(shares) < DEPENDENT] = 0.0
    grouping[:, dependent] = shares * sizes[dependent] / sizes[independent][:, np.newaxis]
    shared = replace(
        whole,
        columns=tuple(whole.columns[i] for i in kept),
        independent=independent,
        grouping=grouping,
        standard=np.linalg.lstsq(repeat, whole.standard, rcond=None)[0],
        singular_values=np.zeros(0),
    )
    return EqualLegs(shared, whole, repeat, grouped[:, independent])
