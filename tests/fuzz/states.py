"""Random robots and states, to the edges, against the same equations in sixty digits.

Robots of 1e-6 to 1e6 m and 1e-9 to 1e9 kg, nearly singular ones, with platform frames far from their
joints; states far from home, fast, and at the edge of reach. What is off by over 1e-8 and not refused
is a failure.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

from gough.errors import GoughError
from gough.mechanics import programs
from gough.mechanics.state import RIGID_FIELDS
from gough.motion import Motion
from gough.robot import Robot
from oracles.legs import KINDS
from oracles.many_digits import exact
from oracles.random_robot import random_motion, random_robot, toml_text

LIMIT = 1e-8
"""Largest error of an answer that is not refused, of its largest component."""
LENGTHS = ("platform", "base", "rail_origin", "length", "motor", "crank_length", "center_of_mass")
"""Keys of robot files that are lengths, m, wherever they stand."""


def errors(seed: int, states: int = 20, wild: bool = True) -> tuple[float, str, int]:
    """Largest error of forces and accelerations, where it was, and how many states were refused."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(sorted(KINDS)))
    data = random_robot(rng, kind, near_singular=bool(wild and rng.random() < 0.3))
    state = random_motion(rng, data, (states,))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if wild:
            data, state = _scaled(rng, data, state)
            data, state = _moved_frame(rng, data, state)
        try:
            robot = Robot.from_text(toml_text(data), f"seed {seed}")
        except GoughError:
            return 0.0, "no robot", states
        motion = Motion(**state)
        if wild:
            motion = _to_the_edge(rng, robot, _wild(rng, motion, np.ptp(data["legs"]["platform"])))
        return _compared(robot, motion, rng)


def _scaled(
    rng: np.random.Generator, data: dict[str, Any], state: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same robot and motion in another size and of another mass."""
    length, mass = 10.0 ** rng.uniform(-6, 6), 10.0 ** rng.uniform(-9, 9)
    sizes = dict.fromkeys(LENGTHS, length) | {"mass": mass, "inertia": mass * length**2}

    def scaled(table: Any) -> Any:
        if isinstance(table, list):
            return [scaled(one) for one in table]
        if not isinstance(table, dict):
            return table
        return {
            key: (sizes[key] * np.array(value)).tolist()
            if key in sizes and not isinstance(value, dict)
            else scaled(value)
            for key, value in table.items()
        }

    data = copy.deepcopy(data)
    del data["legs"]["limits"], data["tool"], data["platform"]["payload"]
    data["home"]["position"] = (length * np.array(data["home"]["position"])).tolist()
    grown = {
        name: (length if name in ("position", "velocity", "acceleration") else 1) * value
        for name, value in state.items()
    }
    return data | {"legs": scaled(data["legs"]), "platform": scaled(data["platform"])}, grown


def _moved_frame(
    rng: np.random.Generator, data: dict[str, Any], state: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A third of the platforms described in a frame up to 1e5 of their sizes away."""
    if rng.random() > 1 / 3:
        return data, state
    points = np.array(data["legs"]["platform"])
    shift = np.ptp(points) * 10.0 ** rng.uniform(0, 5) * rng.normal(size=3)
    data, platform = copy.deepcopy(data), data["platform"]
    data["legs"]["platform"] = (points + shift).tolist()
    centre = np.array(platform["center_of_mass"]) + shift
    data["platform"] = platform | {"center_of_mass": centre.tolist()}
    del data["home"]
    arm = state["rotation"] @ shift
    turn = state["angular_velocity"]
    swing = np.cross(turn, np.cross(turn, arm)) + np.cross(state["angular_acceleration"], arm)
    return data, state | {
        "position": state["position"] - arm,
        "velocity": state["velocity"] - np.cross(turn, arm),
        "acceleration": state["acceleration"] - swing,
    }


def _wild(rng: np.random.Generator, motion: Motion, size: float) -> Motion:
    """Far from home, and fast."""
    away = 10.0 ** rng.uniform(-3, 0.3, (len(motion), 1)) * rng.normal(size=(len(motion), 3))
    fast = 10.0 ** rng.uniform(-6, 6)
    return motion.replace(
        position=motion.position + size * away,
        velocity=fast * motion.velocity,
        angular_velocity=fast * motion.angular_velocity,
    )


def _to_the_edge(rng: np.random.Generator, robot: Robot, motion: Motion) -> Motion:
    """A third of the states moved upwards to 1e-16 … 1e-2 of the way before an answer ends."""
    chosen = rng.random(len(motion)) < 1 / 3
    low, high = np.zeros(len(motion)), np.full(len(motion), 10 * np.ptp(motion.position))
    for _ in range(60):
        middle = (low + high) / 2
        tried = motion.replace(position=motion.position + np.outer(middle, [0, 0, 1]))
        there = np.isfinite(robot.inverse_kinematics(tried, on_error="nan").q).all(axis=-1)
        low, high = np.where(there, middle, low), np.where(there, high, middle)
    back = 1 - 10.0 ** rng.uniform(-16, -2, len(motion))
    return motion.replace(
        position=motion.position + np.outer(np.where(chosen, low * back, 0), [0, 0, 1])
    )


def _compared(robot: Robot, motion: Motion, rng: np.random.Generator) -> tuple[float, str, int]:
    worst, where, refused = 0.0, "", 0
    found = robot.inverse_dynamics(motion, friction=False, on_error="nan").forces
    size = np.nan_to_num(np.abs(found).max(axis=1, keepdims=True), nan=1.0)
    forces = size * rng.normal(size=found.shape)
    moved = robot.direct_dynamics(motion, forces, friction=False, on_error="nan")
    length = float(np.max(robot.mechanism.length_scale))
    answers = {
        programs.inverse_dynamics: found,
        programs.direct_dynamics: np.hstack([moved.linear, length * moved.angular]),
    }
    for function, ours in answers.items():
        for i, answer in enumerate(ours):
            if np.isnan(answer).any():
                refused += 1
                continue
            fields = {name: np.asarray(getattr(motion, name))[i] for name in RIGID_FIELDS}
            given = {"wrench": np.zeros(6)}
            if function is programs.direct_dynamics:
                given["forces"] = forces[i]
            true = exact(robot.mechanism, function, fields | given, list(given))
            if function is programs.direct_dynamics:
                truth = np.concatenate([true["linear"], length * true["angular"]])
            else:
                truth = true["forces"]
            off = float(np.max(np.abs(truth - answer)) / (np.max(np.abs(truth)) or 1))
            if not off <= worst:
                worst, where = off, f"{function.__name__}, sample {i}"
    return worst, where, refused
