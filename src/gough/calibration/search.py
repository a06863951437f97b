"""Weighted least squares by Levenberg and Marquardt, in the combinations of unknowns that are told.

With residuals r of deviation 1, slopes K by unknowns in metres (angles times L) and K = U diag(s) Vᵀ a
step is V diag(s/(s² + λ)) Uᵀ r. Combinations with s under RANK of the largest are not told by the
measurements: they stay as drawn, as do those that would be known no better than UNTOLD length scales.
Priors are further rows, (drawn − u)/σ. Outliers weigh less: first by Huber's law, then by Tukey's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gough.base.arrays import Array
from gough.calibration.residuals import Numbers, Problem, Weighed
from gough.errors import InputError, SampleError

RANK = 1e-8
"""Singular value, as a share of the largest, from which a combination counts as told."""
UNTOLD = 0.05
"""Standard deviation of a combination, length scales, above which it is not told."""
SMALL = 1e-13
"""Last step, length scales."""
FLAT = 1e-7
"""Last promised gain, as a share of the sum of squares."""
SLOW = 1e-4
"""Gain of three steps in a row after which the search is given up."""
MOST_STEPS = 40
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-6, 1e-9, 1e2
"""λ, in squares of the largest s."""
WORSE = 1.1
"""So many times the sum of squares may be for the sake of numbers that stay as drawn."""
SETTLED = 0.02
"""Change of robust weights after which they are final."""
HUBER, TUKEY = 1.345, 4.685
"""In standard deviations: 95 % as efficient as least squares on normal noise."""
ROUNDS = 8
"""Of robust weights, of each law."""


class Prior(NamedTuple):
    """What is known before: unknowns (n,) and their standard deviations about what was drawn."""

    which: Array
    deviations: Array


class Spectrum(NamedTuple):
    """What the measurements tell: K = U diag(s) Vᵀ by free unknowns in metres."""

    values: Array
    """s, (free,)."""
    vectors: Array
    """V, (free, free)."""
    told: Array
    """(free,) which."""

    @property
    def rank(self) -> int:
        """How many combinations are told."""
        return int(np.sum(self.told))


@dataclass(frozen=True, eq=False)
class Search:
    """The unknowns that are free, their sizes, and what is known of them before."""

    problem: Problem
    free: Array
    """(unknowns,) booleans."""
    sizes: Array
    """(unknowns,): one metre in each unknown."""
    prior: Prior
    robust: bool = False

    def run(self, drawn: Numbers, near: Numbers | None = None) -> tuple[Weighed, Array]:
        """The best unknowns, and the weights (rows,) that residuals have there.

        First in all combinations that have any slope, from numbers as drawn or near the best; if some
        are not told by then, again from those drawn in those that are, and the others stay so.
        """
        found, weights = self._weighed(drawn if near is None else near, 0.0)
        residuals, slopes = self.rows(found, weights)
        deviation = np.sqrt(residuals @ residuals / max(len(residuals) - slopes.shape[1], 1))
        limit = deviation / (UNTOLD * self.problem.geometry.robot.length_scale)
        values = np.linalg.svd(slopes, compute_uv=False)
        weak = (values < limit) & (values > RANK * values.max(initial=0.0))
        if not len(self.prior.which) and np.any(weak):
            fewer, weights_then = self._weighed(drawn, limit)
            then = self.rows(fewer, weights_then)[0]
            if then @ then < WORSE * (residuals @ residuals):
                return fewer, weights_then
        return found, weights

    def _weighed(self, numbers: Numbers, limit: float) -> tuple[Weighed, Array]:
        """Least squares in combinations with slopes above a limit, robust if that is wanted."""
        found = self._solve(numbers, None, limit)
        weights = np.ones(len(found.residuals))
        for law in (_huber, _tukey) if self.robust else ():
            for _ in range(ROUNDS):
                before, weights = weights, law(found.residuals / _spread(found.residuals))
                if np.abs(weights - before).max() < SETTLED:
                    break
                found = self._solve(found.numbers, weights, limit)
        return found, weights

    def rows(self, found: Weighed, weights: Array | None) -> tuple[Array, Array]:
        """Residuals and slopes by free unknowns in metres, weights and priors in."""
        root = np.ones(len(found.residuals)) if weights is None else np.sqrt(weights)
        slopes = (found.slopes * self.sizes)[:, self.free] * root[:, np.newaxis]
        residuals = found.residuals * root
        if len(self.prior.which):
            inner = np.zeros((len(self.prior.which), found.slopes.shape[1]))
            inner[np.arange(len(inner)), self.prior.which] = 1 / self.prior.deviations
            away = -found.numbers.geometry[self.prior.which] / self.prior.deviations
            residuals = np.concatenate([residuals, away])
            slopes = np.concatenate([slopes, (inner * self.sizes)[:, self.free]])
        return residuals, slopes

    def spectrum(self, slopes: Array) -> Spectrum:
        """What slopes by free unknowns in metres, with noise of deviation 1, tell."""
        _, values, vectors = np.linalg.svd(_tall(slopes), full_matrices=False)
        limit = 1 / (UNTOLD * self.problem.geometry.robot.length_scale)
        told = values > max(RANK * values.max(initial=0.0), limit)
        return Spectrum(values, vectors.T, told)

    def _solve(self, numbers: Numbers, weights: Array | None, limit: float) -> Weighed:
        """Steps until they are small or promise nothing."""
        here, scale = self.problem.weighed(numbers), self.problem.geometry.robot.length_scale
        residuals, slopes = self.rows(here, weights)
        cost, damping, slow = float(residuals @ residuals), FIRST_DAMPING, 0
        for _ in range(MOST_STEPS):
            left, values, right = np.linalg.svd(_tall(slopes), full_matrices=False)
            told = values > max(RANK * values.max(), limit)
            aim = left.T[told, : len(residuals)] @ residuals
            if not np.any(told) or aim @ aim <= FLAT * cost:
                break
            trial = None
            while damping < MOST_DAMPING:
                factor = values[told] ** 2 + damping * values[told].max() ** 2
                step = right[told].T @ (aim * values[told] / factor)
                change = np.zeros(len(self.free))
                change[self.free] = step
                trial = self._try(here.numbers.changed(change * self.sizes), weights, cost)
                if trial is not None:
                    break
                damping = max(10 * damping, LEAST_DAMPING)
            if trial is None:
                break
            here = self.problem.weighed(trial.numbers)
            residuals, slopes = self.rows(here, weights)
            before, cost = cost, float(residuals @ residuals)
            slow = slow + 1 if before - cost <= SLOW * before else 0
            damping = damping / 30 if damping > LEAST_DAMPING else 0.0
            if np.abs(step).max() < SMALL * scale or slow == 3:
                break
        return here

    def _try(self, numbers: Numbers, weights: Array | None, cost: float) -> Weighed | None:
        """Residuals, if the robot can stand so and fits no worse."""
        try:
            found = self.problem.weighed(numbers, sloped=False)
        except (SampleError, InputError):
            return None
        residuals, _ = self.rows(found, weights)
        return found if residuals @ residuals <= cost * (1 + 1e-12) else None


def _tall(slopes: Array) -> Array:
    """With rows of zeros where there are fewer rows than unknowns."""
    short = slopes.shape[1] - len(slopes)
    return np.concatenate([slopes, np.zeros((short, slopes.shape[1]))]) if short > 0 else slopes


def _spread(residuals: Array) -> float:
    """Standard deviation of most residuals: 1.4826 median |r|."""
    return max(1.4826 * float(np.median(np.abs(residuals))), 1e-300)


def _huber(scaled: Array) -> Array:
    return np.asarray(HUBER / np.maximum(np.abs(scaled), HUBER))


def _tukey(scaled: Array) -> Array:
    return np.asarray(np.maximum(1 - (scaled / TUKEY) ** 2, 0.0) ** 2)


def influence_slopes(residuals: Array) -> Array:
    """Return the slopes ψ′ of Tukey's ψ(u) = u (1 − u²/c²)² at residuals, by their own spread."""
    square = (residuals / _spread(residuals) / TUKEY) ** 2
    return np.asarray(np.where(square < 1, (1 - square) * (1 - 5 * square), 0.0))
