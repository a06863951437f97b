"""Units that exported C and FMUs state: those of the table of docs/robot-files.md, by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gough
from gough.exchange.fmu.parameters import changing
from gough.exchange.fmu.variables import inverse_variables

UNITS = {
    "kim-ryu-2002": {
        "legs.friction.slider_viscous": "N.s/m",
        "legs.friction.slider_coulomb": None,
        "legs.friction.universal_viscous": "N.m.s/rad",
        "legs.friction.spherical_coulomb": "m",
        "legs.link.mass": "kg",
    },
    "pollen-reachy-mini-2025": {
        "legs.rotor_inertia": "kg.m2",
        "legs.friction.motor_viscous": "N.m.s/rad",
        "legs.friction.motor_coulomb": "N.m",
    },
}
MORE = {
    "kim-ryu-2002": {"legs.friction.slider_viscous": 3.0, "legs.friction.universal_viscous": 0.2},
    "pollen-reachy-mini-2025": {"legs.friction": {"motor_viscous": 0.1, "motor_coulomb": 0.2}},
}


@pytest.mark.usefixtures("on_numpy")
@pytest.mark.parametrize("name", UNITS)
def test_parameters_of_fmus_have_units_and_places_from_1(name):
    robot = gough.load(name).edited(MORE[name])
    variables = inverse_variables(robot, changing(robot).parameters)
    units = {v.name: v.unit for v in variables.each if v.causality == "parameter"}
    for key, unit in UNITS[name].items():
        alike = {units[known] for known in units if known == key or known.startswith(f"{key}[")}
        assert alike == {unit}, key
    for variable in variables.each:
        if variable.causality == "parameter":
            assert variable.description.startswith(f"{variable.name} of the robot file")


@pytest.mark.usefixtures("on_numpy")
def test_joints_of_chains_have_the_units_of_their_type():
    joints = [
        {
            "type": "prismatic",
            "axis": [1, 0, 0],
            "actuated": True,
            "rotor_inertia": 2.0,
            "viscous": 3.0,
        },
        {
            "type": "revolute",
            "point": [0, 0, 0],
            "axis": [0, 1, 0],
            "viscous": 0.1,
            "body": {"mass": 1},
        },
        {"type": "spherical", "point": [-0.5, 0, 1]},
    ]
    turn = [[0, 0, angle] for angle in np.arange(3) * 2 * np.pi / 3]
    places = [[np.cos(a), np.sin(a), 0] for a in np.arange(3) * 2 * np.pi / 3]
    robot = gough.Robot.from_dict(
        {
            "format": 1,
            "name": "3-PRS",
            "home": {"position": [0, 0, 1]},
            "legs": {
                "kind": "chain",
                "position": places,
                "rotation_vector": turn,
                "joints": joints,
            },
            "platform": {"mass": 5, "inertia": np.eye(3).tolist()},
        }
    )
    units = {one.key.removeprefix("legs.0."): one.unit for one in changing(robot).parameters}
    expected = {
        "joints.0.rotor_inertia": "kg",
        "joints.0.viscous": "N.s/m",
        "joints.1.viscous": "N.m.s/rad",
        "joints.1.body.mass": "kg",
    }
    for key, unit in expected.items():
        assert {value for name, value in units.items() if name.endswith(key)} == {unit}, units


@pytest.mark.parametrize(
    ("name", "unit", "rows"),
    [
        ("pollen-reachy-mini-2025", "rad", "by velocity (rad/m), by angular velocity (1)"),
        ("kim-ryu-2002", "m", "by velocity (1), by angular velocity (m/rad)"),
    ],
)
def test_the_jacobian_of_exported_c_has_the_units_of_its_actuators(name, unit, rows, tmp_path):
    assert f"One row per actuator, of q in {unit}: {rows}." in header(name, "jacobian", tmp_path)


def test_the_header_of_a_robot_with_several_kinds_of_legs_names_the_kind(tmp_path):
    text = header("ferrandiz-3ups-rpu-2021", "inverse_kinematics", tmp_path)
    assert "UPS legs: rad, rad, m: (q1, q2, q3) of each leg." in text
    assert "()" not in text.replace("(*", "")


def header(name: str, program: str, folder: Path) -> str:
    """Return the header of exported C, comments on one line."""
    gough.load(name).export_c(folder, programs=[program])
    (path,) = folder.glob("*.h")
    return " ".join(path.read_text("utf-8").replace("*", " ").split())
