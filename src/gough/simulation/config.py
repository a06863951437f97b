"""Simulation files: robot, motion, controller and disturbances of a simulation in one TOML file.

    robot = "kim-ryu-2002"                       # a catalogue name, or a robot file beside this one
    duration = 2.0                               # s; default: the motion's
    [motion]                                     # one of
    name = "kim-ryu-2002/circle-40rpm"           #   a paper's motion
    file = "path.csv"                            #   a motion file
    hold = true                                  #   the home pose
    [controller]
    kind = "computed torque"                     # legs pd, gravity pd, feed forward, given forces
    frequency = 30.0

Nothing in it is executed.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.base.files import small_text
from gough.base.keys import LegScalar, Table, Vector
from gough.base.words import nearest
from gough.data.columns import Columns
from gough.data.motion_files import read_motion
from gough.data.paper_motions import paper_motion
from gough.data.rounding import ROUNDED
from gough.description.catalogue import catalogue
from gough.description.mistakes import parsed
from gough.errors import FileError, GoughError, InputError
from gough.model.freedom import COORDINATES
from gough.model.model import Model
from gough.model.own_directions import own_directions
from gough.motion import Motion
from gough.simulation import controllers
from gough.simulation.actuators import Actuators
from gough.simulation.adaptive import AdaptiveControl
from gough.simulation.damping import ForceFeedback, StableInversion, VelocityFeedback
from gough.simulation.disturbances import Push, Shake
from gough.simulation.observer import ObservedTorque
from gough.simulation.sensors import Sensors

MOST_SEEDS = 1_000_000


class MotionTable(Table):
    """What the platform is asked to do: name, file or hold."""

    name: str | None = Field(None, description="a paper's motion; see gough list")
    file: str | None = Field(None, description="motion file, .csv or .nc")
    units: str = Field("", description="of the file's columns that do not say theirs: mm,deg,ms")
    columns: dict[str, str] = Field({}, description="what the file's columns are: { X = 'x [mm]' }")
    smooth: bool | float = Field(
        False, description="the smoothest motion within the last digit of the file's poses, or m"
    )
    hold: bool = Field(False, description="hold the home pose")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum((self.name is not None, self.file is not None, self.hold)) != 1:
            raise ValueError("needs one of name, file, hold = true")
        if self.file is None and (self.units or self.columns or self.smooth):
            raise ValueError("units, columns and smooth are those of a file")
        return self


class StartTable(Table):
    """Where the platform starts, seen from the reference's first pose.

    Of a platform that cannot move in all directions the robot's own coordinates may be shifted; the
    others follow.
    """

    shift: Vector = Field((0.0, 0.0, 0.0), description="m, world axes")
    turn: Vector = Field((0.0, 0.0, 0.0), description="rotation vector, rad, world axes")


KINDS = {
    "computed torque": ("frequency", "ratio", "space", "friction"),
    "legs pd": ("stiffness", "damping"),
    "gravity pd": ("stiffness", "damping"),
    "feed forward": ("stiffness", "damping", "friction"),
    "given forces": ("forces",),
    "paper loop": (),
    "adaptive": ("frequency", "ratio", "doubt", "patience", "friction"),
    "observer": ("frequency", "ratio", "encoder", "disturbance", "accelerometer"),
    "stable inversion": ("frequency", "ratio", "output"),
    "velocity feedback": ("frequency",),
    "force feedback": ("frequency", "ratio", "damped"),
}
NEEDED = {"computed torque": "frequency", "legs pd": "stiffness", "gravity pd": "stiffness"}
NEEDED |= {"feed forward": "stiffness", "given forces": "forces"}
NEEDED |= dict.fromkeys(("adaptive", "observer", "stable inversion"), "frequency")
NEEDED |= {"velocity feedback": "frequency", "force feedback": "damped"}


class ControllerTable(Table):
    """The controller and its gains."""

    kind: str = Field(description=", ".join(KINDS))
    frequency: LegScalar = Field(None, description="of the closed loop, rad/s")
    ratio: LegScalar = Field(None, description="damping ratio of the closed loop")
    space: Literal["platform", "legs"] | None = None
    stiffness: LegScalar = Field(None, description="N/m; N m/rad of rotary actuators")
    damping: LegScalar = Field(None, description="N s/m; N m s/rad of rotary actuators")
    forces: LegScalar = Field(None, description="N; N m of rotary actuators")
    friction: bool | None = Field(None, description="add the model's friction; adaptive: learn it")
    doubt: float | None = Field(
        None, description="adaptive: how wrong masses may be, of themselves"
    )
    patience: float | None = Field(None, description="adaptive: time until it forgets, s")
    encoder: float | None = Field(None, description="observer: error of encoders, m or rad")
    disturbance: float | None = Field(None, description="observer: unknown forces, of holding ones")
    accelerometer: float | None = Field(None, description="observer: their error, m/s² or rad/s²")
    output: Literal["frame", "terminal", "legs"] | None = Field(
        None, description="stable inversion: what follows the motion"
    )
    damped: float | None = Field(None, description="force feedback: frequency to damp, rad/s")
    model: str | None = Field(None, description="the controller's robot; default: the plant")
    model_changes: dict[str, Any] = Field({}, description='{ "platform.mass" = 12 }')

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.kind not in KINDS:
            near = nearest(self.kind, KINDS)
            raise ValueError(f"no controller {self.kind[:40]!r}; the nearest is {near!r}")
        known = (*KINDS[self.kind], "kind", "model", "model_changes")
        for name in type(self).model_fields:
            if name not in known and getattr(self, name) not in (None, {}):
                raise ValueError(f"{name} is no key of {self.kind}")
        if self.kind in NEEDED and getattr(self, NEEDED[self.kind]) is None:
            raise ValueError(f"{self.kind} needs {NEEDED[self.kind]}")
        return self


class DisturbanceTable(Table):
    """A wrench on the platform for a time."""

    kind: Literal["push", "shake"]
    force: Vector = Field((0.0, 0.0, 0.0), description="N, world axes")
    moment: Vector = Field((0.0, 0.0, 0.0), description="N m, at the platform's origin")
    frequency: float | None = Field(None, description="Hz, of a shake", gt=0, allow_inf_nan=False)
    start: float = Field(0.0, description="s from the simulation's start", allow_inf_nan=False)
    end: float = Field(np.inf, description="s from the simulation's start")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.kind == "shake") != (self.frequency is not None):
            raise ValueError("a shake has a frequency, a push has none")
        return self


class ActuatorTable(Table):
    """Limits and lag of the drives."""

    of_robot: bool = Field(False, description="force and speed limits of the robot file")
    force: LegScalar = Field(None, description="N; N m of rotary actuators")
    speed: LegScalar = Field(None, description="m/s; rad/s of rotary actuators")
    lag: float = Field(0.0, description="s", ge=0, allow_inf_nan=False)


class SensorTable(Table):
    """Encoders; see `gough.simulation.Sensors`."""

    resolution: float = 0.0
    rate_resolution: float = 0.0
    noise: float = 0.0
    rate_noise: float = 0.0
    delay: float = 0.0
    seed: int = 0
    acceleration_noise: float | None = None
    on_motors: bool = False
    rate_filter: float = 0.0


class RunTable(Table):
    """How it is computed; see `gough.simulate`."""

    period: float = Field(1e-3, description="of the controller, s; 0: it acts without pause", ge=0)
    step: float | None = None
    record: float | None = None
    integrator: str = "rk4"
    rtol: float = 1e-9
    atol: float = 1e-12
    friction: bool = True
    stop_on: tuple[str, ...] = ("singularity",)
    simulations: int = Field(1, description="with different noise", ge=1, le=MOST_SEEDS)


class SimulationFile(Table):
    """A whole simulation."""

    robot: str
    changes: dict[str, Any] = Field({}, description="changes of the robot, by dotted keys")
    duration: float | None = Field(None, description="s", gt=0, allow_inf_nan=False)
    motion: MotionTable
    start: StartTable = StartTable()
    controller: ControllerTable
    disturbance: tuple[DisturbanceTable, ...] = ()
    actuators: ActuatorTable = ActuatorTable()
    sensors: SensorTable = SensorTable()
    simulation: RunTable = RunTable()


class Setup(NamedTuple):
    """What `gough.simulate` takes."""

    robot: Model
    controller: controllers.Controller
    reference: Any
    options: dict[str, Any]


def read_config(path: str | os.PathLike[str]) -> Setup:
    """A simulation from its file; paths in it are relative to the file's folder."""
    place = Path(path)
    text = small_text(path, "simulation file", 1)
    config = parsed(text, str(path), "simulation file", SimulationFile)
    try:
        return _setup(config, place.parent)
    except FileError:
        raise
    except GoughError as error:
        raise FileError(f"{path}: {error}") from None


def _warn_of_rounding(line: str) -> None:
    """Warn of poses whose last digit makes forces uncertain."""
    if line.startswith(ROUNDED):
        warnings.warn(line, stacklevel=2)


def _setup(config: SimulationFile, folder: Path) -> Setup:
    robot = _robot(config.robot, config.changes, folder)
    asked = config.motion
    reference: Any
    if asked.hold:
        reference = first = Motion(robot.home.position, robot.home.rotation)
    else:
        reference = (
            paper_motion(asked.name)
            if asked.name is not None
            else read_motion(
                folder / str(asked.file),
                robot,
                columns=Columns.of(asked.units, asked.columns),
                say=_warn_of_rounding,
                smooth=asked.smooth,
            )
        )
        first = reference[0] if isinstance(reference, Motion) else reference(reference.start_time)
    run = config.simulation
    options: dict[str, Any] = {
        "duration": config.duration,
        "period": run.period or None,
        "actuators": _actuators(config.actuators, robot),
        "sensors": Sensors(**config.sensors.model_dump()),
    }
    names = ("step", "record", "integrator", "rtol", "atol", "friction", "stop_on")
    options |= {name: getattr(run, name) for name in names}
    if run.simulations > 1:
        options["seeds"] = np.arange(run.simulations)
    shift, turn = np.asarray(config.start.shift), np.asarray(config.start.turn)
    if np.any(shift) or np.any(turn):
        options["start"] = _start(robot, first, shift, turn)
    if config.disturbance:
        options["wrench"] = [_disturbance(one) for one in config.disturbance]
    law = _controller(config.controller, robot, folder)
    return Setup(robot, law, reference, options)


def _start(robot: Model, first: Motion, shift: Array, turn: Array) -> Motion:
    """The first pose of a reference shifted and turned, its twist as it is along what is allowed."""
    turned = Rotation.from_rotvec(turn).as_matrix() @ first.rotation
    start = Motion(first.position + shift, turned, first.velocity, first.angular_velocity)
    if robot.mobility == 6:
        return start
    chosen = [COORDINATES.index(name) for name in robot.coordinates]
    if np.any(np.delete(np.concatenate([shift, turn]), chosen)):
        raise InputError(
            f"start: the platform of {robot.name} can be shifted or turned along "
            f"{', '.join(robot.coordinates)}; the rest follows"
        )
    angles = Rotation.from_matrix(turned @ robot.home.rotation.T).as_rotvec()
    pose = robot.motion(np.concatenate([start.position, angles])[chosen])
    twist = np.concatenate([first.velocity, first.angular_velocity])
    moving = own_directions(robot, pose)[:, : robot.mobility] @ twist[chosen]
    return pose.replace(velocity=moving[:3], angular_velocity=moving[3:6])


def _robot(name: str, changes: dict[str, Any], folder: Path) -> Model:
    robot = Model.load(name if name in catalogue() else folder / name)
    return robot.edited(changes) if changes else robot


def _controller(table: ControllerTable, robot: Model, folder: Path) -> controllers.Controller:
    given: dict[str, Any] = {
        name: getattr(table, name) for name in KINDS[table.kind] if getattr(table, name) is not None
    }
    if table.kind == "given forces":
        forces, count = np.asarray(given["forces"], dtype=np.float64), robot.actuator_count
        if forces.shape not in ((), (count,)):
            raise InputError(f"controller.forces has {forces.size} numbers, needs 1 or {count}")
        return controllers.GivenForces(np.broadcast_to(forces, count))
    if table.kind == "legs pd":
        return controllers.LegPD(**given)
    model = None
    if table.model is not None or table.model_changes:
        model = robot if table.model is None else _robot(table.model, {}, folder)
        model = model.edited(table.model_changes) if table.model_changes else model
    laws: dict[str, Any] = {
        "computed torque": controllers.ComputedTorque,
        "gravity pd": controllers.GravityPD,
        "feed forward": controllers.FeedForward,
        "paper loop": controllers.paper_loop,
        "adaptive": AdaptiveControl,
        "observer": ObservedTorque,
        "stable inversion": StableInversion,
        "velocity feedback": VelocityFeedback,
        "force feedback": ForceFeedback,
    }
    law: controllers.Controller = laws[table.kind](**given, model=model)
    return law


def _actuators(table: ActuatorTable, robot: Model) -> Actuators:
    if table.of_robot:
        limits = Actuators.of(robot)
        force = limits.force if table.force is None else table.force
        speed = limits.speed if table.speed is None else table.speed
        return Actuators(force, speed, table.lag)
    return Actuators(table.force, table.speed, table.lag)


def _disturbance(table: DisturbanceTable) -> Push | Shake:
    wrench = np.concatenate([table.force, table.moment])
    if table.kind == "push":
        return Push(wrench, table.start, table.end)
    assert table.frequency is not None
    return Shake(wrench, table.frequency, table.start, table.end)
