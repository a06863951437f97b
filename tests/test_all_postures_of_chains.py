"""All postures of planar and spherical robots of chains, beside solvers of their own.

Five-bar: two circles about the elbows, in closed form. Planar 3-RRR: three circles about elbows; the
roots of a function of the platform's turn, bracketed on a fine grid. Spherical 3-RRR: Newton on
quaternions from many starts.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from cases.command import run
from gough import Robot
from gough.analysis.postures import postures
from gough.base.arrays import Array
from gough.errors import InputError

Z = [0.0, 0.0, 1.0]


def revolute(point: Array, axis: Any = Z, actuated: bool = False) -> dict[str, Any]:
    place = [*np.asarray(point).tolist(), 0.0][:3]
    return {"type": "revolute", "point": place, "axis": list(axis), "actuated": actuated}


def robot(name: str, home: Any, legs: list[list[dict[str, Any]]]) -> Robot:
    every = [{"kind": "chain", "joints": joints} for joints in legs]
    return Robot.from_dict({"format": 1, "name": name, "home": {"position": home}, "legs": every})


def turned(angle: float) -> Array:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def elbow(motor: Array, at_home: Array, q: float) -> Array:
    return np.asarray(motor + turned(q) @ (at_home - motor))


def test_five_bars_have_both_intersections_of_two_circles() -> None:
    rng = np.random.default_rng(1)
    motors, tip = np.array([[-0.2, 0.0], [0.2, 0.0]]), np.array([0.02, 0.5])
    elbows = np.array([[-0.4, 0.25], [0.45, 0.2]])
    legs = [
        [revolute(motors[0], actuated=True), revolute(elbows[0])],
        [revolute(motors[1], actuated=True), revolute(elbows[1]), revolute(tip)],
    ]
    five_bar = robot("five-bar", [*tip, 0.0], legs)
    lengths = np.linalg.norm(tip - elbows, axis=1)
    found_counts = []
    for q in rng.uniform(-1.6, 1.6, (20, 2)):
        first, second = (elbow(*each) for each in zip(motors, elbows, q, strict=True))
        away = second - first
        far = np.linalg.norm(away)
        along = (lengths[0] ** 2 - lengths[1] ** 2 + far**2) / (2 * far)
        height = lengths[0] ** 2 - along**2
        wanted = np.zeros((0, 2))
        if height > 0:
            across = np.array([-away[1], away[0]]) / far
            middle = first + along * away / far
            wanted = middle + np.sqrt(height) * np.array([[-1.0], [1.0]]) * across
        found = postures(five_bar, q)
        assert found.method == "complete"
        assert found.complex_count == 2
        assert found.coverage is None
        key = np.lexsort([wanted[:, 0], wanted[:, 1]])
        assert_allclose(found.motion.position[:, :2], wanted[key], rtol=0, atol=1e-9)
        assert_allclose(
            five_bar.inverse_kinematics(found.motion).q,
            np.tile(q, (len(wanted), 1)),
            rtol=0,
            atol=1e-9,
        )
        found_counts.append(len(wanted))
    assert {0, 2} == set(found_counts)


def random_planar(rng: Generator) -> tuple[Robot, Array, Array, Array]:
    """A planar 3-RRR, its motors, elbows at home and points of the platform (3, 2)."""
    ring = np.array([0.0, 2.1, 4.2])[:, np.newaxis] + rng.uniform(-0.3, 0.3, (3, 1))
    around = np.concatenate([np.cos(ring), np.sin(ring)], axis=1)
    motors = around * rng.uniform(0.5, 0.7, (3, 1))
    points = around[[1, 2, 0]] * rng.uniform(0.1, 0.25, (3, 1))
    elbows = (motors + points) / 2 + rng.normal(scale=0.15, size=(3, 2))
    legs = [
        [revolute(m, actuated=True), revolute(e), revolute(p)]
        for m, e, p in zip(motors, elbows, points, strict=True)
    ]
    return robot("planar", [0.0, 0.0, 0.0], legs), motors, elbows, points


def circles(elbows: Array, points: Array, lengths: Array) -> Array:
    """Poses (k, 3), x y and turn, of a platform with points on three circles.

    Of two circles the place follows from the turn, in two ways; the third is a function of the turn.
    """

    def place(angle: float, sign: float) -> Array:
        # |p − c_i| = l_i with c_i = e_i − R b_i, i = 1, 2
        centres = elbows - points @ turned(angle).T
        away = centres[1] - centres[0]
        far = np.linalg.norm(away)
        along = (lengths[0] ** 2 - lengths[1] ** 2 + far**2) / (2 * far)
        height = np.sqrt(lengths[0] ** 2 - along**2)
        across = np.array([-away[1], away[0]]) / far
        return np.asarray(centres[0] + along * away / far + sign * height * across)

    def off(angle: float, sign: float) -> float:
        with np.errstate(invalid="ignore"):
            tip = place(angle, sign) + turned(angle) @ points[2]
        return float(np.sum((tip - elbows[2]) ** 2) - lengths[2] ** 2)

    grid = np.linspace(-np.pi, np.pi, 1441)
    found = []
    for sign in (-1.0, 1.0):
        values = np.array([off(angle, sign) for angle in grid])
        for i in np.flatnonzero(values[:-1] * values[1:] < 0):
            angle = brentq(off, grid[i], grid[i + 1], (sign,), xtol=1e-14)
            found.append([*place(angle, sign), angle])
    return np.array(found).reshape(-1, 3)


def test_planar_robots_have_all_crossings_of_three_circles() -> None:
    rng = np.random.default_rng(4)
    counts = []
    for _ in range(6):
        planar, motors, elbows, points = random_planar(rng)
        lengths = np.linalg.norm(points - elbows, axis=1)
        q = rng.uniform(-0.6, 0.6, 3)
        moved = np.array([elbow(*each) for each in zip(motors, elbows, q, strict=True)])
        wanted = circles(moved, points, lengths)
        found = postures(planar, q)
        assert found.method == "complete"
        assert found.complex_count == 6
        turn = Rotation.from_matrix(found.motion.rotation).as_rotvec()[:, 2]
        poses = np.concatenate([found.motion.position[:, :2], turn[:, np.newaxis]], axis=1)
        # the grid may step over two roots in one cell; what it finds must be there
        gaps = np.linalg.norm(wanted[:, np.newaxis] - poses, axis=-1)
        assert gaps.min(axis=1, initial=np.inf).max(initial=0.0) < 1e-7
        assert len(poses) == len(wanted)
        counts.append(len(poses))
    assert max(counts) >= 4


def test_spherical_robots_have_all_that_newton_finds_from_many_starts() -> None:
    rng = np.random.default_rng(2)
    counts = []
    for _ in range(6):
        axes = rng.normal(size=(3, 3, 3))
        axes /= np.linalg.norm(axes, axis=-1, keepdims=True)  # (legs, joints, 3)
        legs = [[revolute(0.3 * a, a, k == 0) for k, a in enumerate(each)] for each in axes]
        wrist = robot("wrist", [0.0, 0.0, 0.0], legs)
        q = rng.uniform(-0.4, 0.4, 3)
        fixed = np.einsum(
            "lij,lj->li",
            Rotation.from_rotvec(q[:, np.newaxis] * axes[:, 0]).as_matrix(),
            axes[:, 1],
        )
        carried, cosine = axes[:, 2], np.sum(axes[:, 1] * axes[:, 2], axis=1)
        turn = Rotation.random(400, rng=rng)
        for _ in range(30):  # fixed·R carried = cosine
            now = np.einsum("nij,lj->nli", turn.as_matrix(), carried)
            gap = cosine - np.sum(now * fixed, axis=-1)
            step = (np.linalg.pinv(np.cross(now, fixed)) @ gap[..., np.newaxis])[..., 0]
            step *= 0.5 / np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 0.5)
            turn = Rotation.from_rotvec(step) * turn
        now = np.einsum("nij,lj->nli", turn.as_matrix(), carried)
        met = np.abs(cosine - np.sum(now * fixed, axis=-1)).max(axis=1) < 1e-12
        flat = np.round(turn.as_matrix()[met].reshape(-1, 9), 6)
        wanted = np.unique(flat, axis=0)
        found = postures(wrist, q)
        assert found.method == "complete"
        assert found.complex_count == 8
        gaps = np.linalg.norm(wanted[:, np.newaxis] - found.motion.rotation.reshape(-1, 9), axis=-1)
        assert gaps.min(axis=1, initial=np.inf).max(initial=0.0) < 1e-5
        assert len(found.motion) == len({tuple(np.round(row, 4) + 0.0) for row in wanted})
        counts.append(len(wanted))
    assert max(counts) >= 4


def tripod() -> Robot:
    """A 3-RPS: no plane, no centre."""
    legs = []
    for turn in (0.0, 2.1, 4.2):
        foot = np.array([np.cos(turn), np.sin(turn), 0.0])
        ball = 0.5 * foot + [0, 0, 1.0]
        hinge = {"type": "revolute", "point": foot.tolist(), "axis": [-foot[1], foot[0], 0.0]}
        slide = {"type": "prismatic", "axis": (ball - foot).tolist(), "actuated": True}
        legs.append([hinge, slide, {"type": "spherical", "point": ball.tolist()}])
    return robot("tripod", [0.0, 0.0, 1.0], legs)


def test_a_search_says_found_and_gives_no_percentage(tmp_path: Any) -> None:
    with pytest.raises(InputError, match="planar or spherical chains"):
        postures(tripod(), [0.0, 0.0, 0.0], method="complete")
    path = tmp_path / "tripod.toml"
    tripod().save(path)
    said = " ".join(run("postures", path).stdout.split())
    assert "postures found" in said
    assert "there may be others" in said
    assert "%" not in said
    assert set(json.loads(run("postures", path, "--json").stdout)["coverage"]) == {
        "starts",
        "hits",
        "found",
    }


def test_a_posture_with_a_singular_leg_counts() -> None:
    """Axes of legs that are 120° apart: turned so far about z each elbow axis meets the next leg's.

    With q = 0 both the identity and this turn keep fixed·R carried = cosine for all legs.
    """
    axes = np.array([[np.sqrt(2), 0, -1], [0.5, np.sqrt(0.75), 0], [np.sqrt(2), 0, 1]])
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    third = Rotation.from_rotvec([0, 0, 2 * np.pi / 3]).as_matrix()
    legs = np.stack([axes, axes @ third.T, axes @ third])
    cosine = np.sum(legs[:, 1] * legs[:, 2], axis=1)
    assert_allclose(np.sum(legs[:, 1] * (legs[:, 2] @ third.T), axis=1), cosine, atol=1e-12)
    every = [[revolute(0.3 * a, a, k == 0) for k, a in enumerate(each)] for each in legs]
    found = postures(robot("agile wrist", [0.0, 0.0, 0.0], every), [0.0, 0.0, 0.0])
    assert found.method == "complete"
    turns = Rotation.from_matrix(found.motion.rotation).as_rotvec()
    assert_allclose(turns[np.argsort(turns[:, 2])], [[0, 0, 0], [0, 0, 2 * np.pi / 3]], atol=1e-5)
