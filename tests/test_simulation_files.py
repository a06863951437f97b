"""`gough simulate` and its files, and the linear tools."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import gough
from cases.command import refused, run
from cases.common import each_kind
from cases.errors import refusal
from cases.simulations import robot_of
from gough.errors import FileError, InputError
from gough.mechanics.body import Frame
from gough.model.frames import leg_frames
from gough.parameters.energy import energy_functions
from gough.parameters.regressor import standard_parameters
from gough.simulation import FeedForward, equilibrium_forces, linear_model
from gough.simulation.base_motion import base_inertia
from gough.simulation.config import read_config

GOOD = """
robot = "kim-ryu-2002"
duration = 0.05
changes = { "legs.friction.width" = 0.01 }

[motion]
name = "kim-ryu-2002/circle-40rpm"

[start]
shift = [0.001, 0.0, 0.0]

[controller]
kind = "computed torque"
frequency = 40.0
model_changes = { "platform.mass" = 12.0 }

[[disturbance]]
kind = "push"
force = [100.0, 0.0, 0.0]
start = 0.02

[actuators]
force = 2000.0
lag = 0.002

[sensors]
resolution = 1e-6
noise = 2e-7
delay = 0.001
"""


def test_simulate_writes_results_and_a_picture(tmp_path):
    (tmp_path / "run.toml").write_text(GOOD)
    result = run("simulate", "run.toml", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "largest error" in result.stdout
    assert (tmp_path / "run.png").stat().st_size > 10_000
    with xarray.open_dataset(tmp_path / "run.nc", engine="scipy", decode_times=False) as data:
        assert data["force"].shape == (51, 6)
        assert data.attrs["partial"] == 0
        setup = read_config(tmp_path / "run.toml")
        found = gough.simulate(*setup[:3], **setup.options)
        np.testing.assert_array_equal(data["position"], found.motion.position)


WRONG = {
    "unknown key": (GOOD.replace("frequency", "freqency"), "frequency"),
    "unknown table": (GOOD + "\n[sensor]\nnoise = 1\n", "sensors"),
    "controller": (GOOD.replace("computed torque", "computed torqe"), "computed torque"),
    "no robot": (GOOD.replace('robot = "kim-ryu-2002"', ""), "robot"),
    "robot": (GOOD.replace('robot = "kim-ryu-2002"', 'robot = "kim-ryu-2003"'), "kim-ryu-2003"),
    "motion": (GOOD.replace("circle-40rpm", "circle-41rpm"), "circle-40rpm"),
    "two motions": (GOOD.replace("[start]", "hold = true\n[start]"), "motion"),
    "gain of another": (GOOD.replace("frequency = 40.0", "stiffness = 40.0"), "stiffness"),
    "no gain": (GOOD.replace("frequency = 40.0", ""), "frequency"),
    "duration": (GOOD.replace("duration = 0.05", "duration = -1"), "duration"),
    "period": (GOOD + "\n[simulation]\nperiod = 1e-3\nstep = 3e-4\n", "period"),
    "delay": (GOOD.replace("delay = 0.001", "delay = 0.0013"), "delay"),
    "legs": (GOOD.replace("force = 2000.0", "force = [1.0, 2.0]"), "force"),
    "text": (GOOD.replace("frequency = 40.0", 'frequency = "40"'), "frequency"),
    "not finite": (GOOD.replace("frequency = 40.0", "frequency = nan"), "frequency"),
    "broken": (GOOD.replace("[sensors]", "[sensors"), "TOML"),
    "nested": ("robot = " + "[" * 5000, "nested"),
    "change": (GOOD.replace('"platform.mass" = 12.0', '"platform.mas" = 12.0'), "mass"),
    "shake": (GOOD.replace('kind = "push"', 'kind = "shake"'), "frequency"),
    "file": (GOOD.replace('name = "kim-ryu-2002/circle-40rpm"', 'file = "no.csv"'), "no.csv"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_bad_file_is_one_line(name, tmp_path):
    text, culprit = WRONG[name]
    (tmp_path / "run.toml").write_text(text)

    def read_and_run():
        setup = read_config(tmp_path / "run.toml")
        gough.simulate(*setup[:3], **setup.options)

    with pytest.raises(gough.errors.GoughError) as caught:
        read_and_run()
    assert culprit in str(caught.value)
    assert len(str(caught.value)) < 400


def test_trouble_on_the_command_line(tmp_path):
    (tmp_path / "run.toml").write_text(WRONG["unknown key"][0])
    said = refused("simulate", "run.toml", cwd=tmp_path)
    assert "nearest known key is frequency" in said
    for bad in (b"\xff\xfe\x00", b"\x00" * 2_000_000):
        (tmp_path / "run.toml").write_bytes(bad)
        with pytest.raises(FileError):
            read_config(tmp_path / "run.toml")
    with refusal(FileError, "such", "file"):
        read_config(tmp_path / "none.toml")
    assert "Is a directory" in refused("simulate", "", cwd=tmp_path)


def test_what_cannot_be_written_is_refused_before_it_is_simulated(tmp_path, monkeypatch):
    """Results of an hour would be lost at its end."""
    monkeypatch.setattr("gough.simulation.loop.simulate", lambda *_, **__: pytest.fail("simulated"))
    (tmp_path / "run.toml").write_text(f"{GOOD}\n[simulation]\nsimulations = 3\n")
    said = refused("simulate", "run.toml", "-o", "run.csv", cwd=tmp_path)
    assert "run.csv: a .csv has one simulation, and run.toml asks for several" in said
    run("new", "motion", "kim-ryu-2002", "-o", "run.nc", cwd=tmp_path)
    own = GOOD.replace('name = "kim-ryu-2002/circle-40rpm"', 'file = "run.nc"')
    (tmp_path / "run.toml").write_text(own)
    assert "run.nc: would be overwritten" in refused("simulate", "run.toml", cwd=tmp_path)


PRESS = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background ignore it
from gough.simulation import compiled
keep = compiled._Machine.keep
def press_then(self, *arguments):
    keep(self, *arguments)
    os.kill(os.getpid(), signal.SIGINT)
compiled._Machine.keep = press_then
from gough.cli.app import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_interrupted_from_the_keyboard(tmp_path):
    """Ctrl-C while the first chunk is kept: it is written, marked as partial."""
    text = GOOD.replace("duration = 0.05", "duration = 10.0")
    (tmp_path / "run.toml").write_text(text)
    result = subprocess.run(
        [sys.executable, "-c", PRESS, "simulate", "run.toml", "-o", "run.nc"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert result.returncode == 130, result.stderr
    assert "interrupted" in result.stderr
    with xarray.open_dataset(tmp_path / "run.nc", engine="scipy", decode_times=False) as data:
        assert data.attrs["partial"] == 1
        assert "interrupted" in data.attrs["stops"]
        assert 100 < len(data["time"]) < 9000
        assert np.all(np.isfinite(data["position"]))


# --- linear tools -------------------------------------------------------------------------------


@each_kind
def test_linear_model_moves_as_the_simulation_does(kind):
    robot, stiffness, damping = robot_of(kind), 2e5, 200.0
    home = robot.home
    model = linear_model(robot, stiffness=stiffness, damping=damping)
    np.testing.assert_allclose(model.forces, equilibrium_forces(robot), rtol=1e-12)
    shift, turn = np.array([1e-6, -2e-6, 1e-6]), np.array([2e-6, 1e-6, -3e-6])
    start = gough.Motion(
        home.position + shift, Rotation.from_rotvec(turn).as_matrix() @ home.rotation
    )
    found = gough.simulate(
        robot, FeedForward(stiffness, damping), home, 0.05, start=start, friction=False,
        period=None, step=2e-4, record=5e-3,
    )  # fmt: skip
    x = np.concatenate([shift, turn, np.zeros(6)])
    for moment, position in zip(found.time, found.motion.position, strict=True):
        expected = (expm(moment * model.A) @ x)[:3]
        np.testing.assert_allclose(position - home.position, expected, rtol=0, atol=2e-10)


@each_kind
def test_modes_responses_and_transmissibility(kind):
    robot, stiffness = robot_of(kind), 2e5
    model = linear_model(robot, stiffness=stiffness, damping=300.0)
    still = gough.Motion(robot.home.position, robot.home.rotation)
    jacobian, mass = robot.jacobian(still), robot.mass_matrix(still)
    modes = model.modes()
    assert modes.frequency.shape == (6,)
    assert np.all(modes.damping > 0)
    # stiff springs rule: M⁻¹ Jᵀ K J, gravity's own stiffness being small
    rough = np.sqrt(np.linalg.eigvals(np.linalg.solve(mass, stiffness * jacobian.T @ jacobian)))
    np.testing.assert_allclose(np.sort(modes.frequency), np.sort(rough.real) / 2 / np.pi, rtol=0.05)
    # standing still: the compliance
    response = model.frequency_response([0.0])[0]
    stiff = -np.linalg.solve(np.linalg.inv(mass), model.A[6:, :6])
    np.testing.assert_allclose(response.real, np.linalg.inv(stiff), rtol=1e-9, atol=1e-14)
    # a slow base takes the platform along, a fast one leaves it behind
    slow, fast = model.transmissibility([1e-3, 1e4])
    np.testing.assert_allclose(slow[:3, :3].real, np.eye(3), rtol=0, atol=1e-6)
    assert np.abs(np.diag(fast[:3, :3])).max() < 1
    system = model.state_space("wrench")
    np.testing.assert_allclose(system.A, model.A)
    with pytest.raises(InputError):
        model.frequency_response([1.0], "torque")
    with pytest.raises(InputError):
        linear_model(robot, stiffness=[1.0, 2.0])


def test_python_control_sees_the_same_system():
    control = pytest.importorskip("control")
    model = linear_model(robot_of("UPS"), stiffness=2e5, damping=300.0)
    system = model.to_control("wrench")
    response = control.frequency_response(system, [2 * np.pi * 7.0]).frdata[:, :, 0]
    np.testing.assert_allclose(response, model.frequency_response([7.0])[0], rtol=1e-9, atol=1e-16)


@each_kind
def test_base_inertia_is_that_of_every_body(kind):
    """Translations against weight along each axis; all against the energy of bodies (Eq. 73)."""
    robot = robot_of(kind)
    still = gough.Motion(robot.home.position, robot.home.rotation)
    found = base_inertia(robot, still)
    pulls = [robot.edited({"gravity": axis}).bias(still) for axis in np.eye(3).tolist()]
    np.testing.assert_allclose(found[:, :3], -np.stack(pulls, axis=1), rtol=0, atol=1e-12)
    moving = gough.Motion(still.position, still.rotation, np.eye(6)[:, :3], np.eye(6)[:, 3:])
    numbers = standard_parameters(robot)
    bodies = numbers[: 30 * robot.leg_count].reshape(robot.leg_count, 3, 10)

    def energy(frames, own, base):
        """Kinetic, of legs that move relative to a base that moves, (a, α)."""
        total = 0.0
        for k, frame in enumerate(frames):
            turn = np.broadcast_to(base[3:], frame.origin[0].shape)
            carried = base[:3] + np.cross(turn, frame.origin[0])
            velocity, omega = np.broadcast_arrays(frame.velocity, frame.omega)
            one = Frame(
                frame.origin[0],
                np.broadcast_to(frame.axes, (*velocity.shape, 3))[0],
                np.tensordot(own, velocity, 1) + carried,
                np.tensordot(own, omega, 1) + turn,
            )
            total += np.sum(energy_functions(one, np.zeros(3)) * bodies[:, k])
        arm = Frame(
            still.position,
            still.rotation,
            own[:3] + base[:3] + np.cross(base[3:], still.position),
            own[3:] + base[3:],
        )
        return total + energy_functions(arm, np.zeros(3)) @ numbers[-10:]

    ((_, own_frames),) = leg_frames(robot, moving)
    frames = [
        frame._replace(origin=np.broadcast_to(frame.origin, (6, robot.leg_count, 3)))
        for frame in own_frames
    ]
    none = np.zeros(6)
    for i, own in enumerate(np.eye(6)):
        for j, base in enumerate(np.eye(6)):
            both = energy(frames, own, base)
            mixed = both - energy(frames, own, none) - energy(frames, none, base)
            np.testing.assert_allclose(mixed, found[i, j], rtol=0, atol=1e-10 * abs(found).max())


def test_a_tilted_base_takes_the_platform_where_it_rests():
    """At 0 Hz the transmissibility is the equilibrium of a robot whose base is turned."""
    robot, stiffness, angle = robot_of("UPS"), 2e5, 1e-5
    model = linear_model(robot, stiffness=stiffness)
    still = gough.Motion(robot.home.position, robot.home.rotation)
    (follow,) = model.transmissibility([0.0]).real
    np.testing.assert_allclose(follow[:, :3], np.eye(6, 3), rtol=0, atol=1e-12)
    legs = robot.mechanism.legs
    for k in range(3):
        turn = Rotation.from_rotvec(angle * np.eye(3)[k]).as_matrix()
        turned = {
            f"legs.{name}": (getattr(legs, name)[..., 0].T @ turn.T).tolist()
            for name in ("base", "axis", "reference")
        }
        tilted, moved = robot.edited(turned), angle * follow[:, 3 + k]
        rotation = Rotation.from_rotvec(moved[3:]).as_matrix() @ still.rotation
        there = gough.Motion(still.position + moved[:3], rotation)

        def left(plant, pose):
            stretch = plant.inverse_kinematics(pose).q - robot.inverse_kinematics(still).q
            forces = model.forces - stiffness * stretch
            return plant.bias(pose) - plant.jacobian(pose).T @ forces

        before = np.abs(left(tilted, still)).max()
        assert np.abs(left(tilted, there)).max() < 1e-3 * before


def test_transmissibility_is_what_a_moving_base_does():
    """A base that shakes is gravity that shakes: the simulated robot against the linear model."""
    robot, stiffness, damping, hertz = robot_of("UPS"), 2e5, 2e3, 5.0
    model = linear_model(robot, stiffness=stiffness, damping=damping)
    expected = model.frequency_response([hertz], "base", "displacement")[0][:, 0]
    w, size = 2 * np.pi * hertz, 1e-3
    home = gough.Motion(robot.home.position, robot.home.rotation)
    pull = robot.edited({"gravity": [1.0, 0, 0]}).bias(home)
    found = gough.simulate(
        robot, FeedForward(stiffness, damping), home, 1.0, friction=False, period=None,
        wrench=lambda t: size * np.sin(w * t)[:, None] * pull,
    )  # fmt: skip
    last = found.time >= 0.6
    moved = found.motion.position[last, 0] - home.position[0]
    basis = np.stack([np.sin(w * found.time[last]), np.cos(w * found.time[last])], axis=1)
    sine, cosine = np.linalg.lstsq(basis, moved, rcond=None)[0]
    amplitude = (sine + 1j * cosine) / size
    assert abs(amplitude - expected[0]) < 1e-3 * abs(expected[0])


# --- documentation ------------------------------------------------------------------------------


def test_examples_of_the_documentation_run(tmp_path, monkeypatch):
    page = Path(__file__).parent.parent / "docs" / "simulation.md"
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```(\w+)\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    for kind, text in blocks:
        if kind == "python":
            exec(compile(text, str(page), "exec"), names)
    (configuration,) = (text for kind, text in blocks if kind == "toml")
    (tmp_path / "run.toml").write_text(configuration)
    setup = read_config(tmp_path / "run.toml")
    assert setup.options["duration"] == 1.0
    assert (tmp_path / "circle.nc").exists()
