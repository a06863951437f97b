"""Batches over robot parameters: every plant with its own numbers, in one compiled loop."""

from __future__ import annotations

import numpy as np
import pytest
import xarray
from numpy.testing import assert_allclose, assert_array_equal

import gough
from cases.common import each_shape
from cases.simulations import robot_of
from gough.engine.run import stepping
from gough.simulation import ComputedTorque, FeedForward, GivenForces, GravityPD, Sensors, compiled

SIDE = np.array([-0.02, 0.0, 0.03])


def circle(robot):
    return gough.trajectories.Circle(robot.home.position - [0.02, 0, 0], 0.02, rpm=60)


def masses(robot):
    return robot.file.platform.mass * (1 + SIDE * 5)


def variants(robot):
    """Masses and platform points differ."""
    points = robot.description.platform_points[..., 0].T
    moved = points + SIDE[:, None, None] * 0.01 * np.array([1.0, 0, 0])
    return robot.variants({"platform.mass": masses(robot), "legs.platform": moved})


def one_by_one(robot, law, *given, **options):
    points = robot.description.platform_points[..., 0].T
    runs = []
    for mass, side in zip(masses(robot), SIDE, strict=True):
        moved = (points + side * 0.01 * np.array([1.0, 0, 0])).tolist()
        plant = robot.edited({"platform.mass": float(mass), "legs.platform": moved})
        runs.append(gough.simulate(plant, law, *given, **options))
    return runs


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize(
    ("kind", "law"),
    [("UPS", "nominal"), ("UPS", "own"), ("PUS", "gravity"), ("PUS", "feed forward")],
)
def test_each_variant_moves_as_it_does_alone(kind, law):
    """To 1e-12 of the largest; a nominal model commands all of them, or each its own."""
    robot = robot_of(kind)
    law = {
        "nominal": ComputedTorque(30.0, model=robot),
        "own": ComputedTorque(30.0),
        "gravity": GravityPD(1e5, 1e3, model=robot),
        "feed forward": FeedForward(1e5, 1e3, model=robot),
    }[law]
    given = (circle(robot), 0.05)
    options = {"friction": False, "wrench": [5.0, 0, 0, 0, 0.1, 0]}
    many = gough.simulate(variants(robot), law, *given, **options)
    assert many.shape == (3,)
    for row, alone in enumerate(one_by_one(robot, law, *given, **options)):
        for name in ("position", "rotation", "velocity"):
            mine, other = getattr(many.motion, name)[row], getattr(alone.motion, name)
            assert_allclose(mine, other, rtol=0, atol=1e-12 * max(1.0, abs(other).max()))
        size = abs(alone.forces).max()
        assert_allclose(many.forces[row], alone.forces, rtol=0, atol=1e-12 * size)
        assert_allclose(many.legs()["q"][row], alone.legs()["q"], rtol=1e-12)
        residual = alone.energy_audit()["energy_residual"]
        assert_allclose(many.energy_audit()["energy_residual"][row], residual, rtol=0, atol=1e-10)
    apart = np.ptp(many.forces, axis=0).max()
    assert apart > 1e-3 * size


def test_one_compiled_loop_takes_all_variants(monkeypatch):
    robot = robot_of("UPS")
    rows = []
    run = stepping.run
    monkeypatch.setattr(
        stepping, "run", lambda steps, count, *rest: (rows.append(count), run(steps, count, *rest))
    )
    law = ComputedTorque(30.0, model=robot)
    gough.simulate(variants(robot), law, circle(robot), 0.02, friction=False)
    plants = [robot, robot.edited({"platform.mass": float(masses(robot)[0])}), robot]
    gough.simulate(plants, law, circle(robot), 0.02, friction=False)
    assert rows == [3] * 4  # part of each runs again with half the step


@pytest.mark.parametrize("integrator", ["rk4", "DOP853"])
def test_variants_in_the_python_loops(integrator, monkeypatch):
    robot = robot_of("UPS")
    law = ComputedTorque(30.0, model=robot)
    many = variants(robot)
    fast = gough.simulate(many, law, circle(robot), 0.01, friction=False)
    monkeypatch.setattr(compiled, "possible", lambda scenario: False)
    slow = gough.simulate(many, law, circle(robot), 0.01, friction=False, integrator=integrator)
    assert_allclose(fast.motion.position, slow.motion.position, rtol=0, atol=1e-9)


@pytest.mark.second_tier
def test_friction_of_variants(monkeypatch):
    """Smooth friction with coefficients of each, against each alone without a compiler."""
    robot = robot_of("PUS", friction=True, width=0.05)
    drag = np.array([0.0, 20.0, 40.0])
    many = robot.variants({"legs.friction.slider_viscous": drag[:, None]})
    law = FeedForward(1e5, 1e3, model=robot)
    found = gough.simulate(many, law, circle(robot), 0.004)
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    for row in (0, 2):
        plant = robot.edited({"legs.friction.slider_viscous": float(drag[row])})
        alone = gough.simulate(plant, law, circle(robot), 0.004)
        assert_allclose(found.motion.position[row], alone.motion.position, rtol=0, atol=1e-11)
        assert_allclose(found.works[row], alone.works, rtol=1e-8, atol=1e-10)
    assert np.all(np.diff(found.energy_audit()["loss"][:, -1]) > 0)


def test_noise_of_variants():
    """Seeds number the variants; the same seed is the same noise alone."""
    robot = robot_of("UPS")
    law, sensors = ComputedTorque(30.0, model=robot), Sensors(noise=1e-6, seed=3)
    options = {"sensors": sensors, "friction": False, "wrench": np.zeros(6)}
    found = gough.simulate(variants(robot), law, circle(robot), 0.02, **options)
    runs = one_by_one(robot, law, circle(robot), 0.02, seeds=1, **options)
    assert_allclose(found.motion.position[1], runs[1].motion.position, rtol=0, atol=1e-13)
    assert abs(found.motion.position[0] - runs[0].motion.position).max() > 1e-10


@each_shape
def test_shapes_of_variants(shape):
    robot = robot_of("UPS")
    mass = robot.file.platform.mass * np.linspace(1.0, 1.1, int(np.prod(shape))).reshape(shape)
    many = robot.variants({"platform.mass": mass})
    law = ComputedTorque(30.0, model=robot)
    found = gough.simulate(many, law, circle(robot), 0.005, friction=False)
    assert found.shape == shape
    assert found.forces.shape == (*shape, 6, 6)
    data = found.dataset
    assert data["platform.mass"].shape == shape
    assert_array_equal(data["platform.mass"], mass)


def test_variants_broadcast_with_starts_and_label_the_dataset(tmp_path):
    robot = robot_of("UPS")
    shifts = np.array([[1e-3, 0, 0], [0, 1e-3, 0]])
    starts = gough.Motion(robot.home.position + shifts, robot.home.rotation)
    many = variants(robot)[:, np.newaxis]
    found = gough.simulate(
        many, GravityPD(1e5, 1e3), robot.home, 0.01, start=starts, friction=False
    )
    assert found.shape == (3, 2)
    data = found.dataset
    assert data["platform.mass"].dims == ("simulation_0", "simulation_1")
    assert data["legs.platform"].dims == ("simulation_0", "simulation_1", "leg", "platform_axis")
    assert_allclose(data["platform.mass"][:, 0], masses(robot))
    row = found.row(3)
    assert row.varied["platform.mass"] == masses(robot)[1]
    assert_allclose(row.legs()["q"], found.legs()["q"][1, 1], rtol=0, atol=1e-15)
    found.save(tmp_path / "many.nc")
    row.save(tmp_path / "one.csv")
    with xarray.open_dataset(tmp_path / "many.nc", engine="scipy") as back:
        assert_array_equal(back["platform.mass"], data["platform.mass"])


def test_a_variant_that_stops_is_named():
    robot = robot_of("UPS")
    law = GivenForces(robot.inverse_dynamics(robot.home, friction=False).forces)
    wrench = [np.zeros(6), [0, 0, 3e4, 0, 2e3, 0], np.zeros(6)]
    found = gough.simulate(variants(robot), law, robot.home, 0.3, friction=False, wrench=wrench)
    assert list(found.stops) == [1]
    assert 0 < found.stops[1].time < 0.3
    assert np.all(np.isfinite(found.motion.position[[0, 2]]))
    assert np.all(np.isfinite(found.row(1).legs()["q"][0]))


def test_wild_variant_numbers_do_not_reach_the_kernel():
    robot = robot_of("UPS")
    many = variants(robot).broadcast_to((3,))
    call = compiled._call(many, compiled.programs.watch, {
        name: np.zeros((1, 3, 3) if name == "rotation" else (1, 3)) for name in compiled.MOVING
    }, {}, {})  # fmt: skip
    for wrong in (np.array([0, 1, 3]), np.array([0, 1]), np.zeros(3)):
        with pytest.raises(ValueError, match="variants"):
            stepping.run(1, 3, [call._replace(variants=wrong)])
