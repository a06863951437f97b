"""In how many directions a platform can move, and which coordinates say where it is.

Rows nᵀ Wᵀ and Nᵀ of what holds it at home, lengths over L and made unit: m = 6 − their rank.
"""

from __future__ import annotations

import itertools
import warnings
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.errors import FileError, FreedomWarning
from gough.mechanics import forward_program
from gough.mechanics.driving import unheld
from gough.mechanics.equation import coasting
from gough.mechanics.groups import parted
from gough.mechanics.leg import Driven
from gough.mechanics.mechanism import Mechanism
from gough.mechanics.mobility import turned_by
from gough.mechanics.state import State
from gough.motion import Motion

NOTHING, DOUBTFUL = 1e-6, 1e-3
"""Singular values under the first, of the largest, are zero; under the second are numbers rounded?"""
NEARBY = 1e-2
"""How far from home, in length scales and rad, the directions are counted again."""
MOST_STEPS, MOST_VAIN = 30, 3
"""Steps to a pose near home, and how many in a row may be no shorter than all before."""
COORDINATES = ("x", "y", "z", "rx", "ry", "rz")
TIE = 1e-6


class Freedom(NamedTuple):
    """How a platform can move at home."""

    directions: Array
    """Orthonormal allowed twists (6, m), world axes, ω times L."""
    coordinates: tuple[str, ...]
    """m names out of x y z rx ry rz."""
    constraints: int = 0
    """Number of directions that legs and mobility hold, dependent ones counted too."""

    @property
    def mobility(self) -> int:
        """m."""
        return int(self.directions.shape[1])

    @property
    def overconstrained(self) -> bool:
        """Legs and mobility hold a direction more than once."""
        return self.constraints > 6 - self.mobility


def freedom(
    mechanism: Mechanism, home: Motion | None, named: tuple[str, ...] | None, name: str
) -> Freedom:
    """How the platform can move; `named` are the file's own coordinates, `name` is the robot's."""
    if home is None or not held(mechanism):
        free = Freedom(np.eye(6), COORDINATES)
        return free if named is None else free._replace(coordinates=_checked(named, free, name))
    state = _state(mechanism, home.position, home.rotation, mechanism.legs.at_home())
    if mechanism.platform.mode_count and coasting(mechanism, state)[1].holding() is not None:
        raise FileError(
            f"{name}: a leg holds the flexible platform in directions of its own; with a flexible "
            "platform legs must let their tips move freely"
        )
    rows = _rows(mechanism, state)
    sizes = np.linalg.svd(rows, compute_uv=False) if len(rows) else np.zeros(1)
    relative = sizes / max(sizes[0], 1e-300)
    shaky = relative[(relative >= NOTHING) & (relative < DOUBTFUL)]
    if shaky.size:
        warnings.warn(
            f"{name}: at home a direction is held by {shaky.min():.2g} of what the others are: "
            "are numbers rounded?",
            FreedomWarning,
            stacklevel=6,
        )
    directions = _allowed(rows)
    if directions.shape[1] == 0:
        raise FileError(f"{name}: at home the platform cannot move in any direction")
    _count_nearby(mechanism, state, directions, name)
    found = Freedom(directions, (), len(rows))
    chosen = _chosen(directions) if named is None else _checked(named, found, name)
    return found._replace(coordinates=chosen)


def held(mechanism: Mechanism) -> bool:
    """Whether legs or mobility can take a direction from the platform."""
    legs = parted(mechanism.legs)
    return mechanism.mobility is not None or not all(isinstance(one, Driven) for one in legs)


def _state(mechanism: Mechanism, position: Array, rotation: Array, chains: Array) -> State:
    nothing = np.zeros((3, 1, 1))
    modes = np.zeros((mechanism.platform.mode_count, 1))
    return State(
        position.reshape(3, 1, 1),
        rotation.reshape(3, 3, 1, 1),
        nothing,
        nothing,
        nothing,
        nothing,
        modes,
        modes,
        modes,
        chains[:, np.newaxis],
    )


def _rows(mechanism: Mechanism, state: State) -> Array:
    """Unit rows (k, 6) of what holds the platform, scaled."""
    columns, _ = _columns(mechanism, state)
    sizes = np.linalg.norm(columns, axis=0)
    return np.asarray((columns / np.where(sizes == 0, 1, sizes)).T)


@np.errstate(all="ignore")
def _columns(mechanism: Mechanism, state: State) -> tuple[Array, Array]:
    """C (6, k), scaled, and the gaps (k,); a leg that cannot reach is none of what holds."""
    platform, legs = coasting(mechanism, state)
    found = unheld(mechanism, platform, legs)
    if found is None:
        return np.zeros((6, 0)), np.zeros(0)
    turned = platform.world(found.columns)
    return np.asarray(turned[..., 0]), np.asarray(found.gap[..., 0])


def _allowed(rows: Array) -> Array:
    """Orthonormal twists (6, m) that the rows are orthogonal to."""
    if not len(rows):
        return np.eye(6)
    _, sizes, turned = np.linalg.svd(rows)
    rank = int(np.sum(sizes >= NOTHING * sizes[0]))
    return np.asarray(turned[rank:].T)


def _count_nearby(mechanism: Mechanism, home: State, directions: Array, name: str) -> None:
    """Warn where the platform can move in another number of directions near home."""
    scale = mechanism.scale()[:, 0]
    size = 1 / scale[3]
    for direction in directions.T:
        state = moved(home, NEARBY * size * direction * scale)
        least, vain = np.inf, 0
        for _ in range(MOST_STEPS):
            if len(state.chains):
                chains = forward_program.joint_step(mechanism, state)["chains"]
                state = state._replace(chains=chains)
            columns, gap = _columns(mechanism, state)
            step = np.linalg.pinv(columns.T, rcond=NOTHING) @ gap
            state = moved(state, -step * scale)
            length = float(np.abs(step).max(initial=0.0))
            least, vain = (length, 0) if length < least else (least, vain + 1)
            if not length > 1e-13 * size or vain == MOST_VAIN:
                break
        count = _allowed(_rows(mechanism, state)).shape[1]
        if count != directions.shape[1]:
            warnings.warn(
                f"{name}: at home the platform can move in {directions.shape[1]} directions, "
                f"{NEARBY * size:.2g} m away in {count}: home is singular",
                FreedomWarning,
                stacklevel=7,
            )
            return


def moved(state: State, twist: Array) -> State:
    """The state with its pose changed by (δp, δθ) (6,), world axes."""
    return state._replace(
        position=state.position + twist[:3].reshape(3, 1, 1),
        rotation=turned_by(twist[3:].reshape(3, 1, 1), state.rotation),
    )


def _chosen(directions: Array) -> tuple[str, ...]:
    """The names whose rows have the largest determinant; of equal ones the first."""
    every = list(itertools.combinations(range(6), directions.shape[1]))
    sizes = [abs(np.linalg.det(directions[list(rows)])) for rows in every]
    best = next(rows for rows, size in zip(every, sizes, strict=True) if size >= max(sizes) - TIE)
    return tuple(COORDINATES[i] for i in best)


def _checked(named: tuple[str, ...], free: Freedom, name: str) -> tuple[str, ...]:
    """The file's coordinates, if they tell where the platform is."""
    if len(named) != free.mobility:
        raise FileError(
            f"{name}: platform.coordinates has {len(named)} names, the platform can move in "
            f"{free.mobility} directions"
        )
    rows = [COORDINATES.index(one) for one in named]
    size = abs(np.linalg.det(free.directions[rows]))
    if size < TIE:
        raise FileError(
            f"{name}: platform.coordinates {', '.join(named)} cannot move the platform at home "
            f"(determinant {size:.2g}, limit {TIE:g}); {', '.join(_chosen(free.directions))} can"
        )
    return named
