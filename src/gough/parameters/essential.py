"""Essential parameters: the base parameters that are left once bodies are assumed to be regular.

An assumption is linear: some standard parameters are 0, some equal. Then X = E x with free parameters x
only, X_base = G E x, and the base parameters whose rows of G E depend on no other ones are essential:

    X_base = K X_ess,    Γ = W_b K X_ess.

Khalil & Guegan 2004, Table III, has 52 for the hexapod "if the links are symmetrical and links 1 and 2
constitute one real link". Table III says another thing: it keeps MX3 and MY3, which a symmetric rod has
not. Each number belongs to an assumption of its own (rotor masses come on top of all):

    off-centre   52 = 6·7 + 10   links 1 and 2 one body and symmetric, rod without products of inertia
    symmetric    40 = 6·5 + 10   … and the rod's centre of mass on the leg's line
    revolution   34 = 6·4 + 10   … and cylinder and rod bodies of revolution about it
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gough.base.arrays import Array
from gough.errors import InputError
from gough.parameters.base import BaseParameters, first_independent, relation

ASSUMPTIONS = {
    "off-centre": "the cross has no inertia of its own (it is one body with what it carries); the body "
    "at the tip has principal axes along the leg's frame, its centre of mass may be anywhere; other "
    "bodies along the leg's line are symmetric in two planes through it",
    "symmetric": "the cross has no inertia of its own; all other bodies of a leg are symmetric in two "
    "planes through its line",
    "revolution": "the cross has no inertia of its own; all other bodies of a leg are bodies of "
    "revolution about its line",
}
"""What can be assumed, each stronger than the one before."""
NEGLIGIBLE = 1e-9
"""Relative size below which a coefficient, or what breaks an assumption, is rounding."""


@dataclass(frozen=True, eq=False)
class EssentialParameters:
    """The base parameters that an assumption leaves."""

    base: BaseParameters
    assumption: str
    """A key of ASSUMPTIONS."""
    kept: Array
    """(count,) rows of the base parameters that are essential."""
    expansion: Array
    """K (rank, count): X_base = K X_ess. W_b K is the regressor of the essential parameters."""
    broken: tuple[str, ...]
    """What of the assumption the robot's own numbers do not meet, in words."""

    @property
    def count(self) -> int:
        """Number of essential parameters, rotor masses and friction included."""
        return len(self.kept)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the essential parameters."""
        return tuple(self.base.base_names[i] for i in self.kept)

    @property
    def values(self) -> Array:
        """X_ess (count,) of the robot."""
        return np.asarray(self.base.values[self.kept])

    def dropped(self) -> list[str]:
        """Base parameters that are not essential: "leg 1 cylinder XX = …" or "… = 0"."""
        names, found = self.base.base_names, []
        for i in np.setdiff1d(np.arange(self.base.rank), self.kept):
            row = np.zeros(self.base.rank)
            row[self.kept] = self.expansion[i]
            used = np.flatnonzero(row)
            text = relation(names, row, int(np.argmax(row))) if used.size else "0"
            found.append(f"{names[i]} = {text}")
        return found


def essential_parameters(base: BaseParameters, assumption: str) -> EssentialParameters:
    """The essential parameters of a robot under one of ASSUMPTIONS."""
    if assumption not in ASSUMPTIONS:
        raise InputError(f"no assumption {assumption!r}: {', '.join(ASSUMPTIONS)}")
    if not any(rules.lines for rules in base.legs):
        kinds = ", ".join(dict.fromkeys(rules.kind for rules in base.legs))
        raise InputError(
            f"{kinds} legs have no essential parameters: no line is known that their bodies "
            "could be symmetric about"
        )
    place = {name: i for i, name in enumerate(base.names)}
    constraints = np.zeros((0, len(base.names)))
    broken = []
    for terms in _constraints(base, assumption):
        row = np.zeros(len(base.names))
        for name, factor in terms.items():
            row[place[name]] = factor
        constraints = np.vstack([constraints, row])
        scale = max(abs(base.standard[place[name]]) for name in terms)
        if abs(row @ base.standard) > NEGLIGIBLE * scale:
            broken.append(_said(base, place, terms))
    free = base.grouping @ _free(constraints)
    sizes = np.linalg.norm(free, axis=1)
    used = sizes > NEGLIGIBLE
    unit = (free / np.where(used, sizes, 1.0)[:, np.newaxis]).T
    kept = first_independent(unit, _order(base, used), NEGLIGIBLE)
    expansion = np.linalg.lstsq(free[kept].T, free.T, rcond=None)[0].T
    expansion[np.abs(expansion) < NEGLIGIBLE] = 0.0
    return EssentialParameters(base, assumption, kept, expansion, tuple(broken))


def _constraints(base: BaseParameters, assumption: str) -> Iterator[dict[str, float]]:
    """Sums of parameters that are assumed to be 0, by name and factor; only of kinds with lines."""
    for name in (one.name for one in base.columns if one.part == "legs"):
        _, leg, body, key = name.split()
        leg_body, legs = f"leg {leg} {body}", base.legs[int(leg) - 1]
        if body in legs.carried:
            yield {name: 1.0}
        if body not in legs.lines:
            continue
        line = legs.lines[body].upper()
        off_centre = key.startswith("M") and key not in ("M", f"M{line}")
        if key in ("XY", "XZ", "YZ"):
            yield {name: 1.0}
        if off_centre and (assumption != "off-centre" or body != legs.tip_mass.body):
            yield {name: 1.0}
        first, second = (2 * axis for axis in "XYZ" if axis != line)
        if assumption == "revolution" and key == first:
            yield {name: 1.0, f"{leg_body} {second}": -1.0}


def _said(base: BaseParameters, place: dict[str, int], terms: dict[str, float]) -> str:
    values = [f"{name} = {base.standard[place[name]]:.6g}" for name in terms]
    return " but ".join(values) if len(terms) > 1 else f"{values[0]}, not 0"


def _free(constraints: Array) -> Array:
    """E (columns, free): a basis of the parameters that meet the constraints, entries 0, ±1.

    Each constraint names a parameter that no other one does; it is 0 or equal to another.
    """
    columns = constraints.shape[1]
    basis = np.eye(columns)
    bound = []
    for row in constraints:
        first, *others = np.flatnonzero(row)
        bound.append(first)
        for other in others:
            basis[first, other] = -row[other] / row[first]
    basis = basis[:, np.setdiff1d(np.arange(columns), bound)]
    return basis


def _order(base: BaseParameters, used: Array) -> list[int]:
    """Base parameters in the order in which they are kept: transverse inertias last."""
    late = tuple({f"{body} XX" for rules in base.legs for body in rules.lines})
    rows = np.flatnonzero(used).tolist()
    return sorted(rows, key=lambda i: base.base_names[i].endswith(late))
