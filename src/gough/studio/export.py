"""What the studio shows, as files to take away."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from gough.data.datasets import actuator_attributes, force_dataset, write_dataset
from gough.data.motion_files import write_motion
from gough.errors import InputError
from gough.results import Actuation
from gough.studio.record import StudioRecord

MOTION, FORCES = "motion.csv", "forces.csv"


def motion_file(shown: StudioRecord) -> bytes:
    """The motion as CSV, which `gough forces` and `gough simulate` read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / MOTION
        write_motion(shown.motion, path)
        return path.read_bytes()


def force_file(shown: StudioRecord) -> bytes:
    """Actuated coordinates, rates, actuator forces and powers as CSV."""
    if shown.forces is None or shown.power is None:
        raise InputError(shown.note or "there are no forces to export")
    samples = np.zeros(len(shown))
    elastic = np.zeros((len(shown), shown.robot.modes))
    found = Actuation(shown.forces, shown.power, elastic, samples)
    dataset = force_dataset(shown.robot, shown.motion, found)
    own, robot = dataset["force"].dims, shown.robot
    about = actuator_attributes(robot, "[q]", "actuated coordinate")
    dataset["q"] = (own, shown.q, about)
    dataset["q_rate"] = (own, shown.qd, actuator_attributes(robot, "[q]/s", "actuated rate"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FORCES
        write_dataset(dataset, path)
        return path.read_bytes()
