"""`python -m benchmarks.coverage`: whether deviations of a calibration are those of repetitions.

The hexapod of `benchmarks.calibration` is measured again and again with other noise. For each option the
errors of the combinations of unknowns that are told are compared with their standard deviations: the rms
of error over deviation is 1 where deviations are right. Noise is drawn here, not by gough.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import gough
from benchmarks.calibration import machine
from gough.calibration import (
    Calibration,
    Frames,
    PoseMeasurements,
    calibrate,
    random_poses,
    simulate,
)

POSITION, TURN, READING = 1e-5, 5e-5, 2e-5
"""Noise of positions (m), of rotations (rad) and of encoders (m)."""
TRACKER = {"position": POSITION, "rotation": TURN}
KNOWN = ["tracker", "target"]
BALLS = np.array([[0.1, 0, 0.05], [-0.05, 0.09, 0.05], [-0.05, -0.09, 0.05]])
"""Balls on the platform, m."""


def noisy(exact: PoseMeasurements, rng: np.random.Generator, reading: float) -> PoseMeasurements:
    """Measurements with noise; samples with the same coordinates have one reading."""
    _, pose = np.unique(exact.q, axis=0, return_inverse=True)
    error = reading * rng.normal(size=(len(exact), exact.q.shape[1]))[pose.reshape(-1)]
    sizes = np.array([POSITION] * 3 + [TURN] * 3 + [POSITION])
    off = sizes * rng.normal(size=exact.seen.shape)
    seen = exact.seen + off
    whole = np.isfinite(exact.seen[:, 3:6]).all(axis=1)
    if whole.any():
        turned = Rotation.from_rotvec(off[whole, 3:6]) * Rotation.from_rotvec(
            exact.seen[whole, 3:6]
        )
        seen[whole, 3:6] = turned.as_rotvec()
    return replace(exact, q=exact.q + error, seen=seen)


def balls(poses: gough.Motion) -> dict[str, Any]:
    """What `simulate` is told to see three balls at each pose."""
    frames = Frames(
        np.zeros((1, 3)), np.eye(3)[None], BALLS, np.tile(np.eye(3), (3, 1, 1)), np.zeros((1, 3))
    )
    motion = gough.Motion(np.repeat(poses.position, 3, 0), np.repeat(poses.rotation, 3, 0))
    target = np.tile([0, 1, 2], len(poses.position))
    return {"poses": motion, "frames": frames, "target": target, "seen": ("x", "y", "z")}


def options(count: int) -> Iterator[tuple[str, dict[str, Any], float, dict[str, Any]]]:
    """Name, what is simulated, noise of readings, options of `calibrate`."""
    robot, _ = machine("hexapod")
    poses = random_poses(robot, count, seed=1)
    whole: dict[str, Any] = {"poses": poses}
    read = {**TRACKER, "q": READING}
    yield "noise found", whole, 0.0, {}
    yield "noise given", whole, 0.0, {"noise": TRACKER}
    yield "robust, noise found", whole, 0.0, {"robust": True}
    yield "robust, noise given", whole, 0.0, {"robust": True, "noise": TRACKER}
    yield "readings, inverse", whole, READING, {"noise": read, "residual": "inverse"}
    yield "readings, forward", whole, READING, {"noise": read, "residual": "forward"}
    three = balls(poses)
    known = {"frames": three["frames"]}
    yield "three balls, exact readings", three, 0.0, {"noise": TRACKER, **known}
    yield "three balls, readings", three, READING, {"noise": read, **known}
    yield "three balls, robust", three, READING, {"noise": read, "robust": True, **known}
    yield "relative", {**whole, "relative": True}, READING, {"noise": read, "known": ["target"]}


def ratio(
    simulated: dict[str, Any],
    reading: float,
    given: dict[str, Any],
    seeds: int,
) -> tuple[float, float]:
    """Rms of error over deviation, of combinations told, and rms of noise found over true noise."""
    robot, errors = machine("hexapod")
    exact = simulate(robot, errors, **simulated)
    scaled, noise = [], []
    basis = np.zeros((0, 0))
    for seed in range(seeds):
        measured = noisy(exact, np.random.default_rng(seed), reading)
        found: Calibration = calibrate(robot, measured, hold_back=0.0, **{"known": KNOWN, **given})
        sizes = found.geometry.sizes
        kept = found.free[: len(sizes)]
        own = int(kept.sum())
        if not seed:  # combinations of the geometry's numbers alone that are told
            lost = found.spectrum.vectors[:own, ~found.spectrum.told]
            basis = np.linalg.svd(lost)[0][:, np.linalg.matrix_rank(lost) if lost.size else 0 :]
        covariance = found.covariance[:own, :own] / np.outer(sizes[kept], sizes[kept])
        off = basis.T @ ((found.values - errors) / sizes)[kept]
        scaled.append(off / np.sqrt(np.diagonal(basis.T @ covariance @ basis)))
        noise.append(found.noise.position / POSITION)
    return float(np.sqrt(np.mean(np.array(scaled) ** 2))), float(np.mean(noise))


def main() -> None:
    """Print a line for each option."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--poses", type=int, default=30)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, simulated, reading, given in options(asked.poses):
        start = time.perf_counter()
        scatter, noise = ratio(simulated, reading, given, asked.seeds)
        took = time.perf_counter() - start
        print(
            f"{name}: error over deviation {scatter:.3f}, noise {noise:.3f} ({took:.0f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main()
