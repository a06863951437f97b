"""Small motions of a robot whose legs bend and give way along themselves.

To the coordinates x of `gough.model.vibration` each leg that bends adds its elongation a and its modes
η in the two planes across it (`gough.legs.bending`). Its tip moves with v = W ẋ. A leg of length l + a
at the same q and angles has its tip n a further out, n its direction, so that the rigid leg's formulas
hold for

    v_r = v − n ȧ,    q̇ = wᵀ v_r = J ẋ − (w·n) ȧ

The member that the actuator pushes (link or rod, m its beam's mass) stretches evenly: its points have
(s/l) ȧ n beyond the rigid leg's velocity, whose part along n is n·v_r at all of them. With A the rigid
leg's inertia, e one of two directions across it and c = ∂v_A/∂q̇ how its universal joint moves,

    T = ½ v_rᵀ A v_r + (m/2) ȧ n·v_r + (m/6) ȧ² + Σ [½ η̇² + η̇ (α e·c w + β e)·v_r]
    V = ½ (E A/l) a² + ½ Σ (ω² δ + N G) η η

The leg's tension N is that halfway along it: −n·f of its force f on the platform, and half its weight's
part along n. What the platform's weight does when a leg changes its length (of the order of the leg's
strain) is left out, as `gough.analysis.stiffness` does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.errors import ReachError
from gough.legs.beams import Beams
from gough.legs.bending import SHORT, Bending, bending, fits
from gough.mechanics.leg import at_port, points_moving
from gough.mechanics.platforms.platform import MovingPlatform
from gough.model.batch import OnError, Trouble, lay_out, settle
from gough.model.described import DescribedModel
from gough.model.standing import standing
from gough.motion import Motion


class SmallMotion(NamedTuple):
    """M, K, J and directions of small motions at poses, leading batch axes (...)."""

    mass: Array
    """M (..., n, n)."""
    stiffness: Array
    """K (..., n, n)."""
    jacobian: Array
    """(..., actuators, n): δq."""
    own: Array
    """(..., 6 + N, n): what the platform does."""


def with_beams(
    robot: DescribedModel, rest: Motion, forces: Array, rigid: SmallMotion, on_error: OnError
) -> tuple[SmallMotion, Array]:
    """The same with a and η of the legs behind the platform's coordinates; which of all are η, (n,)."""
    shape = rigid.stiffness.shape[:-2]
    still = Motion(rest.position, rest.rotation, elastic=rest.elastic if rest.modes else None)
    stand = standing(robot, still)
    rows = lay_out(Motion(np.broadcast_to(rest.position, (*shape, 3))), {})
    held = (
        np.broadcast_to(forces, (*shape, forces.shape[-1])).reshape(rows.rows, forces.shape[-1]).T
    )
    whole = SmallMotion(
        *(
            np.broadcast_to(one, (*shape, *one.shape[-2:])).reshape(rows.rows, *one.shape[-2:])
            for one in rigid
        )
    )
    bent = [False] * whole.mass.shape[-1]
    troubles: list[Trouble] = []
    for group, part in zip(robot.description.groups, stand.legs.alike(), strict=True):
        beams = group.beams
        if beams is None:
            continue
        first, count = group.first, group.leg_count
        driven = [i for i, one in enumerate(robot.actuators) if first <= one.leg < first + count]
        wide = (3, count, rows.rows)
        n, w = (np.broadcast_to(one, wide) for one in (part.direction, part.w))
        tips = np.broadcast_to(stand.platform.tips.position[:, first : first + count], wide)
        length = np.broadcast_to(part.leg.sizes(part.q), wide[1:])
        outside = np.isfinite(length.T) & ~fits(beams, length.T)
        for row, leg in np.argwhere(outside):
            troubles.append(Trouble(int(row), first + int(leg), ReachError, _outside(beams, leg)))
        modes = _modes(beams, np.where(outside.T, np.nan, length))
        gravity = robot.mechanism.gravity
        push = w * held[driven] - at_port(part, part.load(gravity))
        weight = sum(one.mass[:, np.newaxis] for one in beams.members)
        tension = np.sum(n * (weight / 2 * gravity - push), axis=0)
        with np.errstate(all="ignore"):
            faster = points_moving(tips, w / np.sum(w * w, axis=0), 0 * tips)
            frame = part.leg.moving(faster).frames()[part.leg.BODIES.index(beams.bodies[0])]
        carried = np.broadcast_to(frame.velocity, wide)
        A = np.broadcast_to(part.inertia(), (3, *wide))
        for i in range(count):
            n_i, w_i, c_i, A_i = (np.moveaxis(x[..., i, :], -1, 0) for x in (n, w, carried, A))
            shapes = Bending(*(one[:, i] for one in modes))
            mass = _mass(n_i, w_i, c_i, A_i, beams, i, shapes)
            stiffness = _stiffness(beams, i, shapes, tension[i])
            port = _port(stand.platform, robot.modes, first + i, rows.rows)
            along = np.sum(n_i * w_i, axis=1)
            whole = _joined(whole, mass, stiffness, port, driven[i], along)
            bent += [False] + [True] * (2 * beams.modes)
    sound = settle(rows, {"K": whole.stiffness}, troubles, on_error)["K"]
    size = whole.mass.shape[-1]
    found = (one.reshape(*shape, *one.shape[-2:]) for one in whole)
    return SmallMotion(*found)._replace(stiffness=sound.reshape(*shape, size, size)), np.array(bent)


def _outside(beams: Beams, leg: int) -> str:
    cylinder, rod = (float(one.length[leg]) for one in beams.members)
    return (
        f"its rod of {rod:g} m is not in its cylinder of {cylinder:g} m: the beams fit lengths from "
        f"{max(cylinder, rod):g} to {(cylinder + rod) / (1 + SHORT):g} m"
    )


def _modes(beams: Beams, length: Array) -> Bending:
    """Modes (samples, legs, ...) of legs of lengths (legs, samples); each length once."""
    legs = np.broadcast_to(np.arange(len(length))[:, np.newaxis], length.shape)
    pairs, places = np.unique(
        np.stack([legs.ravel(), length.ravel()], axis=1), axis=0, return_inverse=True
    )
    sound = np.isfinite(pairs[:, 1])
    count, k = len(pairs), beams.modes
    squares, near, far = np.full((3, count, k), np.nan)
    found = Bending(squares, near, far, np.full((count, k, k), np.nan))
    if k and sound.any():
        some = bending(beams, pairs[sound, 0].astype(int), pairs[sound, 1])
        for whole, part in zip(found, some, strict=True):
            whole[sound] = part
    places = places.reshape(length.shape).T
    return Bending(*(one[places] for one in found))


def _mass(
    n: Array, w: Array, carried: Array, inertia: Array, beams: Beams, leg: int, modes: Bending
) -> Array:
    """What a leg adds to T by (v, ȧ, η̇), η first in one plane and then in the other: (samples, …)."""
    last, k = beams.members[-1], beams.modes
    m = float(last.line_mass[leg] * last.length[leg])
    size = 4 + 2 * k
    rigid = np.zeros((len(n), 3, size))  # v_r
    rigid[:, :, :3], rigid[:, :, 3] = np.eye(3), -n
    mass = np.swapaxes(rigid, 1, 2) @ inertia @ rigid
    mass[:, :3, :3] -= inertia
    half = np.zeros((len(n), size, size))
    half[:, 3] = m / 2 * (n[:, np.newaxis] @ rigid)[:, 0]
    half[:, 3, 3] += m / 6
    for plane, e in enumerate(_across(n)):
        moved = np.sum(e * carried, axis=1)[:, np.newaxis]
        felt = modes.near[..., np.newaxis] * (moved * w)[:, np.newaxis]
        felt = felt + modes.far[..., np.newaxis] * e[:, np.newaxis]
        rows = slice(4 + plane * k, 4 + (plane + 1) * k)
        half[:, rows] = felt @ rigid
        half[:, rows, rows] += np.eye(k) / 2
    return mass + half + np.swapaxes(half, 1, 2)


def _stiffness(beams: Beams, leg: int, modes: Bending, tension: Array) -> Array:
    """∂²V/∂(a, η)², (samples, 1 + 2 modes, 1 + 2 modes)."""
    k = beams.modes
    found = np.zeros((len(tension), 1 + 2 * k, 1 + 2 * k))
    found[:, 0, 0] = beams.stiffness[leg]
    plane = modes.squares[:, :, np.newaxis] * np.eye(k) + tension[:, None, None] * modes.slopes
    found[:, 1 : 1 + k, 1 : 1 + k] = found[:, 1 + k :, 1 + k :] = plane
    return found


def _across(n: Array) -> tuple[Array, Array]:
    """Two unit vectors across unit vectors (samples, 3)."""
    least = np.eye(3)[np.argmin(np.abs(n), axis=1)]
    first = np.cross(n, least)
    first = first / np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(n, first)


def _port(platform: MovingPlatform, modes: int, leg: int, samples: int) -> Array:
    """W (samples, 3, 6 + N) of a leg's tip: v = W (v, ω, q̇e), world axes."""
    axes, holders = np.eye(3)[..., np.newaxis], (leg,) * 3
    rows = np.moveaxis(np.broadcast_to(platform.world_rows(axes, holders), (6, 3, samples)), -1, 0)
    found = np.swapaxes(rows, 1, 2)
    if modes:
        bent = platform.along_modes(platform.own(axes), holders)
        bent = np.moveaxis(np.broadcast_to(bent, (3, modes, samples)), -1, 0)
        found = np.concatenate([found, bent], axis=2)
    return found


def _joined(
    rigid: SmallMotion, mass: Array, stiffness: Array, port: Array, actuator: int, along: Array
) -> SmallMotion:
    """One more leg: `mass` by (v, a, η), `stiffness` by (a, η), J less `along` times a."""
    size, more = rigid.mass.shape[-1], stiffness.shape[-1]
    maps = np.zeros((len(rigid.mass), 3 + more, size + more))
    maps[:, :3, :size] = port @ rigid.own
    maps[:, 3:, size:] = np.eye(more)

    def wider(matrix: Array, rows: int) -> Array:
        return np.pad(matrix, ((0, 0), (0, rows), (0, more)))

    total = wider(rigid.stiffness, more)
    total[:, size:, size:] = stiffness
    jacobian = wider(rigid.jacobian, 0)
    jacobian[:, actuator, size] = -along
    whole = wider(rigid.mass, more) + np.swapaxes(maps, 1, 2) @ mass @ maps
    return SmallMotion(whole, total, jacobian, wider(rigid.own, 0))
