"""Random robot files and motions.

A robot is a plain dictionary with the robot file's keys; a motion is a dictionary of arrays
`position, velocity, angular_velocity, acceleration, angular_acceleration` (*shape, 3) and
`rotation` (*shape, 3, 3).
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.spatial.transform import Rotation

from .arrays import Array, Robot, State, oblique, unit
from .legs import KINDS, LegKind


def random_robot(
    rng: Generator,
    kind: str,
    legs: int = 6,
    axial: bool = True,
    friction: bool = False,
    near_singular: bool = False,
    width: float | None = None,
) -> Robot:
    """A complete random robot file.

    kind: one of `legs.KINDS`. axial: leg bodies are general, off-centre and asymmetric, and turn with
    inertia about the leg; without it they are slender: mass on the leg's line, no inertia about
    it, a massless cross. friction: with every friction term, smoothed if a width is given.
    near_singular: the last leg runs within about 1e-3 m of the first one, so that the Jacobian is
    nearly singular in every pose.
    """
    position = np.array([0.0, 0.0, 1.0]) + rng.uniform(-0.05, 0.05, 3)
    tilt = rng.uniform(-0.15, 0.15, 3)
    rotation = Rotation.from_rotvec(tilt).as_matrix()
    lower = _ring(1.0, 0.38, legs) + rng.uniform(-0.05, 0.05, (legs, 3))
    upper = _ring(0.5, -0.38, legs) + rng.uniform(-0.05, 0.05, (legs, 3))
    if near_singular:
        lower[-1] = lower[0] + rng.uniform(-1e-3, 1e-3, 3)
        upper[-1] = upper[0] + rng.uniform(-1e-3, 1e-3, 3)
    spans = position + upper @ rotation.T - lower
    directions = spans / np.linalg.norm(spans, axis=1, keepdims=True)
    axis = np.array([oblique(rng, n, 0.0, 0.5) for n in directions])
    reference = np.array([oblique(rng, z, 0.0, 0.8) for z in axis])

    table: dict[str, Any] = {"kind": kind, "platform": upper.tolist()}
    legs_of = KINDS[kind]
    geometry, q_home = legs_of.random_geometry(rng, lower, spans, near_singular)
    table |= geometry
    table["axis"] = (rng.uniform(0.5, 2, (legs, 1)) * axis).tolist()
    table["reference"] = (rng.uniform(0.5, 2, (legs, 1)) * reference).tolist()
    table[legs_of.rotor] = rng.uniform(1, 5, legs).tolist()
    for number, name in enumerate(legs_of.bodies):
        table[name] = _leg_body(rng, number, name, legs, axial)
    if friction:
        table["friction"] = friction_table(rng, legs_of, legs, width)
    table["limits"] = {
        "stroke": [[q - 0.5, q + 0.5] for q in q_home.tolist()],
        "force": rng.uniform(2e3, 5e3, legs).tolist(),
        "speed": rng.uniform(3, 5, legs).tolist(),
        "universal_angle": rng.uniform(0.9, 1.4, legs).tolist(),
        "spherical_angle": rng.uniform(0.9, 1.4, legs).tolist(),
    }
    platform: dict[str, Any] = real_body(rng, 12.0, 0.1)
    platform["payload"] = [real_body(rng, 4.0, 0.2), _ten(real_body(rng, 2.0, 0.2))]
    return {
        "format": 1,
        "name": f"random {kind}",
        "source": "random numbers",
        "assumed": ["everything"],
        "gravity": (9.81 * unit(rng.normal(size=3))).tolist(),
        "home": {"position": position.tolist(), "rotation_vector": tilt.tolist()},
        "tool": rng.uniform(-0.2, 0.2, 3).tolist(),
        "legs": table,
        "platform": platform,
    }


def random_motion(rng: Generator, robot: Robot, shape: tuple[int, ...] = ()) -> State:
    """Random states near home: offsets to 0.08 m and 0.15 rad an axis, rates and accelerations
    of order 1 (m, rad, s)."""
    full = (*shape, 3)
    home = Rotation.from_rotvec(robot["home"]["rotation_vector"]).as_matrix()
    turn = rng.uniform(-0.15, 0.15, full)
    turns = Rotation.from_rotvec(turn.reshape(-1, 3)).as_matrix().reshape(*full, 3)
    return {
        "position": np.array(robot["home"]["position"]) + rng.uniform(-0.08, 0.08, full),
        "rotation": turns @ home,
        "velocity": rng.normal(size=full),
        "angular_velocity": rng.normal(size=full),
        "acceleration": 2 * rng.normal(size=full),
        "angular_acceleration": 2 * rng.normal(size=full),
    }


def one_state(motion: State, index: tuple[int, ...] | int) -> State:
    """The state at a batch index, as the oracles take it."""
    return {name: np.asarray(field)[index] for name, field in motion.items()}


def toml_text(robot: Robot) -> str:
    """The robot as TOML; floats in full precision, lists of dictionaries as arrays of tables."""
    return "\n".join(_toml_lines(robot, "")) + "\n"


def _ring(radius: float, pairing: float, count: int) -> Array:
    """Points on a circle, turned alternately by ± pairing (rad), so that they come in pairs."""
    i = np.arange(count)
    angle = 2 * np.pi * i / count + pairing * (-1.0) ** i
    return radius * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(count)])


def real_body(rng: Generator, mass: float, size: float) -> dict[str, Any]:
    """Mass, off-centre centre of mass and full inertia of a random real body (kg, m)."""
    mass = mass * rng.uniform(0.5, 1.5)
    turn = Rotation.from_rotvec(2 * rng.normal(size=3)).as_matrix()
    spread = turn @ np.diag(mass * (size * rng.uniform(0.5, 1.5, 3)) ** 2) @ turn.T
    inertia = np.trace(spread) * np.eye(3) - spread
    return {
        "mass": float(mass),
        "center_of_mass": (size * rng.uniform(-1, 1, 3)).tolist(),
        "inertia": ((inertia + inertia.T) / 2).tolist(),
    }


def _slender_body(rng: Generator, mass: float, size: float, axis: Array) -> dict[str, Any]:
    """A body whose whole mass lies on the line through its frame's origin along the axis."""
    mass = mass * rng.uniform(0.5, 1.5)
    moment = mass * (size * rng.uniform(0.5, 1.5)) ** 2
    return {
        "mass": float(mass),
        "center_of_mass": (size * rng.uniform(0.5, 1.5) * axis).tolist(),
        "inertia": (moment * (np.eye(3) - np.outer(axis, axis))).tolist(),
    }


def _leg_body(rng: Generator, number: int, name: str, legs: int, axial: bool) -> Any:
    """One body of every leg, in a form that differs between the bodies: one table with a list a
    key, or a list of tables; mass and centre of mass, or the ten parameters."""
    mass = {"slider": 3.0, "cross": 1.0, "cylinder": 4.0, "rod": 2.0, "link": 4.0, "crank": 2.0}[
        name
    ]
    if axial or name in ("slider", "crank"):
        bodies = [real_body(rng, mass, 0.2) for _ in range(legs)]
    elif name == "cross":
        return {"mass": 0.0}
    else:
        # along the leg from the frame's origin towards the leg's middle
        axis = np.array({"cylinder": [0, -1, 0], "rod": [0, 0, -1], "link": [0, 0, 1]}[name])
        bodies = [_slender_body(rng, mass, 0.2, axis) for _ in range(legs)]
    if number == 0:
        return _gather([_ten(body) for body in bodies])
    if number == 1:
        return _gather(bodies)
    return [_ten(body) if i % 2 else body for i, body in enumerate(bodies)]


def _gather(tables: list[dict[str, Any]]) -> dict[str, Any]:
    """One table with a list a key."""
    return {key: [table[key] for table in tables] for key in tables[0]}


def _ten(body: dict[str, Any]) -> dict[str, float]:
    """The ten standard parameters of a body, about its frame's origin."""
    mass, center = body["mass"], np.array(body["center_of_mass"])
    tensor = np.array(body["inertia"])
    tensor = tensor + mass * (center @ center * np.eye(3) - np.outer(center, center))
    moments = {
        "XX": tensor[0, 0], "XY": tensor[0, 1], "XZ": tensor[0, 2],
        "YY": tensor[1, 1], "YZ": tensor[1, 2], "ZZ": tensor[2, 2],
        "MX": mass * center[0], "MY": mass * center[1], "MZ": mass * center[2], "M": mass,
    }  # fmt: skip
    return {key: float(value) for key, value in moments.items()}


def friction_table(rng: Generator, kind: LegKind, legs: int, width: float | None) -> dict[str, Any]:
    """Every friction term, each leg its own."""
    drive = "motor" if kind.rotary else "slider"
    highest = {
        f"{drive}_viscous": 20.0,
        f"{drive}_coulomb": kind.most_coulomb,
        "universal_viscous": 0.3,
        "universal_coulomb": 0.01,
        "spherical_viscous": 0.3,
        "spherical_coulomb": 0.01,
    }
    if not kind.rotary:
        highest["screw_torque"] = 0.05
    table: dict[str, Any] = {
        key: rng.uniform(0.3 * value, value, legs).tolist() for key, value in highest.items()
    }
    if not kind.rotary:
        table["screw_lead"] = rng.uniform(0.01, 0.03, legs).tolist()
    if width is not None:
        table["width"] = width
    return table


def _toml_lines(table: dict[str, Any], path: str) -> list[str]:
    """A table's own keys, then its subtables under their headers."""

    def is_array_of_tables(value: Any) -> bool:
        return isinstance(value, list) and bool(value) and isinstance(value[0], dict)

    lines, below = [], []
    for key, value in table.items():
        name = f"{path}.{key}" if path else key
        if isinstance(value, dict):
            below += ["", f"[{name}]", *_toml_lines(value, name)]
        elif is_array_of_tables(value):
            for element in value:
                below += ["", f"[[{name}]]", *_toml_lines(element, name)]
        else:
            lines.append(f"{key} = {json.dumps(value)}")
    return lines + below
