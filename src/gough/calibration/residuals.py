"""Residuals of a calibration and their slopes, weighed by what is known of the noise.

Forward, where poses were commanded, or measured in part: what was seen less what a robot with these
numbers shows when its legs have these coordinates. Inverse, where legs and whole poses were measured:
readings of the legs less those that such a robot has at the pose. Both are of the same weight,

    forward: Σ = Σ_seen + H X_q Σ_q X_qᵀ Hᵀ,    inverse: Σ = Σ_q + J A⁻¹ Σ_seen A⁻ᵀ Jᵀ

to first order they have the same least squares; inverse needs no pose to be solved for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

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
        width = self.geometry.count + 6 * sum(numbers.frames.counts)
        if not sloped and not self.noise.q:
            return self._whitened(off, np.zeros((len(q), 7, width)), spread, numbers, poses)
        found = closing(self.geometry, numbers.geometry, q, poses, sloped)
        moved, moved_by_q = pose_slopes(found, self.geometry.robot.length_scale)
        moved[:, :, self._zeros] = -moved_by_q[:, :, list(self.geometry.offsets)]
        by_pose, by_frames = numbers.frames.slopes(self.measured, poses)
        whole = np.concatenate([by_pose @ moved, by_frames], axis=2)
        base = np.maximum(self.measured.relative, 0)
        slopes = by_seen @ whole + by_reference @ whole[base]
        felt = by_seen @ by_pose @ moved_by_q
        spread += np.einsum("nia,nja->nij", felt, felt) * self.noise.q**2
        return self._whitened(off, slopes, spread, numbers, poses)

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
        spread += self.noise.q**2 * np.eye(readings.shape[1])
        return self._whitened(readings - found.value, slopes, spread, numbers, poses)

    @property
    def _zeros(self) -> slice:
        return slice(self.geometry.count - len(self.geometry.offsets), self.geometry.count)

    @property
    def _deviations(self) -> Array:
        """(7,) of what is seen."""
        noise = self.noise
        return np.array([noise.position] * 3 + [noise.rotation] * 3 + [noise.distance])

    def _whitened(
        self, off: Array, slopes: Array, spread: Array, numbers: Numbers, poses: Standing
    ) -> Weighed:
        """Residuals with independent noise of deviation 1: L⁻¹ r with L Lᵀ = Σ."""
        rows, matrices, samples, columns = [], [], [], []
        known = np.isfinite(off)
        for pattern in np.unique(known, axis=0):
            some = np.flatnonzero((known == pattern).all(axis=1))
            which = np.flatnonzero(pattern)
            if not which.size:
                continue
            lower = np.linalg.cholesky(spread[np.ix_(some, which, which)])
            both = np.concatenate([off[some][:, which, np.newaxis], slopes[some][:, which]], axis=2)
            white = np.linalg.solve(lower, both).reshape(len(some) * len(which), -1)
            rows.append(white[:, 0])
            matrices.append(white[:, 1:])
            samples.append(np.repeat(some, len(which)))
            columns.append(np.tile(which, len(some)))
        return Weighed(
            np.concatenate(rows),
            np.concatenate(matrices),
            np.concatenate(samples),
            np.concatenate(columns),
            numbers._replace(poses=poses),
        )
