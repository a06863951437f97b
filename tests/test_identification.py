"""Identification: honest standard deviations, refused logs, possible bodies."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import gough
from cases.common import each_kind, impossible_bodies
from cases.errors import refusal
from gough.data import signals
from gough.data.leg_rates import platform_motion
from gough.data.logs import Log, read_log, simulated_log, write_log
from gough.errors import FileError, ImpossibleBodyWarning, InputError
from gough.motion import Motion
from gough.parameters import measurements
from gough.parameters.base import base_parameters
from gough.parameters.consistency import adopted, changes, standard_values
from gough.parameters.identification import identify, validate
from gough.parameters.known import known, summary
from gough.show.report.identification import identification_page
from gough.trajectories import Fourier
from oracles.random_robot import random_motion, random_robot

pytestmark = impossible_bodies

FRICTION = {
    "legs.friction.slider_viscous": 200.0,
    "legs.friction.slider_coulomb": 40.0,
    "legs.friction.universal_viscous": 5.0,
    "legs.friction.spherical_viscous": 5.0,
}
RATE = 250.0


@pytest.fixture(scope="module")
def robot():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gough.load("long-khalil-martinet-2014").rigid.edited(FRICTION)


@pytest.fixture(scope="module")
def base(robot):
    return base_parameters(robot, True)


SINE = [
    [-17, 1, 31, 21, -32],
    [-133, 75, -37, 24, 0],
    [19, -5, -1, 7, -7],
    [8, 221, 46, 3, -121],
    [-164, 48, 180, -48, -56],
    [207, 9, -270, 15, 105],
]
COSINE = [
    [-257, 25, -107, 2, 44],
    [155, 126, -31, 8, -20],
    [-43, 11, 23, -48, 23],
    [-36, 46, -56, -38, 39],
    [58, 61, 87, 89, -100],
    [-125, -60, -9, 10, 11],
]
# mm and mrad: found by `gough excite` with a period of 5 s and five harmonics


@pytest.fixture(scope="module")
def trajectory(robot):
    return Fourier(robot.home, np.array(SINE) / 1000, np.array(COSINE) / 1000, 5.0)


@pytest.fixture(scope="module")
def other(robot):
    return Fourier(robot.home, np.array(COSINE) / 1300, -np.array(SINE) / 1300, 5.5)


@pytest.fixture(scope="module")
def motion(trajectory):
    return trajectory(np.arange(int(10 * RATE) + 1) / RATE)


@pytest.fixture(scope="module")
def log(robot, motion):
    return simulated_log(robot, motion, rng=np.random.default_rng(0))


@pytest.fixture(scope="module")
def found(robot, base, log):
    return identify(robot, log, base=base)


def test_exact_logs_give_the_exact_parameters(robot, base, motion):
    exact = simulated_log(robot, motion, resolution=0.0, noise=0.0, rng=np.random.default_rng(0))
    wrong = dataclasses.replace(base, standard=1.3 * base.standard + 0.1)
    result = identify(robot, exact, base=wrong, cutoff=100.0)
    scale = np.abs(result.measured.regressor).mean(axis=(0, 1))
    error = scale * np.abs(result.values - base.values)  # N
    assert error.max() < 2e-3 * np.sqrt(np.mean(exact.forces**2))
    assert np.abs(result.residuals).max() < 1e-4 * np.sqrt(np.mean(exact.forces**2))


@pytest.mark.second_tier
def test_errors_are_as_large_as_the_standard_deviations_say(robot, base, trajectory):
    errors, relative = [], []
    for seed in range(4):
        rng = np.random.default_rng(100 + seed)
        motion = trajectory(rng.uniform(0, 5) + np.arange(int(10 * RATE) + 1) / RATE)
        result = identify(robot, simulated_log(robot, motion, rng=rng), base=base)
        errors.append((result.values - base.values) / result.deviations)
        relative.append(result.relative)
    errors, good = np.array(errors), np.array(relative) < 0.05
    assert good.sum() > 50  # enough of them to judge by: 14 a seed
    assert (np.abs(errors[good]) < 3).mean() >= 0.99
    assert 0.8 < np.sqrt(np.mean(errors**2)) < 1.2  # neither too small nor too large


def test_methods(robot, base, log, trajectory, found):
    ordinary = identify(robot, log, method="ordinary", base=base)
    instrumental = identify(robot, log, method="instrumental", reference=trajectory, base=base)
    sampled = trajectory(np.arange(-0.5, 11.0, 0.01))
    from_motion = identify(robot, log, method="instrumental", reference=sampled, base=base)
    assert (found.deviations < ordinary.deviations).mean() > 0.5
    for result in (ordinary, instrumental):
        errors = (result.values - base.values) / result.deviations
        assert np.sqrt(np.mean(errors**2)) < 1.4
    difference = (instrumental.values - from_motion.values) / instrumental.deviations
    assert np.abs(difference).max() < 0.1
    with refusal(InputError, "reference"):
        identify(robot, log, method="instrumental", base=base)
    still = gough.Motion(np.broadcast_to(sampled.position[0], (len(sampled), 3)), time=sampled.time)
    with refusal(InputError, "reference", "shows"):
        identify(robot, log, method="instrumental", reference=still, base=base)
    with refusal(InputError, "ordinary", "weighted"):
        identify(robot, log, method="best", base=base)


def test_validation_on_another_motion(robot, found, other):
    moved = other(np.arange(int(4 * RATE)) / RATE)
    second = simulated_log(robot, moved, rng=np.random.default_rng(9))
    judged = validate(robot, found, second)
    assert judged.percent.max() < 2.0
    assert judged.percent == pytest.approx(
        100 * judged.error / np.sqrt((judged.measured**2).mean(0))
    )
    page_text = identification_page(robot, found, judged, ("one<.csv", "two.csv")).html()
    assert "one&lt;.csv" in page_text
    assert "two.csv" in page_text
    assert page_text.count("<img") == 3
    assert "leg 1 rotor_mass" in page_text


def test_what_a_motion_does_not_show_is_said(robot, base):
    t = np.arange(int(10 * RATE) + 1) / RATE
    sine = np.zeros((6, 3))
    sine[2] = 0.05, 0.03, 0.02
    vertical = Fourier(robot.home, sine, 0 * sine, 4.0)(t)
    exact = simulated_log(robot, vertical, resolution=0.0, noise=0.0, rng=np.random.default_rng(0))
    noisy = dataclasses.replace(
        exact, forces=exact.forces + np.random.default_rng(1).normal(size=exact.forces.shape)
    )
    result = identify(robot, noisy, base=base, cutoff=20.0)
    verdicts = dict(zip(base.base_names, result.verdicts, strict=True))
    for name in ("platform XX", "platform XY", "platform ZZ"):
        assert verdicts[name] == "not excited"
    assert np.isfinite(result.values).all()
    assert result.condition == np.inf
    unseen = np.array(result.verdicts) == "not excited"
    assert np.isinf(result.deviations[unseen]).all()


def test_the_robot_file_carries_the_result(robot, base, log, found):
    rng = np.random.default_rng(4)
    wrong = robot.edited(changes(robot, base.names, base.standard * rng.uniform(0.8, 1.2, 226)))
    prior = base_parameters_of(base, wrong)
    result = identify(wrong, log, base=prior)
    errors = (result.values - found.values) / found.deviations
    assert np.abs(errors).max() < 1e-6  # the robot file does not matter to what is found
    new = adopted(wrong, result)
    change = base_parameters_of(base, new).values - result.values
    # within the log's own noise: what it hardly tells stays as in the file
    assert change @ result.information @ change < base.rank
    assert "# Table 4" in new.text
    assert new.file.legs.base.tolist() == robot.file.legs.base.tolist()


def test_consistent_bodies_are_possible(robot, base, found):
    values = standard_values(robot, found)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ImpossibleBodyWarning)
        new = robot.edited(changes(robot, base.names, values))
    carried = base_parameters_of(base, new).values
    assert np.abs((carried - found.values) / found.deviations).max() < 3
    assert carried == pytest.approx(base.grouping @ values)


def test_payload_stays_beside_the_platform():
    data = random_robot(np.random.default_rng(3), "UPS")
    one = gough.Robot.from_dict(data)
    from gough.parameters.regressor import parameter_names, standard_parameters

    values = standard_parameters(one) * 1.1
    new = one.edited(changes(one, parameter_names(one), values))
    assert standard_parameters(new) == pytest.approx(values, rel=1e-12)
    assert len(new.file.platform.payload) == 2


def base_parameters_of(base, robot):
    from gough.parameters.regressor import standard_parameters

    return dataclasses.replace(base, standard=standard_parameters(robot, True))


@each_kind
def test_legs_tell_the_platforms_motion(kind):
    rng = np.random.default_rng(1)
    data = random_robot(rng, kind)
    robot = gough.Robot.from_dict(data)
    states = Motion(**random_motion(rng, data, (20,)))
    legs_ = robot.inverse_kinematics(states)
    back = platform_motion(robot, legs_.q, legs_.qd, legs_.qdd)
    for name in ("position", "rotation", "velocity", "acceleration", "angular_acceleration"):
        assert getattr(back, name) == pytest.approx(getattr(states, name), abs=1e-9), name


def test_signals():
    t = np.arange(2001) / 1000.0
    waves = np.stack([np.sin(2 * np.pi * 3 * t), np.cos(2 * np.pi * 5 * t)], axis=1)
    middle = slice(300, -300)
    kept = signals.low_pass(waves, 1000.0, 40.0)
    assert np.abs(kept - waves)[middle].max() < 1e-6  # no delay, no loss
    fast = np.sin(2 * np.pi * 100 * t)
    assert np.abs(signals.low_pass(fast, 1000.0, 20.0))[middle].max() < 1e-5
    first, second = signals.derivatives(waves, 1000.0)
    w = 2 * np.pi * np.array([3, 5])
    assert np.abs(second + w**2 * waves)[middle].max() < 1e-4
    assert np.abs(first[:, 0] - w[0] * np.cos(w[0] * t))[middle].max() < 1e-5
    rng = np.random.default_rng(0)
    band = signals.motion_band(np.round(waves, 6), 1000.0)
    assert 5.0 <= band < 14.0
    uneven = np.sort(t + rng.uniform(-3e-4, 3e-4, len(t)))
    grid, values = signals.uniform(uneven, np.sin(2 * np.pi * 3 * uneven)[:, None])
    assert np.diff(grid) == pytest.approx(grid[1] - grid[0])
    assert np.abs(values[:, 0] - np.sin(2 * np.pi * 3 * grid)).max() < 1e-6


def test_blocks_do_not_show(robot, base, motion, monkeypatch):
    whole = measurements.filtered_regressor(robot, base, motion[:1500], RATE, 40.0)
    monkeypatch.setattr(measurements, "BLOCK", 400)
    parts = measurements.filtered_regressor(robot, base, motion[:1500], RATE, 40.0)
    size = np.abs(whole).max(axis=(0, 1))
    assert (np.abs(parts - whole) / size).max() < 1e-6


# Logs


def test_logs_survive_files(log, robot, tmp_path):
    for name in ("log.csv", "log.nc"):
        write_log(log, tmp_path / name)
        back = read_log(robot, tmp_path / name)
        for field in ("time", "q", "forces"):
            np.testing.assert_array_equal(getattr(back, field), getattr(log, field))


def table(log, robot, motion, poses=False):
    """Columns of a log as text, which tests then spoil."""
    names = ["time", *(f"q{i}" for i in range(1, 7)), *(f"force{i}" for i in range(1, 7)), "note"]
    columns = [log.time[:, None], log.q, log.forces]
    if poses:
        names[1:7] = ["x", "y", "z", "rx", "ry", "rz"]
        vectors = Rotation.from_matrix(motion.rotation).as_rotvec()
        columns[1] = np.concatenate([motion.position, vectors], axis=1)
    numbers = np.concatenate(columns, axis=1)
    return names, numbers


def write(path, names, numbers):
    rows = [",".join([*map(repr, row.tolist()), "ok"]) for row in numbers]
    path.write_text("\n".join([",".join(names), *rows]) + "\n")
    return path


def test_poses_will_do(log, robot, motion, base, found, tmp_path):
    path = write(tmp_path / "log.csv", *table(log, robot, motion, poses=True))
    read = read_log(robot, path)
    assert np.abs(read.q - log.q).max() < 2e-6
    assert read.start is not None


def nan(names, numbers):
    numbers[10, 3] = np.nan


def gap(names, numbers):
    numbers[100:, 0] += 0.5


def backwards(names, numbers):
    numbers[[50, 51], 0] = numbers[[51, 50], 0]


def milliseconds(names, numbers):
    numbers[:, 0] *= 1000


def millimetres(names, numbers):
    numbers[:, 1:7] *= 1000


def labelled_millimetres(names, numbers):
    names[2] = "q2 [mm]"


def kilonewtons(names, numbers):
    numbers[:, 7:] /= 1000


def no_readings(names, numbers):
    numbers[:, 7:] = 0


def swapped_forces(names, numbers):
    numbers[:, [8, 11]] = numbers[:, [11, 8]]


def swapped_coordinates(names, numbers):
    numbers[:, [2, 5]] = numbers[:, [5, 2]]


def wrong_sign(names, numbers):
    numbers[:, 7:] *= -1


def misspelt(names, numbers):
    names[9] = "fource3"


def no_forces(names, numbers):
    names[7:13] = [f"torque{i}" for i in range(6)]


BAD = {
    nan: ("line 12", "q3", "not finite"),
    gap: ("line 102", "a gap of 0.504 s"),
    backwards: ("line 53", "time decreases"),
    milliseconds: ("line 3", "milliseconds"),
    millimetres: ("line ", "millimetres"),
    labelled_millimetres: ("line 2, column q2", "is its unit right?"),
    kilonewtons: ("line 1", "kilonewtons"),
    no_readings: ("line 1", "all forces are 0"),
    swapped_forces: ("line 1", "force2 and force5 look swapped"),
    swapped_coordinates: ("line 1", "q2 and q5 look swapped"),
    wrong_sign: ("line 1", "wrong sign"),
    misspelt: ("force3 is missing", "'fource3'"),
    no_forces: ("no forces",),
}


@pytest.mark.parametrize("spoil", BAD, ids=lambda one: one.__name__)
def test_bad_logs_are_refused_with_line_and_reason(spoil, log, robot, base, motion, tmp_path):
    names, numbers = table(log, robot, motion)
    numbers = numbers[:1200].copy()
    spoil(names, numbers)
    path = write(tmp_path / "log.csv", names, numbers)
    with pytest.raises((FileError, InputError)) as caught:
        identify(robot, read_log(robot, path), base=base)
    for fact in BAD[spoil]:
        assert fact in str(caught.value)


def test_poses_in_wrong_units_and_short_logs(log, robot, base, motion, tmp_path):
    names, numbers = table(log, robot, motion, poses=True)
    for columns, factor, word in (
        (slice(4, 7), 180 / np.pi, "degrees"),
        (slice(1, 4), 1e3, "milli"),
    ):
        spoilt = numbers.copy()
        spoilt[:, columns] *= factor
        with pytest.raises(FileError, match=rf"line \d+: .*{word}"):
            read_log(robot, write(tmp_path / "log.csv", names, spoilt))
    names, numbers = table(log, robot, motion)
    with refusal(FileError, "samples", "line 21", 20):
        read_log(robot, write(tmp_path / "log.csv", names, numbers[:20]))
    with refusal(InputError, "line 201"):
        identify(robot, read_log(robot, write(tmp_path / "s.csv", names, numbers[:200])), base=base)


def test_a_good_log_of_a_rough_robot_file_passes(log, robot, base):
    rng = np.random.default_rng(8)
    rough = robot.edited(changes(robot, base.names, base.standard * rng.uniform(0.5, 1.5, 226)))
    identify(rough, log, base=base)


def test_logs_of_wrong_shape_are_refused(log):
    seven = gough.Robot.from_dict(random_robot(np.random.default_rng(3), "UPS", legs=7))
    with refusal(InputError, "actuator", "per"):
        measurements.logged_motion(seven, log)
    with refusal(InputError, "actuators"):
        Log(np.zeros(3), np.zeros((3, 6)), np.zeros((2, 6)))
    with refusal(InputError, "array"):
        Log(np.zeros(3), "q", np.zeros((2, 6)))


def test_equal_legs_share_their_parameters(robot, base, log, found, motion):
    """118 base parameters become 28, each seen by six actuators, and known better."""
    shared = identify(robot, log, base=base, equal_legs=True)
    assert shared.base.rank == 28
    errors = (shared.values - shared.base.values) / shared.deviations
    assert np.sqrt(np.mean(errors**2)) < 1.2
    names = [*found.base.base_names]
    places = [names.index(one) for one in shared.base.base_names if one in names]
    own = [i for i, one in enumerate(shared.base.base_names) if one in names]
    assert np.median(shared.deviations[own] / found.deviations[places]) < 0.5
    whole, values = shared.felt
    exact = whole.values
    sizes = np.sqrt(np.mean(found.measured.regressor**2, axis=(0, 1)))
    np.testing.assert_allclose(
        sizes * (values - exact), 0.0, atol=0.02 * np.max(sizes * abs(exact))
    )
    adopted_robot = adopted(robot, shared)
    masses = adopted_robot.file.legs.rod[0].M
    assert np.ndim(masses) == 0  # one number for all legs
    wrong = (
        adopted_robot.inverse_dynamics(motion[::50]).forces
        - robot.inverse_dynamics(motion[::50]).forces
    )
    assert np.sqrt(np.mean(wrong**2)) < 0.01 * np.sqrt(np.mean(log.forces**2))


def test_a_summary_says_what_is_known_and_why_the_rest_is_not(found):
    told, lines = known(found), summary(found)
    every = [*told.well, *told.unseen, *told.faint, *told.noisy, *(one for one, _ in told.tied)]
    assert sorted(every) == [*range(found.base.rank)]
    assert lines[0].startswith(f"{len(told.well)} of 118 base parameters are known")
    assert (found.relative[[*told.well]] <= 0.1).all()


@pytest.mark.second_tier
def test_a_log_with_elastic_coordinates_tells_stiffness_and_damping(tmp_path):
    """All 6 + N rows of the equation of motion: Jᵀ Γ = Y X + y0, of a flexible platform."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImpossibleBodyWarning)
        flexible = gough.load("long-khalil-martinet-2014").edited({"platform.plate.modes": 2})
    swing = Fourier(flexible.home, np.array(SINE) / 3000, np.array(COSINE) / 3000, 5.0)
    motion = flexible.elastic_motion(swing(np.arange(601) / 200))
    exact = simulated_log(flexible, motion, resolution=0.0, noise=0.0, rng=np.random.default_rng(0))
    for kind in ("csv", "nc"):
        write_log(exact, tmp_path / f"log.{kind}")
        read = read_log(flexible, tmp_path / f"log.{kind}")
        np.testing.assert_array_equal(read.elastic, exact.elastic)
    with refusal(InputError, 2):
        identify(flexible, dataclasses.replace(exact, elastic=None))
    result = identify(flexible, exact)
    names = [*result.base.base_names]
    for name, part in (("stiffness", 1e-3), ("damping", 0.05)):
        for mode in (1, 2):
            i = names.index(f"mode {mode} {name}")
            assert abs(result.values[i] / result.base.values[i] - 1) < part
    assert (validate(flexible, result, exact).percent < 0.1).all()
