"""Bodies by shape: rods, tubes, discs, boxes and cones with their sizes, and a density or a mass.

A shape of mass m has a volume V (m = density V), a centre c on its axis and a central inertia m diag(kx,
ky, kz) in its own axes, z along its axis. R and c place it in the frame of its body: the inertia about
that frame's origin is R m diag(kx, ky, kz) Rᵀ + m (c·c 1 − c cᵀ).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Literal, NamedTuple, Self, get_args

import numpy as np
from pydantic import Field, model_validator
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array, unit
from gough.base.keys import KILOGRAMS, METRES, LegScalar, LegTurn, LegVector, Table

ShapeName = Literal["rod", "tube", "disc", "box", "cone"]


class Solid(NamedTuple):
    """What a shape's sizes make, for each leg."""

    volume: Array
    """(legs,), m³."""
    center: Array
    """(legs,): how far along the axis from its place the centre of mass is, m."""
    gyration: Array
    """(legs, 3): squared radii of gyration about the centre, own axes, m²."""


def _round(across: Array, along: Array) -> Array:
    """(legs, 3) of a body of revolution from its two different values."""
    return np.stack([across, across, along], axis=-1)


def tube(radius: Array, inner_radius: Array, length: Array) -> Solid:
    """V = π (r² − i²) l, kx = (3 (r² + i²) + l²)/12, kz = (r² + i²)/2; from its place along its axis."""
    square = radius**2 + inner_radius**2
    volume = np.pi * (radius**2 - inner_radius**2) * length
    return Solid(volume, length / 2, _round((3 * square + length**2) / 12, square / 2))


def rod(radius: Array, length: Array) -> Solid:
    """A tube without a hole."""
    return tube(radius, np.zeros_like(radius), length)


def disc(radius: Array, thickness: Array) -> Solid:
    """A rod whose middle is at its place."""
    return rod(radius, thickness)._replace(center=np.zeros_like(radius))


def box(size: Array) -> Solid:
    """V = a b c, kx = (b² + c²)/12 and so on; its middle is at its place."""
    square = size**2
    gyration = (np.sum(square, axis=-1, keepdims=True) - square) / 12
    return Solid(np.prod(size, axis=-1), np.zeros(size.shape[:-1]), gyration)


def cone(radius: Array, end_radius: Array, length: Array) -> Solid:
    """A cone, or a frustum: radius r at its place, e at the other end, s = r² + r e + e².

    V = π l s/3, c = l (r² + 2 r e + 3 e²)/(4 s), kz = 3 (r⁴ + r³ e + r² e² + r e³ + e⁴)/(10 s),
    kx = kz/2 + l² (r² + 3 r e + 6 e²)/(10 s) − c².
    """
    r, e = radius, end_radius
    s = r**2 + r * e + e**2
    center = length * (r**2 + 2 * r * e + 3 * e**2) / (4 * s)
    along = 3 * (r**4 + r**3 * e + r**2 * e**2 + r * e**3 + e**4) / (10 * s)
    across = along / 2 + length**2 * (r**2 + 3 * r * e + 6 * e**2) / (10 * s) - center**2
    return Solid(np.pi * length * s / 3, center, _round(across, along))


class Sizes(NamedTuple):
    """How a shape is given."""

    keys: tuple[str, ...]
    """Its sizes, in the order of its function."""
    solid: Callable[..., Solid]


SHAPES: Mapping[str, Sizes] = {
    "rod": Sizes(("radius", "length"), rod),
    "tube": Sizes(("radius", "inner_radius", "length"), tube),
    "disc": Sizes(("radius", "thickness"), disc),
    "box": Sizes(("size",), box),
    "cone": Sizes(("radius", "end_radius", "length"), cone),
}
SIZES = tuple(dict.fromkeys(key for one in SHAPES.values() for key in one.keys))
PLACE = ("density", "position", "axis", "rotation_vector")
MAY_BE_ZERO = ("inner_radius", "end_radius")


class SolidKeys(Table):
    """A shape, its sizes and its place in the frame of its body; the mass, or a density."""

    shape: ShapeName | None = Field(
        None, description="of a homogeneous body; with its sizes and density or mass"
    )
    mass: Annotated[LegScalar, KILOGRAMS] = Field(0.0, description="kg")
    density: LegScalar = Field(None, description="of a shape in place of mass, kg/m³")
    radius: Annotated[LegScalar, METRES] = Field(
        None, description="rod, tube (outer), disc, cone (where it begins), m"
    )
    inner_radius: Annotated[LegScalar, METRES] = Field(None, description="tube, m")
    end_radius: Annotated[LegScalar, METRES] = Field(
        None, description="cone, where it ends, m; 0: a point"
    )
    length: Annotated[LegScalar, METRES] = Field(None, description="rod, tube, cone, m")
    thickness: Annotated[LegScalar, METRES] = Field(None, description="disc, m")
    size: Annotated[LegVector, METRES] = Field(
        None, description="box, along x, y, z of its own axes, m"
    )
    position: Annotated[LegVector, METRES] = Field(
        (0.0,) * 3,
        description="of the shape, m, body's frame: where rod, tube, cone begin; middle of disc, box",
    )
    axis: LegVector = Field(
        None,
        description="where a rod, tube, cone or disc points, body's frame; default along the leg from "
        "the body's joint, else z",
    )
    rotation_vector: LegTurn = Field(
        None, description="of a box's own axes in the body's frame, rad"
    )

    @model_validator(mode="after")
    def _fits_its_shape(self) -> Self:
        given = [key for key in (*SIZES, *PLACE) if key in self.model_fields_set]
        if self.shape is None:
            if given:
                raise ValueError(f"{given[0]} is a shape's: say which with shape = {_names()}")
            return self
        own, turned = SHAPES[self.shape].keys, "rotation_vector" if self.shape == "box" else "axis"
        for key in own:
            if getattr(self, key) is None:
                raise ValueError(f"a {self.shape} needs {key}")
            least = "0 or more" if key in MAY_BE_ZERO else "positive"
            value = np.asarray(getattr(self, key))
            if np.any(value < 0) or (key not in MAY_BE_ZERO and np.any(value == 0)):
                raise ValueError(f"{key} of a {self.shape} must be {least}")
        for key in given:
            if key not in (*own, "density", "position", turned):
                raise ValueError(f"a {self.shape} has no {key}; it has {', '.join(own)}, {turned}")
        if self.shape == "tube" and np.any(np.asarray(self.inner_radius) >= self.radius):
            raise ValueError("inner_radius of a tube must be below its radius")
        weights = [key for key in ("density", "mass") if key in self.model_fields_set]
        if len(weights) != 1:
            raise ValueError(f"a {self.shape} needs density (kg/m³) or mass, one of them")
        if np.any(np.asarray(getattr(self, weights[0])) <= 0):
            raise ValueError(f"{weights[0]} of a {self.shape} must be positive")
        if self.axis is not None and not np.all(np.any(self.axis, axis=-1)):
            raise ValueError("axis has zero length")
        return self


class SolidTable(SolidKeys):
    """One of the shapes that a body is made of."""

    @model_validator(mode="after")
    def _has_a_shape(self) -> Self:
        if self.shape is None:
            raise ValueError(f"needs shape = {_names()}")
        return self


def _names() -> str:
    return " or ".join(f'"{one}"' for one in get_args(ShapeName))


def solid_inertia(
    table: SolidKeys, value: Callable[[str, int], Array], along: tuple[float, ...]
) -> tuple[Array, Array, Array]:
    """Mass (legs,), centre (legs, 3), inertia about it (legs, 3, 3), axes of the body's frame.

    `value` gives a key's value of each leg from the key and its rank; `along` is where a shape points
    if its file does not say.
    """
    kind = SHAPES[table.shape or ""]
    solid = kind.solid(*(value(key, 1 if key == "size" else 0) for key in kind.keys))
    weighed = "density" in table.model_fields_set
    mass = value("density", 0) * solid.volume if weighed else value("mass", 0)
    rotation = solid_axes(table, value, along)
    center = value("position", 1) + solid.center[..., np.newaxis] * rotation[..., 2]
    own = mass[..., np.newaxis] * solid.gyration
    return mass, center, np.einsum("...ik,...k,...jk->...ij", rotation, own, rotation)


def solid_axes(
    table: SolidKeys, value: Callable[[str, int], Array], along: tuple[float, ...]
) -> Array:
    """Rotation of a shape's own axes in the body's frame, (legs, 3, 3), or (3, 3) the same of all."""
    if table.shape != "box":
        return _pointing(np.array(along) if table.axis is None else value("axis", 1))
    if table.rotation_vector is None:
        return np.eye(3)
    return np.asarray(Rotation.from_rotvec(value("rotation_vector", 1).copy()).as_matrix())


def _pointing(axis: Array) -> Array:
    """Rotations (..., 3, 3) whose z is along an axis (..., 3); x is any direction across it."""
    z = unit(axis)
    least = np.eye(3)[np.argmin(np.abs(z), axis=-1)]
    x = np.cross(least, z)
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    return np.stack([x, np.cross(z, x), z], axis=-1)
