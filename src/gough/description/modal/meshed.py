"""What Nastran's and CalculiX' modes have in common on their way to a `ModalBody`."""

from __future__ import annotations

import os
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from gough.base.arrays import Array
from gough.description.modal.attachment import Meshed, attached, node_rotations
from gough.description.modal.body import MOST_MODES, ModalBody, rigid_basis
from gough.description.modal.payload import Payload, carrying, points_of
from gough.errors import FileError, ModalBodyWarning

ON_MESH = 1e-4
"""How far a tip may be from its node, in parts of the mesh's size: files hold six digits."""
RIGID = 0.999
"""Modes that a rigid-body motion explains to this part are the free body's own, and left out."""
MOST_MEGABYTES = (150.0, 20.0)
"""Of all modes where the mass is, in any case and for each MB of their file."""
NEARLY_ORTHOGONAL = 0.05
NORMALISED = 0.2


class Mesh(NamedTuple):
    """Nodes of a finite-element model and its modes there."""

    name: str
    numbers: Array
    """(n,) the model's own node numbers."""
    positions: Array
    """(n, 3), m."""
    shapes: Array
    """(n, 3, modes)."""
    squares: Array
    """ω² (modes,)."""


class MassPoints(NamedTuple):
    """Where the model's mass is, and how its modes move it."""

    positions: Array
    masses: Array
    shapes: Array


class Selection(NamedTuple):
    """What the robot file asks of a model."""

    tips: Array
    """(legs, 3)."""
    tip_nodes: list[int] | None
    modes: int | None
    damping_ratio: ArrayLike
    payload: tuple[Payload, ...] = ()


def refuse_many(mesh: Mesh, points: int) -> None:
    """Refuse more points with mass than the modes of a file, however small, have memory for."""
    needed = 24e-6 * points * (len(mesh.squares) + 4)  # and places and Jacobians
    limit = max(MOST_MEGABYTES[0], MOST_MEGABYTES[1] * 1e-6 * os.path.getsize(mesh.name))
    if needed > limit:
        raise FileError(
            f"{mesh.name}: {len(mesh.squares)} modes at {points} points with mass are "
            f"{needed:.0f} MB; limit {limit:.0f} MB"
        )


def tip_places(mesh: Mesh, wanted: Selection) -> Array:
    """The node (legs,), counted from 0, at each leg's tip."""
    size = float(np.ptp(mesh.positions, axis=0).max())
    if wanted.tip_nodes is not None and len(wanted.tip_nodes) != len(wanted.tips):
        raise FileError(
            f"{mesh.name}: tips names {len(wanted.tip_nodes)} nodes, there are {len(wanted.tips)} legs"
        )
    places = []
    for leg, tip in enumerate(wanted.tips, 1):
        distance = np.linalg.norm(mesh.positions - tip, axis=1)
        if wanted.tip_nodes is None:
            place = int(np.argmin(distance))
        else:
            found = np.flatnonzero(mesh.numbers == wanted.tip_nodes[leg - 1])
            if not len(found):
                raise FileError(f"{mesh.name}: leg {leg}: no node {wanted.tip_nodes[leg - 1]}")
            place = int(found[0])
        if distance[place] > ON_MESH * size:
            raise FileError(
                f"{mesh.name}: the tip of leg {leg} is not on the mesh: node {mesh.numbers[place]} is "
                f"{distance[place]:.3g} m away, limit {ON_MESH * size:.2g}"
            )
        places.append(place)
    return np.array(places, dtype=np.int64)


def assemble(
    mesh: Mesh,
    points: MassPoints,
    wanted: Selection,
    elements: Meshed,
    faces: Array | None,
) -> ModalBody:
    """The elastic modes, made orthonormal with the body's masses; frequencies are the model's.

    `elements` are those of the mesh, which say how points between its nodes move.
    """
    kept = _elastic(mesh, points, wanted.modes)
    turn = _orthonormal(points, kept, mesh.name)
    omega = np.sqrt(mesh.squares[kept])
    ratios = np.asarray(wanted.damping_ratio, dtype=np.float64)
    if ratios.ndim and ratios.shape != omega.shape:
        raise FileError(
            f"{mesh.name}: damping_ratio has {ratios.size} values, there are {omega.size} modes"
        )

    def modal(field: Array) -> Array:
        return np.asarray(field[..., kept] @ turn)

    tips = tip_places(mesh, wanted)
    same = ON_MESH * float(np.ptp(mesh.positions, axis=0).max())
    try:
        tip_turns = node_rotations(elements, tips)
        wrenched = np.concatenate([np.zeros((1, 3)), points_of(wanted.payload)])
        shapes, turns = attached(elements, wrenched, same)
    except np.linalg.LinAlgError:
        raise FileError(
            f"{mesh.name}: an element at a tip or at the origin has no volume"
        ) from None
    optional: dict[str, Array] = {}
    if elements.turns is not None:
        still = np.zeros((len(points.masses), 3, len(omega)))
        optional["rotations"] = np.concatenate([modal(elements.turns), still])
    if not np.isnan(shapes[0]).any():
        optional["origin_shapes"] = modal(shapes[0])
        optional["origin_rotations"] = modal(turns[0])
    if faces is not None and len(faces):
        optional["faces"] = faces
    body = ModalBody(
        positions=np.concatenate([mesh.positions, points.positions]),
        masses=np.concatenate([np.zeros(len(mesh.positions)), points.masses]),
        shapes=np.concatenate([modal(mesh.shapes), modal(points.shapes)]),
        stiffness=omega**2,
        damping=2 * ratios * omega,
        tip_positions=wanted.tips,
        tip_shapes=modal(mesh.shapes[tips]),
        tip_rotations=modal(tip_turns),
        name=mesh.name,
        **optional,
    )
    return carrying(body, wanted.payload, modal(shapes[1:]), modal(turns[1:]))


def _elastic(mesh: Mesh, points: MassPoints, count: int | None) -> Array:
    """Numbers from 0 of the modes that deform the body."""
    if not np.isfinite(points.masses).all():
        raise FileError(f"{mesh.name}: a mass that is not finite")
    if points.masses.sum() <= 0:
        raise FileError(f"{mesh.name}: the model has no mass")
    weighted = (np.sqrt(points.masses)[:, np.newaxis, np.newaxis] * points.shapes).reshape(
        -1, len(mesh.squares)
    )
    basis = rigid_basis(points.positions, points.masses)
    whole = np.sum(weighted**2, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        content = np.sum((basis.T @ weighted) ** 2, axis=0) / whole
    kept = np.flatnonzero(~(content > RIGID))
    for k in kept:
        if not mesh.squares[k] > 0:
            raise FileError(
                f"{mesh.name}: mode {k + 1} has frequency 0 but is no rigid-body motion: the mesh has "
                "a mechanism"
            )
    if count is not None:
        if count > len(kept):
            raise FileError(f"{mesh.name}: {count} modes wanted, it has {len(kept)} elastic ones")
        kept = kept[:count]
    if len(kept) > MOST_MODES:
        raise FileError(f"{mesh.name}: {len(kept)} elastic modes; limit {MOST_MODES} (modes = …)")
    return kept


def _orthonormal(points: MassPoints, kept: Array, name: str) -> Array:
    """T (modes, modes) with Tᵀ m_ee T = 1, nearest to a mere scaling: S m^(−1/2)."""
    shapes = points.shapes[..., kept]
    mass = np.einsum("n,nij,nik->jk", points.masses, shapes, shapes)
    diagonal = np.diagonal(mass)
    if not np.isfinite(mass).all():
        raise FileError(f"{name}: masses and shapes are too large for numbers")
    if np.any(diagonal <= 0):
        raise FileError(f"{name}: mode {int(kept[np.argmin(diagonal)]) + 1} moves no mass")
    if (
        len(kept)
        and np.all(np.abs(diagonal - 1) > NORMALISED)
        and np.ptp(diagonal) < 0.1 * (diagonal.mean())
    ):
        warnings.warn(
            f"{name}: the modes are normalised to {diagonal.mean():.4g} with the masses of the "
            "geometry file, not to 1: are both files of the same model?",
            ModalBodyWarning,
            stacklevel=2,
        )
    scale = np.diag(1 / np.sqrt(diagonal))
    scaled = scale @ mass @ scale
    if np.abs(scaled - np.eye(len(kept))).max(initial=0.0) > NEARLY_ORTHOGONAL:
        return scale  # ModalBody says so
    values, vectors = linalg.eigh(scaled) if len(kept) else (np.ones(0), np.eye(0))
    return np.asarray(scale @ (vectors / np.sqrt(values)) @ vectors.T)
