"""Standard deviations of a calibration beside the scatter of repetitions.

`python -m benchmarks.coverage` repeats each option a hundred times. Noise is drawn here, not by gough.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gough
from cases.machines import machine
from gough.calibration import Frames, calibrate, random_poses, simulate

POSITION, TURN, READING = 1e-5, 5e-5, 2e-5
TRACKER = {"position": POSITION, "rotation": TURN}
BALLS = np.array([[0.1, 0, 0.05], [-0.05, 0.09, 0.05], [-0.05, -0.09, 0.05]])

pytestmark = pytest.mark.usefixtures("on_numpy")


def noisy(exact, rng, position, reading):
    """Measurements with noise; rows of one pose have the same error of its reading."""
    _, pose = np.unique(exact.q, axis=0, return_inverse=True)
    error = reading * rng.normal(size=exact.q.shape)[pose.reshape(-1)]
    off = np.repeat([position, TURN, position], [3, 3, 1]) * rng.normal(size=exact.seen.shape)
    seen = exact.seen + off
    if np.isfinite(exact.seen[:, 3:6]).all():
        turned = Rotation.from_rotvec(off[:, 3:6]) * Rotation.from_rotvec(
            np.array(exact.seen[:, 3:6])
        )
        seen[:, 3:6] = turned.as_rotvec()
    return replace(exact, q=exact.q + error, seen=seen)


def scatter(robot, errors, exact, sizes, seeds, **options):
    """Rms of errors over their deviations, in independent combinations of all numbers."""
    count, scaled = len(errors), []
    for seed in range(seeds):
        measured = noisy(exact, np.random.default_rng(seed), *sizes)
        found = calibrate(robot, measured, hold_back=0.0, **options)
        assert found.told[:count].all()
        lower = np.linalg.cholesky(found.covariance[:count, :count])
        scaled.append(np.linalg.solve(lower, found.values - errors))
    return np.sqrt(np.mean(np.square(scaled)))


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize("noise", [None, TRACKER])
def test_of_robust_weights_without_outliers(noise):
    """They were 1.4 to 1.5 times too small."""
    robot, errors = machine("hexapod", 1e-3)
    exact = simulate(robot, errors, random_poses(robot, 30, turn=0.3, seed=1))
    options = {"known": ["tracker", "target"], "robust": True, "noise": noise}
    assert 0.85 < scatter(robot, errors, exact, (POSITION, 0.0), 4, **options) < 1.15


def test_of_three_balls_at_each_pose_that_share_a_reading():
    """They were 1.4 times too small."""
    robot, errors = machine("hexapod", 1e-3)
    poses = random_poses(robot, 25, turn=0.3, seed=1)
    frames = Frames(
        np.zeros((1, 3)), np.eye(3)[None], BALLS, np.tile(np.eye(3), (3, 1, 1)), np.zeros((1, 3))
    )  # fmt: skip
    motion = gough.Motion(np.repeat(poses.position, 3, 0), np.repeat(poses.rotation, 3, 0))
    exact = simulate(
        robot, errors, motion, frames=frames, target=np.tile([0, 1, 2], 25), seen=("x", "y", "z")
    )
    noise = {"position": 1e-6, "q": READING}
    options = {"known": ["tracker", "target"], "frames": frames, "noise": noise}
    assert 0.85 < scatter(robot, errors, exact, (1e-6, READING), 4, **options) < 1.15


def test_simulated_balls_of_one_pose_have_one_reading():
    robot, errors = machine("hexapod", 1e-3)
    poses = random_poses(robot, 4, seed=1)
    motion = gough.Motion(np.repeat(poses.position, 3, 0), np.repeat(poses.rotation, 3, 0))
    measured = simulate(robot, errors, motion, noise={"q": READING}, target=np.tile([0, 1, 2], 4))
    assert len(np.unique(measured.q, axis=0)) == 4
    still = simulate(robot, errors, poses, noise={"q": READING}, commanded=True)
    exact = simulate(robot, errors, poses, commanded=True)
    assert np.array_equal(still.q, exact.q)
    assert np.ptp(still.seen[:, 0] - exact.seen[:, 0]) > 0.1 * READING
