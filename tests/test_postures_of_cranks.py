"""All postures of locked cranks are listed, whichever way links lean.

The truth: rods of known length from crank ends to platform points, solved by SciPy from random starts.
"""

import json

import numpy as np
import pytest
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation

from cases.command import run
from gough import Motion, Robot
from gough.analysis.postures import postures
from oracles.random_robot import random_robot

pytestmark = pytest.mark.usefixtures("on_numpy")


def cranks(seed):
    """A random rotary hexapod, crank angles of a pose, and what its rods lack at poses."""
    data = random_robot(np.random.default_rng(seed), "RUS")
    robot = Robot.from_dict(data)
    pose = Motion(robot.home.position + np.array([0.02, -0.03, 0.02]), robot.home.rotation)
    q = robot.inverse_kinematics(pose).q
    legs = {
        key: np.array(data["legs"][key], float)
        for key in ("motor", "motor_axis", "crank_zero", "platform", "crank_length", "length")
    }
    axis = legs["motor_axis"] / np.linalg.norm(legs["motor_axis"], axis=1, keepdims=True)
    zero = legs["crank_zero"] - np.sum(legs["crank_zero"] * axis, axis=1, keepdims=True) * axis
    zero /= np.linalg.norm(zero, axis=1, keepdims=True)
    arm = np.cos(q)[:, None] * zero + np.sin(q)[:, None] * np.cross(axis, zero)
    anchor = legs["motor"] + np.broadcast_to(legs["crank_length"], 6)[:, None] * arm

    def missing(position, rotation):
        tips = position[..., None, :] + legs["platform"] @ np.swapaxes(rotation, -1, -2)
        return np.linalg.norm(tips - anchor, axis=-1) - legs["length"]

    return robot, q, missing


@pytest.mark.parametrize("seed", [0, 3])
def test_all_postures_of_the_rods_are_there(seed):
    robot, q, missing = cranks(seed)
    modes = robot.assembly_modes(q)
    assert np.abs(missing(modes.position, modes.rotation)).max() < 1e-9
    rng = np.random.default_rng(seed)
    size, met = robot.leg_size, []
    for _ in range(300):
        start = np.concatenate(
            [robot.home.position + rng.normal(size=3) * size, 2 * rng.normal(size=3)]
        )
        x, _, ok, _ = fsolve(
            lambda x: missing(x[:3], Rotation.from_rotvec(x[3:]).as_matrix()),
            start,
            full_output=True,
        )
        if ok == 1:
            place, turn = x[:3], Rotation.from_rotvec(x[3:]).as_matrix()
            off = np.abs(modes.position - place).max(axis=-1)
            off += np.abs(modes.rotation - turn).max(axis=(-2, -1))
            assert off.min() < 1e-5
            met.append(int(np.argmin(off)))
    assert len(set(met)) > 1
    found = postures(robot, q)
    assert len(modes) == len(found.motion) + len(found.other_branch)
    # a leg is on the file's branch where inverse kinematics finds the locked crank
    own = robot.inverse_kinematics(modes, on_error="nan").q
    same = np.abs(np.exp(1j * own) - np.exp(1j * q)) < 1e-6
    known = np.isfinite(own).all(axis=1)
    legs = np.concatenate([np.zeros((len(found.motion), 6), dtype=bool), found.other_legs])
    np.testing.assert_array_equal(~same[known], legs[known])
    assert same[: len(found.motion)].all()


def test_the_command_lists_every_branch(tmp_path):
    robot, q, _ = cranks(0)
    path = tmp_path / "six.toml"
    path.write_text(robot.text, "utf-8")
    found, words = postures(robot, q), ",".join(map(repr, q.tolist()))
    assert len(found.other_branch) > 0
    shown = run("postures", path, f"--q={words}").stdout
    count = len(found.motion) + len(found.other_branch)
    assert f"{count} postures" in shown
    assert "other branch" in shown
    answer = json.loads(run("postures", path, f"--q={words}", "--json").stdout)
    assert [one["legs"] for one in answer["other_branch"]] == [
        (np.flatnonzero(one) + 1).tolist() for one in found.other_legs
    ]
