"""Studies: formulas that are never executed, points that stay, results that no interruption changes."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from typer.testing import CliRunner

import gough
from dask_cluster import Cluster
from gough.analysis.stiffness import stiffness
from gough.analysis.workspace import workspace
from gough.cli.app import app
from gough.data.motion_files import write_motion
from gough.data.paper_motions import paper_motion
from gough.errors import FileError, GoughError, InputError
from gough.show.pictures.studies import front, overview
from gough.studies.formula import parse, parse_constraint
from gough.studies.measures import MEASURES
from gough.studies.optimise import NOT_ASKED, pareto
from gough.studies.plan import make_plan
from gough.studies.run import LostWorkersError, run
from gough.studies.sampling import Variable, draw
from gough.studies.store import Store, read_study

BASE = """
robot = "kim-ryu-2002"
motions = ["kim-ryu-2002/circle-40rpm"]
samples = 5
"""
SWEEP = (
    BASE
    + """
measures = ["peak_force", "stroke"]
friction = false
[sampling]
kind = "latin hypercube"
points = {points}
seed = 3
part = 50
[variables]
"platform.mass" = {{ from = 8, to = 14 }}
l = {{ from = 0.3, to = 1.0, unit = "m" }}
[set]
"legs.length" = "l"
[results]
cost = "peak_force * stroke"
"""
)
SEARCH = (
    BASE
    + """
measures = ["peak_force", "condition", "stroke"]
friction = false
[variables]
"legs.length" = { from = 0.3, to = 1.2 }
r = { from = 0.5, to = 1.5 }
[set]
"legs.platform[*][z]" = "0.1 * r"
[optimise]
minimise = ["peak_force"]
maximise = ["-condition"]
subject_to = ["stroke < 0.13", "r >= 0.6"]
population = 12
generations = 6
seed = 2
"""
)


def bits(store):
    """Everything that a store says."""
    return (
        store.all_inputs().tobytes(),
        store.group["values"][:].tobytes(),
        store.group["failed"][:].tolist(),
        store.group["seal"][:].tolist(),
    )


@pytest.fixture(scope="module")
def sweep():
    return make_plan(SWEEP.format(points=400))


@pytest.fixture(scope="module")
def whole(sweep, tmp_path_factory):
    """The study in one go."""
    return run(sweep, tmp_path_factory.mktemp("whole") / "s.zarr")


# formulas


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("2 ^ 3 ** 2", 512),
        ("-2 ^ 2", -4),
        ("2 ^ -1", 0.5),
        ("8 / 4 / 2", 1),
        ("1 - 2 - 3", -4),
        ("--x", 2),
        ("max(x, 3) + min(x, 1)", 4),
        ("atan2(1, 1) * 4 - pi", 0),
        ("sqrt(x * 8) + abs(-.5e1)", 9),
        ("cos(radians(60))", 0.5),
        (3, 3),
    ],
)
def test_formulas_say_what_arithmetic_says(text, value):
    formula = parse(text, ["x"])
    assert_allclose(formula({"x": np.float64(2)}), value, atol=1e-14)
    assert_allclose(formula({"x": np.full((3, 1), 2.0)}), np.full((3, 1), value), atol=1e-14) if (
        formula.names
    ) else None


HOSTILE = [
    "__import__('os').system('true')",
    "().__class__.__bases__[0]",
    "x.real",
    "x[0]",
    "lambda: 1",
    "exec(1)",
    "open(x)",
    "x if x else 1",
    "x := 3",
    "f'{x}'",
    "1; 2",
    "x\n= 3",
    "#",
    "",
    "   ",
    "1 +",
    "* 2",
    "(1",
    "1)",
    "1 2",
    "sin x",
    "sin()",
    "sin(1, 2)",
    "1e999",
    "x < 1",
    "ſin(1)",
    "²",
    "１",
    "nan",
    "inf",
    "(" * 500 + ")" * 499,
    "-" * 900 + "1",
    "2^" * 300 + "2",
    "1+" * 5000 + "1",
    True,
    None,
    [1],
    float("nan"),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(InputError):
        parse(text, ["x"])


def test_huge_powers_and_long_sums_are_just_numbers():
    assert np.isinf(parse("9^9^9^9", [])({}))
    assert parse("1+" * 499 + "1", [])({}) == 500
    assert np.isnan(parse("sqrt(0 - 1)", [])({}))


@settings(max_examples=150, deadline=None)
@given(
    st.text(alphabet="x1.e+-*/^(),<>= \tsincoprtqa_\"'[]{}λ\\#\0", max_size=60)
    | st.text(max_size=40)
)
def test_any_text_is_a_formula_or_a_clear_error(text):
    for reader in (parse, parse_constraint):
        try:
            made = reader(text, ["x"])
        except InputError:
            continue
        formula = made if reader is parse else made.excess
        assert formula({"x": np.ones(2)}).dtype == np.float64


@settings(max_examples=100, deadline=None)
@given(st.recursive(
    st.sampled_from(["x", "2.5", "0.125", "pi"]),
    lambda part: st.builds("({} {} {})".format, part, st.sampled_from("+-*"), part)
    | st.builds("-{}".format, part),
    max_leaves=12,
))  # fmt: skip
def test_formulas_agree_with_python(text):
    """Python's own reading of the same text, in the test only."""
    expected = eval(text, {"__builtins__": {}}, {"x": 1.75, "pi": np.pi})
    assert parse(text, ["x"])({"x": np.float64(1.75)}) == expected


@pytest.mark.parametrize(
    ("text", "good"), [("x < 3", [1, 0]), ("3 <= x", [0, 1]), ("x > 1 + 3", [0, 1])]
)
def test_constraints(text, good):
    excess = parse_constraint(text, ["x"]).excess({"x": np.array([2.0, 5.0])})
    assert_array_equal(excess <= 0, np.array(good, dtype=bool))
    with pytest.raises(InputError, match="comparison"):
        parse_constraint("x + 1", ["x"])


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
    ratio = Variable(low=1.0, high=100.0, steps=3, log=True).grid()
    assert_allclose(ratio, [1, 10, 100])


# plans


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"platform.mass"', '"platform.maas"', "unknown key platform.maas"),
        ('"platform.mass"', '"platform.mass[1]"', "brackets"),
        ('"platform.mass"', '"legs.base[1][x]"', "unknown key"),
        ('"platform.mass"', '"legs.platform[9][x]"', r"\[9\] is beyond"),
        ('"platform.mass"', '"legs.platform[0]"', r"\[0\] is none of"),
        ('"platform.mass"', '"legs.kind"', "is no number"),
        ('"platform.mass"', '"legs..mass"', "no key"),
        ("from = 8, to = 14", "from = 14, to = 8", "empty range"),
        ("from = 8, to = 14", "from = 8", "both from and to"),
        ("from = 8, to = 14", "values = []", "values is empty"),
        ("from = 8, to = 14", "from = 8, to = nan", "finite"),
        ("from = 8, to = 14", "frm = 8, to = 14", "nearest known key is from"),
        ('= "l"', '= "l +"', "legs.length: 'l \\+'"),
        ('= "l"', '= "k"', "unknown name 'k'"),
        ('= "l"', '= "__import__(1)"', "unknown function"),
        ('= "l"', '= ["l", 1]', "shape"),
        ('= "l"', "= 0.9", "variable 'l' is used in no formula"),
        ('"peak_force * stroke"', '"peak_fource"', "nearest known is peak_force"),
        ("cost =", "stroke =", "taken"),
        ('["peak_force", "stroke"]', '["peak_fource"]', "no measure 'peak_fource'"),
        ('["peak_force", "stroke"]', '["peak_torque"]', "needs a \\[drive\\]"),
        ("latin hypercube", "latin", "sampling.kind"),
        ("points = 400", "points = 0", "points"),
        ("points = 400", "", "needs points"),
        ("circle-40rpm", "circle-4rpm", "nearest"),
        ("kim-ryu-2002/circle-40rpm", "path.csv", "path.csv"),
        ('robot = "kim-ryu-2002"', 'robot = "nobody"', "nobody"),
        ("samples = 5", "samples = 5\nspeed = 3", "unknown key speed"),
        ("[sampling]", "[smapling]", "nearest known key is sampling"),
        ("[results]", '[tolerances]\n"legs.axes" = { normal = 1 }\n[results]', "unknown key legs.ax"),
        ("seed = 3", "seed = 99999999999999999999999", "seed"),
    ],
)  # fmt: skip
def test_bad_study_files_are_refused_before_anything_runs(old, new, message):
    text = SWEEP.format(points=400)
    assert old in text
    with pytest.raises(FileError, match=message) as caught:
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


# running


def test_points_that_fail_say_why_and_stop_nothing(sweep, whole):
    reasons = whole.group["failed"][:]
    failed = reasons != ""
    assert 0 < failed.sum() < 200
    values = whole.group["values"][:]
    assert_array_equal(np.isnan(values).all(axis=1), failed)
    assert np.isfinite(values[~failed]).all()
    assert all("leg" in reason for reason in reasons[failed])
    point = int(np.flatnonzero(failed)[0])
    robot = sweep.robot(whole.all_inputs()[point])
    with pytest.raises(GoughError):
        robot.inverse_kinematics(sweep.recipe.motions[0])


def test_numbers_that_make_no_robot_are_recorded():
    text = (
        BASE
        + """
measures = ["peak_force"]
[sampling]
[variables]
m = { values = [-5, 1, 10] }
g = { values = [0.1, 0.9] }
[set]
"legs.rotor_mass" = "m"
"platform.mass" = "log(10 - m) * 5 + 10"
"legs.length" = "g"
"""
    )
    plan = make_plan(text)
    outcome = plan.evaluator(plan.draw())
    assert "must be 0 or more" in outcome.reasons[0]
    assert "out of reach" in outcome.reasons[2] or "leg" in outcome.reasons[2]
    assert outcome.reasons[3] == ""
    assert outcome.reasons[4] == "platform.mass is not a finite number"


def test_an_interrupted_study_goes_on_and_ends_the_same(sweep, whole, tmp_path):
    class Stop(Exception):  # noqa: N818
        pass

    seen = []

    def told(done, total, failed):
        seen.append(done)
        assert total == 400
        if done >= 150 and len(seen) < 5:
            raise Stop

    with pytest.raises(Stop):
        run(sweep, tmp_path / "s.zarr", progress=told)
    half = Store(tmp_path / "s.zarr", sweep)
    assert half.finished.sum() == 3
    # a torn part is noticed and done again
    chunk = tmp_path / "s.zarr" / "values" / "1.0"
    chunk.write_bytes((tmp_path / "s.zarr" / "values" / "0.0").read_bytes())
    assert Store(tmp_path / "s.zarr", sweep).finished.sum() == 2
    seen[:] = [0] * 9
    store = run(sweep, tmp_path / "s.zarr", progress=told)
    assert seen[9] == 100
    assert store.finished.all()
    assert bits(store) == bits(whole)
    again = run(sweep, tmp_path / "s.zarr", progress=told)
    assert bits(again) == bits(whole)


def test_processes_give_the_same_bits(sweep, whole, tmp_path):
    store = run(sweep, tmp_path / "s.zarr", jobs=2)
    assert bits(store) == bits(whole)


def test_dask_survives_a_killed_worker_and_a_killed_scheduler(tmp_path):
    plan = make_plan(SWEEP.format(points=2000))
    killed = []

    def told(done, total, failed):
        if done >= 300 and not killed:
            cluster.workers[0].kill()
            killed.append("worker")
        if done >= 900 and len(killed) == 1:
            cluster.scheduler.kill()
            killed.append("scheduler")

    lost = pytest.raises(LostWorkersError, match="run the same command again")
    with Cluster(tmp_path, 2) as cluster, lost:
        run(plan, tmp_path / "s.zarr", scheduler=cluster.address, progress=told)
    assert killed == ["worker", "scheduler"]
    kept = Store(tmp_path / "s.zarr", plan)
    assert 18 <= kept.finished.sum() < 40
    sealed = kept.group["seal"][:]
    with Cluster(tmp_path, 1) as cluster:
        store = run(plan, tmp_path / "s.zarr", scheduler=cluster.address)
    assert store.finished.all()
    assert_array_equal(store.group["seal"][:][sealed != 0], sealed[sealed != 0])
    assert bits(store) == bits(run(plan, tmp_path / "one.zarr"))


def test_no_scheduler_is_an_error_in_time(sweep, tmp_path, monkeypatch):
    monkeypatch.setattr("gough.studies.dask_run.PATIENCE", 0.5)
    from gough.studies import dask_run

    with (
        pytest.raises(LostWorkersError, match="no Dask scheduler answers"),
        dask_run.dask_workers(sweep, "tcp://127.0.0.1:9", 0.5),
    ):
        pass
    with pytest.raises(InputError, match="give one of them"):
        run(sweep, tmp_path / "s.zarr", jobs=2, scheduler="tcp://127.0.0.1:9")


def test_another_study_in_the_folder_is_refused(sweep, whole, tmp_path):
    other = make_plan(SWEEP.format(points=400).replace("seed = 3", "seed = 4"))
    with pytest.raises(FileError, match="another study"):
        run(other, whole.path)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_text("miaow")
    with pytest.raises(FileError, match="not the folder of a study"):
        run(sweep, tmp_path / "photos")
    assert (tmp_path / "photos" / "cat.jpg").exists()
    with pytest.raises(FileError, match="does not exist"):
        run(sweep, tmp_path / "nowhere" / "s.zarr")
    with pytest.raises(FileError, match="not the folder of a study"):
        read_study(tmp_path / "photos")
    shutil.copytree(whole.path, tmp_path / "torn")
    shutil.rmtree(tmp_path / "torn" / "seal")
    with pytest.raises(FileError, match="damaged"):
        run(sweep, tmp_path / "torn")


def test_results_are_labelled(sweep, whole):
    import xarray

    dataset = read_study(whole.path)
    assert set(dataset) == {"platform.mass", "l", "peak_force", "stroke", "cost", "failed"}
    assert dataset["peak_force"].attrs["units"] == "N"
    assert dataset.attrs["finished"] == 1.0
    good = dataset.where(dataset["failed"] == "", drop=True)
    assert_allclose(good["cost"], good["peak_force"] * good["stroke"])
    plain = xarray.open_zarr(whole.path, consolidated=False)
    assert_array_equal(plain["values"].sel(quantity="stroke"), dataset["stroke"])
    assert overview(sweep, dataset).axes[0].get_ylabel() == "cost"


def test_a_motion_file_and_its_digest(tmp_path):
    motion = paper_motion("kim-ryu-2002/circle-40rpm").sample(5)
    write_motion(motion, tmp_path / "path.csv")
    text = SWEEP.format(points=10).replace("kim-ryu-2002/circle-40rpm", "path.csv")
    first = make_plan(text, tmp_path)
    assert first.digest == make_plan(text, tmp_path).digest
    write_motion(motion.replace(position=motion.position + 1e-9), tmp_path / "path.csv")
    assert first.digest != make_plan(text, tmp_path).digest


# searches


def test_a_search_is_seeded_resumes_and_holds_its_constraints(tmp_path):
    plan = make_plan(SEARCH)
    store = run(plan, tmp_path / "a.zarr")
    dataset = read_study(tmp_path / "a.zarr")
    best = pareto(plan, dataset)
    assert len(best) >= 3
    assert (dataset["stroke"].values[best] < 0.13).all()
    assert (dataset["r"].values[best] >= 0.6).all()
    force, condition = (dataset[name].values for name in ("peak_force", "condition"))
    asked = (dataset["failed"].values == "") & (dataset["stroke"].values <= 0.13)
    asked &= dataset["r"].values >= 0.6
    for point in np.flatnonzero(asked):
        beaten = (force[best] <= force[point]) & (condition[best] <= condition[point])
        assert beaten.any()
    for one in best:
        better = asked & (force <= force[one]) & (condition <= condition[one])
        better &= (force < force[one]) | (condition < condition[one])
        assert not better.any()
    assert front(plan, dataset).axes[0].get_xlabel() == "peak_force [N]"
    # interrupted after two generations and a half-written third, then resumed
    shutil.copytree(tmp_path / "a.zarr", tmp_path / "b.zarr")
    cut = Store(tmp_path / "b.zarr", plan)
    for part in range(2 * 12 // plan.part, plan.parts):
        cut.group["seal"][part : part + 1] = np.array([0], dtype=np.uint64)
    again = run(plan, tmp_path / "b.zarr")
    assert bits(again) == bits(store)
    assert NOT_ASKED not in store.group["failed"][:12]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["peak_force"]', "[]", "unknown|needs|used"),
        ("stroke < 0.13", "stroke", "comparison"),
        ("stroke < 0.13", "strok < 0.13", "nearest known is stroke"),
        ("population = 12", "population = 1", "population"),
        ("from = 0.5, to = 1.5", "values = [1, 2]", "needs from and to"),
        ("[optimise]", "[sampling]\n[optimise]", "one of"),
    ],
)
def test_bad_searches_are_refused(old, new, message):
    text = SEARCH.replace(old, new, 1)
    if old == '["peak_force"]':
        text = text.replace('maximise = ["-condition"]\n', "")
        message = "needs something to minimise"
    with pytest.raises(FileError, match=message):
        make_plan(text)


# command


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SWEEP.format(points=60))
    result = CliRunner().invoke(app, ["study", "s.toml", "--csv", "s.csv"])
    assert result.exit_code == 0, result.output
    assert "failed" in result.output
    assert (tmp_path / "s.png").stat().st_size > 10_000
    rows = (tmp_path / "s.csv").read_text().splitlines()
    assert rows[0] == "platform.mass,l [m],peak_force [N],stroke [m],cost,failed"
    assert len(rows) == 61
    (tmp_path / "o.toml").write_text(SEARCH.replace("generations = 6", "generations = 2"))
    result = CliRunner().invoke(app, ["study", "o.toml"])
    assert result.exit_code == 0, result.output
    assert "designs that none beats" in result.output


def test_a_table_never_takes_the_place_of_the_study(tmp_path):
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP.format(points=3), "utf-8")
    result = CliRunner().invoke(app, ["study", str(file), "--csv", str(file)])
    assert isinstance(result.exception, FileError)
    assert file.read_text("utf-8") == SWEEP.format(points=3)
    assert list(tmp_path.iterdir()) == [file]


def test_the_command_says_what_is_wrong_in_one_line(tmp_path):
    (tmp_path / "s.toml").write_text(SWEEP.format(points=60).replace('"l"', '"l ** open(1)"'))
    command = [sys.executable, "-c", "from gough.cli.app import main; main()", "study", "s.toml"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "unknown function 'open'" in result.stderr
    assert json.dumps(sorted(path.name for path in tmp_path.iterdir())) == '["s.toml"]'


def test_trouble_that_nobody_foresaw_costs_its_points_only(sweep, monkeypatch):
    def breaks(case):
        mass = case.robots.mechanism.platform.mass
        if (mass > 12).any():
            raise ZeroDivisionError("a measure of\nsomebody else")
        return np.ones(mass.shape[-1])

    points = sweep.draw()[:30]
    points[:, 1] = 0.9
    heavy = points[:, 0] > 12
    assert 0 < heavy.sum() < 30
    monkeypatch.setitem(MEASURES, "stroke", MEASURES["stroke"]._replace(of=breaks))
    outcome = sweep.evaluator(points)
    assert_array_equal([bool(one) for one in outcome.reasons], heavy)
    assert "ZeroDivisionError" in outcome.reasons[int(np.flatnonzero(heavy)[0])]
    assert_array_equal(np.isnan(outcome.values).all(axis=1), heavy)


def test_forces_of_a_robot_without_masses_are_refused_at_once():
    text = SWEEP.format(points=10).replace('"kim-ryu-2002"', '"dietmaier-1998"', 1)
    with pytest.raises(FileError, match="needs the masses"):
        make_plan(text)
