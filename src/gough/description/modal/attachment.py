"""How the material at a point of a body moves with its modes: where wrenches act, payload is bolted.

A point in an element moves with the element's shape functions. A point outside is tied to the nodes
near it: it moves with the rigid motion that fits theirs best, as Nastran's RBE3 does. A point that is
far from the body moves with none of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.description.modal.elements import Solid, nodal_rotations

NEAR = 0.05
"""In parts of the body's size: how far off a shell's surface its own kinematics reaches, and how much
farther away than the nearest node a point's other nodes may be."""
FAR = 0.5
"""Distance from the nearest node, in parts of the body's size, beyond which a point is not tied."""
INSIDE = 1e-3
"""How far outside an element a point may be, in the element's own coordinates."""
MOST_STEPS = 30
INDEPENDENT = 1e-3
"""Least singular value, of the largest, of the rigid motions that nodes tell apart."""


class Meshed(NamedTuple):
    """Nodes, elements and displacement fields of a mesh."""

    positions: Array
    """(n, 3), m."""
    shapes: Array
    """(n, 3, modes)."""
    turns: Array | None
    """(n, 3, modes): rotations of the nodes, if the model has such."""
    solids: list[Solid]
    shells: Array
    """(m, 4) corners, the last one twice for triangles."""


def attached(mesh: Meshed, points: Array, same: float) -> tuple[Array, Array]:
    """Return shapes and rotations (k, 3, modes) at points (k, 3); NaN where a point is far away.

    A node within `same` (m) of a point is that point.
    """
    found = [_at(mesh, point, same) for point in points]
    size = (len(points), *mesh.shapes.shape[1:])
    shapes, turns = ([pair[i] for pair in found] for i in range(2))
    return np.reshape(shapes, size), np.reshape(turns, size)


def _at(mesh: Meshed, point: Array, same: float) -> tuple[Array, Array]:
    distance = np.linalg.norm(mesh.positions - point, axis=1)
    node = int(np.argmin(distance))
    if distance[node] <= same:
        return mesh.shapes[node], node_rotations(mesh, np.array([node]))[0]
    inner = _in_solid(mesh, point)
    if inner is not None:
        return inner
    on_shell = None if mesh.turns is None else _on_shell(mesh, point)
    if on_shell is not None:
        return on_shell
    return tied(point, mesh.positions, np.ones(len(mesh.positions)), mesh.shapes)


def node_rotations(mesh: Meshed, nodes: Array) -> Array:
    """Return rotations (k, 3, modes) of nodes: the model's own, or of solids half the curl."""
    if mesh.turns is None:
        return nodal_rotations(mesh.solids, mesh.positions, mesh.shapes, nodes)
    turns = np.array(mesh.turns[nodes])
    bare = ~turns.any(axis=(1, 2))  # nodes of solids do not turn in Nastran
    turns[bare] = nodal_rotations(mesh.solids, mesh.positions, mesh.shapes, nodes[bare])
    return turns


def tied(point: Array, positions: Array, weights: Array, shapes: Array) -> tuple[Array, Array]:
    """Return displacement and rotation (3, modes) of the rigid motion that fits nodes near a point.

    Least squares Σ w ‖φ − t − θ × (r − point)‖² over the nodes that are up to `NEAR` farther away than
    the nearest, over more where these lie in a line; NaN where the nearest is farther than `FAR`.
    """
    arm = positions - point
    distance = np.linalg.norm(arm, axis=1)
    size = float(np.ptp(positions, axis=0).max())
    reach = NEAR * size * (1 + 1e-6)  # nodes on the limit count on any machine
    nothing = np.full(shapes.shape[1:], np.nan)
    if distance.min() > FAR * size:
        return nothing, nothing
    while True:
        near = distance <= distance.min() + reach
        root = np.sqrt(weights[near])[:, np.newaxis, np.newaxis]
        turns = np.cross(np.eye(3)[np.newaxis], arm[near, np.newaxis]) / reach
        shifts = np.broadcast_to(np.eye(3), turns.shape)
        columns = np.swapaxes(np.concatenate([shifts, turns], axis=1), 1, 2) * root
        columns = columns.reshape(-1, 6)
        values = np.linalg.svd(columns, compute_uv=False)
        if len(columns) >= 6 and values[-1] > INDEPENDENT * values[0]:
            break
        if near.all():
            return nothing, nothing
        reach *= 2
    right = (root * shapes[near]).reshape(len(columns), -1)
    motion = np.linalg.lstsq(columns, right, rcond=None)[0]
    return np.asarray(motion[:3]), np.asarray(motion[3:] / reach)


def _in_solid(mesh: Meshed, point: Array) -> tuple[Array, Array] | None:
    """Shape functions and half the curl in the solid element that holds a point, if there is one."""
    best: tuple[float, Solid, Array, Array] | None = None
    for solid in mesh.solids:
        corners = mesh.positions[solid.nodes]
        low, high = corners.min(axis=1), corners.max(axis=1)
        margin = 0.1 * (high - low).max(axis=1, keepdims=True)
        close = np.all((point >= low - margin) & (point <= high + margin), axis=1)
        for members in solid.nodes[close]:
            place = _own_place(solid, mesh.positions[members], point)
            outside = np.inf if place is None else _outside(solid, place)
            if place is not None and outside < (INSIDE if best is None else best[0]):
                best = outside, solid, members, place
    if best is None:
        return None
    _, solid, members, place = best
    value = solid.family.values(place[np.newaxis])[0]
    slope = solid.family.slopes(place[np.newaxis])[0]
    slope = slope @ np.linalg.inv(mesh.positions[members].T @ slope)
    gradient = np.einsum("na,nik->iak", slope, mesh.shapes[members])
    turned, following = [1, 2, 0], [2, 0, 1]
    curl = gradient[following, turned] - gradient[turned, following]
    return np.einsum("n,nik->ik", value, mesh.shapes[members]), curl / 2


def _own_place(solid: Solid, corners: Array, point: Array) -> Array | None:
    """Place (3,) in an element's own coordinates of a point, by Newton's method."""
    place = solid.family.corners.mean(axis=0)
    for _ in range(MOST_STEPS):
        off = point - solid.family.values(place[np.newaxis])[0] @ corners
        slope = corners.T @ solid.family.slopes(place[np.newaxis])[0]
        try:
            step = np.linalg.solve(slope, off)
        except np.linalg.LinAlgError:
            return None
        place = place + step
        if not np.abs(place).max() < 10:
            return None
        if np.abs(step).max() < 1e-12:
            return np.asarray(place)
    return None


def _outside(solid: Solid, place: Array) -> float:
    """How far a place is outside the element, in its own coordinates; negative inside."""
    x, y, z = place
    if len(solid.family.corners) == 8:
        return float(np.abs(place).max() - 1)
    if len(solid.family.corners) == 6:
        return float(max(-x, -y, x + y - 1, abs(z) - 1))
    return float(max(-x, -y, -z, x + y + z - 1))


def _on_shell(mesh: Meshed, point: Array) -> tuple[Array, Array] | None:
    """Shapes at a point on a shell or little off it, from displacements and rotations of its corners.

    With bilinear N the mid-surface moves by Σ N_i (φ_i + ½ θ_i × (x − r_i)), which is right for
    bending up to quadratic terms (linked interpolation), and turns by Σ N_i θ_i.
    """
    assert mesh.turns is not None
    size = float(np.ptp(mesh.positions, axis=0).max())
    best: tuple[float, Array, Array, Array] | None = None
    for members in mesh.shells:
        corners = mesh.positions[members]
        edge = np.ptp(corners, axis=0).max()
        if np.linalg.norm(corners.mean(axis=0) - point) > 2 * edge + NEAR * size:
            continue
        foot = _foot(corners, point)
        if foot is None:
            continue
        weights, place = foot
        height = float(np.linalg.norm(point - place))
        if height <= NEAR * size and (best is None or height < best[0]):
            best = height, members, weights, place
    if best is None:
        return None
    _, members, weights, place = best
    turns = mesh.turns[members]
    linked = np.cross(turns, (place - mesh.positions[members])[..., np.newaxis], axis=1) / 2
    turn = np.einsum("n,nik->ik", weights, turns)
    moved = np.einsum("n,nik->ik", weights, mesh.shapes[members] + linked)
    return moved + np.cross(turn, (point - place)[:, np.newaxis], axis=0), turn


SIGNS = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])


def _foot(corners: Array, point: Array) -> tuple[Array, Array] | None:
    """Bilinear weights (4,) and place (3,) of the point of a facet nearest to a point, if inside."""
    place = np.zeros(2)
    for _ in range(MOST_STEPS):
        parts = 1 + SIGNS * place
        weights = parts.prod(axis=1) / 4
        slopes = SIGNS * parts[:, ::-1] / 4
        step = np.linalg.lstsq(corners.T @ slopes, point - weights @ corners, rcond=None)[0]
        place = np.clip(place + step, -2, 2)
        if np.abs(step).max() < 1e-12:
            break
    weights = (1 + SIGNS * place).prod(axis=1) / 4
    inside = np.abs(place).max() <= 1 + INSIDE
    return (weights, weights @ corners) if inside else None
