"""Tools that are given the motion of a flexible robot's frame alone: what they find and say."""

import json
import warnings

import numpy as np
import pytest
from scipy.optimize import root
from scipy.spatial.transform import Rotation

import gough
from cases.command import refused, run
from cases.errors import refusal
from gough.data.paper_motions import paper_motion
from gough.errors import InputError
from gough.model.deflected import deflected, how_deflected
from gough.show.report import robot_page
from gough.show.sheets.holding import holding
from gough.sizing import size
from gough.studies.measures import MEASURES, Case
from gough.studio.motions import Track

LONG = "long-khalil-martinet-2014"
PATH = f"{LONG}/poses"
SAMPLES = 91
HOLDS, MOVES = 1919.0, 5148.0
"""Largest force at home and along the path, N: of the static deflection, and of the paper's loop."""

pytestmark = pytest.mark.filterwarnings("ignore::gough.errors.ImpossibleBodyWarning")


@pytest.fixture(scope="module")
def path():
    return paper_motion(PATH).sample(SAMPLES)


def test_forces_of_a_flexible_robot_are_those_of_its_elastic_motion(tmp_path):
    done = run("forces", LONG, PATH, "--samples", SAMPLES, "-o", tmp_path / "f.csv", "--json")
    assert json.loads(done.stdout)["largest_force"] == pytest.approx(MOVES, rel=2e-3)
    (line,) = [one for one in done.stderr.splitlines() if one.startswith("note:")]
    assert "flexible platform: elastic motion of the frame" in line
    assert "integrated forward from static deflection" in line


def test_forces_for_the_terminal_frame(tmp_path):
    words = ("forces", LONG, PATH, "--samples", SAMPLES, "-o", tmp_path / "f.nc")
    done = run(*words, "--commanded", "terminal")
    assert "elastic motion of the terminal" in done.stderr
    assert "bounded solution" in done.stderr
    assert (
        "--commanded is frame, terminal, legs, not 'tool'"
        in run(*words, "--commanded", "tool").stderr
    )
    rigid = ("forces", "kim-ryu-2002", "kim-ryu-2002/circle-40rpm", "-o", tmp_path / "k.nc")
    assert "rigid platform" in refused(*rigid, "--commanded", "legs")


def test_forces_of_poses_at_rest_are_those_of_the_static_deflection(tmp_path, long):
    file = tmp_path / "still.csv"
    place = ",".join(str(one) for one in long.home.position)
    file.write_text(f"x,y,z\n{place}\n{place}\n")
    done = run("forces", LONG, file, "-o", tmp_path / "f.csv", "--json")
    assert json.loads(done.stdout)["largest_force"] == pytest.approx(HOLDS, rel=1e-3)
    assert "static deflection" in done.stderr


@pytest.mark.second_tier
def test_what_is_taken_as_rigid_or_undeformed_is_told(tmp_path):
    """On standard error, so that JSON stays JSON; a robot that falls is no line of Python."""
    bar = {"young": 2.1e11, "outer_diameter": 0.03}
    slim = tmp_path / "slim.toml"
    gough.load("kim-ryu-2002").edited({"legs.beams": {"link": bar}}).save(slim)
    circle, motion = ("kim-ryu-2002/circle-20rpm", "--samples", 9), tmp_path / "out.csv"
    done = run("forces", slim, *circle, "-o", motion, "--json")
    assert json.loads(done.stdout)["samples"] == 9
    told = "has legs that bend ([legs.beams]), taken as rigid here"
    assert told in done.stderr
    assert told in run("size", slim, *circle).stderr
    page = ("--motion", *circle, "-o", tmp_path / "slim.html")
    assert "taken as rigid along the motion" in run("report", slim, *page).stderr
    assert told in run("export", "mjcf", slim, "-o", tmp_path / "slim.xml").stderr
    sources = ("-o", tmp_path / "slim.fmu", "--sources-only")
    assert told in run("export", "fmu", slim, *sources).stderr
    washed = run("export", "washout", LONG, "-o", tmp_path / "washout").stderr
    assert "has a flexible platform, taken as rigid here" in washed
    clamp = ("clamp", LONG, f"{LONG}/poses", "--samples", 3, "-o", motion)
    for words in (("singularities", LONG), ("room", LONG), clamp):
        assert "taken as undeformed here" in run(*words).stderr
    done = run("stiffness", LONG, "--stiffness", 1e7)
    assert "warning: long-khalil-martinet-2014 cannot stand" in done.stderr
    assert ".py" not in done.stderr


def test_sheet_holds_a_robot_at_its_deflection_and_says_that_it_falls(long):
    held = holding(long)
    assert np.abs(held.forces).max() == pytest.approx(HOLDS, rel=1e-3)
    assert "cannot stand in the pose with its actuators locked" in held.falls
    stiff = long.edited({"platform.plate.young": 2e11})
    assert holding(stiff).falls == ""
    done = run("show", LONG, "--json")
    home = json.loads(done.stdout)["home"]
    np.testing.assert_allclose(home["forces"], held.forces)
    assert home["warnings"] == [held.falls]
    assert "cannot stand" in run("show", LONG).stdout.replace("\n", " ")


@pytest.mark.filterwarnings("ignore::gough.errors.UnstableWarning")
def test_the_falling_robot_has_a_place_to_fall_to(long):
    """With the leg lengths of home it also stands elsewhere, 87 J lower: downhill all the way."""
    home = long.static_deflection(long.home)
    lengths = long.inverse_kinematics(home).q

    def still(x):
        return long.static_deflection(gough.Motion(x[:3], Rotation.from_rotvec(x[3:])))

    place = [0.318250, -0.106707, 0.850072, -0.234216, 0.085775, -0.281494]
    found = root(lambda x: long.inverse_kinematics(still(x)).q - lengths, place, tol=1e-12)
    there = still(found.x)
    np.testing.assert_allclose(long.inverse_kinematics(there).q, lengths, rtol=1e-12)
    drop = long.energy(home).potential - long.energy(there).potential
    assert drop == pytest.approx(86.705, abs=1e-3)
    assert long.natural_frequencies(there).frequencies[0] == pytest.approx(0.8185, rel=1e-3)


@pytest.mark.second_tier
def test_report_of_a_motion_says_how_the_platform_deflects(long, path):
    text = robot_page(long, path).html()
    assert "The platform deflects: elastic motion of the frame" in text
    assert "cannot stand in the pose" in text


def test_sizing_check_and_studies_take_the_same_forces(long, path):
    found = size(long, path)
    assert found.legs.peak_force.max() == pytest.approx(MOVES, rel=2e-3)
    weak = long.edited({"legs.limits": {"force": 2000.0}})
    worst = max(one.value for one in weak.check(path).violations)
    assert worst == pytest.approx(found.legs.peak_force.max(), rel=1e-4)  # between samples, too
    assert weak.check(weak.home).ok
    case = Case(long, [path])
    (peak,) = MEASURES["peak_force"].of(case)
    assert peak == pytest.approx(found.legs.peak_force.max(), rel=1e-9)


def test_studio_plays_the_elastic_motion(long, path):
    shown = Track(path).record(long, friction=True)
    assert np.nanmax(np.abs(shown.forces)) == pytest.approx(MOVES, rel=2e-3)
    assert "elastic motion of the frame" in shown.note
    tilted = path.replace(rotation=np.broadcast_to(np.diag([1.0, -1, -1]), (SAMPLES, 3, 3)))
    assert "as it would be at rest" in Track(tilted).record(long, friction=True).note


def test_what_has_elastic_coordinates_or_needs_none_stays_as_it_is(long, kim, path):
    given = path.replace(elastic=np.zeros(10))
    assert deflected(long, given) is given
    assert deflected(kim, path) is path
    assert how_deflected(path, path) == ""
    still = deflected(long, long.home)
    assert how_deflected(long.home, still) == "static deflection"
    with refusal(InputError, "elastic_motion"):  # moving, and no time
        long.inverse_dynamics(deflected(long, path.replace(time=None)))
    with warnings.catch_warnings(action="error"):
        assert isinstance(deflected(long, path[:2]), gough.Motion)


def test_neighbours_rest_alike_where_newton_alone_strays(long):
    """Whole Newton steps end 0.02 or 0.63 away from the undeformed platform, by chance."""
    turn = Rotation.from_rotvec([-0.06437608, -0.5608596, -0.17081827])
    shift = np.array([0.02983518, -0.17041754, -0.0359443])
    along = np.linspace(0, 1e-6, 9)[:, np.newaxis] * [1.0, 0, 0]
    near = gough.Motion(long.home.position + shift + along, turn)
    rest = long.static_deflection(near)
    assert np.ptp(rest.elastic, axis=0).max() < 1e-5
    assert np.abs(rest.elastic).max() < 0.03
