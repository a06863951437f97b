"""Studies: results that no interruption changes, searches, the command."""

import json
import shutil

import numpy as np
import pytest
import zarr
from numpy.testing import assert_allclose, assert_array_equal

from cases import command
from cases.errors import refusal
from cases.studies import BASE, SWEEP
from dask_cluster import Cluster
from gough.data.motion_files import write_motion
from gough.data.paper_motions import paper_motion
from gough.errors import FileError, GoughError, InputError
from gough.show.pictures.studies import front, overview
from gough.studies.measures import MEASURES
from gough.studies.optimise import NOT_ASKED, pareto
from gough.studies.plan import make_plan
from gough.studies.run import run
from gough.studies.store import Store, read_study
from gough.studies.workers import LostWorkersError

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


def group(store):
    """A store as Zarr's own reader sees it."""
    return zarr.open_group(str(store.path), mode="r+", zarr_format=2)


def bits(store):
    """Everything that a store says."""
    assert group(store)["inputs"][:].tobytes() == store.all_inputs().tobytes()
    return (
        store.all_inputs().tobytes(),
        group(store)["values"][:].tobytes(),
        group(store)["failed"][:].tolist(),
        group(store)["seal"][:].tolist(),
    )


@pytest.fixture(scope="module")
def sweep():
    return make_plan(SWEEP.format(points=400))


@pytest.fixture(scope="module")
def whole(sweep, tmp_path_factory):
    """The study in one go."""
    return run(sweep, tmp_path_factory.mktemp("whole") / "s.zarr")


# running


def test_points_that_fail_say_why_and_stop_nothing(sweep, whole):
    reasons = group(whole)["failed"][:]
    failed = reasons != ""
    assert 0 < failed.sum() < 200
    values = group(whole)["values"][:]
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


@pytest.mark.second_tier
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

    lost = pytest.raises(LostWorkersError)
    with Cluster(tmp_path, 2) as cluster, lost:
        run(plan, tmp_path / "s.zarr", scheduler=cluster.address, progress=told)
    assert killed == ["worker", "scheduler"]
    kept = Store(tmp_path / "s.zarr", plan)
    assert 18 <= kept.finished.sum() < 40
    sealed = group(kept)["seal"][:]
    with Cluster(tmp_path, 1) as cluster:
        store = run(plan, tmp_path / "s.zarr", scheduler=cluster.address)
    assert store.finished.all()
    assert_array_equal(group(store)["seal"][:][sealed != 0], sealed[sealed != 0])
    assert bits(store) == bits(run(plan, tmp_path / "one.zarr"))


def test_no_scheduler_is_an_error_in_time(sweep, tmp_path, monkeypatch):
    monkeypatch.setattr("gough.studies.dask_run.PATIENCE", 0.5)
    from gough.studies import dask_run

    with (
        pytest.raises(LostWorkersError),
        dask_run.dask_workers(sweep, "tcp://127.0.0.1:9", 0.5),
    ):
        pass
    with pytest.raises(InputError, match="give one of them"):
        run(sweep, tmp_path / "s.zarr", jobs=2, scheduler="tcp://127.0.0.1:9")


def test_another_study_in_the_folder_is_refused(sweep, whole, tmp_path):
    other = make_plan(SWEEP.format(points=400).replace("seed = 3", "seed = 4"))
    with refusal(FileError, "another", "study"):
        run(other, whole.path)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_text("miaow")
    with refusal(FileError, "folder", "study"):
        run(sweep, tmp_path / "photos")
    assert (tmp_path / "photos" / "cat.jpg").exists()
    with refusal(FileError, "exist"):
        run(sweep, tmp_path / "nowhere" / "s.zarr")
    with refusal(FileError, "folder", "study"):
        read_study(tmp_path / "photos")
    shutil.copytree(whole.path, tmp_path / "torn")
    shutil.rmtree(tmp_path / "torn" / "seal")
    with refusal(FileError, "damaged"):
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
        group(cut)["seal"][part : part + 1] = np.array([0], dtype=np.uint64)
    again = run(plan, tmp_path / "b.zarr")
    assert bits(again) == bits(store)
    assert NOT_ASKED not in group(store)["failed"][:12]


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


def test_the_command(tmp_path):
    (tmp_path / "s.toml").write_text(SWEEP.format(points=60))
    result = command.run("study", "s.toml", "--csv", "s.csv", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "failed" in result.stdout
    assert (tmp_path / "s.png").stat().st_size > 10_000
    rows = (tmp_path / "s.csv").read_text().splitlines()
    assert rows[0] == "platform.mass,l [m],peak_force [N],stroke [m],cost,failed"
    assert len(rows) == 61
    (tmp_path / "o.toml").write_text(SEARCH.replace("generations = 6", "generations = 2"))
    result = command.run("study", "o.toml", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "designs that none beats" in result.stdout


def test_a_table_never_takes_the_place_of_the_study(tmp_path):
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP.format(points=3), "utf-8")
    command.refused("study", file, "--csv", file)
    assert file.read_text("utf-8") == SWEEP.format(points=3)
    assert list(tmp_path.iterdir()) == [file]


def test_the_command_says_what_is_wrong_in_one_line(tmp_path):
    (tmp_path / "s.toml").write_text(SWEEP.format(points=60).replace('"l"', '"l ** open(1)"'))
    assert "unknown function 'open'" in command.refused("study", "s.toml", cwd=tmp_path)
    assert json.dumps(sorted(path.name for path in tmp_path.iterdir())) == '["s.toml"]'


def test_trouble_that_nobody_foresaw_costs_its_points_only(sweep, monkeypatch):
    def breaks(case):
        mass = case.robots.mechanism.platform.body.mass
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
