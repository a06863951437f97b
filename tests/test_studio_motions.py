"""The studio's motions: those on offer, results replayed, curves, exports, the library."""

import dataclasses

import numpy as np
import pytest

import gough
from cases.common import KIM, LONG
from cases.errors import refusal
from gough.errors import FileError, InputError
from gough.show.layout import SceneLayout
from gough.studio.curves import POINTS, marker, panels, plot_options, thinned
from gough.studio.export import force_file, motion_file
from gough.studio.library import Library
from gough.studio.motions import MOST_SAMPLES, SIMPLE, Track, of_file, offered, results
from gough.studio.player import Player
from gough.studio.record import record


def test_the_player_plays():
    player = Player(np.array([0.0, 0.1, 0.2, 1.0]))
    assert not player.advance(1.0)
    player.toggle()
    assert player.advance(0.16)
    assert player.sample == 2
    player.speed = 2.0
    player.advance(0.5)
    assert player.now == pytest.approx(0.16)  # round once
    player.loop = False
    player.advance(5.0)
    assert (player.now, player.sample, player.playing) == (1.0, 3, False)
    player.toggle()
    assert player.now == 0.0
    player.seek(-3.0)
    assert player.sample == 0
    still = Player(np.array([2.0]))
    still.toggle()
    assert not still.playing


def test_motions_on_offer_can_be_done(kim):
    layout = SceneLayout.of(kim)
    found = offered(kim, layout, KIM)
    assert set(SIMPLE) < set(found)
    assert "kim-ryu-2002/circle-40rpm" in found
    assert not any(name.startswith("long") for name in found)
    for name in SIMPLE:
        motion = found[name]().motion
        assert kim.check(motion).ok
        assert motion.velocity.any() or motion.angular_velocity.any()


def test_the_platform_sags_along_a_motion(long):
    motion = offered(long, SceneLayout.of(long), LONG)["long-khalil-martinet-2014/poses"]().motion[
        ::100
    ]
    shown = Track(motion).record(long, True)
    assert np.abs(shown.motion.elastic).max() > 0
    np.testing.assert_array_equal(shown.motion.velocity, motion.velocity)
    assert Track(shown.motion).record(long.rigid, True).motion.modes == 0


def test_results_are_replayed_with_the_forces_that_acted(tmp_path, kim):
    from gough.simulation import ComputedTorque

    robot = kim.edited({"legs.friction.width": 0.005, "platform.mass": 12.5})
    circle = gough.trajectories.Circle(robot.home.position, 0.1, rpm=40)
    run = gough.simulate(robot, ComputedTorque(40.0), circle, 0.05, record=0.005)
    path = tmp_path / "run.nc"
    run.save(path)
    machine, tracks = results(path)
    assert machine.platform.mass == robot.platform.mass
    shown = tracks["run.nc"].record(machine, True)
    np.testing.assert_allclose(shown.forces, run.forces, rtol=1e-12)
    np.testing.assert_allclose(shown.power, run.dataset["power"].values, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(shown.motion.time, run.time)
    assert not shown.loads
    starts = gough.Motion(circle(0.0).position + np.array([[0, 0, 0], [1e-3, 0, 0]]))
    many = gough.simulate(robot, ComputedTorque(40.0), circle, 0.02, start=starts, record=0.005)
    many.save(tmp_path / "many.nc")
    _, two = results(tmp_path / "many.nc", robot)
    assert list(two) == ["many.nc · simulation 0", "many.nc · simulation 1"]
    for k, track in enumerate(two.values()):
        np.testing.assert_allclose(track.motion.position, many.motion.position[k])


def test_what_is_no_result_is_refused(tmp_path, kim):
    path = tmp_path / "bad.nc"
    path.write_bytes(b"CDF nonsense")
    with refusal(FileError, "bad.nc"):
        results(path)
    motion = gough.trajectories.Circle(kim.home.position, 0.1, rpm=40).sample(5)
    gough.data.motion_files.write_motion(motion, path)
    with refusal(FileError, "force"):
        results(path)
    with refusal(FileError, "gone.nc"):
        results(tmp_path / "gone.nc")


def test_motion_files_are_played_and_long_ones_thinned(tmp_path, kim):
    circle = gough.trajectories.Circle(kim.home.position, 0.1, rpm=40)
    path = tmp_path / "circle.nc"
    gough.data.motion_files.write_motion(circle.sample(2 * MOST_SAMPLES), path)
    track = of_file(path, gough.load(KIM))
    assert len(track.motion) == MOST_SAMPLES
    assert track.note == "One sample in 2 of 40000 is shown"
    still = tmp_path / "still.csv"
    gough.data.motion_files.write_motion(kim.home, still)
    with refusal(FileError, "times"):
        of_file(still, gough.load(KIM))


def test_exports_are_read_back(tmp_path, kim):
    motion = gough.trajectories.Circle(kim.home.position, 0.1, rpm=40).sample(7)
    shown = record(kim, motion)
    path = tmp_path / "motion.csv"
    path.write_bytes(motion_file(shown))
    back = gough.data.motion_files.read_motion(path)
    np.testing.assert_array_equal(back.position, motion.position)
    lines = force_file(shown).decode().splitlines()
    header = lines[0].split(",")
    assert len(lines) == 8
    row = [float(cell) for cell in lines[4].split(",")]
    assert row[header.index("force3 [N]")] == shown.forces[3, 2]
    assert row[header.index("q5 [m]")] == shown.q[3, 4]


def test_curves_keep_their_peaks(kim):
    time = np.linspace(0, 1, 5001)
    values = np.stack([np.sin(40 * time), np.cos(7 * time)], axis=-1)
    values[1234, 0], values[4321, 1] = 99.0, -77.0
    times, kept = thinned(time, values)
    assert len(times) <= POINTS
    assert kept.max() == 99.0
    assert kept.min() == -77.0
    assert np.all(np.diff(times) > 0)
    shown = record(kim, gough.trajectories.Circle(kim.home.position, 0.1, rpm=40).sample(9))
    options = plot_options(np.asarray(shown.motion.time), shown.forces, "force [N]")
    assert len(options["data"]) == len(options["series"]) == 7
    assert "0.25000" in marker(0.25)
    assert panels(shown).keys() == {"force [N]", "power [W]"}
    strong = dataclasses.replace(shown, forces=1e3 * shown.forces, power=1e7 * shown.power)
    assert panels(strong).keys() == {"force [kN]", "power [MW]"}
    np.testing.assert_allclose(panels(strong)["force [kN]"], shown.forces)


def test_the_library_opens_what_is_on_offer_and_nothing_else(tmp_path):
    text = gough.load(KIM).text
    (tmp_path / "mine.toml").write_text(text, "utf-8")
    (tmp_path / "other.toml").write_text("a = 1", "utf-8")
    (tmp_path / "broken.toml").write_text("a = [", "utf-8")
    library = Library(folder=tmp_path)
    assert "mine.toml" in library.labels
    assert "other.toml" not in library.labels
    assert set(gough.catalogue()) < set(library.labels)
    first = library.load("mine.toml")
    assert library.load("mine.toml") is first
    for name in ("/etc/passwd", "../mine.toml", str(tmp_path / "mine.toml"), "other.toml"):
        with refusal(InputError, "offer"):
            library.load(name)
    stamp = library.stamp("mine.toml")
    (tmp_path / "mine.toml").write_text(text + "\nunknown = 1\n", "utf-8")
    assert library.stamp("mine.toml") != stamp
    with refusal(FileError, "unknown"):
        library.load("mine.toml")
    (tmp_path / "mine.toml").unlink()
    assert library.stamp("mine.toml") is None
