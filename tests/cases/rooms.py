"""Room to move and clamped poses beside `check`, which alone decides here what is allowed.

A pose is allowed where `check` finds it within all limits, and where det of the actuators' unit forces
on the platform, from `jacobian` and `motion`, is over a thousandth of that at home: what is less, or
beyond, is a singularity, of which `check` says nothing.

    python -m cases.rooms room|clamp POSES [robots…]      from tests/
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

import gough
from gough.errors import GoughError

CLOSE = 1e-9
"""m or rad: how near to the end of a room `check` is asked, on both sides."""
NEAR_SINGULAR = 1e-3
DOUBT = 1e-6
"""Of that: determinants near the end of a leg's reach come from differences."""
AT_REACH = 2e-6
"""Sizes of legs: how much nearer a pose has to be to count; models refuse the last of a leg's reach."""
PART, SLOW = 50, 3
"""Poses at a time: of hexapods, and of robots whose poses are solved for, or flexible."""
COORDINATES = ("x", "y", "z", "rx", "ry", "rz")
GIVEN: dict[str, dict[str, float]] = {
    "kim-ryu-2002": {"universal_angle": 0.6},
    "sinatra-xi-staicu-2009": {},
    "pollen-reachy-mini-2025": {},
    "plaza-hexaglide-2019": {"stroke": 0.25, "spherical_angle": 0.5},
    "dietmaier-1998": {"stroke": 0.4},
    "long-khalil-martinet-2014": {"stroke": 0.3, "force": 1.6},
    "eight legs": {"stroke": 0.3, "force": 2.0},
    "alikoc-delta-2023": {"stroke": 0.8, "force": 2.0},
    "chablat-orthoglide-2003": {},
    "shyam-heliostat-2017": {},
    "ferrandiz-3ups-rpu-2021": {},
    "shah-3rrr-2012": {"stroke": 0.8},
    "zoppi-exechon-2010": {"stroke": 0.2},
}
"""Limits besides those of the file. Strokes: either way from home, in rad or shares of q there; forces:
in shares of the largest that holds the robot at home; angles: rad."""


def limited_robot(name: str) -> gough.Robot:
    """A robot of the catalogue, or one with eight legs, with limits."""
    plain = eight_legs() if name == "eight legs" else gough.load(name)
    given, limits = GIVEN[name], plain.limits
    if "stroke" in given:
        q = plain.inverse_kinematics(plain.home).q
        turning = [one.units.turns for one in plain.actuators]
        way = given["stroke"] * np.where(turning, 1.0, np.abs(q).max())
        limits = limits._replace(shortest=q - way, longest=q + way)
    if "force" in given:
        still = plain.static_deflection(plain.home) if plain.modes else plain.home
        holding = np.abs(plain.inverse_dynamics(still).forces).max()
        limits = limits._replace(force=np.full(plain.actuator_count, given["force"] * holding))
    for key in ("universal_angle", "spherical_angle"):
        if key in given:
            limits = limits._replace(**{key: np.full(plain.leg_count, given[key])})
    return replace(plain, description=plain.description._replace(limits=limits))


def eight_legs() -> gough.Robot:
    """More legs than freedoms."""
    feet, tips = (
        np.deg2rad(angles)
        for angles in (
            [-15, 15, 75, 105, 165, 195, 255, 285],
            [-35, 35, 55, 125, 145, 215, 235, 305],
        )
    )
    base, platform = (
        (size * np.stack([np.cos(one), np.sin(one), 0 * one], axis=1)).tolist()
        for size, one in ((0.8, feet), (0.4, tips))
    )
    return gough.Robot.from_dict(
        {
            "format": 1,
            "name": "eight legs",
            "home": {"position": [0, 0, 1.0]},
            "legs": {
                "kind": "UPS",
                "base": base,
                "platform": platform,
                "cross": {},
                "cylinder": {"mass": 5, "center_of_mass": [0, -0.3, 0]},
                "rod": {"mass": 2, "center_of_mass": [0, 0, -0.3]},
            },
            "platform": {"mass": 80, "inertia": np.diag([5.0, 5.0, 9.0]).tolist()},
        }
    )


class Judge:
    """What is allowed, by `check` and the Jacobian alone."""

    def __init__(self, robot: gough.Robot) -> None:
        self.robot = robot
        # where chains hold the platform, rows of the Jacobian are free in directions in which nothing
        # moves, and determinants of unit rows with them
        held = robot.mobility < 6 and robot.mechanism.legs.coordinates > 0
        self.square = robot.actuator_count == robot.mobility and not held
        self.home = self._determinant(robot.home)

    def _determinant(self, pose: gough.Motion) -> float:
        robot = self.robot
        if not self.square:
            return 1.0
        rows = robot.jacobian(pose)[:, :6]
        legs = [one.leg for one in robot.actuators]
        arms = (pose.rotation @ robot.description.platform_points[..., 0]).T[legs]
        couple = rows[:, 3:] - np.cross(arms, rows[:, :3])
        size = np.sum(rows[:, :3] ** 2, axis=1) + np.sum(couple**2, axis=1) / robot.length_scale**2
        rows = rows / np.sqrt(size)[:, np.newaxis]
        if robot.mobility < 6:
            m = robot.mobility
            own = np.broadcast_to(own_values(robot, pose), (m, m))
            moving = robot.motion(own, np.eye(m), guess=pose)
            twists = np.concatenate([moving.velocity, moving.angular_velocity], axis=1)
            rows = rows @ twists.T
        return float(np.linalg.det(rows))

    def exceeded(self, pose: gough.Motion, side: float = -1.0) -> set[tuple[int | None, str]]:
        """Leg and limit of all that a pose exceeds; (None, "reach") and (None, "singularity")."""
        try:
            found = {(one.leg, one.limit) for one in self.robot.check(pose).violations}
            if self._determinant(pose) / self.home < NEAR_SINGULAR * (1 + side * DOUBT):
                found.add((None, "singularity"))
        except GoughError:
            return {(None, "reach")}
        return found

    def allows(self, pose: gough.Motion) -> bool:
        """Whether a pose is allowed."""
        return not self.exceeded(pose)


def own_values(robot: gough.Robot, pose: gough.Motion) -> np.ndarray:
    """A pose (...) in the robot's own coordinates (..., m)."""
    turn = Rotation.from_matrix(pose.rotation @ robot.home.rotation.T).as_rotvec()
    whole = np.concatenate([pose.position, turn], axis=-1)
    return whole[..., [COORDINATES.index(name) for name in robot.coordinates]]


def random_poses(robot: gough.Robot, count: int, rng: np.random.Generator, spread: float):
    """About home, most of them within limits at a spread of 1."""
    if robot.mobility == 6:
        turn = Rotation.from_rotvec(spread * 0.2 * rng.normal(size=(count, 3)))
        return gough.Motion(
            robot.home.position + spread * 0.25 * robot.length_scale * rng.normal(size=(count, 3)),
            turn * Rotation.from_matrix(robot.home.rotation),
        )
    sizes = [0.15 if name.startswith("r") else 0.1 * robot.leg_size for name in robot.coordinates]
    found = robot.motion(
        own_values(robot, robot.home)
        + spread * np.array(sizes) * rng.normal(size=(2 * count, robot.mobility)),
        on_error="nan",
    )
    return found[np.flatnonzero(np.isfinite(found.position).all(axis=1))[:count]]


def displaced(robot: gough.Robot, pose: gough.Motion, by: np.ndarray) -> gough.Motion:
    """A pose shifted and turned about world axes by (6,) m and rad, or in its own coordinates (m,)."""
    if robot.mobility < 6:
        return robot.motion(own_values(robot, pose) + by, guess=pose)
    turn = Rotation.from_rotvec(by[3:]).as_matrix()
    return gough.Motion(pose.position + by[:3], turn @ pose.rotation)


def wrong_rooms(
    robot: gough.Robot, poses: gough.Motion, rng: np.random.Generator, ways: int
) -> Iterator[str]:
    """A random few of the ways of each room that `check` contradicts, in words.

    Random places on the way are allowed, up to `CLOSE` before its end; `CLOSE` behind it is not, because
    of the leg and limit that the room names.
    """
    judge, found = Judge(robot), robot.room(poses)
    names = COORDINATES if robot.mobility == 6 else robot.coordinates
    for i, pose in enumerate(poses):
        for way in rng.permutation(len(found.directions))[:ways]:
            direction, far, end = found.ends((i,))[way]
            step = np.zeros(len(names))
            step[names.index(direction[1:])] = 1.0 if direction[0] == "+" else -1.0
            said = _wrong_way(robot, judge, pose, step, far, end, rng)
            if said:
                yield f"pose {i} {direction} {far:.9g} ({end}): {said}"


def _wrong_way(robot, judge, pose, step, far, end, rng) -> str:
    """What is wrong with the end of a way; "" where nothing is."""
    if far == 0:
        return "is allowed" if judge.allows(pose) else ""
    if not np.isfinite(far):
        far, end = 1.0, None
    for share in (*rng.uniform(0, 1, 12), 1 - CLOSE / max(far, CLOSE)):
        try:
            over = judge.exceeded(displaced(robot, pose, share * far * step))
        except GoughError:
            over = {(None, "reach")}
        if over:
            return f"{over} at {share:.6f} of it"
    if end is None or (end.limit == "singularity" and not judge.square):
        return ""
    try:
        over = judge.exceeded(displaced(robot, pose, (far + CLOSE) * step), 1.0)
    except GoughError:
        over = {(None, "reach")}
    named = {end.limit if end.limit in ("reach", "singularity") else (end.leg, end.limit)}
    seen = {limit if limit in ("reach", "singularity") else (leg, limit) for leg, limit in over}
    if not seen:
        return "is allowed behind it"
    # what cannot be reached cannot be compared: a singularity of a leg itself is out of reach too
    return (
        "" if named & seen or (named <= {"singularity", "reach"} and "reach" in seen) else f"{seen}"
    )


def wrong_clamps(
    robot: gough.Robot, poses: gough.Motion, rng: np.random.Generator
) -> Iterator[str]:
    """Clamped poses that `check` contradicts, in words.

    They are allowed, those wished for where these are, and no pose nearer to the wish is: not on the way
    from the clamped one to the wish, not where bisection on the way from home to the wish ends, nor at
    0.97 of the distance in random directions, half of them about that of the clamped one.
    """
    judge, found = Judge(robot), robot.clamp(poses)
    lengths = np.array(
        [robot.length_scale if name.startswith("r") else 1.0 for name in _names(robot)]
    )
    for i, wish in enumerate(poses):
        own, far = found.motion[i], float(found.distance[i])
        if not judge.allows(own):
            yield f"pose {i}: {judge.exceeded(own)} where it is clamped"
        fine = judge.allows(wish)
        if far > 0 and found.reason((i,)).limit == "singularity" and not judge.square:
            continue
        if fine != (far == 0):
            yield f"pose {i}: {far} m off where {judge.exceeded(wish)}"
        if fine:
            continue
        back = _difference(robot, wish, own)
        if abs(np.linalg.norm(lengths * back) - far) > 1e-9:
            yield f"pose {i}: {far} m is {np.linalg.norm(lengths * back)} m"
        tried = [(1 - share) * back for share in (1e-3, 1e-2, 0.1, 0.5)]
        tried.append(_from_home(robot, judge, wish))
        unit = lengths * back / far
        for turned in (0.0, 0.1, 1.0):
            some = (
                turned * rng.normal(size=(4, len(back))) / np.sqrt(len(back)) + (turned < 1) * unit
            )
            some *= 0.97 * far / np.linalg.norm(some, axis=1, keepdims=True)
            tried += list(some / lengths)
        for by in tried:
            try:
                nearer = np.linalg.norm(lengths * by) < far - AT_REACH * robot.leg_size
                if nearer and judge.allows(displaced(robot, wish, by)):
                    yield f"pose {i}: {np.linalg.norm(lengths * by):.6g} m will do, not {far:.6g} m"
                    break
            except GoughError:
                continue


def _names(robot: gough.Robot) -> tuple[str, ...]:
    return COORDINATES if robot.mobility == 6 else robot.coordinates


def _difference(robot: gough.Robot, one: gough.Motion, other: gough.Motion) -> np.ndarray:
    """By which `displaced` makes one pose the other."""
    if robot.mobility < 6:
        return own_values(robot, other) - own_values(robot, one)
    turn = Rotation.from_matrix(other.rotation @ one.rotation.T).as_rotvec()
    return np.concatenate([other.position - one.position, turn])


def _from_home(robot: gough.Robot, judge: Judge, wish: gough.Motion) -> np.ndarray:
    """A displacement of the wish towards home that is allowed, by bisection."""
    home = _difference(robot, wish, robot.home)
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        try:
            fine = judge.allows(displaced(robot, wish, (1 - middle) * home))
        except GoughError:
            fine = False
        low, high = (middle, high) if fine else (low, middle)
    return (1 - low) * home


def campaign(what: str, count: int, names: list[str]) -> int:
    """So many poses, robot after robot in parts, fewer of those that take long; the contradictions."""
    robots = [limited_robot(name) for name in names]
    asked, wrong = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    seed, start = 0, time.process_time()
    while sum(asked.values()) < count:
        for robot in robots:
            rng = np.random.default_rng([seed, len(robot.name)])
            own = PART if robot.mobility == 6 and not robot.modes else SLOW
            poses = random_poses(robot, own, rng, 1.0 if what == "room" else 2.0)
            found = (
                wrong_rooms(robot, poses, rng, 3)
                if what == "room"
                else wrong_clamps(robot, poses, rng)
            )
            for one in found:
                wrong[robot.name] += 1
                print(f"  {robot.name}, seed {seed}: {one}", flush=True)
            asked[robot.name] += len(poses)
        seed += 1
        print(
            f"{what}: {sum(asked.values())} poses, {sum(wrong.values())} contradicted, "
            f"{time.process_time() - start:.0f} s: {asked}",
            flush=True,
        )
    return sum(wrong.values())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    task, number, *chosen = sys.argv[1:]
    sys.exit(campaign(task, int(number), chosen or list(GIVEN)) > 0)
