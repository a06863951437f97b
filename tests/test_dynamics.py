"""Dynamics against independent oracles and identities: forces, reactions, friction, energy."""

import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation

import gough
from cases.closeness import assert_near
from cases.common import (
    HEXAPODS,
    LEG_KINDS,
    each_kind,
    each_shape,
    few_states,
    impossible_bodies,
    kinds,
    numbers_of,
    repeatable,
    seeds,
    six_or_eight,
)
from cases.errors import refusal
from gough import Motion, Robot
from gough.data.paper_motions import paper_motion
from gough.errors import ConvergenceError, InputError, NotFiniteError, SingularError
from gough.trajectories import Fourier
from oracles import free_bodies, opened_tree
from oracles.free_bodies import FreeBodies
from oracles.parallel import ParallelOracle
from oracles.random_robot import one_state, random_motion, random_robot
from oracles.robot_parts import read_legs
from oracles.vector_kinematics import leg_motion

OPTIONS = [{}, {"near_singular": True}, {"friction": True}, {"friction": True, "width": 0.2}]
MODELS = ["inverse_dynamics", "reactions", "contributions", "direct_dynamics"]
MODELS += ["mass_matrix", "bias", "energy"]
legs_ = st.sampled_from([6, 8])
pytestmark = [impossible_bodies, few_states]  # many robots are met once each


def sample(seed, kind, legs=6, shape=(), **options):
    """A random robot as a file's dictionary and as a Robot, states of it, and wrenches."""
    rng = np.random.default_rng([seed, LEG_KINDS.index(kind), legs])
    data = random_robot(rng, kind, legs, **options)
    states = random_motion(rng, data, shape)
    return data, Robot.from_dict(data), states, 50 * rng.normal(size=(*shape, 6))


def tolerance(robot, motion):
    """1e-10, times the condition number where that is large."""
    return 1e-10 * max(1.0, np.max(robot.condition_number(motion)) / 100)


def stacked(found):
    """(v̇, ω̇) of an answer of direct dynamics or of a motion."""
    if isinstance(found, Motion):
        return np.concatenate([found.acceleration, found.angular_acceleration], axis=-1)
    return np.concatenate([found.linear, found.angular], axis=-1)


def answers(robot, name, motion, **options):
    """Every array of numbers that a model returns, by name."""
    forces = (np.ones(robot.actuator_count),) if name == "direct_dynamics" else ()
    found = getattr(robot, name)(motion, *forces, **options)
    return numbers_of(robot, name, found)


@settings(repeatable, max_examples=24)
@given(seeds, kinds, legs_, st.booleans())
def test_every_model_agrees_with_pinocchio(seed, kind, legs, near_singular):
    data, robot, state, wrench = sample(seed, kind, legs, near_singular=near_singular)
    motion = Motion(**state)
    near = tolerance(robot, motion)
    forces = opened_tree.inverse_dynamics(data, state, wrench)
    found = robot.inverse_dynamics(motion, wrench)
    assert_near(found.forces, forces, near)
    assert_near(found.power, forces * opened_tree.leg_coordinates(data, state).qd, near)
    mass, bias = opened_tree.mass_matrix_and_bias(data, state)
    assert_near(robot.mass_matrix(motion), mass, 1e-10)
    assert_near(robot.bias(motion), bias, 1e-10)
    direct = stacked(robot.direct_dynamics(motion, forces, wrench))
    tree = opened_tree.direct_dynamics(data, state, forces, wrench)
    assert_near(direct, np.concatenate(tree), near)
    energy = robot.energy(motion)
    assert_near([energy.kinetic, energy.potential], opened_tree.energies(data, state), 1e-12)


def assert_agrees_with_free_bodies(data, robot, state, wrench):
    motion = Motion(**state)
    near = tolerance(robot, motion)
    expected = free_bodies.inverse_dynamics(data, state, wrench)
    forces, found = robot.inverse_dynamics(motion, wrench), robot.reactions(motion, wrench)
    assert max(forces.residual, found.residual) <= 1e-12
    assert_near(forces.forces, expected.forces, near)
    for name in ("spherical", "universal"):
        assert_near(getattr(found, name), getattr(expected, name), near)
    couples = ["universal_moment"] + ["guide_moment"] * (robot.kind == "PUS")
    for name in couples:  # what moments of the forces leave, and as exact as a thousandth of these
        couple, other = getattr(found, name), getattr(expected, name)
        size = max(np.max(np.abs(other)), 1e-3 * np.max(np.abs(expected.forces)))
        assert_allclose(couple, other, rtol=0, atol=near * size)
    legs = robot.inverse_kinematics(motion)
    if robot.kind == "PUS":
        assert_near(found.guide, expected.guide, near)
    if robot.kind == "UPS":
        along = np.sum(legs.direction * found.sliding_force, axis=-1, keepdims=True)
        assert_near(found.sliding_force - along * legs.direction, expected.contact_force, near)
        assert_near(found.sliding_moment, expected.contact_moment, near)
        rotor = robot.description.legs.rotor_mass[:, 0]
        axial = expected.forces + expected.loads.along_q - rotor * legs.qdd
        assert_near(along[:, 0], axial, near)
    # the joint turns freely about its second axis (about the first it drives the cross)
    axis = [leg_motion(leg, state).axes[leg.kind.passive[0]] for leg in read_legs(data)]
    second = np.cross(axis, legs.direction)
    free = np.sum(second * found.universal_moment, axis=-1)
    assert_allclose(free, 0, atol=near * np.max(np.abs(expected.forces)))
    direct = robot.direct_dynamics(motion, expected.forces, wrench)
    assert_near(stacked(direct), stacked(motion), near)


@settings(repeatable, max_examples=16)
@given(seeds, kinds, legs_, st.sampled_from(OPTIONS))
def test_reactions_agree_with_free_bodies(seed, kind, legs, options):
    data, robot, state, wrench = sample(seed, kind, legs, **options)
    assert_agrees_with_free_bodies(data, robot, state, wrench)


def test_guides_whose_rail_is_the_universal_axis():
    data, _, state, wrench = sample(0, "PUS", friction=True)
    data["legs"]["axis"] = data["legs"]["rail_direction"]
    assert_agrees_with_free_bodies(data, Robot.from_dict(data), state, wrench)


@pytest.mark.parametrize("name", [name for name in HEXAPODS if "diet" not in name])
def test_the_papers_robots_agree_with_free_bodies(name):
    robot = gough.load(name).rigid
    data = tomllib.loads(robot.text)
    data["home"].setdefault("rotation_vector", [0, 0, 0])
    rng = np.random.default_rng(0)
    for _ in range(3):
        state = random_motion(rng, data)
        state["velocity"] *= 0.3
        assert_agrees_with_free_bodies(data, robot, state, 20 * rng.normal(size=6))


@each_kind
@six_or_eight
@pytest.mark.parametrize("friction", [True, False])
def test_direct_undoes_inverse(kind, legs, friction):
    _, robot, states, wrench = sample(1, kind, legs, (300,), friction=True)
    motion = Motion(**states)
    actuation = robot.inverse_dynamics(motion, wrench, friction)
    direct = robot.direct_dynamics(motion, actuation.forces, wrench, friction)
    assert_near(stacked(direct), stacked(motion), tolerance(robot, motion))
    assert max(actuation.residual.max(), direct.residual.max()) <= 1e-12
    other = motion.replace(acceleration=np.full(3, 7.0), angular_acceleration=np.full(3, np.nan))
    again = robot.direct_dynamics(other, actuation.forces, wrench, friction)
    assert_array_equal(again.angular, direct.angular)


@each_kind
@pytest.mark.parametrize("friction", [True, False])
def test_power_balance(kind, friction):
    """Σ Γ q̇ + wrench·ξ = d/dt (T + U) + friction loss along a smooth motion."""
    data, robot, _, wrench = sample(0, kind, friction=True)
    rng = np.random.default_rng(0)
    sine, cosine = rng.uniform(-0.05, 0.05, (2, 6, 2))
    trajectory = Fourier(robot.home, sine, cosine, period=2.0)
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
    for t in (0.3, 1.1, 1.6):
        energy = robot.energy(trajectory(t + 2e-3 * np.arange(-4, 5)))
        stored = weights @ (energy.kinetic + energy.potential) / 2e-3
        motion = trajectory(t)
        state = {name: getattr(motion, name) for name in random_motion(rng, data)}
        loss = free_bodies.inverse_dynamics(data, state, wrench, friction).dissipation.sum()
        assert (loss > 0) == friction
        power = robot.inverse_dynamics(motion, wrench, friction).power
        pushed = wrench @ np.concatenate([motion.velocity, motion.angular_velocity])
        balance = power.sum() + pushed - stored - loss
        assert abs(balance) < 1e-9 * np.max(np.abs(power))


@each_kind
@six_or_eight
def test_contributions_add_up(kind, legs):
    _, robot, states, wrench = sample(2, kind, legs, (20,), friction=True)
    motion, preload = Motion(**states), np.linspace(1, 100, legs)
    parts = robot.contributions(motion, wrench, preload=preload)
    total = robot.inverse_dynamics(motion, wrench, preload=preload).forces
    assert_near(parts.total, total, 1e-12)
    assert_near(sum(vars(parts).values()), total, 1e-12)
    rest = Motion(motion.position, motion.rotation)
    assert_near(parts.gravity, robot.inverse_dynamics(rest).forces, 1e-11)
    weightless = robot.edited({"gravity": [0, 0, 0]})
    assert_near(parts.wrench, weightless.inverse_dynamics(rest, wrench).forces, 1e-11)
    steady = motion.replace(acceleration=np.zeros(3), angular_acceleration=np.zeros(3))
    assert_near(parts.coriolis, weightless.inverse_dynamics(steady, None, False).forces, 1e-11)


@each_kind
def test_preload_is_internal_and_forces_are_least(kind):
    _, robot, state, wrench = sample(3, kind, 8)
    motion, preload = Motion(**state), np.linspace(-80, 200, 8)
    free = null_space(robot.jacobian(motion).T)  # internal forces, (8, 2)
    least = robot.inverse_dynamics(motion, wrench).forces
    assert_allclose(free.T @ least, 0, atol=1e-10 * np.max(np.abs(least)))
    loaded = robot.inverse_dynamics(motion, wrench, preload=preload).forces
    assert_near(loaded - least, free @ free.T @ preload, 1e-10)


def test_a_singular_pose_gives_its_condition_number():
    angle = np.deg2rad([-10, 10, 110, 130, 230, 250])
    turned = angle + np.deg2rad([-50, 50] * 3)
    base, points = (np.stack([np.cos(a), np.sin(a), 0 * a], axis=-1) for a in (angle, turned))
    body = {"mass": 2.0, "inertia": (0.1 * np.eye(3)).tolist()}
    legs = {"kind": "UPS", "base": base, "platform": points / 2, "axis": [0, 1, 0.1]}
    legs |= dict.fromkeys(("cross", "cylinder", "rod"), body)
    robot = Robot.from_dict({"format": 1, "name": "even", "legs": legs, "platform": body})
    # a symmetric hexapod is singular where its platform is turned by a right angle
    turns = np.array([[0, 0, 0.2], [0, 0, np.pi / 2], [0, 0, np.pi / 2 - 1e-4]])
    motion = Motion([0, 0, 1], Rotation.from_rotvec(turns))
    for name in MODELS[:3]:
        with refusal(SingularError, "sample 1"):
            answers(robot, name, motion)
        for value in answers(robot, name, motion, on_error="nan").values():
            assert np.all(np.isnan(value[1]))
            assert np.all(np.isfinite(value[[0, 2]]))
    direct = answers(robot, "direct_dynamics", motion)  # the platform still has a mass there
    assert np.all(np.isfinite(direct["linear"]))


@each_kind
def test_fewer_than_six_legs(kind):
    data, robot, state, _ = sample(0, kind, 5)
    for name in MODELS[:3]:
        with refusal(InputError, 5):
            answers(robot, name, Motion(**state))
    forces = np.arange(5.0)
    moved = robot.direct_dynamics(Motion(**state), forces, friction=False)
    wanted = ParallelOracle(data).direct_dynamics(state, forces, friction=False)
    assert_near(np.concatenate([moved.linear, moved.angular]), np.concatenate(wanted), 1e-10)
    mass = opened_tree.mass_matrix_and_bias(data, state)[0]
    assert_near(robot.mass_matrix(Motion(**state)), mass, 1e-10)


@each_kind
@pytest.mark.parametrize("width", [None, 0.2])
def test_at_rest_there_is_no_friction(kind, width):
    _, robot, states, wrench = sample(4, kind, 6, (3,), friction=True, width=width)
    still = Motion(**states | {"velocity": np.zeros(3), "angular_velocity": np.zeros(3)})
    for name in MODELS[:4]:
        smooth = answers(robot, name, still, wrench=wrench, friction=False)
        for key, value in answers(robot, name, still, wrench=wrench).items():
            assert np.all(np.isfinite(value))
            assert_allclose(value, smooth[key], rtol=1e-12, atol=1e-11)


@each_kind
def test_width_smooths_the_coulomb_terms(kind):
    data, robot, state, _ = sample(5, kind, friction=True)
    motion = Motion(**state)

    def friction(width, speed):
        data["legs"]["friction"]["width"] = width
        rates = {key: speed * state[key] for key in ("velocity", "angular_velocity")}
        return Robot.from_dict(data).contributions(motion.replace(**rates)).friction

    assert_near(friction(1e-9, 1.0), robot.contributions(motion).friction, 1e-8)
    small = friction(0.5, 1e-6), friction(0.5, 2e-6)
    assert_near(small[1], 2 * small[0], 1e-4)  # linear through zero
    assert np.max(np.abs(friction(0.0, 1e-6))) > 1e4 * np.max(np.abs(small[0]))


@each_kind
@pytest.mark.parametrize("times", [5, 20, 40])
def test_large_friction_is_solved_or_refused(kind, times):
    data, _, states, wrench = sample(6, kind, 6, (16,), friction=True)
    for key in ("universal_coulomb", "spherical_coulomb"):
        data["legs"]["friction"][key] = [times * k for k in data["legs"]["friction"][key]]
    robot, motion = Robot.from_dict(data), Motion(**states)
    found = robot.inverse_dynamics(motion, wrench, on_error="nan")
    good = np.isfinite(found.residual)
    assert times > 20 or np.all(good)
    assert np.max(found.residual[good], initial=0) <= 1e-12
    if not np.all(good):
        with pytest.raises(ConvergenceError, match=rf"sample {np.argmin(good)}: .*residual"):
            robot.inverse_dynamics(motion, wrench)
    reactions = robot.reactions(motion, wrench, on_error="nan")
    for i in np.flatnonzero(good)[:4]:
        # the friction that these reactions cause is the friction that gives these forces
        state = one_state(states, i)
        bodies = FreeBodies(data, state, wrench[i])
        own = np.zeros((6, 21))
        own[:, 18:] = reactions.spherical[i]
        own[:, 6:9] = own[:, 12:15] = reactions.universal[i]
        own[:, :3] = reactions.guide[i] if kind == "PUS" else 0
        loads = bodies.friction_loads(bodies.magnitudes(own.ravel()))
        forces = opened_tree.inverse_dynamics(data, state, wrench[i], loads)
        assert_near(found.forces[i], forces, 1e-9)


@each_kind
def test_a_load_at_the_tool_is_a_payload_there(kind):
    data, robot, state, _ = sample(7, kind)
    rest = Motion(state["position"], state["rotation"])
    weight = 3.0 * np.array(data["gravity"])
    held = robot.inverse_dynamics(rest, robot.tool_wrench(rest, weight)).forces
    data["platform"]["payload"].append({"mass": 3.0, "center_of_mass": data["tool"]})
    assert_near(Robot.from_dict(data).inverse_dynamics(rest).forces, held, 1e-11)
    motion, force, moment = Motion(**state), np.array([3.0, -2, 7]), np.array([0.5, 1, -2])
    wrench = robot.tool_wrench(motion, force, moment)
    speed = motion.velocity + np.cross(motion.angular_velocity, motion.rotation @ data["tool"])
    power = wrench @ np.concatenate([motion.velocity, motion.angular_velocity])
    assert power == pytest.approx(force @ speed + moment @ motion.angular_velocity, rel=1e-12)


@pytest.mark.second_tier_from(12)
@each_kind
@each_shape
@pytest.mark.parametrize("name", MODELS)
def test_batches_are_their_samples(name, shape, kind, compiled):
    _, robot, states, _ = sample(8, kind, 6, shape, friction=True)
    motion = Motion(**states)
    found, single = answers(robot, name, motion), answers(robot, name, robot.home)
    for key, value in single.items():
        assert found[key].shape == shape + value.shape
    for index in np.ndindex(shape):
        for key, value in answers(robot, name, motion[index]).items():
            size = np.max(np.abs(value), initial=0)
            assert_allclose(found[key][index], value, rtol=0, atol=1e-11 * size + 1e-12)


@pytest.mark.second_tier_from(7)
@each_kind
@pytest.mark.parametrize("name", MODELS)
def test_bad_samples_raise_or_are_nan(name, kind, compiled):
    _, robot, states, _ = sample(8, kind, 6, (2, 2), friction=True)
    states["position"][1, 0, 2] = np.nan
    motion = Motion(**states)
    with refusal(NotFiniteError, "position", "sample 1, 0"):
        answers(robot, name, motion)
    for value in answers(robot, name, motion, on_error="nan").values():
        assert np.all(np.isnan(value[1, 0]))
        assert np.all(np.isfinite(np.delete(value.reshape(4, -1), 2, axis=0)))
    with refusal(InputError, "on_error"):
        answers(robot, name, robot.home, on_error="zero")


@each_kind
def test_compiled_answers_agree_with_free_bodies_however_inputs_lie_in_memory(kind, compiled):
    data, robot, states, wrench = sample(8, kind, 6, (9,), friction=True)
    assert_agrees_with_free_bodies(data, robot, one_state(states, 4), wrench[4])
    motion, forces = Motion(**states), robot.inverse_dynamics(Motion(**states), wrench).forces
    records = np.zeros(9, dtype=np.dtype([("number", "i4"), ("wrench", "f8", 6)]))
    records["wrench"] = wrench
    for laid_out in (records["wrench"], np.asfortranarray(wrench), wrench[::-1].copy()[::-1]):
        assert_near(robot.inverse_dynamics(motion, laid_out).forces, forces, 1e-12)
    assert_near(robot.inverse_dynamics(motion[::-1], wrench[::-1]).forces[::-1], forces, 1e-12)


def test_wrong_inputs_are_named():
    robot = gough.load("kim-ryu-2002")
    with refusal(InputError, "force", "(2,)"):
        robot.tool_wrench(robot.home, [1.0, 2.0])
    with pytest.raises(InputError):
        robot.tool_wrench(robot.home[None][[0, 0]], np.zeros((3, 3)))
    with refusal(InputError, "forces", "(5,)"):
        robot.direct_dynamics(robot.home, np.zeros(5))
    with refusal(InputError, "motion", "wrench", "(2,)", "(3,)"):
        robot.inverse_dynamics(robot.home[None][[0, 0]], np.zeros((3, 6)))
    with refusal(NotFiniteError, "forces", "sample 1"):
        robot.direct_dynamics(robot.home, [[0] * 6, [0, 0, np.inf, 0, 0, 0]])


def test_sinatras_forces_and_powers():
    robot = gough.load("sinatra-xi-staicu-2009")
    vertical = paper_motion("sinatra-xi-staicu-2009/vertical").sample(61)
    assert vertical.position[-1, 2] < vertical.position[0, 2]  # towards the base; z points down
    forces = robot.inverse_dynamics(vertical).forces
    assert_allclose(forces, np.broadcast_to(forces[:, :1], forces.shape), rtol=1e-12)
    assert np.all(np.diff(np.abs(forces[:, 0])) > 0)
    turning = robot.inverse_dynamics(paper_motion("sinatra-xi-staicu-2009/rotation").sample(61))
    for legs, sign in (([1, 3, 5], 1), ([0, 2, 4], -1)):  # B, D, F; A, C, E
        assert np.all(sign * np.diff(np.abs(turning.forces[:, legs]), axis=0) > 0)
        assert np.all(sign * turning.power[1:-1, legs] > 0)


def test_kims_link_inertia_grows_with_the_square_of_speed():
    robot = gough.load("kim-ryu-2002")
    circles = [paper_motion(f"kim-ryu-2002/circle-{rpm}rpm").sample(49) for rpm in (20, 40, 60)]
    parts = [robot.contributions(circle, friction=False) for circle in circles]
    links = [one.leg_inertia + one.leg_coriolis for one in parts]
    assert_near(links[1], 4 * links[0], 1e-10)
    assert_near(links[2], 9 * links[0], 1e-10)
    assert np.ptp(links[2]) / np.ptp(parts[2].total) > np.ptp(links[0]) / np.ptp(parts[0].total)
