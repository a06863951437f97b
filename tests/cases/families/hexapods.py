"""Random robots of legs that move the platform freely, with passive legs that may not."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.random import Generator
from scipy.spatial.transform import Rotation

from oracles.arrays import Robot, cross, oblique, unit
from oracles.random_robot import random_robot

from .parts import (
    Z,
    around,
    chains,
    noise,
    pose,
    prismatic,
    random_group,
    revolute,
    robot_file,
    spherical,
    universal,
)


def two_motors_a_leg(rng: Generator) -> Robot:
    """3-RRRS with two driven joints in each leg: six freedoms on three legs."""
    legs = []
    for e, t in around(rng, 3):
        foot, tip = 0.7 * e + noise(rng, 0.05), 0.3 * e + 0.8 * Z + noise(rng, 0.05)
        knee = 0.9 * e + 0.5 * Z + noise(rng, 0.05)
        legs.append(
            [
                revolute(foot, Z + noise(rng, 0.2), True),
                revolute(foot + 0.1 * e, t + noise(rng, 0.1), True),
                revolute(knee, t + noise(rng, 0.1)),
                spherical(tip),
            ]
        )
    return robot_file(rng, "3-RRRS", chains(rng, legs), pose(rng, 0.8 * Z))


def pivoted(rng: Generator) -> Robot:
    """3-UPS around a pivot: a passive leg that is one spherical joint."""
    home = pose(rng, Z)
    sides = around(rng, 3)
    lower = np.array([0.7 * e + 0.2 * t + noise(rng, 0.05) for e, t in sides])
    upper = np.array([0.4 * e - 0.2 * t + Z + noise(rng, 0.05) for e, t in sides])
    driven = random_group(rng, "UPS", lower, upper, home)
    pivot = chains(rng, [[spherical(0.8 * Z + noise(rng, 0.1))]])
    return robot_file(rng, "3-UPS + S", [pivot, driven], home)


def pan_and_tilt(rng: Generator) -> Robot:
    """2-UPS and a passive leg that is one universal joint."""
    home = pose(rng, Z)
    sides = around(rng, 4)[:2]
    lower = np.array([0.5 * e + noise(rng, 0.05) for e, _ in sides])
    upper = np.array([0.4 * e + Z + noise(rng, 0.05) for e, _ in sides])
    driven = random_group(rng, "UPS", lower, upper, home)
    first = unit(np.array([1.0, 0.0, 0.0]) + noise(rng, 0.2))
    joint = universal(0.8 * Z + noise(rng, 0.1), first, unit(cross(Z + noise(rng, 0.2), first)))
    return robot_file(rng, "2-UPS + U", [driven, chains(rng, [[joint]])], home)


def tricept(rng: Generator) -> Robot:
    """3-UPS and a passive UP leg that ends in its prismatic joint."""
    home = pose(rng, Z)
    sides = around(rng, 3)
    lower = np.array([0.7 * e + noise(rng, 0.05) for e, _ in sides])
    upper = np.array([0.3 * e + Z + noise(rng, 0.05) for e, _ in sides])
    driven = random_group(rng, "UPS", lower, upper, home)
    middle, along = noise(rng, 0.05), unit(Z + noise(rng, 0.1))
    first = oblique(rng, along, 0.0, 0.3)
    passive = [
        universal(middle, first, unit(cross(first, along + noise(rng, 0.1)))),
        prismatic(middle + 0.5 * along, along),
    ]
    return robot_file(rng, "Tricept", [driven, chains(rng, [passive])], home)


def mixed_hexapod(rng: Generator) -> Robot:
    """3-UPS and 3-PUS."""
    robot = random_robot(rng, "UPS")
    home = pin.SE3(
        Rotation.from_rotvec(robot["home"]["rotation_vector"]).as_matrix(),
        np.array(robot["home"]["position"]),
    )
    lower = np.array(robot["legs"]["base"])
    upper = np.array([home.act(np.array(p)) for p in robot["legs"]["platform"]])
    groups = [
        random_group(rng, k, lower[i::2], upper[i::2], home) for i, k in ((0, "UPS"), (1, "PUS"))
    ]
    return {**robot, "name": "3-UPS + 3-PUS", "legs": groups}


def hexapod_with_free_leg(rng: Generator) -> Robot:
    """6-UPS and a passive SPU leg that forbids nothing."""
    robot = random_robot(rng, "UPS")
    foot, tip = noise(rng, 0.1), np.array(robot["home"]["position"]) + noise(rng, 0.1)
    along = unit(tip - foot)
    first = oblique(rng, along, 0.0, 0.2)
    leg = [
        spherical(foot),
        prismatic(0.5 * (foot + tip), along + noise(rng, 0.05)),
        universal(tip, first, unit(cross(first, along + noise(rng, 0.1)))),
    ]
    return {**robot, "name": "6-UPS + SPU", "legs": [robot["legs"], chains(rng, [leg])]}


def hexapod_with_guide(rng: Generator) -> Robot:
    """6-UPS and a passive SPR leg that takes one freedom: one actuator more than needed."""
    robot = random_robot(rng, "UPS")
    foot, tip = noise(rng, 0.1), np.array(robot["home"]["position"]) + noise(rng, 0.1)
    along = unit(tip - foot)
    leg = [
        spherical(foot),
        prismatic(0.5 * (foot + tip), along + noise(rng, 0.05)),
        revolute(tip, oblique(rng, along, 0.0, 0.3)),
    ]
    return {**robot, "name": "6-UPS + SPR", "legs": [robot["legs"], chains(rng, [leg])]}
