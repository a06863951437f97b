"""Every posture of planar and spherical robots of chains, from the quadrics that their legs are.

Displacements of the platform from home in a plane, or about a point, are points of projective space:

    planar      x = (c, s, d₁, d₂) with turn α about n, shift t: c = cos α/2, s = sin α/2,
                d = (c t + s t×n)/2, in length scales            (Blaschke 1911, Grünwald 1911)
    spherical   x = the unit quaternion of the turn

With its actuators locked a leg of two passive joints lets the platform take the points of a quadric
xᵀ A x = 0, a leg of one those of a line; A is found from points that the leg takes. Common points of all
legs are the postures: three quadrics have eight, complex ones included. Of planar ones two are no poses
(c = s = 0): a planar 3-RRR has six postures, a spherical one eight, a five-bar two. They are the
eigenvectors of multiplication maps in the null space of the Macaulay matrix (Dreesen, Batselier & De
Moor 2012): no start has to be guessed, and none is missed but by rounding.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import scipy
from scipy.spatial.transform import Rotation

from gough.analysis.study import made_real, reality
from gough.base.arrays import Array
from gough.legs.chain.equations import Chain
from gough.legs.chain.posture import PRISMATIC
from gough.mechanics.groups import parted
from gough.model.model import Model

ALIGNED = 1e-6
"""Sine between parallel axes, and distance in length scales of axes through a point."""
POINTS = 60
"""Points of a leg that its quadric is found from."""
NOTHING = 1e-9
"""Singular value, of the largest, that is zero."""
NEARLY_REAL, REAL = 1e-4, 1e-6
"""Sines of the angle between x and its conjugate up to which it is tried as a real one, and is one."""
NO_POSE = 1e-7
"""c² + s² of a unit x below which it is no pose."""
REVOLUTE, SPHERICAL = "revolute", "spherical"


class Plane(NamedTuple):
    """Displacements in a plane."""

    first: Array
    second: Array
    normal: Array
    size: float

    def points(self, shift: Array, rotation: Array) -> Array:
        """x (n, 4) of shifts (n, 3) of the platform's origin and rotations (n, 3, 3) from home."""
        turn = Rotation.from_matrix(rotation).as_quat()
        c, s = turn[:, 3:], (turn[:, :3] @ self.normal)[:, np.newaxis]
        d = (c * shift + s * np.cross(shift, self.normal)) / (2 * self.size)
        return np.concatenate([c, s, d @ np.stack([self.first, self.second], axis=1)], axis=1)

    def shifts(self, x: Array) -> tuple[Array, Array]:
        """The inverse for real x (n, 4): shifts and rotations, of 2 (c d − s d×n)/(c² + s²)."""
        c, s = x[:, :1], x[:, 1:2]
        d = x[:, 2:3] * self.first + x[:, 3:] * self.second
        shift = 2 * self.size * (c * d - s * np.cross(d, self.normal)) / (c**2 + s**2)
        turn = Rotation.from_quat(np.concatenate([s * self.normal, c], axis=1))
        return shift, turn.as_matrix()

    def poses(self, x: Array) -> Array:
        """Which points (n, 4), complex ones too, are poses."""
        size = np.sum(np.abs(x) ** 2, axis=1)
        return np.asarray(np.abs(x[:, 0] ** 2 + x[:, 1] ** 2) > NO_POSE * size)


class Centre(NamedTuple):
    """Displacements about a point, given from the platform's origin at home."""

    point: Array

    def points(self, shift: Array, rotation: Array) -> Array:
        """x (n, 4) of shifts of the platform's origin, which follow from rotations (n, 3, 3)."""
        return np.asarray(Rotation.from_matrix(rotation).as_quat())

    def shifts(self, x: Array) -> tuple[Array, Array]:
        """The inverse for real x (n, 4)."""
        rotation = Rotation.from_quat(x).as_matrix()
        return self.point - rotation @ self.point, rotation

    def poses(self, x: Array) -> Array:
        """Which points (n, 4), complex ones too, are poses."""
        size = np.sum(np.abs(x) ** 2, axis=1)
        return np.asarray(np.abs(np.sum(x**2, axis=1)) > NO_POSE * size)


class Solutions(NamedTuple):
    """All solutions for locked actuators."""

    position: Array
    """(k, 3) of those that are real, or nearly."""
    rotation: Array
    """(k, 3, 3)."""
    real: Array
    """(k,) real without doubt."""
    complex_count: int
    """Number of poses, complex ones included."""


def displacements(robot: Model) -> Plane | Centre | None:
    """The group in which a robot of chains moves, if its joints are all parallel or through a point."""
    legs = parted(robot.mechanism.legs)
    if robot.mechanism.mobility is not None or robot.modes:
        return None
    chains = [one for one in legs if isinstance(one, Chain)]
    if len(chains) < len(legs):
        return None
    size, home = robot.length_scale, robot.home.position
    joints = [
        (kind, axis[:, leg, 0], point[:, leg, 0] - home)
        for one in chains
        for kind, axis, point in zip(one.joints, one.axes, one.points, strict=True)
        for leg in range(one.count)
    ]
    axes = np.array([axis for kind, axis, _ in joints if kind == REVOLUTE])
    kinds = {kind for kind, _, _ in joints}
    if not len(axes):
        return None
    normal = axes[0] / np.linalg.norm(axes[0])
    if np.abs(np.cross(axes, normal)).max() < ALIGNED and SPHERICAL not in kinds:
        slides = np.array([axis for kind, axis, _ in joints if kind == PRISMATIC]).reshape(-1, 3)
        if np.abs(slides @ normal).max(initial=0.0) > ALIGNED:
            return None
        first, second = scipy.linalg.null_space(normal[np.newaxis]).T
        return Plane(first, second, normal, size)
    if PRISMATIC in kinds:
        return None
    # the point c nearest to all axes: (1 − a aᵀ)(c − p) = 0; a spherical joint is there itself
    across = [np.eye(3) - (np.outer(a, a) if kind == REVOLUTE else 0) for kind, a, _ in joints]
    rows = np.concatenate(across)
    right = np.concatenate([one @ p for one, (_, _, p) in zip(across, joints, strict=True)])
    point, _, rank, _ = np.linalg.lstsq(rows, right, rcond=NOTHING)
    if rank < 3 or np.abs(rows @ point - right).max() > ALIGNED * size:
        return None
    return Centre(point)


def solutions(robot: Model, q: Array, group: Plane | Centre) -> Solutions | None:
    """All poses with actuated coordinates q (actuators,); None where they are not isolated points."""
    rng = np.random.default_rng(0)
    lines: list[Array] = []
    quadrics: list[Array] = []
    first = 0
    for one in parted(robot.mechanism.legs):
        assert isinstance(one, Chain)
        own = q[first : first + len(one.holders)]
        first += len(one.holders)
        if not one.body_port:
            continue  # a spherical joint in the centre: the leg holds nothing
        size = max(robot.leg_size, robot.length_scale)
        values = one.split(one.scattered(np.tile(own[:, np.newaxis], POINTS), size, rng))
        posture = one.placed(values)
        shape = (one.count, POINTS)
        turned = np.broadcast_to(posture.joints[-1].turned, (3, 3, *shape))
        shift = (
            np.broadcast_to(one.origin(posture), (3, *shape)) - robot.home.position[:, None, None]
        )
        for leg in range(one.count):
            x = group.points(shift[:, leg].T, np.moveaxis(turned[:, :, leg], -1, 0))
            linear, quadric = _surfaces(x)
            lines += list(linear)
            quadrics += list(quadric)
    points = common_points(np.array(lines).reshape(-1, 4), np.array(quadrics).reshape(-1, 4, 4))
    if points is None:
        return None
    x = points[group.poses(points)]
    near = reality(x) < NEARLY_REAL
    shift, rotation = group.shifts(made_real(x[near]))
    return Solutions(
        robot.home.position + shift,
        rotation @ robot.home.rotation,
        reality(x)[near] < REAL,
        len(x),
    )


def _surfaces(x: Array) -> tuple[Array, Array]:
    """Linear forms (k, 4), or else quadrics (k, 4, 4), that vanish at points (n, 4)."""
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    _, sizes, turned = np.linalg.svd(x)
    linear = turned[sizes < NOTHING * sizes[0]]
    if len(linear):
        return linear, np.zeros((0, 4, 4))
    rows, columns = np.triu_indices(4)
    _, sizes, turned = np.linalg.svd(x[:, rows] * x[:, columns])
    found = np.zeros((4, 4, int(np.sum(sizes < NOTHING * sizes[0]))))
    found[rows, columns] = turned[sizes < NOTHING * sizes[0]].T / 2
    return linear, np.moveaxis(found + found.swapaxes(0, 1), -1, 0)


def common_points(linear: Array, quadrics: Array) -> Array | None:
    """All common points (s, n), complex ones included, of linear forms (k, n) and quadrics (m, n, n).

    Of more quadrics than needed the first are solved. None where the points are not isolated.
    """
    whole = np.eye(quadrics.shape[-1])
    basis = scipy.linalg.null_space(linear, rcond=NOTHING) if len(linear) else whole
    size = basis.shape[1]
    if size < 2:
        return np.asarray(basis.T + 0j)
    if len(quadrics) < size - 1:
        return None
    reduced = np.array([basis.T @ one @ basis for one in quadrics[: size - 1]])
    reduced /= np.linalg.norm(reduced, axis=(1, 2), keepdims=True)
    found = _macaulay(reduced)
    return None if found is None else np.asarray(found @ basis.T)


def _macaulay(quadrics: Array) -> Array | None:
    """The 2^(n−1) common points (s, n) of quadrics (n − 1, n, n); None where they are not points."""
    count = quadrics.shape[-1]
    degree = count  # Macaulay's bound: Σ (2 − 1) + 1
    high, low, least = (_monomials(count, degree - i) for i in range(3))
    place = {one: i for i, one in enumerate(high)}
    table = np.zeros((len(quadrics), len(least), len(high)))
    for row, one in enumerate(least):
        for i, j in itertools.product(range(count), repeat=2):
            table[:, row, place[_times(_times(one, i), j)]] += quadrics[:, i, j]
    _, sizes, turned = np.linalg.svd(table.reshape(-1, len(high)))
    expected = 2 ** (count - 1)
    rank = len(high) - expected
    if rank > len(sizes) or sizes[rank - 1] < NOTHING * sizes[0]:
        return None
    null = turned[rank:].T
    by_variable = np.stack([null[[place[_times(one, i)] for one in low]] for i in range(count)])
    # two linear forms f, g of x: below has full rank unless f is 0 at a solution
    above, below = np.tensordot(np.random.default_rng(1).normal(size=(2, count)), by_variable, 1)
    if np.linalg.svd(below, compute_uv=False)[-1] < NOTHING:
        return None
    _, vectors = np.linalg.eig(np.linalg.lstsq(below, above, rcond=None)[0])
    # products of one low monomial, large at the solution, with all x are x itself
    products = by_variable @ vectors  # (n, low monomials, solutions)
    best = np.argmax(np.linalg.norm(products, axis=0), axis=0)
    points = products[:, best, np.arange(expected)].T
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))


def _monomials(count: int, degree: int) -> list[tuple[int, ...]]:
    """Exponents of all monomials of a degree."""
    return [
        tuple(one.count(i) for i in range(count))
        for one in itertools.combinations_with_replacement(range(count), degree)
    ]


def _times(monomial: tuple[int, ...], variable: int) -> tuple[int, ...]:
    return (*monomial[:variable], monomial[variable] + 1, *monomial[variable + 1 :])
