"""The motions on offer: a paper's own, simple ones for any robot, a motion file, simulation results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gough.base.arrays import Array
from gough.base.tables import read_bytes
from gough.data.motion_files import read_dataset, read_motion
from gough.data.motion_names import MOTIONS
from gough.data.paper_motions import paper_motion
from gough.errors import FileError, GoughError, InputError
from gough.motion import Motion
from gough.robot import Robot
from gough.studio.levels import ILL
from gough.studio.record import StudioRecord, record, replay
from gough.trajectories import Circle, Harmonic

if TYPE_CHECKING:
    import xarray

    from gough.studio.shapes import SceneLayout

SAMPLES = 601
MOST_SAMPLES = 20_000
"""Longer motions are thinned for the studio."""
MOST_RUNS = 50
"""Simulations of one result that are offered."""
EASY = 0.12
"""Amplitude of the simple motions over the robot's size; halved until the robot can do them."""


SAGGING = "The platform is deformed here as it would be at rest; a simulation shows how it vibrates"


@dataclass(frozen=True, eq=False)
class Track:
    """A motion (n,) with times, and the forces (n, legs) that acted if it was simulated."""

    motion: Motion
    forces: Array | None = None
    note: str = ""

    def record(self, robot: Robot, friction: bool) -> StudioRecord:
        """All the studio shows of it."""
        motion = self.motion if robot.modes else _rigid(self.motion)
        if self.forces is not None:
            return replay(robot, motion, self.forces)
        return record(robot, sagging(robot, motion), friction)

    def remarks(self, shown: StudioRecord) -> str:
        """What to know about its record."""
        notes = [self.note, shown.note]
        if shown.troubles:
            lost, first = len(shown.troubles), next(iter(shown.troubles.values()))
            notes.append(f"{lost} of {len(shown)} samples have no answer: {first}")
        if shown.robot.modes and self.forces is None:
            notes.append(SAGGING)
        return ". ".join(filter(None, notes))


def at_rest(robot: Robot, pose: Motion, friction: bool = True) -> StudioRecord:
    """The record of one pose at rest, batch shape (1,)."""
    still = Motion(pose.position, pose.rotation).reshape(1)
    return record(robot, sagging(robot, still), friction)


def sagging(robot: Robot, motion: Motion) -> Motion:
    """The motion with the platform deformed, at every instant, as it would be at rest there.

    A motion that has elastic coordinates, and a rigid robot's, stay as they are.
    """
    if not robot.modes or np.any(motion.elastic):
        return motion
    try:
        elastic = robot.static_deflection(motion, on_error="nan").elastic
    except GoughError:  # dynamics cannot be had: it is drawn undeformed
        return motion
    return _with(motion, elastic=np.where(np.isfinite(elastic), elastic, 0.0))


def offered(robot: Robot, layout: SceneLayout, label: str) -> dict[str, Callable[[], Track]]:
    """Motions for the robot of a label, by name: the paper's, then simple ones."""
    papers: dict[str, Callable[[], Track]] = {
        name: partial(_paper, name)
        for name in MOTIONS
        if label in name.split("/") and robot.leg_count == 6
    }
    return papers | {name: partial(_simple, robot, layout, name) for name in SIMPLE}


def _paper(name: str) -> Track:
    return Track(paper_motion(name).sample(SAMPLES))


def _simple(robot: Robot, layout: SceneLayout, name: str) -> Track:
    """A simple motion about home, as large as the robot can do it, at most `EASY` of its size."""
    amplitude = EASY * layout.size
    for _ in range(12):
        motion = SIMPLE[name](layout, amplitude).sample(SAMPLES)
        if _comfortable(robot, motion):
            return Track(motion)
        amplitude /= 2
    raise InputError(f"{robot.name} can do no {name!r} about its home pose")


def _comfortable(robot: Robot, motion: Motion) -> bool:
    q = robot.inverse_kinematics(motion, on_error="nan").q
    limits = robot.description.limits
    if not ((q >= limits.shortest) & (q <= limits.longest)).all():
        return False
    return bool((robot.condition_number(motion, on_error="nan") < ILL).all())


def _plane(layout: SceneLayout) -> tuple[Array, Array]:
    main = int(np.argmax(np.abs(layout.up)))
    return np.eye(3)[(main + 1) % 3], np.eye(3)[(main + 2) % 3]


def _circle(layout: SceneLayout, amplitude: float) -> Circle:
    axes, home = _plane(layout), layout.home
    return Circle(home.position, amplitude, rpm=20, axes=axes, rotation=home.rotation)


def _heave(layout: SceneLayout, amplitude: float) -> Harmonic:
    along = -np.concatenate([amplitude * layout.up, np.zeros(3)]) / 2
    return Harmonic(layout.home, along, period=3.0, convention="XYZ")


def _tilt(layout: SceneLayout, amplitude: float) -> Harmonic:
    first, second = _plane(layout)
    turn = 2 * amplitude / layout.size * (first - second)
    return Harmonic(layout.home, np.concatenate([np.zeros(3), turn]), period=3.0, convention="XYZ")


SIMPLE: dict[str, Callable[[SceneLayout, float], Circle | Harmonic]] = {
    "circle": _circle,
    "up and down": _heave,
    "tilting": _tilt,
}


def of_file(path: Path) -> Track:
    """A motion file with times."""
    motion = read_motion(path)
    if len(motion.shape) != 1 or motion.time is None or len(motion) < 2:
        raise FileError(f"{path}: the studio plays motions of two or more samples with times")
    return _thinned(motion, None)


def results(path: Path, robot: Robot | None = None) -> tuple[Robot, dict[str, Track]]:
    """The robot and the simulations in a result of `gough simulate`, by name.

    The robot is the one given, or the one the result was computed with.
    """
    try:
        dataset = read_dataset(read_bytes(path))
        if "force" not in dataset or "position" not in dataset:
            raise FileError("not a result of `gough simulate`: it has no force or no position")
        text = dataset.attrs.get("robot")
        if robot is None and not text:
            raise FileError("does not say of which robot it is: name the robot file before it")
        known = Robot.from_text(str(text), folder=path.parent) if robot is None else robot
        return known, _runs(dataset, known, path.name)
    except GoughError as error:
        raise FileError(f"{path}: {error}") from None


def _runs(dataset: xarray.Dataset, robot: Robot, name: str) -> dict[str, Track]:
    if dataset.sizes.get("leg") != robot.leg_count:
        raise FileError(f"has {dataset.sizes.get('leg')} legs, the robot has {robot.leg_count}")
    if dataset.sizes.get("mode", 0) not in (0, robot.modes):
        raise FileError(f"has {dataset.sizes['mode']} modes, the robot has {robot.modes}")
    batch = [str(dim) for dim in dataset["force"].dims if str(dim).startswith("simulation")]
    flat = dataset.stack(run=batch) if batch else dataset.expand_dims("run")
    tracks = {}
    for run in range(min(flat.sizes["run"], MOST_RUNS)):
        label = f"{name} · simulation {run}" if batch else name
        tracks[label] = _run(flat.isel(run=run))
    return tracks


FIELDS = {
    "position": ("time", "axis"),
    "rotation": ("time", "axis", "platform_axis"),
    "velocity": ("time", "axis"),
    "angular_velocity": ("time", "axis"),
    "elastic": ("time", "mode"),
    "elastic_velocity": ("time", "mode"),
}


def _run(dataset: xarray.Dataset) -> Track:
    """One simulation, up to where it ended."""
    fields = {}
    for name, dims in {**FIELDS, "force": ("time", "leg"), "time": ("time",)}.items():
        if name not in dataset:
            if name.startswith("elastic"):
                continue
            raise FileError(f"{name} is missing")
        if {*dataset[name].dims} != {*dims} or dataset[name].dtype.kind not in "fiu":
            raise FileError(f"{name} must hold numbers over ({', '.join(dims)})")
        fields[name] = dataset[name].transpose(*dims).values.astype(np.float64)
    known = np.isfinite(fields["position"]).all(axis=-1) & np.isfinite(fields["force"]).all(axis=-1)
    count = int(np.cumprod(known).sum())
    if count < 2:
        raise FileError("holds fewer than two samples")
    fields = {name: value[:count] for name, value in fields.items()}
    forces = fields.pop("force")
    return _thinned(Motion(**fields), forces)


def _thinned(motion: Motion, forces: Array | None) -> Track:
    time = motion.time
    assert time is not None
    if not np.all(np.diff(time) > 0):
        raise FileError("its times do not rise")
    step = -(-len(motion) // MOST_SAMPLES)
    note = f"One sample in {step} of {len(motion)} is shown" if step > 1 else ""
    return Track(motion[::step], None if forces is None else forces[::step], note)


def _rigid(motion: Motion) -> Motion:
    """The motion without elastic coordinates."""
    return _with(motion) if motion.modes else motion


def _with(motion: Motion, **elastic: Array) -> Motion:
    return Motion(
        motion.position,
        motion.rotation,
        motion.velocity,
        motion.angular_velocity,
        motion.acceleration,
        motion.angular_acceleration,
        time=motion.time,
        **elastic,
    )
