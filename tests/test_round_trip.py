"""Out and in again is the same robot: MJCF and URDF that gough writes and reads."""

from __future__ import annotations

import numpy as np
import pytest

import gough
from cases.closeness import assert_close
from cases.common import few_states
from cases.families import draw, random_states
from gough.exchange.incoming.reading import read_foreign
from gough.exchange.mjcf import export_mjcf
from gough.exchange.urdf import export_urdf

pytest.importorskip("mujoco")

FAMILIES = [
    "6-UPS", "6-PUS", "6-RUS", "rotary Delta", "3-RPS", "Tricept", "4-RUS schoenflies", "planar 3-RPR",
]  # fmt: skip
WRITERS = {".xml": export_mjcf, ".urdf": export_urdf}


@few_states
@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("name", FAMILIES)
def test_forces_of_random_robots_on_random_states(name, ending, tmp_path):
    table, oracle = draw(name, 1)
    robot = gough.Robot.from_dict(table)
    path = tmp_path / f"robot{ending}"
    WRITERS[ending](robot, path)
    found = read_foreign(path, "platform", meshes=False)
    again = gough.Robot.from_text(found.text)
    motion = gough.Motion(**random_states(2, oracle, 3))
    for friction in (False, True) if robot.rubs else (False,):
        wanted = robot.inverse_dynamics(motion, friction=friction).forces
        assert_close(again.inverse_dynamics(motion, friction=friction).forces, wanted, 1e-9)
    assert (again.kind, again.mobility, again.coordinates) == (
        robot.kind,
        robot.mobility,
        robot.coordinates,
    )
    assert found.gap[1] < 1e-12


ALL_FRICTION = {
    "universal_viscous": 0.2,
    "universal_coulomb": 0.003,
    "spherical_viscous": 0.1,
    "spherical_coulomb": 0.004,
    "width": 0.05,
}


@few_states
@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("UPS", {"slider_coulomb": 5.0, "screw_torque": 0.01, "screw_lead": 0.02}),
        ("PUS", {"slider_coulomb": 0.05, "screw_torque": 0.01, "screw_lead": 0.02}),
        ("RUS", {"motor_coulomb": 0.4}),
    ],
)
def test_friction_that_no_joint_of_a_tree_has_comes_back(kind, more, ending, tmp_path):
    robot = gough.Robot.from_dict(draw(f"6-{kind}", 1)[0])
    robot = robot.edited({"legs.friction": {**ALL_FRICTION, **more}})
    told = WRITERS[ending](robot, tmp_path / f"robot{ending}")
    assert "spherical_viscous, spherical_coulomb, width" in told[0]
    again = gough.Robot.from_text(read_foreign(tmp_path / f"robot{ending}", "platform").text)
    rates = np.array([0.1, -0.2, 0.3])
    motion = gough.Motion(robot.home.position, robot.home.rotation, rates, rates, rates, rates)
    wanted = robot.inverse_dynamics(motion).forces
    assert_close(again.inverse_dynamics(motion).forces, wanted, 1e-9)


@few_states
def test_friction_drives_and_limits_come_back(tmp_path):
    robot = gough.load("sinatra-xi-staicu-2009").edited(
        {
            "legs.rotor_mass": 3.0,
            "legs.friction.slider_viscous": 2.0,
            "legs.friction.universal_viscous": 0.3,
            "legs.limits.force": 120.0,
            "legs.limits.stroke": [-1.0, 2.0],
        }
    )
    rates = np.array([0.1, -0.2, 0.3])
    motion = gough.Motion(robot.home.position, robot.home.rotation, rates, rates, rates, rates)
    for ending, write in WRITERS.items():
        write(robot, tmp_path / f"robot{ending}")
        again = gough.Robot.from_text(read_foreign(tmp_path / f"robot{ending}", "platform").text)
        wanted = robot.inverse_dynamics(motion).forces
        assert_close(again.inverse_dynamics(motion).forces, wanted, 1e-9)
        assert_close(again.limits.force, robot.limits.force, 1e-12)
        assert_close(again.limits.shortest, robot.limits.shortest, 1e-12)


@few_states
@pytest.mark.parametrize("ending", WRITERS)
def test_meshes_go_out_and_come_in(ending, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((0.1, 0.2, 0.3)).export(tmp_path / "box.stl")
    placed = {"file": "box.stl", "position": [0, 0, 0.1], "scale": [1, 2, 0.5]}
    placed["rotation_vector"] = [0.1, 0.2, 0.3]
    changes = {"platform.mesh": placed, "legs.link.mesh": "box.stl"}
    text = gough.load("plaza-hexaglide-2019").edited(changes).text
    robot = gough.Robot.from_text(text, "robot", tmp_path)
    WRITERS[ending](robot, tmp_path / f"robot{ending}")
    again = gough.Robot.from_text(
        read_foreign(tmp_path / f"robot{ending}", "platform").text, "again", tmp_path
    )
    assert [(one.leg, one.name) for one in again.meshes] == [
        (one.leg, one.name) for one in robot.meshes
    ]
    for found, wanted in zip(again.meshes, robot.meshes, strict=True):
        assert_close(found.vertices, wanted.vertices, 1e-12)
