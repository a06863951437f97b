"""The search for the elastic coordinates of one motion: collocation, Newton's method, steps halved.

`gough.model.elastic_motion` says what is sought, `gough.model.collocation` how a step is solved.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gough.base.arrays import Array
from gough.errors import ConvergenceError, Failure, SampleError, ToleranceWarning
from gough.model.between import Between
from gough.model.collocation import STAGES, TABLEAU, Conditions, Course, between_nodes, improve
from gough.model.deflection import largest_shapes
from gough.model.zero_dynamics import Slopes, ZeroDynamics
from gough.motion import Motion

TOLERANCE = 1e-8
"""Change of the deflection by steps half as long, of the largest, at which a motion counts as found."""
CONVERGED = 1e-3 * TOLERANCE
"""Change by the next step of Newton's method, of the largest deflection, that is not worth taking."""
MOST_NEWTON_STEPS = 40
MOST_SHORTENINGS = 8
MOST_HALVINGS = 8
NOT_FOUND = "no elastic motion found: the last step changed it by {:.2g} of the largest deflection"
JUMPS = (
    "; Coulomb friction without width jumps where joints come to rest, and no motion of the modes obeys "
    "it there: give [legs.friction] a width, or ask without friction"
)
SLOWEST = 1e-3
"""Rates, in parts of the largest deflection times the fastest modal frequency, to which changes of rates
are compared at least: rounding of the deflection makes 1e-15 of that."""
LEAST = 1e-15
"""Deflection, m, to which changes are compared at least."""
SLOW = 0.2
"""Change by a step of Newton's method, of that by the one before, above which slopes are found anew."""


class Mixed:
    """Slopes at the Gauss points of parts of intervals, from those at the intervals' own."""

    def __init__(self, slopes: Slopes, parts: int) -> None:
        self.parts = parts
        self.known = [one.reshape(-1, STAGES, *one.shape[1:]) for one in slopes]
        places = (np.arange(parts)[:, np.newaxis] + TABLEAU.nodes) / parts
        self.weights = np.stack([between_nodes(one) for one in places])

    def __call__(self, some: slice) -> tuple[Array, Array, Array]:
        """∂f/∂q, ∂f/∂q̇ and 1 − ∂E/∂a of steps, (some, s, N, N) each."""
        if self.parts == 1:
            by_q, by_rate, share = (one[some] for one in self.known)
            return by_q, by_rate, share
        count = len(self.known[0]) * self.parts
        interval, part = np.divmod(np.arange(count)[some], self.parts)
        by_q, by_rate, share = (
            np.einsum("kjl,klmn->kjmn", self.weights[part], one[interval], optimize=True)
            for one in self.known
        )
        return by_q, by_rate, share


class Search:
    """The elastic coordinates of one motion (n,), sought on steps that are parts of its intervals."""

    def __init__(
        self, dynamics: ZeroDynamics, command: Motion, load: Array, conditions: Conditions
    ) -> None:
        self.dynamics, self.load, self.conditions = dynamics, load, conditions
        self.between = Between.of(command)
        self.samples = dynamics.commanded(command)
        self.size = largest_shapes(dynamics.robot)
        body = dynamics.robot.modal
        assert body is not None
        self.rate = max(2 * np.pi * float(body.frequencies[-1]), 1.0)

    def solve(self, rest: Array) -> tuple[Course, float]:
        """The course on steps short enough, and what the last halving changed."""
        start = self._guess(rest)
        course, slopes = self._newton(start, 1, None)
        change = left = 0.0
        for parts in (2**k for k in range(MOST_HALVINGS)):
            finer, slopes = self._newton(_halved(course, self._step(parts)), 2 * parts, slopes)
            last, change = change, self._distance(course.state[::parts], finer.state[:: 2 * parts])
            left = _next(change, last)
            course = finer
            if left < TOLERANCE:
                return course, left
        warnings.warn(
            f"elastic motion: steps of 1/{2**MOST_HALVINGS} of a sample's still change it by "
            f"{left:.2g} of the largest deflection, limit {TOLERANCE:g}; sample it more finely"
            f"{self._hint}",
            ToleranceWarning,
            stacklevel=5,
        )
        return course, left

    def _guess(self, rest: Array) -> Course:
        """From one rest to the other, or as the command itself deflects."""
        count, modes, nodes = len(self.load), self.dynamics.robot.modes, STAGES
        told = self.between.motion
        if told.modes:
            state = np.concatenate([told.elastic, told.elastic_velocity], axis=1)
            interval = np.repeat(np.arange(count - 1), nodes)
            inner = self.between(interval, np.tile(TABLEAU.nodes, count - 1))
            return Course(state, inner.elastic_acceleration.reshape(-1, nodes, modes))
        part = np.linspace(0.0, 1.0, count)[:, np.newaxis]
        still = np.concatenate([rest[0] + part * (rest[1] - rest[0]), np.zeros((count, modes))], 1)
        return Course(still, np.zeros((count - 1, nodes, modes)))

    def motion(self, course: Course) -> Motion:
        """The motion at its samples, with the elastic acceleration that inverse dynamics solves for."""
        modes, parts = self.dynamics.robot.modes, (len(course.state) - 1) // (len(self.load) - 1)
        state = course.state[::parts]
        elastic, rate = state[:, :modes], state[:, modes:]
        found = self.samples.motion(elastic, rate, np.zeros_like(elastic))
        share = self.dynamics.slopes(self.samples, found, self.load).share
        for _ in range(2):
            short = self.dynamics.pull(found, self.load) - found.elastic_acceleration
            grown = np.linalg.solve(share, short[..., np.newaxis])[..., 0]
            found = self.samples.motion(elastic, rate, found.elastic_acceleration + grown)
        return found

    def _step(self, parts: int) -> Array:
        return np.repeat(np.diff(self.between.time) / parts, parts)

    def _newton(self, course: Course, parts: int, slopes: Slopes | None) -> tuple[Course, Slopes]:
        """The course on `parts` steps between samples; slopes of a coarser one, if there, will do."""
        renew = slopes is None
        modes, step, count = self.dynamics.robot.modes, self._step(parts), len(self.load) - 1
        interval = np.repeat(np.arange(count), parts * STAGES)
        part = np.tile((np.arange(parts)[:, np.newaxis] + TABLEAU.nodes).ravel() / parts, count)
        commanded = self.dynamics.commanded(self.between(interval, part))
        weight = part[:, np.newaxis]
        load = (1 - weight) * self.load[interval] + weight * self.load[interval + 1]

        def missing(course: Course) -> tuple[Motion, Array]:
            """The motion at the Gauss points, and E − a there."""
            q, v = (one.reshape(-1, modes) for one in course.stages(step))
            a = course.acceleration.reshape(-1, modes)
            moving = commanded.motion(q, v, a)
            return moving, (self.dynamics.pull(moving, load) - a).reshape(-1, STAGES, modes)

        change = 0.0
        for iteration in range(MOST_NEWTON_STEPS):
            try:
                moving, short = missing(course)
                if slopes is None or renew:
                    slopes = self.dynamics.slopes(commanded, moving, load)
            except SampleError as error:
                where = placed(error, lambda one: (int(interval[one[-1]]),))
                raise (where if renew and iteration == 0 else self._astray(where)) from None
            mixed = Mixed(slopes, len(short) * STAGES // len(slopes.share))
            better = improve(course, step, short, mixed, self.conditions)
            if self.dynamics.rubs and iteration:
                better = _shortened(course, better, short, missing)
            last, change = change, self._distance(course.state, better.state)
            course = better
            if _next(change, last) < CONVERGED:
                return course, slopes
            renew = renew or (self.dynamics.rubs and change > SLOW * last > 0)
        raise ConvergenceError([Failure((), None, NOT_FOUND.format(change) + self._hint)])

    def _astray(self, error: SampleError) -> SampleError:
        """The command itself is sound, but the search has left what the robot can do."""
        first = error.failures[0]
        reason = f"no elastic motion found: the search strays to where {first.reason}{self._hint}"
        return ConvergenceError([Failure(first.sample, first.leg, reason)])

    @property
    def _hint(self) -> str:
        """Why there may be none, and the way out, where friction jumps as joints come to rest."""
        return JUMPS * self.dynamics.jumps

    def _distance(self, one: Array, other: Array) -> float:
        """Of two courses: the larger one of deflections and of their rates, each of its largest.

        Rates of a motion that stands still, or nearly, are rounding of the deflection, and count for
        no more than that.
        """
        modes = len(self.size)
        (a, rate_a), (b, rate_b) = (
            (course[:, :modes] * self.size, course[:, modes:] * self.size)
            for course in (one, other)
        )
        largest = max(float(np.abs(b).max()), LEAST)
        fastest = max(float(np.abs(rate_b).max()), SLOWEST * self.rate * largest)
        return float(max(np.abs(a - b).max() / largest, np.abs(rate_a - rate_b).max() / fastest))


def _shortened(
    course: Course, better: Course, short: Array, missing: Callable[[Course], tuple[Motion, Array]]
) -> Course:
    """As much of a step of Newton's method as leaves less missing: friction bends within its width."""
    for part in 0.5 ** np.arange(MOST_SHORTENINGS):
        trial = Course(*(a + part * (b - a) for a, b in zip(course, better, strict=True)))
        try:
            left = missing(trial)[1]
        except SampleError:
            continue
        if np.linalg.norm(left) < (1 - part / 4) * np.linalg.norm(short):
            return trial
    return better


def _next(change: float, last: float) -> float:
    """What the next step of a series would change, from what the last one and the one before did."""
    return change * min(1.0, change / last) if last else change


def _halved(course: Course, step: Array) -> Course:
    """The same course on steps half as long: its polynomials at their middles and Gauss points."""
    nodes, modes = STAGES, course.acceleration.shape[-1]
    fit = np.linalg.inv(np.vander(TABLEAU.nodes, increasing=True))
    carried = between_nodes(np.concatenate([TABLEAU.nodes / 2, (1 + TABLEAU.nodes) / 2]))
    powers = np.arange(1, nodes + 1)
    risen = (0.5**powers / powers) @ fit
    sunk = (0.5 ** (powers + 1) / (powers * (powers + 1))) @ fit
    h = step[:, np.newaxis]
    q, v = course.state[:-1, :modes], course.state[:-1, modes:]
    middle_v = v + h * np.einsum("l,klm->km", risen, course.acceleration)
    middle_q = q + h * v / 2 + h**2 * np.einsum("l,klm->km", sunk, course.acceleration)
    state = np.empty((2 * len(step) + 1, 2 * modes))
    state[::2] = course.state
    state[1::2] = np.concatenate([middle_q, middle_v], axis=1)
    finer = np.einsum("jl,klm->kjm", carried, course.acceleration)
    return Course(state, finer.reshape(2 * len(step), nodes, modes))


def placed(error: SampleError, place: Callable[[Any], tuple[int, ...]]) -> SampleError:
    """The error with its samples, each once, where `place` says that they are in the motion."""
    failures = {place(one.sample): one for one in reversed(error.failures)}
    placed = [Failure(where, one.leg, one.reason) for where, one in sorted(failures.items())]
    return type(error)(placed)
