"""Bending of a leg between its joints, which hold it as pins: its modes, condensed to its ends.

A leg of length d is pinned by its universal and its spherical joint. Across it (both planes are alike)
it moves as the chord between them and, beyond that, in modes φ_k that are 0 at both ends (Craig &
Bampton 1968, whose constraint modes are here the chord's):

    w(s, t) = (1 − s/d) w_near + (s/d) w_far + Σ φ_k(s) η_k(t)

    T = ½ ∫ μ ẇ² ds:   ½ Σ η̇_k² + Σ η̇_k (α_k ẇ_near + β_k ẇ_far) + what the rigid leg has
    V = ½ ∫ E I w″² + N w′² ds:   ½ Σ ω_k² η_k² + ½ N Σ G_kl η_k η_l + what N does on the chord

    α_k = ∫ μ φ_k (1 − s/d) ds,   β_k = ∫ μ φ_k s/d ds,   G_kl = ∫ φ_k′ φ_l′ ds,   N the tension, N

Euler and Bernoulli's beam: shear and rotary inertia are left out, which makes the n-th frequency about
20 (n r/d)² of itself too high, r the section's radius of inertia. Cubic (Hermite) elements. A rod slides
in its cylinder and touches it in two points: at its inner end and at the cylinder's mouth, where both
have the same w and slopes of their own. N runs through the cylinder up to the rod's inner end, then
through the rod.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import linalg

from gough.base.arrays import Array
from gough.legs.beams import Beams

SHORT = 0.02
"""Part of a leg's length that a rod is in its cylinder, and touching points from joints, at least."""


class Bending(NamedTuple):
    """Modes of n legs in one plane, of unit modal mass."""

    squares: Array
    """ω² (n, modes), rad²/s², rising."""
    near: Array
    """α (n, modes), √kg: what they feel of the universal joint's motion."""
    far: Array
    """β (n, modes): of the spherical joint's."""
    slopes: Array
    """G (n, modes, modes), 1/(kg m)."""


def fits(beams: Beams, length: Array) -> Array:
    """Whether members fit into legs of lengths (..., legs), m: rods in cylinders, neither beyond."""
    if len(beams.members) == 1:
        return np.ones(length.shape, dtype=bool)
    cylinder, rod = beams.members
    inside = cylinder.length + rod.length - length >= SHORT * length
    return np.asarray(inside & (length >= cylinder.length) & (length >= rod.length))


def bending(beams: Beams, legs: Array, length: Array) -> Bending:
    """Modes of legs (n,) of a group, from 0, whose joints are d = `length` (n,) apart."""
    meshes = _meshes(beams, legs, length)
    count = 1 + max(int(one.dofs.max()) for one in meshes)
    mass, stiff, slope = (np.zeros((len(legs), count, count)) for _ in range(3))
    near, far = np.zeros((2, len(legs), count))
    for member, mesh in zip(beams.members, meshes, strict=True):
        for i in range(mesh.place.shape[1] - 1):
            at = mesh.dofs[2 * i : 2 * i + 4]
            h = mesh.place[:, i + 1] - mesh.place[:, i]
            own = _element(h[:, np.newaxis, np.newaxis])
            mass[:, at[:, np.newaxis], at] += (
                member.line_mass[legs, np.newaxis, np.newaxis] * own[0]
            )
            stiff[:, at[:, np.newaxis], at] += member.bending[legs, np.newaxis, np.newaxis] * own[1]
            slope[:, at[:, np.newaxis], at] += mesh.loaded[i] * own[2]
        far[:, mesh.dofs[::2]] = mesh.place / length[:, np.newaxis]
        far[:, mesh.dofs[1::2]] = 1 / length[:, np.newaxis]
        near[:, mesh.dofs[::2]] = 1 - far[:, mesh.dofs[::2]]
        near[:, mesh.dofs[1::2]] = -far[:, mesh.dofs[1::2]]
    pinned = [meshes[0].dofs[0], meshes[-1].dofs[-2]]
    inner = np.setdiff1d(np.arange(count), pinned)
    squares, shapes = np.zeros((len(legs), beams.modes)), np.zeros((len(legs), count, beams.modes))
    for i in range(len(legs)):
        kept = np.ix_(inner, inner)
        squares[i], shapes[i, inner] = linalg.eigh(
            stiff[i][kept], mass[i][kept], subset_by_index=(0, beams.modes - 1)
        )
    across = np.swapaxes(shapes, 1, 2)
    alpha, beta = ((across @ mass @ one[..., np.newaxis])[..., 0] for one in (near, far))
    return Bending(squares, alpha, beta, across @ slope @ shapes)


class _Mesh(NamedTuple):
    """Nodes of a member of n legs."""

    place: Array
    """s (n, nodes), m from the universal joint."""
    dofs: Array
    """(2 nodes,): numbers of w and slope at each node."""
    loaded: Array
    """(nodes − 1,): whether N runs through an element."""


def _meshes(beams: Beams, legs: Array, length: Array) -> list[_Mesh]:
    """A link between its joints, or a cylinder and a rod that touch in two points."""
    count = 2 * beams.modes + 2
    """Elements between two points where something changes: four to a mode and member."""

    def between(*ends: Array) -> Array:
        spans = [np.linspace(*pair, count + 1, axis=1) for pair in pairwise(ends)]
        return np.concatenate([spans[0], *(one[:, 1:] for one in spans[1:])], axis=1)

    zero = np.zeros_like(length)
    every = np.arange(4 * count + 2)
    if len(beams.members) == 1:
        return [_Mesh(between(zero, length / 2, length), every, np.ones(2 * count))]
    cylinder, rod = beams.members
    inner = np.maximum(length - rod.length[legs], SHORT * length)
    mouth = np.minimum(cylinder.length[legs], (1 - SHORT) * length)
    rods = every + every[-1]  # but for two of them, which are the cylinder's
    rods[0], rods[2 * count] = every[2 * count], every[4 * count]
    rods[2 * count + 1 :] -= 1
    return [
        _Mesh(between(zero, inner, mouth), every, np.repeat([1.0, 0.0], count)),
        _Mesh(between(inner, mouth, length), rods, np.ones(2 * count)),
    ]


def _element(h: Array) -> tuple[Array, Array, Array]:
    """∫ H Hᵀ, ∫ H″ H″ᵀ, ∫ H′ H′ᵀ (n, 4, 4) of Hermite's cubics, (w, slope) at both ends; h (n, 1, 1)."""
    size = np.concatenate([np.ones_like(h), h, np.ones_like(h), h], axis=1)
    scale = size * np.swapaxes(size, 1, 2)
    return h * scale * MASS, scale * STIFF / h**3, scale * SLOPE / h


MASS = np.array(
    [[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]]
) / 420  # fmt: skip
STIFF = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]])
SLOPE = np.array([[36, 3, -36, 3], [3, 4, -3, -1], [-36, -3, 36, -3], [3, -1, -3, 4]]) / 30
