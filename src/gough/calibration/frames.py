"""Frames of trackers and of targets on the platform: unknown, or known, or in part.

A target is seen at y = t + R_T (p + R e), turned by S = R_T R R_E. With changes (δt, δφ) of the
tracker's frame about a point c amid what it sees, (δe, δε) of the target's in platform axes, (δp, δθ) of
the pose:

    δy = δt + δφ×(y − c) + R_T (δp + δθ×R e) + R_T R δe,    δψ = δφ + R_T δθ + R_T R δε

y, ψ in the tracker's axes.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.calibration.closing import Standing
from gough.calibration.measurements import COLUMNS, PoseMeasurements

COORDINATES = COLUMNS[:6]


class Frames(NamedTuple):
    """All trackers' and targets' frames."""

    tracker_position: Array
    """t (trackers, 3): the world's origin seen from the tracker."""
    tracker_rotation: Array
    """R_T (trackers, 3, 3): from world to tracker axes."""
    target_position: Array
    """e (targets, 3), platform frame."""
    target_rotation: Array
    """R_E (targets, 3, 3)."""
    center: Array
    """c (trackers, 3), about which the trackers' frames are turned."""

    @classmethod
    def start(cls, measured: PoseMeasurements) -> Self:
        """All at the world's and the platform's."""
        trackers, targets = int(measured.tracker.max()) + 1, int(measured.target.max()) + 1
        nothing = np.zeros((trackers, 3))
        turned = np.tile(np.eye(3), (trackers, 1, 1))
        target = np.zeros((targets, 3)), np.tile(np.eye(3), (targets, 1, 1))
        return cls(nothing, turned, *target, nothing)

    @property
    def counts(self) -> tuple[int, int]:
        """Trackers and targets."""
        return len(self.tracker_position), len(self.target_position)

    def names(self) -> list[tuple[str, str]]:
        """Names and units of their unknowns: six per tracker, then six per target."""
        return [
            (f"{what}[{i + 1}][{name}]", "rad" if name.startswith("r") else "m")
            for what, count in zip(("tracker", "target"), self.counts, strict=True)
            for i in range(count)
            for name in COORDINATES
        ]

    def seen(self, measured: PoseMeasurements, poses: Standing) -> tuple[Array, Array]:
        """y (n, 3) and S (n, 3, 3) of all samples."""
        turned = self.tracker_rotation[measured.tracker]
        point = poses.position + _turn(poses.rotation, self.target_position[measured.target])
        y = self.tracker_position[measured.tracker] + _turn(turned, point)
        return y, turned @ poses.rotation @ self.target_rotation[measured.target]

    def poses(self, measured: PoseMeasurements, chains: Array) -> Standing:
        """Where the platform must have been for whole poses to be seen so."""
        turned = self.tracker_rotation[measured.tracker]
        saw = Rotation.from_rotvec(np.array(measured.seen[:, 3:6])).as_matrix()
        target = self.target_rotation[measured.target]
        rotation = np.swapaxes(turned, 1, 2) @ saw @ np.swapaxes(target, 1, 2)
        away = measured.seen[:, :3] - self.tracker_position[measured.tracker]
        point = _turn(np.swapaxes(turned, 1, 2), away)
        arm = _turn(rotation, self.target_position[measured.target])
        return Standing(point - arm, rotation, chains)

    def slopes(self, measured: PoseMeasurements, poses: Standing) -> tuple[Array, Array]:
        """(δy, δψ) by the pose (n, 6, 6), and by all frames (n, 6, 6 trackers + 6 targets)."""
        y, _ = self.seen(measured, poses)
        count, (trackers, targets) = len(y), self.counts
        turned = self.tracker_rotation[measured.tracker]
        whole = turned @ poses.rotation
        arm = _turn(poses.rotation, self.target_position[measured.target])
        by_pose = np.zeros((count, 6, 6))
        by_pose[:, :3, :3] = by_pose[:, 3:, 3:] = turned
        by_pose[:, :3, 3:] = -turned @ _cross(arm)
        by_frames = np.zeros((count, 6, 6 * (trackers + targets)))
        samples = np.arange(count)
        for k in range(6):
            column = np.zeros((count, 6))
            column[:, k] = 1.0
            if k >= 3:
                column[:, :3] = np.cross(np.eye(3)[k - 3], y - self.center[measured.tracker])
            by_frames[samples, :, 6 * measured.tracker + k] = column
            column = np.zeros((count, 6))
            column[:, 3 * (k // 3) : 3 * (k // 3) + 3] = whole[:, :, k % 3]
            by_frames[samples, :, 6 * trackers + 6 * measured.target + k] = column
        return by_pose, by_frames

    def moved(self, change: Array) -> Self:
        """The frames after a change (6 trackers + 6 targets,)."""
        trackers, targets = np.split(change.reshape(-1, 6), [self.counts[0]])
        turn = Rotation.from_rotvec(trackers[:, 3:]).as_matrix()
        away = self.tracker_position - self.center
        return self._replace(
            tracker_position=self.center + _turn(turn, away) + trackers[:, :3],
            tracker_rotation=turn @ self.tracker_rotation,
            target_position=self.target_position + targets[:, :3],
            target_rotation=Rotation.from_rotvec(targets[:, 3:]).as_matrix() @ self.target_rotation,
        )

    def free(self, measured: PoseMeasurements) -> Array:
        """Which unknowns (6 trackers + 6 targets,) what was measured can depend on."""
        known = np.isfinite(measured.seen)
        found = np.zeros((sum(self.counts), 6), dtype=bool)
        for i in range(self.counts[0]):
            own = (measured.tracker == i) & (measured.relative < 0)
            found[i, :3] = np.any(known[own][:, [0, 1, 2, 6]])
            found[i, 3:] = np.any(known[own][:, :6])
        for i in range(self.counts[1]):
            own = measured.target == i
            found[self.counts[0] + i, :3] = np.any(known[own][:, [0, 1, 2, 6]])
            turned = known[own][:, 3:6].any() or np.any(measured.relative[own] >= 0)
            found[self.counts[0] + i, 3:] = turned
        return found.ravel()


def observe(
    measured: PoseMeasurements, frames: Frames, poses: Standing
) -> tuple[Array, Array, Array]:
    """What was measured less what is expected (n, 7), its slopes by (δy, δψ) and by the reference's.

    Whole rotations are compared by the rotation vector between them, single components as they are;
    relative poses in the frame of the target of the sample that they are relative to. Slopes are those
    of what is expected, (n, 7, 6) each.
    """
    y, turned = frames.seen(measured, poses)
    count, whole = len(y), np.asarray(np.isfinite(measured.seen[:, 3:6]).all(axis=1))
    expected = np.zeros((count, 7))
    by_seen, by_reference = np.zeros((2, count, 7, 6))
    axes = np.tile(np.eye(3), (count, 1, 1))
    related = measured.relative >= 0
    base = np.where(related, measured.relative, 0)
    axes[related] = np.swapaxes(turned[base[related]], 1, 2)
    away = np.where(related[:, np.newaxis], y - y[base], y)
    expected[:, :3] = _turn(axes, away)
    by_seen[:, :3, :3] = axes
    by_reference[:, :3, :3] = -axes
    by_reference[:, :3, 3:] = axes @ _cross(away)
    rotation = axes @ turned
    vector = Rotation.from_matrix(rotation).as_rotvec()
    expected[:, 3:6] = vector
    rate = np.where(whole[:, np.newaxis, np.newaxis], np.eye(3), _vector_rate(vector))
    by_seen[:, 3:6, 3:] = rate @ axes
    by_reference[:, 3:6, 3:] = -rate @ axes
    expected[:, 6] = np.linalg.norm(away, axis=1)
    by_seen[:, 6, :3] = away / np.maximum(expected[:, 6], 1e-300)[:, np.newaxis]
    by_reference[:, 6, :3] = -by_seen[:, 6, :3]
    by_reference[~related] = 0.0
    off = measured.seen - expected
    saw = Rotation.from_rotvec(np.where(whole[:, np.newaxis], measured.seen[:, 3:6], 0.0))
    between = (saw * Rotation.from_matrix(rotation).inv()).as_rotvec()
    off[:, 3:6] = np.where(whole[:, np.newaxis], between, off[:, 3:6])
    return off, by_seen, by_reference


def _vector_rate(vector: Array) -> Array:
    """dθ/dψ (n, 3, 3) of rotation vectors, exp(δψ^) from the left: 1 − θ^/2 + k θ^²."""
    angle = np.linalg.norm(vector, axis=-1)[:, np.newaxis, np.newaxis]
    small = angle < 1e-3
    half = np.where(small, 1.0, angle) / 2
    k = np.where(small, 1 / 12, (1 - half / np.tan(half)) / (4 * half * half))
    skew = _cross(vector)
    return np.asarray(np.eye(3) - 0.5 * skew + k * skew @ skew)


def _turn(rotation: Array, vector: Array) -> Array:
    return np.asarray(np.einsum("...ij,...j->...i", rotation, vector))


def _cross(vector: Array) -> Array:
    """v^ (n, 3, 3): v^ w = v × w."""
    return np.asarray(-np.cross(vector[:, np.newaxis], np.eye(3)))
