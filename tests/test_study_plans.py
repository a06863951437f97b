"""Plans of studies: points that stay, files that are refused, measures of each robot."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gough
from cases.common import few_states
from cases.errors import refusal
from cases.studies import BASE, SWEEP
from gough.analysis.stiffness import stiffness
from gough.analysis.workspace import workspace
from gough.errors import FileError, InputError
from gough.studies.measures import MEASURES
from gough.studies.plan import make_plan
from gough.studies.sampling import Variable, draw

pytestmark = few_states

# points


def test_points_come_from_the_seed():
    varied = [Variable(low=1.0, high=3.0), Variable(normal=0.5, mean=2.0), Variable(values=(1, 5))]
    for kind in ("random", "latin hypercube"):
        points = draw(kind, varied, 4000, 7)
        assert_array_equal(points, draw(kind, varied, 4000, 7))
        assert not np.array_equal(points, draw(kind, varied, 4000, 8))
        assert_allclose(points.mean(axis=0), [2, 2, 3], atol=0.1)
        assert_allclose(points[:, 1].std(), 0.5, atol=0.03)
        assert set(points[:, 2]) == {1.0, 5.0}
        assert points[:, 0].min() >= 1
        assert points[:, 0].max() <= 3
    # a Latin hypercube has one point in every row and column
    points = draw("latin hypercube", [Variable(low=0.0, high=1.0)] * 3, 100, 1)
    assert_array_equal(
        np.sort(np.floor(100 * points), axis=0), np.repeat(np.arange(100.0)[:, np.newaxis], 3, 1)
    )


def test_grids_are_full():
    axes = [Variable(low=0.0, high=1.0, steps=3), Variable(values=(5.0, 7.0))]
    axes.append(Variable(low=2.0, high=8.0, steps=1))
    points = draw("grid", axes, None, 0)
    assert points.shape == (6, 3)
    assert len(np.unique(points, axis=0)) == 6
    assert set(points[:, 2]) == {5.0}
    assert points[:3, :2].tolist() == [[0, 5], [0, 7], [0.5, 5]]
    assert draw("grid", [*axes, *[Variable(values=(1.0,))] * 70], None, 0).shape == (6, 73)
    with refusal(InputError, "sampling", "points", 10, 12, 1, 10000000):
        draw("grid", [Variable(low=0.0, high=1.0, steps=10**7)] * 1000, None, 0)
    ratio = Variable(low=1.0, high=100.0, steps=3, log=True).grid()
    assert_allclose(ratio, [1, 10, 100])


# plans


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"platform.mass"', '"platform.maas"', ("platform.maas",)),
        ('"platform.mass"', '"platform.mass[1]"', ("brackets",)),
        ('"platform.mass"', '"legs.base[1][x]"', ("unknown", "key")),
        ('"platform.mass"', '"legs.platform[9][x]"', (9,)),
        ('"platform.mass"', '"legs.platform[0]"', (0,)),
        ('"platform.mass"', '"legs.kind"', ("number",)),
        ('"platform.mass"', '"legs..mass"', ("key",)),
        ("from = 8, to = 14", "from = 14, to = 8", ("empty", "range")),
        ("from = 8, to = 14", "from = 8", ()),
        ("from = 8, to = 14", "values = []", ("values", "empty")),
        ("from = 8, to = 14", "from = 8, to = nan", ("finite",)),
        ("from = 8, to = 14", "frm = 8, to = 14", ("nearest", "known")),
        ('= "l"', '= "l +"', ("l +", "legs.length")),
        ('= "l"', '= "k"', ("k",)),
        ('= "l"', '= "__import__(1)"', ("unknown", "function")),
        ('= "l"', '= ["l", 1]', ("shape",)),
        ('= "l"', "= 0.9", ("l",)),
        ('"peak_force * stroke"', '"peak_fource"', ("peak_force",)),
        ("cost =", "stroke =", ("taken",)),
        ('["peak_force", "stroke"]', '["peak_fource"]', ("peak_fource",)),
        ('["peak_force", "stroke"]', '["peak_torque"]', ("drive",)),
        ("latin hypercube", "latin", ("sampling.kind",)),
        ("points = 400", "points = 0", ("points",)),
        ("points = 400", "", ("points",)),
        ("circle-40rpm", "circle-4rpm", ("nearest",)),
        ("kim-ryu-2002/circle-40rpm", "path.csv", ("path.csv",)),
        ('robot = "kim-ryu-2002"', 'robot = "nobody"', ("nobody",)),
        ("samples = 5", "samples = 5\nspeed = 3", ("speed", "unknown", "key")),
        ("[sampling]", "[smapling]", ("nearest", "known")),
        ("[results]", '[tolerances]\n"legs.axes" = { normal = 1 }\n[results]', ("legs.axes",)),
        ("seed = 3", "seed = 99999999999999999999999", ("seed",)),
    ],
)  # fmt: skip
def test_bad_study_files_are_refused_before_anything_runs(old, new, message):
    text = SWEEP.format(points=400)
    assert old in text
    with refusal(FileError, *message) as caught:
        make_plan(text.replace(old, new, 1))
    assert str(caught.value).startswith("study: ")
    assert "\n" not in str(caught.value)


def test_hostile_files(tmp_path):
    for text in ("[" * 5000, "a = 1" * 3, "robot = " + "9" * 5000, "\x00", "[set]\n"):
        with pytest.raises(FileError):
            make_plan(text)


def test_places_of_a_robot_file():
    text = (
        BASE
        + """
measures = ["stroke"]
[sampling]
[variables]
a = { values = [0.01, 0.02] }
"legs.platform[2][y]" = { values = [0.03, 0.04] }
[set]
"legs.platform[*][z]" = "a"
"platform.inertia[3][3]" = "2 * a"
"legs.rotor_mass" = "100 * a"
"legs.slider.mass[4]" = 7
"""
    )
    plan = make_plan(text)
    points = plan.draw()
    assert points.shape == (4, 2)
    kim = gough.load("kim-ryu-2002")
    robot = plan.robot(points[3])
    there = np.array(robot.file.legs.platform)
    expected = np.array(kim.file.legs.platform)
    expected[:, 2], expected[1, 1] = 0.02, 0.04
    assert_array_equal(there, expected)
    assert robot.file.platform.inertia[2][2] == 0.04
    assert_array_equal(robot.file.legs.rotor_mass, [2.0] * 6)
    assert_array_equal(robot.description.legs.slider.mass[:, 0], [*[0.9971] * 3, 7, *[0.9971] * 2])
    # and the batch has the same robots
    outcome = plan.evaluator(points)
    motion = plan.recipe.motions[0]
    for point, row in zip(points, outcome.values, strict=True):
        q = plan.robot(point).inverse_kinematics(motion).q
        assert_allclose(row[0], np.ptp(q, axis=0).max(), rtol=1e-12)


def test_numbers_that_no_batch_knows_are_changed_file_by_file():
    payload = {"platform.payload": [{"mass": 1.0, "center_of_mass": [0, 0, 0.1]}]}
    robot = gough.load("kim-ryu-2002").edited(payload)
    text = (
        BASE
        + """
measures = ["peak_force", "mass"]
[sampling]
[variables]
"platform.payload[1].mass" = { from = 1, to = 3, steps = 3 }
"home.position[z]" = { values = [0.8] }
"""
    )
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        robot.save(Path(folder) / "loaded.toml")
        plan = make_plan(text.replace('kim-ryu-2002"\nm', 'loaded.toml"\nm'), folder)
        assert not plan.evaluator.numbers.fast
        outcome = plan.evaluator(plan.draw())
        assert outcome.reasons == ("", "", "")
        light = plan.robot(plan.draw()[0])
    assert_allclose(np.diff(outcome.values[:, 1]), 1.0)
    forces = light.inverse_dynamics(plan.recipe.motions[0]).forces
    assert_allclose(outcome.values[0, 0], abs(forces).max(), rtol=1e-12)


def test_measures_are_those_of_each_robot_alone():
    text = (
        BASE
        + """
[sampling]
kind = "random"
points = 3
[variables]
"platform.mass" = { from = 8, to = 14 }
[tolerances]
"legs.rail_origin" = { normal = 1e-3 }
"platform.center_of_mass" = { uniform = 1e-2 }
[drive]
lead = 0.01
efficiency = 0.9
rotor_inertia = 1e-4
"""
    )
    from gough.sizing import Drive, size

    plan = make_plan(text)
    assert set(plan.columns) == set(MEASURES) - {"workspace"}
    assert len(plan.inputs) == 1 + 18 + 3
    points = plan.draw()
    outcome = plan.evaluator(points)
    motion = plan.recipe.motions[0]
    for point, row in zip(points, outcome.values, strict=True):
        robot = plan.robot(point)
        found = dict(zip(plan.columns, row, strict=True))
        worst = size(robot, motion, Drive(0.01, 0.9, rotor_inertia=1e-4)).worst()
        for name, value in found.items():
            if name in worst:
                assert_allclose(value, worst[name], rtol=1e-9, err_msg=name)
        assert_allclose(found["condition"], robot.condition_number(motion).max(), rtol=1e-9)
        principal, _ = stiffness(robot, motion, 1.0, preload=False).principal()
        assert_allclose(found["stiffness"], principal.min(), rtol=1e-9)
        legs = robot.description.legs
        mass = robot.platform.mass + sum(one.mass.sum() for one in (legs.slider, legs.link))
        assert_allclose(found["mass"], mass)


@pytest.mark.second_tier
def test_workspaces_are_measured_one_robot_after_the_other():
    text = (
        BASE
        + """
measures = ["workspace", "stroke"]
[sampling]
[variables]
"legs.length" = { values = [0.8, 0.9] }
"""
    )
    plan = make_plan(text)
    assert not plan.evaluator.together
    outcome = plan.evaluator(plan.draw())
    for length, (volume, _) in zip((0.8, 0.9), outcome.values, strict=True):
        found = workspace(gough.load("kim-ryu-2002").edited({"legs.length": length}))
        assert_allclose(volume, found.volume, rtol=0.03)


def test_forces_of_a_robot_without_masses_are_refused_at_once():
    text = SWEEP.format(points=10).replace('"kim-ryu-2002"', '"dietmaier-1998"', 1)
    with refusal(FileError, "masses"):
        make_plan(text)
