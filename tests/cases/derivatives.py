"""Robots in states at which derivatives are taken."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from gough import Motion, Robot
from gough.engine.run.compiled import CompiledExecutor
from gough.engine.run.execute import NumPyExecutor
from gough.model import derivatives
from gough.model.derivative_programs import COORDINATES
from gough.model.execution import fields_of
from oracles.random_robot import random_motion, random_robot

SMOOTH = {"friction": True, "width": 0.2}
ROBOTS = {
    "UPS": ("UPS", 6, {}),
    "PUS": ("PUS", 6, {}),
    "PUS, 8 legs": ("PUS", 8, {}),
    "UPS, friction": ("UPS", 6, {"friction": True}),
    "PUS, smooth friction": ("PUS", 6, SMOOTH),
    "UPS, 7 legs, smooth friction": ("UPS", 7, SMOOTH),
}
COMPILED = ("UPS",)
"""Robots whose programs are compiled here; NumPy evaluates those of the others, which is faster."""


class Case:
    """A robot with a state, forces and a wrench; its derivatives when first asked for."""

    def __init__(self, name, shape=(), engine=None):
        kind, legs, options = ROBOTS[name]
        rng = np.random.default_rng([7, legs])
        data = random_robot(rng, kind, legs, **options)
        self.robot = Robot.from_dict(data)
        engine = engine or (CompiledExecutor if name in COMPILED else NumPyExecutor)
        self.robot.__dict__["executor"] = engine(
            self.robot.mechanism, fields_of(self.robot.mechanism)
        )
        self.motion = Motion(**random_motion(rng, data, shape))
        self.wrench = 50 * rng.normal(size=(*shape, 6))
        self.forces = 100 * rng.normal(size=(*shape, legs))
        self.rng, self.name = rng, name
        self._found = {}

    def call(self, what, model, *given, motion=None, forces=None, wrench=None, **options):
        """A function of the model, `what` its ending, at this case's state."""
        function = getattr(derivatives, f"{model}_dynamics_{what}")
        motion = self.motion if motion is None else motion
        first = () if model == "inverse" else (self.forces if forces is None else forces,)
        wrench = self.wrench if wrench is None else wrench
        return function(self.robot, motion, *first, *given, wrench=wrench, **options)

    def slopes(self, model):
        if model not in self._found:
            self._found[model] = self.call("derivatives", model)
        return self._found[model]

    def answer(self, model, motion, forces, wrench):
        if model == "inverse":
            return self.robot.inverse_dynamics(motion, wrench).forces
        found = self.robot.direct_dynamics(motion, forces, wrench)
        return np.concatenate([found.linear, found.angular], axis=-1)


def assert_close(actual, expected, relative):
    """Close relative to the largest expected number, of 1e-3 at least."""
    size = max(1e-3, np.max(np.abs(expected), initial=0))
    assert_allclose(actual, expected, rtol=0, atol=relative * size)


def moved(motion, name, change):
    """A motion with its pose, twist or acceleration changed by (..., 6)."""
    linear, angular = COORDINATES[name]
    turned = getattr(motion, angular) + change[..., 3:] if name != "pose" else None
    if name == "pose":
        turn = Rotation.from_rotvec(change[..., 3:].reshape(-1, 3)).as_matrix()
        turned = turn.reshape(*change.shape[:-1], 3, 3) @ motion.rotation
    fields = {linear: getattr(motion, linear) + change[..., :3], angular: turned}
    return motion.replace(**fields)
