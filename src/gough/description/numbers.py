"""From a validated robot file to the numbers the equations use: per-leg arrays, defaults, checks."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.description import architecture, schema
from gough.description.modal.body import ModalBody
from gough.description.modal.integrals import rigid_part
from gough.description.modal.source import body_of_file, body_of_plate
from gough.errors import ArchitectureWarning, FileError, ImpossibleBodyWarning, InputError
from gough.legs.pus.equations import PUS
from gough.legs.ups.equations import UPS
from gough.mechanics.body import Body
from gough.mechanics.friction import Friction
from gough.motion import Motion

FEWEST_LEGS = 3
PARALLEL = 1e-9
"""Sine below which two directions count as parallel."""
SAME_PLACE = 1e-9
"""How far a flexible platform's tips may be from the robot file's `platform` points, m."""


class Limits(NamedTuple):
    """Limits a leg, (legs,); infinite where the file gives none."""

    shortest: Array
    longest: Array
    force: Array
    speed: Array
    universal_angle: Array
    spherical_angle: Array


class Description(NamedTuple):
    """A robot's numbers. Leg parameters have the component axis first: (3, legs, 1)."""

    legs: UPS | PUS
    platform_points: Array
    """P_i, (3, legs, 1), platform frame, m."""
    platform: Body
    """Platform and payload about the platform frame's origin, (3, 1, 1)."""
    gravity: Array
    """(3,), m/s², world."""
    home: Motion | None
    tool: Array
    """(3,), platform frame, m."""
    friction: Friction
    limits: Limits
    missing: tuple[str, ...]
    """Bodies the file does not give: dynamics cannot do without them."""
    modal: ModalBody | None = None
    """The flexible platform; `platform` is then the same body undeformed. None if it is rigid."""


def describe(file: schema.RobotFile, name: str, folder: Path | None = None) -> Description:
    """All numbers of a robot file.

    `name` is what to call it in messages; paths in it are relative to `folder`, by default the
    current one.
    """
    return _Describing(file, name, folder or Path()).describe()


def bare_platform(file: schema.RobotFile, name: str) -> Body:
    """The platform without its payload, (3, 1, 1)."""
    bare = schema.Platform() if file.platform is None else file.platform
    alone = file.model_copy(update={"platform": bare.model_copy(update={"payload": []})})
    with warnings.catch_warnings(action="ignore", category=ImpossibleBodyWarning):
        return _Describing(alone, name, Path())._platform()


class _Describing:
    def __init__(self, file: schema.RobotFile, name: str, folder: Path) -> None:
        self.file = file
        self.name = name
        self.folder = folder
        self.count = self._count_legs()
        self.missing: list[str] = []

    def fail(self, message: str) -> FileError:
        return FileError(f"{self.name}: {message}")

    def _count_legs(self) -> int:
        legs = self.file.legs
        places = ("platform", "base" if legs.kind == "UPS" else "rail_origin")
        for key in places:
            value = getattr(legs, key)
            if value.ndim == 2:
                if len(value) < FEWEST_LEGS:
                    raise self.fail(
                        f"legs.{key} has {len(value)} legs, needs {FEWEST_LEGS} or more"
                    )
                return len(value)
        raise self.fail(f"legs.{places[0]} or legs.{places[1]} must be a list with one point a leg")

    def per_leg(self, table: Any, where: str, key: str, rank: int = 0) -> Array:
        """The value of a key for each leg: (legs, ...)."""
        value = np.asarray(getattr(table, key), dtype=np.float64)
        if value.ndim == rank:
            return np.broadcast_to(value, (self.count, *value.shape))
        if len(value) != self.count:
            raise self.fail(
                f"{where}.{key} has values for {len(value)} legs, the robot has {self.count}"
            )
        return value

    def vectors(self, key: str) -> Array:
        """(3, legs, 1)."""
        return self.per_leg(self.file.legs, "legs", key, 1).T[:, :, np.newaxis].copy()

    def unit(self, key: str) -> Array:
        vectors = self.vectors(key)
        length = np.linalg.norm(vectors, axis=0)
        if np.any(length == 0):
            raise self.fail(f"legs.{key} of leg {int(np.argmin(length)) + 1} has zero length")
        return np.asarray(vectors / length)

    def scalars(self, key: str) -> Array:
        return self.per_leg(self.file.legs, "legs", key)[:, np.newaxis].copy()

    def describe(self) -> Description:
        file = self.file
        home = self._home()
        platform_points = self.vectors("platform")
        table = file.legs
        if isinstance(table, schema.PUSLegs):
            legs: UPS | PUS = self._pus(table, platform_points, home)
        else:
            legs = self._ups(platform_points, home)
        self._warn_architecture(legs, platform_points[..., 0].T, home)
        modal = self._modal(platform_points[..., 0].T)
        return Description(
            legs=legs,
            platform_points=platform_points,
            platform=self._platform() if modal is None else rigid_part(modal),
            gravity=np.asarray(file.gravity, dtype=np.float64),
            home=home,
            tool=np.asarray(file.tool, dtype=np.float64),
            friction=self._friction(),
            limits=self._limits(),
            missing=tuple(self.missing),
            modal=modal,
        )

    def _home(self) -> Motion | None:
        home = self.file.home
        if home is None:
            return None
        return Motion(home.position, Rotation.from_rotvec(np.asarray(home.rotation_vector)))

    def _ups(self, platform_points: Array, home: Motion | None) -> UPS:
        base = self.vectors("base")
        axis = self._axis(platform_points, base, None, home)
        return UPS(
            base=base,
            axis=axis,
            reference=self._reference(axis),
            rotor_mass=self._rotor_mass(),
            cross=self._body("cross"),
            cylinder=self._body("cylinder"),
            rod=self._body("rod"),
        )

    def _pus(self, legs: schema.PUSLegs, platform_points: Array, home: Motion | None) -> PUS:
        length = self.scalars("length")
        if np.any(length <= 0):
            raise self.fail(f"legs.length of leg {int(np.argmin(length)) + 1} is not positive")
        branch = legs.branch
        branches = [branch] * self.count if isinstance(branch, str) else branch
        if len(branches) != self.count:
            raise self.fail(
                f"legs.branch has values for {len(branches)} legs, the robot has {self.count}"
            )
        origin, direction = self.vectors("rail_origin"), self.unit("rail_direction")
        sign = np.array([[-1.0 if one == "minus" else 1.0] for one in branches])
        axis = self._axis(platform_points, origin, (direction, length, sign), home)
        reference = self._reference(axis)
        return PUS(
            rail_origin=origin,
            rail_direction=direction,
            length=length,
            sign=sign,
            axis=axis,
            reference=reference,
            guide_normal=guide_normal(axis, direction, reference),
            rotor_mass=self._rotor_mass(),
            slider=self._body("slider"),
            cross=self._body("cross"),
            link=self._body("link"),
        )

    def _rotor_mass(self) -> Array:
        mass = self.scalars("rotor_mass")
        if np.any(mass < 0):
            raise self.fail(f"legs.rotor_mass of leg {int(np.argmin(mass)) + 1} is negative")
        return mass

    def _axis(
        self,
        platform_points: Array,
        joint: Array,
        rail: tuple[Array, Array, Array] | None,
        home: Motion | None,
    ) -> Array:
        """The file's axis, or unit(z × leg direction at home)."""
        if self.file.legs.axis is not None:
            return self.unit("axis")
        if home is None:
            raise self.fail("legs.axis is missing, and its default needs a home pose")
        tip = home.position[:, np.newaxis] + home.rotation @ platform_points[..., 0]
        along = tip[..., np.newaxis] - joint
        if rail is not None:
            direction, length, sign = rail
            ahead = np.sum(direction * along, axis=0)
            radicand = ahead**2 - np.sum(along * along, axis=0) + length**2
            if np.any(radicand <= 0):
                leg = int(np.argmin(radicand)) + 1
                raise self.fail(f"leg {leg} cannot reach the home pose, and legs.axis is missing")
            along = along - (ahead + sign * np.sqrt(radicand)) * direction
        axis = np.cross([0.0, 0.0, 1.0], along[..., 0], axisb=0).T[..., np.newaxis]
        sine = np.linalg.norm(axis, axis=0) / np.linalg.norm(along, axis=0)
        if np.any(~(sine > PARALLEL)):
            leg = int(np.argmin(sine)) + 1
            raise self.fail(f"legs.axis is missing, and leg {leg} is vertical at home: give axis")
        return np.asarray(axis / np.linalg.norm(axis, axis=0))

    def _reference(self, axis: Array) -> Array:
        """The file's reference made perpendicular to axis, or the world axis least along it."""
        if self.file.legs.reference is not None:
            reference = self.unit("reference")
        else:
            # rounded, so that of two axes that are equally good the first is taken on any machine
            along = np.round(np.abs(axis[..., 0]), 9)
            reference = np.eye(3)[np.argmin(along, axis=0)].T[..., np.newaxis]
        reference, sine = perpendicular(reference, axis)
        if np.any(sine < PARALLEL):
            leg = int(np.argmin(sine)) + 1
            raise self.fail(f"legs.reference of leg {leg} is parallel to its axis")
        return reference

    def _body(self, key: str) -> Body:
        """The body of each leg about its frame's origin."""
        tables = getattr(self.file.legs, key)
        if tables is None:
            self.missing.append(f"legs.{key}")
            tables = [schema.Body()]
        if len(tables) not in (1, self.count):
            raise self.fail(f"legs.{key} has {len(tables)} tables, the robot has {self.count} legs")
        if len(tables) == 1:
            mass, moment, inertia = self._parameters(tables[0], f"legs.{key}")
        else:
            parts = [
                [part[i] for part in self._parameters(table, f"legs.{key}.{i}")]
                for i, table in enumerate(tables)
            ]
            mass, moment, inertia = (np.stack(part) for part in zip(*parts, strict=True))
        self._warn_impossible(mass, moment, inertia, f"legs.{key}")
        return Body(
            mass[:, np.newaxis], moment.T[..., np.newaxis], np.moveaxis(inertia, 0, -1)[..., None]
        )

    def _parameters(self, table: schema.Body, where: str) -> tuple[Array, Array, Array]:
        """(legs,), (legs, 3), (legs, 3, 3): mass, first moment, inertia about the frame's origin."""
        standard = [key for key in schema.STANDARD_PARAMETERS if key in table.model_fields_set]
        if standard:
            return from_standard(
                *(self.per_leg(table, where, k) for k in schema.STANDARD_PARAMETERS)
            )
        inertia = self.per_leg(table, where, "inertia", 2)
        skew = np.abs(inertia - np.swapaxes(inertia, -1, -2)).max()
        if skew > 1e-9 * np.abs(inertia).max():
            raise self.fail(f"{where}.inertia is not symmetric")
        return about_origin(
            self.per_leg(table, where, "mass"),
            self.per_leg(table, where, "center_of_mass", 1),
            inertia,
        )

    def _platform(self) -> Body:
        table = self.file.platform
        if table is None:
            self.missing.append("platform")
            table = schema.Platform()
        total: list[Array] = [np.zeros(()), np.zeros(3), np.zeros((3, 3))]
        bodies: list[tuple[str, schema.SingleBody]] = [("platform", table)]
        bodies += [(f"platform.payload.{i}", body) for i, body in enumerate(table.payload)]
        for where, body in bodies:
            parts = [part[:1] for part in self._parameters(body, where)]
            self._warn_impossible(parts[0], parts[1], parts[2], where)
            total = [sum_ + part[0] for sum_, part in zip(total, parts, strict=True)]
        mass, moment, inertia = total
        return Body(mass.reshape(1, 1), moment.reshape(3, 1, 1), inertia.reshape(3, 3, 1, 1))

    def _modal(self, tips: Array) -> ModalBody | None:
        """The flexible platform, its tips (legs, 3) where the robot file says."""
        table = self.file.platform
        try:
            if table is not None and table.plate is not None:
                return body_of_plate(table.plate, tips, f"{self.name}: platform.plate")
            if table is None or table.modes is None:
                return None
            body = body_of_file(table.modes, tips, self.folder)
        except InputError as error:
            raise FileError(str(error)) from None
        if len(body.tip_positions) != self.count:
            raise self.fail(
                f"{body.name} has {len(body.tip_positions)} tips, the robot has {self.count} legs"
            )
        apart = np.linalg.norm(body.tip_positions - tips, axis=1)
        if np.any(apart > SAME_PLACE):
            leg = int(np.argmax(apart))
            raise self.fail(
                f"the tip of leg {leg + 1} in {body.name} is {apart[leg]:.3g} m from legs.platform; "
                f"limit {SAME_PLACE:g}"
            )
        return body

    def _warn_architecture(self, legs: UPS | PUS, points: Array, home: Motion | None) -> None:
        """Warn of a geometry whose legs hold the platform in no pose."""
        margin = architecture.margin(legs, points, home)
        if margin is not None and margin < architecture.SINGULAR:
            warnings.warn(
                f"{self.name}: architecturally singular: the lines of the legs are dependent in "
                f"every pose (smallest over largest singular value {margin:.2g}, limit "
                f"{architecture.SINGULAR:g}), "
                "so no actuator forces hold the platform; similar or regular hexagons are like this",
                ArchitectureWarning,
                stacklevel=5,
            )

    def _warn_impossible(self, mass: Array, moment: Array, inertia: Array, where: str) -> None:
        """Warn of what no mass distribution can have: a pseudo-inertia matrix that is not ≥ 0.

        ∫ [x; 1][x; 1]ᵀ dm = [½ tr(I) 1 − I, MS; MSᵀ, M] (about the frame's origin).
        """
        pseudo = np.zeros((len(mass), 4, 4))
        trace = np.trace(inertia, axis1=-2, axis2=-1)[:, np.newaxis, np.newaxis]
        pseudo[:, :3, :3] = trace / 2 * np.eye(3) - inertia
        pseudo[:, :3, 3] = pseudo[:, 3, :3] = moment
        pseudo[:, 3, 3] = mass
        lowest = np.linalg.eigvalsh(pseudo)[:, 0]
        bad = np.flatnonzero(lowest < -1e-9 * np.abs(pseudo).max(axis=(1, 2)))
        if bad.size:
            legs = "" if where.startswith("platform") or bad.size == len(mass) else (
                f" of leg {', '.join(str(i + 1) for i in bad)}"
            )  # fmt: skip
            warnings.warn(
                f"{self.name}: {where}{legs}: no real body has these inertial parameters "
                f"(its pseudo-inertia matrix has the eigenvalue {lowest[bad[0]]:.3g})",
                ImpossibleBodyWarning,
                stacklevel=5,
            )

    def _friction(self) -> Friction:
        table = self.file.legs.friction
        values = {
            key: self.per_leg(table, "legs.friction", key)[:, np.newaxis]
            for key in Friction._fields
            if key != "screw_drag"
        }
        drag = np.zeros((self.count, 1))
        if table.screw_lead is not None:
            torque = self.per_leg(table, "legs.friction", "screw_torque")
            lead = self.per_leg(table, "legs.friction", "screw_lead")
            drag = (2 * np.pi * torque / lead)[:, np.newaxis]
        return Friction(screw_drag=drag, **values)

    def _limits(self) -> Limits:
        table = self.file.legs.limits
        unlimited = np.full(self.count, np.inf)
        values = {
            key: unlimited
            if getattr(table, key) is None
            else self.per_leg(table, "legs.limits", key)
            for key in ("force", "speed", "universal_angle", "spherical_angle")
        }
        shortest, longest = -unlimited, unlimited
        if table.stroke is not None:
            shortest, longest = self.per_leg(table, "legs.limits", "stroke", 1).T
        return Limits(shortest=shortest, longest=longest, **values)


def perpendicular(vectors: Array, axis: Array) -> tuple[Array, Array]:
    """Unit vectors (3, ...) made perpendicular to unit axes, and the sines of the angles between."""
    across = vectors - np.sum(vectors * axis, axis=0) * axis
    sine = np.linalg.norm(across, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(across / sine), sine


def guide_normal(axis: Array, direction: Array, reference: Array) -> Array:
    """u of a PUS guide: axis made perpendicular to the rail, reference where they are parallel."""
    normal, sine = perpendicular(axis, direction)
    return np.asarray(np.where(sine < PARALLEL, reference, normal))


def length_scale(points: Array) -> Array:
    """Rms distance of the P_i (3, legs, ...) from their mean, m; 1 where it is 0."""
    spread = points - points.mean(axis=1, keepdims=True)
    size = np.sqrt(np.mean(np.sum(spread**2, axis=0), axis=0))
    return np.asarray(np.where(size == 0, 1.0, size))


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
