"""The studio in a real browser: Chromium without a screen, WebGL in software.

All tests share one server and one browser, because each start costs seconds; every test begins with
the robot it needs. With STUDIO_PICTURES set to a folder, every state is photographed there.
"""

import os
import re
import shutil
import socket
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import gough
from cases.common import impossible_bodies
from gough.show.page import Page
from gough.show.plots import force_curves
from gough.show.turnable import Turnable

CHROMIUM = shutil.which("chromium")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("viser", reason="viser is not installed")
from gough.studio.scene import View  # noqa: E402
from gough.studio.taking import PICTURE  # noqa: E402

PICTURES = os.environ.get("STUDIO_PICTURES")
pytestmark = [
    pytest.mark.second_tier,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    impossible_bodies,
]
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--enable-webgl",
    "--ignore-gpu-blocklist",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
ROBOT = """
format = 1
name = "desk hexapod"
home = { position = [0, 0, 0.5] }

[legs]
kind = "UPS"
base = [[0.3, 0.1, 0], [-0.05, 0.32, 0], [-0.25, 0.2, 0], [-0.25, -0.2, 0], [-0.05, -0.32, 0], [0.3, -0.1, 0]]
platform = [[0.15, 0.15, 0], [0.05, 0.2, 0], [-0.2, 0.05, 0], [-0.2, -0.05, 0], [0.05, -0.2, 0], [0.15, -0.15, 0]]
cross = { mass = 0.1 }
cylinder = { mass = 1, center_of_mass = [0, -0.1, 0], inertia = [[0.01, 0, 0], [0, 0.001, 0], [0, 0, 0.01]] }
rod = { mass = 0.5, center_of_mass = [0, 0, -0.1], inertia = [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.001]] }
limits = { stroke = [0.35, 0.75], force = 60, speed = 0.8 }

[platform]
mass = 8
inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.15]]
"""  # noqa: E501


def wait(condition, what, limit=30.0):
    """Until a condition holds; software WebGL on a busy machine may take a while."""
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, f"waited {limit:g} s in vain: {what}"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("studio")
    (place / "desk.toml").write_text(ROBOT, "utf-8")
    return place


@pytest.fixture(scope="module")
def studio(folder):
    from gough.cli.studio import start

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        running = start([str(folder / "desk.toml")], None, "127.0.0.1", port)
        assert running.server.get_port() != port
        if not PICTURES:  # shadows are dear without a graphics card
            running.view(View(shadows=False))
        yield running
    running.stop()
    assert not running.running


@pytest.fixture(scope="module")
def browser(studio):
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS, headless=True)
        yield chromium
        chromium.close()


def address(studio):
    return studio.server.address


SIZE = (1280, 800) if PICTURES else (820, 520)  # pixels are dear without a graphics card


def open_page(browser, studio, size=SIZE):
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.goto(address(studio))
    page.wait_for_selector("#studio-summary", timeout=40_000)
    # viser warns of software WebGL in a corner, over what is to be dragged
    page.add_style_tag(content=".mantine-Notifications-root { display: none !important }")
    return page


@pytest.fixture(scope="module")
def page(browser, studio):
    return open_page(browser, studio)


def photograph(page, name):
    if PICTURES:
        page.wait_for_timeout(1200)
        page.screenshot(path=Path(PICTURES) / f"{name}.png", timeout=90_000)


def tab(page, name):
    page.get_by_role("tab", name=name, exact=True).click()


def choose(page, studio, label, value):
    """An entry of a drop-down list, as a user picks it: a list that closed is opened again."""
    entry = page.get_by_role("option", name=value, exact=True)
    for left in reversed(range(6)):
        page.get_by_label(label, exact=True).first.click()
        try:
            return entry.click(timeout=5_000)
        except playwright.TimeoutError:
            if not left:
                raise


def press(page, name, condition):
    """A button, as a user presses it: again when the page moved away under the pointer."""
    for left in reversed(range(6)):
        page.get_by_role("button", name=name, exact=True).click()
        try:
            return wait(condition, name, 5.0)
        except AssertionError:
            if not left:
                raise


def numbers(page):
    return page.locator("#studio-summary").inner_text()


def begin(studio, folder, page, label="desk.toml"):
    """A robot at home, the page at its first tab, nothing else going on."""
    label = str(folder / label) if label.endswith(".toml") else label
    ready = threading.Event()
    studio.choose_robot(label)
    studio.go_home()
    studio._requests.put(ready.set)
    assert ready.wait(60)
    assert studio.label == label
    tab(page, "Pose")
    page.locator("#studio-message").wait_for(state="detached", timeout=30_000)


def says(page, text):
    """Wait until the page's message has a text."""
    page.locator("#studio-message", has_text=text).wait_for(timeout=30_000)


def test_a_slider_moves_the_platform_and_the_numbers(page, studio, folder):
    begin(studio, folder, page)
    before, drawn, z = numbers(page), studio.frames, studio.shown.motion.position[0, 2]
    photograph(page, "pose")
    field = page.get_by_role("textbox").nth(2)
    field.fill("0.56")
    field.press("Enter")
    wait(
        lambda: abs(studio.shown.motion.position[0, 2] - 0.56) < 1e-9, "the platform at z = 0.56 m"
    )
    wait(lambda: numbers(page) != before, "other numbers on the page")
    assert z == 0.5
    assert studio.frames > drawn
    legs = studio.robot.inverse_kinematics(studio.shown.motion).q
    text = page.locator("table").first.inner_text()
    assert all(f"{q:.4f}" in text for q in legs[0])


def test_the_handle_can_be_dragged(page, studio, folder):
    begin(studio, folder, page)
    page.wait_for_timeout(500)
    tip = on_screen(page, studio, np.array([0.0, 0, 0.5 + 0.75 * studio.scene.handles[0].scale]))
    page.mouse.move(tip[0] + 1, tip[1])
    page.mouse.move(*tip)
    page.wait_for_timeout(200)  # the handle notices the mouse when the next frame is drawn
    page.mouse.down()
    for k in range(1, 9):
        page.mouse.move(tip[0], tip[1] - 5 * k)
        page.wait_for_timeout(30)
    wait(lambda: studio.shown.motion.position[0, 2] > 0.51, "the platform follows the mouse")
    photograph(page, "dragged")
    page.mouse.up()
    box = page.get_by_role("textbox").nth(2)

    def together():
        height = studio.shown.motion.position[0, 2]
        seen = float(box.input_value())
        return (
            abs(seen - height) < 1e-3 and abs(studio.scene.handles[0].position[2] - height) < 1e-9
        )

    wait(together, "slider and handle where the platform is")
    assert studio.shown.motion.position[0, 2] > 0.51


def on_screen(page, studio, point):
    """Pixels at which a point of the world (3,) is seen, from the camera the browser reports."""
    client = next(iter(studio.server.get_clients().values()))
    camera = client.camera
    forward = camera.look_at - camera.position
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, camera.up_direction)
    right = right / np.linalg.norm(right)
    up = np.cross(right, forward)
    away = point - camera.position
    box = page.locator("canvas").first.bounding_box()
    scale = box["height"] / 2 / np.tan(camera.fov / 2) / (away @ forward)
    return (
        box["x"] + box["width"] / 2 + scale * (away @ right),
        box["y"] + box["height"] / 2 - scale * (away @ up),
    )


def test_out_of_reach_is_told_and_not_taken(page, studio, folder):
    begin(studio, folder, page)
    tab(page, "Robot")
    choose(page, studio, "Robot", "sinatra-xi-staicu-2009")
    wait(lambda: studio.shown.robot.name == "sinatra-xi-staicu-2009", "another robot")
    wait(lambda: "sinatra" in page.locator("body").inner_text(), "its name on the page")
    photograph(page, "robot")
    good = studio.shown.motion.position[0].copy()
    studio.drag_to(good + np.array([0, 0, 3.0]), np.array([1.0, 0, 0, 0]))
    says(page, "out of reach")
    assert np.array_equal(studio.shown.motion.position[0], good)
    tab(page, "Pose")
    photograph(page, "out-of-reach")
    studio.go_home()
    wait(lambda: page.locator("#studio-message").count() == 0, "the message is gone")


def test_a_motion_plays_smoothly(page, studio, folder):
    begin(studio, folder, page, "sinatra-xi-staicu-2009")
    tab(page, "Motion")
    choose(page, studio, "Motion", "sinatra-xi-staicu-2009/vertical")
    wait(lambda: studio.player is not None, "a motion")
    press(page, "Play", lambda: studio.player.playing)
    wait(
        lambda: page.get_by_role("button", name="Pause", exact=True).count() == 1, "a pause button"
    )
    first, started = studio.frames, time.monotonic()
    page.wait_for_timeout(2000)
    rate = (studio.frames - first) / (time.monotonic() - started)
    assert rate > 8  # 30 on a machine of its own; here others may compete
    photograph(page, "motion")
    moving = studio.player.now
    press(page, "Pause", lambda: not studio.player.playing)
    assert studio.player.now >= moving or studio.player.loop
    sample = studio.shown.motion[studio.sample]
    assert abs(sample.time - studio.player.now) < 0.01
    tab(page, "Numbers")
    photograph(page, "numbers")


def test_two_pages_show_the_same_and_one_may_be_closed_while_it_plays(
    page, browser, studio, folder
):
    begin(studio, folder, page, "sinatra-xi-staicu-2009")
    other = open_page(browser, studio, (700, 500))
    studio.choose_motion("circle")
    studio.play()
    wait(lambda: studio.player is not None and studio.player.playing, "playing")
    seen = numbers(other)
    wait(lambda: numbers(other) != seen, "numbers on the second page")
    other.close()
    wait(lambda: len(studio.server.get_clients()) == 1, "one page left")
    drawn = studio.frames
    wait(lambda: studio.frames > drawn + 5, "it plays on")
    assert studio.running
    seen = numbers(page)
    wait(lambda: numbers(page) != seen, "numbers on the first page")
    studio.play()
    wait(lambda: not studio.player.playing, "paused")


def test_a_broken_robot_file_keeps_the_last_good_robot(page, studio, folder):
    begin(studio, folder, page)
    force = abs(studio.shown.forces).max()
    (folder / "desk.toml").write_text(ROBOT.replace("mass = 8", "mass = 'heavy'"), "utf-8")
    wait(lambda: "platform.mass" in studio.messages.get("file", ""), "the error")
    says(page, "last good")
    assert abs(studio.shown.forces).max() == force
    photograph(page, "broken-file")
    (folder / "desk.toml").write_text(ROBOT.replace("mass = 8", "mass = 16"), "utf-8")
    wait(lambda: abs(studio.shown.forces).max() > 1.3 * force, "the mended robot")
    wait(lambda: page.locator("#studio-message").count() == 0, "the message is gone")
    (folder / "desk.toml").write_text(ROBOT, "utf-8")
    wait(lambda: abs(studio.shown.forces).max() == force, "the first robot again")


def test_a_flexible_platform_is_drawn_deformed(page, studio, folder):
    begin(studio, folder, page, "long-khalil-martinet-2014")
    wait(lambda: "moved by" in page.locator("body").inner_text(), "the colour bar")
    assert studio.scene.deepest > 1e-3
    assert studio.scene.view.magnified > 1
    photograph(page, "flexible")


def test_forces_and_pictures_can_be_taken_away(page, studio, folder):
    begin(studio, folder, page)
    tab(page, "Motion")
    with page.expect_download(timeout=30_000) as waiting:
        page.get_by_role("button", name="Forces, CSV").click()
    lines = Path(waiting.value.path()).read_text("utf-8").splitlines()
    assert "force1 [N]" in lines[0]
    assert len(lines) == 2
    with page.expect_download(timeout=60_000) as waiting:
        page.get_by_role("button", name="Picture, PNG").click()
    with Image.open(waiting.value.path()) as picture:
        assert picture.size == PICTURE
        assert len(picture.getcolors(1_000_000)) > 1000  # lit and shaded parts, not an empty page


def test_pages_from_elsewhere_are_refused(studio):
    port, home = studio.server.get_port(), f"/{studio.server.token}/"
    good = f"127.0.0.1:{port}"
    assert get(port, home, good) == 200
    assert get(port, home, f"localhost:{port}") == 200
    assert get(port, home, f"evil.example:{port}") == 403
    assert get(port, home, good, "http://evil.example") == 403
    assert get(port, home, good, upgrade=True, origin="http://evil.example") == 403
    assert get(port, home, f"evil.example:{port}", upgrade=True) == 403
    assert get(port, home, good, upgrade=True, origin=f"http://{good}") == 101
    assert get(port, f"{home}../../../../etc/passwd", good) == 404
    assert get(port, f"{home}%2e%2e/%2e%2e/viser/_viser.py", good) == 404


def get(port, path, host, origin=None, upgrade=False):
    """Status of a raw request."""
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}"]
    if origin:
        lines.append(f"Origin: {origin}")
    if upgrade:
        lines += ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]
        lines.append("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
    with socket.create_connection(("127.0.0.1", port), timeout=20) as stream:
        stream.sendall("\r\n".join([*lines, "", ""]).encode())
        return int(stream.recv(64).split()[1])


def test_pages_turn_and_show_values_without_a_server(browser, tmp_path):
    robot = gough.load("kim-ryu-2002")
    motion = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=40).sample(21)
    page = Page("a robot")
    page.turnable(Turnable.of(robot, motion), "turns")
    forces = robot.inverse_dynamics(motion)
    page.figure(force_curves(motion, forces), "forces")
    page.write(tmp_path / "page.html")
    view = browser.new_page(viewport={"width": 600, "height": 500})
    troubles = []
    view.on("pageerror", lambda one: troubles.append(str(one)))
    view.on("console", lambda one: troubles.append(one.text) if one.type == "error" else None)
    view.on("request", lambda one: troubles.append(one.url) if "http" in one.url[:5] else None)
    view.goto((tmp_path / "page.html").as_uri())
    canvas = view.locator("canvas")
    canvas.wait_for(timeout=30_000)
    look = "one => one.toDataURL()"
    before = canvas.evaluate(look)
    box = canvas.bounding_box()
    view.mouse.move(box["x"] + 100, box["y"] + 100)
    view.mouse.down()
    view.mouse.move(box["x"] + 200, box["y"] + 130, steps=3)
    view.mouse.up()
    wait(lambda: canvas.evaluate(look) != before, "it turns")
    view.locator("input[type=range]").fill("10")
    assert "0.75 s" in view.locator("output").inner_text()
    hover = view.locator(".gough-hover")
    hover.scroll_into_view_if_needed()
    box = hover.bounding_box()
    view.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.3 * box["height"])
    said = view.locator(".values").inner_text()
    at = float(re.search(r"time \[s\] ([\d.]+)", said)[1])
    sample = int(np.argmin(np.abs(motion.time - at)))
    assert f"leg 3  {forces.forces[sample, 2]:.5g}".rstrip("0") in said
    photograph(view, "page")
    view.emulate_media(media="print")
    assert not canvas.is_visible()
    assert view.locator("img").first.is_visible()
    view.close()
    assert not troubles


def test_a_path_is_planned_and_played(page, studio, folder):
    begin(studio, folder, page)
    tab(page, "Plan")
    page.get_by_role("button", name="How far from here?", exact=True).click()
    table = page.locator("#studio-room")
    table.wait_for(timeout=30_000)
    assert "stroke" in table.inner_text()
    button = {name: page.get_by_role("button", name=name, exact=True) for name in PLANNING}
    button["Add this pose"].click()
    studio.move_to(np.array([0.05, 0, 0.52, 0, 0, 0]))
    wait(lambda: studio.shown.motion.position[0, 0] == 0.05, "another pose")
    button["Add this pose"].click()
    page.locator("#studio-path li").nth(1).wait_for(timeout=30_000)
    photograph(page, "plan")
    button["Plan and play"].click()
    wait(lambda: studio.motion_name == "path through poses", "a motion through the poses", 120)
    wait(lambda: studio.player.playing, "that it plays")
    assert studio.robot.check(studio.shown.motion).ok
    np.testing.assert_allclose(studio.shown.motion.position[-1], [0.05, 0, 0.52], atol=1e-9)
    tab(page, "Motion")
    wait(lambda: "% of the time" in page.locator("body").inner_text(), "what holds it back")
    photograph(page, "planned")
    planned = studio.shown.motion.time[-1]
    tab(page, "Plan")
    page.get_by_text("Limits beside the file's", exact=True).click()
    speed = page.get_by_label("Speed [m/s, rad/s]", exact=True)
    speed.fill("0.02")
    speed.press("Enter")
    button["Retime this motion"].click()
    wait(lambda: studio.motion_name == "the same path, retimed", "a slower motion", 120)
    assert studio.shown.motion.time[-1] > planned
    speeds = np.abs(studio.robot.inverse_kinematics(studio.shown.motion).qd)
    assert 0.019 < speeds.max() < 0.02 * (1 + 1e-6)
    photograph(page, "retimed")
    speed.fill("0")
    speed.press("Enter")
    button["Clear"].click()
    wait(lambda: not studio.poses, "no path")
    button["Plan and play"].click()
    says(page, "a path needs two poses")


PLANNING = ("Add this pose", "Plan and play", "Retime this motion", "Clear")


@pytest.mark.parametrize("way", ["classical washout", "optimised"])
def test_a_vehicle_is_felt(page, studio, folder, way):
    begin(studio, folder, page)
    tab(page, "Plan")
    feel = page.get_by_role("button", name="Cue and play", exact=True)
    if not feel.is_visible():
        page.get_by_text("A vehicle felt", exact=True).click()
    choose(page, studio, "Cueing", way)
    feel.click()
    wait(lambda: studio.motion_name == f"lane change of a car, {way}", "a cue", 120)
    wait(lambda: studio.player.playing, "that it plays")
    assert studio.robot.check(studio.shown.motion).ok
    tab(page, "Motion")
    wait(lambda: "used at most" in page.locator("body").inner_text(), "shares of the limits")
    photograph(page, f"felt-{way.split()[0]}")
