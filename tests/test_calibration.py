"""Calibration: machines that are not as drawn are found, with honest deviations."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gough
from cases.command import run
from cases.errors import refusal
from cases.machines import hexapod, hexapod_errors, machine
from cases.rooms import eight_legs
from gough.calibration import (
    Frames,
    Geometry,
    PoseMeasurements,
    advice,
    calibrate,
    corrected,
    plan,
    random_poses,
    read_poses,
    save_corrected,
    simulate,
    together,
    untold,
    write_poses,
)
from gough.calibration.closing import Standing, closing, pose_slopes, reading, stand
from gough.calibration.frames import observe
from gough.calibration.start import drawn_poses
from gough.data.columns import Columns
from gough.errors import FileError, GoughError, InputError
from gough.parameters.own_fourier import home_coordinates

KNOWN = ["tracker", "target"]
NOISE = {"position": 1e-5, "rotation": 5e-5}
MACHINES = ("hexapod", "kim-ryu-2002", "pollen-reachy-mini-2025", "alikoc-delta-2023")


def lengths(found, errors):
    """Errors of what was found, m; angles times L."""
    return (found.values - errors) / found.geometry.sizes


def test_a_pose_that_was_seen_several_times_is_held_back_as_a_whole():
    robot, errors = machine("hexapod", 1e-3)
    once = simulate(robot, errors, random_poses(robot, 20))
    found = calibrate(robot, once.at(np.repeat(np.arange(20), 3)), known=KNOWN)
    assert found.held_back.tolist() == [
        3 * pose + i for pose in sorted({*found.held_back // 3}) for i in range(3)
    ]
    alone = calibrate(robot, once, known=KNOWN).held_back
    assert len(alone) == len(found.held_back) // 3 == 4


@pytest.mark.parametrize("name", [*MACHINES, "shyam-heliostat-2017"])
def test_slopes_are_those_of_finite_differences(name):
    robot, errors = machine(name, 1e-3)
    geometry, rng = Geometry(robot), np.random.default_rng(1)
    shifts = 0.05 * robot.length_scale * rng.uniform(-1, 1, (4, robot.mobility))
    poses = robot.motion(home_coordinates(robot) + shifts)
    q = robot.inverse_kinematics(poses).q
    near = drawn_poses(robot, PoseMeasurements(q, np.ones((4, 7)), near=poses))
    u = errors.copy()
    u[geometry.count - len(geometry.offsets) :] = 0
    there = stand(geometry, u, q, near)
    step = 1e-6 * rng.normal(size=geometry.count) * geometry.sizes
    step[geometry.count - len(geometry.offsets) :] = 0
    moved, by_q = pose_slopes(closing(geometry, u, q, there), robot.length_scale)
    up, down = (stand(geometry, u + sign * step, q, there) for sign in (1, -1))
    np.testing.assert_allclose(
        (up.position - down.position) / 2, (moved @ step)[:, :3], atol=1e-6 * 1e-6
    )
    turn = Rotation.from_matrix(up.rotation @ np.swapaxes(down.rotation, 1, 2)).as_rotvec() / 2
    np.testing.assert_allclose(turn, (moved @ step)[:, 3:], atol=2e-6 * 1e-6)
    change = 1e-6 * rng.normal(size=q.shape[1])
    up, down = (stand(geometry, u, q + sign * change, there) for sign in (1, -1))
    np.testing.assert_allclose(
        (up.position - down.position) / 2, (by_q @ change)[:, :3], atol=1e-6 * 1e-6
    )
    if robot.mobility == 6:
        found = reading(geometry, u, there, q)
        np.testing.assert_allclose(found.value, q, atol=1e-12)
        ups, downs = (reading(geometry, u + sign * step, there, q).value for sign in (1, -1))
        np.testing.assert_allclose((ups - downs) / 2, found.by_unknowns @ step, atol=1e-6 * 1e-6)


@pytest.mark.parametrize("seen", [("x", "y", "z", "rx", "ry", "rz"), ("y", "rz"), ("distance",)])
@pytest.mark.parametrize("relative", [False, True])
def test_slopes_of_what_is_seen(seen, relative):
    rng = np.random.default_rng(2)
    turned = Rotation.random(4, rng).as_matrix()
    poses = Standing(rng.normal(size=(4, 3)), turned, np.zeros((4, 0)))
    blank = np.full((4, 7), np.nan)
    blank[:, [["x", "y", "z", "rx", "ry", "rz", "distance"].index(name) for name in seen]] = 0.0
    related = np.array([-1, 0, 0, 0]) if relative else np.full(4, -1)
    measured = PoseMeasurements(np.zeros((4, 6)), blank, relative=related)
    frames = Frames(
        rng.normal(size=(1, 3)), Rotation.random(1, rng).as_matrix(), rng.normal(size=(1, 3)),
        Rotation.random(1, rng).as_matrix(), rng.normal(size=(1, 3)),
    )  # fmt: skip
    # what is seen is what is expected, so that rotations are compared near to where they are
    seen_now = np.where(np.isnan(blank), np.nan, -observe(measured, frames, poses)[0])
    if np.isfinite(blank[0, 3:6]).all():
        _, turned = frames.seen(measured, poses)
        first = np.swapaxes(turned[[0] * 4], 1, 2)
        axes = np.where(related[:, None, None] >= 0, first, np.eye(3))
        seen_now[:, 3:6] = Rotation.from_matrix(axes @ turned).as_rotvec()
    exact = replace(measured, seen=seen_now)
    _, by_seen, by_reference = observe(exact, frames, poses)
    by_pose, by_frames = frames.slopes(exact, poses)
    step = 1e-6 * rng.normal(size=12)
    shift = 1e-6 * rng.normal(size=(4, 6))
    change = by_frames @ step + np.einsum("nij,nj->ni", by_pose, shift)
    expected = np.einsum("nij,nj->ni", by_seen, change)
    expected += np.einsum("nij,nj->ni", by_reference, change[np.maximum(related, 0)])

    def off(sign):
        turn = Rotation.from_rotvec(sign * shift[:, 3:]).as_matrix()
        there = Standing(poses.position + sign * shift[:, :3], turn @ poses.rotation, poses.chains)
        return observe(exact, frames.moved(sign * step), there)[0]

    known = np.isfinite(blank)
    np.testing.assert_allclose(
        (off(-1) - off(1))[known] / 2, expected[known], atol=1e-10, rtol=1e-5
    )


@pytest.mark.parametrize("name", MACHINES)
def test_without_noise_machines_5_mm_off_are_found_to_1e_9(name):
    robot, errors = machine(name)
    measured = simulate(robot, errors, random_poses(robot, 40, turn=0.4, seed=1))
    found = calibrate(robot, measured, known=KNOWN)
    told = found.told[: found.geometry.count]
    assert np.abs(lengths(found, errors))[told].max() < 1e-9
    assert found.before.position > 1e-3
    assert found.after.position < 1e-12
    if name != "alikoc-delta-2023":  # which never turns
        assert told.all()
    else:
        assert found.spectrum.rank == 24
        (one,) = untold(found)
        assert one.text == "of each leg 3 combinations of legs.motor and legs.platform"


def test_deviations_are_honest():
    """The campaign of 200 seeds and four machines is benchmarks/calibration.py."""
    robot, errors = machine("hexapod")
    poses = random_poses(robot, 30, seed=1)
    off, said = [], []
    for seed in range(8):
        measured = simulate(robot, errors, poses, noise=NOISE, seed=seed)
        found = calibrate(robot, measured, known=KNOWN, hold_back=0.0)
        off.append(lengths(found, errors))
        said.append(found.deviations[:42] / found.geometry.sizes)
    scaled = np.array(off) / np.array(said)
    assert np.mean(np.abs(scaled) < 3) > 0.98
    assert 0.85 < np.sqrt(np.mean(scaled**2)) < 1.15


def test_more_legs_than_six_need_noise_of_their_own_for_inverse_residuals():
    robot = eight_legs()
    poses = random_poses(robot, 40, turn=0.1)
    measured = simulate(robot, np.zeros(Geometry(robot).count), poses, noise={**NOISE, "q": 2e-6})
    found = calibrate(robot, measured, known=KNOWN, fixed=["legs"])
    assert found.problem.residual == "forward"
    with refusal(InputError, 8, 0):
        calibrate(robot, measured, known=KNOWN, residual="inverse")


def test_inverse_and_forward_residuals_agree():
    robot, errors = machine("hexapod")
    poses = random_poses(robot, 30, seed=1)
    measured = simulate(robot, errors, poses, noise={**NOISE, "q": 2e-6})
    noise = {**NOISE, "q": 2e-6}
    both = [
        calibrate(robot, measured, known=KNOWN, residual=one, noise=noise)
        for one in ("inverse", "forward")
    ]
    assert calibrate(robot, measured, known=KNOWN).problem.residual == "inverse"
    size = both[0].deviations[:42]
    assert np.abs(both[0].values - both[1].values).max() < 0.05 * size.min()
    np.testing.assert_allclose(both[0].deviations, both[1].deviations, rtol=1e-2, atol=1e-12)
    assert 0.8 < both[0].fit < 1.2


def set_ups(rng):
    """Two trackers and three targets anywhere."""
    return Frames(
        3 * rng.normal(size=(2, 3)), Rotation.random(2, rng).as_matrix(),
        0.1 * rng.normal(size=(3, 3)), Rotation.random(3, rng).as_matrix(), np.zeros((2, 3)),
    )  # fmt: skip


def test_two_trackers_see_points_of_three_targets():
    robot, errors = machine("hexapod")
    m = random_poses(robot, 30, turn=0.3, seed=2)
    poses = gough.Motion(np.repeat(m.position, 3, 0), np.repeat(m.rotation, 3, 0))
    which = {"tracker": np.arange(90) // 3 % 2, "target": np.arange(90) % 3}
    frames = set_ups(np.random.default_rng(3))
    measured = simulate(
        robot, errors, poses, noise=NOISE, frames=frames, seen=("x", "y", "z"), **which
    )
    found = calibrate(robot, measured)
    assert found.spectrum.rank == 42 + 2 * 6 + 3 * 3 - 12
    assert found.before.position > 2e-3
    assert found.after.position < 3 * np.sqrt(3) * NOISE["position"]
    assert 0.8 < found.noise.position / NOISE["position"] < 1.2
    assert [one.text for one in untold(found)] == [
        "a shift along x, y and z and a turn about x, y and z of base and trackers together",
        "a shift along x, y and z and a turn about x, y and z of platform and targets together",
    ]
    parts = [measured.at(np.flatnonzero(measured.tracker == i)) for i in (0, 1)]
    joined = together([replace(one, tracker=0 * one.tracker) for one in parts])
    assert joined.tracker.max() == 1
    assert joined.target.max() == 5
    assert joined.where(len(parts[0])) == parts[1].where(0)


@pytest.mark.parametrize(
    ("given", "rank"),
    [
        ({"relative": True}, 36),
        ({"seen": ("distance",)}, 36),
        ({"seen": ("z", "rx")}, 40),
        ({"commanded": True}, 42),
    ],
    ids=["relative", "distance", "single", "commanded"],
)
def test_measured_in_part(given, rank):
    robot, errors = machine("hexapod", 1e-3)
    poses = random_poses(robot, 60, turn=0.4, seed=2)
    frames = Frames(
        np.array([[0.4, -0.3, 0.2]]), np.eye(3)[None], np.array([[0.1, 0.05, 0.2]]), np.eye(3)[None],
        np.zeros((1, 3)),
    )  # fmt: skip
    measured = simulate(robot, errors, poses, frames=frames, **given)
    found = calibrate(robot, measured)
    judged = found.after
    assert found.problem.residual == "forward"
    assert found.spectrum.rank >= rank
    assert np.nanmax([judged.position, judged.rotation, judged.distance]) < 1e-9
    assert found.before.largest > 1e-4 or "distance" in given.get("seen", ())


def test_translations_tell_4_of_7_and_turns_7():
    robot, errors = machine("hexapod", 1e-3)
    m = random_poses(robot, 30, seed=2)
    flat = gough.Motion(m.position, robot.home.rotation)
    found = calibrate(robot, simulate(robot, errors, flat, noise=NOISE), known=KNOWN)
    assert {*found.per_leg} == {(4, 7)}
    (said,) = advice(found)
    assert "shifts alone tell 4 of 7 unknowns of a leg" in said
    assert said.endswith("±10° about x, y and z tell 7 of 7")
    turns = Rotation.from_rotvec(np.radians(np.random.default_rng(0).uniform(-10, 10, (30, 3))))
    turned = gough.Motion(robot.home.position + 0.3 * (m.position - robot.home.position), turns)
    then = calibrate(robot, simulate(robot, errors, turned, noise=NOISE), known=KNOWN)
    assert {*then.per_leg} == {(7, 7)}
    assert then.told[:42].all()
    assert not advice(then)
    exact = calibrate(robot, simulate(robot, 0 * errors, flat), known=KNOWN, hold_back=0.0)
    assert exact.spectrum.rank == 4 * 6
    (lost,) = untold(exact)
    assert lost.text == "of each leg 3 combinations of legs.base and legs.platform"


def test_outliers_are_named_and_count_little():
    robot, errors = machine("kim-ryu-2002")
    measured = simulate(robot, errors, random_poses(robot, 40, seed=2), noise=NOISE)
    seen = np.array(measured.seen)
    seen[[5, 20], 0] += 5e-3
    wrong = replace(measured, seen=seen)
    plain, robust = (calibrate(robot, wrong, robust=one, hold_back=0.0) for one in (False, True))
    assert robust.outliers == (5, 20)
    good = np.setdiff1d(np.arange(40), [5, 20])
    errors_left = [np.sqrt(np.mean(one.after.seen[good, :3] ** 2)) for one in (plain, robust)]
    assert errors_left[1] < 1.3 * NOISE["position"] < 0.2 * errors_left[0]


def test_priors_and_fixed_numbers():
    robot, errors = machine("hexapod", 1e-3)
    poses = random_poses(robot, 20, seed=2)
    held = errors.copy()
    held[:18] = 0  # the base is as drawn
    measured = simulate(robot, held, poses, noise=NOISE)
    found = calibrate(robot, measured, known=["target"], fixed=["legs.base"])
    assert np.all(found.values[:18] == 0)
    assert found.told[18:42].all()
    assert untold(found) == []
    bound = calibrate(robot, measured, priors={"legs": 1e-3, "offset": 1e-3})
    assert np.all(bound.deviations[:42] < 1e-3)
    assert np.abs(bound.values[:18] / bound.deviations[:18]).max() < 4
    with refusal(InputError, "legs.bas", "legs.base"):
        calibrate(robot, measured, fixed=["legs.bas"])


def test_the_corrected_file_keeps_its_comments(tmp_path):
    robot, errors = machine("hexapod")
    found = calibrate(robot, simulate(robot, errors, random_poses(robot, 30, seed=1)), known=KNOWN)
    save_corrected(found, tmp_path / "corrected.toml")
    text = (tmp_path / "corrected.toml").read_text("utf-8")
    assert "# a drawing" in text
    assert all(f"# leg {i}\n" in text for i in range(1, 7))
    assert "what encoders read too much: 0.0004353, -0.0023821" in text
    again = gough.load(tmp_path / "corrected.toml")
    built = np.array([0.3052599, 0.1150695, 0.0026210])
    np.testing.assert_allclose(again.description.groups[0].table.base[0], built, atol=1e-9)
    assert corrected(found).name == "hexapod"
    bare = gough.load("kim-ryu-2002").edited({"legs.length": [0.9] * 6})
    assert "0.9" in bare.text


def test_files_of_poses(tmp_path):
    robot, errors = machine("hexapod")
    poses = random_poses(robot, 12, seed=1)
    measured = simulate(robot, errors, poses, target=np.arange(12) % 2)
    write_poses(robot, measured, tmp_path / "p.csv")
    back = read_poses(robot, tmp_path / "p.csv")
    np.testing.assert_allclose(back.q, measured.q, rtol=1e-15)
    np.testing.assert_allclose(back.seen, measured.seen, rtol=1e-15)
    assert np.array_equal(back.target, measured.target)
    told = []
    rows = (tmp_path / "p.csv").read_text().splitlines()
    header = rows[0].replace("x [m]", "X (mm)").replace("target", "Ball")
    (tmp_path / "mm.csv").write_text("\n".join([header, *rows[1:]]))
    read = read_poses(robot, tmp_path / "mm.csv", Columns.of(names="X=x,Ball=target"), told.append)
    np.testing.assert_allclose(read.seen[:, 0], 1e-3 * measured.seen[:, 0], rtol=1e-14)
    assert any("from mm to m" in line for line in told)
    commanded = simulate(robot, errors, poses, commanded=True)
    write_poses(robot, commanded, tmp_path / "c.csv")
    again = read_poses(robot, tmp_path / "c.csv")
    assert again.commanded
    np.testing.assert_allclose(again.q, commanded.q, atol=1e-14)
    related = simulate(robot, errors, poses, relative=True)
    write_poses(robot, related, tmp_path / "r.csv")
    np.testing.assert_allclose(
        read_poses(robot, tmp_path / "r.csv").seen[1:], related.seen[1:], rtol=1e-15
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("q1,q2,q3,q4,q5,q6\n1,1,1,1,1,1", ("nothing", "measured")),
        ("x,y,z\n1,1,1", ("q1",)),
        ("q1,q2,q3,q4,q5,q6,x,qw\n" + "0.65," * 6 + "0,1", ("column", "qx")),
        ("q1,q2,q3,q4,q5,q6,xx\n" + "0.65," * 6 + "0", ("xx",)),
        ("q1,q2,q3,q4,q5,q6,x,tracker\n" + "0.65," * 6 + "0,1.5", ("line 2", 1.5)),
        ("q1,q2,q3,q4,q5,q6,x\n" + "650," * 6 + "0", ("millimetres",)),
        ("q1,q2,q3,q4,q5,q6,x,relative_x\n" + "0.65," * 6 + "0,0", ("relative",)),
        ("commanded_x,commanded_y,x\n0,0,0", ("commanded_z",)),
    ],
)  # fmt: skip
def test_files_that_cannot_be_meant(text, reason, tmp_path):
    (tmp_path / "p.csv").write_text(text)
    with refusal(FileError, *reason):
        read_poses(hexapod(), tmp_path / "p.csv")


def test_what_cannot_be_asked():
    robot = hexapod()
    measured = simulate(robot, hexapod_errors() / 5, random_poses(robot, 8))
    for given, reason in (
        ({"known": ["tracker[7]"]}, "no tracker or target"),
        ({"noise": {"luck": 1.0}}, "'luck' is none of"),
        ({"noise": {"position": 0.0}}, "needs a positive number"),
        ({"priors": {"legs": -1.0}}, "needs a positive number"),
        ({"hold_back": 1.0}, "hold_back"),
        ({"known": KNOWN, "fixed": ["legs", "offset"]}, "no number is left"),
    ):
        with pytest.raises(InputError, match=reason):
            calibrate(robot, measured, **given)
    in_part = np.array(measured.seen)
    in_part[:, 3] = np.nan
    with refusal(InputError, "inverse", "residuals"):
        calibrate(robot, replace(measured, seen=in_part), residual="inverse")
    with refusal(InputError, 5):
        calibrate(robot, replace(measured, q=measured.q[:, :5]))
    lost = np.array(measured.q)
    lost[3] = [0.6, 0.6, 0.6, 0.6, 0.6, 1.2]
    with refusal(GoughError, "sample 3"):
        calibrate(robot, replace(measured, q=lost), residual="forward", hold_back=0.0)
    with pytest.raises(InputError, match="or more"):
        plan(robot, 3, known=KNOWN)


def test_planned_poses_are_twice_as_good_as_random_ones():
    robot = hexapod()
    found = plan(robot, 12, known=KNOWN, seed=1)
    assert found.poses.shape == (12,)
    assert (found.rank, found.unknowns) == (42, 42)
    assert found.ratio > 2
    assert robot.check(found.poses)


def test_the_command(tmp_path):
    def gough_here(*arguments):
        return run(*arguments, cwd=tmp_path)

    robot, errors = machine("hexapod", 1e-3)
    (tmp_path / "drawn.toml").write_text(robot.text, "utf-8")
    poses = random_poses(robot, 20, seed=1)
    write_poses(robot, simulate(robot, errors, poses, noise=NOISE), tmp_path / "poses.csv")
    arguments = "drawn.toml", "poses.csv", "-o", "new.toml", "--report", "page.html"
    code, text, trouble = gough_here("calibrate", *arguments)
    assert code == 0, trouble
    assert text.startswith("pose error, rms, on 4 poses held back: as drawn ")
    assert "cannot be told: a shift along x, y and z and a turn about x, y and z of base" in text
    assert "# leg 6" in (tmp_path / "new.toml").read_text("utf-8")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.count("<figcaption>") == 5
    assert "cancel in every pose" in page
    code, text, trouble = gough_here("calibrate", *arguments[:2], "--json", "--known", "tracker")
    assert code == 0, trouble
    found = json.loads(text)
    assert (found["rank"], found["unknowns"], len(found["parameters"])) == (42, 48, 42)
    code, text, trouble = gough_here("calibrate", "drawn.toml", "--plan", "9", "-o", "plan.csv")
    assert code == 0, trouble
    assert "9 poses tell 42 combinations of 54 unknowns" in text
    assert len((tmp_path / "plan.csv").read_text().splitlines()) == 10
