"""Motion cueing: filters beside closed forms, limits kept, the optimised cue beside the classical."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import gough
from cases.errors import refusal
from cases.exported import COMPILER, make
from gough.cueing import (
    Predictive,
    Vehicle,
    Washout,
    cue,
    export_washout,
    flight_turn,
    lane_change,
    read_vehicle,
)
from gough.cueing.limiting import limits_of
from gough.cueing.vestibular import CANALS, OTOLITHS, filtered, sensation
from gough.errors import FileError, InputError, LimitError

SIMULATOR = Path(__file__).parents[1] / "examples" / "simulator.toml"
DOWN = np.array([0, 0, -9.81])


@pytest.fixture(scope="module")
def simulator():
    return gough.load(SIMULATOR)


def short(vehicle, end):
    part = vehicle.time <= end
    return Vehicle.of(vehicle.time[part], vehicle.acceleration[part], vehicle.rates[part])


def test_organs_answer_steps_and_sines_as_their_formulas():
    """A step's end and start by the limit theorems, a sine by the frequency response."""
    t = np.arange(0, 60, 0.01)
    ones = np.ones((t.size, 1))
    assert filtered(*OTOLITHS, ones, 0.01)[-1, 0] == pytest.approx(0.4, rel=1e-4)
    canals = filtered(*CANALS, ones, 0.01)[:, 0]
    slow, fast = 1 / 80, 1 / 5.73
    exact = (fast * np.exp(-fast * t) - slow * np.exp(-slow * t)) / (fast - slow)
    np.testing.assert_allclose(canals, exact, atol=1e-3)
    omega = 2 * np.pi * 0.5
    s = 1j * omega
    response = 0.4 * (10 * s + 1) / ((5 * s + 1) * (0.016 * s + 1))
    felt = filtered(*OTOLITHS, np.sin(omega * t)[:, np.newaxis], 0.01)[-200:, 0]
    steady = np.abs(response) * np.sin(omega * t + np.angle(response))[-200:]
    np.testing.assert_allclose(felt, steady, atol=1e-4)


def test_a_coordinated_turn_pushes_into_the_seat_only():
    vehicle = flight_turn(bank=20)
    force = vehicle.specific_force(DOWN)
    calm = np.abs(vehicle.time - 30) > 2  # of the gust
    assert np.abs(force[calm, 1]).max() < 0.02
    turning = (vehicle.time > 22) & (vehicle.time < 38)
    np.testing.assert_allclose(
        force[turning & calm, 2],
        9.81 * (1 / np.cos(np.radians(20)) - 1),
        rtol=2e-2,
    )


def test_a_cue_has_the_rates_it_says(simulator):
    """Velocities and accelerations are the derivatives of the poses."""
    motion = cue(simulator, short(lane_change(), 9), Washout(), scale=0.5).motion
    step = motion.time[1]
    for value, rate in (
        (motion.position, motion.velocity),
        (motion.velocity, motion.acceleration),
    ):
        differences = (value[2:] - value[:-2]) / (2 * step)
        # cuts of the tilt rate and the vehicle's own corners are within a sample
        assert np.median(np.abs(differences - rate[1:-1])) < 1e-4
        assert np.abs(differences - rate[1:-1]).max() < 0.02 * np.abs(rate).max() + 0.02


def test_washout_comes_back_and_tilts_slowly(simulator):
    t = np.arange(0, 60, 0.02)
    steady = Vehicle.of(t, np.outer(np.clip(t - 1, 0, 1), [1.0, 0, 0]), np.zeros((t.size, 3)))
    found = cue(simulator, steady, Washout(tilt_rate=2.0))
    assert found.gain == 1
    assert np.abs(found.motion.angular_velocity).max() <= np.radians(2.0) * (1 + 1e-9)
    np.testing.assert_allclose(found.motion.position[-1], simulator.home.position, atol=1e-3)
    pitch = found.motion.rotation[-1][:, 0]
    assert np.degrees(np.arcsin(pitch[2])) == pytest.approx(np.degrees(1 / 9.81), rel=0.02)
    assert found.sensation.given[-1, 0] == pytest.approx(found.sensation.wanted[-1, 0], rel=0.02)


@pytest.mark.second_tier
def test_random_scalings_keep_every_limit(simulator):
    rng = np.random.default_rng(0)
    for vehicle in (lane_change(step=0.05), flight_turn(step=0.1)):
        for scale in 10 ** rng.uniform(-1, 1.5, 6):
            found = cue(simulator, vehicle, Washout(), scale=scale)
            assert simulator.check(found.motion).ok
            assert (found.gain < 1) == bool(found.held_back)
    wild = cue(simulator, short(lane_change(step=0.05), 7), Predictive(preview=3), scale=4)
    assert simulator.check(wild.motion).ok


def test_optimised_has_at_most_half_the_error(simulator):
    for vehicle in (short(lane_change(), 9), short(flight_turn(), 14)):
        classical = cue(simulator, vehicle, Washout())
        optimised = cue(simulator, vehicle, Predictive(preview=5))
        assert simulator.check(optimised.motion).ok
        assert optimised.error <= 0.5 * classical.error


def test_a_platform_at_rest_feels_nothing(simulator):
    t = np.arange(0, 2, 0.1)
    vehicle = Vehicle.of(t, np.zeros((20, 3)), np.zeros((20, 3)))
    found = cue(simulator, vehicle, Washout())
    assert found.error < 1e-12
    still = gough.Motion(np.broadcast_to(simulator.home.position, (20, 3)), time=t)
    assert sensation(vehicle, still, simulator.home, DOWN).error < 1e-12


def test_what_cannot_be(simulator, tmp_path):
    vehicle = short(lane_change(), 2)
    with refusal(InputError, "speed", "force", "nothing", "limits"):
        cue(gough.load("kim-ryu-2002"), vehicle, Washout())
    with refusal(LimitError, "home", "force"):
        cue(simulator, vehicle, Washout(), force=1000)
    for wrong in ({"scale": 0}, {"scale": np.nan}, {"speed": 0}, {"stroke": [1, 2]}):
        with pytest.raises(InputError):
            cue(simulator, vehicle, Washout(), **wrong)
    t = np.arange(0, 2, 0.1)
    for last, words in ((50.0, "sample 19: a gap of 48.2 s"), (1e300, "sample 19: time is over")):
        with pytest.raises(InputError, match=words):  # at even times the others would be lost
            Vehicle.of(np.append(t[:-1], last), np.zeros((20, 3)), np.zeros((20, 3)))
    with refusal(InputError, "tilt_rate"):
        Washout(tilt_rate=0)
    with refusal(InputError, "preview"):
        Predictive(preview=0.05)
    path = tmp_path / "v.csv"
    path.write_text("time,ax,ay,az,wx,wy\n0,0,0,0,0,0\n")
    with refusal(FileError, "wz"):
        read_vehicle(path)


def test_units_of_a_record(tmp_path):
    path = tmp_path / "v.csv"
    rows = "\n".join(f"{20 * i},1,2,3,10,20,30,x" for i in range(6))
    path.write_text(f"time [ms],ax,ay,az,wx [deg/s],wy [deg/s],wz [deg/s],note\n{rows}\n")
    found = read_vehicle(path)
    assert found.step == pytest.approx(0.02)
    np.testing.assert_allclose(found.rates[0], np.radians([10, 20, 30]))


def test_limits_are_the_lesser(simulator):
    found = limits_of(simulator, stroke=0.1, speed=2.0, force=[5e3] * 6)
    home = simulator.inverse_kinematics(simulator.home).q
    np.testing.assert_allclose(found.longest, home + 0.1)
    np.testing.assert_array_equal(found.speed, 0.8)
    np.testing.assert_array_equal(found.force, 5e3)


@pytest.mark.skipif(COMPILER is None or shutil.which("make") is None, reason="no gcc or make")
@pytest.mark.parametrize(
    ("which", "options"),
    [("simulator", {}), ("simulator", {"real": "float"}), ("delta", {"step": 0.002, "gain": 0.3})],
)
def test_washout_in_c_does_what_this_one_does(simulator, on_numpy, tmp_path, which, options):
    """Its own test program compares both; a wrong number of a filter must fail it."""
    robot = simulator if which == "simulator" else gough.load("alikoc-delta-2023")
    folder = export_washout(robot, tmp_path / "washout", Washout(tilt=0.2), **options)
    built = make(folder, "test")
    assert built.returncode == 0, built.stdout + built.stderr
    assert "64 compared" in built.stdout
    assert "x real time" in built.stdout
    numbers = next(folder.glob("gough_*_washout.c"))
    text = numbers.read_text()
    lag = Washout(tilt=0.2).moving(options.get("step", 0.01)).lag[0]
    right = f"(gough_real){float(lag)!r}"
    assert right in text
    numbers.write_text(text.replace(right, "(gough_real)2.0"))
    assert make(folder, "test").returncode != 0
    with refusal(FileError, "file", "gough"):
        export_washout(gough.load("kim-ryu-2002"), folder)
    with refusal(InputError, "step", 0, 0.0001):
        export_washout(robot, tmp_path / "other", step=0)
    assert not (tmp_path / "other").exists()
