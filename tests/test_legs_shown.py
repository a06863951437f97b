"""What a kind of leg says about itself to people: its shape, its names, its units."""

import io
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

import gough
from cases.common import DIETMAIER, KIM, LONG, each_kind, each_shape
from gough.data.datasets import force_dataset, leg_dataset
from gough.legs.register import KINDS
from gough.legs.units import LINEAR, ROTARY
from gough.model.places import alike, bodies, ground, placed_legs
from gough.show import plots
from gough.show.pictures.views import home_bars
from gough.show.report.result import result_page
from gough.show.report.robot import robot_page
from gough.show.sheets.robot import print_sheet
from gough.studio.curves import panels
from gough.studio.export import force_file
from gough.studio.record import record
from gough.studio.tables import actuator_table, summary


def load(name):
    with warnings.catch_warnings(action="ignore"):
        return gough.load(name)


@pytest.fixture(scope="module")
def rotary():
    """A robot whose kind of leg says that its actuators turn."""
    return turning(load(KIM))


def turning(robot):
    """The same robot with actuators in rad and N m."""
    groups = [
        group._replace(actuators=tuple(one._replace(units=ROTARY) for one in group.actuators))
        for group in robot.description.groups
    ]
    return replace(robot, description=robot.description._replace(groups=tuple(groups)))


@pytest.fixture(scope="module")
def motion(rotary):
    return gough.trajectories.Circle(rotary.home.position, 0.1, rpm=60).sample(9)


@each_shape
@pytest.mark.parametrize("name", [KIM, LONG, DIETMAIER])
def test_bodies_reach_from_joint_to_joint(name, shape):
    robot = load(name)
    shift = 0.01 * np.random.default_rng(0).normal(size=(*shape, 3))
    motion = gough.Motion(robot.home.position + shift, robot.home.rotation)
    now, then = (
        placed_legs(robot, one, robot.inverse_kinematics(one)) for one in (motion, robot.home)
    )
    joints = now[0].places
    found = [bar for _, bar in bodies(now, then, 1.0)]
    assert {one.name for one in found} <= {*robot.mechanism.legs.BODIES}
    assert sum(one.colored for one in found) == 1
    for one in found:
        assert one.start.shape == one.end.shape == one.seen.shape == (*shape, robot.leg_count, 3)
    carried = next(one for one in found if one.name == robot.leg_kind.words.carried)
    np.testing.assert_allclose(carried.start, joints.points[..., 0, :], atol=1e-12)
    gaps = [np.linalg.norm(one.end - joints.tips, axis=-1) for one in found]
    assert np.all(np.min(gaps, axis=0) < 1e-12)


@pytest.mark.parametrize("name", [KIM, LONG, DIETMAIER])
def test_sheets_list_keys_of_the_robot_file(name):
    robot = load(name)
    kind, legs = robot.leg_kind, robot.description.legs
    listed = kind.shape.dimensions(legs)
    assert {one.key for one in listed if not one.derived} <= {*kind.keys.model_fields}
    assert [one.key for one in listed if one.derived] == (["khalil"] if name == LONG else [])
    assert [one.key for one in listed if one.point] == [kind.place]
    q = robot.inverse_kinematics(robot.home).q
    assert ground(robot, q).shape == (robot.leg_count, 2, 3)
    assert alike(robot)[0].name == kind.name
    assert kind.shape.feet(legs).shape == (robot.leg_count, 3)


@each_kind
def test_every_kind_names_its_joints(kind):
    kind = KINDS[kind]
    words = kind.words
    assert len(words.joints) == len(words.joint_units)
    assert {*words.passive} < {*words.joints}
    assert words.c_notes["joints"].startswith(", ".join(words.joint_units))
    assert words.carried in words.c_notes["universal"]
    actuated = [
        unit for name, unit in zip(words.joints, words.joint_units, strict=True)
        if name not in words.passive
    ]  # fmt: skip
    assert actuated == [kind.units.q]
    assert kind.units in (LINEAR, ROTARY)


def test_a_table_of_forces_has_a_row_per_sample_and_actuator(rotary, motion):
    forces = force_dataset(rotary, motion, rotary.inverse_dynamics(motion))
    assert len(forces.to_dataframe()) == len(motion) * rotary.actuator_count
    full = force_dataset(
        rotary, motion, rotary.inverse_dynamics(motion), reactions=rotary.reactions(motion)
    )
    assert {*full.coords} >= {"actuator", "leg", "axis"}
    legs = leg_dataset(rotary, motion, rotary.inverse_kinematics(motion))
    assert {*legs.coords} >= {"actuator", "leg", "axis", "joint"}


def test_datasets_have_the_units_of_the_actuators(rotary, motion):
    legs = leg_dataset(rotary, motion, rotary.inverse_kinematics(motion))
    assert [legs[name].attrs["units"] for name in ("q", "q_rate", "q_acceleration")] == [
        "rad",
        "rad/s",
        "rad/s2",
    ]
    forces = force_dataset(
        rotary, motion, rotary.inverse_dynamics(motion), rotary.contributions(motion)
    )
    assert forces["force"].attrs["units"] == forces["force_gravity"].attrs["units"] == "N m"
    page = result_page(legs.merge(forces, combine_attrs="drop_conflicts")).html()
    assert "longest q [rad]" in page
    assert "peak force [N m]" in page
    assert "[N]" not in page


def test_pictures_sheets_and_pages_have_them_too(rotary, motion):
    actuators = rotary.actuators
    legs, needed = rotary.inverse_kinematics(motion), rotary.inverse_dynamics(motion)
    split = rotary.contributions(motion)
    figures = [
        plots.leg_curves(motion, legs, actuators=actuators),
        plots.force_curves(motion, needed, actuators=actuators),
        plots.contribution_curves(motion, split, actuators=actuators),
    ]
    labels = [axes.get_ylabel() for figure in figures for axes in figure.axes]
    assert labels[:4] == [
        "$q$ [rad]",
        r"$\dot q$ [rad/s]",
        r"$\ddot q$ [rad/s²]",
        r"$\Gamma$ [N m]",
    ]
    assert all(label.endswith("[N m]") for label in labels[5:])
    bars = home_bars(rotary, legs.q[0], needed.forces[0])
    assert [axes.get_xlabel()[-6:] for axes in bars.axes] == [" [rad]", " [N m]"]
    text = io.StringIO()
    print_sheet(rotary, Console(file=text, width=120))
    assert re.search(r"stroke +\S+ to \S+ rad\n", text.getvalue())
    page = robot_page(rotary).html()
    assert "q [rad]" in page
    assert "holding force [N m]" in page


def test_limits_and_the_studio_have_them_too(rotary, motion):
    limited = rotary.edited({"legs.limits.force": 1.0})
    limited = turning(limited)
    assert " N m past 1 N m" in str(limited.check(rotary.home))
    shown = record(rotary, motion)
    assert "q [rad]" in actuator_table(shown, 0)
    assert "Γ [N m]" in actuator_table(shown, 0)
    assert "N m</b>" in summary(shown, 0)
    assert "force [N m]" in panels(shown)
    head = force_file(shown).decode().splitlines()[0]
    assert "q1_rate [rad/s]" in head
    assert "force1 [N m]" in head
