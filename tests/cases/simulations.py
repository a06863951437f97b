"""Robots, paths and starts that simulations use."""

from __future__ import annotations

import functools

import numpy as np
from scipy.spatial.transform import Rotation

import gough
from gough.simulation import compiled
from gough.trajectories import RestToRest
from oracles.random_robot import random_robot


@functools.cache
def dictionary(kind, friction=False, width=None):
    return random_robot(np.random.default_rng(5), kind, friction=friction, width=width)


@functools.cache
def robot_of(kind, friction=False, width=None):
    return gough.Robot.from_dict(dictionary(kind, friction, width))


def path(robot, duration=0.5):
    home = robot.home
    turned = Rotation.from_rotvec([0.03, -0.02, 0.05]).as_matrix() @ home.rotation
    end = gough.Motion(home.position + np.array([0.03, -0.02, 0.02]), turned)
    return RestToRest(
        gough.Motion.stack([gough.Motion(home.position, home.rotation), end]), duration
    )


def offset(robot, shift=(0.002, -0.001, 0.0015), turn=(0.004, 0.002, -0.003)):
    home = robot.home
    rotation = Rotation.from_rotvec(turn).as_matrix() @ home.rotation
    return gough.Motion(home.position + np.array(shift), rotation)


def in_python(monkeypatch):
    monkeypatch.setattr(compiled, "possible", lambda scenario: False)
