"""The studio as a server: who may ask, what it answers, how it starts and ends."""

import dataclasses
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import warnings

import numpy as np
import pytest

import gough
from cases.command import refused
from cases.common import KIM, LONG
from cases.errors import refusal
from gough.cli.studio import opened
from gough.errors import InputError
from gough.motion import Motion
from gough.robot import Robot
from gough.studio.guard import allowed, free_port
from gough.studio.library import Library
from gough.studio.notebook import open_studio
from gough.studio.record import record
from gough.studio.scene import View
from gough.studio.setup import StudioSetup


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
    with refusal(InputError, "address"):
        free_port("192.0.2.7", 8080)
    with refusal(InputError, "address"):
        free_port("no.such.host.invalid", 8080)
    with refusal(InputError, 65535):
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
    setup = StudioSetup.of(studio.library.load(KIM).robot)
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
    sliders = [one.value for one in studio.panel._pose._sliders[:3]]
    np.testing.assert_allclose(sliders, studio.shown.motion.position[0], atol=1e-3)
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


def test_the_platform_is_flexible_or_not(studio):
    with warnings.catch_warnings(action="ignore"):
        flexible = done(studio, lambda: studio.choose_robot(LONG))
        assert flexible.motion.modes == 10
        done(studio, lambda: studio.view(View(weight=True, handle=False, magnified=30.0)))
        assert studio.scene.view.magnified == 30.0
        stiff = dataclasses.replace(studio.setup, flexible=False, payload=20.0)
        shown = done(studio, lambda: studio.set_up(stiff))
        assert shown.motion.modes == 0
        assert shown.robot.platform.mass == pytest.approx(flexible.robot.platform.mass + 20.0)
        done(studio, lambda: studio.choose_robot(KIM))
    assert studio.robot.name == KIM


def asked(studio, path, upgrade=False):
    """Status and headers of a raw request, as another user of this machine would send it."""
    port = studio.server.get_port()
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
    if upgrade:
        lines += ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]
        lines.append("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
    with socket.create_connection(("127.0.0.1", port), timeout=20) as stream:
        stream.sendall("\r\n".join([*lines, "", ""]).encode())
        head = stream.recv(4096).decode("latin-1").partition("\r\n\r\n")[0]
    return int(head.split()[1]), head.lower()


def test_without_the_token_nothing_is_answered(studio):
    token = studio.server.token
    assert len(token) == 22
    for path in (
        "/",
        "/index.html",
        f"/{token[:-1]}/",
        f"/{token}x/",
        "/?" + token,
        f"//{token}/",
        "/é",
    ):
        for upgrade in (False, True):
            assert asked(studio, path, upgrade)[0] in (400, 403), path
    for path in (
        f"/{token}",
        f"/{token}/",
        f"/{token}/index.html",
        f"/{token}?a=b",
        f"/{token}/?a=b",
    ):
        assert asked(studio, path)[0] == 200, path
        assert asked(studio, path, True)[0] == 101, path


def test_what_is_no_page_says_nothing_or_a_line(tmp_path):
    """Whoever reaches the port, and a page that sends nonsense, could fill the terminal."""
    pytest.importorskip("viser", reason="viser is not installed")
    program = """
import asyncio, socket, sys, time, viser, websockets
from gough.studio.server import StudioServer
server = StudioServer("127.0.0.1", int(sys.argv[1]))
field = server.gui.add_number("x", 0.0)
update = b"\\x83\\xa4type\\xb0GuiUpdateMessage\\xa4uuid\\xd9" + bytes([len(field._impl.uuid)])
update += field._impl.uuid.encode() + b"\\xa7updates\\x81\\xa5value\\x80"
for junk in (b"\\x16\\x03\\x01", b"POST / HTTP/1.1\\r\\n\\r\\n", b""):
    with socket.create_connection(("127.0.0.1", server.get_port())) as stream:
        stream.sendall(junk)
async def ask():
    address, own = server.address.replace("http", "ws"), ["viser-v" + viser.__version__]
    for junk in ("text", b"\\xc1", update):
        async with websockets.connect(address, subprotocols=own) as page:
            await page.send(junk)
            await asyncio.sleep(0.3)
asyncio.run(ask())
time.sleep(0.5)
"""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-c", program, str(port)]
    said = subprocess.run(words, capture_output=True, text=True, timeout=100, check=True).stderr
    (line,) = said.splitlines()
    assert line.startswith("note: a page sent what is not understood: TypeError: 'float() argument")


def test_the_token_is_no_argument_of_the_browser(tmp_path, monkeypatch):
    """All users of a machine see the arguments of its programs."""
    asked = []
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", asked.append)
    with opened("http://127.0.0.1:8080/secret/"):
        (page,) = tmp_path.iterdir()
        assert asked == [page.as_uri()]
        assert page.stat().st_mode & 0o777 == 0o600
        assert "url=http://127.0.0.1:8080/secret/" in page.read_text()
    assert not [*tmp_path.iterdir()]


def test_no_page_shows_the_studio_in_a_frame(studio):
    status, head = asked(studio, f"/{studio.server.token}/")
    assert status == 200
    assert "content-security-policy: frame-ancestors 'none'" in head
    assert "x-frame-options: deny" in head
    assert "referrer-policy: no-referrer" in head


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
def test_bad_arguments_end_in_one_line(arguments, said, tmp_path):
    pytest.importorskip("viser", reason="viser is not installed")
    assert said in refused("studio", "--no-browser", *arguments, cwd=tmp_path)


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
            address = re.search(r"http://127\.0\.0\.1:(\d+)/[\w-]{22}/", line)
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


class Page:
    """What a browser knows of the nodes' turns: it keeps that of a name, also through another create."""

    def __init__(self, scene):
        self.turns = {}
        self._queue = scene._queue_scene_message
        scene._queue_scene_message = self.see

    def see(self, message):
        if type(message).__name__ == "SetOrientationMessage":
            self.turns[message.name] = message.wxyz
        self._queue(message)

    def turn(self, handle):
        return self.turns.get(handle.name, (1.0, 0.0, 0.0, 0.0))


def test_another_robot_does_not_inherit_how_the_one_before_stood(studio, monkeypatch):
    """A turn equal to a new node's default is never sent."""
    scene = studio.server.scene
    monkeypatch.setattr(scene, "_queue_scene_message", scene._queue_scene_message)
    page = Page(scene)
    with warnings.catch_warnings(action="ignore"):
        done(studio, lambda: studio.choose_robot("dietmaier-1998"))
        assert np.abs(studio.shown.wxyz[0] - [1, 0, 0, 0]).max() > 0.1
        done(studio, lambda: studio.choose_robot(KIM), studio.go_home)
    for handle in (studio.scene.handles[0], studio.scene._platform):
        np.testing.assert_allclose(page.turn(handle), studio.shown.wxyz[0], atol=1e-12)


def test_a_pose_beyond_the_sliders_moves_their_ends(studio):
    done(studio, lambda: studio.choose_robot(KIM), studio.go_home)
    sliders = studio.panel._pose._sliders
    ends = [(one.min, one.max) for one in sliders]
    beyond = studio.robot.home.position + np.array([0.0, ends[1][1] + 0.004, 0.1])
    shown = done(studio, lambda: studio.drag_to(beyond, np.array([1.0, 0, 0, 0])))
    np.testing.assert_array_equal(shown.motion.position[0], beyond)
    assert [one.value for one in sliders[:3]] == pytest.approx(beyond, abs=6e-4)
    assert all(one.min <= one.value <= one.max for one in sliders)
    assert sliders[1].max > ends[1][1]
    done(studio, studio.go_home)
    assert [(one.min, one.max) for one in sliders] == ends


def test_what_is_past_a_limit_is_said():
    pytest.importorskip("viser", reason="viser is not installed")
    from gough.studio.motions import at_rest
    from gough.studio.tables import past_limits

    robot = Robot.load(KIM)
    q = robot.inverse_kinematics(robot.home).q
    stroke = [float(q.min()) - 0.02, float(q.max()) + 0.02]
    short = robot.edited({"legs.limits.stroke": stroke, "legs.limits.force": 1.0})
    assert past_limits(at_rest(robot, robot.home), 0) == ""
    said = past_limits(at_rest(short, Motion([0.1, 0, robot.home.position[2]])), 0)
    assert re.search(r"leg \d is out of its stroke: q is ", said)
    assert f"limits {stroke[0]:.6g} to {stroke[1]:.6g} m" in said
    assert re.search(r"force of leg \d is \S+ % of its limit", said)


def test_a_limit_that_is_left_is_said_on_the_page(studio):
    done(studio, lambda: studio.choose_robot(KIM), studio.go_home)
    assert studio.messages.get("limits", "") == ""
    limited = studio.robot.edited({"legs.limits.force": 1e-3})
    studio.robot = limited
    done(studio, studio.go_home)
    assert "of its limit" in studio.messages["limits"]
    done(studio, lambda: studio.choose_robot(KIM), studio.go_home)
    assert studio.messages["limits"] == ""


def test_without_a_motion_there_is_nothing_to_play(studio):
    shown = done(studio, studio.go_home)
    assert done(studio, studio.play) is shown
    assert studio.player is None
    assert "choose one first" in studio.messages["refused"]


def test_jogs_turn_about_the_pivot_that_the_handle_holds(studio):
    done(studio, lambda: studio.choose_robot(KIM), studio.go_home)
    pivot = np.array([0.0, 0.0, 0.1])
    done(studio, lambda: studio.set_pivot(pivot))
    held = studio.robot.home.position + pivot
    np.testing.assert_allclose(studio.scene.handles[0].position, held)
    shown = done(studio, lambda: studio.jog(np.array([0, 0, 0, 0.1, 0, 0]), False))
    np.testing.assert_allclose(
        shown.motion.position[0] + shown.motion.rotation[0] @ pivot, held, atol=1e-12
    )
    np.testing.assert_allclose(studio.scene.handles[0].position, held, atol=1e-12)
    turn = shown.wxyz[0]
    back = done(studio, lambda: studio.drag_to(held, np.array([1.0, 0, 0, 0])))
    np.testing.assert_allclose(back.motion.position[0], studio.robot.home.position, atol=1e-12)
    assert np.abs(turn - back.wxyz[0]).max() > 0.01
    done(studio, lambda: studio.set_pivot(np.zeros(3)), studio.go_home)


def test_lengths_can_be_shown_in_millimetres(studio):
    done(studio, lambda: studio.choose_robot(KIM), studio.go_home)
    tab = studio.panel._pose
    before = [(one.min, one.max, one.value) for one in tab._sliders]
    tab._unit.value = "mm, °"
    tab._choose_units()
    for i, (slider, was) in enumerate(zip(tab._sliders, before, strict=True)):
        factor = 1000.0 if i < 3 else 1.0
        assert (slider.min, slider.max, slider.value) == pytest.approx([factor * x for x in was])
    tab._sliders[2].value = 810.0
    shown = done(studio, tab._moved)
    assert shown.motion.position[0, 2] == pytest.approx(0.81)
    done(studio, lambda: studio.redraw())
    assert "q [mm]" in tab.legs.content
    tab._unit.value = "m, rad"
    tab._choose_units()
    done(studio, studio.go_home)
    np.testing.assert_allclose([(one.min, one.max, one.value) for one in tab._sliders], before)


def test_a_notebook_of_this_machine_may_show_it(kim):
    motion = gough.trajectories.Circle(kim.home.position, 0.05, rpm=20).sample(11)
    shown = open_studio(kim, motion)
    try:
        wait_for(lambda: shown.running.player is not None)
        assert f'src="{shown.address}"' in shown._repr_html_()
        with urllib.request.urlopen(shown.address, timeout=20) as answer:
            assert "http://localhost:*" in answer.headers["Content-Security-Policy"]
            assert "X-Frame-Options" not in answer.headers
    finally:
        shown.stop()
    with refusal(InputError, "times"):
        open_studio(kim, kim.home)


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
