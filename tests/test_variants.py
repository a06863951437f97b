"""Variants: many robots at once get what each gets alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gough
from cases.common import LEG_KINDS, each_kind, each_shape, impossible_bodies
from cases.errors import refusal, warning
from gough import Motion, Robot, Variants
from gough.engine.run import variants as engine
from gough.engine.run.execute import NumPyExecutor
from gough.errors import (
    ImpossibleBodyWarning,
    InputError,
    MissingDataError,
    NotFiniteError,
    ReachError,
)
from gough.legs.register import KINDS
from oracles.random_robot import random_motion, random_robot

pytestmark = impossible_bodies

each_engine = pytest.mark.parametrize("name", ["llvm", "numpy"])
PLAIN = ("inverse_kinematics", "jacobian", "mass_matrix", "bias")
MODELS = (*PLAIN, "inverse_dynamics", "reactions", "direct_dynamics")


def robots(kind, count, **options):
    """Random robots whose states are near those of the first, and states of it."""
    rng = np.random.default_rng([count, LEG_KINDS.index(kind)])
    data = random_robot(rng, kind, 6, **options)
    first = Robot.from_dict(data)
    made = [first]
    for _ in range(count - 1):
        points = first.description.platform_points[..., 0].T
        changes = {
            "legs.platform": (points + 1e-3 * rng.normal(size=points.shape)).tolist(),
            "gravity": rng.normal(size=3).tolist(),
            f"legs.{KINDS[kind].parameters.rotor}": float(rng.random()),
        }
        made.append(first.edited(changes))
    return made, lambda shape: Motion(**random_motion(rng, data, shape))


def answer(asked, model, motion, wrench, forces):
    """All arrays that a model returns."""
    if model in PLAIN:
        found = getattr(asked, model)(motion)
    elif model == "direct_dynamics":
        found = asked.direct_dynamics(motion, forces, wrench)
    else:
        found = getattr(asked, model)(motion, wrench)
    if isinstance(found, np.ndarray):
        return {model: found}
    return {name: value for name, value in vars(found).items() if value is not None}


@pytest.mark.second_tier_from(3)
@pytest.mark.parametrize(
    ("kind", "model"),
    [*(("UPS", one) for one in MODELS), ("PUS", "reactions"), ("RUS", "reactions")],
)
def test_each_variant_is_its_robot_bit_for_bit(kind, model):
    some, motion_of = robots(kind, 5)
    motion = motion_of((7,))
    wrench, forces = np.arange(6.0), 10 * np.arange(6.0)
    found = answer(Variants(some)[:, np.newaxis], model, motion, wrench, forces)
    for i, robot in enumerate(some):
        for name, value in answer(robot, model, motion, wrench, forces).items():
            assert_array_equal(found[name][i], value)


@each_kind
def test_numpy_agrees_with_compiled(kind, monkeypatch):
    some, motion_of = robots(kind, 4)
    motion = motion_of((4,))
    compiled = Variants(some)
    assert isinstance(compiled.executor, engine.CompiledVariants)
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    plain = Variants(some)
    for model in MODELS if kind == "UPS" else ("reactions",):
        here = answer(compiled, model, motion, np.arange(6.0), np.ones(6))
        there = answer(plain, model, motion, np.arange(6.0), np.ones(6))
        for name, value in here.items():
            size = abs(value).max(initial=1.0)
            assert_allclose(there[name], value, rtol=1e-10, atol=1e-11 * size)
    assert isinstance(plain.executor, NumPyExecutor)


@pytest.mark.second_tier_from(1)
@each_kind
def test_more_robots_than_are_held_at_a_time(kind, monkeypatch):
    some, motion_of = robots(kind, 7, friction=True)
    motion = motion_of((3, 1))
    expected = Variants(some).inverse_dynamics(motion).forces
    monkeypatch.setattr(engine, "TOGETHER", 4)
    assert_array_equal(Variants(some).inverse_dynamics(motion).forces, expected)
    many = Variants(some)
    for i in (2, 6, 2):
        assert_array_equal(many[i].inverse_dynamics(motion).forces[:, 0], expected[:, i])


@each_engine
@each_shape
def test_any_shape(shape, name, monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", name)
    some, motion_of = robots("UPS", 1)
    motion = motion_of((2,))
    rng = np.random.default_rng(3)
    masses = 1 + rng.random(shape)
    many = some[0].variants({"platform.mass": masses, "gravity": [0.0, 0.0, -9.81]})
    assert many.shape == shape
    one = Motion(motion.position[0], motion.rotation[0])
    assert many.inverse_dynamics(one).forces.shape == (*shape, 6)
    assert many[..., np.newaxis].mass_matrix(motion).shape == (*shape, 2, 6, 6)


def test_structure_that_only_some_have_costs_rounding_alone():
    """A robot on world axes beside general ones runs their program, without its zeros."""
    some, motion_of = robots("UPS", 2)
    square = some[0].edited({"legs.axis": [0.0, 1.0, 0.0], "legs.rod": {}, "legs.rotor_mass": 0})
    motion = motion_of((6,))
    found = Variants([square, *some])[:, np.newaxis].inverse_dynamics(motion).forces
    expected = square.inverse_dynamics(motion).forces
    assert_allclose(found[0], expected, rtol=0, atol=1e-13 * abs(expected).max())


def nudged(robot, key, rng):
    """A value for a key near that of the robot, (legs, ...)."""
    machine, legs = robot.mechanism, robot.mechanism.legs
    if key == "gravity":
        return rng.normal(size=3)
    if key == "legs.platform":
        return machine.points[..., 0].T + 1e-3 * rng.normal(size=(6, 3))
    name = key.split(".")[-1]
    if hasattr(legs, name) and isinstance(getattr(legs, name), np.ndarray):
        now = np.moveaxis(getattr(legs, name)[..., 0], -1, 0)
        return now * (1 + 1e-3 * rng.random(now.shape)) + 1e-3 * rng.random(now.shape)
    core = {"center_of_mass": (3,), "inertia": (3, 3)}.get(name, ())
    value = 0.1 * rng.random((6, *core) if key.startswith("legs.") else core)
    return value + value.swapaxes(-1, -2) if name == "inertia" else value


KEYS = {
    "UPS": (
        *("base", "axis", "reference", "rotor_mass", "rod.mass", "cross.inertia"),
        "friction.slider_viscous",
    ),
    "PUS": (
        "rail_origin",
        "rail_direction",
        "length",
        "axis",
        "slider.mass",
        "link.center_of_mass",
        "friction.slider_viscous",
    ),
    "RUS": (
        *("motor", "motor_axis", "crank_zero", "crank_length", "length", "axis", "reference"),
        *("rotor_inertia", "crank.inertia", "link.center_of_mass", "friction.motor_viscous"),
    ),
}
SHARED = (
    "legs.platform",
    "gravity",
    "platform.mass",
    "platform.center_of_mass",
    "platform.inertia",
)
SHARED += ("legs.friction.spherical_viscous", "legs.friction.universal_coulomb")


@pytest.mark.second_tier_from(16)
@pytest.mark.parametrize(
    ("kind", "key"),
    [(kind, key) for kind in LEG_KINDS for key in (*(f"legs.{k}" for k in KEYS[kind]), *SHARED)],
)
def test_keys_mean_what_they_mean_in_the_file(kind, key, monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")  # nothing to compile for each structure
    (robot,), motion_of = robots(kind, 1)
    rng = np.random.default_rng(5)
    # a file whose axes are given: their defaults depend on the geometry that changes here
    legs = robot.mechanism.legs
    text = {f"legs.{one}": getattr(legs, one)[..., 0].T.tolist() for one in ("axis", "reference")}
    body = {"mass": 1.5, "center_of_mass": [0.1, 0.2, 0.3], "inertia": np.diag([2.0, 3.0, 4.0])}
    body["inertia"] = body["inertia"].tolist()
    text |= {f"legs.{name}": body for name in robot.mechanism.legs.BODIES}
    robot = robot.edited(text)
    values = [nudged(robot, key, rng) for _ in range(3)]
    motion = motion_of(())
    for model in ("reactions", "inverse_kinematics"):
        found = answer(robot.variants({key: values}), model, motion, None, None)
        for i, value in enumerate(values):
            alone = answer(robot.edited({key: value.tolist()}), model, motion, None, None)
            for name, one in alone.items():
                limit = 1e-12 * abs(one).max(initial=1.0)
                assert_allclose(found[name][i], one, rtol=0, atol=limit, err_msg=name)


@pytest.mark.parametrize("rows", [1, 3, 4, 9])
def test_a_result_that_is_a_parameter_itself(rows):
    """Of legs without mass M[0, 0] is the platform's mass: no operation comes between."""
    rng = np.random.default_rng(3)
    data = random_robot(rng, "UPS", 6)
    data["legs"].update(rod={}, cylinder={}, cross={}, rotor_mass=0.0)
    inertia = np.diag([1.0, 2.0, 3.0]).tolist()
    data["platform"] = {"mass": 12.0, "center_of_mass": [0, 0, 0], "inertia": inertia}
    masses = np.linspace(10.0, 14.0, rows)
    many = Variants.of(Robot.from_dict(data), {"platform.mass": masses})
    found = many.mass_matrix(Motion(**random_motion(rng, data, (rows,))))
    for axis in range(3):
        assert_array_equal(found[:, axis, axis], masses)


def test_standard_parameters_and_one_value_for_all_legs():
    robot = gough.load("long-khalil-martinet-2014").rigid
    masses, weights = np.array([[3.0], [4.0]]), np.array([20.0, 30.0])
    many = robot.variants({"legs.rod.M": masses, "platform.mass": weights})
    for i in range(2):
        one = robot.edited({"legs.rod.M": masses[i, 0], "platform.mass": weights[i]})
        expected = one.inverse_dynamics(robot.home).forces
        found = many[i].inverse_dynamics(robot.home).forces
        assert_allclose(found, expected, rtol=0, atol=1e-13 * abs(expected).max())


def test_friction_of_each_variant_is_its_own():
    robot = gough.load("kim-ryu-2002")
    motion = gough.trajectories.Circle([0, 0, 0.8], 0.1, rpm=40).sample(9)
    factors = np.array([0.0, 0.5, 2.0])
    now = robot.mechanism.legs.friction.universal_coulomb[:, 0]
    many = robot.variants({"legs.friction.universal_coulomb": factors[:, np.newaxis] * now})
    found = many[:, np.newaxis].inverse_dynamics(motion)
    for i, factor in enumerate(factors):
        one = robot.edited({"legs.friction.universal_coulomb": (factor * now).tolist()})
        expected = one.inverse_dynamics(motion).forces
        assert_allclose(found.forces[i], expected, rtol=0, atol=1e-12 * abs(expected).max())
    assert found.residual.max() <= 1e-12


@each_engine
def test_a_variant_without_answer_is_named_and_leaves_the_others_alone(name, monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", name)
    robot = gough.load("kim-ryu-2002")
    lengths = np.array([robot.mechanism.legs.length[0, 0], 0.01])[:, np.newaxis]
    many = robot.variants({"legs.length": lengths})
    with refusal(ReachError, "sample 1", "leg 1"):
        many.inverse_dynamics(robot.home)
    found = many.inverse_dynamics(robot.home, on_error="nan").forces
    assert np.isnan(found[1]).all()
    assert_allclose(found[0], robot.inverse_dynamics(robot.home).forces, rtol=1e-12)
    with refusal(NotFiniteError, "position", "sample 0"):
        many.jacobian(Motion([0, 0, np.nan]))


def test_bad_input_is_named():
    robot, other = gough.load("kim-ryu-2002"), gough.load("long-khalil-martinet-2014").rigid
    cases = [
        (lambda: Variants([]), "one robot or more"),
        (lambda: Variants([robot, other]), "has 6 UPS"),
        (lambda: Variants([robot, 3]), "not int"),
        (lambda: robot.variants({"platform.maas": [1.0]}), "did you mean 'platform.mass'"),
        (lambda: robot.variants({"platform.mass": "x"}), "platform.mass is not an array"),
        (lambda: robot.variants({"platform.mass": [np.nan]}), "platform.mass is not finite"),
        (lambda: robot.variants({"legs.length": np.ones(5)}), r"needs \(..., 6\)"),
        (lambda: robot.variants({"legs.length": np.zeros((2, 6))}), "must be positive"),
        (lambda: robot.variants({"legs.friction.width": -np.ones(6)}), "must be 0 or more"),
        (lambda: robot.variants({"legs.axis": np.zeros((6, 3))}), "zero length"),
        (
            lambda: robot.variants({"legs.link.M": np.ones(6), "legs.link.mass": np.ones(6)}),
            "mixes",
        ),
        (lambda: robot.variants({"platform.inertia": np.triu(np.ones((3, 3)))}), "not symmetric"),
        (
            lambda: robot.variants({"platform.mass": np.ones(2), "gravity": np.ones((3, 3))}),
            r"do not fit: platform.mass \(2,\), gravity \(3,\)",
        ),
        (
            lambda: robot.variants({"platform.mass": np.ones(2)}).jacobian(
                Motion(np.zeros((3, 3)))
            ),
            r"do not fit: motion \(3,\), variant \(2,\)",
        ),
        (lambda: robot.variants({"platform.mass": np.ones(2)})[5], "shape"),
    ]
    for call, message in cases:
        with pytest.raises(InputError, match=message):
            call()
    with pytest.raises(MissingDataError):
        Variants([gough.load("dietmaier-1998")]).mass_matrix(Motion([0, 0, 1]))


def test_a_hundred_thousand_variants():
    robot = gough.load("long-khalil-martinet-2014").rigid
    masses = np.linspace(1, 2, 100_000)
    many = robot.variants({"platform.mass": masses})
    forces = many.inverse_dynamics(robot.home).forces
    for i in (0, 8191, 8192, 99_999):
        alone = robot.edited({"platform.mass": masses[i]})
        expected = alone.inverse_dynamics(robot.home).forces
        assert_allclose(forces[i], expected, rtol=0, atol=1e-13 * abs(expected).max())


def test_condition_numbers_of_scaled_robots_are_their_own():
    robot = Robot.load("kim-ryu-2002")
    scales = np.array([0.5, 1.0, 2.0])
    points = np.array(robot.file.legs.platform)
    many = robot.variants({"legs.platform": scales[:, None, None] * points})
    alone = [robot.edited({"legs.platform": (k * points).tolist()}) for k in scales]
    expected = [one.condition_number(robot.home) for one in alone]
    assert_allclose(many.condition_number(robot.home), expected, rtol=1e-12)
    assert len({round(float(one), 3) for one in expected}) == 3


@pytest.mark.parametrize("name", ["forward_kinematics", "rigid", "assembly_modes", "edited"])
def test_what_is_of_one_robot_is_refused_by_name(name):
    many = Robot.load("kim-ryu-2002").variants({"platform.mass": [10.0, 20.0]})
    with pytest.raises(InputError, match=f"variants have no {name}"):
        getattr(many, name)
    assert not hasattr(many, name)


@pytest.mark.parametrize(
    "changes",
    [
        {"platform.mass": [10.0, -1.0]},
        {"legs.link.mass": [[1.0] * 6, [1.0] * 5 + [-2.0]]},
    ],
    ids=["platform", "link"],
)
def test_negative_masses_warn(changes):
    robot = Robot.load("kim-ryu-2002")
    with warning(ImpossibleBodyWarning, "variants"):
        robot.variants(changes)
