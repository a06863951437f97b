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
