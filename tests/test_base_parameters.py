"""Base parameters: counts, forces, states, what is said of them."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rich.console import Console

from cases.command import refused, run
from cases.common import CLOSED, each_kind, each_shape
from cases.errors import refusal
from cases.parameters import (
    drawn,
    level_rails,
    made,
    regular,
    singular_values,
    stacked,
    universal_axes,
    upright_motor,
)
from gough import Motion, load
from gough.errors import InputError
from gough.legs.parameters import LegParameters
from gough.parameters.base import base_parameters, base_regressor
from gough.parameters.energy import robot_energy_functions
from gough.parameters.grouping import grouped_parameters
from gough.parameters.regressor import standard_parameters
from gough.parameters.states import random_states
from gough.show.sheets.parameters import counts, find, print_parameters, to_json
from oracles.random_robot import random_motion

LEAST_GAP = 1e10


def upright(kind):
    """All first universal axes along gravity."""
    down = [0.3, -2.0, -9.0]
    return drawn(kind, gravity=down, in_legs={"axis": down, "reference": [1.0, 0.0, 0.0]})


def coinciding(kind):
    data = drawn(kind)
    points = data["legs"]["platform"]
    points[1], points[3], points[5] = points[0], points[2], points[4]
    return data


def clear_rank(columns):
    values = singular_values(columns)
    floor = np.finfo(float).eps * len(values)  # falls below are falls of rounding
    steps = np.maximum(values[:-1], floor) / np.maximum(values[1:], floor)
    rank = int(np.argmax(steps)) + 1
    assert steps[rank - 1] > LEAST_GAP
    return rank


# Counts


def test_a_general_hexapod_has_94_of_196_and_88_of_190_without_rotors():
    robot = made(drawn("UPS"))
    found = base_parameters(robot)
    assert (len(found.names), found.rank) == (196, 94)
    assert found.gap > LEAST_GAP
    assert counts(found) == {"legs": (180, 78), "rotors": (6, 6), "platform": (10, 10)}
    for leg in range(6):
        assert sum(name.startswith(f"leg {leg + 1} ") for name in found.base_names) == 13 + 1
    without = [i for i, name in enumerate(found.names) if not name.endswith("rotor_mass")]
    assert len(without) == 190
    assert clear_rank(stacked(robot)[:, without]) == 88


def test_table_ii_names_the_groups():
    """Khalil & Guegan 2004, Table II; cross, cylinder and rod are links 1, 2, 3."""
    found = base_parameters(made(drawn("UPS")))
    assert [name.removeprefix("leg 4 ") for name in found.base_names if "leg 4" in name] == [
        *("cross ZZ", "cross MX", "cross MY"),
        *(f"cylinder {key}" for key in ("XX", "XY", "XZ", "YZ", "ZZ", "MX", "MY")),
        *("rod MX", "rod MY", "rod MZ", "rotor_mass"),
    ]
    assert (
        "leg 2 cylinder XX − leg 2 cylinder YY + leg 2 rod XX − leg 2 rod ZZ" in found.relations()
    )


@pytest.mark.second_tier_from(9)
@pytest.mark.parametrize(
    ("data", "rank"),
    [
        (upright("UPS"), 76 + 6),
        (drawn("UPS", gravity=[0, 0, 0]), 64 + 6),
        (coinciding("UPS"), 88 + 6),
        (drawn("UPS", legs=8), 13 * 8 + 10 + 8),
        (drawn("PUS"), 70 + 6),
        (upright("PUS"), 70 + 6),
        (drawn("PUS", gravity=[0, 0, 0]), 70),  # slider and rotor mass are one
        (level_rails(), 70),
        (coinciding("PUS"), 70 + 6),
        (drawn("PUS", legs=7), 10 * 7 + 10 + 7),
        (drawn("UPS", friction=True), 94 + 6 * 4),  # Coulomb force and screw drag are one
        (drawn("PUS", friction=True), 76 + 6 * 4),
        (universal_axes("any"), 16 * 6 + 10),  # the rotor is one with the crank's ZZ
        (universal_axes("along"), 12 * 6 + 10),
        (universal_axes("across"), 16 * 6 + 10),
        (universal_axes("radial"), 16 * 6 + 10),
        (universal_axes("meeting"), 16 * 6 + 10),
        (universal_axes("any") | {"gravity": [0, 0, 0]}, 14 * 6 + 10),
        (universal_axes("along") | {"gravity": [0, 0, 0]}, 10 * 6 + 10),
        (universal_axes("across") | {"gravity": [0, 0, 0]}, 14 * 6 + 10),
        (universal_axes("radial") | {"gravity": [0, 0, 0]}, 12 * 6 + 10),
        (universal_axes("meeting") | {"gravity": [0, 0, 0]}, 12 * 6 + 10),
        (upright_motor("any"), 16 * 6 + 10 - 2),
        (upright_motor("along"), 12 * 6 + 10 - 2),
        (upright_motor("meeting"), 16 * 6 + 10 - 2),
        (drawn("RUS", legs=8), 16 * 8 + 10),
        (drawn("RUS", friction=True), 106 + 6 * 4),
    ],
)
def test_numbers_and_reasoning_agree(data, rank):
    """Rank and relations from the regressor are those of the closed form, to 1e-12."""
    friction = "friction" in data["legs"]
    robot = made(data)
    by_numbers, closed = base_parameters(robot, friction), grouped_parameters(robot, friction)
    assert by_numbers.rank == closed.rank == rank
    assert by_numbers.gap > LEAST_GAP
    assert by_numbers.base_names == closed.base_names
    assert_allclose(by_numbers.grouping, closed.grouping, rtol=0, atol=1e-12)
    assert by_numbers.no_effect.tolist() == closed.no_effect.tolist()
    assert np.isnan(closed.gap)


@pytest.mark.parametrize(
    ("data", "count"),
    [(drawn("UPS"), 14), (drawn("PUS"), 11), (drawn("RUS"), 17), (universal_axes("along"), 13)],
)
def test_an_open_leg(data, count):
    """The energy of a leg alone: as many independent functions as the rules leave parameters."""
    robot = made(data)
    energy = robot_energy_functions(robot, random_states(robot, 200))
    for leg in (0, 4):
        alone = energy[:, 30 * leg : 30 * leg + 30]
        changing = alone - alone.mean(axis=0)  # a constant energy has no effect
        assert clear_rank(changing) == count
        opened = robot.leg_kind.parameters.opened(robot.mechanism.legs, leg)
        assert len(opened.felt) == count + 1  # the rotor


# Forces


@pytest.mark.second_tier_from(3)
@pytest.mark.parametrize("seed", range(3))
@each_kind
def test_forces_from_base_parameters(kind, seed):
    data = drawn(kind, seed, friction=True)
    robot = made(data)
    motion = Motion(**random_motion(np.random.default_rng(seed), data, (50,)))
    for friction in (False, True):
        expected = robot.inverse_dynamics(motion, friction=friction).forces
        limit = 1e-11 * np.abs(expected).max(axis=-1)
        full = robot.regressor(motion, friction) @ standard_parameters(robot, friction)
        assert (np.abs(full - expected).max(axis=-1) < limit).all()
        ways = [base_parameters(robot, friction)]
        if kind in CLOSED:
            ways.append(grouped_parameters(robot, friction))
        for base in ways:
            found = base_regressor(robot, base, motion) @ base.values
            assert (np.abs(found - expected).max(axis=-1) < limit).all()


@each_shape
def test_base_regressor_in_any_shape(shape):
    data = drawn("PUS")
    robot = made(data)
    base = grouped_parameters(robot)
    motion = Motion(**random_motion(np.random.default_rng(0), data, shape))
    assert base_regressor(robot, base, motion).shape == (*shape, 6, 76)


def test_friction_that_depends_on_loads_is_refused_by_name():
    robot = load("kim-ryu-2002")
    for call in (base_parameters, grouped_parameters):
        with refusal(InputError, "slider_coulomb", "universal_coulomb", "spherical_coulomb"):
            call(robot, friction=True)
    with refusal(InputError, "linear"):
        robot.regressor(robot.home, friction=True)


def test_too_few_legs_are_refused():
    with refusal(InputError, 5):
        base_parameters(made(drawn("UPS", legs=5)))


# States


@each_kind
def test_states_without_a_home_within_reach(kind):
    data = drawn(kind)
    del data["home"]
    assert base_parameters(made(data)).gap > LEAST_GAP
    far = drawn(kind, home={"position": [0.0, 0.0, 50.0]})
    if kind == "PUS":
        assert base_parameters(made(far)).rank == 76


def test_states_near_a_singular_home_stay_clear_of_it():
    """Turned by 90° about z a hexapod with regular base and platform is singular."""
    angle = np.pi / 3 * np.arange(6)
    ring = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    data = drawn("UPS", home={"position": [0, 0, 1], "rotation_vector": [0, 0, np.pi / 2]})
    data["legs"] |= {"base": ring.tolist(), "platform": (ring[[1, 0, 3, 2, 5, 4]] / 2).tolist()}
    robot = made(data)
    states = random_states(robot, 50)
    home = float(robot.condition_number(robot.home, on_error="nan"))
    worst = robot.condition_number(states).max()
    assert not home < 1e4
    assert worst < 1e3
    assert base_parameters(robot).gap > LEAST_GAP


# What is said


def test_special_cases_are_said():
    said = {
        "no gravity": drawn("PUS", gravity=[0, 0, 0]),
        "all legs: first universal axis parallel to gravity": upright("UPS"),
        "platform points coincide, legs 1 and 2, 3 and 4, 5 and 6": coinciding("PUS"),
        "all legs: rail level": level_rails(),
        "all legs: first universal axis parallel to the motor's axis": universal_axes("along"),
        "leg 2: motor's axis parallel to gravity": upright_motor("any"),
        "link: no products of inertia": regular("PUS", "symmetric"),
    }
    for words, data in said.items():
        assert any(one.startswith(words) for one in grouped_parameters(made(data)).special)
    assert grouped_parameters(made(drawn("UPS"))).special == ()


def test_the_two_ways_agree_on_the_catalogue():
    found = find(load("kim-ryu-2002"), assumption="symmetric")
    assert found.disagreement < 1e-12
    assert found.essential is not None
    assert found.essential.count == 34 + 6


def test_a_sheet_of_cranks_and_one_of_legs_without_closed_form(capsys):
    """Symbols where there are; else the numbers, said in a line."""
    robot = made(universal_axes("along"))
    found = find(robot, assumption="symmetric")
    assert found.disagreement < 1e-12
    print_parameters(robot, found, Console(width=300))
    shown = capsys.readouterr().out
    assert "rotor_inertia + crank ZZ + r² cross M + r² link M − r² link MZ/l" in shown
    assert "r: length of the leg's crank" in shown
    rules = replace(robot.leg_kind, parameters=LegParameters())
    rules.parameters.kind, rules.parameters.rotor = "RUS", "rotor_inertia"
    groups = tuple(one._replace(kind=rules) for one in robot.description.groups)
    object.__setattr__(robot, "description", robot.description._replace(groups=groups))
    found = find(robot)
    assert found.closed is None
    assert to_json(robot, found)["closed_form"] is False
    print_parameters(robot, found, Console(width=300))
    shown = capsys.readouterr().out
    assert "no closed form for this robot of RUS legs: relations by numbers" in shown
    assert "82 base parameters" in shown
    assert "leg 6 rotor_inertia" in shown
    with refusal(InputError, "RUS"):
        find(robot, assumption="symmetric")


def test_command_prints_the_table_and_json():
    shown = run("parameters", "kim-ryu-2002", "--assume", "revolution")
    assert shown.returncode == 0, shown.stderr
    assert "196 standard parameters, 76 base parameters" in shown.stdout
    assert "slider M + cross M + link M − link MZ/l" in shown.stdout
    assert "34 essential parameters" in " ".join(shown.stdout.split())
    shown = run("parameters", "kim-ryu-2002", "--json")
    data = json.loads(shown.stdout)
    assert (data["standard"], data["base"], data["rank"]) == (196, 76, 76)
    named = {one["name"]: one for one in data["parameters"]}
    mass = named["leg 1 slider M"]
    assert mass["unit"] == "kg"
    assert mass["terms"]["leg 1 link MZ"] == pytest.approx(-1 / 0.9)
    assert mass["value"] == pytest.approx(0.9971 + 2.1729 / 2)


@pytest.mark.parametrize(
    "arguments",
    [["dietmaier-1998"], ["kim-ryu-2002", "--friction"], ["kim-ryu-2002", "--assume", "round"]],
)
def test_command_refuses(arguments):
    assert refused("parameters", *arguments)
