"""The robot file with the numbers that were found; its comments stay."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from gough.base.arrays import Array
from gough.base.files import replacing
from gough.calibration.calibration import Calibration
from gough.description import files
from gough.model.described import DescribedModel

DIGITS = 12
"""Behind the point, of numbers that are written: far below what is known of any."""


def corrected(found: Calibration) -> DescribedModel:
    """The robot with the geometry that was found; offsets of encoders are in no robot file."""
    robot = found.geometry.robot
    return type(robot).from_text(corrected_text(found), robot.name, robot.folder)


def corrected_text(found: Calibration) -> str:
    """The text of the robot file, with all numbers that were looked for and a remark in front."""
    robot = found.geometry.robot
    values = found.geometry.values(found.numbers.geometry)
    looked = found.free[: found.geometry.count]
    changes = {}
    for place in found.geometry.places:
        own = slice(place.first, place.first + place.group.leg_count * place.freedoms)
        if np.any(looked[own]):
            changes[place.key] = _rounded(values[place.key])
    return _remark(found) + files.edit(robot.text, changes)


def save_corrected(found: Calibration, path: str | os.PathLike[str]) -> None:
    """Write the corrected robot file, whole or not at all; paths in it are made to fit the new place."""
    robot = found.geometry.robot
    text = files.moved(corrected_text(found), robot.folder, Path(path).parent)
    with replacing(path) as temporary:
        Path(temporary).write_text(text, "utf-8")


def _remark(found: Calibration) -> str:
    """What a reader of the file has to know."""
    lines = ["calibrated: numbers of the geometry are those found from measured poses"]
    if found.geometry.offsets:
        offsets = ", ".join(f"{one:.9g}" for one in found.offsets)
        lines.append(f"what encoders read too much: {offsets}; q = reading - offset")
        added = ",".join(f"{-one:.9g}" for one in found.offsets)
        lines.append(f"for logs: gough pose --offset={added}")
    return "".join(f"# {line}\n" for line in lines)


def _rounded(values: Array) -> Array:
    return np.asarray(np.round(values, DIGITS))
