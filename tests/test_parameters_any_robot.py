"""Parameters of robots of every family: regressor, base parameters, exciting motions, identification."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cases.errors import refusal
from cases.families import draw, random_states
from cases.robots import run_by
from gough import Motion, Robot, load
from gough.data.logs import simulated_log
from gough.errors import InputError
from gough.model.standing import free_directions, standing
from gough.parameters.base import base_parameters, base_regressor
from gough.parameters.consistency import adopted, changes
from gough.parameters.energy import robot_energy_functions
from gough.parameters.essential import essential_parameters
from gough.parameters.excitation import excite
from gough.parameters.generalised import generalised_regressor
from gough.parameters.grouping import grouped_parameters, has_closed_form
from gough.parameters.identification import identify, validate
from gough.parameters.own_fourier import home_coordinates
from gough.parameters.regressor import columns, parameter_names, regressor, standard_parameters

RANKS = {
    "rotary Delta": 3 * 12 + 1,  # axes along the motors': 12 per leg, and of the platform M alone
    "Orthoglide": 3 * (10 + 1) + 1,
    "3-UPS + 3-PUS": 3 * (13 + 1) + 3 * (10 + 1) + 10,
    "planar 3-RRR": 3 * 5 + 4,
    "planar 4-RRR": 4 * 5 + 4,
    "3-RPS": 28,
    "Tricept": 55,
}
"""Base parameters of robots of some families, drives among them."""
each = pytest.mark.parametrize("name", RANKS)
MORE = ("3-RRRS", "five-bar", "3-UPS + S", "6-UPS + SPR", "4-RUU schoenflies")
"""Two motors per leg, two legs, a leg that is one joint, a passive leg and one actuator too many, …"""


@pytest.fixture(scope="module")
def known():
    """Robots with states that they can be in, run by NumPy: quicker here than to compile."""
    found = {}

    def ask(name):
        if name not in found:
            data, oracle = draw(name, 0)
            robot = run_by("numpy", Robot.from_dict(data))
            found[name] = robot, Motion(**random_states(3, oracle, 4))
        return found[name]

    return ask


@pytest.mark.second_tier_from(4)
@pytest.mark.parametrize("name", [*RANKS, *MORE])
def test_forces_are_linear_in_the_parameters(known, name):
    robot, motion = known(name)
    for friction in (False, True):
        forces = robot.inverse_dynamics(motion, friction=friction).forces
        W, X = regressor(robot, motion, friction), standard_parameters(robot, friction)
        assert W.shape == (4, robot.actuator_count, len(X))
        assert len(parameter_names(robot, friction)) == len(set(parameter_names(robot, friction)))
        assert_allclose(W @ X, forces, rtol=0, atol=1e-12 * np.abs(forces).max())


@each
def test_the_equation_of_motion_where_the_platform_can_move(known, name):
    """Ξᵀ (Y X − Jᵀ Γ) = 0 along all directions Ξ that nothing holds."""
    robot, motion = known(name)
    Y = generalised_regressor(robot, motion, friction=True)
    asked = Y.matrix @ standard_parameters(robot, friction=True)
    forces = robot.inverse_dynamics(motion).forces
    left = asked - np.einsum("nij,ni->nj", robot.jacobian(motion), forces)
    held = standing(robot, motion).held * np.repeat([1.0, robot.length_scale], 3)
    rows = np.linalg.svd(held)[2][:, 6 - robot.mobility :]
    assert rows.shape[1] == robot.mobility
    assert np.abs(np.einsum("nij,nj->ni", rows, left)).max() < 1e-12 * np.abs(asked).max()


@each
def test_condition_numbers_count_what_the_platform_can_do(known, name):
    robot, motion = known(name)
    jacobian = robot.jacobian(motion) / np.repeat([1.0, robot.length_scale], 3)
    sizes = np.linalg.svd(jacobian @ free_directions(robot, motion), compute_uv=False)
    assert_allclose(robot.condition_number(motion), sizes[:, 0] / sizes[:, -1], rtol=1e-10)


@each
def test_energy_is_linear_in_the_parameters(known, name):
    robot, motion = known(name)
    energy = robot.energy(motion)
    whole = energy.kinetic + energy.potential
    found = robot_energy_functions(robot, motion) @ standard_parameters(robot)
    assert_allclose(found, whole, rtol=0, atol=1e-12 * np.abs(whole).max())


@pytest.mark.second_tier_from(2)
@each
def test_numbers_of_base_parameters(known, name):
    robot, motion = known(name)
    found = base_parameters(robot)
    assert found.rank == RANKS[name]
    assert found.gap > 1e9
    forces = robot.inverse_dynamics(motion, friction=False).forces
    told = base_regressor(robot, found, motion) @ found.values
    assert_allclose(told, forces, rtol=0, atol=1e-11 * np.abs(forces).max())
    if has_closed_form(robot):
        closed = grouped_parameters(robot)
        assert closed.base_names == found.base_names
        assert_allclose(closed.grouping, found.grouping, rtol=0, atol=1e-12)


@pytest.mark.second_tier_from(2)
@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("alikoc-delta-2023", 37),
        ("chablat-orthoglide-2003", 34 - 2),  # two level rails
        ("shyam-heliostat-2017", 28),
        ("shah-3rrr-2012", 19),
        ("ferrandiz-3ups-rpu-2021", 3 * 14 + 6 + 10),
        ("zoppi-exechon-2010", 43),
        ("pollen-reachy-mini-2025", 82),
        ("plaza-hexaglide-2019", 76),
    ],
)
def test_numbers_of_the_catalogue(name, rank):
    """As docs/parameters.md has them."""
    robot = run_by("numpy", load(name))
    found = base_parameters(robot)
    assert found.rank == rank
    assert found.gap > 1e9
    if has_closed_form(robot):
        assert grouped_parameters(robot).rank == rank


def test_a_platform_that_only_shifts_is_felt_by_its_mass(known):
    """What a held platform does not do its parameters do not feel."""
    for name in ("rotary Delta", "Orthoglide"):
        felt = base_parameters(known(name)[0]).base_names
        assert [one for one in felt if one.startswith("platform")] == ["platform M"]


def test_names_and_units_say_which_joint(known):
    robot, _ = known("3-RPS")
    units = {one.name: one.unit for one in columns(robot, friction=True)}
    assert units["leg 2 body1 XX"] == units["leg 3 body2 ZZ"] == "kg m²"
    assert units["leg 1 joint2 rotor_inertia"] == "kg"  # of the slide
    assert units["leg 1 joint1 viscous"] == "N m s/rad"
    assert units["leg 1 joint2 coulomb"] == "N"
    assert "leg 1 joint3 viscous" not in units  # a spherical joint
    mixed = parameter_names(known("3-UPS + 3-PUS")[0])
    assert "leg 3 rod XX" in mixed
    assert "leg 4 slider M" in mixed


def test_standard_parameters_are_those_of_the_file(known):
    """Bodies of chains on the axes of their legs' frames, about their joints' points."""
    robot, _ = known("3-RPS")
    X = dict(zip(parameter_names(robot, True), standard_parameters(robot, True), strict=True))
    joints = robot.description.groups[0].table.joints
    for leg in range(3):
        bodies = joints[0].body
        body = bodies[leg] if len(bodies) > 1 else bodies[0]
        mass = np.broadcast_to(body.mass, 3)[leg]
        center = np.broadcast_to(body.center_of_mass, (3, 3))[leg]
        assert X[f"leg {leg + 1} body1 M"] == pytest.approx(mass, rel=1e-14)
        found = [X[f"leg {leg + 1} body1 {key}"] for key in ("MX", "MY", "MZ")]
        assert_allclose(found, mass * center, rtol=0, atol=1e-14)


@each
def test_parameters_go_back_into_the_file(known, name):
    robot, _ = known(name)
    names, X = parameter_names(robot, True), standard_parameters(robot, True)
    edited = robot.edited(changes(robot, names, 1.25 * X))
    assert_allclose(standard_parameters(edited, True), 1.25 * X, rtol=1e-12, atol=1e-14)


def test_what_a_robot_does_not_have_is_said(known):
    with refusal(InputError, 3, "grouped_parameters"):
        grouped_parameters(known("Orthoglide")[0])
    chains = run_by("numpy", Robot.from_dict(draw("6-UPS chains", 0)[0]))
    with refusal(InputError, "grouped_parameters"):
        grouped_parameters(chains)
    planar, _ = known("planar 3-RRR")
    with refusal(InputError, "chain", "legs"):
        essential_parameters(base_parameters(planar), "symmetric")
    redundant, _ = known("planar 4-RRR")
    log = simulated_log(planar, _timed(planar), rng=np.random.default_rng(0))
    with refusal(InputError, "4-RRR", 4, 3):
        identify(redundant, log, base=base_parameters(redundant))


def _timed(robot):
    time = np.linspace(0.0, 1.0, 60)
    wave = 0.05 * np.sin(2 * np.pi * time)[:, np.newaxis] * np.ones(robot.mobility)
    return robot.motion(home_coordinates(robot) + wave, time=time)


@pytest.mark.second_tier_from(1)
@pytest.mark.filterwarnings("ignore::gough.errors.ImpossibleBodyWarning")
@pytest.mark.parametrize("name", ["rotary Delta", "3-RPS"])
def test_from_an_exciting_motion_to_the_robot_file(known, name):
    """A motion in the robot's own coordinates, its log, and what identification makes of it."""
    robot, _ = known(name)
    base = base_parameters(robot, friction=True)
    settings = {"harmonics": 4, "iterations": 1, "random_motions": 10, "period": 4.0}
    found = excite(robot, base=base, **settings)
    assert found.condition <= found.random < 1e7
    motion = found.trajectory.sample(801)
    legs = robot.inverse_kinematics(motion)
    limits = found.bounds.limits
    assert (legs.q < limits.longest).all()
    assert (legs.q > limits.shortest).all()
    assert (np.abs(legs.qd) < limits.speed).all()
    assert np.abs(robot.inverse_dynamics(motion).forces).max() < limits.force.max()
    assert_allclose(motion.velocity[[0, -1]], 0, atol=1e-9)
    log = simulated_log(robot, motion, resolution=0.0, noise=0.0, rng=np.random.default_rng(0))
    rough = run_by("numpy", robot.edited(changes(robot, base.names, 1.2 * base.standard)))
    known_base = replace(base, standard=standard_parameters(rough, friction=True))
    result = identify(rough, log, base=known_base)
    judged = validate(rough, result, log)
    assert judged.percent.max() < 0.2 < judged.percent_before.min()
    better = adopted(rough, result)
    forces = robot.inverse_dynamics(motion).forces[50:-50]
    error = better.inverse_dynamics(motion).forces[50:-50] - forces
    assert np.abs(error).max() < 0.02 * np.abs(forces).max()
