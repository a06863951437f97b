"""Parameters of robots whose platform bends: the linear equation of motion, its rank, its groups."""

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rich.console import Console

import gough
from cases.command import run
from cases.common import CLOSED, each_kind, each_shape, few_states
from cases.errors import refusal
from cases.parameters import drawn
from cases.robots import run_by, with_body
from gough.data.logs import Log
from gough.description.modal.body import ModalBody
from gough.errors import InputError, SampleError
from gough.parameters.base import base_parameters, base_regressor
from gough.parameters.excitation import excite
from gough.parameters.generalised import force_regressor
from gough.parameters.grouping import grouped_parameters, tip_masses
from gough.parameters.identification import identify
from gough.parameters.regressor import parameter_names, regressor, standard_parameters
from gough.parameters.states import random_states
from gough.show.sheets.parameters import counts, find, print_parameters, to_json
from oracles.flexible_energy import (
    FlexibleEnergy,
    nodes_as_rigid_table,
    random_elastic,
    random_modal_body,
)
from oracles.random_robot import random_motion

pytestmark = [pytest.mark.filterwarnings("ignore::gough.errors.ModalBodyWarning"), few_states]


def bending(table, modes, seed=0, general=True, **arrays):
    """The robot with a random flexible platform, and its arrays."""
    rng = np.random.default_rng([seed, modes])
    points = np.array(table["legs"]["platform"])
    body = random_modal_body(rng, points, modes, general=general) | arrays
    table = table | {"platform": nodes_as_rigid_table(body)}
    return with_body(gough.Robot.from_dict(table), ModalBody(**body)), table, body


def moving(rng, table, body, shape=()):
    """A random motion (...) with elastic coordinates, velocities and accelerations."""
    elastic = random_elastic(rng, body)
    modes = len(elastic["elastic"])
    return gough.Motion(
        **random_motion(rng, table, shape),
        **elastic,
        elastic_acceleration=20 * rng.normal(size=(*shape, modes)),
    )


def rates(motion):
    """ξ̇ (..., 6 + N)."""
    parts = (motion.acceleration, motion.angular_acceleration, motion.elastic_acceleration)
    return np.concatenate(parts, axis=-1)


def close(found, wanted, tolerance=1e-11):
    """Equal relative to the largest element, the six rows of rigid motion and the modes' apart."""
    for part in (slice(6), slice(6, None)):
        a, b = found[..., part], wanted[..., part]
        assert_allclose(a, b, rtol=0, atol=tolerance * np.abs(b).max(initial=0))


# The equation


@pytest.mark.parametrize(
    ("kind", "modes", "general", "legs", "case"),
    [
        ("UPS", 1, True, 6, "stiff"),
        ("UPS", 5, True, 6, "soft"),
        ("PUS", 4, True, 6, "soft"),
        ("PUS", 6, False, 7, "stiff"),
        ("UPS", 3, True, 6, "pinned"),
        ("PUS", 2, False, 6, "pinned"),
    ],
)
def test_equation_of_motion_is_that_of_the_energy_model(kind, modes, general, legs, case):
    """Without stiffness and damping too, which hide the rest; and with tips that do not move."""
    arrays = {
        "stiff": {},
        "soft": {"stiffness": np.zeros(modes), "damping": np.zeros(modes)},
        "pinned": {"tip_shapes": np.zeros((legs, 3, modes))},
    }[case]
    table = drawn(kind, seed=modes, legs=legs)
    robot, table, body = bending(table, modes, general=general, **arrays)
    motion = moving(np.random.default_rng(modes), table, body)
    state = {name: getattr(motion, name) for name in ("position", "rotation", "velocity",
             "angular_velocity", "elastic", "elastic_velocity")}  # fmt: skip
    here = FlexibleEnergy(table, body).at(state)
    Y, known = robot.generalised_regressor(motion)
    assert Y.shape == (6 + modes, len(parameter_names(robot)))
    wanted = here.mass_matrix() @ rates(motion) + here.bias()
    close(Y @ standard_parameters(robot) + known, wanted)
    if case == "soft":
        assert np.abs(known[6:]).max() > 0.02 * np.abs(wanted[6:]).max()
    act = robot.inverse_dynamics(motion, friction=False)
    forces, elastic = here.inverse(motion.acceleration, motion.angular_acceleration)
    assert_allclose(act.forces, forces, atol=1e-8 * np.abs(forces).max())
    assert_allclose(act.elastic_acceleration, elastic, atol=1e-8 * np.abs(elastic).max())


@pytest.mark.parametrize("friction", [False, True])
@each_kind
def test_it_balances_actuator_forces_and_wrench_friction_included(kind, friction):
    robot, table, body = bending(drawn(kind, 3, friction=True), 3, seed=3)
    rng = np.random.default_rng(3)
    motion, wrench = moving(rng, table, body, (40,)), 200 * rng.normal(size=(40, 6))
    act = robot.inverse_dynamics(motion, wrench, friction)
    motion = motion.replace(elastic_acceleration=act.elastic_acceleration)
    force, moment = (wrench[:, part] for part in (slice(3), slice(3, None)))
    inverse = np.swapaxes(motion.rotation, -1, -2)
    modal = (inverse @ force[..., np.newaxis])[..., 0] @ body["origin_shapes"]
    modal += (inverse @ moment[..., np.newaxis])[..., 0] @ body["origin_rotations"]
    pushed = np.einsum("nlk,nl->nk", robot.jacobian(motion), act.forces)
    wanted = pushed + np.concatenate([wrench, modal], axis=-1)
    Y, known = robot.generalised_regressor(motion, friction)
    close(Y @ standard_parameters(robot, friction) + known, wanted)
    ways = [base_parameters(robot, friction)]
    if kind in CLOSED:
        ways.append(grouped_parameters(robot, friction))
    for base in ways:
        close(base_regressor(robot, base, motion) @ base.values + known, wanted)


@each_kind
@pytest.mark.parametrize("friction", [False, True])
def test_without_modes_it_is_the_rigid_regressor(kind, friction):
    robot, table, _ = bending(drawn(kind, friction=True), 2)
    motion = gough.Motion(**random_motion(np.random.default_rng(1), table, (20,)))
    body = robot.description.modal
    empty = ModalBody(body.positions, body.masses, body.shapes[..., :0], np.zeros(0), np.zeros(0),
                      body.tip_positions, body.tip_shapes[..., :0])  # fmt: skip
    none = replace(robot, description=robot.description._replace(modal=empty))
    W = none.regressor(motion, friction)
    expected = np.swapaxes(none.jacobian(motion), -1, -2) @ W
    for one in (none, robot.rigid):
        Y, known = one.generalised_regressor(motion, friction)
        assert not known.any()
        sizes = np.abs(expected).max(axis=(0, 1))
        assert (np.abs(Y - expected).max(axis=(0, 1)) <= 1e-11 * sizes.max()).all()
    assert parameter_names(none, friction) == parameter_names(robot.rigid, friction)
    # the flexible robot's columns start with the rigid robot's
    shared = len(parameter_names(robot.rigid, friction))
    assert parameter_names(robot, friction)[:shared] == parameter_names(robot.rigid, friction)


@each_shape
def test_batches_of_any_shape(shape):
    robot, table, body = bending(drawn("PUS"), 3)
    motion = moving(np.random.default_rng(0), table, body, shape)
    Y, known = robot.generalised_regressor(motion)
    assert Y.shape == (*shape, 9, 196 + 6 + 6)
    assert known.shape == (*shape, 9)
    wanted = np.einsum("...ij,...j->...i", robot.mass_matrix(motion), rates(motion))
    if known.size:
        close(Y @ standard_parameters(robot) + known, wanted + robot.bias(motion))
    base = grouped_parameters(robot)
    assert base_regressor(robot, base, motion).shape == (*shape, 9, base.rank)


@pytest.mark.parametrize("skew", [False, True])
def test_columns_of_stiffness_and_damping_are_differences_of_the_bias(skew):
    robot, table, body = bending(drawn("UPS"), 3)
    if skew:
        turned = np.triu(np.ones((3, 3)), 1)
        robot, table, body = bending(drawn("UPS"), 3, damping=body["damping"] + turned - turned.T)
    motion = moving(np.random.default_rng(2), table, body)
    Y, _ = robot.generalised_regressor(motion)
    names = parameter_names(robot)
    assert sum(name.endswith("damping") for name in names) == (9 if skew else 6)
    checked = 0
    for column, name in enumerate(names):
        if not name.startswith("mode"):
            continue
        _, where, key = name.split()
        i, j = [int(one) - 1 for one in (where.split(",") * 2)[:2]]
        step = np.zeros((3, 3))
        step[i, j] = 1.0
        if not (skew and key == "damping"):
            step[j, i] = 1.0
        modal = replace(robot.description.modal, **{key: body[key] + 1e3 * step})
        changed = replace(robot, description=robot.description._replace(modal=modal))
        difference = (changed.bias(motion) - robot.bias(motion)) / 1e3
        assert_allclose(Y[:, column], difference, atol=1e-9 * np.abs(Y[:, column]).max())
        checked += 1
    assert checked == 6 + (9 if skew else 6)


# Base parameters


def coinciding(kind):
    """Tips of legs 1 and 2 in one place."""
    table = drawn(kind)
    points = table["legs"]["platform"]
    points[1] = points[0]
    return table


def level(table):
    rails = np.array(table["legs"]["rail_direction"])
    rails[:, 2] = 0.0
    table["legs"] |= {"rail_direction": rails.tolist(), "length": 1.6}
    return table | {"gravity": [0.0, 0.0, -9.81]}


PINNED = {"tip_shapes": np.zeros((6, 3, 3))}


@pytest.mark.second_tier_from(2)
@pytest.mark.parametrize(
    ("table", "modes", "general", "arrays", "rank"),
    [
        (drawn("UPS"), 3, True, {}, 94 + 6 + 12),  # K and D full
        (drawn("UPS"), 3, False, {}, 94 + 6 + 6),  # diagonal
        (drawn("UPS"), 3, True, {"damping": np.zeros(3)}, 94 + 6 + 6 + 3),
        (drawn("UPS"), 3, True, PINNED, 94 + 12),  # tips do not bend: as on a rigid platform
        (drawn("UPS"), 1, False, {}, 94 + 5 + 2),  # one mode cannot tell six tips apart
        (coinciding("UPS"), 3, True, {}, 94 + 5 + 12),
        (drawn("UPS", gravity=[0, 0, 0]), 2, True, {}, 64 + 6 + 6 + 6),
        (drawn("UPS", friction=True), 2, True, {}, 94 + 24 + 6 + 6),
        (drawn("PUS"), 3, True, {}, 76 + 6 + 12),
        (drawn("PUS"), 1, False, {}, 76 + 5 + 2),
        (coinciding("PUS"), 2, True, {}, 76 + 5 + 6),
        (level(drawn("PUS")), 2, True, {}, 70 + 6 + 6),
        (drawn("PUS", friction=True), 2, True, {}, 76 + 24 + 6 + 6),
    ],
)
def test_numbers_and_reasoning_agree(table, modes, general, arrays, rank):
    robot, table, _ = bending(table, modes, general=general, **arrays)
    friction = "friction" in table["legs"]
    by_numbers, closed = base_parameters(robot, friction), grouped_parameters(robot, friction)
    assert (by_numbers.rank, closed.rank) == (rank, rank)
    assert by_numbers.gap > 1e9
    assert_array_equal(by_numbers.independent, closed.independent)
    scale = np.maximum(np.abs(closed.grouping), 1.0)
    assert_allclose(by_numbers.grouping / scale, closed.grouping / scale, atol=1e-8)
    assert_array_equal(by_numbers.no_effect, closed.no_effect)
    # stiffness and damping of every mode, and pair of modes, stand by themselves
    modal = [name for name in closed.names if name.startswith("mode")]
    assert [text for text in by_numbers.relations() if text.startswith("mode")] == modal


def test_a_tip_mass_is_felt_apart_if_its_tip_bends():
    robot, _, _ = bending(drawn("UPS"), 4)
    found = grouped_parameters(robot)
    assert "leg 4 rod M" in found.relations()
    assert "platform M" in found.relations()
    assert counts(found) == {
        "legs": (180, 84), "rotors": (6, 6), "platform": (10, 10), "modes": (20, 20)
    }  # fmt: skip
    still = np.array(robot.description.modal.tip_shapes)
    still[2] = 0.0
    held, _, _ = bending(drawn("UPS"), 4, tip_shapes=still)
    assert tip_masses(held).kept.tolist() == [True, True, False, True, True, True]
    assert "platform M + leg 3 rod M" in grouped_parameters(held).relations()


def test_random_states_bend_and_those_of_rigid_robots_do_not():
    robot, _, body = bending(drawn("UPS"), 4)
    states = random_states(robot, 200)
    largest = np.linalg.norm(body["shapes"] @ states.elastic.T, axis=1).max(axis=0)
    assert 0.02 < np.median(largest) < 0.3  # of legs about 1 m long
    assert np.isfinite(robot.condition_number(states)).all()
    assert random_states(robot.rigid, 5).modes == 0


# Identification


def test_stiffness_and_damping_from_known_elastic_coordinates():
    """Least squares on what direct dynamics answers to random forces: exact without noise."""
    robot, _, body = bending(drawn("PUS", 5), 3, seed=5)
    rng = np.random.default_rng(5)
    states = random_states(robot, 300, seed=1)
    forces = 300 * rng.normal(size=(300, 6))
    acc = robot.direct_dynamics(states, forces, friction=False)
    seen = states.replace(
        acceleration=acc.linear,
        angular_acceleration=acc.angular,
        elastic_acceleration=acc.elastic,
    )
    pushed = np.einsum("nlk,nl->nk", robot.jacobian(seen), forces)
    # a model whose stiffness and damping are wrong: its own numbers must not count
    wrong, _, _ = bending(
        drawn("PUS", 5), 3, seed=5, stiffness=2 * body["stiffness"], damping=0.5 * body["damping"]
    )
    base, known = base_parameters(wrong), wrong.generalised_regressor(seen).known
    Y = base_regressor(wrong, base, seen).reshape(-1, base.rank)
    size = np.linalg.norm(Y, axis=0)
    found = np.linalg.lstsq(Y / size, (pushed - known).ravel(), rcond=None)[0] / size
    truth = base_parameters(robot).values
    modal = [i for i, name in enumerate(base.base_names) if name.startswith("mode")]
    assert len(modal) == 12
    assert_allclose(found[modal], truth[modal], rtol=1e-9)
    assert np.abs(base.values - truth)[modal].max() > 1.0


# What is said


@pytest.mark.parametrize("legs", [6, 7, 9])
@pytest.mark.parametrize("friction", [False, True])
def test_forces_are_linear_where_the_elastic_acceleration_is_known(legs, friction):
    """Γ = W X + w0 along motions with the elastic acceleration that inverse dynamics solves for."""
    robot, table, body = bending(drawn("PUS", legs=legs, friction=friction), 2)
    motion = moving(np.random.default_rng(5), table, body, (4,))
    act = robot.inverse_dynamics(motion, friction=friction)
    motion = motion.replace(elastic_acceleration=act.elastic_acceleration)
    W, known = force_regressor(robot, motion, friction)
    X = standard_parameters(robot, friction)
    assert W.shape == (4, legs, len(X))
    size = np.abs(act.forces).max()
    assert_allclose(W @ X + known, act.forces, rtol=0, atol=1e-9 * size)
    assert_array_equal(robot.regressor(motion, friction), W)
    assert np.abs(known).max() > 1e-3 * size
    rigid = force_regressor(robot.rigid, gough.Motion(motion.position, motion.rotation))
    assert not rigid.known.any()


def test_compiled_equals_numpy():
    robot, table, body = bending(drawn("PUS"), 3)
    motion = moving(np.random.default_rng(4), table, body, (9,))
    compiled = run_by("llvm", robot)
    found, expected = (one.generalised_regressor(motion) for one in (compiled, robot))
    assert_allclose(found.known, expected.known, rtol=1e-12, atol=1e-9)
    sizes = np.abs(expected.matrix).max(axis=(0, 1))
    assert (np.abs(found.matrix - expected.matrix).max(axis=(0, 1)) <= 1e-12 * sizes).all()


def test_bad_input_is_refused():
    robot, table, body = bending(drawn("PUS"), 3)
    motion = moving(np.random.default_rng(0), table, body, (2,))
    with refusal(InputError, "generalised_regressor"):
        regressor(robot, motion)
    with refusal(InputError, "elastic", 2, 3):
        robot.generalised_regressor(motion.replace(elastic=np.zeros(2), elastic_velocity=None,
                                                   elastic_acceleration=None))  # fmt: skip
    bent = np.zeros((2, 3))
    bent[1, 1] = np.nan
    bad = motion.replace(elastic_acceleration=bent)
    with refusal(SampleError, "elastic_acceleration"):
        robot.generalised_regressor(bad)
    Y, known = robot.generalised_regressor(bad, on_error="nan")
    assert np.isnan(Y[1]).all()
    assert np.isnan(known[1]).all()
    assert np.isfinite(Y[0]).all()
    far = motion.replace(position=[[0, 0, 1e3], motion.position[1]])
    with refusal(SampleError, "sample 0"):
        robot.generalised_regressor(far)
    Y = robot.generalised_regressor(far, on_error="nan").matrix
    assert np.isnan(Y[0]).all()
    assert np.isfinite(Y[1]).all()
    rough = robot.edited({"legs.friction": {"universal_coulomb": 0.001}})
    with refusal(InputError, "universal_coulomb"):
        rough.generalised_regressor(rough.home, friction=True)
    with refusal(InputError, "flexible", "platform"):
        identify(robot, Log(np.arange(60) * 0.01, np.ones((60, 6)), np.ones((60, 6))))
    with refusal(InputError, "flexible", "platform"):
        excite(robot)


def test_command_shows_the_flexible_robot_itself():
    shown = run("parameters", "long-khalil-martinet-2014")
    assert shown.returncode == 0, shown.stderr
    assert "216 standard parameters, 120 base parameters" in shown.stdout
    assert "modes 20 → 20" in shown.stdout
    assert "1               35830.1        151.431" in shown.stdout
    assert "taken as rigid" not in shown.stdout


def test_tables_of_tips_that_share_their_masses():
    robot, _, _ = bending(drawn("UPS"), 1, general=False)
    found = find(robot)
    assert found.disagreement < 1e-10
    data = to_json(robot, found)
    assert (data["standard"], data["base"], data["rank"]) == (198, 101, 101)
    named = {one["name"]: one for one in data["parameters"]}
    assert named["mode 1 stiffness"]["unit"] == "1/s²"
    assert len(named["platform M"]["terms"]) == 2  # and part of leg 6's tip mass
    console = Console(record=True, width=200, file=StringIO())
    print_parameters(robot, found, console)
    text = console.export_text()
    assert f"{named['leg 1 rod M']['relation']} " in text
    assert "leg 6 rod M" in named["leg 1 rod M"]["relation"]
