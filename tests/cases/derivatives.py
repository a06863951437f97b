"""Robots in states of any batch shape, on which laws are tried: rigid and flexible, free and held.

`case(name, shape)` makes each once a session. Programs of most run on NumPy: to compile them is slower.
"""

from functools import cache

import numpy as np
from scipy.spatial.transform import Rotation

from cases.families import draw
from cases.families.parts import with_friction
from cases.robots import with_body
from gough import Motion, Robot, load
from gough.description.modal.body import ModalBody
from gough.engine.run.compiled import CompiledExecutor
from gough.engine.run.execute import NumPyExecutor
from gough.model import derivatives
from gough.model.derivative_programs import COORDINATES
from gough.model.execution import fields_of
from gough.model.freedom import COORDINATES as NAMES
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
HELD = (
    "rotary Delta",
    "3-RPS",
    "Tricept",
    "planar 3-RRR",
    "planar 4-RRR",
    "3-RRRS",
    "6-UPS + SPR",
    "3-UPS + 3-PUS",
)
"""Families whose legs hold the platform, are chains, are redundant or in groups."""
PLATE = "Delta with a plate"
RIGID_NAMES = tuple(ROBOTS)
FLEXIBLE_NAMES = tuple(f"flexible {name}" for name in FLEXIBLE)
HELD_NAMES = (*HELD, *(f"{name}, friction" for name in HELD))
ALL = (*RIGID_NAMES, *FLEXIBLE_NAMES, PLATE, *HELD_NAMES)
STEPS = {"wrench": 1e-1, "forces": 1e-1, "acceleration": 1e-3}
"""Of central differences; 1e-6 where nothing is said."""
OWN_STEP = 1e-5
"""Along own coordinates of robots whose platform is held."""
COMPILED = ("UPS",)
"""Rigid robots whose programs are compiled here; NumPy evaluates those of the others: faster."""


class Case:
    """A robot with a state, forces and a wrench; its derivatives when first asked for."""

    modes = 0
    friction = True
    rows = tuple(range(6))
    """In which of pose and twist the platform moves."""

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
        self.forces = 100 * self.rng.normal(size=(*self.motion.shape, robot.actuator_count))
        self._found = {}

    def inputs(self, model):
        """Names of what the answers of a model depend on."""
        last = ("elastic", "elastic_velocity") if self.modes else ()
        return (
            "pose",
            "twist",
            "acceleration" if model == "inverse" else "forces",
            "wrench",
            *last,
        )

    def width(self, key):
        """How many numbers an input has."""
        if key == "forces":
            return self.robot.actuator_count
        return self.modes if key.startswith("elastic") else 6

    def call(self, what, model, *given, motion=None, forces=None, wrench=None, **options):
        """A function of the model, `what` its ending, at this case's state."""
        function = getattr(derivatives, f"{model}_dynamics_{what}")
        motion = self.motion if motion is None else motion
        first = () if model == "inverse" else (self.forces if forces is None else forces,)
        wrench = self.wrench if wrench is None else wrench
        options = {"friction": self.friction} | options
        return function(self.robot, motion, *first, *given, wrench=wrench, **options)

    def slopes(self, model, **options):
        key = (model, *options.values())
        if key not in self._found:
            self._found[key] = self.call("derivatives", model, **options)
        return self._found[key]

    def answer(self, model, motion, forces, wrench):
        """Γ, or (v̇, ω̇), with q̈e behind them."""
        if model == "inverse":
            found = self.robot.inverse_dynamics(motion, wrench, self.friction)
            parts = [found.forces, found.elastic_acceleration]
        else:
            found = self.robot.direct_dynamics(motion, forces, wrench, self.friction)
            parts = [found.linear, found.angular, found.elastic]
        return np.concatenate([part for part in parts if part is not None], axis=-1)

    def lines(self, model):
        """Changes of inputs, (numbers, directions) by name, and of the answer, (rows, directions).

        By central differences, one input after the other.
        """
        for key in self.inputs(model):
            yield self.line(model, key)

    def line(self, model, key):
        """The same of one input."""
        step = STEPS.get(key, 1e-6)
        change = np.eye(self.width(key))
        if key in COORDINATES:
            change = change[:, self.rows]
        steps = step * np.concatenate([change.T, -change.T])
        motion, forces, wrench = Motion.stack([self.motion] * len(steps)), self.forces, self.wrench
        if key == "forces":
            forces = forces + steps
        elif key == "wrench":
            wrench = wrench + steps
        else:
            motion = moved(motion, key, steps)
        ahead, behind = np.split(self.answer(model, motion, forces, wrench), 2)
        return {key: change}, ((ahead - behind) / (2 * step)).T


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


class PlateCase(Case):
    """A Delta whose platform is a plate: held, μ is unknown beside q̈e. It does not turn."""

    modes = 4
    friction = False
    rows = (0, 1, 2)

    def __init__(self, shape=()):
        plate = {"radius": 0.1625, "sides": 6, "thickness": 0.006, "density": 2700.0, "young": 7e10}
        plate |= {"poisson": 0.3, "modes": self.modes, "damping_ratio": 0.02}
        platform = {"platform": {"mobility": "translation", "plate": plate}}
        robot = load("alikoc-delta-2023").edited(platform)
        self.rng = np.random.default_rng(5)
        rest = robot.static_deflection(robot.home)
        rates = self.rng.normal(size=(2, *shape, 3))
        state = {
            "position": rest.position + 0.02 * self.rng.normal(size=(*shape, 3)),
            "rotation": rest.rotation,
            "velocity": rates[0],
            "angular_velocity": np.zeros(3),
            "acceleration": rates[1],
            "angular_acceleration": np.zeros(3),
            "elastic": rest.elastic,
            "elastic_velocity": 1e-3 * self.rng.normal(size=self.modes),
        }
        self._ask(PLATE, robot, state, NumPyExecutor)


class HeldCase(Case):
    """A robot of a family in a motion that it can make, and at two beside it along a line."""

    def __init__(self, name, shape=()):
        family = name.removesuffix(", friction")
        self.rng = rng = np.random.default_rng(3)
        table, oracle = draw(family, 0)
        table = with_friction(rng, table, 0.2) if name != family else table
        robot, m = Robot.from_dict(table), oracle.mobility
        home = oracle.read(oracle.home_posture.pose)[oracle.chosen]
        places = home + rng.uniform(-0.05, 0.05, (*shape, m))
        rates, self.changes = rng.normal(size=(2, *shape, m)), rng.normal(size=(3, m))
        self.own = places, rates[0], 2 * rates[1]
        motion = robot.motion(*self.own)
        state = {key: getattr(motion, key) for pair in COORDINATES.values() for key in pair}
        self._ask(name, robot, state, NumPyExecutor)
        self.motion = motion  # which knows joint coordinates too
        self.wrench = 0.2 * self.wrench
        self.forces = robot.inverse_dynamics(motion, self.wrench).forces
        self.rows = tuple(NAMES.index(one) for one in robot.coordinates)

    def lines(self, model):
        """Along the line, then by wrench and forces."""
        yield self.along(model)
        for key in self.inputs(model):
            if key in ("wrench", "forces"):
                yield self.line(model, key)

    def along(self, model):
        """The change of pose, twist and acceleration that the platform is allowed."""
        steps = OWN_STEP * np.array([[1.0], [-1.0]])
        pairs = zip(self.own, self.changes, strict=True)
        motion = self.robot.motion(*(value + steps * change for value, change in pairs))
        ahead, behind = self.answer(model, motion, self.forces, self.wrench)

        def slope(values):
            return (values[0] - values[1]) / (2 * OWN_STEP)

        turn = Rotation.from_matrix(motion.rotation[0] @ motion.rotation[1].T).as_rotvec()
        changes = {"pose": [slope(motion.position), turn / (2 * OWN_STEP)]}
        for key in ("twist", "acceleration"):
            if key in self.inputs(model):
                changes[key] = [slope(getattr(motion, field)) for field in COORDINATES[key]]
        columns = {key: np.concatenate(parts)[:, np.newaxis] for key, parts in changes.items()}
        return columns, ((ahead - behind) / (2 * OWN_STEP))[:, np.newaxis]


@cache
def case(name, shape=()):
    """The case of a name out of ALL, made once a session."""
    if name in ROBOTS:
        return Case(name, shape)
    if name == PLATE:
        return PlateCase(shape)
    if name in FLEXIBLE_NAMES:
        return FlexibleCase(name.removeprefix("flexible "), shape)
    return HeldCase(name, shape)


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
