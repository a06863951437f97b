"""Random robots and states, to the edges, against the same equations in sixty digits.

Robots of 1e-6 to 1e6 m and 1e-9 to 1e9 kg, nearly singular ones, with platform frames far from their
joints or far from the world's origin; every family of robots beside the hexapods; states far from home,
fast, and at the edge of reach. What is off by over 1e-8 and not refused is a failure.

All states are compared in long doubles first; the worst of a robot, where it is off by over 1e-10, and
one more in sixty digits.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

from cases.families import FAMILIES
from gough.errors import GoughError
from gough.mechanics import programs
from gough.mechanics.state import CHAINS, RIGID_FIELDS
from gough.motion import Motion
from gough.robot import Robot
from oracles.legs import KINDS
from oracles.many_digits import exact, longer
from oracles.random_robot import random_motion, random_robot, toml_text

LIMIT = 1e-8
"""Largest error of an answer that is not refused, in relation to the largest of its kind."""
NOTABLE = 1e-10
"""Error in long doubles from which sixty digits are asked."""
LENGTHS = ("platform", "base", "rail_origin", "length", "motor", "crank_length", "center_of_mass")
"""Keys of robot files that are lengths, m, wherever they stand."""
PLACES = {"UPS": "base", "PUS": "rail_origin", "RUS": "motor"}
"""Keys of the points on the ground."""


def errors(seed: int, states: int = 20, wild: bool = True) -> tuple[float, str, int]:
    """Largest error of forces, reactions and accelerations, where, and how many were refused."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            robot, motion = (
                _of_a_family(rng, min(states, 20))
                if wild and rng.random() < 0.1
                else _hexapod(rng, states, wild)
            )
        except GoughError:
            return 0.0, "no robot", 0
        return _compared(robot, motion, rng)


def _hexapod(rng: np.random.Generator, states: int, wild: bool) -> tuple[Robot, Motion]:
    kind = str(rng.choice(sorted(KINDS)))
    data = random_robot(rng, kind, near_singular=bool(wild and rng.random() < 0.3))
    state = random_motion(rng, data, (states,))
    if not wild:
        return Robot.from_text(toml_text(data), "random"), Motion(**state)
    for change in (_scaled, _moved_frame, _moved_world):
        data, state = change(rng, data, state)
    robot = Robot.from_text(toml_text(data), "random")
    return robot, _to_the_edge(rng, robot, _wild(rng, Motion(**state), robot.length_scale))


def _of_a_family(rng: np.random.Generator, states: int) -> tuple[Robot, Motion]:
    """A robot of any family about its home, and away from it as far as it can be; chains take long."""
    name = str(rng.choice(sorted(FAMILIES)))
    robot = Robot.from_text(toml_text(FAMILIES[name].draw(rng)), name)
    m = robot.mobility
    size = np.array(
        [1.0 if one.startswith("r") else robot.length_scale for one in robot.coordinates]
    )
    away = 10.0 ** rng.uniform(-3, 0.5, (states, 1)) * rng.normal(size=(states, m))
    fast = 10.0 ** rng.uniform(-3, 3)
    rates = [fast * size * rng.normal(size=(states, m)), size * rng.normal(size=(states, m))]
    motion = robot.motion(robot_start(robot) + size * away, *rates, on_error="nan")
    return robot, motion[np.isfinite(motion.position).all(axis=-1)]


def robot_start(robot: Robot) -> np.ndarray:
    """The coordinates of home: its position, and no rotation."""
    places = dict(zip("xyz", robot.home.position, strict=True))
    return np.array([places.get(name, 0.0) for name in robot.coordinates])


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
    """A quarter of the platforms described in a frame up to 1e6 of their sizes away."""
    if rng.random() > 1 / 4:
        return data, state
    points = np.array(data["legs"]["platform"])
    shift = np.ptp(points) * 10.0 ** rng.uniform(0, 6) * rng.normal(size=3)
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


def _moved_world(
    rng: np.random.Generator, data: dict[str, Any], state: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A tenth of the robots up to 1e8 of their sizes away from the world's origin."""
    if rng.random() > 1 / 10:
        return data, state
    points = np.array(data["legs"]["platform"])
    shift = np.ptp(points) * 10.0 ** rng.uniform(0, 8) * rng.normal(size=3)
    data, place = copy.deepcopy(data), PLACES[data["legs"]["kind"]]
    data["legs"][place] = (np.array(data["legs"][place]) + shift).tolist()
    data.pop("home", None)
    return data, state | {"position": state["position"] + shift}


def _wild(rng: np.random.Generator, motion: Motion, size: float) -> Motion:
    """Far from home, and fast."""
    away = 10.0 ** rng.uniform(-3, 0.7, (len(motion), 1)) * rng.normal(size=(len(motion), 3))
    fast = 10.0 ** rng.uniform(-6, 6)
    return motion.replace(
        position=motion.position + size * away,
        velocity=fast * motion.velocity,
        angular_velocity=fast * motion.angular_velocity,
    )


def _to_the_edge(rng: np.random.Generator, robot: Robot, motion: Motion) -> Motion:
    """A third of the states moved upwards to 1e-16 … 1e-2 of the way before reach ends."""
    chosen = rng.random(len(motion)) < 1 / 3
    low, high = np.zeros(len(motion)), np.full(len(motion), 10 * robot.leg_size)
    given = {name: np.asarray(getattr(motion, name)) for name in RIGID_FIELDS}
    for _ in range(50):
        middle = (low + high) / 2
        given["position"] = motion.position + np.outer(middle, [0, 0, 1])
        found = robot.executor(programs.inverse_kinematics, len(motion), given)["q"]
        there = np.isfinite(found).all(axis=1)
        low, high = np.where(there, middle, low), np.where(there, high, middle)
    back = 1 - 10.0 ** rng.uniform(-16, -2, len(motion))
    return motion.replace(
        position=motion.position + np.outer(np.where(chosen, low * back, 0), [0, 0, 1])
    )


def _compared(robot: Robot, motion: Motion, rng: np.random.Generator) -> tuple[float, str, int]:
    worst, where, refused = 0.0, "", 0
    nan = {"friction": False, "on_error": "nan"}
    found = robot.inverse_dynamics(motion, **nan).forces
    size = np.nan_to_num(np.abs(found).max(axis=1, keepdims=True), nan=1.0)
    forces = size * rng.normal(size=found.shape)
    moved = robot.direct_dynamics(motion, forces, **nan)
    pushed = robot.reactions(motion, **nan).spherical
    answers = {
        programs.inverse_dynamics: {"forces": found},
        programs.reactions: {"spherical": pushed},
        programs.direct_dynamics: {"linear": moved.linear, "angular": moved.angular},
    }
    state = {name: np.asarray(getattr(motion, name)) for name in RIGID_FIELDS}
    if robot.mechanism.legs.coordinates:
        state[CHAINS] = robot.chains_of(motion)
    for function, ours in answers.items():
        given = {"wrench": np.zeros((len(motion), 6))}
        if function is programs.direct_dynamics:
            given["forces"] = forces
        fields = state | given
        told = ~np.any([np.isnan(one).reshape(len(motion), -1).all(1) for one in ours.values()], 0)
        refused += int(np.sum(~told))
        if not told.any():
            continue
        true = longer(robot.mechanism, function, fields, list(given))
        off = np.where(told, _off(robot, motion, ours, true), 0.0)
        asked = np.argsort(~(off <= NOTABLE) * -np.nan_to_num(off, nan=np.inf))[:2]
        some = rng.choice(np.flatnonzero(told))
        for i in {*(int(i) for i in asked if not off[i] <= NOTABLE), int(some)}:
            one = {name: value[i] for name, value in fields.items()}
            best = exact(robot.mechanism, function, one, list(given))
            mine = {name: value[i : i + 1] for name, value in ours.items()}
            sure = {name: best[name].astype(np.longdouble)[np.newaxis] for name in ours}
            off[i] = _off(robot, motion[i : i + 1], mine, sure)[0]
        here = int(np.argmax(np.nan_to_num(off, nan=np.inf)))
        if not off[here] <= worst:
            worst, where = float(off[here]), f"{function.__name__}, sample {here}"
    return worst, where, refused


def _off(
    robot: Robot, motion: Motion, ours: dict[str, np.ndarray], true: dict[str, np.ndarray]
) -> np.ndarray:
    """Errors (samples,) in relation to the largest of a kind: of all forces, of all reactions; of v̇ and
    L ω̇ about the mean of the platform's joints, or of v̇ alone, if that is larger."""
    apart = {name: np.nan_to_num((ours[name] - true[name]).astype(float)) for name in ours}
    lost = np.any(
        [(np.isnan(true[n]) & ~np.isnan(ours[n])).reshape(len(motion), -1).any(1) for n in ours], 0
    )
    if "linear" not in ours:
        (name,) = ours
        size = np.nanmax(np.abs(true[name]).reshape(len(motion), -1), axis=1).astype(float)
        off = np.abs(apart[name]).reshape(len(motion), -1).max(axis=1) / np.where(size, size, 1)
        return np.where(lost, np.inf, off)
    length, middle = float(robot.length_scale), robot.mechanism.points[:, :, 0].mean(axis=1)
    arm, turn = motion.rotation @ middle, motion.angular_velocity
    there = true["linear"] + np.cross(true["angular"], arm) + np.cross(turn, np.cross(turn, arm))
    size = np.maximum(_length(there), length * _length(true["angular"])).astype(float)
    sizes = {"linear": np.maximum(size, _length(true["linear"])), "angular": size / length}
    off = [_length(apart[name]) / np.where(sizes[name], sizes[name], 1) for name in ours]
    return np.where(lost, np.inf, np.max(off, axis=0).astype(float))


def _length(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt((vectors * vectors).sum(axis=-1))
