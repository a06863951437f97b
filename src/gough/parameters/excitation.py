"""Exciting motions: Fourier series that show every base parameter, within the robot's limits.

    minimise cond(W S)    over the coefficients of Fourier series in the robot's own coordinates

W is the regressor of the base parameters along one period, S a fixed scaling of its columns (one over
their rms on random motions), so that a slow motion, which hardly shows inertia, counts as badly
conditioned. Subject to the robot's limits (what the file leaves open is assumed, and said) and to a
largest condition number of the Jacobian. Motions start and end at rest: Σ h S_h = 0, Σ h² C_h = 0.

Swevers et al. 1997 (Fourier series); Gautier & Khalil 1992 (condition number).
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from scipy.linalg import block_diag, null_space
from scipy.optimize import minimize

from gough.base.arrays import Array, wrapped
from gough.base.rotations import exponential
from gough.base.sources import package_digest
from gough.errors import FreedomWarning, ImpossibleBodyWarning, InputError
from gough.model.limits import demands, leg_length
from gough.model.model import Model
from gough.motion import Motion
from gough.parameters.base import BaseParameters, base_parameters, base_regressor
from gough.parameters.exciting_bounds import Bounds, default_bounds
from gough.parameters.own_fourier import OwnFourier, home_coordinates, waves
from gough.parameters.search_state import Answers, Start, damaged, restored, save
from gough.parameters.special import FREE
from gough.trajectories import Fourier, Trajectory

SAMPLES = 100
"""Of a period, on which motions are compared."""
FINE = 1000
"""Of a period, on which limits of the result are checked."""
ROUNDING = 1e-15
"""Of an eigenvalue, as a share of the largest: below it a search would follow noise."""
BATCH = 50
"""Motions whose regressor is held at a time."""
STEP = 1e-5
"""Of finite differences, in units of coefficients."""
SHARPNESS = 6
"""Exponent of the norm that stands for the largest eigenvalue: smooth, and within 20 % of it."""
LOST = 1e6
"""Condition number of the Jacobian from which a pose has no forces worth comparing."""
WIDTH = 0.02
"""Of the smoothed Coulomb friction, in largest speeds."""
MARGIN = 0.01
"""Part of the limits that is kept free."""
FARTHEST = 4.0
"""Norm of a random motion's coefficients at most."""
SHRINK, MOST_SHRINKS = 0.998, 5000
"""By which a motion is made smaller until it keeps its limits, and how often at most."""
PERIODS = (1e-3, 1e5)
"""s."""
MOST = 1_000_000
"""Iterations, and random motions."""
Progress = Callable[[str, int, int, float], None]
"""Told the stage, how many steps of how many are done, and the best condition number so far."""


@dataclass(frozen=True, eq=False)
class Excitation:
    """An exciting motion and how good it is."""

    trajectory: Trajectory
    condition: float
    """cond(W S)."""
    random: float
    """The best of the random motions' cond(W S)."""
    bounds: Bounds
    base: BaseParameters
    iterations: int
    """Done in all."""
    interrupted: bool

    @property
    def ratio(self) -> float:
        """How many times better conditioned than the best random motion."""
        return self.random / self.condition


@dataclass
class _Search:
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
        self.friction = not loaded  # the loop that finds it is slow; `_within` counts it

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


def excite(
    robot: Model,
    *,
    period: float = 10.0,
    harmonics: int = 8,
    iterations: int = 60,
    random_motions: int = 1000,
    friction: bool = True,
    seed: int = 0,
    bounds: Bounds | None = None,
    base: BaseParameters | None = None,
    state: str | os.PathLike[str] | None = None,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> Excitation:
    """The best conditioned motion found, a Fourier series of one period (s) about home.

    First random motions, brought to the limits; then sequential quadratic programming from the best of
    them. With a `state` file it goes on where it was stopped; an interrupt (Ctrl-C) returns the best so
    far once the random motions are done. The same arguments give the same motion, to the last bit and
    however often it was stopped, but for `seconds`: after so long, half of it spent on random motions,
    the best so far is taken.
    """
    if seconds is not None and not seconds > 0:
        raise InputError(f"seconds is {seconds:g}, must be positive")
    for name, value, (least, most) in (
        ("harmonics", harmonics, (3, 50)),
        ("period", period, PERIODS),
        ("iterations", iterations, (0, MOST)),
        ("random_motions", random_motions, (1, MOST)),
    ):
        if not least <= value <= most:
            raise InputError(f"{name} is {value:g}, must be {least:g} to {most:g}")
    robot.need_rigid("the search for an exciting motion")
    robot.need_rigid_drives("the search for an exciting motion")
    end = np.inf if seconds is None else monotonic() + seconds
    base = base_parameters(robot, friction) if base is None else base
    search = _Search(robot, base, bounds or default_bounds(robot), period, harmonics)
    told = progress or (lambda stage, done, total, best: None)
    key = _key(search, random_motions, seed)
    found = None if state is None else _restored(search, Path(state), key)
    if found is None:
        middle = end if seconds is None else (monotonic() + end) / 2
        _random_stage(search, random_motions, np.random.default_rng(seed), told, middle)
        assert search.best is not None
        start = Start(search.best, search.scale, search.condition)
    else:
        start, search.answers = found
        search.best, search.scale, search.condition = start
    search.random = start.condition

    def keep() -> None:
        if state is not None:
            save(state, key, start, search.answers)

    if found is None:
        keep()

    def step(z: Array) -> None:
        search.iterations += 1
        search.evaluate(search.fit(z[np.newaxis]))  # the way may lead a little outside the limits
        told("optimising", search.iterations, iterations, search.condition)
        if search.answers.due():
            keep()
        if search.iterations >= iterations:
            raise StopIteration

    interrupted = False
    try:
        while search.iterations < iterations:
            before = search.condition
            _descend(search, step, iterations - search.iterations, end)
            if search.condition > 0.999 * before or monotonic() > end:
                break
    except KeyboardInterrupt:
        keep()
        interrupted = True
    if found is not None and search.best is not start.best and not search.true():
        assert state is not None
        raise damaged(state)
    return Excitation(
        trajectory=_within(search),
        condition=search.condition,
        random=search.random,
        bounds=search.bounds,
        base=base,
        iterations=search.iterations,
        interrupted=interrupted,
    )


def _random_stage(
    search: _Search, count: int, rng: np.random.Generator, told: Progress, end: float
) -> None:
    """Random motions at the limits: they set the columns' scale and the best of them is the start.

    After the time `end` (of the monotonic clock) those that there are must do.
    """
    h = np.arange(1.0, search.harmonics + 1)
    points, grams = [], []
    project = np.linalg.pinv(search.free)
    for done in range(0, count, BATCH):
        some = min(BATCH, count - done)
        fall = rng.uniform(0.0, 2.0, (some, 1, 1))
        size = (some, search.robot.mobility, 2 * search.harmonics)
        coefficients = rng.normal(size=size) / np.tile(h, 2) ** fall
        units = np.linalg.norm(search.free.reshape(search.robot.mobility, -1), axis=1)
        flat = (coefficients * units[:, np.newaxis]).reshape(some, -1)
        z = flat @ project.T
        z = search.fit(z / np.linalg.norm(z, axis=1, keepdims=True), FARTHEST)
        points.append(z)
        grams.append(search.grams(search.motions(z)))
        told("random motions", done + some, count, np.inf)
        if monotonic() > end:
            break
    z, gram = np.concatenate(points), np.concatenate(grams)
    sizes = np.sqrt(np.diagonal(gram, axis1=1, axis2=2).mean(axis=0))
    search.scale = 1 / np.where(sizes > 0, sizes, 1.0)
    values = np.linalg.eigvalsh(gram * search.scale * search.scale[:, np.newaxis])
    conditions = np.sqrt(values[:, -1] / np.maximum(values[:, 0], 1e-300))
    search.keep(z, conditions, np.zeros((len(z), 1)))


def _descend(search: _Search, step: Callable[[Array], None], most: int, end: float) -> None:
    """Sequential quadratic programming; gradients by finite differences, one batch each.

    It stops at the time `end` of the monotonic clock.
    """
    last: dict[bytes, tuple[float, Array]] = {}

    def at(z: Array) -> tuple[float, Array]:
        key = z.tobytes()
        if monotonic() > end:
            raise StopIteration
        if key not in last:
            value, excess = search.evaluate(z[np.newaxis])
            last.clear()
            last[key] = float(value[0]), excess[0]
        return last[key]

    slopes: dict[bytes, tuple[Array, Array]] = {}

    def slope(z: Array) -> tuple[Array, Array]:
        key = z.tobytes()
        if key not in slopes:
            value, excess = at(z)
            values, excesses = search.evaluate(z + STEP * np.eye(len(z)))
            slopes.clear()
            slopes[key] = (values - value) / STEP, (excesses - excess).T / STEP
        return slopes[key]

    limits: dict[str, Any] = {
        "type": "ineq",
        "fun": lambda z: -at(z)[1],
        "jac": lambda z: -slope(z)[1],
    }
    run: Any = minimize
    try:
        run(
            lambda z: at(z)[0],
            search.best,
            jac=lambda z: slope(z)[0],
            method="SLSQP",
            constraints=[limits],
            callback=step,
            options={"maxiter": most, "ftol": 1e-6},
        )
    except StopIteration:
        return


def _within(search: _Search) -> Trajectory:
    """The best motion, made smaller if between its samples it leaves the limits."""
    assert search.best is not None
    z = search.best
    search.friction = True

    def outside(times: int) -> bool:
        smaller = SHRINK**times * z
        return bool((search.excess(search.motions(smaller[np.newaxis], FINE)) > MARGIN).any())

    low, high = -1, 0  # how often it is made smaller: not enough, enough
    while outside(high):
        if high > MOST_SHRINKS:
            raise InputError(f"{search.robot.name}: no motion about home keeps its limits")
        low, high = high, 2 * high + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if outside(middle) else (low, middle)
    return search.trajectory(SHRINK**high * z)


def _key(search: _Search, random_motions: int, seed: int) -> str:
    """What a state must agree in to be gone on with."""
    bounds = search.bounds
    numbers = [*bounds.limits, np.array([bounds.condition, search.period])]
    settings = search.harmonics, random_motions, seed, search.base.names
    parts = [package_digest().hex(), search.robot.text, str(settings)]
    text = "\n".join(parts).encode() + b"".join(np.asarray(one).tobytes() for one in numbers)
    return hashlib.sha256(text).hexdigest()


def _restored(search: _Search, path: Path, key: str) -> tuple[Start, Answers] | None:
    """A saved search to go on with."""
    free = search.free.shape[1]
    numbers = 2 + search.excess(search.motions(np.zeros((1, free)))).shape[1]
    return restored(path, key, ((free,), search.scale.shape), numbers, 1.01 * FARTHEST)


def lines(found: Excitation) -> Sequence[str]:
    """The result in words."""
    return [
        f"condition number {found.condition:.4g}; best random motion {found.random:.4g}, "
        f"{found.ratio:.2f} times worse",
        *(f"assumed {one}" for one in found.bounds.assumed),
    ]
