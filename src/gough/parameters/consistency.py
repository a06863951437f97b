"""Standard parameters that carry identified base parameters, nearest to the robot file's.

A log tells G X with a covariance P, and only in part. Of all X the one is taken that lies nearest to the
robot file's X₀, in what the log tells better than the drawing does:

    minimise  (G X − X_base)ᵀ P⁻¹ (G X − X_base) + ‖B (X − X₀)‖²

‖B (X − X₀)‖ is the distance in deviations that a drawing may have. Of a body it is the log-determinant
distance of pseudo-inertia matrices J = ∫ [x; 1][x; 1]ᵀ dm = [½ tr(I) 1 − I, MS; MSᵀ, M] to second
order, ½ ‖J₀^(−½) (J − J₀) J₀^(−½)‖² (Lee, Wensing & Park 2020): a small change of a platform is a large
one of a rod. With √P⁻¹ G B⁻¹ = U diag(s) Vᵀ the log tells a combination v of parameters s times as
well as the drawing; those with s < TELLS stay as drawn, exactly.

A body that moves must be one that matter can make: J positive semidefinite (Wensing, Kim & Slotine 2018;
Sousa & Cortesão 2014), found by Newton's method with the barrier −μ log det J, μ → 0. Friction and rotor
masses are never negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.description.numbers import LegGroup, describe
from gough.legs.bodies import STANDARD_PARAMETERS
from gough.mechanics.groups import parted
from gough.model.model import Model
from gough.parameters.base import BaseParameters
from gough.parameters.layout import TEN, Layout
from gough.parameters.regressor import standard_parameters

if TYPE_CHECKING:
    from gough.parameters.identification import Identification

SPEED = 0.1
"""Speed (m/s) and, over the length scale, rate at which viscous friction is compared with weight."""
SHARE = 0.1
"""Friction's width, in weights."""
DRAWN = 0.3
"""Relative deviation of masses and inertias of a drawing."""
TELLS = 2.0
"""Deviation of the drawing over that of the log, from which the log counts."""
HOLLOW = 0.3
"""Radius of gyration, length scales, that a body without inertia in the file is compared with."""
THIN = 0.1
"""The same over the body's own size, added so that rods may have a little width."""
LIGHT = 0.1
"""Mass, over the largest of the robot, that a body without mass in the file is compared with."""
MOVED = 0.01
"""Change of a parameter, in deviations of the drawing, from which it counts as moved."""
NO_CHANGE = 1e-9
"""In deviations of the drawing: what is rounding only."""
LEAST_BARRIER = 1e-7
"""μ at the end."""
ALONG = 0.9
"""Part of the way to the nearest impossible body that a step takes at most."""
STEPS = 40
"""Of Newton's, with each μ."""
CLOSE = 1e-6
"""Last of them, in deviations of the drawing."""
POSSIBLE = 1e-12
"""Eigenvalue of J₀^(−½) J J₀^(−½) that is rounding."""
_BASIS = np.zeros((TEN, 4, 4))
"""J of each standard parameter alone."""
for _i, (_row, _column) in enumerate([(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]):
    if _row == _column:
        _BASIS[_i, [0, 1, 2], [0, 1, 2]] = 0.5
        _BASIS[_i, _row, _row] = -0.5
    else:
        _BASIS[_i, _row, _column] = _BASIS[_i, _column, _row] = -1.0
for _i in range(3):
    _BASIS[6 + _i, _i, 3] = _BASIS[6 + _i, 3, _i] = 1.0
_BASIS[9, 3, 3] = 1.0


class BodyOf(NamedTuple):
    """A body: where its ten parameters are, and the J that it is compared with."""

    places: Array
    size: Array
    """J₀^½, (4, 4), of the file's body made possible and a little wider."""

    @property
    def basis(self) -> Array:
        """J₀^(−½) J J₀^(−½), (10, 4, 4), of each parameter alone."""
        half = np.linalg.inv(self.size)
        return np.asarray(half @ _BASIS @ half.T)

    @property
    def metric(self) -> Array:
        """B (10, 10) of this body's parameters."""
        rows = self.basis.reshape(TEN, 16).T / (2 * DRAWN)
        return np.asarray(np.linalg.qr(rows, mode="r"))

    def least(self, x: Array) -> float:
        """Smallest eigenvalue of J₀^(−½) J J₀^(−½) with parameters X."""
        return float(np.linalg.eigvalsh(np.einsum("i,ijk->jk", x[self.places], self.basis))[0])


def standard_values(robot: Model, found: Identification, *, consistent: bool = True) -> Array:
    """Return X (columns,) of the module's text, in the order of `found.base.names`.

    Args:
        robot: whose file is the drawing.
        found: what a log tells.
        consistent: bodies that move are ones that matter can make.

    """
    base = found.base
    bodies, spread = _drawing(robot, found)
    values, vectors = np.linalg.eigh(found.information)
    root = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * vectors.T
    right = root @ (found.values - base.values)
    bounded = np.array([one.part in ("rotors", "friction") for one in base.columns])
    fixed = np.zeros(len(bounded), dtype=bool)
    while True:
        free = spread * ~fixed[:, np.newaxis]  # columns of B⁻¹, of what may change
        start = np.where(fixed, -base.standard, 0.0)
        left, sizes, turned = np.linalg.svd(root @ base.grouping @ free, full_matrices=False)
        told = sizes >= TELLS
        aim = (left.T @ (right - root @ base.grouping @ start))[told]
        rows = sizes[told, np.newaxis] * turned[told]
        y = turned[told].T @ (sizes[told] * aim / (1 + sizes[told] ** 2))
        x = base.standard + start + free @ y
        if consistent:
            x = _possible(bodies, base.standard + start, free, rows, aim, y)
        negative = bounded & ~fixed & (x < -NO_CHANGE * np.linalg.norm(spread, axis=1))
        if not np.any(negative):
            break
        fixed |= negative
    widths = np.linalg.norm(spread, axis=1)
    same = (np.abs(x - base.standard) < NO_CHANGE * widths) | _untold(base)
    return np.where(same, base.standard, np.where(bounded, np.maximum(x, 0.0), x))


def moved(robot: Model, found: Identification, values: Array) -> tuple[str, ...]:
    """Return the names of standard parameters that `values` moves from the robot file's.

    Those of the file stand by less than a hundredth of the deviation that a drawing may have.
    """
    widths = np.linalg.norm(_drawing(robot, found)[1], axis=1)
    away = np.abs(values - found.base.standard) > MOVED * widths
    return tuple(name for name, one in zip(found.base.names, away, strict=True) if one)


def _drawing(robot: Model, found: Identification) -> tuple[list[BodyOf], Array]:
    """Bodies, and B⁻¹ (columns, columns): what a deviation of the drawing changes."""
    base, layout = found.base, Layout.of(robot.mechanism.legs)
    columns = np.arange(len(base.names))
    if found.equal is not None:
        columns = np.argmax(found.equal.repeat, axis=1)
    legs = [ten for own in layout.places() for ten in own.bodies.reshape(-1, TEN)]
    platform = np.arange(layout.of_platform.start, layout.of_platform.stop)
    places = {tuple(columns[ten]): columns[ten] for ten in (*legs, platform)}
    masses = np.array([one[-1] for one in places.values()])
    largest = float(np.abs(base.standard[masses]).max(initial=0.0)) or 1.0
    bodies = []
    spread = np.diag(_widths(robot, found, largest))
    for ten in places.values():
        size = _size(base.standard[ten], largest, robot.length_scale)
        bodies.append(BodyOf(ten, size))
        spread[np.ix_(ten, ten)] = np.linalg.inv(bodies[-1].metric)
    return bodies, spread


def _size(ten: Array, largest: float, length: float) -> Array:
    """J₀^½ (4, 4) lower, of a body of the file as near as matter can be to it, a little wider."""
    whole = np.einsum("i,ijk->jk", ten, _BASIS)
    mass = max(float(whole[3, 3]), 0.0)
    center = whole[:3, 3] / mass if mass else np.zeros(3)
    own = whole[:3, :3] - mass * np.outer(center, center)
    values, vectors = np.linalg.eigh(own)
    values = np.abs(values)  # how far a body is from possible is what it may be off
    heavy = mass or LIGHT * largest
    radius = THIN * np.sqrt(values.sum() / heavy) if mass else 0.0
    if values.sum() <= 1e-9 * heavy * length**2:
        radius = HOLLOW * length
    own = (vectors * (values + heavy * radius**2)) @ vectors.T
    moved_to = np.eye(4)
    moved_to[:3, 3] = center
    wide = np.zeros((4, 4))
    wide[:3, :3], wide[3, 3] = own, heavy
    return np.asarray(moved_to @ np.linalg.cholesky(wide))


def _possible(
    bodies: list[BodyOf], start: Array, free: Array, rows: Array, aim: Array, y: Array
) -> Array:
    """X = start + free y of least ‖rows y − aim‖² + ‖y‖² with every body that moves possible."""
    bound: list[BodyOf] = []
    x = start + free @ y
    for _ in range(len(bodies)):
        more = [
            one
            for one in bodies
            if not any(one is other for other in bound)
            and one.least(x) < -POSSIBLE
            and float(np.abs(one.metric @ (x - start)[one.places]).max()) > NO_CHANGE
        ]
        if not more:
            break
        bound += more
        x = _barrier(bound, start, free, rows, aim)
    return np.asarray(x)


def _barrier(bound: list[BodyOf], start: Array, free: Array, rows: Array, aim: Array) -> Array:
    """X by Newton's method, each step as least squares so that exact logs lose no digits."""
    y = np.zeros(free.shape[1])
    slopes, constant = [], []
    for one in bound:
        basis = one.basis.reshape(TEN, 16).T
        slopes.append((basis @ free[one.places]).reshape(4, 4, -1))
        constant.append((basis @ start[one.places]).reshape(4, 4))
        # from the body that it is compared with, which is possible
        ten = np.linalg.lstsq(basis, np.eye(4).ravel(), rcond=None)[0]
        y[one.places] = one.metric @ (ten - start[one.places])
    S, K = np.array(constant), np.array(slopes)
    mu = 1.0
    while mu > LEAST_BARRIER:
        for _ in range(STEPS):
            half = np.linalg.inv(np.linalg.cholesky(S + K @ y))
            turned = np.einsum("bij,bjkn,blk->biln", half, K, half)
            parts = [rows, np.eye(len(y)), np.sqrt(mu) * turned.reshape(-1, len(y))]
            inward = np.sqrt(mu) * np.tile(np.eye(4).ravel(), len(bound))
            right = np.concatenate([aim - rows @ y, -y, inward])
            step = np.linalg.lstsq(np.concatenate(parts), right, rcond=None)[0]
            lowest = float(np.linalg.eigvalsh(turned @ step).min())
            y = y + step * min(1.0, ALONG / max(-lowest, ALONG))
            if np.linalg.norm(step) < CLOSE * (1 + np.linalg.norm(y)):
                break
        mu *= 0.1
    return np.asarray(start + free @ y)


def adopted(
    robot: Model, found: Identification, values: Array | None = None, *, consistent: bool = True
) -> Model:
    """Return the robot with the parameters found in its file; comments and geometry stay.

    `values` are those of `standard_values`, if they are known already.
    """
    if values is None:
        values = standard_values(robot, found, consistent=consistent)
    names = found.base.names
    if found.equal is not None:
        values, names = found.equal.repeat @ values, found.equal.whole.names
    return robot.edited(changes(robot, names, values))


def changes(robot: Model, names: tuple[str, ...], values: Array) -> Mapping[str, Any]:
    """Keys of the robot file that make X the given values, bodies by their standard parameters.

    What is bolted to the platform as payload stays; the platform has the rest.
    """
    value = dict(zip(names, values, strict=True))
    found: dict[str, Any] = {}
    for group in robot.description.groups:
        found |= {f"{group.where}.{key}": one for key, one in _keys(group, value).items()}
    platform = values[Layout.of(robot.mechanism.legs).of_platform] - _payload(robot)
    table: dict[str, Any] = {
        key: float(one) for key, one in zip(STANDARD_PARAMETERS, platform, strict=True) if one
    }
    bolted = robot.file.platform
    if bolted is not None:
        table |= bolted.freedom
        if bolted.payload:
            table["payload"] = [one.model_dump(exclude_unset=True) for one in bolted.payload]
    found["platform"] = table
    return found


def _keys(group: LegGroup, value: Mapping[str, float]) -> dict[str, Any]:
    """Keys of a group of legs that make its parameters, by name, what they are to be."""
    rules, parts = group.kind.parameters, parted(group.legs)
    numbers = range(group.first + 1, group.first + group.leg_count + 1)

    def per_leg(name: str) -> Array:
        return np.array([value.get(f"leg {leg} {name}", 0.0) for leg in numbers])

    found: dict[str, Any] = {}
    for body in dict.fromkeys(name for legs in parts for name in legs.BODIES):
        ten = {key: per_leg(f"{body} {key}") for key in STANDARD_PARAMETERS}
        found[rules.key(body)] = {key: _short(one) for key, one in ten.items() if one.any()}
    for rotor in dict.fromkeys(name for legs in parts for name in rules.rotors(legs)):
        found[rules.key(rotor)] = _short(per_leg(rotor))
    for law in dict.fromkeys(name for legs in parts for name in legs.LINEAR_FRICTION):
        column = per_leg(law)
        if column.any():
            keys = rules.friction_keys(group.table, law, column)
            found |= {key: _short(one) for key, one in keys.items()}
    return found


def _short(column: Array) -> Any:
    """One number if it is the same for all legs."""
    first = column.flat[0]
    return float(first) if np.all(column == first) else column.tolist()


def _payload(robot: Model) -> Array:
    """The ten parameters of what is bolted to the platform."""
    platform = robot.file.platform
    if platform is None or not platform.payload:
        return np.zeros(TEN)
    own = [key for key in platform.model_fields_set if key != "payload"]
    bare = platform.model_copy(
        update={key: type(platform).model_fields[key].get_default() for key in own}
    )
    only = robot.file.model_copy(update={"platform": bare})
    alone = type(robot)(only, robot.text, describe(only, robot.name))
    return standard_parameters(alone)[_inertial(robot).of_platform]


def _inertial(robot: Model) -> Layout:
    """Places of the inertial parameters."""
    return Layout.of(robot.mechanism.legs)


def _untold(base: BaseParameters) -> Array:
    """(columns,) booleans: friction that nothing tells from other friction of the leg."""
    untold = {f"leg {i + 1} {name}" for i, rules in enumerate(base.legs) for name in rules.felt_as}
    return np.array([name in untold for name in base.names])


def _widths(robot: Model, found: Identification, mass: float) -> Array:
    """How far a rotor or friction may be from the file's, by its unit: whole masses and forces."""
    base, length = found.base, robot.length_scale
    arms = np.array([length if one.units.turns else 1.0 for one in robot.actuators])
    weight = SHARE * float(np.sqrt(np.mean((found.measured.forces / arms) ** 2)))
    sizes = {
        "kg": mass,
        "kg m": mass * length,
        "kg m²": mass * length**2,
        "N": weight,
        "N m": weight * length,
        "N s/m": weight / SPEED,
        "N m s/rad": weight * length**2 / SPEED,
    }
    widths = np.array([sizes[unit] for unit in base.units])
    widths[_untold(base)] *= 1e-9  # as the file has it
    return np.asarray(widths)
