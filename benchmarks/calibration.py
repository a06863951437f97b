"""`python -m benchmarks.calibration`: whether a calibration finds the truth, and knows how well it does.

Machines of four kinds are built 5 mm (and 5 mm over the length scale, rad) off their drawings at most,
sent to poses within their limits, and seen by a tracker, exactly and with noise. Without noise: the
largest error of a number that is told. With many seeds of noise: how many of the told combinations of
numbers lie within 3 standard deviations, whether these agree with the scatter over the seeds, and what
is left of the pose error on poses that were held back. Then: noise amplification index of planned
poses over that of the best of 1000 random sets.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

import gough
from gough.calibration import Geometry, calibrate, plan, random_poses, simulate
from gough.robot import Robot

OFF = 5e-3
"""Largest error of build, m."""
NOISE = {"position": 1e-5, "rotation": 5e-5}
POSES = 50
DRAWN: dict[str, list[list[float]]] = {
    "platform": [
        [92.1597, 84.4488, 0],
        [27.055, 122.0370, 0],
        [-119.2146, 37.5882, 0],
        [-119.2146, -37.5882, 0],
        [27.055, -122.0370, 0],
        [92.1597, -84.4488, 0],
    ],
    "base": [
        [305.4001, 111.1565, 0],
        [-56.4357, 320.0625, 0],
        [-248.9644, 208.9060, 0],
        [-248.9644, -208.9060, 0],
        [-56.4357, -320.0625, 0],
        [305.4001, -111.1565, 0],
    ],
}
"""Hexapod of public course material, as drawn, mm."""
BUILT: dict[str, list[list[float]]] = {
    "platform": [
        [96.6610, 81.7602, 1.0684],
        [22.2476, 125.2511, -0.5530],
        [-122.4519, 36.6453, 4.3547],
        [-120.6859, -34.4565, -4.9014],
        [24.7769, -125.0489, -4.8473],
        [91.3462, -80.9866, 0.2515],
    ],
    "base": [
        [305.2599, 115.0695, 2.6210],
        [-55.2814, 322.9819, 4.2181],
        [-244.7954, 208.0087, 3.9365],
        [-252.5755, -211.8783, -3.0128],
        [-53.9678, -320.6115, 4.3181],
        [302.4266, -109.4351, 3.3812],
    ],
}
"""The same as built, Table 2."""
LENGTHS = [604.4299, 607.2473, 600.4441, 605.9031, 604.5251, 600.0616]
"""Of its legs at reading 604.8652, mm."""


def hexapod() -> Robot:
    """The published hexapod as drawn."""
    legs: dict[str, Any] = {"kind": "UPS"}
    legs |= {key: (1e-3 * np.array(points)).tolist() for key, points in DRAWN.items()}
    legs["limits"] = {"stroke": [0.55, 0.9]}
    home = {"position": [0.0, 0.0, 0.65]}
    return Robot.from_dict({"format": 1, "name": "hexapod", "home": home, "legs": legs})


def published_errors(geometry: Geometry) -> np.ndarray:
    """What the published machine is off, in the order of the unknowns."""
    off = {key: 1e-3 * (np.array(BUILT[key]) - np.array(DRAWN[key])) for key in DRAWN}
    zeros = 1e-3 * (604.8652 - np.array(LENGTHS))
    return np.concatenate([off["base"].ravel(), off["platform"].ravel(), zeros])


MACHINES = {
    "UPS": "hexapod",
    "PUS": "kim-ryu-2002",
    "RUS": "pollen-reachy-mini-2025",
    "Delta": "alikoc-delta-2023",
}


def machine(name: str) -> tuple[Robot, np.ndarray]:
    """A robot as drawn, and what the machine is off."""
    robot = hexapod() if name == "hexapod" else gough.load(name)
    geometry = Geometry(robot)
    if name == "hexapod":
        return robot, published_errors(geometry)
    rng = np.random.default_rng(7)
    size = OFF * min(1.0, robot.length_scale / 0.1)
    return robot, size * rng.uniform(-1, 1, geometry.count) * geometry.sizes


def without_noise(robot: Robot, errors: np.ndarray) -> float:
    """Largest error of numbers that are told, m; of angles times L."""
    geometry = Geometry(robot)
    measured = simulate(robot, errors, random_poses(robot, POSES, seed=1))
    found = calibrate(robot, measured, known=["tracker", "target"])
    off = np.abs(found.values - errors) / geometry.sizes
    return float(off[found.told[: geometry.count]].max())


def with_noise(robot: Robot, errors: np.ndarray, seeds: int) -> dict[str, float]:
    """Shares and ratios over many seeds."""
    geometry = Geometry(robot)
    poses = random_poses(robot, POSES, seed=1)
    off, said, left, before = [], [], [], []
    for seed in range(seeds):
        measured = simulate(robot, errors, poses, noise=NOISE, seed=seed)
        found = calibrate(robot, measured, known=["tracker", "target"])
        if not seed:
            basis = found.spectrum.vectors[:, found.spectrum.told]
        away = (found.values - errors) / geometry.sizes
        covariance = found.covariance / np.outer(geometry.sizes, geometry.sizes)
        off.append(basis.T @ away)
        said.append(np.sqrt(np.diagonal(basis.T @ covariance @ basis)))
        left.append([found.after.position / np.sqrt(3), found.after.rotation / np.sqrt(3)])
        before.append(found.before.position)
    away, sigma = np.array(off), np.array(said)
    ratio = away.std(axis=0) / sigma.mean(axis=0)
    return {
        "combinations": away.shape[1],
        "within 3 sigma [%]": 100 * float(np.mean(np.abs(away) < 3 * sigma)),
        "scatter / sigma, mean": float(np.sqrt(np.mean(ratio**2))),
        "least": float(ratio.min()),
        "largest": float(ratio.max()),
        "pose error before [m]": float(np.mean(before)),
        "held back, rms per axis / noise": float(np.mean(np.array(left)[:, 0]) / NOISE["position"]),
        "the same of rotations": float(np.mean(np.array(left)[:, 1]) / NOISE["rotation"]),
        "largest sigma of a number [m]": float(
            (found.deviations[: geometry.count] / geometry.sizes).max()
        ),
    }


def main() -> None:
    """Print a table per machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--machines", nargs="*", default=[*MACHINES])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for kind in asked.machines:
        robot, errors = machine(MACHINES[kind])
        start = time.perf_counter()
        print(f"{kind}: {robot.name}")
        print(
            f"  without noise, largest error of a number told: {without_noise(robot, errors):.2g} m"
        )
        for name, value in with_noise(robot, errors, asked.seeds).items():
            print(f"  {name}: {value:.4g}")
        planned = plan(robot, 30)
        print(
            f"  30 planned poses: index {planned.index:.3g}, best of 1000 random sets "
            f"{planned.random:.3g}, ratio {planned.ratio:.2f}"
        )
        print(f"  {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
