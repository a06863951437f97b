"""Limits: `robot.check` names the leg, the limit, the moment and the excess."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import gough
from cases.common import each_shape
from cases.errors import refusal
from gough import Motion, Robot
from gough.errors import MissingDataError, ReachError
from oracles.random_robot import random_robot

KIM = gough.load("kim-ryu-2002")


def swing(samples=101):
    """Kim's platform up and down once, turning a little, 2 s."""
    t = np.linspace(0, 2, samples)
    s, sd, sdd = np.sin(np.pi * t), np.pi * np.cos(np.pi * t), -(np.pi**2) * np.sin(np.pi * t)
    up, turn = np.array([0.02, 0.01, 0.05]), np.array([0.0, 0.0, 0.1])
    return Motion(
        KIM.home.position + np.outer(s, up),
        Rotation.from_rotvec(np.outer(s, turn)),
        np.outer(sd, up),
        np.outer(sd, turn),
        np.outer(sdd, up),
        np.outer(sdd, turn),
        time=t,
    )


def limited(robot=KIM, **limits):
    """The robot with these limits in place of its own."""
    lines = robot.text.splitlines()
    lines = [line for line in lines if not line.startswith(("stroke", "[legs.limits]"))]
    return Robot.from_text("\n".join(lines)).edited(
        {f"legs.limits.{key}": value for key, value in limits.items()}
    )


def test_a_motion_within_all_limits():
    report = KIM.check(swing())
    assert report
    assert report.ok
    assert report.violations == ()
    assert str(report) == "within all limits"
    assert limited().check(Motion([0, 0, 0.9])).ok  # no limits, no complaints


@pytest.mark.parametrize("end", ["longest", "shortest"])
def test_stroke_at_both_ends(end):
    motion = swing()
    q = KIM.inverse_kinematics(motion).q
    leg, strokes = 3, np.tile([-1.0, 2.0], (6, 1))
    if end == "longest":
        worst, bound = np.argmax(q[:, leg]), q[:, leg].max() - 0.003
        strokes[leg, 1], over = bound, np.sum(q[:, leg] > bound)
    else:
        worst, bound = np.argmin(q[:, leg]), q[:, leg].min() + 0.003
        strokes[leg, 0], over = bound, np.sum(q[:, leg] < bound)
    report = limited(stroke=strokes).check(motion)
    assert not report
    (violation,) = report.violations
    assert (violation.leg, violation.limit, violation.samples) == (leg + 1, "stroke", over)
    assert violation.sample == (worst,)
    assert violation.time == motion.time[worst]
    assert violation.value == pytest.approx(q[worst, leg], abs=1e-15)
    assert violation.allowed == pytest.approx(bound, abs=1e-15)
    assert violation.excess == pytest.approx(0.003, abs=1e-15)


def test_both_ends_of_one_leg_are_two_violations():
    motion = swing()
    q = KIM.inverse_kinematics(motion).q[:, 0]
    narrow = np.tile([-1.0, 2.0], (6, 1))
    narrow[0] = np.quantile(q, [0.2, 0.8])
    found = limited(stroke=narrow).check(motion).violations
    assert [one.leg for one in found] == [1, 1]
    assert {one.value > one.allowed for one in found} == {True, False}
    excess = [q.max() - narrow[0, 1], narrow[0, 0] - q.min()]
    assert_allclose([one.excess for one in found], excess, rtol=1e-12)


def test_speed_counts_in_both_directions():
    motion = swing()
    qd = KIM.inverse_kinematics(motion).qd
    fastest = np.abs(qd).max(axis=0)
    report = limited(speed=0.75 * fastest.max()).check(motion)
    legs = np.flatnonzero(fastest > 0.75 * fastest.max())
    assert [one.leg for one in report.violations] == list(legs + 1)
    for one in report.violations:
        assert one.limit == "speed"
        assert one.value == pytest.approx(fastest[one.leg - 1], rel=1e-3)  # between samples, too
        assert one.excess == pytest.approx(one.value - 0.75 * fastest.max())
        assert abs(qd[one.sample][one.leg - 1]) == pytest.approx(one.value, rel=1e-3)
        assert one.samples == np.sum(np.abs(qd[:, one.leg - 1]) > one.allowed)


def test_force_counts_with_friction_and_wrench():
    motion, wrench = swing(), np.array([30.0, 0, 0, 0, 0, 0])
    forces = np.abs(KIM.inverse_dynamics(motion).forces)
    allowed = float(forces.max() + 1)
    robot = limited(force=allowed)
    assert robot.check(motion)
    pushed = np.abs(KIM.inverse_dynamics(motion, wrench).forces)
    assert pushed.max() > allowed
    found = robot.check(motion, wrench).violations
    assert {one.limit for one in found} == {"force"}
    largest = max(found, key=lambda one: one.excess)
    sample, leg = np.unravel_index(np.argmax(pushed), pushed.shape)
    assert largest.leg == leg + 1
    assert abs(largest.sample[0] - sample) <= 1  # it may be worst between two samples
    assert pushed.max() - allowed <= largest.excess < 1.01 * (pushed.max() - allowed)


def test_universal_angle_is_that_of_the_leg_in_the_world():
    motion = swing()
    now = KIM.inverse_kinematics(motion).direction
    home = KIM.inverse_kinematics(KIM.home).direction
    angles = np.arccos(np.clip(np.sum(now * home, axis=-1), -1, 1))
    allowed = 0.9 * angles.max()
    found = limited(universal_angle=allowed).check(motion).violations
    assert [one.leg for one in found] == list(np.flatnonzero(angles.max(axis=0) > allowed) + 1)
    for one in found:
        assert one.limit == "universal_angle"
        assert one.value == pytest.approx(angles[:, one.leg - 1].max(), abs=1e-7)
        assert one.excess == pytest.approx(one.value - allowed)


def test_spherical_angle_is_that_of_the_leg_in_the_platform():
    """Turned about a tip, that leg stays put in the world and leans in the platform."""
    data = random_robot(np.random.default_rng(0), "UPS")
    robot = Robot.from_dict(data)
    leg, angle = 2, 0.21
    direction = robot.inverse_kinematics(robot.home).direction[leg]
    axis = np.cross(direction, [1.0, 0.2, 0.1])
    turn = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis))
    arm = robot.home.rotation @ data["legs"]["platform"][leg]
    pose = Motion(
        robot.home.position + arm - turn.apply(arm), turn.as_matrix() @ robot.home.rotation
    )
    unlimited = [9.0] * 6
    tight = [9.0] * leg + [0.2] + [9.0] * (5 - leg)
    data["legs"]["limits"] = {"universal_angle": tight, "spherical_angle": unlimited}
    assert Robot.from_dict(data).check(pose)
    data["legs"]["limits"] = {"universal_angle": unlimited, "spherical_angle": tight}
    (violation,) = Robot.from_dict(data).check(pose).violations
    assert (violation.leg, violation.limit) == (leg + 1, "spherical_angle")
    assert violation.value == pytest.approx(angle, abs=1e-12)
    assert violation.excess == pytest.approx(0.01, abs=1e-12)
    assert violation.sample == ()
    assert violation.time is None


def test_a_small_angle_is_measured_as_such():
    robot = limited(universal_angle=1e-12)
    assert robot.check(robot.home)
    found = robot.check(Motion([0, 1e-9, 0.8])).violations
    assert found
    for one in found:
        assert 1e-11 < one.value < 2e-9


@each_shape
def test_batches(shape):
    positions = np.broadcast_to(KIM.home.position, (*shape, 3))
    q = KIM.inverse_kinematics(KIM.home).q
    found = limited(stroke=[-1.0, float(q.max()) - 0.01]).check(Motion(positions)).violations
    samples = int(np.prod(shape))
    if not samples:
        assert found == ()
        return
    over = np.flatnonzero(q > q.max() - 0.01)
    assert [one.leg for one in found] == list(over + 1)
    for one in found:
        assert one.samples == samples
        assert len(one.sample) == len(shape)
        assert one.excess == pytest.approx(q[one.leg - 1] - q.max() + 0.01)


def test_the_report_reads():
    motion = swing()
    robot = limited(speed=0.01)
    lines = str(robot.check(motion)).splitlines()
    assert len(lines) == 6
    violation = robot.check(motion).violations[4]
    assert lines[4] == str(violation)
    for words in (
        "leg 5",
        "speed",
        "m/s",
        f"{violation.allowed:.6g}",
        f"t = {violation.time:.6g} s",
    ):
        assert words in lines[4]
    assert "sample (3,)" in str(violation._replace(time=None, sample=(3,)))


def test_limits_never_stop_a_model():
    robot = limited(stroke=[5.0, 6.0], force=1e-3, speed=1e-3, universal_angle=1e-3)
    robot = robot.edited({"legs.limits.spherical_angle": 1e-3})
    motion = swing()
    assert_allclose(robot.inverse_kinematics(motion).q, KIM.inverse_kinematics(motion).q)
    assert_allclose(robot.inverse_dynamics(motion).forces, KIM.inverse_dynamics(motion).forces)
    found = robot.check(motion).violations
    limits = {"stroke", "force", "speed", "universal_angle", "spherical_angle"}
    assert {(one.leg, one.limit) for one in found} == {
        (leg, limit) for leg in range(1, 7) for limit in limits
    }


def test_what_check_cannot_know_it_says():
    with refusal(ReachError, "leg 1"):
        KIM.check(Motion([0, 0, 5.0]))
    homeless = Robot.from_text(
        limited(universal_angle=0.1).text.replace("home = { position = [0, 0, 0.80] }", "")
    )
    with refusal(MissingDataError, "home"):
        homeless.check(Motion([0, 0, 0.8]))
    massless = gough.load("dietmaier-1998").edited({"legs.limits.force": 10.0})
    with refusal(MissingDataError, "masses"):
        massless.check(massless.home)


def test_samples_out_of_reach_are_listed_where_asked_for(on_numpy):
    robot = gough.load("sinatra-xi-staicu-2009")
    up = np.array([[0.0, 0, 0], [0, 0, 5], [0, 0, 0.01]])
    motion = gough.Motion(robot.home.position + up)
    with pytest.raises(gough.errors.ReachError):
        robot.check(motion)
    report = robot.check(motion, on_error="nan")
    assert not report.ok
    assert [one.sample for one in report.unanswered] == [(1,)]
    assert "1 sample without an answer" in str(report)
    assert robot.check(motion[[0, 2]], on_error="nan").ok
    with refusal(gough.errors.InputError, "on_error"):
        robot.check(motion, on_error="ignore")
