"""The sheet says what is wrong with a robot, what its file leaves out, which values are defaults."""

import io
import json

import pytest
from rich.console import Console

import gough
from cases.command import run
from cases.errors import warning
from gough.errors import ImpossibleBodyWarning
from gough.show.report import robot_page
from gough.show.sheets import gaps
from gough.show.sheets.robot import print_sheet, sheet_numbers

BODY = "mass = 1\ninertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]\n"
THREE = f"""
format = 1
name = "three legs"
home = {{ position = [0, 0, 1] }}
[legs]
kind = "UPS"
base = [[1, 0, 0], [-0.5, 0.8, 0], [-0.5, -0.8, 0]]
platform = [[0.5, 0, 0], [-0.2, 0.4, 0], [-0.2, -0.4, 0]]
limits = {{ stroke = [0.5, 2] }}
[legs.cross]
{BODY}[legs.cylinder]
{BODY}[legs.rod]
{BODY}[platform]
{BODY}"""


def sheet(robot):
    console = Console(file=io.StringIO(), width=200)
    print_sheet(robot, console)
    return console.file.getvalue()


@pytest.mark.second_tier
def test_three_legs_hold_nothing_and_the_sheet_says_so():
    robot = gough.Robot.from_text(THREE)
    (said,) = gaps.wrong(robot)
    assert said.startswith("3 actuators for 6 directions")
    text = sheet(robot)
    assert f"wrong        {said}" in text
    assert "condition number    none: too few actuators" in text
    assert "holding forces      none: too few actuators" in text
    numbers = sheet_numbers(robot)
    assert numbers["wrong"] == [said]
    assert numbers["home"]["condition_number"] is None
    page = robot_page(robot).html()
    assert said in page
    assert "condition number at home" not in page


def test_a_negative_mass_is_said_to_be_one():
    numbers = {"M": -10.0, "XX": 1.0, "YY": 1.0, "ZZ": 1.0}
    with warning(ImpossibleBodyWarning, -10):
        robot = gough.load("kim-ryu-2002").edited({"platform": numbers})
    (said,) = gaps.wrong(robot)
    assert said.startswith("[platform]: no real body")
    assert "mass is -10 kg" in said
    assert f"wrong        {said}" in sheet(robot)


def test_what_is_missing_and_what_that_costs(tmp_path):
    file = tmp_path / "three.toml"
    file.write_text(THREE.replace(f"[legs.cross]\n{BODY}", ""), "utf-8")
    robot = gough.load(file)
    assert gaps.missing(robot) == ["[legs.cross]: no forces and no dynamics without"]
    assert "missing      [legs.cross]" in sheet(robot)
    six = gough.load("dietmaier-1998")
    assert "holding forces      not known: masses are missing" in sheet(six)
    assert "check               no limits given" in sheet(six)
    answer = run("show", file, "--json")
    assert json.loads(answer.stdout)["missing"] == ["legs.cross"]


def test_defaults_are_named():
    found = gaps.defaults(gough.Robot.from_text(THREE))
    assert found == [
        "gravity",
        "no legs.friction",
        "no legs.drive",
        "legs.axis",
        "legs.reference",
        "legs.rotor_mass = 0",
        "legs.cross.center_of_mass = 0",
        "legs.cylinder.center_of_mass = 0",
        "legs.rod.center_of_mass = 0",
        "no legs.beams",
        "platform.center_of_mass = 0",
    ]
    assert "defaults     gravity, no legs.friction, no legs.drive" in sheet(
        gough.Robot.from_text(THREE)
    )
    kim = gough.load("kim-ryu-2002")
    assert "gravity" not in gaps.defaults(kim)
    assert gaps.missing(kim) == gaps.wrong(kim) == []


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_robot_of_the_catalogue_says_what_it_takes_for_granted():
    for name in gough.catalogue():
        robot = gough.load(name)
        assert all(isinstance(one, str) for one in gaps.defaults(robot))
        assert all("no real body" in one for one in gaps.wrong(robot))
