"""What the search for an exciting motion asks of a point: its motion, cond(W S), and what it exceeds.

A point holds the free coefficients of the Fourier series that start and end at rest.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import block_diag, null_space

from gough.base.arrays import Array, wrapped
from gough.base.rotations import exponential
from gough.errors import FreedomWarning, ImpossibleBodyWarning
from gough.model.limits import demands, leg_length
from gough.model.model import Model
from gough.motion import Motion
from gough.parameters.base import BaseParameters, base_regressor
from gough.parameters.exciting_bounds import Bounds
from gough.parameters.own_fourier import OwnFourier, home_coordinates, waves
from gough.parameters.search_state import Answers
from gough.parameters.special import FREE
from gough.trajectories import Fourier, Trajectory

SAMPLES = 100
"""Of a period, on which motions are compared."""
ROUNDING = 1e-15
"""Of an eigenvalue, as a share of the largest: below it a search would follow noise."""
BATCH = 50
"""Motions whose regressor is held at a time."""
SHARPNESS = 6
"""Exponent of the norm that stands for the largest eigenvalue: smooth, and within 20 % of it."""
LOST = 1e6
"""Condition number of the Jacobian from which a pose has no forces worth comparing."""
WIDTH = 0.02
"""Of the smoothed Coulomb friction, in largest speeds."""
MARGIN = 0.01
"""Part of the limits that is kept free."""


@dataclass
class ExcitingSearch:
    """The problem, and the best motion so far."""

    robot: Model
    base: BaseParameters
    bounds: Bounds
    period: float
    harmonics: int
    smooth: Model = field(init=False)
    """The robot with Coulomb friction smoothed: a sign has no derivative."""
    friction: bool = field(init=False)
    """Forces are compared with friction."""
    free: Array = field(init=False)
    """(2 m harmonics, free) coefficients that start and end at rest."""
    scale: Array = field(init=False)
    """S (rank,)."""
    best: Array | None = None
    """(free,)."""
    condition: float = np.inf
    random: float = np.inf
    iterations: int = 0
    answers: Answers = field(default_factory=Answers)

    def __post_init__(self) -> None:
        h = np.arange(1.0, self.harmonics + 1)
        still = null_space(block_diag(h, h**2))
        length = 0.1 * leg_length(self.robot, self.robot.home)
        units = [0.1 if name.startswith("r") else length for name in self.robot.coordinates]
        self.free = np.kron(np.diag(units), still)
        self.scale = np.ones(self.base.rank)
        loaded = any(
            np.any(getattr(group.legs.friction, name))
            for group in self.robot.description.groups
            for name in group.legs.LOAD_FRICTION
        )
        widest = float(np.max(self.robot.mechanism.legs.friction.width))
        width = max(widest, WIDTH * float(np.min(self.bounds.limits.speed)))
        changes = {
            f"{group.where}.{key}": width
            for group in self.robot.description.groups
            for key in group.kind.parameters.width_keys(group.table)
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ImpossibleBodyWarning)  # said when it was loaded
            warnings.simplefilter("ignore", FreedomWarning)
            self.smooth = self.robot.edited(changes)
        self.friction = not loaded  # the loop that finds it is slow; the end counts it

    def trajectory(self, z: Array) -> Trajectory:
        """The motion of a point (free,)."""
        every = (self.free @ z).reshape(-1, 2 * self.harmonics)
        sine, cosine = np.split(every, 2, axis=1)
        if self.robot.mobility < FREE:
            return OwnFourier(self.robot, sine, cosine, self.period)
        return Fourier(self.robot.home, sine, cosine, self.period)

    def motions(self, points: Array, samples: int = SAMPLES) -> Motion:
        """(points, samples): their `trajectory` over a period, all at once."""
        every = (points @ self.free.T).reshape(len(points), 1, -1, 2, self.harmonics)
        # between the rests at the ends, where the sign of a speed is chance
        time = self.period * (np.arange(samples) + 0.5) / samples
        x, xd, xdd = waves(every[..., 0, :], every[..., 1, :], self.period, time)
        if self.robot.mobility < FREE:
            return self.robot.motion(home_coordinates(self.robot) + x, xd, xdd, on_error="nan")
        turn, omega, omega_dot = exponential(x[..., 3:], xd[..., 3:], xdd[..., 3:])
        home = self.robot.home
        pose = home.position + x[..., :3], turn @ home.rotation
        return Motion(*pose, xd[..., :3], omega, xdd[..., :3], omega_dot)

    def excess(self, motions: Motion) -> Array:
        """(points, limits): the largest demand over a period, over what is allowed, less 1.

        The stroke counts from its middle; ∞ where a motion leaves the legs' reach.
        """
        with np.errstate(invalid="ignore"):
            condition = self.robot.condition_number(motions, on_error="nan")
        lost = ~(condition < LOST).all(axis=1)
        good = np.flatnonzero(~lost)
        found: list[Array] = [condition[:, :, np.newaxis].max(axis=1) / self.bounds.condition - 1]
        limits = self.bounds.limits
        middle, half = (
            (limits.longest + limits.shortest) / 2,
            (limits.longest - limits.shortest) / 2,
        )
        some = motions[good] if lost.any() else motions
        for name, value, allowed in demands(self.robot, some, limits, None, self.friction):
            if "stroke" in name:
                value, allowed = value - middle if name == "stroke" else value + middle, half
                # from the middle a crank is half a turn away at most
                turns = [one.units.turns for one in self.robot.actuators]
                value = np.where(turns, wrapped(value), value)
            over = np.full((len(motions), value.shape[-1]), np.inf)
            over[good] = value.max(axis=1) / allowed - 1
            found.append(over)
        all_ = np.concatenate(found, axis=1) + MARGIN
        all_[lost] = np.inf
        return np.asarray(all_)

    def grams(self, motions: Motion) -> Array:
        """(points, rank, rank): Wᵀ W over one period, mean over its samples."""
        found = []
        for i in range(0, len(motions), BATCH):
            W = base_regressor(self.smooth, self.base, motions[i : i + BATCH], on_error="nan")
            W = np.nan_to_num(W.reshape(len(W), -1, self.base.rank))
            found.append(np.swapaxes(W, 1, 2) @ W / W.shape[1])
        return np.concatenate(found)

    def eigenvalues(self, motions: Motion) -> Array:
        """Of S Wᵀ W S, (points, rank); what is below the rounding of the largest counts as that."""
        grams = self.grams(motions) * self.scale * self.scale[:, np.newaxis]
        values = np.linalg.eigvalsh(grams)
        return np.maximum(values, np.maximum(ROUNDING * values[:, -1:], 1e-300))

    def fit(self, points: Array, most: float = 1.2) -> Array:
        """Points (n, free) brought within the limits, as large as they may be."""
        low, high = np.zeros(len(points)), np.full(len(points), most)
        for _ in range(14):
            middle = (low + high) / 2
            inside = (self.excess(self.motions(middle[:, np.newaxis] * points)) <= 0).all(axis=1)
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return low[:, np.newaxis] * points

    def keep(self, points: Array, conditions: Array, excess: Array) -> None:
        """Remember the best point within the limits."""
        conditions = np.where((excess <= 0).all(axis=1), conditions, np.inf)
        place = int(np.argmin(conditions))
        if conditions[place] < self.condition:
            self.condition, self.best = float(conditions[place]), points[place].copy()

    def evaluate(self, points: Array) -> tuple[Array, Array]:
        """Smooth objective (n,) and excess (n, limits); keeps the best."""
        answers = self.answers.once(len(points), lambda: self.answer(points))
        excess = answers[:, 2:]
        self.keep(points, answers[:, 0], excess)
        return answers[:, 1], excess

    def answer(self, points: Array) -> Array:
        """(n, 2 + limits): cond(W S), smooth objective, excess up to 10."""
        motions = self.motions(points)
        values, excess = self.eigenvalues(motions), self.excess(motions)
        # roots apart: where a motion is out of reach the least is next to nothing
        sizes = np.sqrt(values)
        spread = _power_norm(values, SHARPNESS) - _power_norm(values, -SHARPNESS)
        conditions = sizes[:, -1] / sizes[:, 0]
        return np.column_stack([conditions, 0.5 * spread, np.minimum(excess, 10.0)])

    def true(self) -> bool:
        """Whether the best is as good, and within the limits, as its answer from the disk said."""
        assert self.best is not None
        condition, _, *excess = self.answer(self.best[np.newaxis])[0]
        return bool(abs(condition / self.condition - 1) < 1e-6 and max(excess) < 1e-6)


def _power_norm(values: Array, power: int) -> Array:
    """log (Σ λ^p)^(1/p), (n,)."""
    logs = power * np.log(values)
    top = logs.max(axis=1, keepdims=True)
    return np.asarray((top[:, 0] + np.log(np.exp(logs - top).sum(axis=1))) / power)
