"""Flexible platforms, against an energy model that eliminates nothing and differentiates by machine."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import gough
from cases.common import each_kind, each_shape, few_states, kinds
from cases.errors import refusal
from cases.robots import random_flexible, rough, run_by
from gough.description.modal.body import ModalBody
from gough.errors import ConvergenceError, InputError, SampleError, UnstableWarning

pytestmark = [pytest.mark.filterwarnings("ignore::gough.errors.ModalBodyWarning"), few_states]


def close(found, wanted, tolerance=1e-9):
    """Equal relative to the largest element."""
    wanted = np.asarray(wanted)
    assert_allclose(
        found, wanted, rtol=0, atol=tolerance * max(np.abs(wanted).max(initial=0), 1e-12)
    )


FRICTION = {
    "universal_viscous": 0.5, "universal_coulomb": 0.001, "slider_viscous": 5.0,
    "spherical_viscous": 0.4, "spherical_coulomb": 0.002, "slider_coulomb": 0.05,
}  # fmt: skip
CRANK_FRICTION = {key.replace("slider", "motor"): value for key, value in FRICTION.items()}
CASES = [
    ("UPS", 1, True, 6),
    ("UPS", 5, True, 6),
    ("PUS", 4, True, 6),
    ("RUS", 3, True, 6),
    ("UPS", 6, False, 6),
    ("PUS", 3, False, 7),
    ("UPS", 4, True, 8),
]


@pytest.mark.second_tier_from(7)
@pytest.mark.parametrize(("kind", "modes", "general", "legs"), CASES)
@pytest.mark.parametrize("seed", range(3))
def test_every_model_call_agrees_with_the_energy_model(kind, modes, general, legs, seed):
    rng = np.random.default_rng([seed, modes, legs])
    robot, oracle, state = random_flexible(rng, kind, modes, general=general, legs=legs)
    here = oracle.at(state)
    motion = gough.Motion(**state)
    wrench = 200 * rng.normal(size=6)
    close(robot.mass_matrix(motion), here.mass_matrix())
    close(robot.bias(motion), here.bias())
    close(robot.jacobian(motion), here.jacobian())
    A, c, T = robot.condensed(motion)
    for found, wanted in zip((A, c, T), here.condensed(), strict=True):
        close(found, wanted)
    trouble = np.linalg.cond(T * np.array([1, 1, 1, 4, 4, 4])[:, np.newaxis])
    act = robot.inverse_dynamics(motion, wrench, friction=False)
    forces, elastic = here.inverse(state["acceleration"], state["angular_acceleration"], wrench)
    close(act.forces, forces, 1e-12 * trouble)
    close(act.elastic_acceleration, elastic, 1e-12 * trouble)
    acc = robot.direct_dynamics(motion, forces, wrench, friction=False)
    linear, angular, elastic = here.direct(forces, wrench)
    close(np.concatenate([acc.linear, acc.angular, acc.elastic]),
          np.concatenate([linear, angular, elastic]), 1e-10)  # fmt: skip
    rate = np.concatenate(
        [state["acceleration"], state["angular_acceleration"], act.elastic_acceleration]
    )
    react = robot.reactions(motion, wrench, friction=False)
    close(react.spherical, here.reactions(act.forces, rate), 1e-12 * trouble)
    legs_ = robot.inverse_kinematics(motion.replace(elastic_acceleration=act.elastic_acceleration))
    close(legs_.q, here.q(), 1e-12)
    close(legs_.qdd, here.drive_acceleration(rate))
    energy = robot.energy(motion)
    assert energy.kinetic == pytest.approx(here.kinetic(), rel=1e-11)
    assert energy.potential == pytest.approx(here.potential(), rel=1e-10)


@each_kind
def test_inertia_terms_without_stiffness(kind):
    """K qe and D q̇e hide the rest: Coriolis and deformation-dependent inertia alone."""
    rng = np.random.default_rng(5)
    nothing = {"stiffness": np.zeros(5), "damping": np.zeros(5)}
    robot, oracle, state = random_flexible(rng, kind, 5, **nothing)
    motion = gough.Motion(**state)
    close(robot.bias(motion), oracle.at(state).bias(), 1e-12)


@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1), kind=kinds, modes=st.integers(1, 8))
def test_direct_of_inverse_with_friction(seed, kind, modes):
    rng = np.random.default_rng(seed)
    robot, _, state = random_flexible(rng, kind, modes)
    robot = rough(robot, CRANK_FRICTION if kind == "RUS" else FRICTION)
    motion = gough.Motion(**state)
    wrench = 100 * rng.normal(size=6)
    try:
        act = robot.inverse_dynamics(motion, wrench)
    except ConvergenceError:  # it jams: before that much friction the forces grow beyond bounds
        reject()
    assert act.residual <= 1e-12
    acc = robot.direct_dynamics(motion, act.forces, wrench)
    T = robot.condensed(motion).sharing
    trouble = np.linalg.cond(T * np.array([1, 1, 1, 4, 4, 4])[:, np.newaxis])
    wanted = np.concatenate(
        [state["acceleration"], state["angular_acceleration"], act.elastic_acceleration]
    )
    close(np.concatenate([acc.linear, acc.angular, acc.elastic]), wanted, 1e-12 * trouble + 1e-10)


def test_friction_couples_do_modal_work():
    """Power: Γ·q̇ + wrench·ξ = d/dt (T + U) + dissipation; spherical joints see the tips' rotation."""
    rng = np.random.default_rng(11)
    robot, _, state = random_flexible(rng, "UPS", 4)
    robot = rough(robot, {"spherical_viscous": 3.0})
    body = robot.description.modal
    motion = gough.Motion(**state)
    rubbing = robot.inverse_dynamics(motion)
    smooth = robot.inverse_dynamics(motion, friction=False)
    # the same rigid and elastic motion: what differs in power, modal power included, is rubbed away
    legs = robot.inverse_kinematics(motion)
    twist = np.concatenate(
        [state["velocity"], state["angular_velocity"], state["elastic_velocity"]]
    )
    difference = np.concatenate(
        [np.zeros(6), rubbing.elastic_acceleration - smooth.elastic_acceleration]
    )
    power = (rubbing.forces - smooth.forces) @ legs.qd - twist @ robot.mass_matrix(
        motion
    ) @ difference
    turning = np.einsum("lck,k->lc", body.tip_rotations, state["elastic_velocity"])
    tips = state["angular_velocity"] + turning @ np.asarray(state["rotation"]).T
    relative = legs.link_angular_velocity - tips
    assert power == pytest.approx(3.0 * np.sum(relative**2), rel=1e-9)


@each_shape
def test_batches_of_any_shape(shape):
    rng = np.random.default_rng([3, 7])
    robot, _, state = random_flexible(rng, "PUS", 3, general=False, legs=7)
    robot = run_by("llvm", robot)
    elastic = 1e-3 * rng.normal(size=(*shape, 3))
    motion = gough.Motion(**{**state, "elastic": elastic})
    act = robot.inverse_dynamics(motion)
    assert act.forces.shape == (*shape, 7)
    assert act.elastic_acceleration.shape == (*shape, 3)
    assert robot.direct_dynamics(motion, act.forces).elastic.shape == (*shape, 3)
    assert robot.mass_matrix(motion).shape == (*shape, 9, 9)
    assert robot.bias(motion).shape == (*shape, 9)
    assert robot.jacobian(motion).shape == (*shape, 7, 9)
    assert robot.condensed(motion).sharing.shape == (*shape, 6, 7)
    if elastic.size:
        first = (0,) * len(shape)
        alone = robot.inverse_dynamics(gough.Motion(**{**state, "elastic": elastic[first]}))
        assert_array_equal(act.forces[first], alone.forces)


def every_answer(robot, motion, forces, wrench):
    """Arrays of every model call, by name."""
    found = {
        "actuation": robot.inverse_dynamics(motion, wrench),
        "acceleration": robot.direct_dynamics(motion, forces, wrench),
        "reactions": robot.reactions(motion, wrench),
        "legs": robot.inverse_kinematics(motion),
        "energy": robot.energy(motion),
    }
    named = {f"{n}.{k}": v for n, one in found.items() for k, v in vars(one).items()}
    matrices = ("mass_matrix", "bias", "jacobian")
    named |= {name: getattr(robot, name)(motion) for name in matrices}
    named |= dict(zip(("A", "c", "T"), robot.condensed(motion), strict=True))
    return {name: value for name, value in named.items() if value is not None}


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize(
    ("kind", "modes", "general", "legs", "friction"),
    [
        ("UPS", 1, True, 8, {}),
        ("PUS", 4, True, 6, FRICTION),
        ("PUS", 3, False, 7, {}),
    ],
)
def test_compiled_equals_numpy_in_every_model_call(kind, modes, general, legs, friction):
    """Kernels differ in what is 0 and in the loops over modes; the number of these only counts them."""
    rng = np.random.default_rng([modes, legs])
    robot, _, state = random_flexible(rng, kind, modes, general=general, legs=legs)
    robot = rough(robot, friction) if friction else robot
    count = 23
    motion = gough.Motion(**{**state, "elastic": 1e-3 * rng.normal(size=(count, modes))})
    wrench, forces = 200 * rng.normal(size=(count, 6)), 100 * rng.normal(size=(count, legs))
    compiled, plain = (
        every_answer(run_by(engine, robot), motion, forces, wrench) for engine in ("llvm", "numpy")
    )
    assert compiled.keys() == plain.keys()
    for name, value in plain.items():
        if name.endswith("residual"):  # of the friction loop: rounding errors, below their limit
            continue
        close(compiled[name], value, 1e-11)


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize("modes", [2, 12, 30])
def test_compiled_equals_numpy_for_any_number_of_modes(modes):
    rng = np.random.default_rng(modes)
    robot, _, state = random_flexible(rng, "UPS", modes)
    count = 23
    motion = gough.Motion(**{**state, "elastic": 1e-3 * rng.normal(size=(count, modes))})
    robot, plain = run_by("llvm", robot), run_by("numpy", robot)
    act = robot.inverse_dynamics(motion)
    acc = robot.direct_dynamics(motion, act.forces)
    expected = plain.direct_dynamics(motion, act.forces)
    close(acc.elastic, expected.elastic, 1e-11)
    close(acc.angular, expected.angular, 1e-10)
    assert_allclose(plain.inverse_dynamics(motion).forces, act.forces, rtol=1e-8)


def test_stiff_platform_tends_to_the_rigid_one():
    rng = np.random.default_rng(3)
    errors = []
    for factor in (1.0, 1e2, 1e4):
        rng = np.random.default_rng(3)
        robot, _, state = random_flexible(rng, "UPS", 4)
        body = robot.description.modal
        stiff = replace(body, stiffness=factor * body.stiffness)
        robot = replace(robot, description=robot.description._replace(modal=stiff))
        rest = gough.Motion(state["position"], state["rotation"])
        settled = robot.static_deflection(rest)
        flexible = robot.inverse_dynamics(settled)
        rigid = robot.rigid.inverse_dynamics(rest)
        assert np.abs(flexible.elastic_acceleration).max() < 1e-7 * np.abs(body.stiffness).max()
        errors.append(np.abs(flexible.forces - rigid.forces).max())
    assert errors[1] < errors[0] / 30
    assert errors[2] < errors[1] / 30


def test_zero_modes_is_the_rigid_robot_exactly():
    rng = np.random.default_rng(4)
    robot, _, state = random_flexible(rng, "PUS", 3)
    body = robot.description.modal
    none = {name: getattr(body, name)[..., :0] for name in ("shapes", "tip_shapes")}
    empty = ModalBody(body.positions, body.masses, none["shapes"], np.zeros((0, 0)), np.zeros((0, 0)),
                      body.tip_positions, none["tip_shapes"])  # fmt: skip
    zero = replace(robot, description=robot.description._replace(modal=empty))
    state = {k: v for k, v in state.items() if not k.startswith("elastic")}
    motion = gough.Motion(**state)
    rigid = replace(robot, description=robot.description._replace(modal=None))
    forces = rigid.inverse_dynamics(motion).forces
    assert_array_equal(zero.inverse_dynamics(motion).forces, forces)
    assert_allclose(robot.rigid.inverse_dynamics(motion).forces, forces, rtol=1e-10)
    assert zero.modes == 0


DYNAMICS = {
    "inverse_dynamics": (),
    "reactions": (),
    "direct_dynamics": (np.zeros(6),),
    "mass_matrix": (),
    "bias": (),
    "condensed": (),
    "energy": (),
    "contributions": (),
    "linearize": (),
    "inverse_dynamics_derivatives": (),
    "direct_dynamics_derivatives": (np.zeros(6),),
    "generalised_regressor": (),
}


@pytest.mark.parametrize("call", DYNAMICS)
def test_dynamics_without_elastic_coordinates_is_refused_with_the_ways_out(call):
    robot, _, state = random_flexible(np.random.default_rng(6), "UPS", 3)
    bare = gough.Motion(**{k: v for k, v in state.items() if not k.startswith("elastic")})
    ways = r"elastic_motion.*static_deflection.*robot\.rigid.*elastic=np\.zeros\(3\)"
    for on_error in ("raise", "nan"):
        with pytest.raises(InputError, match=ways):
            getattr(robot, call)(bare, *DYNAMICS[call], on_error=on_error)
    getattr(robot, call)(bare.replace(elastic=np.zeros(3)), *DYNAMICS[call])
    getattr(robot.rigid, call)(bare, *DYNAMICS[call])


def test_kinematics_without_elastic_coordinates_is_undeformed_and_others_must_fit():
    rng = np.random.default_rng(6)
    robot, _, state = random_flexible(rng, "UPS", 3)
    rest = {k: v for k, v in state.items() if not k.startswith("elastic")}
    bare = gough.Motion(**rest)
    zero = bare.replace(elastic=np.zeros(3))
    assert_array_equal(robot.inverse_kinematics(bare).qdd, robot.inverse_kinematics(zero).qdd)
    assert_array_equal(robot.jacobian(bare), robot.jacobian(zero))
    assert_array_equal(robot.condition_number(bare), robot.condition_number(zero))
    with refusal(InputError, "elastic", 2, 3):
        robot.inverse_dynamics(gough.Motion(**rest, elastic=np.zeros(2)))
    with refusal(InputError, "platform", "rigid"):
        robot.rigid.inverse_dynamics(gough.Motion(**rest, elastic=np.zeros(2)))
    with refusal(SampleError, "elastic"):
        robot.inverse_dynamics(gough.Motion(**rest, elastic=[0, np.nan, 0]))
    bad = robot.inverse_dynamics(gough.Motion(**rest, elastic=[0, np.nan, 0]), on_error="nan")
    assert np.isnan(bad.forces).all()
    assert np.isnan(bad.elastic_acceleration).all()


@pytest.mark.parametrize(("kind", "modes", "general", "legs"), CASES)
def test_contributions_add_up_and_are_what_causes_alone_ask_for(kind, modes, general, legs):
    rng = np.random.default_rng([7, modes, legs])
    robot, _, state = random_flexible(rng, kind, modes, general=general, legs=legs)
    motion, wrench, preload = gough.Motion(**state), 200 * rng.normal(size=6), np.arange(legs)
    parts = robot.contributions(motion, wrench, preload=preload)
    total = robot.inverse_dynamics(motion, wrench, preload=preload).forces
    close(parts.total, total, 1e-12)
    rest = gough.Motion(motion.position, motion.rotation, elastic=motion.elastic)
    steady = motion.replace(acceleration=np.zeros(3), angular_acceleration=np.zeros(3))

    def forces(motion, wrench=None):
        return robot.inverse_dynamics(motion, wrench, friction=False).forces

    size = np.abs(total).max()
    inertia = parts.platform_inertia + parts.leg_inertia
    assert_allclose(inertia, forces(motion) - forces(steady), atol=1e-9 * size)
    assert_allclose(parts.wrench, forces(rest, wrench) - forces(rest), atol=1e-9 * size)
    undeformed = rest.replace(elastic=np.zeros(modes))
    springs = robot.contributions(rest).elastic
    assert_allclose(springs, forces(rest) - parts.gravity, atol=1e-9 * size)
    flat = robot.contributions(undeformed)
    assert_allclose(flat.gravity, forces(undeformed), atol=1e-9 * size)
    assert_allclose(flat.elastic, 0, atol=1e-12 * size)


def test_deformation_of_points_is_the_derivative_of_their_places():
    rng = np.random.default_rng(9)
    robot, oracle, state = random_flexible(rng, "UPS", 3)
    motion = gough.Motion(**state)
    tips = robot.deformation(motion)
    assert_allclose(tips.position.T, oracle.at(state).values["tips"], atol=1e-13)
    assert_allclose(tips.velocity.T, oracle.at(state).values["tip_speeds"], atol=1e-12)
    origin = robot.deformation(motion, "origin")
    assert origin.position.shape == (3,)
    moved = robot.description.modal.origin_shapes @ state["elastic"]
    assert_allclose(origin.displacement, moved, atol=1e-14)
    nodes = robot.deformation(motion, "nodes")
    step = 1e-6
    later = gough.Motion(
        state["position"] + step * np.asarray(state["velocity"]),
        Rotation.from_rotvec(step * np.asarray(state["angular_velocity"])).as_matrix()
        @ np.asarray(state["rotation"]),
        elastic=state["elastic"] + step * state["elastic_velocity"],
    )
    speed = (robot.deformation(later, "nodes").position - nodes.position) / step
    assert_allclose(nodes.velocity, speed, atol=1e-4 * np.abs(speed).max())
    with pytest.raises(InputError, match="at is"):
        robot.deformation(motion, "corner")


@pytest.mark.second_tier_from(1)
@each_kind
def test_natural_frequencies_are_those_of_the_energy_model(kind):
    """At rest: eigenvalues of the derivative of the direct model's acceleration by the coordinates."""
    rng = np.random.default_rng(10)
    robot, oracle, state = random_flexible(rng, kind, 3)
    rest = gough.Motion(state["position"], state["rotation"])
    stiff = 2e6
    found = robot.natural_frequencies(rest, stiff)
    base = {
        "velocity": np.zeros(3),
        "angular_velocity": np.zeros(3),
        "elastic_velocity": np.zeros(3),
    }

    def push(x):
        turn = Rotation.from_rotvec(x[3:6]).as_matrix()
        here = oracle.at({**base, "position": state["position"] + x[:3],
                          "rotation": turn @ np.asarray(state["rotation"]),
                          "elastic": found.motion.elastic + x[6:]})  # fmt: skip
        forces = found.forces - stiff * (here.q() - start)
        return np.concatenate(here.direct(forces, np.zeros(6)))

    start = oracle.at({**base, "position": state["position"], "rotation": state["rotation"],
                       "elastic": found.motion.elastic}).q()  # fmt: skip
    step = 1e-5
    slopes = np.stack([(push(step * e) - push(-step * e)) / (2 * step) for e in np.eye(9)], axis=1)
    squares = np.sort(np.linalg.eigvals(-slopes).real)
    assert_allclose(found.frequencies, np.sqrt(squares) / (2 * np.pi), rtol=1e-5)
    locked = robot.natural_frequencies(rest).frequencies
    almost = robot.natural_frequencies(rest, 1e13).frequencies
    assert_allclose(almost[:3], locked, rtol=1e-4)


def test_health_of_the_inverse_problem():
    rng = np.random.default_rng(12)
    robot, oracle, state = random_flexible(rng, "UPS", 4)
    motion = gough.Motion(**state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableWarning)
        health = robot.elastic_health(motion)
    here = oracle.at(state)
    T, J = here.condensed()[2], here.jacobian()
    assert health.determinant == pytest.approx(np.linalg.det(T) / np.linalg.det(J[:, :6]), rel=1e-8)
    assert health.poles.shape == (8,)
    assert bool(health.stable) == bool(np.all(health.poles.real < 0))
    with refusal(InputError, "rigid", "platform"):
        robot.rigid.elastic_health(motion.replace(**dict.fromkeys(
            ("elastic", "elastic_velocity", "elastic_acceleration"))))  # fmt: skip


def test_unstable_zero_dynamics_warn():
    """Somewhere among random bodies M_z loses its sign: the warning names the pole."""
    for seed in range(40):
        robot, _, state = random_flexible(np.random.default_rng(seed), "UPS", 4)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            stable = bool(robot.elastic_health(gough.Motion(**state)).stable)
        assert stable != any(one.category is UnstableWarning for one in caught)
        if not stable:
            return
    pytest.fail("no unstable case among forty")


@pytest.mark.usefixtures("on_numpy")
def test_a_held_flexible_platform_moves_on_the_axes_of_home_only():
    plate = {
        "radius": 0.5,
        "sides": 6,
        "thickness": 0.01,
        "density": 2700.0,
        "young": 7e10,
        "modes": 3,
    }
    legs = {
        "kind": "UPS",
        "base": [[2, 0, 0], [0, 2, 0.5], [-1, -2, 0]],
        "platform": [[0.3, 0, 0], [-0.15, 0.25, 0], [-0.15, -0.25, 0]],
        **{body: {} for body in ("cross", "cylinder", "rod")},
    }
    robot = gough.Robot.from_dict(
        {
            "format": 1,
            "name": "flexible and planar",
            "home": {"position": [0, 0, 0], "rotation_vector": [1.2, 0.5, -0.4]},
            "platform": {"mobility": "planar", "plate": plate},
            "legs": legs,
        }
    )
    turn, still = robot.home.rotation, np.zeros(3)

    def moving(velocity, acceleration):
        modes = np.zeros(robot.modes)
        given = {"elastic": modes, "elastic_velocity": modes}
        return gough.Motion(still, turn, velocity, still, acceleration, **given)

    along = turn @ [1.0, 2.0, 0.0]
    assert np.isfinite(robot.inverse_dynamics(moving(along, -along)).forces).all()
    for velocity, acceleration in ((np.eye(3)[0], still), (still, np.eye(3)[0])):
        with pytest.raises(gough.errors.ConstraintError):
            robot.inverse_dynamics(moving(velocity, acceleration))
