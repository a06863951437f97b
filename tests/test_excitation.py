"""Exciting motions: better than random ones, within limits."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gough
from cases.command import run
from cases.common import impossible_bodies
from cases.errors import refusal
from cases.robots import rotary_hexapod_with_masses
from gough.data.logs import simulated_log, write_log
from gough.errors import FileError, InputError
from gough.parameters import excitation
from gough.parameters.base import base_parameters
from gough.parameters.excitation import excite
from gough.trajectories import Fourier

pytestmark = impossible_bodies


@pytest.fixture(scope="module")
def sliding():
    return gough.load("sinatra-xi-staicu-2009")


SMALL = {"harmonics": 3, "random_motions": 10, "friction": False, "period": 5.0}


def test_excitation_beats_random_motions_within_limits(sliding):
    result = excite(sliding, iterations=8, **SMALL)
    assert result.ratio > 2
    assert result.iterations == 8
    samples = result.trajectory.sample(2001)
    limits = result.bounds.limits
    legs = sliding.inverse_kinematics(samples)
    assert sliding.check(samples).ok
    assert (np.abs(legs.qd) <= limits.speed).all()
    assert (np.abs(sliding.inverse_dynamics(samples).forces) <= limits.force).all()
    assert (sliding.condition_number(samples) <= result.bounds.condition).all()
    for state in (samples[0], samples[-1]):
        for name in ("velocity", "angular_velocity", "acceleration", "angular_acceleration"):
            assert np.abs(getattr(state, name)).max() < 1e-12
    assert [one.split(":")[0] for one in result.bounds.assumed] == ["speed", "force"]


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize("zero", [0.0, np.pi])
def test_cranks_are_moved_by_an_angle(zero):
    """No limits in the file: angles and torques are assumed, also where cranks pass q = π at home."""
    robot = gough.Robot.from_dict(rotary_hexapod_with_masses())
    back = (robot.inverse_kinematics(robot.home).q - zero)[:, np.newaxis]
    parts = robot.description.legs
    turn = Rotation.from_rotvec(back * parts.motor_axis[..., 0].T)
    robot = robot.edited({"legs.crank_zero": turn.apply(parts.e1[..., 0].T).tolist()})
    result = excite(robot, iterations=4, **SMALL)
    assert result.base.rank == 82
    stroke, speed, force = result.bounds.assumed
    assert (stroke, speed) == ("stroke: home ± 0.5 rad", "speed: 3 rad/s")
    assert re.fullmatch(r"force: .* N m, 3 times the largest at rest at home", force)
    samples = result.trajectory.sample(1001)
    legs = robot.inverse_kinematics(samples)
    apart = np.abs(legs.q - legs.q[0])
    assert 0.05 < apart.max() <= 1.0
    assert np.abs(np.cos(legs.q) - np.cos(zero)).max() <= 1 - np.cos(0.5) + 1e-9
    assert np.abs(legs.qd).max() <= 3


@pytest.mark.second_tier
def test_excitation_goes_on_where_it_was_stopped(sliding, tmp_path):
    base = base_parameters(sliding)
    state = tmp_path / "state"

    def stopping(iteration, error):
        def told(stage, done, total, best):
            if stage == "optimising" and done == iteration:
                raise error

        return told

    def search(told=None, state=state, seed=0):
        given = {"base": base, "state": state, "seed": seed, "progress": told}
        return excite(sliding, iterations=6, **given, **SMALL)

    first = search(stopping(2, KeyboardInterrupt))
    assert first.interrupted
    assert first.iterations == 2
    with pytest.raises(SystemExit):  # as a signal does: nothing is saved then
        search(stopping(5, SystemExit))
    second, whole = search(), search(state=None)
    assert not second.interrupted
    assert second.iterations == 6
    assert second.condition < first.condition
    assert second.random == first.random
    assert second.condition == whole.condition
    assert (second.trajectory.sine == whole.trajectory.sine).all()  # same arguments, same motion
    arrays = dict(np.load(state))
    arrays["answers"][:, 0] /= 2  # condition numbers that nothing has
    with state.open("wb") as file:
        np.savez(file, **arrays)
    with refusal(FileError, "damaged", "search"):
        search()
    with refusal(FileError, "settings"):
        search(seed=1)
    state.write_bytes(b"nonsense")
    with refusal(FileError, "saved", "search"):
        search()
    with refusal(InputError, "harmonics"):
        excite(sliding, **{**SMALL, "harmonics": 1})


def test_the_batch_of_motions_is_that_of_the_trajectories(sliding):
    base = base_parameters(sliding)
    search = excitation.ExcitingSearch(sliding, base, excitation.default_bounds(sliding), 5.0, 4)
    z = np.random.default_rng(0).normal(size=(2, search.free.shape[1]))
    both = search.motions(z, 10)
    for i in range(2):
        one = search.trajectory(z[i])((np.arange(10) + 0.5) / 10 * 5.0)
        for name in ("position", "rotation", "velocity", "angular_acceleration"):
            assert getattr(both[i], name) == pytest.approx(getattr(one, name), abs=1e-12)


@pytest.mark.second_tier
def test_command_line(sliding, tmp_path):
    robot = sliding.edited({"legs.friction.slider_viscous": 2.0})
    robot.save(tmp_path / "robot.toml")
    options = ("--harmonics", 3, "--random", 10, "--iterations", 2, "--period", 3, "--no-friction")
    result = run("excite", "robot.toml", "-o", "m.csv", *options, "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    said = json.loads(result.stdout)
    assert said["ratio"] >= 1
    assert not (tmp_path / "m.csv.state").exists()
    motion = gough.data.motion_files.read_motion(tmp_path / "m.csv")
    assert len(motion) == 301
    for i, name in enumerate(("one.csv", "two.nc")):
        t = np.arange(4000) / 400
        sizes = [[0.02]] * 3 + [[0.03]] * 3
        sine, cosine = np.random.default_rng(i).normal(size=(2, 6, 4)) / [1, 2, 3, 4]
        trajectory = Fourier(robot.home, sizes * sine, sizes * cosine, 3.0)
        rng = np.random.default_rng(i)
        write_log(simulated_log(robot, trajectory(t), rng=rng), tmp_path / name)
    outputs = ("-o", "new.toml", "--report", "page.html")
    result = run(
        "identify", "robot.toml", "one.csv", "--validate", "two.nc", *outputs, cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    assert re.search(r"validation, leg 6: rms error .* N, \d", result.stdout)
    assert "…" not in result.stdout  # nothing cut off at 80 columns
    assert gough.load(tmp_path / "new.toml").name == robot.name
    assert (tmp_path / "page.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    result = run("identify", "robot.toml", "page.csv", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1


def test_a_motion_is_made_small_enough_in_a_few_steps_or_refused():
    asked = []

    def beyond(z):
        asked.append(z)
        return np.abs(z) / 0.3 - 1 + excitation.MARGIN

    parts = {"motions": lambda z, count: z, "trajectory": lambda z: z, "friction": False}
    robot = SimpleNamespace(name="heavy")
    search = SimpleNamespace(best=np.ones(2), robot=robot, excess=beyond, **parts)
    assert 0.998 * 0.3 < excitation._within(search).max() <= 0.3
    assert len(asked) < 30
    search.excess = np.ones_like
    with refusal(InputError, "heavy", "motion", "home"):
        excitation._within(search)
