"""Random spatial robots: Deltas, wrists, four-freedom robots, hexapods, mixed legs."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.random import Generator
from scipy.spatial.transform import Rotation

from oracles.arrays import Robot, cross, oblique, unit
from oracles.parallel.as_chains import as_chains, with_universal_ends

from .parts import (
    Z,
    around,
    chains,
    closed_group,
    noise,
    pose,
    prismatic,
    random_group,
    revolute,
    robot_file,
    somewhere,
    spherical,
    universal,
)


def rotary_delta(rng: Generator) -> Robot:
    """3-RUS, translation; universal axes along the motors'."""
    home = pose(rng, np.array([0.0, 0.0, -0.7]))
    sides = around(rng, 3)
    tips = np.array([home.translation + 0.15 * e + noise(rng, 0.02) for e, _ in sides])
    geometry = {
        "motor": [(0.3 * e + noise(rng, 0.03)).tolist() for e, _ in sides],
        "motor_axis": [(t + noise(rng, 0.1)).tolist() for _, t in sides],
        "crank_zero": [(e + noise(rng, 0.2)).tolist() for e, _ in sides],
        "crank_length": rng.uniform(0.28, 0.34, 3).tolist(),
        "length": rng.uniform(0.8, 0.9, 3).tolist(),
    }
    platform = np.array([home.actInv(tip) for tip in tips])
    legs = closed_group(rng, "RUS", geometry, platform, own_axes=False)
    return robot_file(rng, "rotary Delta", legs, home, "translation")


def delta_of_chains(rng: Generator) -> Robot:
    """A Delta as 3-RUU: both universal joints have an axis along the motor's, and the two that
    hold the link are parallel, so that no leg lets the platform turn about the third direction."""
    return with_universal_ends(as_chains(rotary_delta(rng), rng))


def linear_delta(rng: Generator) -> Robot:
    """3-PUS on rails that run down, translation."""
    home = pose(rng, np.array([0.0, 0.0, -0.9]))
    sides = around(rng, 3)
    geometry = {
        "rail_origin": [(0.6 * e + noise(rng, 0.05)).tolist() for e, _ in sides],
        "rail_direction": [(noise(rng, 0.15) - Z).tolist() for _ in sides],
        "length": rng.uniform(0.75, 0.9, 3).tolist(),
        "axis": [(t + noise(rng, 0.2)).tolist() for _, t in sides],
    }
    platform = np.array([home.rotation.T @ (0.15 * e + noise(rng, 0.02)) for e, _ in sides])
    legs = closed_group(rng, "PUS", geometry, platform)
    return robot_file(rng, "linear Delta", legs, home, "translation")


def orthoglide(rng: Generator) -> Robot:
    """3-PUS on rails at right angles, links along them at home, translation."""
    home = pose(rng, np.zeros(3))
    rails = [np.roll([1.0, 0.0, 0.0], i) + noise(rng, 0.05) for i in range(3)]
    geometry = {
        "rail_origin": [(-1.0 * unit(a) + noise(rng, 0.05)).tolist() for a in rails],
        "rail_direction": [a.tolist() for a in rails],
        "length": rng.uniform(0.6, 0.7, 3).tolist(),
        "axis": [oblique(rng, unit(a), 0.0, 0.3).tolist() for a in rails],
    }
    platform = np.array([home.rotation.T @ (-0.1 * unit(a)) for a in rails])
    legs = closed_group(rng, "PUS", geometry, platform)
    return robot_file(rng, "Orthoglide", legs, home, "translation")


def rotary_wrist(rng: Generator) -> Robot:
    """3-RUS, rotation about the platform's origin."""
    home = pose(rng, np.array([0.0, 0.0, 0.8]))
    sides = around(rng, 3)
    lower = np.array([0.7 * e + 0.4 * t + noise(rng, 0.05) for e, t in sides])
    upper = np.array([home.translation + 0.5 * e + 0.2 * Z + noise(rng, 0.05) for e, _ in sides])
    legs = random_group(rng, "RUS", lower, upper, home)
    return robot_file(rng, "rotary wrist", legs, home, "rotation")


def schoenflies(rng: Generator) -> Robot:
    """4-RUS, free translation and turns about the platform's z."""
    home = pose(rng, np.array([0.0, 0.0, 0.8]))
    sides = around(rng, 4)
    twist = rng.uniform(0.3, 0.6, 4) * [1, -1, 1, -1]
    lower = np.array([1.0 * e + noise(rng, 0.1) for e, _ in sides])
    upper = np.array([0.3 * e + a * t for a, (e, t) in zip(twist, sides, strict=True)])
    upper += home.translation + rng.uniform(-0.1, 0.1, (4, 3))
    legs = random_group(rng, "RUS", lower, upper, home)
    return robot_file(rng, "four-freedom robot", legs, home, "schoenflies")


def schoenflies_of_chains(rng: Generator) -> Robot:
    """4-RUU with motors along z: over-constrained by two couples."""
    turn = Rotation.from_rotvec(rng.uniform(-0.5, 0.5) * Z).as_matrix()
    home = pin.SE3(turn, np.array([0.0, 0.0, 0.6]) + noise(rng, 0.05))
    sides = around(rng, 4)
    lower = np.array([0.9 * e + noise(rng, 0.1) for e, _ in sides])
    upper = np.array([0.3 * e + 0.3 * t + home.translation for e, t in sides])
    upper[::2] -= 0.5 * np.array([t for _, t in sides])[::2] + 0.2 * Z
    spans = upper - lower
    level = [unit(span * [1, 1, 0]) for span in spans]
    cranks = [unit(-cross(Z, n) + rng.uniform(-0.5, 0.5) * n) for n in level]
    radii = rng.uniform(0.3, 0.5, 4)
    geometry = {
        "motor": [(p - r * u).tolist() for p, r, u in zip(lower, radii, cranks, strict=True)],
        "motor_axis": [Z.tolist()] * 4,
        "crank_zero": [
            (Rotation.from_rotvec(rng.uniform(-0.5, 0.5) * Z).apply(u)).tolist() for u in cranks
        ],
        "crank_length": radii.tolist(),
        "length": np.linalg.norm(spans, axis=1).tolist(),
    }
    platform = np.array([home.actInv(point) for point in upper])
    legs = closed_group(rng, "RUS", geometry, platform, own_axes=False)
    closed = robot_file(rng, "4-RUU", legs, home, "schoenflies")
    return with_universal_ends(as_chains(closed, rng))


def wrist_of_chains(rng: Generator) -> Robot:
    """3-RRR with all axes through one point: over-constrained by six."""
    frame = somewhere(rng)
    legs = []
    for e, t in around(rng, 3):
        low, high = unit(e - Z + noise(rng, 0.2)), unit(t + 0.6 * Z + noise(rng, 0.2))
        middle = unit(cross(low, high) + noise(rng, 0.3))
        legs.append(
            [
                revolute(rng.uniform(0.2, 0.4) * axis, axis, number == 0)
                for number, axis in enumerate((low, middle, high))
            ]
        )
    home = frame * pose(rng, np.array([0.0, 0.0, 0.1]))
    return robot_file(rng, "3-RRR wrist", [chains(rng, legs, frame)], home)


def three_rps(rng: Generator) -> Robot:
    """3-RPS: each leg moves in a plane."""
    legs = []
    for e, t in around(rng, 3):
        foot, tip = 0.6 * e + noise(rng, 0.05), 0.35 * e + Z + noise(rng, 0.05)
        along = unit(tip - foot + noise(rng, 0.05))
        legs.append(
            [
                revolute(foot, t + noise(rng, 0.1)),
                prismatic(foot + 0.4 * (tip - foot), along, True),
                spherical(tip),
            ]
        )
    return robot_file(rng, "3-RPS", chains(rng, legs), pose(rng, Z))


def three_upu(rng: Generator) -> Robot:
    """3-UPU: outer axes of a leg parallel, inner ones too, so that the platform translates."""
    legs = []
    for e, t in around(rng, 3):
        foot, tip = 0.6 * e + noise(rng, 0.05), 0.25 * e + 0.9 * Z + noise(rng, 0.05)
        outer = unit(t + noise(rng, 0.3))
        inner = unit(cross(outer, tip - foot))
        legs.append(
            [
                universal(foot, outer, inner),
                prismatic(0.5 * (foot + tip), tip - foot, True),
                universal(tip, inner, outer),
            ]
        )
    return robot_file(rng, "3-UPU", [chains(rng, legs)], pose(rng, 0.9 * Z))


def exechon(rng: Generator) -> Robot:
    """2-UPR and SPR: the two UPR legs turn about one line of the base, over-constrained by two."""
    frame = somewhere(rng)
    line = np.array([1.0, 0.0, 0.0])
    lean = rng.uniform(-0.2, 0.2)
    up = np.array([0.0, np.sin(lean), np.cos(lean)])
    across = cross(up, line)
    legs = []
    for side in (-1.0, 1.0):
        foot = side * rng.uniform(0.5, 0.7) * line
        tip = side * rng.uniform(0.15, 0.3) * line + rng.uniform(0.9, 1.1) * up
        point = tip + rng.uniform(-0.1, 0.1) * across
        legs.append(
            [
                universal(foot, line, across),
                prismatic(0.5 * (foot + tip), tip - foot, True),
                revolute(point, across),
            ]
        )
    foot, tip = -0.7 * across + noise(rng, 0.05), up - 0.3 * across + noise(rng, 0.05)
    third = [
        spherical(foot),
        prismatic(0.5 * (foot + tip), tip - foot + noise(rng, 0.05), True),
        revolute(tip, line + noise(rng, 0.1)),
    ]
    home = frame * pose(rng, up)
    groups = [chains(rng, legs, frame), chains(rng, [third], frame)]
    return robot_file(rng, "Exechon", groups, home)


def tripteron(rng: Generator) -> Robot:
    """3-PRRR, all axes of a leg along its rail: over-constrained by three couples."""
    frame, legs = somewhere(rng), []
    for i in range(3):
        axis = unit(np.roll([1.0, 0.0, 0.0], i) + noise(rng, 0.1))
        side = oblique(rng, axis, 0.0, 1e-9)
        other = cross(axis, side)
        knee = 0.6 * side + noise(rng, 0.05)
        legs.append(
            [
                prismatic(0.9 * side + 0.5 * other, axis + noise(rng, 0.1), True),
                revolute(0.6 * side + 0.5 * other + noise(rng, 0.05), axis),
                revolute(knee, axis),
                revolute(0.15 * side + noise(rng, 0.05), axis),
            ]
        )
    home = frame * pose(rng, np.zeros(3))
    return robot_file(rng, "Tripteron", chains(rng, legs, frame), home)


def three_spr(rng: Generator) -> Robot:
    """3-SPR: the 3-RPS upside down, legs that hold the platform by revolute joints."""
    legs = []
    for e, t in around(rng, 3):
        foot, tip = 0.6 * e + noise(rng, 0.05), 0.3 * e + Z + noise(rng, 0.05)
        slide = prismatic(0.5 * (foot + tip), tip - foot + noise(rng, 0.05), True)
        legs.append([spherical(foot), slide, revolute(tip, t + noise(rng, 0.1))])
    return robot_file(rng, "3-SPR", [chains(rng, legs)], pose(rng, Z))
