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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from scipy.optimize import minimize

from gough.base.arrays import Array
from gough.base.sources import package_digest
from gough.errors import InputError
from gough.model.model import Model
from gough.parameters.base import BaseParameters, base_parameters
from gough.parameters.exciting_bounds import Bounds, default_bounds
from gough.parameters.exciting_search import BATCH, MARGIN, ExcitingSearch
from gough.parameters.search_state import Answers, Start, damaged, restored, save
from gough.trajectories import Trajectory

FINE = 1000
"""Of a period, on which limits of the result are checked."""
STEP = 1e-5
"""Of finite differences, in units of coefficients."""
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
    search = ExcitingSearch(robot, base, bounds or default_bounds(robot), period, harmonics)
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
    search: ExcitingSearch, count: int, rng: np.random.Generator, told: Progress, end: float
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


def _descend(search: ExcitingSearch, step: Callable[[Array], None], most: int, end: float) -> None:
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


def _within(search: ExcitingSearch) -> Trajectory:
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


def _key(search: ExcitingSearch, random_motions: int, seed: int) -> str:
    """What a state must agree in to be gone on with."""
    bounds = search.bounds
    numbers = [*bounds.limits, np.array([bounds.condition, search.period])]
    settings = search.harmonics, random_motions, seed, search.base.names
    parts = [package_digest().hex(), search.robot.text, str(settings)]
    text = "\n".join(parts).encode() + b"".join(np.asarray(one).tobytes() for one in numbers)
    return hashlib.sha256(text).hexdigest()


def _restored(search: ExcitingSearch, path: Path, key: str) -> tuple[Start, Answers] | None:
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
