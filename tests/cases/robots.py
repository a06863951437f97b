"""Robots whose programs run on one engine or the other, and robots with flexible platforms."""

from __future__ import annotations

import os
from dataclasses import replace
from unittest import mock

import numpy as np
from numpy.random import Generator

import gough
from gough.description.modal.body import ModalBody
from gough.description.modal.integrals import rigid_part
from oracles.flexible_energy import (
    FlexibleEnergy,
    nodes_as_rigid_table,
    random_elastic,
    random_modal_body,
)
from oracles.random_robot import random_motion, random_robot


def run_by(engine: str, robot: gough.Robot) -> gough.Robot:
    """The same robot, whose programs run on this engine: "llvm" or "numpy"."""
    other = replace(robot)
    with mock.patch.dict(os.environ, {"GOUGH_ENGINE": engine}):
        assert other.executor is not None
    return other


def with_body(robot: gough.Robot, body: ModalBody) -> gough.Robot:
    """The robot with a flexible platform."""
    parts = robot.description._replace(modal=body, platform=rigid_part(body))
    return replace(robot, description=parts)


def random_flexible(
    rng: Generator, kind: str, modes: int, *, general: bool = True, legs: int = 6, **changes
) -> tuple[gough.Robot, FlexibleEnergy, dict]:
    """A flexible robot, its energy model and a state; `changes` are arrays of its modal body."""
    table = random_robot(rng, kind, legs=legs)
    body = random_modal_body(rng, np.array(table["legs"]["platform"]), modes, general=general)
    body = {**body, **changes}
    table["platform"] = nodes_as_rigid_table(body)
    robot = with_body(gough.Robot.from_dict(table), ModalBody(**body))
    state = {**random_motion(rng, table), **random_elastic(rng, body)}
    return robot, FlexibleEnergy(table, body), state


def rough(robot: gough.Robot, friction: dict[str, float]) -> gough.Robot:
    """A flexible robot with friction in its legs."""
    return with_body(robot.edited({"legs.friction": friction}), robot.description.modal)


def rotary_hexapod(**changes):
    """Six equal cranks on a ring, their motors' axes along the ring; no masses."""
    angle = np.deg2rad([-10, 10, 110, 130, 230, 250])
    outward = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    tangent = np.stack([-np.sin(angle), np.cos(angle), 0 * angle], axis=-1)
    tips = np.deg2rad([-50, 50, 70, 170, 190, 290])
    points = 0.25 * np.stack([np.cos(tips), np.sin(tips), 0 * tips], axis=-1)
    legs = {
        "kind": "RUS",
        "motor": (0.4 * outward).tolist(),
        "motor_axis": (-tangent).tolist(),
        "crank_zero": outward.tolist(),
        "crank_length": 0.1,
        "length": 0.5,
        "platform": points.tolist(),
    }
    home = {"position": [0, 0, 0.42]}
    return {"format": 1, "name": "rotary", "home": home, "legs": legs | changes}


def rotary_hexapod_with_masses(**changes):
    """The same with cranks, links and a platform that weigh something, and rotors behind gears."""
    data = rotary_hexapod()
    slender = {"mass": 0.2, "center_of_mass": [0, 0, 0.25]}
    bodies = {
        "crank": {
            "mass": 0.15,
            "center_of_mass": [0.05, 0, 0],
            "inertia": _diagonal(2e-5, 2e-4, 2e-4),
        },
        "cross": {},
        "link": slender | {"inertia": _diagonal(4.2e-3, 4.2e-3, 1e-5)},
        "rotor_inertia": 2e-3,
    }
    plate = {"mass": 5.0, "inertia": _diagonal(0.08, 0.08, 0.15)}
    return data | {"legs": data["legs"] | bodies | changes, "platform": plate}


ROTARY = "rotary"
"""Of `with_masses`, where names of the catalogue stand otherwise."""


def with_masses(name):
    """A rigid robot of the catalogue, or the rotary hexapod with oblique universal axes and friction."""
    if name != ROTARY:
        return gough.load(name).rigid
    axes = np.add(rotary_hexapod()["legs"]["motor_axis"], [0.3, -0.2, 0.4])
    rubs = {"motor_viscous": 0.02, "motor_coulomb": 0.05, "universal_viscous": 1e-3}
    rubs |= {"universal_coulomb": 1e-3, "spherical_coulomb": 2e-3, "width": 1e-2}
    long = {"crank_length": 0.25, "length": 0.55}
    return gough.Robot.from_dict(
        rotary_hexapod_with_masses(axis=axes.tolist(), friction=rubs, **long)
    )


def _diagonal(*values):
    return np.diag(values).tolist()
