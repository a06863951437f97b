"""Forward kinematics in C: the pose that gough finds, or a code that says there is none."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import gough
from cases.common import few_states, impossible_bodies
from cases.errors import refusal
from cases.exported import COMPILER, Exported, run
from gough.exchange.c import export_c
from gough.exchange.c.counts import worst_case
from gough.mechanics.state import RIGID_FIELDS

pytestmark = [
    impossible_bodies,
    few_states,
    pytest.mark.usefixtures("on_numpy"),
    pytest.mark.skipif(COMPILER is None, reason="no C compiler (gcc or cc) on this machine"),
]
NAMES = ("x", "y", "z", "rx", "ry", "rz")
HEALTHY, DOUBTFUL, NOT_CONVERGED = range(3)


class Finder(Exported):
    """An exported robot's forward kinematics, called through ctypes."""

    def pose(self, q, guess, steps=12):
        """Status, position, rotation."""
        fields = {name: getattr(guess, name) for name in RIGID_FIELDS}
        if self.robot.mechanism.legs.coordinates:
            whole = np.concatenate([np.ravel(fields[name]) for name in RIGID_FIELDS])
            fields = dict.fromkeys(RIGID_FIELDS, np.zeros(0))
            fields["position"] = np.concatenate([whole, self.robot.chains_of(guess)])
        status, answer = self("forward_kinematics", fields, q, steps)
        return status, answer[:3], answer[3:12].reshape(3, 3)


def finder(name, folder, **options):
    return Finder(gough.load(name), folder, programs=["forward_kinematics"], **options)


def around(robot, size, count=40):
    """Poses that the platform can have."""
    draws = np.random.default_rng(2).uniform(-size, size, (count, 6))
    home, length = robot.home, robot.length_scale
    if robot.mobility == 6:
        turn = Rotation.from_rotvec(draws[:, 3:]).as_matrix() @ home.rotation
        return gough.Motion(home.position + length * draws[:, :3], turn)
    given = [NAMES.index(name) for name in robot.coordinates]
    start = np.concatenate([home.position, np.zeros(3)])
    return robot.motion((start + draws * np.repeat([length, 1], 3))[:, given])


@pytest.mark.parametrize(
    "name", ["dietmaier-1998", "sinatra-xi-staicu-2009", "pollen-reachy-mini-2025",
             "alikoc-delta-2023", "shyam-heliostat-2017"],
)  # fmt: skip
def test_the_pose_is_the_one_that_q_came_from(name, tmp_path):
    one = finder(name, tmp_path / "c")
    wanted = around(one.robot, 0.1)
    q = one.robot.inverse_kinematics(wanted).q
    for i, motion in enumerate(wanted):
        status, position, rotation = one.pose(q[i], one.robot.home)
        assert status == HEALTHY
        assert_allclose(position, motion.position, rtol=0, atol=1e-9)
        assert_allclose(rotation, motion.rotation, rtol=0, atol=1e-9)
        assert np.abs(rotation.T @ rotation - np.eye(3)).max() < 1e-14
    assert one.pose(q[0], one.robot.home, 2)[0] == NOT_CONVERGED
    assert one.pose(q[0], wanted[0], 1)[0] == HEALTHY


def test_what_has_no_pose_is_refused(tmp_path):
    one = finder("dietmaier-1998", tmp_path / "c")
    home, q = one.robot.home, one.robot.inverse_kinematics(one.robot.home).q
    short = q.copy()
    short[0] = 1e-3 * q[0]
    assert one.pose(short, home)[0] != HEALTHY
    for bad in (np.nan, np.inf, 1e200, -1.0):
        wrong = q.copy()
        wrong[2] = bad
        assert one.pose(wrong, home)[0] != HEALTHY
    with pytest.raises(gough.errors.GoughError):
        one.robot.forward_kinematics(short, home)


def test_a_pose_on_the_other_branch_is_refused(tmp_path):
    one = finder("alikoc-delta-2023", tmp_path / "c")
    robot = one.robot
    q = robot.inverse_kinematics(robot.home).q
    mirrored = gough.Motion(robot.home.position * [1, 1, -1], robot.home.rotation)
    status = one.pose(q, mirrored)[0]
    with pytest.raises(gough.errors.SampleError):
        robot.forward_kinematics(q, mirrored)
    assert status != HEALTHY


def test_in_single_precision(tmp_path):
    one = finder("pollen-reachy-mini-2025", tmp_path / "c", real="float")
    wanted = around(one.robot, 0.1, 10)
    q = one.robot.inverse_kinematics(wanted).q
    for i, motion in enumerate(wanted):
        status, position, rotation = one.pose(q[i], one.robot.home)
        assert status == HEALTHY
        assert_allclose(position, motion.position, rtol=0, atol=2e-6)
        assert_allclose(rotation, motion.rotation, rtol=0, atol=2e-5)


def test_a_robot_with_too_few_actuators_has_none(tmp_path):
    robot = gough.load("shyam-heliostat-2017").edited(
        {"legs.0.joints.1.actuated": [True, True, False], "legs.0.joints.1.force": 1500}
    )
    with refusal(gough.errors.InputError, "many", "actuators"):
        export_c(robot, tmp_path / "c", programs=["forward_kinematics"])
    header = export_c(robot, tmp_path / "c", programs=["jacobian"]) / "gough_shyam_heliostat_2017.h"
    assert "forward_kinematics" not in header.read_text()


def test_the_header_counts_operations(tmp_path):
    robot = gough.load("alikoc-delta-2023")
    header = (export_c(robot, tmp_path / "c") / "gough_alikoc_delta_2023.h").read_text()
    assert header.count("Worst case") == header.count("int gough_alikoc")
    assert "Worst case with GOUGH_ALIKOC_DELTA_2023_STEPS:" in header
    assert worst_case({}) == "Worst case: no operations."


ARM = shutil.which("arm-linux-gnueabihf-gcc")
QEMU = shutil.which("qemu-arm") or shutil.which("qemu-arm-static")


@pytest.mark.second_tier
@pytest.mark.skipif(ARM is None, reason="no cross compiler (Debian's gcc-arm-linux-gnueabihf)")
@pytest.mark.skipif(QEMU is None, reason="no emulator of ARM (Debian's qemu-user)")
@pytest.mark.parametrize(
    ("name", "real"), [("alikoc-delta-2023", "double"), ("alikoc-delta-2023", "float"),
                       ("shyam-heliostat-2017", "float")],
)  # fmt: skip
def test_on_a_32_bit_arm(name, real, tmp_path):
    folder = gough.load(name).export_c(tmp_path / "c", real=real)
    flags = "CFLAGS=-O1 -static"
    built = run("make", "-s", "-C", folder, f"CC={ARM}", flags, "LDFLAGS=-static", "all")
    assert built.returncode == 0, built.stderr
    (program,) = (path for path in folder.glob("test_*") if not path.suffix)
    ran = run(QEMU, program)
    assert ran.returncode == 0, ran.stdout
    assert "forward_kinematics " in ran.stdout
