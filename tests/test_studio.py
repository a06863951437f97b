"""The studio without a browser: what is shown for a state, and who may ask."""

import dataclasses
import re
import signal
import socket
import subprocess
import sys
import urllib.request
import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gough
from gough.errors import FileError, InputError
from gough.model.places import ground, places
from gough.studio.bending import BANDS, Bending
from gough.studio.curves import POINTS, marker, panels, plot_options, thinned
from gough.studio.export import force_file, motion_file
from gough.studio.guard import allowed, free_port
from gough.studio.levels import Level, condition_level, level, used_parts, worst
from gough.studio.library import Library
from gough.studio.motions import MOST_SAMPLES, SIMPLE, Track, of_file, offered, results, sagging
from gough.studio.player import Player
from gough.studio.pose import pose_of, ranges, start_pose, upward, values_of
from gough.studio.record import record
from gough.studio.setup import Setup
from gough.studio.shapes import (
    CYLINDER,
    ROD,
    Layout,
    arrow_vectors,
    ball,
    bar,
    bars,
    box,
    cone,
    grid,
    rod_stretch,
    round_number,
    slab,
    turns_from_z,
)
from gough.studio.tables import banner, leg_table, limit_table, load_table, state_level, summary

KIM, LONG, DIETMAIER = "kim-ryu-2002", "long-khalil-martinet-2014", "dietmaier-1998"


@pytest.fixture(scope="module")
def kim():
    return gough.load(KIM)


@pytest.fixture(scope="module")
def long():
    with warnings.catch_warnings(action="ignore"):
        return gough.load(LONG)


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


@pytest.mark.parametrize("shape", [(), (1,), (3, 1, 2), (0,)])
@pytest.mark.parametrize("name", [KIM, LONG])
def test_places_are_where_the_platform_has_its_joints(name, shape):
    with warnings.catch_warnings(action="ignore"):
        robot = gough.load(name)
    rng = np.random.default_rng(1)
    turn = Rotation.from_rotvec(rng.normal(0, 0.05, (int(np.prod(shape)), 3))).as_matrix()
    home = robot.home
    motion = gough.Motion(
        home.position + rng.normal(0, 0.02, (*shape, 3)), turn.reshape(*shape, 3, 3) @ home.rotation
    )
    legs = robot.inverse_kinematics(motion)
    universal, spherical = places(robot, legs)
    tips = robot.description.platform_points[..., 0].T
    wanted = motion.position[..., None, :] + tips @ np.swapaxes(motion.rotation, -1, -2)
    assert universal.shape == (*shape, 6, 3)
    np.testing.assert_allclose(spherical, wanted, atol=1e-12)


def test_rails_end_where_the_stroke_does(kim):
    ends = ground(kim, kim.inverse_kinematics(kim.home).q)
    assert ends.shape == (6, 2, 3)
    np.testing.assert_allclose(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=-1), 0.7)


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
    assert "–" in leg_table(shown, 1)
    assert "–" in summary(shown, 1)


def test_a_robot_without_masses_shows_its_geometry():
    robot = gough.load(DIETMAIER)
    shown = record(robot, robot.home)
    assert shown.forces is None
    assert "masses" in shown.note
    assert "Γ" not in leg_table(shown, 0)
    assert "masses" in load_table(shown, 0)
    assert panels(shown).keys() == {"q [m]"}
    with pytest.raises(InputError, match="masses"):
        force_file(shown)


def test_tables_say_and_paint_what_is_past_a_limit(limited):
    shown = record(limited.edited({"legs.limits.force": 45.46}), limited.home)
    html = leg_table(shown, 0)
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
    plain = Setup.of(kim)
    assert plain.apply(kim) is kim
    loaded = Setup((0.0, 0.0, 4.0), payload=5.0, payload_place=(0.01, 0.0, 0.02)).apply(kim)
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
    with pytest.raises(InputError, match="negative"):
        Setup((0, 0, 0), payload=-1.0).apply(kim)


def test_a_platform_that_bends_takes_no_payload_but_can_be_rigid(long):
    down = Setup.of(long).gravity
    with pytest.raises(InputError, match="bends"):
        Setup(down, payload=1.0).apply(long)
    stiff = Setup(down, payload=1.0, flexible=False).apply(long)
    assert stiff.modes == 0
    assert abs(stiff.platform.mass - long.platform.mass - 1.0) < 1e-9


def test_sliders_and_poses_are_the_same_thing():
    robot = gough.load(DIETMAIER)  # its home is turned by more than a right angle
    home = start_pose(robot)
    assert values_of(home, home)[3:] == pytest.approx([0, 0, 0], abs=1e-9)
    values = np.array([0.1, -0.2, 0.3, 10.0, -20.0, 30.0])
    np.testing.assert_allclose(values_of(pose_of(values, home), home), values, atol=1e-9)
    assert pose_of(np.zeros((3, 1, 2, 6)), home).shape == (3, 1, 2)


def test_slider_ends_can_be_reached(kim):
    low, high = ranges(kim, Layout.of(kim).size)
    middle = values_of(kim.home, kim.home)
    assert (low < middle).all()
    assert (middle < high).all()
    for k in range(6):
        for end in (low, high):
            values = middle.copy()
            values[k] += 0.98 * (end[k] - middle[k])
            assert kim.check(pose_of(values, kim.home)).ok


def test_without_a_home_a_pose_is_guessed():
    robot = gough.load(KIM)
    text = "\n".join(line for line in robot.text.splitlines() if not line.startswith("home"))
    homeless = gough.Robot.from_text(text)
    assert homeless.description.home is None
    assert start_pose(homeless).shape == ()
    assert upward(homeless) @ homeless.description.gravity < 0


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


@pytest.mark.parametrize(
    "mesh",
    [
        bar(0.1, 2.0),
        bar(0.1, -2.0),
        ball(0.3),
        cone(0.1, 0.3),
        box((1.0, 2.0, 3.0)),
        slab(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]]), 0.1, 0.02),
    ],
    ids=["bar", "bar downwards", "ball", "cone", "box", "slab"],
)
def test_shapes_are_closed_and_face_outwards(mesh):
    a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
    area = np.cross(b - a, c - a) / 2
    assert np.abs(area.sum(axis=0)).max() < 1e-12
    assert np.sum(a * area) / 3 > 0  # the divergence theorem's volume


def test_volumes():
    def volume(mesh):
        a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
        return np.sum(a * np.cross(b, c)) / 6

    assert volume(box((1.0, 2.0, 3.0))) == pytest.approx(6.0)
    assert volume(bar(0.1, -2.0)) == pytest.approx(np.pi * 0.02, rel=0.02)
    two = bars(np.zeros((2, 3)), np.array([[0, 0, 1.0], [2.0, 0, 0]]), 0.1)
    assert volume(two) == pytest.approx(np.pi * 0.03, rel=0.02)


def test_turns_from_z():
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(3, 1, 2, 3))
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    directions[0, 0, 0], directions[0, 0, 1] = [0, 0, -1.0], [0, 0, 1.0]
    turned = turns_from_z(directions)
    z = Rotation.from_quat(turned.reshape(-1, 4), scalar_first=True).apply([0, 0, 1.0])
    np.testing.assert_allclose(z.reshape(directions.shape), directions, atol=1e-12)


def test_arrows_are_as_long_as_forces_are_strong():
    forces = np.array([[[0, 0, 50.0], [0, 0, 0], [0, -100.0, 0], [900.0, 0, 0]]])
    found = arrow_vectors(forces, 100.0, 0.4)
    wanted = [[[0, 0, 0.2], [0, 0, 0], [0, -0.4, 0], [0.6, 0, 0]]]
    np.testing.assert_allclose(found, wanted)
    assert np.isfinite(arrow_vectors(forces, 0.0, 0.4)).all()


def test_a_rod_never_leaves_its_cylinder():
    home = np.array([1.0, 2.0])
    for length in np.linspace(0.3, 3.0, 40) * home[:, None]:
        for q, own in zip(length, home, strict=False):
            rod = rod_stretch(np.array([q]), np.array([own]))[0] * ROD * own
            assert rod <= q + 1e-12
            assert q - rod <= CYLINDER * own
    assert rod_stretch(home, home) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("name", [KIM, LONG, DIETMAIER, "sinatra-xi-staicu-2009"])
def test_layout_and_floor(name):
    with warnings.catch_warnings(action="ignore"):
        robot = gough.load(name)
    layout = Layout.of(robot)
    points = np.concatenate([layout.ground.reshape(-1, 3), layout.spherical])
    assert (points @ layout.up > layout.floor).all()
    assert (layout.camera - layout.middle) @ layout.up > 0
    for mesh in grid(layout, round_number(layout.size / 8), 0.001):
        np.testing.assert_allclose(mesh.vertices @ layout.up, layout.floor)


def test_round_numbers():
    assert [round_number(value) for value in (0.9, 1.0, 4.99, 0.03, 7600)] == [
        0.5,
        1.0,
        2.0,
        0.02,
        5000,
    ]


def test_the_drawn_deformation_is_the_platforms(long):
    pose = sagging(long, long.home.reshape(1))
    elastic = pose.elastic[0]
    bending = Bending(long.description.modal)
    deepest = bending.largest(pose.elastic)
    nodes = long.deformation(pose, "nodes").displacement[0]
    assert deepest == pytest.approx(np.linalg.norm(nodes, axis=-1).max(), rel=0.02)
    tips = long.home.position + bending.bent_tips(elastic, 1.0) @ long.home.rotation.T
    np.testing.assert_allclose(tips, long.deformation(pose, "tips").position[0], atol=1e-12)
    bands = bending.bands(elastic, 1.0, deepest)
    assert sum(map(len, bands)) == len(bending.faces)
    assert len(bands) == len(BANDS)
    assert len(bands[-1]) > 0
    flat = bending.bands(elastic, 0.0, deepest)
    assert np.concatenate(flat)[..., 2].max() == 0


def test_motions_on_offer_can_be_done(kim):
    layout = Layout.of(kim)
    found = offered(kim, layout, KIM)
    assert set(SIMPLE) < set(found)
    assert "kim-ryu-2002/circle-40rpm" in found
    assert not any(name.startswith("long") for name in found)
    for name in SIMPLE:
        motion = found[name]().motion
        assert kim.check(motion).ok
        assert motion.velocity.any() or motion.angular_velocity.any()


def test_the_platform_sags_along_a_motion(long):
    motion = offered(long, Layout.of(long), LONG)["long-khalil-martinet-2014/poses"]().motion[::100]
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
    with pytest.raises(FileError, match=r"bad\.nc"):
        results(path)
    motion = gough.trajectories.Circle(kim.home.position, 0.1, rpm=40).sample(5)
    gough.data.motion_files.write_motion(motion, path)
    with pytest.raises(FileError, match="no force"):
        results(path)
    with pytest.raises(FileError, match=r"gone\.nc"):
        results(tmp_path / "gone.nc")


def test_motion_files_are_played_and_long_ones_thinned(tmp_path, kim):
    circle = gough.trajectories.Circle(kim.home.position, 0.1, rpm=40)
    path = tmp_path / "circle.nc"
    gough.data.motion_files.write_motion(circle.sample(2 * MOST_SAMPLES), path)
    track = of_file(path)
    assert len(track.motion) == MOST_SAMPLES
    assert track.note == "One sample in 2 of 40000 is shown"
    still = tmp_path / "still.csv"
    gough.data.motion_files.write_motion(kim.home, still)
    with pytest.raises(FileError, match="times"):
        of_file(still)


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
        with pytest.raises(InputError, match="on offer"):
            library.load(name)
    stamp = library.stamp("mine.toml")
    (tmp_path / "mine.toml").write_text(text + "\nunknown = 1\n", "utf-8")
    assert library.stamp("mine.toml") != stamp
    with pytest.raises(FileError, match="unknown"):
        library.load("mine.toml")
    (tmp_path / "mine.toml").unlink()
    assert library.stamp("mine.toml") is None


@pytest.mark.parametrize(
    ("host", "origin", "loopback", "right"),
    [
        ("127.0.0.1:8080", None, True, True),
        ("localhost:8080", "http://localhost:8080", True, True),
        ("[::1]:8080", "http://[::1]:8080", True, True),
        ("LOCALHOST:8080", "http://localhost:8080", True, True),
        ("evil.example:8080", None, True, False),
        ("evil.example:8080", "http://evil.example:8080", True, False),
        ("127.0.0.1.evil.example", None, True, False),
        ("127.0.0.1@evil.example", None, True, False),
        ("127.0.0.1:8080", "http://evil.example", True, False),
        ("127.0.0.1:8080", "http://127.0.0.1:9999", True, False),
        ("127.0.0.1:8080", "null", True, False),
        (None, None, True, False),
        ("", None, True, False),
        ("[::1", None, True, False),
        ("robot.lan:8080", "http://robot.lan:8080", False, True),
        ("robot.lan:8080", "http://evil.example", False, False),
    ],
)
def test_who_may_ask(host, origin, loopback, right):
    assert allowed(host, origin, loopback) is right


def test_a_port_in_use_is_left_for_the_next():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port("127.0.0.1", port) > port
    with pytest.raises(InputError, match="no address"):
        free_port("192.0.2.7", 8080)
    with pytest.raises(InputError, match="no address"):
        free_port("no.such.host.invalid", 8080)
    with pytest.raises(InputError, match="65535"):
        free_port("127.0.0.1", 70000)


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """A studio with a server and no browser, stepped by hand."""
    pytest.importorskip("viser", reason="viser is not installed")
    from gough.studio.app import Studio
    from gough.studio.server import StudioServer

    library = Library([KIM], tmp_path_factory.mktemp("empty"))
    running = Studio(StudioServer("127.0.0.1", free_port("127.0.0.1", 18080)), library, KIM)
    running.choose_robot(KIM)
    running.step(0.0)
    yield running
    running.stop()


def done(studio, *requests):
    for request in requests:
        request()
    studio.step(0.0)
    return studio.shown


def test_settings_on_the_page_change_what_is_shown(studio):
    before = done(studio, studio.go_home).forces
    setup = Setup.of(studio.library.load(KIM).robot)
    heavier = dataclasses.replace(setup, payload=10.0)
    after = done(studio, lambda: studio.set_up(heavier)).forces
    np.testing.assert_array_equal(after, record(studio.robot, studio.robot.home).forces)
    assert np.abs(after).min() > 1.2 * np.abs(before).max()
    weightless = dataclasses.replace(setup, gravity=(0.0, 0.0, 0.0))
    assert np.abs(done(studio, lambda: studio.set_up(weightless)).forces).max() < 1e-9
    done(studio, lambda: studio.set_up(dataclasses.replace(setup, payload=-1.0)))
    assert "negative" in studio.messages["refused"]
    np.testing.assert_array_equal(done(studio, lambda: studio.set_up(setup)).forces, before)
    assert studio.messages["refused"] == ""


def test_friction_can_be_left_out_of_a_motion(studio):
    name = "kim-ryu-2002/circle-40rpm"
    rubbing = done(studio, lambda: studio.choose_motion(name)).forces
    setup = dataclasses.replace(studio.setup, friction=False)
    smooth = done(studio, lambda: studio.seek(0.5), lambda: studio.set_up(setup)).forces
    assert studio.motion_name == name
    assert studio.player.now == 0.5
    wanted = studio.robot.inverse_dynamics(studio.shown.motion, friction=False).forces
    np.testing.assert_array_equal(smooth, wanted)
    assert np.abs(smooth - rubbing).max() > 1


def test_playing_looks_up_the_record(studio):
    shown = done(studio, lambda: studio.choose_motion("kim-ryu-2002/circle-60rpm"), studio.play)
    drawn = studio.frames
    studio.step(0.25)
    assert studio.shown is shown
    assert shown.motion.time[studio.sample] == pytest.approx(0.25, abs=1e-3)
    assert studio.frames == drawn + 1
    studio.set_speed(2.0)
    studio.step(0.25)
    assert shown.motion.time[studio.sample] == pytest.approx(0.75, abs=1e-3)
    studio.set_loop(False)
    studio.step(10.0)
    assert not studio.player.playing
    done(studio, studio.go_home, lambda: studio.choose_motion("circle"))
    assert (studio.player.speed, studio.player.loop) == (2.0, False)  # as the page still says
    place = shown.motion.position[-1] + np.array([0, 0, -0.01])
    moved = done(studio, lambda: studio.drag_to(place, np.array([1.0, 0, 0, 0])))
    assert studio.player is None  # whoever drags leaves the motion
    np.testing.assert_array_equal(moved.motion.position[0], place)


def test_what_is_not_on_offer_is_refused_by_the_studio(studio):
    shown = done(studio, studio.go_home)
    for request in (
        lambda: studio.choose_robot("../../secret.toml"),
        lambda: studio.choose_motion("/etc/passwd"),
    ):
        assert done(studio, request) is shown
        assert "on offer" in studio.messages["refused"]
    for values in (np.full(6, np.nan), np.full(6, 1e300)):
        assert done(studio, lambda values=values: studio.move_to(values)) is shown
    studio.drag_to(np.zeros(3), np.zeros(4))
    assert done(studio) is shown


def test_the_platform_bends_or_not(studio):
    with warnings.catch_warnings(action="ignore"):
        bent = done(studio, lambda: studio.choose_robot(LONG))
        assert bent.motion.modes == 10
        done(studio, lambda: studio.view(True, True, False, 30.0))
        assert studio.scene.magnified == 30.0
        stiff = dataclasses.replace(studio.setup, flexible=False, payload=20.0)
        shown = done(studio, lambda: studio.set_up(stiff))
        assert shown.motion.modes == 0
        assert shown.robot.platform.mass == pytest.approx(bent.robot.platform.mass + 20.0)
        done(studio, lambda: studio.choose_robot(KIM))
    assert studio.robot.name == KIM


def test_the_page_cannot_ask_for_a_public_address(studio):
    assert studio.server.request_share_url() is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such-robot"], "no such robot file or catalogue name"),
        (["gone.nc"], "gone.nc"),
        (["kim-ryu-2002", "--motion", "gone.csv"], "gone.csv"),
        (["kim-ryu-2002", "--host", "no.such.host.invalid"], "no address of this machine"),
        (["kim-ryu-2002", "--port", "99999"], "65535"),
    ],
)
def test_bad_arguments_end_in_one_line(arguments, said, tmp_path, monkeypatch, capsys):
    pytest.importorskip("viser", reason="viser is not installed")
    from gough.cli.app import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["gough", "studio", "--no-browser", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_the_command_takes_the_next_port_serves_and_ends(tmp_path):
    pytest.importorskip("viser", reason="viser is not installed")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        program = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background ignore it
from gough.cli.app import main
main()"""
        command = [sys.executable, "-c", program, "studio"]
        running = subprocess.Popen(
            [*command, KIM, "--no-browser", "--port", str(port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        try:
            line = running.stdout.readline()
            address = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            assert address, line
            assert int(address[1]) > port
            with urllib.request.urlopen(address[0], timeout=30) as page:
                assert page.status == 200
        finally:
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    assert f"port {port} is in use" in err
    assert "Traceback" not in err
    assert "ended" in out
