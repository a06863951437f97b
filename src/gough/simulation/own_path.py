"""Samples of a motion that a held platform can make, as a path between them that it can make too.

The robot's own coordinates u (`robot.coordinates`) go through those of the samples as a quintic spline,
four times continuously differentiable (through fewer than six samples, one of lower degree), or as the
polynomials that have the samples' own rates (`gough.base.hermite`). What else
the platform does follows from them (`robot.motion`). Splines of poses, in contrast, would leave what the
platform is allowed between the samples.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.errors import InputError
from gough.model.freedom import COORDINATES
from gough.model.model import Model
from gough.motion import Motion

DEGREE = 5
Coordinates = Callable[[Array, int], Array]
"""The robot's own coordinates (n, m), or their derivative of an order, at times (n,)."""


def own_path(
    robot: Model, samples: Motion, coordinates: Coordinates | None = None
) -> Callable[[Array], Motion]:
    """The motion (n, 1) at times (n,) through timed samples (k,) that the robot can make.

    `coordinates` are the robot's own over time, and their derivatives by order; left out, a spline.
    """
    assert samples.time is not None
    times = samples.time
    if len(times) < 2 or not np.all(np.diff(times) > 0):
        raise InputError("reference: a timed motion needs two samples or more, times that increase")
    robot.inverse_kinematics(samples)  # refuses those that it cannot make
    path = coordinates
    if path is None:
        every = np.concatenate([samples.position, turns_from_home(robot, samples)], axis=-1)
        u = every[:, [COORDINATES.index(name) for name in robot.coordinates]]
        most = min(DEGREE, len(times) - 1)
        path = make_interp_spline(times, u, k=most - 1 + most % 2)  # odd: knots at the samples

    def at(moments: Array) -> Motion:
        outside = (moments < times[0] - 1e-9) | (moments > times[-1] + 1e-9)
        if outside.any():
            raise InputError(
                f"reference: t = {moments[outside][0]:.6g} s is outside its samples, "
                f"{times[0]:.6g} to {times[-1]:.6g} s"
            )
        motion = robot.motion(*(path(moments, order) for order in range(3)), time=moments)
        return robot.remember(motion[:, np.newaxis], robot.chains_of(motion)[:, np.newaxis])

    return at


def turns_from_home(robot: Model, samples: Motion) -> Array:
    """Rotation vectors (k, 3) of samples from the robot's home, rad, world axes."""
    return np.asarray(Rotation.from_matrix(samples.rotation @ robot.home.rotation.T).as_rotvec())
