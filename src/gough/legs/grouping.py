"""Rules by which inertial parameters of the bodies of a leg are felt together.

Khalil & Guegan 2004, Section VI and Appendix B, corrected. Rule 1: a link on a revolute joint leaves
its YY, MZ and M to its antecedent (`revolute`). Rule 2: a link on a prismatic joint leaves its tensor
(`prismatic`). Rule 3: a link that turns about a fixed axis keeps ZZ, MX, MY only. Closing the leg, a
mass at its tip is one on the platform (`point_mass`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.legs.bodies import STANDARD_PARAMETERS

TEN = len(STANDARD_PARAMETERS)
PLACE = {key: i for i, key in enumerate(STANDARD_PARAMETERS)}


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
    """(parameters, parameters): combinations of the leg's standard parameters."""

    @classmethod
    def nothing_grouped(cls, bodies: Iterable[str], rotor: str) -> LegGrouping:
        """Every parameter by itself: ten of each body, and the rotor's."""
        names = [f"{body} {key}" for body in bodies for key in STANDARD_PARAMETERS]
        return cls((*names, rotor), np.eye(len(names) + 1))

    def place(self, name: str) -> int:
        """Row and column of a parameter."""
        return self.names.index(name)

    def row(self, name: str) -> Array:
        """One row; changes to it stay."""
        return np.asarray(self.rows[self.place(name)])

    def body(self, name: str) -> Array:
        """The ten rows of a body; changes to them stay."""
        first = self.place(f"{name} {STANDARD_PARAMETERS[0]}")
        return self.rows[first : first + TEN]

    @property
    def felt(self) -> tuple[str, ...]:
        """Names of rows that are not 0."""
        return tuple(name for name, row in zip(self.names, self.rows, strict=True) if np.any(row))

    def hang(self, link: str, cross: str, keys: tuple[str, str, str]) -> None:
        """Rule 1 for a link whose joint crosses the antecedent's at right angles (α = π/2, d = r = 0).

        `keys` are what Eq. 74 calls XX, YY and MZ on the axes of the link's own frame.
        """
        own = self.body(link)
        xx, yy, mz = (PLACE[key] for key in keys)
        grouped = [yy, mz, PLACE["M"]]
        self.body(cross)[:] += revolute(0.0, 1.0, 0.0, 0.0) @ own[grouped]
        own[xx] -= own[yy]
        own[grouped] = 0.0

    def hang_on_axis(self, body: str, carrier: str, axis: Array, place: Array) -> None:
        """Rule 1 for a body that turns about its own z, which stands in its carrier's frame anyhow.

        What lies on this axis k, through the point A, may belong to either: YY (with as much of XX,
        ∫ z² dm) is 1 − k kᵀ of the carrier's tensor, MZ a first moment k at A, M a mass at A. Eq. 74
        has the same where the axes are those of the Khalil–Kleinfinger notation.
        """
        own = self.body(body)
        line, moment = np.zeros((TEN, 3)), np.zeros((3, 3))
        moment[:, 1], moment[:, 2] = axis, place
        about = np.outer(place, axis)
        seconds = np.outer(axis, axis), about + about.T, np.outer(place, place)
        rows, columns = np.triu_indices(3)
        for k, second in enumerate(seconds):
            line[:6, k] = (np.trace(second) * np.eye(3) - second)[rows, columns]
        line[6:9], line[9, 2] = moment, 1.0
        grouped = [PLACE["YY"], PLACE["MZ"], PLACE["M"]]
        self.body(carrier)[:] += line @ own[grouped]
        own[PLACE["XX"]] -= own[PLACE["YY"]]
        own[grouped] = 0.0

    def keep_about_axis(self, cross: str) -> None:
        """Rule 3, for a body that turns about an axis of fixed direction: ZZ, MX, MY are left."""
        for key in ("XX", "XY", "XZ", "YY", "YZ", "MZ", "M"):
            self.body(cross)[PLACE[key]] = 0.0

    def closed(self, name: str, unit: Array) -> tuple[LegGrouping, Array]:
        """The leg without its tip mass, and the row of that mass, which the platform takes over.

        `unit` are the standard parameters (parameters,) of a leg that has nothing but a unit mass at
        its tip: felt as G u. The row g of one of the parameters `name` stands for the tip mass,
        t = g/(g·u), and G − (G u) t is what is left.
        """
        tip = self.row(name) / (self.row(name) @ unit)
        rows = self.rows - np.outer(self.rows @ unit, tip)
        rows[self.place(name)] = 0.0  # but for rounding it is
        return self._replace(rows=rows), tip
