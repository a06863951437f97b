"""Reports: pages that hold what was computed, need nothing from outside, and take all text as text."""

from __future__ import annotations

import base64
import html.parser
import json

import numpy as np
import pytest
import xarray
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

import gough
from cases import command
from cases.errors import refusal
from gough.data.datasets import force_dataset, leg_dataset, write_dataset
from gough.data.motion_files import write_motion
from gough.errors import FileError, InputError, UnstableWarning
from gough.show.hover import curves_of
from gough.show.layout import SceneLayout
from gough.show.page import Hyperlink, Marked, Page
from gough.show.parts import robot_parts
from gough.show.pictures.simulation import overview
from gough.show.plots import leg_curves
from gough.show.report import result_page, robot_page
from gough.show.report.result import read_result
from gough.show.style import picture
from gough.show.turnable import Turnable
from gough.show.web import web_part
from gough.simulation import ComputedTorque
from gough.trajectories import Circle

VOID = {"meta", "img", "br", "col"}
HOSTILE = "<script>alert(1)</script> \"'&\x1b[31m</title><img src=http://evil/x onerror=y>"


class Reader(html.parser.HTMLParser):
    """Headings, tables and sources of a page; tags must close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.sources, self.links, self.headings, self.tags = [], [], [], [], []
        self.tables, self.scripts, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        given = dict(attributes)
        assert not any(name.startswith("on") for name in given)
        if "src" in given:
            self.sources.append(given["src"])
        if "href" in given:
            self.links.append(given["href"])
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag in ("h1", "h2", "h3"):
            self.headings.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            return
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
            return
        self.text += data
        if {"td", "th"} & {*self.open}:
            self.tables[-1][-1][-1] += data
        if {"h1", "h2", "h3"} & {*self.open}:
            self.headings[-1] += data


def read(page: Page) -> Reader:
    text = page.html()
    found = Reader(text)
    assert all(one.startswith("data:image/") for one in found.sources)
    assert all(one.startswith("#") for one in found.links)
    assert not {"link", "iframe", "object", "base"} & {*found.tags}
    own = [script for name in ("hover", "turnable") for script in web_part(name)[1:]]
    assert all(one in own or json.loads(one) for one in found.scripts)
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    return found


@pytest.fixture(scope="module")
def kim():
    return gough.load("kim-ryu-2002")


@pytest.fixture(scope="module")
def circle():
    return Circle([0, 0, 0.8], 0.1, rpm=40).sample(41)


@pytest.fixture(scope="module")
def run(kim):
    soft = kim.edited({"legs.friction.width": 0.005})
    return gough.simulate(soft, ComputedTorque(40.0), Circle([0, 0, 0.8], 0.1, rpm=40), 0.01)


@pytest.fixture
def undrawn(monkeypatch):
    """Pictures laid out but not rendered, where a test is about the rest of the page."""
    monkeypatch.setattr("gough.show.page.picture", lambda figure, kind: b"<svg/>")


# The page itself


@settings(max_examples=30)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=1, max_size=4))
def test_any_text_comes_back_from_a_page(texts):
    page = Page(texts[0], texts[-1])
    page.table(texts, [texts, [Marked(one, "bad") for one in texts]], texts[0])
    page.facts([(one, one) for one in texts])
    page.points(texts)
    page.commands([(one, one) for one in texts])
    page.chapter(texts[0], texts[-1])
    found = read(page)
    assert found.headings[0] == texts[0]
    assert found.tables[0] == [texts] * 3
    assert found.tables[1] == [[one, one] for one in texts]


def test_columns_of_numbers_are_aligned_right_and_vectors_have_columns():
    page = Page("t")
    rows = [["a", "1.5e-3", ["1", "−2", "3"], "2 % of it"], ["b", "–", ["0", "0", ""], "x"]]
    page.table(["", "n", "v", "w"], rows)
    text = page.html()
    assert '<td class="number">1.5e-3</td>' in text
    assert '<td class="number">–</td>' in text
    assert '<th colspan="3" class="vector">v</th>' in text
    assert '<td class="number">−2</td>' in text
    assert "<td>2 % of it</td>" in text


def test_pictures_are_embedded_and_many_points_become_pixels(monkeypatch):
    monkeypatch.setattr("gough.show.page.LARGEST_SVG", 60_000)
    page = Page("t")
    small, large = Figure(), Figure()
    small.subplots().plot([1, 2])
    rng = np.random.default_rng(0)
    large.subplots().plot(*rng.normal(size=(2, 5_000)))
    page.figure(small, "<small>")
    page.figure(large, "large")
    page.image(picture(small, "png"), "ready")
    found = read(page)
    kinds = [one.split(";")[0] for one in found.sources]
    assert kinds == ["data:image/svg+xml", "data:image/png", "data:image/png"]


def test_a_page_is_written_whole_or_not_at_all(tmp_path):
    page = Page("t")
    page.points([Hyperlink("there", "#here", "remark")])
    with refusal(FileError, "exist"):
        page.write(tmp_path / "no" / "page.html")
    page.write(tmp_path / "page.html")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


# Robots


def test_robot_page_with_a_motion_has_the_numbers(kim, circle):
    kim = kim.edited({"legs.limits.stroke": [0.2, 0.25], "legs.limits.force": 60.0})
    found = read(robot_page(kim, circle, what="a circle"))
    assert "leg 1: stroke" in found.text
    assert "leg 1: force" in found.text
    assert found.headings[0] == kim.name
    for heading in ("Checks", "Drawings", "Geometry", "Masses", "Limits", "Home", "Along a circle"):
        assert heading in found.headings
    assert len(found.sources) == 6  # robot, views, home; path, forces, coordinates
    forces, q = kim.inverse_dynamics(circle).forces, kim.inverse_kinematics(circle).q
    (table,) = [one for one in found.tables if "peak force [N]" in one[0]]
    peaks = [float(row[1]) for row in table[1:]]
    expected = np.take_along_axis(forces, abs(forces).argmax(axis=0)[np.newaxis], axis=0)[0]
    np.testing.assert_allclose(peaks, expected, rtol=1e-3)
    times = [float(row[2]) for row in table[1:]]
    np.testing.assert_allclose(times, circle.time[abs(forces).argmax(axis=0)], rtol=1e-3)
    (table,) = [one for one in found.tables if "shortest q [m]" in one[0]]
    np.testing.assert_allclose([float(row[1]) for row in table[1:]], q.min(axis=0), rtol=1e-3)
    (table,) = [one for one in found.tables if "holding force [N]" in one[0]]
    holding = [float(row[-2]) for row in table[1:]]
    assert table[0][-1] == "of the limit [%]"
    np.testing.assert_allclose(holding, kim.inverse_dynamics(kim.home).forces, atol=0.006)


def test_rms_of_a_sine_is_its_amplitude_over_root_two(undrawn):
    time = np.linspace(0, 1, 2001) ** 2  # uneven: samples alone would give another number
    wave = np.sqrt(2) * np.sin(2 * np.pi * 3 * time)
    data = xarray.Dataset(
        {name: (("time", "actuator"), wave[:, np.newaxis]) for name in ("force", "power")},
        {"time": time, "actuator": [1]},
    )
    (table,) = [one for one in read(result_page(data)).tables if one and "actuator" in one[0]]
    rms = float(table[1][table[0].index("rms force [N]")])
    assert abs(rms - 1) < 1e-3
    assert abs(np.sqrt(np.mean(wave**2)) - 1) > 1e-2


@pytest.mark.second_tier
def test_page_of_a_flexible_robot_has_modes_and_frequencies(undrawn):
    robot = gough.load("long-khalil-martinet-2014")
    found = read(robot_page(robot, warned=["what was said when it was loaded"]))
    assert "Flexible platform" in found.headings
    assert "what was said when it was loaded" in found.text
    (table,) = [one for one in found.tables if one[0] == ["mode", "Hz"]]
    with pytest.warns(UnstableWarning):
        expected = robot.natural_frequencies(robot.home).frequencies
    assert "cannot stand in the pose with its actuators locked" in found.text
    shown = [float(row[1].replace("−", "-")) for row in table[1:]]
    np.testing.assert_allclose(shown, expected, rtol=1e-3)


def minimal(legs=6, home=True, **keys):
    angle = 2 * np.pi * np.arange(legs) / legs
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    turned = np.stack([np.cos(angle + 0.4), np.sin(1.1 * angle + 0.4), 0 * angle], axis=-1)
    given = {"format": 1, "name": "minimal", **keys}
    given["legs"] = {"kind": "UPS", "base": ring, "platform": 0.5 * turned}
    if home:
        given["home"] = {"position": [0, 0, 1.0]}
    else:
        given["legs"]["axis"] = [[1.0, 0.0, 0.0]] * legs
    return gough.Robot.from_dict(given)


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize(("legs", "home"), [(3, True), (6, False), (7, True)])
def test_pages_of_robots_that_lack_things(legs, home):
    found = read(robot_page(minimal(legs, home)))
    assert "no dynamics" in found.text
    assert ("Drawings" in found.headings) == home
    assert ("Home" in found.headings) == home


def test_a_home_out_of_reach_is_said(kim):
    found = read(robot_page(kim.edited({"home.position": [0, 0, 5.0]})))
    assert "No drawing" in found.text
    assert "leg 1" in found.text


@pytest.mark.second_tier
def test_hostile_names_are_text():
    name = "$x^$" + HOSTILE.replace("\x1b", "")
    robot = minimal(name=name, source=HOSTILE, assumed=[HOSTILE])
    found = read(robot_page(robot, warned=[HOSTILE]))
    assert found.headings[0] == name
    assert HOSTILE not in "".join(found.scripts)


# Results


def test_force_and_leg_results(undrawn, kim, circle, tmp_path):
    found = {
        "f.nc": force_dataset(
            kim, circle, kim.inverse_dynamics(circle), kim.contributions(circle), kim.reactions(circle)
        ),
        "k.nc": leg_dataset(kim, circle, kim.inverse_kinematics(circle)),
    }  # fmt: skip
    for name, dataset in found.items():
        write_dataset(dataset, tmp_path / name)
    page = read(result_page(read_result(tmp_path / "f.nc"), "f.nc"))
    assert page.headings[0] == "Forces of kim-ryu-2002"
    assert "Joint reactions" in page.headings
    (table,) = [one for one in page.tables if one[0][0] == "largest share [N]"]
    gravity = [float(one) for one in table[1][1:]]
    expected = abs(kim.contributions(circle).gravity).max(axis=0)
    np.testing.assert_allclose(gravity, expected, rtol=1e-3)
    (table,) = [one for one in page.tables if "guide [N]" in one[0]]
    for name, column in (("guide", "guide [N]"), ("guide_moment", "guide moment [N m]")):
        load = np.linalg.norm(getattr(kim.reactions(circle), name), axis=-1).max(axis=0)
        place = table[0].index(column)
        np.testing.assert_allclose([float(row[place]) for row in table[1:]], load, rtol=2e-3)
    page = read(result_page(read_result(tmp_path / "k.nc"), "k.nc"))
    assert page.headings[0] == "Legs of kim-ryu-2002"
    assert len(page.sources) == 1


@pytest.mark.parametrize("shape", [(), (1,), (3, 1, 2)])
def test_results_of_any_batch_shape(kim, shape):
    home = kim.home
    motion = gough.Motion(np.broadcast_to(home.position, (*shape, 3)), home.rotation)
    found = read(result_page(force_dataset(kim, motion, kim.inverse_dynamics(motion))))
    (table,) = [one for one in found.tables if "peak force [N]" in one[0]]
    peaks = [float(row[1]) for row in table[1:]]
    np.testing.assert_allclose(peaks, kim.inverse_dynamics(home).forces, rtol=1e-3)
    assert not found.sources


def test_simulation_result(run, tmp_path):
    run.save(tmp_path / "run.nc")
    found = read(result_page(read_result(tmp_path / "run.nc"), "run.nc"))
    assert found.headings[0] == "Simulation of kim-ryu-2002"
    assert "Energy audit" in found.headings
    assert len(found.sources) == 4  # errors, forces, coordinates, energy
    (table,) = [one for one in found.tables if "largest [J]" in one[0]]
    rows = {row[0]: float(row[1]) for row in table[1:]}
    work = rows["work of the actuators"] - rows["lost to friction and damping"]
    assert abs(work - rows["energy stored, kinetic and potential"]) < 1e-3
    assert rows["unexplained"] == pytest.approx(run.energy_audit()["energy_residual"][-1], rel=1e-3)


def test_energies_have_the_same_colours_in_the_picture_and_on_the_page(run, monkeypatch):
    drawn = []
    monkeypatch.setattr(Page, "figure", lambda page, figure, *words: drawn.append(figure))
    result_page(run.dataset, "run.nc")
    shown = [
        {line.get_label(): line.get_color() for line in axes.get_lines()}
        for figure in (overview(run), *drawn)
        for axes in figure.axes
        if axes.get_ylabel() == "energy [J]"
    ]
    assert len(shown) == 2
    assert {*shown[0]} == {"actuators", "stored", "lost", "wrench", "unexplained"}
    assert shown[0] == shown[1]


def test_a_batch_of_simulations_lists_them_and_shows_the_worst(undrawn, run):
    waves = np.sin(np.outer(run.time, 100.0 * np.arange(1, 13)))
    data = run.dataset.assign(elastic=(("time", "mode"), waves))
    batch = xarray.concat([data, 2 * data, data], "simulation")
    found = read(result_page(batch))
    (table,) = [one for one in found.tables if "position error [m]" in one[0]]
    assert len(table) == 4
    assert "simulation 1, which errs most" in found.text
    assert len(found.sources) == 5  # modal coordinates too


def test_numbers_that_are_none_leave_dashes(kim, circle):
    data = force_dataset(kim, circle, kim.inverse_dynamics(circle))
    data["force"].values[:, 0] = np.nan
    data["force"].values[3, 1] = np.inf
    data["power"].values[4, 2] = 1e300
    found = read(result_page(data))
    (table,) = [one for one in found.tables if "peak force [N]" in one[0]]
    assert table[1][1] == "–"
    assert np.isfinite(float(table[2][1]))


def test_hostile_results_are_text(undrawn, kim, circle):
    data = force_dataset(kim, circle, kim.inverse_dynamics(circle))
    names = ("title", "history", "source", "limits")
    data.attrs |= dict.fromkeys(names, f"x{HOSTILE}")
    data[f"force_{HOSTILE}"] = data["force"]
    found = read(result_page(data, HOSTILE))
    assert found.headings[0] == f"X{HOSTILE}"
    assert HOSTILE not in "".join(found.scripts)


def bad_result(kind, kim, circle, path):
    good = force_dataset(kim, circle, kim.inverse_dynamics(circle))
    if kind == "motion":
        write_motion(circle, path)
    elif kind == "other":
        write_dataset(xarray.Dataset({"temperature": ("time", [1.0])}, {"time": [0.0]}), path)
    elif kind == "cut":
        write_dataset(good, path)
        path.write_bytes(path.read_bytes()[:300])
    elif kind == "netcdf-4":
        path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(64))
    elif kind == "text":
        path.write_text("time,force\n0,1\n")
    elif kind == "dims":
        write_dataset(good.rename({"actuator": "foot"}), path)
    elif kind == "no samples":
        write_dataset(good.isel(time=slice(0, 0)), path)
    elif kind == "time":
        write_dataset(good.assign_coords(time=good["time"].values[::-1].copy()), path)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("motion", "a motion"),
        ("other", "temperature"),
        ("cut", "broken NetCDF"),
        ("netcdf-4", "NetCDF-4"),
        ("text", "no NetCDF result"),
        ("dims", "foot"),
        ("no samples", "no samples"),
        ("time", "time"),
    ],
)
def test_wrong_results_are_refused_in_one_line(kind, words, kim, circle, tmp_path):
    bad_result(kind, kim, circle, tmp_path / "bad.nc")
    assert words in command.refused("report", "bad.nc", cwd=tmp_path)
    assert not (tmp_path / "bad.html").exists()


def test_report_command(undrawn, tmp_path):
    minimal(home=False).save(tmp_path / "bare.toml")
    for arguments in (
        ["forces", "kim-ryu-2002", "kim-ryu-2002/circle-20rpm", "-o", "f.nc", "--samples", "11"],
        ["report", "f.nc"],
        ["report", "bare.toml", "-o", "page.html"],
    ):
        answer = command.run(*arguments, cwd=tmp_path)
        assert answer.returncode == 0, answer.stderr
    found = Reader((tmp_path / "f.html").read_text("utf-8"))
    assert "gough forces kim-ryu-2002 kim-ryu-2002/circle-20rpm -o f.nc --samples 11" in found.text
    assert "within all limits" in found.text
    assert Reader((tmp_path / "page.html").read_text("utf-8")).headings[0] == "minimal"


# What turns, and what is shown under the mouse


@pytest.mark.parametrize("name", ["kim-ryu-2002", "alikoc-delta-2023", "shah-3rrr-2012"])
def test_a_turnable_robot_holds_its_parts_along_a_motion(name):
    robot = gough.load(name)
    swing = 0.02 * np.sin(np.linspace(0, 3, 9))[:, None] * np.eye(robot.mobility)[0]
    motion = robot.motion(home_values(robot) + swing, time=np.linspace(0.0, 1.0, 9))
    data = json.loads(Turnable.of(robot, motion, paper=False).data)
    count, frames = len(data["parts"]), len(data["times"])
    places = np.frombuffer(base64.b64decode(data["places"]), "<f4").reshape(frames, count, 8)
    assert (data["times"][0], data["times"][-1]) == (0.0, 1.0)
    np.testing.assert_allclose(np.linalg.norm(places[..., 3:7], axis=-1), 1.0, atol=1e-6)
    parts, _ = robot_parts(robot, SceneLayout.of(robot), robot.home)
    platform = [one.name for one in parts].index("platform")
    np.testing.assert_allclose(places[-1, platform, :3], motion[-1].position, atol=1e-6)
    assert len(data["labels"]) == robot.leg_count


def home_values(robot):
    whole = dict(
        zip(["x", "y", "z", "rx", "ry", "rz"], [*robot.home.position, 0, 0, 0], strict=True)
    )
    return np.array([whole[one] for one in robot.coordinates])


def test_what_a_turnable_robot_refuses(kim, circle):
    with refusal(InputError, "batch", "shape"):
        Turnable.of(kim, circle[:0])
    with refusal(InputError, "batch", "shape"):
        Turnable.of(kim, circle[:4].reshape(2, 2))
    hostile = Turnable.of(minimal(name=HOSTILE.replace("\x1b", "")), paper=False)
    assert "<" not in hostile.data
    assert "<script>alert" not in hostile.html()


def test_curves_under_the_mouse_are_those_of_the_picture(kim, circle):
    figure = leg_curves(circle, kim.inverse_kinematics(circle))
    assert json.loads(curves_of(figure) or "[]")
    picture(figure, "svg")
    found = json.loads(curves_of(figure))
    assert [one["across"] for one in found] == ["time [s]"] * 3
    first = found[0]["lines"][2]
    assert first["name"] == "leg 3"
    np.testing.assert_allclose(first["y"], kim.inverse_kinematics(circle).q[:, 2], rtol=1e-5)
    np.testing.assert_allclose(found[0]["grounds"][first["ground"]], circle.time, atol=1e-6)
    assert curves_of(Figure()) == ""
