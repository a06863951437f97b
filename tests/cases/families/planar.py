"""Random planar robots, their plane anywhere: 3-RRR, RRS + planar, 3-RPR, five-bar, 4-RRR."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.random import Generator
from scipy.spatial.transform import Rotation

from oracles.arrays import Array, Robot, cross, unit
from oracles.parallel.tree import groups

from .parts import Joint, Z, around, chains, noise, prismatic, revolute, robot_file, somewhere


def flat(rng: Generator) -> tuple[pin.SE3, pin.SE3]:
    """Where the plane is, and the platform's frame with z normal to it."""
    frame = somewhere(rng)
    turn = Rotation.from_rotvec(rng.uniform(-0.5, 0.5) * Z).as_matrix()
    return frame, frame * pin.SE3(turn, noise(rng, 0.05))


def feet_and_tips(rng: Generator, count: int) -> list[tuple[Array, Array]]:
    """Where the legs start and end; heights over the plane differ, which joints allow."""
    twist = rng.uniform(0.2, 0.4)
    return [
        (0.9 * e + noise(rng, 0.1), 0.3 * (e + twist * t) + noise(rng, 0.05))
        for e, t in around(rng, count)
    ]


def elbow(foot: Array, tip: Array, side: float) -> Array:
    """A point beside the middle of a leg."""
    return 0.5 * (foot + tip) + side * cross(Z, unit(tip - foot))


def rrr_legs(rng: Generator, count: int) -> list[list[Joint]]:
    """Legs of three revolute joints, the first driven."""
    legs = []
    for foot, tip in feet_and_tips(rng, count):
        knee = elbow(foot, tip, rng.uniform(0.3, 0.4))
        legs.append([revolute(foot, Z, True), revolute(knee, Z), revolute(tip, Z)])
    return legs


def planar_rrr(rng: Generator) -> Robot:
    """3-RRR: over-constrained by six."""
    frame, home = flat(rng)
    return robot_file(rng, "planar 3-RRR", [chains(rng, rrr_legs(rng, 3), frame)], home)


def planar_rrr_driven_last(rng: Generator) -> Robot:
    """3-RRR whose motors sit on the platform: the last joint of a leg is driven."""
    frame, home = flat(rng)
    legs = [[{**j, "actuated": j is leg[-1]} for j in leg] for leg in rrr_legs(rng, 3)]
    return robot_file(rng, "planar 3-RRR, driven last", chains(rng, legs, frame), home)


def planar_rrr_redundant(rng: Generator) -> Robot:
    """4-RRR: one actuator more than freedoms."""
    frame, home = flat(rng)
    return robot_file(rng, "planar 4-RRR", chains(rng, rrr_legs(rng, 4), frame), home)


def with_spherical_ends(robot: Robot) -> Robot:
    """The last revolute joint of each chain a spherical one, and `mobility` planar."""
    legs = []
    for group in groups(robot):
        *joints, last = group["joints"]
        end = {"type": "spherical", "point": last["point"]}
        legs.append({**group, "joints": [*joints, end]})
    return {**robot, "legs": legs, "platform": {**robot["platform"], "mobility": "planar"}}


def frictionless(robot: Robot) -> Robot:
    """The robot without friction in its chains."""
    legs = []
    for group in groups(robot):
        joints = [
            {k: v for k, v in joint.items() if k not in ("viscous", "coulomb", "width")}
            for joint in group["joints"]
        ]
        legs.append({**group, "joints": joints})
    return {**robot, "legs": legs}


def planar_rrs(rng: Generator) -> Robot:
    """3-RRS with planar mobility: over-constrained by three."""
    return with_spherical_ends(planar_rrr(rng))


def planar_rpr(rng: Generator) -> Robot:
    """3-RPR."""
    frame, home = flat(rng)
    legs = []
    for foot, tip in feet_and_tips(rng, 3):
        along = (tip - foot) * [1.0, 1.0, 0.0]
        slide = prismatic(
            0.5 * (foot + tip), along + rng.uniform(-0.1, 0.1) * cross(Z, along), True
        )
        legs.append([revolute(foot, Z), slide, revolute(tip, Z)])
    return robot_file(rng, "planar 3-RPR", chains(rng, legs, frame), home)


def five_bar(rng: Generator) -> Robot:
    """Two legs, RR and RRR, of which the last coupler is the platform."""
    frame, home = flat(rng)
    left, right = (np.array([x, -0.4, 0.0]) + noise(rng, 0.1) for x in (-0.4, 0.4))
    tip = np.array([0.0, 0.6, 0.0]) + noise(rng, 0.1)
    knees = [np.array([x, 0.1, 0.0]) + noise(rng, 0.1) for x in (-0.7, 0.7)]
    short = [revolute(left, Z, True), revolute(knees[0], Z)]
    long = [revolute(right, Z, True), revolute(knees[1], Z), revolute(tip, Z)]
    groups = [chains(rng, [short], frame), chains(rng, [long], frame)]
    return robot_file(rng, "five-bar", groups, home)
