"""The studio without a browser: what is shown for a state, a setting, a pose."""

import numpy as np
import pytest

import gough
from cases.common import DIETMAIER, KIM
from cases.errors import refusal
from gough.errors import InputError
from gough.show.layout import SceneLayout, start_pose, upward
from gough.studio.curves import panels
from gough.studio.export import force_file
from gough.studio.levels import Level, condition_level, level, used_parts, worst
from gough.studio.pose import jogged, pose_of, ranges, values_of
from gough.studio.record import record
from gough.studio.setup import StudioSetup
from gough.studio.tables import (
    actuator_table,
    banner,
    limit_table,
    load_table,
    state_level,
    summary,
)
from gough.studio.units import SI, WORKSHOP


@pytest.fixture(scope="module")
def limited(kim):
    return kim.edited(
        {
            "legs.limits.force": 50.0,
            "legs.limits.speed": 0.5,
            "legs.limits.universal_angle": 0.5,
            "legs.limits.spherical_angle": [0.5, 0.5, np.pi, 0.5, 0.5, 0.5],
        }
    )


def test_levels():
    assert [level(used) for used in (None, np.nan, 0.5, 0.9, 1.0, 1.01)] == [
        Level.FREE,
        Level.UNKNOWN,
        Level.GOOD,
        Level.NEAR,
        Level.NEAR,
        Level.PAST,
    ]
    assert condition_level(3.0) is Level.GOOD
    assert condition_level(500.0) is Level.NEAR
    assert condition_level(np.inf) is Level.PAST
    assert worst([Level.GOOD, Level.NEAR, Level.FREE]) is Level.NEAR
    assert worst([]) is Level.FREE


def test_used_parts_of_limits():
    q = np.array([[1.0, 1.5, 2.0, 2.1]])
    longest, shortest = np.array([2.0, 2.0, 2.0, np.inf]), np.array([1.0, 1.0, 1.0, 1.0])
    found = used_parts(
        {
            "stroke": (q, longest),
            "shortest stroke": (-q, -shortest),
            "force": (np.array([[5.0, 10.0, 0.0, 4.0]]), np.array([10.0, 10.0, np.inf, 0.0])),
        }
    )
    np.testing.assert_allclose(found["stroke"], [[1.0, 0.0, 1.0, 1 - 1.1]])
    np.testing.assert_allclose(found["force"], [[0.5, 1.0, -np.inf, np.inf]])
    assert used_parts({}) == {}


def test_a_record_agrees_with_the_robot_and_its_limits(limited):
    motion = gough.trajectories.Circle(limited.home.position, 0.1, rpm=60).sample(41)
    shown = record(limited, motion)
    act = limited.inverse_dynamics(motion)
    np.testing.assert_array_equal(shown.forces, act.forces)
    np.testing.assert_allclose(shown.power, act.power, rtol=1e-12)
    np.testing.assert_allclose(shown.used["force"], np.abs(act.forces) / 50.0)
    past = {(one.leg - 1, one.limit) for one in limited.check(motion).violations}
    found = {
        (leg, name)
        for name, parts in shown.used.items()
        for leg in range(6)
        if (parts[:, leg] > 1).any()
    }
    assert found == past != set()
    assert not shown.troubles
    react = limited.reactions(motion)
    np.testing.assert_allclose(shown.loads["guide"], np.linalg.norm(react.guide, axis=-1))


def test_a_record_of_one_pose_and_of_none(kim):
    assert len(record(kim, kim.home)) == 1
    none = record(kim, gough.Motion(np.zeros((0, 3))))
    assert len(none) == 0
    assert none.forces.shape == (0, 6)


def test_out_of_reach_is_a_trouble_not_an_error(kim):
    shown = record(kim, gough.Motion([[0, 0, 0.8], [5, 0, 0.8]]))
    assert list(shown.reached) == [True, False]
    assert "out of reach" in shown.troubles[1]
    assert np.isnan(shown.forces[1]).all()
    assert "–" in actuator_table(shown, 1)
    assert "–" in summary(shown, 1)


def test_a_robot_without_masses_shows_its_geometry():
    robot = gough.load(DIETMAIER)
    shown = record(robot, robot.home)
    assert shown.forces is None
    assert "masses" in shown.note
    assert "Γ" not in actuator_table(shown, 0)
    assert "masses" in load_table(shown, 0)
    assert panels(shown).keys() == {"q [m]"}
    with refusal(InputError, "masses"):
        force_file(shown)


def test_tables_say_and_paint_what_is_past_a_limit(limited):
    shown = record(limited.edited({"legs.limits.force": 45.46}), limited.home)
    html = actuator_table(shown, 0)
    assert html.count(Level.PAST.background) == 2  # legs 2 and 5 at home: 45.473 N
    assert html.count(Level.NEAR.background) == 4
    assert "−45.5" in html
    assert state_level(shown, 0) is Level.PAST
    table = limit_table(shown, 0)
    assert table.count("<tr>") == 1 + len(shown.used) == 6
    assert "100 %" in table


def test_what_a_file_says_is_no_html():
    assert "<script>" not in banner("<script>alert(1)</script>")
    assert banner("") == ""


def test_settings_change_the_forces_as_the_file_would(kim):
    plain = StudioSetup.of(kim)
    assert plain.apply(kim) is kim
    loaded = StudioSetup((0.0, 0.0, 4.0), payload=5.0, payload_place=(0.01, 0.0, 0.02)).apply(kim)
    same = kim.edited(
        {
            "gravity": [0, 0, 4.0],
            "platform.payload": [{"mass": 5.0, "center_of_mass": [0.01, 0, 0.02]}],
        }
    )
    motion = gough.trajectories.Circle(kim.home.position, 0.1, rpm=60).sample(5)
    np.testing.assert_array_equal(
        loaded.inverse_dynamics(motion).forces, same.inverse_dynamics(motion).forces
    )
    assert (
        np.abs(loaded.inverse_dynamics(motion).forces - kim.inverse_dynamics(motion).forces).max()
        > 1
    )
    with refusal(InputError, "negative"):
        StudioSetup((0, 0, 0), payload=-1.0).apply(kim)


def test_a_flexible_platform_takes_no_payload_but_can_be_rigid(long):
    down = StudioSetup.of(long).gravity
    with refusal(InputError, "flexible"):
        StudioSetup(down, payload=1.0).apply(long)
    stiff = StudioSetup(down, payload=1.0, flexible=False).apply(long)
    assert stiff.modes == 0
    assert abs(stiff.platform.mass - long.platform.mass - 1.0) < 1e-9


def test_sliders_and_poses_are_the_same_thing():
    robot = gough.load(DIETMAIER)  # its home is turned by more than a right angle
    home = start_pose(robot)
    assert values_of(robot, home)[3:] == pytest.approx([0, 0, 0], abs=1e-9)
    values = np.array([0.1, -0.2, 0.3, 10.0, -20.0, 30.0])
    np.testing.assert_allclose(values_of(robot, pose_of(robot, values)), values, atol=1e-9)
    assert pose_of(robot, np.zeros((3, 1, 2, 6))).shape == (3, 1, 2)


def test_a_jog_turns_about_the_pivot_and_moves_along_either_axes(kim):
    pivot = np.array([0.05, 0.0, 0.1])
    pose = jogged(kim, kim.home, np.array([0, 0, 0, 0.1, 0.2, 0]), pivot)
    held = [one.position + one.rotation @ pivot for one in (kim.home, pose)]
    np.testing.assert_allclose(held[1], held[0], atol=1e-15)
    assert np.linalg.norm(pose.position - kim.home.position) > 0.01
    step = np.array([0.01, 0, 0, 0, 0, 0])
    along = jogged(kim, pose, step, pivot, platform_axes=True).position - pose.position
    np.testing.assert_allclose(along, 0.01 * pose.rotation[:, 0], atol=1e-15)
    np.testing.assert_allclose(jogged(kim, pose, step, pivot).position - pose.position, step[:3])


def test_numbers_in_millimetres_and_degrees(kim):
    shown = record(kim, kim.home)
    assert "q [mm]" in actuator_table(shown, 0, WORKSHOP)
    assert f"{1e3 * shown.q[0, 0]:.1f}" in actuator_table(shown, 0, WORKSHOP)
    assert WORKSHOP.shown("rad/s") == ("°/s", pytest.approx(180 / np.pi), 2)
    assert WORKSHOP.shown("N m") == ("N m", 1.0, 0)
    assert SI.shown("m/s") == ("m/s", 1.0, 0)


def test_slider_ends_can_be_reached(kim):
    low, high = ranges(kim, SceneLayout.of(kim).size)
    middle = values_of(kim, kim.home)
    assert (low < middle).all()
    assert (middle < high).all()
    for k in range(6):
        for end in (low, high):
            values = middle.copy()
            values[k] += 0.98 * (end[k] - middle[k])
            assert kim.check(pose_of(kim, values)).ok


def test_without_a_home_a_pose_is_guessed():
    robot = gough.load(KIM)
    text = "\n".join(line for line in robot.text.splitlines() if not line.startswith("home"))
    homeless = gough.Robot.from_text(text)
    assert homeless.description.home is None
    assert start_pose(homeless).shape == ()
    assert upward(homeless) @ homeless.description.gravity < 0
