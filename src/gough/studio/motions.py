"""The motions on offer: a paper's own, simple ones for any robot, a motion file, simulation results."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gough.base.arrays import Array
from gough.base.tables import read_bytes
from gough.data.datasets import AXES
from gough.data.motion_files import POSE, read_dataset, read_motion
from gough.data.motion_names import MOTIONS
from gough.data.paper_motions import paper_motion
from gough.errors import FileError, GoughError, InputError
from gough.model.deflected import deflected, how_deflected
from gough.motion import Motion
from gough.robot import Robot
from gough.studio.levels import ILL
from gough.studio.record import StudioRecord, record, replay
from gough.trajectories import Circle, Harmonic

if TYPE_CHECKING:
    import xarray

    from gough.show.layout import SceneLayout

SAMPLES = 601
MOST_SAMPLES = 20_000
"""Longer motions are thinned for the studio."""
MOST_RUNS = 50
"""Simulations of one result that are offered."""
PERIOD = 3.0
"""Of simple motions, s."""
EASY = 0.12
"""Amplitude of the simple motions over the robot's size; halved until the robot can do them."""


DEFORMED = "The platform deforms: {}"
SAGGING = "The platform is deformed here as it would be at rest"


@dataclass(frozen=True, eq=False)
class Track:
    """A motion (n,) with times, and the forces (n, actuators) that acted if it was simulated."""

    motion: Motion
    forces: Array | None = None
    note: str = ""

    def record(self, robot: Robot, friction: bool) -> StudioRecord:
        """All the studio shows of it."""
        motion = self.motion if robot.modes else _rigid(self.motion)
        if self.forces is not None:
            return replay(robot, motion, self.forces)
        deformed, how = _deformed(robot, motion, friction)
        found = record(robot, deformed, friction)
        return replace(found, note=". ".join(filter(None, [found.note, how])))

    def remarks(self, shown: StudioRecord) -> str:
        """What to know about its record."""
        notes = [self.note, shown.note]
        if shown.troubles:
            lost, first = len(shown.troubles), next(iter(shown.troubles.values()))
            notes.append(f"{lost} of {len(shown)} samples have no answer: {first}")
        return ". ".join(filter(None, notes))


def at_rest(robot: Robot, pose: Motion, friction: bool = True) -> StudioRecord:
    """The record of one pose at rest, batch shape (1,)."""
    still = Motion(pose.position, pose.rotation).reshape(1)
    return record(robot, sagging(robot, still), friction)


def _deformed(robot: Robot, motion: Motion, friction: bool) -> tuple[Motion, str]:
    """The motion as a flexible robot makes it, and how that was found; as at rest if it was not."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = deflected(robot, motion, friction=friction)
    except GoughError as error:
        return sagging(robot, motion), f"{SAGGING}: {error}"
    how = how_deflected(motion, found)
    told = [DEFORMED.format(how)] if how else []
    return found, ". ".join([*told, *(str(one.message) for one in caught)])


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
    if robot.mobility < len(POSE):
        return {name: partial(_own, robot, layout, which) for name, which in _swings(robot).items()}
    papers: dict[str, Callable[[], Track]] = {
        name: partial(_paper, name) for name in MOTIONS if label in name.split("/")
    }
    return papers | {name: partial(_simple, robot, layout, name) for name in SIMPLE}


def _swings(robot: Robot) -> dict[str, tuple[int, ...]]:
    """Simple motions of a platform that moves in fewer than six directions: which coordinates swing."""
    names = robot.coordinates
    found: dict[str, tuple[int, ...]] = {f"{name} to and fro": (i,) for i, name in enumerate(names)}
    places = [i for i, name in enumerate(names) if name in AXES]
    turns = [i for i, name in enumerate(names) if name not in AXES]
    pair = (*places, *turns)[:2] if len(places) != 1 else (*turns, *places)[:2]
    if len(pair) == 2:
        found = {f"round in {names[pair[0]]} and {names[pair[1]]}": pair} | found
    return found


def _own(robot: Robot, layout: SceneLayout, which: tuple[int, ...]) -> Track:
    """Coordinates that swing about home, the second a quarter later, as far as the robot can do it."""
    still = np.concatenate([layout.home.position, np.zeros(3)])
    middle = still[[POSE.index(name) for name in robot.coordinates]]
    far = np.array([EASY * layout.size if name in AXES else 2 * EASY for name in robot.coordinates])
    time = np.linspace(0.0, PERIOD, SAMPLES)
    rate = 2 * np.pi / PERIOD
    u, ud, udd = (np.zeros((SAMPLES, len(middle))) for _ in range(3))
    for late, i in enumerate(which):
        angle = rate * time - late * np.pi / 2
        u[:, i] = far[i] * np.sin(angle)
        ud[:, i], udd[:, i] = far[i] * rate * np.cos(angle), -(rate**2) * u[:, i]
    for k in range(12):
        motion = robot.motion(middle + u / 2**k, ud / 2**k, udd / 2**k, time=time, on_error="nan")
        if _comfortable(robot, motion):
            return Track(motion)
    names = " and ".join(robot.coordinates[i] for i in which)
    raise InputError(f"{robot.name} cannot swing in {names} about its home pose")


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
    return Harmonic(layout.home, along, period=PERIOD, convention="XYZ")


def _tilt(layout: SceneLayout, amplitude: float) -> Harmonic:
    first, second = _plane(layout)
    turn = 2 * amplitude / layout.size * (first - second)
    return Harmonic(
        layout.home, np.concatenate([np.zeros(3), turn]), period=PERIOD, convention="XYZ"
    )


SIMPLE: dict[str, Callable[[SceneLayout, float], Circle | Harmonic]] = {
    "circle": _circle,
    "up and down": _heave,
    "tilting": _tilt,
}


def of_file(path: Path, robot: Robot, smooth: bool | float = False) -> Track:
    """A motion file with times, for a robot; rounded poses made smooth if asked for."""
    told: list[str] = []
    motion = read_motion(path, robot, say=told.append, smooth=smooth)
    if len(motion.shape) != 1 or motion.time is None or len(motion) < 2:
        raise FileError(f"{path}: the studio plays motions of two or more samples with times")
    track = _thinned(motion, None)
    return replace(track, note=". ".join(filter(None, [*told, track.note])))


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
    count = dataset.sizes.get("actuator")
    if count != robot.actuator_count:
        raise FileError(f"has {count} actuators, the robot has {robot.actuator_count}")
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
    fields: dict[str, Any] = {}
    for name, dims in {**FIELDS, "force": ("time", "actuator"), "time": ("time",)}.items():
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


def _with(motion: Motion, **elastic: Any) -> Motion:
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
