"""Newton and Euler, virtual work and Lagrange give the answers of `Robot.inverse_dynamics`."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import gough
from cases.common import each_shape, few_states, impossible_bodies
from cases.errors import refusal
from gough import Motion, Robot
from gough.base.arrays import Array
from gough.errors import ConvergenceError, InputError, MissingDataError, ReachError, SingularError
from gough.formulations import lagrange, newton_euler, virtual_work
from gough.results import Actuation
from oracles.random_robot import random_motion, random_robot, toml_text

pytestmark = few_states

SEEDS = range(4)
FORMULATIONS = (newton_euler.inverse_dynamics, virtual_work.inverse_dynamics)
Formulation = Callable[..., Actuation]


def sample(
    seed: int, shape: tuple[int, ...] = (10,), kind: str = "PUS", **options: Any
) -> tuple[Any, Motion, Array]:
    """A random robot file, a motion near its home and wrenches on the platform."""
    rng = np.random.default_rng([seed, 2002])
    data = random_robot(rng, kind, **options)
    return data, Motion(**random_motion(rng, data, shape)), 50 * rng.normal(size=(*shape, 6))


def error(actual: Array, expected: Array) -> Array:
    """Largest difference over the largest force, a sample."""
    return np.asarray(np.abs(actual - expected).max(axis=-1) / np.abs(expected).max(axis=-1))


def assert_same(robot: Robot, motion: Motion, actual: Actuation, expected: Actuation) -> None:
    """Forces and powers agree to round-off times the pose's condition number."""
    allowed = 1e-14 * (10 + robot.condition_number(motion))
    assert np.all(error(actual.forces, expected.forces) < allowed)
    assert np.all(error(actual.power, expected.power) < allowed)


def circle(robot: Robot, rpm: float, radius: float = 0.1, samples: int = 40) -> Motion:
    """Kim & Ryu's circle in the horizontal plane about home, without turning."""
    rate = 2 * np.pi * rpm / 60
    time = np.linspace(0, 2 * np.pi / rate, samples)
    c, s, zero = np.cos(rate * time), np.sin(rate * time), 0 * time
    out = radius * np.stack([c, s, zero], axis=-1)
    ahead = radius * np.stack([-s, c, zero], axis=-1)
    return Motion(robot.home.position + out, None, rate * ahead, None, -(rate**2) * out, time=time)


def near_home(robot: Robot, samples: int = 30) -> Motion:
    """Random states of a catalogue robot, well within its strokes."""
    rng = np.random.default_rng(9)
    home = {"position": robot.home.position, "rotation_vector": [0, 0, 0]}
    state = random_motion(rng, {"home": home}, (samples,))
    state["position"] = (state["position"] + robot.home.position) / 2
    return Motion(**state)


def without_axial_inertia(robot: Robot) -> Robot:
    """Kim & Ryu's robot with I_zz = 0 of the links."""
    return robot.edited({"legs.link.inertia": np.diag([0.1402837, 0.1402837, 0.0]).tolist()})


@pytest.mark.parametrize("near_singular", [False, True])
@pytest.mark.parametrize("axial", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_virtual_work_agrees_for_any_bodies(seed: int, axial: bool, near_singular: bool) -> None:
    data, motion, wrench = sample(seed, axial=axial, near_singular=near_singular, friction=True)
    robot = Robot.from_text(toml_text(data))
    found = virtual_work.inverse_dynamics(robot, motion, wrench)
    assert_same(robot, motion, found, robot.inverse_dynamics(motion, wrench, friction=False))
    alone = virtual_work.inverse_dynamics(robot, motion)
    assert_same(robot, motion, alone, robot.inverse_dynamics(motion, friction=False))


@pytest.mark.parametrize("near_singular", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_telescopes(formulation: Formulation, seed: int, near_singular: bool) -> None:
    """UPS legs of any bodies; friction, of which there is none, is refused."""
    data, motion, wrench = sample(seed, (3, 1, 2), "UPS", near_singular=near_singular)
    robot = Robot.from_dict(data)
    found = formulation(robot, motion, wrench)
    assert_same(robot, motion, found, robot.inverse_dynamics(motion, wrench))
    data["legs"]["friction"] = {"slider_viscous": 1.0}
    rubbing = Robot.from_dict(data)
    with refusal(InputError, "friction"):
        formulation(rubbing, motion, wrench, friction=True)
    same = formulation(rubbing, motion, wrench, friction=False)
    np.testing.assert_array_equal(same.forces, found.forces)


@pytest.mark.filterwarnings("ignore:.*Swig.*:DeprecationWarning")  # casadi on Python 3.12 and later
@pytest.mark.parametrize("kind", ["PUS", "UPS"])
def test_lagrange_agrees_for_any_bodies(kind: str) -> None:
    """Energies of positions alone, differentiated by CasADi; the catalogue's robots: test_papers."""
    pytest.importorskip("casadi", reason="casadi is not installed (extra casadi)")
    data, motion, wrench = sample(3, (3, 1, 2), kind)
    robot = Robot.from_dict(data)
    found = lagrange.inverse_dynamics(robot, motion, wrench)
    assert_same(robot, motion, found, robot.inverse_dynamics(motion, wrench))
    assert lagrange.inverse_dynamics(robot, motion[:0]).forces.shape == (0, 1, 2, 6)
    data["legs"]["friction"] = {"slider_viscous": 1.0}
    with refusal(InputError, "friction"):
        lagrange.inverse_dynamics(Robot.from_dict(data), motion, friction=True)
    if kind == "PUS":
        far = motion.replace(position=100 + motion.position)
        with refusal(ReachError, "leg 1"):
            lagrange.inverse_dynamics(robot, far)


def test_telescopes_without_an_answer() -> None:
    data, _, _ = sample(1, (), "UPS")
    robot = Robot.from_dict(data)
    data["legs"]["axis"][2] = robot.inverse_kinematics(robot.home).direction[2].tolist()
    del data["legs"]["reference"]
    folded = Motion(np.subtract(data["legs"]["base"][0], data["legs"]["platform"][0]))
    for formulation in FORMULATIONS:
        with refusal(ReachError, "leg 1", 0):
            formulation(robot, folded)
        with refusal(SingularError, "leg 3"):
            formulation(Robot.from_dict(data), robot.home)
    with refusal(InputError, "PUS"):
        newton_euler.link_inertia_forces(robot, robot.home)


@pytest.mark.parametrize("near_singular", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_newton_euler_agrees_for_slender_links(seed: int, near_singular: bool) -> None:
    data, motion, wrench = sample(seed, axial=False, near_singular=near_singular, friction=True)
    data["legs"]["cross"] = {"mass": [0.5, 0, 1, 0.1, 0, 2]}  # points at the joint
    robot = Robot.from_dict(data)
    found = newton_euler.inverse_dynamics(robot, motion, wrench, friction=False)
    assert_same(robot, motion, found, robot.inverse_dynamics(motion, wrench, friction=False))
    alone = newton_euler.inverse_dynamics(robot, motion, friction=False)
    assert_same(robot, motion, alone, robot.inverse_dynamics(motion, friction=False))


@impossible_bodies
@pytest.mark.parametrize("name", ["kim-ryu-2002", "sinatra-xi-staicu-2009"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_papers_robots(formulation: Formulation, name: str) -> None:
    robot = gough.load(name)
    if name == "kim-ryu-2002" and formulation is newton_euler.inverse_dynamics:
        robot = without_axial_inertia(robot)
    motion = near_home(robot)
    expected = robot.inverse_dynamics(motion, friction=False)
    assert_same(robot, motion, formulation(robot, motion, friction=False), expected)


def test_links_of_kim_and_ryu_are_slender() -> None:
    """With the printed I_zz the slender model is off by 4 µN of 65 N on the 40 rpm circle."""
    robot = gough.load("kim-ryu-2002")
    motion = circle(robot, 40)
    found = newton_euler.inverse_dynamics(robot, motion, friction=False).forces
    exact = robot.inverse_dynamics(motion, friction=False).forces
    assert 1e-6 < np.abs(found - exact).max() < 1e-5
    slender = newton_euler.inverse_dynamics(without_axial_inertia(robot), motion, friction=False)
    np.testing.assert_allclose(slender.forces, found, rtol=1e-13)  # I_zz never enters


@pytest.mark.parametrize("width", [None, 0.05])
@pytest.mark.parametrize("seed", SEEDS)
def test_friction_with_true_couples_agrees(seed: int, width: float | None) -> None:
    data, motion, wrench = sample(seed, axial=False, friction=True, width=width)
    robot = Robot.from_dict(data)
    found = newton_euler.inverse_dynamics(robot, motion, wrench, slender=False)
    assert np.all(found.residual <= newton_euler.TOLERANCE)
    expected = robot.inverse_dynamics(motion, wrench)
    assert np.all(error(found.forces, expected.forces) < 1e-12)
    assert np.all(error(found.power, expected.power) < 1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_friction_of_sliders_is_exact_with_slender_links(seed: int) -> None:
    data, motion, wrench = sample(seed, axial=False, friction=True)
    table = data["legs"]["friction"]
    data["legs"]["friction"] = {
        key: value for key, value in table.items() if key.startswith(("slider", "screw"))
    }
    robot = Robot.from_dict(data)
    found = newton_euler.inverse_dynamics(robot, motion, wrench)
    assert_same(robot, motion, found, robot.inverse_dynamics(motion, wrench))


@pytest.mark.parametrize("seed", SEEDS)
def test_slender_friction_is_exact_where_links_are_perpendicular_to_the_axis(seed: int) -> None:
    """The link's spin φ̇1 cos φ2 and M_A across n vanish with α·n; the error is linear in it."""
    data, motion, wrench = sample(seed, (), axial=False, friction=True)
    n = Robot.from_dict(data).inverse_kinematics(motion).direction
    across = np.cross(n, np.random.default_rng(seed).normal(size=(6, 3)))
    across /= np.linalg.norm(across, axis=-1, keepdims=True)
    del data["legs"]["reference"]

    def difference(tilt: float) -> float:
        leaning = deepcopy(data)
        leaning["legs"]["axis"] = (np.cos(tilt) * across + np.sin(tilt) * n).tolist()
        robot = Robot.from_dict(leaning)
        found = newton_euler.inverse_dynamics(robot, motion, wrench).forces
        return float(error(found, robot.inverse_dynamics(motion, wrench).forces))

    assert difference(0.0) < 1e-12
    assert 1e-8 < difference(1e-4) < 1e-3
    assert difference(1e-3) / difference(1e-4) == pytest.approx(10, rel=0.05)


def test_what_the_slender_friction_of_kim_and_ryu_costs() -> None:
    """0.15 N of 63 N on the 20 rpm circle, where the joints' friction asks for 4.8 N.

    The spin in the friction law is nearly all of it; M_A along n, where links spin, costs 0.015 N.
    """
    robot = without_axial_inertia(gough.load("kim-ryu-2002"))
    motion = circle(robot, 20)
    exact = robot.inverse_dynamics(motion).forces

    def forces(**options: bool) -> Array:
        return newton_euler.inverse_dynamics(robot, motion, **options).forces

    assert np.abs(forces() - exact).max() == pytest.approx(0.149, abs=0.01)
    assert np.abs(forces(slender=False, along_link=True) - exact).max() < 0.016
    assert np.all(error(forces(slender=False), exact) < 1e-12)


@pytest.mark.parametrize("slender", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_friction_shares_add_up(seed: int, slender: bool) -> None:
    data, motion, wrench = sample(seed, axial=False, friction=True)
    robot = Robot.from_dict(data)
    shares = newton_euler.friction_forces(robot, motion, wrench, slender=slender)
    without = newton_euler.inverse_dynamics(robot, motion, wrench, friction=False).forces
    total = newton_euler.inverse_dynamics(robot, motion, wrench, slender=slender).forces
    assert np.all(
        error(without + shares.slider + shares.universal + shares.spherical, total) < 1e-12
    )
    assert np.all(np.abs(shares.universal).max(axis=-1) > 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_link_inertia_share_is_what_massless_links_save(seed: int) -> None:
    data, motion, _ = sample(seed, axial=False)
    data["gravity"] = [0, 0, 0]
    heavy = Robot.from_dict(data)
    light = Robot.from_dict({**data, "legs": {**data["legs"], "link": {"mass": 0.0}}})
    share = newton_euler.link_inertia_forces(heavy, motion)
    saved = (
        heavy.inverse_dynamics(motion, friction=False).forces
        - light.inverse_dynamics(motion, friction=False).forces
    )
    assert np.all(error(share, saved) < 1e-12)


def test_link_inertia_grows_with_the_square_of_the_speed() -> None:
    """Kim & Ryu's Figs. 9 and 10: 1.8 N at 20 rpm, 16.5 N at 60 rpm."""
    robot = gough.load("kim-ryu-2002")
    slow, fast = (
        np.abs(newton_euler.link_inertia_forces(robot, circle(robot, rpm))).max()
        for rpm in (20, 60)
    )
    assert fast == pytest.approx(9 * slow, rel=1e-9)
    assert slow == pytest.approx(1.83, abs=0.01)


@each_shape
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_batch_shapes(formulation: Formulation, shape: tuple[int, ...]) -> None:
    data, motion, wrench = sample(5, shape, axial=False)
    robot = Robot.from_dict(data)
    found = formulation(robot, motion, wrench)
    assert found.forces.shape == found.power.shape == (*shape, 6)
    assert found.residual.shape == shape
    assert found.elastic_acceleration.shape == (*shape, 0)
    for index in np.ndindex(shape):
        one = formulation(robot, motion[index], wrench[index])
        np.testing.assert_allclose(found.forces[index], one.forces, rtol=1e-12)


@each_shape
def test_batch_shapes_of_shares(shape: tuple[int, ...]) -> None:
    data, motion, _ = sample(6, shape, axial=False, friction=True)
    robot = Robot.from_dict(data)
    assert newton_euler.link_inertia_forces(robot, motion).shape == (*shape, 6)
    shares = newton_euler.friction_forces(robot, motion)
    for part in (shares.slider, shares.universal, shares.spherical):
        assert part.shape == (*shape, 6)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_wrench_broadcasts(formulation: Formulation) -> None:
    data, motion, wrench = sample(7, (), axial=False)
    robot = Robot.from_dict(data)
    wrenches = wrench * np.arange(3)[:, np.newaxis]
    found = formulation(robot, motion, wrenches)
    np.testing.assert_allclose(
        found.forces,
        robot.inverse_dynamics(motion, wrenches, friction=False).forces,
        rtol=1e-10,
    )


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_bad_samples_are_named_or_nan(formulation: Formulation) -> None:
    robot = without_axial_inertia(gough.load("kim-ryu-2002"))
    positions = np.array([[0, 0, 0.8], [0, 0, 5.0], [0, 0, 0.85]])
    with refusal(ReachError, "sample 1", "leg 1"):
        formulation(robot, Motion(positions), friction=False)
    found = formulation(robot, Motion(positions), friction=False, on_error="nan")
    assert np.all(np.isnan(found.forces[1]))
    good = Motion(positions[[0, 2]])
    np.testing.assert_allclose(
        found.forces[[0, 2]], formulation(robot, good, friction=False).forces, rtol=1e-12
    )


@pytest.mark.filterwarnings("ignore::gough.errors.ArchitectureWarning")
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_singular_poses_are_refused(formulation: Formulation) -> None:
    data, motion, _ = sample(8, (), axial=False)
    legs = data["legs"]
    for key in ("rail_origin", "rail_direction", "platform", "axis", "length", "branch"):
        legs[key][5] = legs[key][0]  # two legs in one place
    with pytest.raises(SingularError):
        formulation(Robot.from_dict(data), motion)


def test_friction_that_never_agrees_is_refused() -> None:
    data, motion, wrench = sample(8, (), axial=False)
    data["legs"]["friction"] = {"spherical_coulomb": 5.0}
    with pytest.raises(ConvergenceError):
        newton_euler.inverse_dynamics(Robot.from_dict(data), motion, wrench)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_other_robots_are_refused(formulation: Formulation) -> None:
    rng = np.random.default_rng(0)
    rus = random_robot(rng, "RUS")
    with refusal(InputError, "RUS"):
        formulation(Robot.from_dict(rus), Motion(rus["home"]["position"]))
    seven = random_robot(rng, "PUS", legs=7, axial=False)
    with refusal(InputError, 7):
        formulation(Robot.from_dict(seven), Motion(seven["home"]["position"]))
    bare = random_robot(rng, "PUS", axial=False)
    del bare["legs"]["link"]
    with refusal(MissingDataError, "legs.link"):
        formulation(Robot.from_dict(bare), Motion(bare["home"]["position"]))


def test_virtual_work_has_no_friction() -> None:
    data, motion, _ = sample(9, (), friction=True)
    robot = Robot.from_dict(data)
    with refusal(InputError, "friction"):
        virtual_work.inverse_dynamics(robot, motion, friction=True)
    del data["legs"]["friction"]
    smooth = Robot.from_dict(data)
    np.testing.assert_array_equal(
        virtual_work.inverse_dynamics(smooth, motion, friction=True).forces,
        virtual_work.inverse_dynamics(robot, motion).forces,
    )


@pytest.mark.parametrize(
    ("body", "table", "reason"),
    [
        ("cross", {"mass": 1.0, "center_of_mass": [0.1, 0, 0]}, "the cross has mass off the axis"),
        ("cross", {"ZZ": 0.1, "XX": 0.1, "YY": 0.1, "M": 1.0}, "the cross has mass off the axis"),
        ("link", {"mass": 1.0, "center_of_mass": [0, 0.1, 0.4]}, "centre of mass is off its axis"),
        ("link", {"M": 1.0, "XX": 0.2, "YY": 0.3, "ZZ": 0.2, "XZ": 0.05}, "products of inertia"),
    ],
)
def test_newton_euler_names_bodies_it_does_not_know(
    body: str, table: dict[str, Any], reason: str
) -> None:
    data, motion, _ = sample(10, (), axial=False)
    data["legs"][body] = table
    robot = Robot.from_dict(data)
    with pytest.raises(InputError, match=f"leg 1: .*{reason}"):
        newton_euler.inverse_dynamics(robot, motion)
    found = virtual_work.inverse_dynamics(robot, motion)
    assert_same(robot, motion, found, robot.inverse_dynamics(motion, friction=False))


def test_newton_euler_takes_any_slider_and_a_cross_on_its_axis() -> None:
    """A slider does not turn, and mass on the axis α moves as the slider does."""
    data, motion, _ = sample(11, axial=False)
    data["legs"]["cross"] = {
        "mass": 2.0,
        "center_of_mass": [0, 0, 0.1],
        "inertia": np.diag([0.3, 0.3, 0.0]).tolist(),
    }
    robot = Robot.from_dict(data)
    found = newton_euler.inverse_dynamics(robot, motion)
    assert_same(robot, motion, found, robot.inverse_dynamics(motion))


@impossible_bodies
def test_transformation_matrices_of_the_paper_close_its_loops() -> None:
    """Sinatra, Xi & Staicu's Eqs. 1–3 at the central configuration, a_2α in place of its transpose."""
    robot = gough.load("sinatra-xi-staicu-2009")
    outer, inner, length, alpha, gamma = 0.6, 0.3, 0.5, np.pi / 36, np.pi / 4
    half_guide = (outer - inner) * np.sin(np.pi / 3 - alpha) / np.cos(gamma)
    beta_0 = np.arcsin((outer - inner) / half_guide)
    beta = np.arcsin(2 * inner / length * np.sin(np.pi / 6 - alpha))

    def turn(angle: float) -> Array:
        c, s = np.cos(angle), np.sin(angle)
        return np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])

    c, s = np.cos(beta_0), np.sin(beta_0)
    a_beta = np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
    theta_1 = np.array([[0, 0, -1], [0, 1, 0], [1, 0, 0]])
    theta_2 = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    third = 2 * np.pi / 3
    angles = (alpha, third - alpha, third + alpha, -third - alpha, -third + alpha, -alpha)
    directions = robot.inverse_kinematics(robot.home).direction
    legs: Any = robot.description.legs
    for i, angle in enumerate(angles):
        side = (-1) ** (i + 1) * (np.pi / 3 + alpha)
        a_10 = a_beta @ np.diag([-1, -1, 1]) @ turn(angle)
        a_20 = theta_1 @ turn(side) @ a_beta.T @ a_10
        a_30 = turn(beta) @ theta_1 @ theta_2 @ a_20
        np.testing.assert_allclose(a_10[2], legs.rail_direction[:, i, 0], atol=1e-12)
        np.testing.assert_allclose(a_20[2], legs.axis[:, i, 0], atol=1e-12)
        np.testing.assert_allclose(a_30[1], directions[i], atol=1e-12)
        printed = turn(beta) @ theta_1 @ theta_2 @ theta_1 @ turn(side).T @ a_beta.T @ a_10
        assert np.linalg.norm(length * (printed[1] - directions[i])) > 0.4
