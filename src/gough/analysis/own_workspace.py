"""Workspaces in a robot's own coordinates, sampled: of any robot, and proved of none.

A grid of cells in up to three coordinates (`gough.analysis.own_space`): a cell counts if its middle can
be reached from home along a straight line in the coordinates, on home's branch of every chain, within
the limits of the robot file: strokes of actuators and of passive joints, angles of universal and
spherical joints. Speed, force and singularities are not among them. What is between the middles of
cells nobody looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from gough.analysis.locus import around_home
from gough.analysis.own_space import OwnSpace
from gough.base.arrays import Array, given_numbers
from gough.errors import InputError
from gough.mechanics.leg import Driven
from gough.model.limits import demands
from gough.model.model import Model
from gough.model.standing import standing
from gough.motion import Motion

SEARCHED = {1: 101, 2: 31, 3: 11}
"""Places a side of the search for bounds, by the number of coordinates; odd, so that home is one."""
FARTHEST = 8.0
"""How far from home bounds are searched, in sizes of legs."""
USUAL_CELLS = {1: 101, 2: 61, 3: 21}
"""Cells a side, by the number of coordinates."""
CELLS = (4, 101)
"""Fewest and most a side."""


@dataclass(frozen=True)
class OwnWorkspace:
    """A set of poses by the robot's own coordinates, as cells of a grid."""

    robot: Model
    names: tuple[str, ...]
    """Of the coordinates."""
    units: tuple[str, ...]
    """"m" or "rad"."""
    middles: tuple[Array, ...]
    """Middles of the cells along each coordinate."""
    inside: Array
    """Which cells count, an axis per coordinate."""
    volume: float
    """Of these cells, in `measure`."""
    error: float
    """An estimate, no bound: half of the cells that have a neighbour of the other sort."""
    limits: dict[str, int]
    """How many cells that are reached each condition keeps out."""

    @property
    def measure(self) -> str:
        """The unit of the volume: "m³", "m² rad"."""
        powers = {1: "", 2: "²", 3: "³"}
        found = [(unit, self.units.count(unit)) for unit in ("m", "rad")]
        return " ".join(f"{unit}{powers[count]}" for unit, count in found if count)

    @property
    def kind(self) -> str:
        """What the set's volume is called: "area" of two lengths, "volume" of three, else "size"."""
        return {("m", "m"): "area", ("m", "m", "m"): "volume"}.get(self.units, "size")

    @property
    def extent(self) -> Array:
        """(coordinates, 2): the least box around the middles of the cells that count."""
        if not self.inside.any():
            return np.zeros((len(self.names), 2))
        places = np.argwhere(self.inside)
        ends = zip(self.middles, places.min(axis=0), places.max(axis=0), strict=True)
        return np.array([[grid[low], grid[high]] for grid, low, high in ends])


def provable(robot: Model) -> bool:
    """Whether positions at one orientation have bounds that prove: links of one kind."""
    (group, *others) = robot.description.groups
    free = robot.mobility == 6 or robot.description.mobility in ("translation", "schoenflies")
    return not others and isinstance(group.legs, Driven) and free


def own_workspace(
    robot: Model,
    bounds: ArrayLike | None = None,
    *,
    rotation: ArrayLike | Rotation | None = None,
    cells: int | None = None,
) -> OwnWorkspace:
    """Where the robot gets to within its limits, on a grid of `cells` a side; see `USUAL_CELLS`.

    `bounds` [[low, high], ...] of the coordinates that vary, m and rad; by default they are searched:
    from home outwards until no coarse cell at an edge counts, angles to half a turn. Where nothing ends
    the set, bounds have to be given. Of more than three freedoms the position varies at one orientation,
    home's by default.
    """
    space = OwnSpace.of(robot, rotation)
    count = len(space.names)
    cells = USUAL_CELLS[count] if cells is None else cells
    if not CELLS[0] <= cells <= CELLS[1]:
        raise InputError(f"cells is {cells}, needs {CELLS[0]} to {CELLS[1]}")
    box = given_numbers("bounds", _searched_bounds(space) if bounds is None else bounds)
    if box.shape != (count, 2) or not np.isfinite(box).all() or np.any(box[:, 0] >= box[:, 1]):
        raise InputError(
            f"bounds needs a pair low < high of each of {', '.join(space.names)}, has {box.tolist()}"
        )
    sides = (box[:, 1] - box[:, 0]) / cells
    middles = tuple(
        low + side * (np.arange(cells) + 0.5) for low, side in zip(box[:, 0], sides, strict=True)
    )
    flat = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, count)
    within, kept_out = allowed(robot, space.poses(flat))
    inside = within.reshape((cells,) * count)
    mixed = np.zeros_like(inside)
    for axis in range(count):
        change = np.diff(inside, axis=axis) != 0
        first = [slice(None)] * count
        second = list(first)
        first[axis], second[axis] = slice(None, -1), slice(1, None)
        mixed[tuple(first)] |= change
        mixed[tuple(second)] |= change
    cell = float(np.prod(sides))
    return OwnWorkspace(
        robot,
        space.names,
        space.units,
        middles,
        inside,
        cell * int(inside.sum()),
        cell * int(mixed.sum()) / 2,
        kept_out,
    )


def _searched_bounds(space: OwnSpace) -> Array:
    """Return a box (coordinates, 2) about what is reached from home within limits, searched outwards."""
    robot, count = space.robot, len(space.names)
    box, turning = np.array(around_home(robot)), np.array([unit == "rad" for unit in space.units])
    farthest = np.where(turning, np.pi, FARTHEST * robot.leg_size)[:, np.newaxis] * [-1.0, 1.0]
    ends = space.middle[:, np.newaxis] + farthest
    while True:
        grids = [np.linspace(low, high, SEARCHED[count]) for low, high in box]
        flat = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, count)
        inside = allowed(robot, space.poses(flat))[0].reshape((SEARCHED[count],) * count)
        edges = [[inside.take(end, axis=i).any() for end in (0, -1)] for i in range(count)]
        grows = np.array(edges) & ~(turning[:, np.newaxis] & np.isclose(box, ends))
        if not grows.any():
            break
        endless = np.argwhere(grows & np.isclose(box, ends))
        if len(endless):
            i, end = endless[0]
            raise InputError(
                f"{robot.name}: nothing ends its workspace towards {'-+'[end]}{space.names[i]} within "
                f"{FARTHEST:g} sizes of its legs, neither limits of its file nor reach: give bounds "
                "(--bounds), or strokes in the file"
            )
        wider = box + (box[:, 1:] - box[:, :1]) * [-1.0, 1.0]
        box = np.where(grows, np.clip(wider, ends[:, :1], ends[:, 1:]), box)
    places = np.argwhere(inside)
    if len(places):  # a cell more on each side
        step = (box[:, 1] - box[:, 0]) / (SEARCHED[count] - 1)
        low, high = box[:, 0] + step * places.min(axis=0), box[:, 0] + step * places.max(axis=0)
        tight = np.stack([low - step, high + step], axis=1)
        box = np.clip(tight, ends[:, :1], ends[:, 1:])
    return box


def allowed(robot: Model, poses: Motion) -> tuple[Array, dict[str, int]]:
    """Which poses (n,) are reached within the limits of the file, and how many each limit keeps out."""
    legs = robot.inverse_kinematics(poses, on_error="nan")
    within = np.asarray(np.isfinite(legs.q).all(axis=-1))
    rows = np.flatnonzero(within)
    kept_out = {"reach": int(np.sum(~within))}
    if not rows.size:
        return within, kept_out
    some = Motion(poses.position[rows], poses.rotation[rows])
    if robot.mechanism.legs.coordinates:
        robot.remember(some, robot.chains_of(poses)[rows])
    limits = robot.limits
    still = limits._replace(
        force=np.full_like(limits.force, np.inf), speed=np.full_like(limits.speed, np.inf)
    )
    found = {
        name: (value <= limit).all(axis=-1)
        for name, value, limit in demands(robot, some, still, None)
    }
    moving = standing(robot, some).legs if robot.passive else None
    for one in robot.passive:
        assert moving is not None
        q = moving.of_joint(one.leg, one.joint)[0]
        name = f"joint {one.joint + 1} of leg {one.leg + 1}"
        found[name] = (q >= one.shortest) & (q <= one.longest)
    for name, good in found.items():
        kept_out[name] = int(np.sum(~good))
        within[rows] &= good
    return within, kept_out
