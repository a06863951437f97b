"""Retimed random splines beside the fastest law that NumPy finds, and their limits densely sampled.

    python -m cases.retimed_splines [SPLINES]      from tests/

of 6 to 60 random poses each, with friction, in other limits each. Durations are within 2 % of the law of
`oracles.time_law`, limits kept to 10⁻⁶ at 10⁵ points by its forces, and none is refused.
"""

from __future__ import annotations

import sys

import numpy as np

import gough
from gough.planning import retime
from oracles.time_law import Hexapod, least_time

ANGLES = {"base": (-10, 10, 110, 130, 230, 250), "platform": (-50, 50, 70, 170, 190, 290)}
RADII = {"base": 0.6, "platform": 0.35}
FORCES, SPEEDS = (400.0, 300.0, 600.0, 1000.0), (0.5, 0.3, 1.0, 0.5)


def hexapod():
    """A robot file's numbers: legs without mass but 30 kg of rotors, a platform of 51 kg, friction."""
    points = {}
    for name, angles in ANGLES.items():
        turn = np.radians(angles)
        ring = RADII[name] * np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
        points[name] = ring.tolist()
    platform = {
        "mass": 51.0,
        "center_of_mass": [0.01, -0.02, 0.03],
        "inertia": [[1.6, 0, 0], [0, 1.6, 0], [0, 0, 3.1]],
    }
    legs = {
        "kind": "UPS", **points, "cross": {}, "cylinder": {}, "rod": {}, "rotor_mass": 30.0,
        "friction": {"slider_viscous": 100.0, "slider_coulomb": 20.0},
        "limits": {"stroke": [0.6, 1.2]},
    }  # fmt: skip
    home = {"position": [0, 0, 0.8]}
    return {"format": 1, "name": "hexapod", "home": home, "platform": platform, "legs": legs}


def random_spline(robot, poses, seed):
    """Through poses half a second apart, within 7 cm and 0.1 rad about each axis of home."""
    rng = np.random.default_rng(seed)
    places = robot.home.position + rng.uniform(-0.07, 0.07, (poses, 3))
    turns = rng.uniform(-0.1, 0.1, (poses, 3))
    return gough.trajectories.Spline(0.5 * np.arange(poses), gough.Motion(places, rotvec=turns))


def fields(motion):
    """What the oracle takes."""
    return (
        motion.position, motion.rotation, motion.velocity, motion.angular_velocity,
        motion.acceleration, motion.angular_acceleration,
    )  # fmt: skip


def compared(data, poses, seed, force, speed, points=200, samples=100_001, **options):
    """Duration, the oracle's, and the largest share of a limit that the oracle's forces find."""
    robot, machine = gough.Robot.from_dict(data), Hexapod(data)
    spline = random_spline(robot, poses, seed)
    found = retime(robot, spline, force=force, speed=speed, **options)
    s = np.linspace(0, spline.duration, points * poses + 1)
    best = least_time(machine, lambda s: fields(spline(s)), s, speed, force)
    rates, pushes = machine(fields(found(np.linspace(0, found.duration, samples))))
    share = max(np.abs(rates).max() / speed, np.abs(pushes).max() / force)
    return found.duration, best, share


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for k, poses in enumerate(np.round(np.geomspace(6, 60, count)).astype(int)):
        limits = FORCES[k % 4], SPEEDS[k // 4 % 4]
        mine, best, share = compared(hexapod(), int(poses), 100 + k, *limits)
        print(
            f"{poses} poses, {limits[0]:g} N, {limits[1]:g} m/s: {mine:.4f} s, phase plane {best:.4f} s "
            f"({mine / best - 1:+.2%}); largest share − 1 = {share - 1:.1e}",
            flush=True,
        )
        assert abs(mine / best - 1) < 0.02
        assert share <= 1 + 1e-6
