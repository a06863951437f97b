"""A body in a robot file: its keys, its ten inertial parameters, whether there can be such a body."""

from __future__ import annotations

import warnings
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from gough.base.arrays import Array
from gough.base.keys import INERTIA, METRES, LegMatrix, LegScalar, LegVector
from gough.errors import ImpossibleBodyWarning
from gough.legs.meshes import BodyMeshes
from gough.legs.solids import SolidKeys, SolidTable

STANDARD_PARAMETERS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
"""The papers' ten, about the frame's origin; XY = −∫ x y dm."""
MOST_LISTED = 1000
"""Shapes of a body, payloads of a platform, and lines of what a file assumes."""
PARTED_PARAMETERS = ("mass", "center_of_mass", "inertia")


class BodyTable(SolidKeys):
    """A body: mass, centre of mass and central inertia, or ten standard parameters, or shapes."""

    center_of_mass: Annotated[LegVector, METRES] = Field(
        (0.0, 0.0, 0.0), description="m, in the body's frame"
    )
    inertia: Annotated[LegMatrix, INERTIA] = Field(
        ((0.0,) * 3,) * 3, description="kg m², about the centre of mass, axes of the body's frame"
    )
    XX: LegScalar = Field(0.0, description="kg m², about the frame's origin")
    XY: LegScalar = Field(0.0, description="kg m², −∫ x y dm")
    XZ: LegScalar = Field(0.0, description="kg m², −∫ x z dm")
    YY: LegScalar = Field(0.0, description="kg m², about the frame's origin")
    YZ: LegScalar = Field(0.0, description="kg m², −∫ y z dm")
    ZZ: LegScalar = Field(0.0, description="kg m², about the frame's origin")
    MX: LegScalar = Field(0.0, description="first moment, kg m")
    MY: LegScalar = Field(0.0, description="first moment, kg m")
    MZ: LegScalar = Field(0.0, description="first moment, kg m")
    M: LegScalar = Field(0.0, description="mass, kg")
    shapes: list[SolidTable] = Field(
        [], min_length=1, max_length=MOST_LISTED, description="or several shapes together"
    )
    mesh: BodyMeshes | None = Field(
        None, description="what the body looks like: a mesh file, or several, in the body's frame"
    )

    @property
    def solids(self) -> tuple[SolidKeys, ...]:
        """The shapes that the body is made of; none if it is given by its numbers."""
        return (self,) if self.shape is not None else tuple(self.shapes)

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        given = self.model_fields_set
        parted = [key for key in PARTED_PARAMETERS if key in given]
        standard = [key for key in STANDARD_PARAMETERS if key in given]
        lightest = float(np.min(np.asarray(self.mass), initial=0.0))
        if lightest < 0:  # M may be: grouped parameters of a real leg can have less than 0
            raise ValueError(f"mass is {lightest:g} kg, which no body has: 0 or more")
        own = "mass" if self.shape is not None else "shapes"
        others = [key for key in (*parted, *standard, "shapes") if key in given and key != own]
        if self.solids and others:
            raise ValueError(
                f"mixes shapes with {others[0]}: a lump of its own is one more of shapes = [{{ … }}, …]"
            )
        if parted and standard:
            raise ValueError(
                f"mixes {parted[0]} with {standard[0]}: give mass, center_of_mass, inertia "
                "or the ten standard parameters"
            )
        return self


def pseudo_inertias(mass: Array, moment: Array, inertia: Array) -> Array:
    """∫ [x; 1][x; 1]ᵀ dm = [½ tr(I) 1 − I, MS; MSᵀ, M], (n, 4, 4), about the frame's origin."""
    pseudo = np.zeros((len(mass), 4, 4))
    trace = np.trace(inertia, axis1=-2, axis2=-1)[:, np.newaxis, np.newaxis]
    pseudo[:, :3, :3] = trace / 2 * np.eye(3) - inertia
    pseudo[:, :3, 3] = pseudo[:, 3, :3] = moment
    pseudo[:, 3, 3] = mass
    return pseudo


def impossible(
    mass: Array,
    moment: Array,
    inertia: Array,
    one_of: str = "leg",
    excused: Array | None = None,
) -> str:
    """What no mass distribution can have: a pseudo-inertia matrix that is not ≥ 0; empty if it is.

    Of bodies (n, ...); those that are `excused` (n,) are passed over.
    """
    pseudo = pseudo_inertias(mass, moment, inertia)
    lowest = np.linalg.eigvalsh(pseudo)[:, 0]
    negative = lowest < -1e-9 * np.abs(pseudo).max(axis=(1, 2))
    bad = np.flatnonzero(negative if excused is None else negative & ~excused)
    if not bad.size:
        return ""
    which = "" if bad.size == len(mass) else f" of {one_of} {', '.join(str(i + 1) for i in bad)}"
    why = f"its pseudo-inertia matrix has the eigenvalue {lowest[bad[0]]:.3g}"
    why = f"its mass is {mass[bad[0]]:.6g} kg" if mass[bad[0]] < 0 else why
    return f"{which}: no real body has these inertial parameters ({why})"


def warn_impossible(
    mass: Array,
    moment: Array,
    inertia: Array,
    where: str,
    one_of: str = "leg",
    excused: Array | None = None,
) -> None:
    """Warn of bodies (n, ...) that are impossible and not `excused` (n,)."""
    why = impossible(mass, moment, inertia, one_of, excused)
    if why:
        warnings.warn(f"{where}{why}", ImpossibleBodyWarning, stacklevel=6)


def from_standard(*parameters: Array) -> tuple[Array, Array, Array]:
    """Mass (...), first moment (..., 3) and inertia (..., 3, 3) from XX XY XZ YY YZ ZZ MX MY MZ M."""
    xx, xy, xz, yy, yz, zz, mx, my, mz, mass = parameters
    inertia = np.stack(
        [
            np.stack([xx, xy, xz], axis=-1),
            np.stack([xy, yy, yz], axis=-1),
            np.stack([xz, yz, zz], axis=-1),
        ],
        axis=-2,
    )
    return mass, np.stack([mx, my, mz], axis=-1), inertia


def about_origin(mass: Array, center: Array, inertia: Array) -> tuple[Array, Array, Array]:
    """Steiner: I_O = I_G + M (c·c 1 − c cᵀ)."""
    moved = inertia + mass[..., np.newaxis, np.newaxis] * steiner(center)
    return mass, mass[..., np.newaxis] * center, moved


def steiner(center: Array) -> Array:
    """c·c 1 − c cᵀ, (..., 3, 3)."""
    square = np.sum(center * center, axis=-1)[..., np.newaxis, np.newaxis]
    return np.asarray(square * np.eye(3) - center[..., :, np.newaxis] * center[..., np.newaxis, :])
