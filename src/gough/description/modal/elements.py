"""Solid finite elements: shape functions, quadrature, faces, as meshed sources need them.

A shape function is the polynomial of its element's family that is 1 at its own node and 0 at the
others: N(ξ) = p(ξ) V⁻¹ with the monomials p and V their values at the nodes. Node orders are those
of CalculiX' .frd files (corners, then edges: bottom, upright, top).
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import roots_jacobi

from gough.base.arrays import Array

BRICK = np.array(
    [[x, y, z] for z in (-1, 1) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))], float
)
WEDGE = np.array([[x, y, z] for z in (-1, 1) for x, y in ((0, 0), (1, 0), (0, 1))], float)
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
BRICK_EDGES = (
    (0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 5), (2, 6), (3, 7), (4, 5), (5, 6), (6, 7), (7, 4),
)  # fmt: skip
WEDGE_EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 4), (2, 5), (3, 4), (4, 5), (5, 3))
TETRAHEDRON_EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))
BRICK_FACES = ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
WEDGE_FACES = ((0, 2, 1, 1), (3, 4, 5, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5))
TETRAHEDRON_FACES = ((0, 2, 1, 1), (0, 1, 3, 3), (1, 2, 3, 3), (2, 0, 3, 3))


class Family(NamedTuple):
    """One kind of element."""

    corners: Array
    edges: tuple[tuple[int, int], ...]
    """Corners between which there is a node; empty for linear elements."""
    powers: tuple[tuple[int, int, int], ...]
    """Exponents of the monomials."""
    faces: tuple[tuple[int, int, int, int], ...]
    """Corners of each face, the last one twice for triangles."""

    @property
    def nodes(self) -> Array:
        """Places of the nodes (nodes, 3) in the element's own coordinates."""
        ends = np.array(self.edges, dtype=int).reshape(-1, 2)
        return np.concatenate([self.corners, self.corners[ends].mean(axis=1)])

    def values(self, places: Array) -> Array:
        """Shape functions (places, nodes)."""
        return np.asarray(self._monomials(places, None) @ self._inverse)

    def slopes(self, places: Array) -> Array:
        """Their derivatives by the element's own coordinates (places, nodes, 3)."""
        parts = [self._monomials(places, axis) @ self._inverse for axis in range(3)]
        return np.stack(parts, axis=-1)

    @property
    def _inverse(self) -> Array:
        return np.linalg.inv(self._monomials(self.nodes, None))

    def _monomials(self, places: Array, by: int | None) -> Array:
        powers = np.array(self.powers)
        factor = np.ones(len(powers))
        if by is not None:
            factor = powers[:, by].astype(float)
            powers = powers - (np.arange(3) == by)
        return np.asarray(factor * np.prod(places[:, np.newaxis] ** np.maximum(powers, 0), axis=2))

    def quadrature(self) -> tuple[Array, Array]:
        """Places (points, 3) and weights (points,) exact for products of two shape functions."""
        if len(self.corners) == 8:
            return _product(_gauss(0), _gauss(0), _gauss(0))
        if len(self.corners) == 6:
            (x, y), weights = _triangle()
            line, line_weights = _gauss(0)
            places = np.array([(a, b, c) for a, b in zip(x, y, strict=True) for c in line])
            return places, np.outer(weights, line_weights).ravel()
        points = 3 if self.edges else 2  # its Jacobian is constant if linear: many are such
        places, weights = _product(*(_unit(power, points) for power in (2, 1, 0)))
        # Collapse the cube: x = u, y = (1−u) v, z = (1−u)(1−v) w; the Jacobian is in the weights.
        u, v, w = places.T
        return np.stack([u, (1 - u) * v, (1 - u) * (1 - v) * w], axis=-1), weights


def _gauss(power: int, points: int = 3) -> tuple[Array, Array]:
    """Points on [−1, 1] for the weight (1 − x)^power."""
    places, weights = roots_jacobi(points, power, 0)
    return np.asarray(places), np.asarray(weights)


def _unit(power: int, points: int = 3) -> tuple[Array, Array]:
    """The same on [0, 1]."""
    places, weights = _gauss(power, points)
    return (places + 1) / 2, weights / 2 ** (power + 1)


def _triangle() -> tuple[tuple[Array, Array], Array]:
    (u, first), (v, second) = _unit(1), _unit(0)
    places = np.array([(a, (1 - a) * b) for a in u for b in v])
    return (places[:, 0], places[:, 1]), np.outer(first, second).ravel()


def _product(*axes: tuple[Array, Array]) -> tuple[Array, Array]:
    places = np.array(list(product(*(axis[0] for axis in axes))))
    weights = np.array([np.prod(item) for item in product(*(axis[1] for axis in axes))])
    return places, weights


def _powers(rule: str) -> tuple[tuple[int, int, int], ...]:
    every = list(product(range(3), repeat=3))
    rules = {
        "brick": [p for p in every if max(p) < 2],
        "quadratic brick": [p for p in every if sum(e == 2 for e in p) < 2],
        "wedge": [p for p in every if p[0] + p[1] < 2 and p[2] < 2],
        "quadratic wedge": [p for p in every if p[0] + p[1] + max(p[2] - 1, 0) < 3],
        "tetrahedron": [p for p in every if sum(p) < 2],
        "quadratic tetrahedron": [p for p in every if sum(p) < 3],
    }
    return tuple(rules[rule])  # type: ignore[arg-type]


FAMILIES = {
    "C3D8": Family(BRICK, (), _powers("brick"), BRICK_FACES),
    "C3D20": Family(BRICK, BRICK_EDGES, _powers("quadratic brick"), BRICK_FACES),
    "C3D6": Family(WEDGE, (), _powers("wedge"), WEDGE_FACES),
    "C3D15": Family(WEDGE, WEDGE_EDGES, _powers("quadratic wedge"), WEDGE_FACES),
    "C3D4": Family(TETRAHEDRON, (), _powers("tetrahedron"), TETRAHEDRON_FACES),
    "C3D10": Family(
        TETRAHEDRON, TETRAHEDRON_EDGES, _powers("quadratic tetrahedron"), TETRAHEDRON_FACES
    ),
}


class Solid(NamedTuple):
    """Elements of one family and density."""

    family: Family
    nodes: Array
    """(elements, nodes) node numbers from 0."""
    density: Array
    """(elements,), kg/m³."""


def mass_points(solid: Solid, positions: Array, fields: Array) -> tuple[Array, Array, Array]:
    """Quadrature points: where (p, 3), how heavy (p,), and nodal fields (nodes, ...) there."""
    places, weights = solid.family.quadrature()
    shape, slope = solid.family.values(places), solid.family.slopes(places)
    corners = positions[solid.nodes]
    jacobian = np.einsum("qna,enx->eqxa", slope, corners)
    volume = np.abs(np.linalg.det(jacobian)) * weights
    where = np.einsum("qn,enx->eqx", shape, corners)
    there = np.einsum("qn,en...->eq...", shape, fields[solid.nodes])
    masses = solid.density[:, np.newaxis] * volume
    return where.reshape(-1, 3), masses.ravel(), there.reshape(-1, *fields.shape[1:])


def nodal_rotations(solids: list[Solid], positions: Array, fields: Array, nodes: Array) -> Array:
    """½ curl of displacement fields (nodes, 3, modes) at some nodes, the mean over their elements."""
    turned, following = [1, 2, 0], [2, 0, 1]
    result = np.zeros((len(nodes), 3, fields.shape[2]))
    for i, node in enumerate(nodes):
        total, count = np.zeros_like(result[i]), 0
        for solid in solids:
            for place, column in enumerate(solid.nodes.T):
                members = solid.nodes[column == node]
                slope = solid.family.slopes(solid.family.nodes[place : place + 1])[0]
                slopes = slope @ np.linalg.inv(np.swapaxes(positions[members], 1, 2) @ slope)
                gradient = np.einsum("ena,enik->iak", slopes, fields[members])  # Σ ∂u_i/∂x_a
                total += (gradient[following, turned] - gradient[turned, following]) / 2
                count += len(members)
        if count:
            result[i] = total / count
    return result


def skin(solids: list[Solid]) -> Array:
    """Faces (m, 4) that belong to one element alone: what one sees of the body."""
    faces = [
        solid.nodes[:, np.array(solid.family.faces)].reshape(-1, 4)
        for solid in solids
        if len(solid.nodes)
    ]
    every = np.concatenate(faces)
    _, first, count = np.unique(
        np.sort(every, axis=1), axis=0, return_index=True, return_counts=True
    )
    return np.asarray(every[np.sort(first[count == 1])])
