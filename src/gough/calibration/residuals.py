"""Residuals of a calibration and their slopes, weighed by what is known of the noise.

Forward, where poses were commanded, or measured in part: what was seen less what a robot with these
numbers shows when its legs have these coordinates. Inverse, where legs and whole poses were measured:
readings of the legs less those that such a robot has at the pose. Both are of the same weight,

    forward: Σ = Σ_seen + H X_q Σ_q X_qᵀ Hᵀ,    inverse: Σ = Σ_q + J A⁻¹ Σ_seen A⁻ᵀ Jᵀ

to first order they have the same least squares; inverse needs no pose to be solved for. Samples with the
same coordinates were seen while the platform stood still (several balls, several trackers): the error
of one reading is in all of them, and Σ is that of all of them together. So it is with the reading of the
sample that others are relative to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import block_diag
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gough.base.arrays import Array
from gough.calibration.closing import Standing, closing, pose_slopes, reading, stand
from gough.calibration.frames import Frames, observe
from gough.calibration.geometry import Geometry
from gough.calibration.measurements import Noise, PoseMeasurements
from gough.errors import Failure, SampleError

Residual = Literal["forward", "inverse"]


class Numbers(NamedTuple):
    """All unknowns of a calibration at a stage of the search."""

    geometry: Array
    """(unknowns of the geometry,), 0 as drawn."""
    frames: Frames
    poses: Standing
    """Poses near those that follow."""

    def changed(self, change: Array) -> Numbers:
        """After a change (unknowns,): geometry, trackers, targets."""
        count = len(self.geometry)
        return self._replace(
            geometry=self.geometry + change[:count], frames=self.frames.moved(change[count:])
        )


class Differences(NamedTuple):
    """Measured less expected of all samples, and what is known of their noise."""

    off: Array
    """(n, rows); NaN what was not measured."""
    slopes: Array
    """(n, rows, unknowns) of what is expected."""
    spread: Array
    """(n, rows, rows): covariance of the noise that a sample has for itself."""
    felt: Array
    """(n, rows, actuators): what one deviation of the sample's reading does."""
    reference: Array
    """The same of the reading of the sample that it is relative to."""

    def alone(self, which: Array, some: Array) -> tuple[Array, Array]:
        """Covariances (samples, rows, rows) of samples that share no reading, off and slopes."""
        felt = self.felt[some][:, which]
        covariance = self.spread[np.ix_(some, which, which)] + felt @ np.swapaxes(felt, 1, 2)
        return covariance, np.concatenate(
            [self.off[some][:, which, np.newaxis], self.slopes[some][:, which]], axis=2
        )

    def together(self, some: Array, readings: Array, bases: Array) -> tuple[Array, Array]:
        """The same of samples that share readings, as of one sample with all their rows.

        `readings` and `bases` (n,) number the reading of each sample and of what it is relative to.
        """
        count, rows, actuators = len(some), self.off.shape[1], self.felt.shape[2]
        places, own = np.unique(np.concatenate([readings[some], bases[some]]), return_inverse=True)
        own, base = own.reshape(2, count)
        felt = np.zeros((count, rows, len(places), actuators))
        each = np.arange(count)
        felt[each, :, own] += self.felt[some]
        felt[each, :, base] += self.reference[some]
        whole = felt.reshape(count * rows, -1)
        covariance = block_diag(*self.spread[some]) + whole @ whole.T
        known = np.isfinite(self.off[some]).ravel()
        both = np.concatenate([self.off[some][..., np.newaxis], self.slopes[some]], axis=2)
        both = both.reshape(count * rows, -1)
        return covariance[np.ix_(known, known)][np.newaxis], both[known][np.newaxis]


class Weighed(NamedTuple):
    """Residuals over their standard deviations, (rows,), and slopes of what is expected."""

    residuals: Array
    slopes: Array
    """(rows, unknowns)."""
    samples: Array
    """(rows,) the sample that each belongs to."""
    columns: Array
    """(rows,) what of it: a column of what was seen, or with inverse residuals an actuator."""
    numbers: Numbers
    """With the poses found."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Measurements of a robot, and how to compare it with them."""

    geometry: Geometry
    measured: PoseMeasurements
    noise: Noise
    residual: Residual

    def weighed(self, numbers: Numbers, sloped: bool = True) -> Weighed:
        """Residuals at a stage of the search, and their slopes; zeros if those are not wanted."""
        try:
            return (self._inverse if self.residual == "inverse" else self._forward)(numbers, sloped)
        except SampleError as error:
            first = error.failures[0]
            row = first.sample[0] if first.sample else 0
            reason = f"{self.measured.where(row)}: {first.reason}"
            raise type(error)([Failure((), first.leg, reason)]) from None

    def standing(self, numbers: Numbers) -> Standing:
        """Poses that a robot with these numbers takes."""
        q = self.measured.q - self.geometry.zeros(numbers.geometry)
        return stand(self.geometry, numbers.geometry, q, numbers.poses)

    def _forward(self, numbers: Numbers, sloped: bool) -> Weighed:
        poses = self.standing(numbers)
        q = self.measured.q - self.geometry.zeros(numbers.geometry)
        off, by_seen, by_reference = observe(self.measured, numbers.frames, poses)
        spread = np.tile(np.diag(self._deviations**2), (len(q), 1, 1))
        still = np.zeros((len(q), 7, q.shape[1]))
        width = self.geometry.count + 6 * sum(numbers.frames.counts)
        if not sloped and not self.noise.q:
            flat = Differences(off, np.zeros((len(q), 7, width)), spread, still, still)
            return self._whitened(flat, numbers, poses)
        found = closing(self.geometry, numbers.geometry, q, poses, sloped)
        moved, moved_by_q = pose_slopes(found, self.geometry.robot.length_scale)
        moved[:, :, self._zeros] = -moved_by_q[:, :, list(self.geometry.offsets)]
        by_pose, by_frames = numbers.frames.slopes(self.measured, poses)
        whole = np.concatenate([by_pose @ moved, by_frames], axis=2)
        base = np.maximum(self.measured.relative, 0)
        slopes = by_seen @ whole + by_reference @ whole[base]
        seen_by_q = by_pose @ moved_by_q * self.noise.q
        felt, reference = by_seen @ seen_by_q, by_reference @ seen_by_q[base]
        return self._whitened(Differences(off, slopes, spread, felt, reference), numbers, poses)

    def _inverse(self, numbers: Numbers, sloped: bool) -> Weighed:
        poses = numbers.frames.poses(self.measured, numbers.poses.chains)
        readings = self.measured.q - self.geometry.zeros(numbers.geometry)
        found = reading(self.geometry, numbers.geometry, poses, readings, sloped)
        by_pose, by_frames = numbers.frames.slopes(self.measured, poses)
        back = found.by_pose @ np.linalg.inv(by_pose)
        by_geometry = found.by_unknowns
        by_geometry[:, :, self._zeros] = np.eye(readings.shape[1])[:, list(self.geometry.offsets)]
        slopes = np.concatenate([by_geometry, -back @ by_frames], axis=2)
        noisy = back * self._deviations[:6]
        spread = np.einsum("nia,nja->nij", noisy, noisy)
        felt = np.tile(self.noise.q * np.eye(readings.shape[1]), (len(readings), 1, 1))
        off = Differences(readings - found.value, slopes, spread, felt, 0 * felt)
        return self._whitened(off, numbers, poses)

    @property
    def _zeros(self) -> slice:
        return slice(self.geometry.count - len(self.geometry.offsets), self.geometry.count)

    @property
    def _deviations(self) -> Array:
        """(7,) of what is seen."""
        noise = self.noise
        return np.array([noise.position] * 3 + [noise.rotation] * 3 + [noise.distance])

    @cached_property
    def _readings(self) -> tuple[Array, Array, Array]:
        """Numbers (n,) of each sample's reading, of its reference's, and of what hangs together."""
        measured, count = self.measured, len(self.measured)
        if not self.noise.q:
            return np.arange(count), np.arange(count), np.arange(count)
        _, first, which = np.unique(measured.q, axis=0, return_index=True, return_inverse=True)
        readings = first[which.reshape(-1)]
        bases = readings[np.where(measured.relative < 0, np.arange(count), measured.relative)]
        ends = np.concatenate([readings, bases]), np.tile(np.arange(count), 2)
        graph = coo_array((np.ones(2 * count), ends), shape=(count, count))
        return readings, bases, connected_components(graph, directed=False)[1]

    def _whitened(self, given: Differences, numbers: Numbers, poses: Standing) -> Weighed:
        """Residuals with independent noise of deviation 1: L⁻¹ r with L Lᵀ = Σ."""
        rows, matrices, samples, columns = [], [], [], []
        known = np.isfinite(given.off)
        readings, bases, parts = self._readings
        shared = (np.bincount(parts) > 1)[parts]

        def add(covariance: Array, both: Array, sample: Array, column: Array) -> None:
            white = np.linalg.solve(np.linalg.cholesky(covariance), both)
            white = white.reshape(-1, both.shape[2])
            rows.append(white[:, 0])
            matrices.append(white[:, 1:])
            samples.append(sample)
            columns.append(column)

        for pattern in np.unique(known[~shared], axis=0):
            some = np.flatnonzero(~shared & (known == pattern).all(axis=1))
            which = np.flatnonzero(pattern)
            if which.size:
                every = np.repeat(some, len(which)), np.tile(which, len(some))
                add(*given.alone(which, some), *every)
        for part in np.unique(parts[shared & known.any(axis=1)]):
            some = np.flatnonzero(parts == part)
            sample, column = np.nonzero(known[some])
            add(*given.together(some, readings, bases), some[sample], column)
        return Weighed(
            np.concatenate(rows),
            np.concatenate(matrices),
            np.concatenate(samples),
            np.concatenate(columns),
            numbers._replace(poses=poses),
        )
