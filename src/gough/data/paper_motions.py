"""The papers' own motions, by name: "kim-ryu-2002/circle-40rpm" and the like."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.words import nearest
from gough.data.columns import AS_THEY_ARE, Columns, Say, silent
from gough.data.motion_files import read_motion
from gough.data.motion_names import MOTIONS
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


def sinatra(*amplitude: float) -> Trajectory:
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


FORMULAS: dict[str, Callable[..., Trajectory]] = {
    "circle": kim_ryu_circle,
    "acceleration": kim_ryu_acceleration,
    "poses": long_poses,
    "harmonic": sinatra,
}


def paper_motion(name: str) -> Trajectory:
    """A paper's trajectory by name."""
    if name not in MOTIONS:
        near = nearest(name, MOTIONS)
        raise InputError(f"no motion {name!r} in the catalogue; the nearest is {near!r}")
    formula, numbers = MOTIONS[name]
    return FORMULAS[formula](*numbers)


def motion_named(
    name: str,
    samples: int,
    folder: str | os.PathLike[str] = ".",
    robot: Model | None = None,
    *,
    columns: Columns = AS_THEY_ARE,
    say: Say = silent,
    smooth: bool | float = False,
) -> Motion:
    """A paper's motion by its name, in so many samples, or that of a file in a folder.

    `robot`, `columns`, `say` and `smooth` are for files, see `read_motion`.
    """
    place = Path(folder) / name
    if name in MOTIONS or not (place.suffix or os.path.exists(place)):
        if columns != AS_THEY_ARE:
            raise InputError(f"{name}: a paper's motion, no file with columns: no units, no map")
        if smooth:
            raise InputError(f"{name}: a paper's motion is exact: --smooth is about motion files")
        return paper_motion(name).sample(samples)  # what is neither raises with the nearest name
    return read_motion(place, robot, columns=columns, say=say, smooth=smooth)
