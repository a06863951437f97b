"""Robots in states at which derivatives are taken."""

import numpy as np
from scipy.spatial.transform import Rotation

from cases.robots import with_body
from gough import Motion, Robot
from gough.description.modal.body import ModalBody
from gough.engine.run.compiled import CompiledExecutor
from gough.engine.run.execute import NumPyExecutor
from gough.model import derivatives
from gough.model.derivative_programs import COORDINATES
from gough.model.execution import fields_of
from oracles.flexible_energy import nodes_as_rigid_table, random_elastic, random_modal_body
from oracles.random_robot import random_motion, random_robot

MODELS = ("inverse", "direct")
SMOOTH = {"friction": True, "width": 0.2}
ROBOTS = {
    "UPS": ("UPS", 6, {}),
    "PUS": ("PUS", 6, {}),
    "RUS": ("RUS", 6, {}),
    "RUS, smooth friction": ("RUS", 6, SMOOTH),
    "PUS, 8 legs": ("PUS", 8, {}),
    "UPS, friction": ("UPS", 6, {"friction": True}),
    "PUS, smooth friction": ("PUS", 6, SMOOTH),
    "UPS, 7 legs, smooth friction": ("UPS", 7, SMOOTH),
}
FLEXIBLE = {
    "UPS": ("UPS", 6, 4, True, {}),
    "PUS": ("PUS", 6, 3, True, {}),
    "RUS": ("RUS", 6, 3, True, {}),
    "UPS, plate": ("UPS", 6, 5, False, {}),
    "PUS, 8 legs": ("PUS", 8, 2, True, {}),
    "UPS, friction": ("UPS", 6, 2, True, {"friction": True}),
    "PUS, smooth friction": ("PUS", 6, 3, True, SMOOTH),
    "UPS, 7 legs, smooth friction": ("UPS", 7, 2, False, SMOOTH),
}
"""Kind, legs, modes, whether these are general, options."""
COMPILED = ("UPS",)
"""Rigid robots whose programs are compiled here; NumPy evaluates those of the others: faster."""


class Case:
    """A robot with a state, forces and a wrench; its derivatives when first asked for."""

    def __init__(self, name, shape=(), engine=None):
        kind, legs, options = ROBOTS[name]
        self.rng = np.random.default_rng([7, legs])
        table = random_robot(self.rng, kind, legs, **options)
        engine = engine or (CompiledExecutor if name in COMPILED else NumPyExecutor)
        state = random_motion(self.rng, table, shape)
        self._ask(name, Robot.from_dict(table), state, engine)

    def _ask(self, name, robot, state, engine):
        """The robot in the state, its programs run by an engine."""
        robot.__dict__["executor"] = engine(robot.mechanism, fields_of(robot.mechanism))
        self.name, self.robot, self.state, self.motion = name, robot, state, Motion(**state)
        self.wrench = 50 * self.rng.normal(size=(*self.motion.shape, 6))
        self.forces = 100 * self.rng.normal(size=(*self.motion.shape, robot.leg_count))
        self._found = {}

    def call(self, what, model, *given, motion=None, forces=None, wrench=None, **options):
        """A function of the model, `what` its ending, at this case's state."""
        function = getattr(derivatives, f"{model}_dynamics_{what}")
        motion = self.motion if motion is None else motion
        first = () if model == "inverse" else (self.forces if forces is None else forces,)
        wrench = self.wrench if wrench is None else wrench
        return function(self.robot, motion, *first, *given, wrench=wrench, **options)

    def slopes(self, model, **options):
        key = (model, *options.values())
        if key not in self._found:
            self._found[key] = self.call("derivatives", model, **options)
        return self._found[key]

    def answer(self, model, motion, forces, wrench):
        if model == "inverse":
            return self.robot.inverse_dynamics(motion, wrench).forces
        found = self.robot.direct_dynamics(motion, forces, wrench)
        return np.concatenate([found.linear, found.angular], axis=-1)


class FlexibleCase(Case):
    """The same of a flexible robot, with its file and the arrays of its modal body."""

    def __init__(self, name, shape=(), engine=NumPyExecutor):
        kind, legs, self.modes, general, options = FLEXIBLE[name]
        self.rng = np.random.default_rng([3, legs, self.modes])
        table = random_robot(self.rng, kind, legs, **options)
        points = np.array(table["legs"]["platform"])
        self.body = random_modal_body(self.rng, points, self.modes, general=general)
        self.table = table | {"platform": nodes_as_rigid_table(self.body)}
        robot = with_body(Robot.from_dict(self.table), ModalBody(**self.body))
        state = random_motion(self.rng, table, shape) | random_elastic(self.rng, self.body)
        self._ask(name, robot, state, engine)

    def answer(self, model, motion, forces, wrench):
        if model == "inverse":
            found = self.robot.inverse_dynamics(motion, wrench)
            return np.concatenate([found.forces, found.elastic_acceleration], axis=-1)
        found = self.robot.direct_dynamics(motion, forces, wrench)
        return np.concatenate([found.linear, found.angular, found.elastic], axis=-1)


def moved(motion, name, change):
    """A motion changed by (..., 6) of its pose, twist, acceleration, or by (..., N)."""
    if name not in COORDINATES:
        return motion.replace(**{name: getattr(motion, name) + change})
    linear, angular = COORDINATES[name]
    turned = getattr(motion, angular) + change[..., 3:] if name != "pose" else None
    if name == "pose":
        turn = Rotation.from_rotvec(change[..., 3:].reshape(-1, 3)).as_matrix()
        turned = turn.reshape(*change.shape[:-1], 3, 3) @ motion.rotation
    return motion.replace(**{linear: getattr(motion, linear) + change[..., :3], angular: turned})
