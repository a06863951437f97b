"""The papers' own motions, by name: "kim-ryu-2002/circle-40rpm" and the like."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.spatial.transform import Rotation

from gough.errors import InputError
from gough.model.model import Model
from gough.motion import Motion
from gough.trajectories import Circle, ConstantAcceleration, Harmonic, RestToRest, Trajectory


def kim_ryu_circle(rpm: float) -> Trajectory:
    """Kim & Ryu 2002, Section 4: a circle of radius 100 mm; assumed horizontal about home."""
    return Circle(Model.load("kim-ryu-2002").home.position, 0.1, rpm=rpm)


def kim_ryu_acceleration() -> Trajectory:
    """Kim & Ryu 2002, Eq. 33: ±(0.1, 0.1, 0.1 m/s², 0.05, 0.05, 0.1 rad/s²), 1.5 s each, from home."""
    push = np.array([0.1, 0.1, 0.1, 0.05, 0.05, 0.1])
    return ConstantAcceleration(Model.load("kim-ryu-2002").home, [push, -push], 1.5)


def sinatra(amplitude: tuple[float, ...]) -> Trajectory:
    """Sinatra, Xi & Staicu 2009, Eq. 6 with one starred value of Eq. 24: 3 s, half a period."""
    return Harmonic(Model.load("sinatra-xi-staicu-2009").home, amplitude, period=6.0, cycles=0.5)


def long_poses() -> Trajectory:
    """Long, Khalil & Martinet 2014, Section 6.2: rest, quintic moves through several poses, rest.

    The paper does not print its poses; these three differ from home in position and orientation.
    """
    home = Motion([0.25, np.sqrt(3) / 4, 1.0])
    shifts = [[0, 0, 0], [0.1, -0.05, 0.1], [-0.05, 0.1, 0.15], [0, 0, 0]]
    turns = [[0, 0, 0], [0.1, 0.05, -0.1], [-0.05, 0.1, 0.15], [0, 0, 0]]
    poses = Motion(home.position + np.array(shifts), Rotation.from_rotvec(np.array(turns)))
    return RestToRest(poses, 1.0, [0.75, 0.0, 0.0, 0.75])


MOTIONS: dict[str, Callable[[], Trajectory]] = {
    "kim-ryu-2002/circle-20rpm": partial(kim_ryu_circle, 20),
    "kim-ryu-2002/circle-40rpm": partial(kim_ryu_circle, 40),
    "kim-ryu-2002/circle-60rpm": partial(kim_ryu_circle, 60),
    "kim-ryu-2002/acceleration": kim_ryu_acceleration,
    "long-khalil-martinet-2014/poses": long_poses,
    "sinatra-xi-staicu-2009/vertical": partial(sinatra, (0, 0, -0.15, 0, 0, 0)),
    "sinatra-xi-staicu-2009/horizontal": partial(sinatra, (0.1, 0, 0, 0, 0, 0)),
    "sinatra-xi-staicu-2009/rotation": partial(sinatra, (0, 0, 0, 0, 0, np.pi / 12)),
}


def paper_motion(name: str) -> Trajectory:
    """A paper's trajectory by name."""
    if name not in MOTIONS:
        near = difflib.get_close_matches(name, MOTIONS, 1, cutoff=0.0)[0]
        raise InputError(f"no motion {name!r} in the catalogue; the nearest is {near!r}")
    return MOTIONS[name]()
