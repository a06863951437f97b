"""Robots of chains and of several groups of legs as dictionaries, changed and described."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from gough.description import files
from gough.description.numbers import Description, describe
from gough.errors import FileError

TURNS = [[0.0, 0.0, 0.0], [0.0, 0.0, 2 * np.pi / 3], [0.0, 0.0, 4 * np.pi / 3]]
ARM = {"mass": 0.4, "center_of_mass": [0.1, 0.0, 0.0], "inertia": np.diag([1e-4, 2e-3, 2e-3])}


def delta() -> dict:
    """A Delta robot as three RUU chains, in the leg's frame of the first leg."""
    arm = {"type": "revolute", "point": [0.2, 0, 0], "axis": [0, 2, 0], "actuated": True}
    elbow = {
        "type": "universal",
        "point": [0.4, 0, -0.1],
        "axis": [0, 1, 0],
        "axis2": [0.8, 0, -0.6],
    }
    wrist = {
        "type": "universal",
        "point": [0.1, 0, -0.5],
        "axis": [0.8, 0, -0.6],
        "axis2": [0, 1, 0],
    }
    arm |= {"rotor_inertia": 0.01, "home": 0.3, "body": copy.deepcopy(ARM)}
    joints = [arm, elbow | {"body": {"mass": 0.1}}, wrist]
    return {
        "format": 1,
        "name": "delta",
        "home": {"position": [0, 0, -0.5]},
        "legs": {"kind": "chain", "rotation_vector": copy.deepcopy(TURNS), "joints": joints},
        "platform": {"mass": 0.5, "mobility": "translation"},
    }


def groups() -> dict:
    """Three UPS legs, a passive chain of a universal and a prismatic joint, and two PUS legs."""
    data = delta()
    points = np.array([[np.cos(a), np.sin(a), 0.0] for a in (0.1, 2.2, 4.3)])
    ups = {"kind": "UPS", "base": points, "platform": 0.4 * points}
    stem = [
        {
            "type": "universal",
            "point": [0, 0, 0],
            "axis": [1, 0, 0],
            "axis2": [0, 1, 0],
            "body": {},
        },
        {"type": "prismatic", "axis": [0, 0, 1], "stroke": [-0.1, 0.2], "home": 0.05},
    ]
    pus = {"kind": "PUS", "rail_origin": 1.2 * points[:2], "rail_direction": [0, 0, 1.0]}
    pus |= {"platform": 0.3 * points[:2], "length": [1.5, 1.6]}
    data["legs"] = [ups, {"kind": "chain", "joints": stem}, pus]
    data["home"] = {"position": [0, 0, 0.6]}
    return data | {"name": "groups", "platform": {"mass": 0.5}}


def described(data: dict) -> Description:
    return describe(files.validate(data, data["name"]), data["name"])


def changed(data: dict, changes: dict) -> dict:
    """A copy with values at dotted keys changed, numbers in lists; None takes them out."""
    data = copy.deepcopy(data)
    for key, value in changes.items():
        *tables, last = key.split(".")
        place = data
        for name in tables:
            place = place[int(name)] if isinstance(place, list) else place.setdefault(name, {})
        if value is None:
            del place[last]
        else:
            place[int(last) if isinstance(place, list) else last] = value
    return data


def said(data: dict) -> str:
    with pytest.raises(FileError) as error:
        described(data)
    assert "\n" not in str(error.value)
    return str(error.value)
