"""Payload on a flexible body: rigid bodies that go along with the material at a point.

A payload with mass m, centre of mass c and inertia about it I is taken as six points of mass m/6 at
c ± √(3 j_k/m) e_k, with j_k and e_k the principal values and axes of ½ tr(I) 1 − I = Σ m r rᵀ: they have
its mass, centre and inertia. Bolted on at p, where the shapes are Φ and Φ_r, a point at r moves by

    φ = Φ + Φ_r × (r − p)

so that mass, first and second moments with the modes are those of the rigid body.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.description.modal.body import ModalBody
from gough.errors import InputError, ModalBodyWarning

SAME_PLACE = 1e-9
"""Distance, m, at which a point of an .npz is a node or a tip."""
IMPOSSIBLE = 1e-9
"""Negative part of ½ tr(I) 1 − I, of tr(I), that is rounding."""


class Payload(NamedTuple):
    """A rigid body bolted to a point of a flexible one, platform frame."""

    name: str
    """What to call it in messages."""
    point: Array
    """(3,), m."""
    mass: float
    center: Array
    """(3,), m."""
    inertia: Array
    """(3, 3) about its centre of mass, kg m²."""


def points_of(payload: Sequence[Payload]) -> Array:
    """Return where payload is bolted on, (k, 3)."""
    return np.array([one.point for one in payload], dtype=np.float64).reshape(-1, 3)


def carrying(body: ModalBody, payload: Sequence[Payload], shapes: Array, turns: Array) -> ModalBody:
    """Return the body with payload on it, given its shapes and rotations (k, 3, N) at their points.

    Rows of `shapes` that are NaN are points with which no material moves; those of `turns` are points
    of which only the displacement is known, on which nothing but a mass at that point can sit.
    """
    for one, shape, turn in zip(payload, shapes, turns, strict=True):
        place = ", ".join(f"{x:.6g}" for x in one.point)
        if np.isnan(shape).any():
            raise InputError(
                f"{body.name}: {one.name}: nothing says how the body moves at its point ({place}): "
                "it is off the body, or of an .npz no node, tip or origin with shapes"
            )
        if not one.mass:
            if np.any(one.inertia):
                raise InputError(f"{body.name}: {one.name} has inertia, but no mass")
            continue
        places = _six_points(one, body.name)
        arm = places - one.point
        if np.isnan(turn).any():
            if np.abs(arm).max() > SAME_PLACE:
                raise InputError(
                    f"{body.name}: {one.name}: no rotations at its point ({place}), which a body "
                    "beside that point or with inertia needs"
                )
            turn = np.zeros_like(shape)
        moved = shape + np.cross(turn[np.newaxis], arm[:, :, np.newaxis], axis=1)
        more: dict[str, Any] = {
            "positions": np.concatenate([body.positions, places]),
            "masses": np.concatenate([body.masses, np.full(6, one.mass / 6)]),
            "shapes": np.concatenate([body.shapes, moved]),
        }
        if body.rotations is not None:
            more["rotations"] = np.concatenate([body.rotations, np.stack([turn] * 6)])
        with warnings.catch_warnings(action="ignore", category=ModalBodyWarning):
            body = replace(body, **more)  # m_ee becomes full, as it should
    return body


def _six_points(one: Payload, name: str) -> Array:
    """Places (6, 3) of masses m/6 with the payload's centre and inertia."""
    spread = np.trace(one.inertia) / 2 * np.eye(3) - one.inertia
    values, axes = np.linalg.eigh(spread)
    if values[0] < -IMPOSSIBLE * np.trace(one.inertia):
        raise InputError(
            f"{name}: {one.name}: no body has such an inertia: one principal moment is larger than the "
            "sum of the others"
        )
    arms = axes * np.sqrt(3 * np.maximum(values, 0.0) / one.mass)
    return np.concatenate([one.center + arms.T, one.center - arms.T])


def known_shapes(body: ModalBody, points: Array) -> tuple[Array, Array]:
    """Return shapes and rotations (k, 3, N) at points of a body of arrays, NaN where it has none."""
    nothing = np.full((3, body.modes), np.nan)
    candidates = [(np.zeros((1, 3)), body.origin_shapes, body.origin_rotations),
                  (body.tip_positions, body.tip_shapes, body.tip_rotations),
                  (body.positions, body.shapes, body.rotations)]  # fmt: skip
    found = []
    for point in points:
        best = nothing, nothing
        for places, shapes, turns in candidates:
            near = int(np.argmin(np.linalg.norm(places - point, axis=1)))
            if shapes is None or np.linalg.norm(places[near] - point) > SAME_PLACE:
                continue
            own = shapes.reshape(len(places), 3, -1)[near]
            turn = nothing if turns is None else turns.reshape(len(places), 3, -1)[near]
            if np.isnan(best[1]).any():
                best = own, turn
        found.append(best)
    size = (len(points), 3, body.modes)
    pair = [np.array([one[i] for one in found]).reshape(size) for i in range(2)]
    return pair[0], pair[1]
