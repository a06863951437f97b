"""The engine: compiled answers are NumPy's, for every robot and near singular ones too."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.spatial.transform import Rotation

import gough
from cases.common import each_kind, impossible_bodies, kinds, repeatable_seeds, seeds
from cases.engine import FIELDS, MODELS, ask, assert_agree, by_numpy, conditions, sample
from gough import Motion, Robot
from gough.engine.run.compiled import CompiledExecutor
from gough.engine.trace import structure
from gough.engine.tree import map_arrays
from gough.errors import ReachError, SingularError
from gough.legs.register import KINDS
from gough.mechanics import programs
from gough.model.execution import fields_of, numpy_executor, trace

pytestmark = impossible_bodies
SHAPES = [(), (1,), (7,), (3, 1, 2), (0,)]


# Compiled equals NumPy


@pytest.mark.second_tier
@settings(repeatable_seeds, max_examples=10)
@given(seeds, kinds, st.sampled_from(SHAPES), st.booleans())
def test_compiled_equals_numpy(seed, kind, shape, near_singular):
    data, robot, motion, wrench, forces = sample(kind, shape, seed, near_singular=near_singular)
    plain = by_numpy(data)
    assert isinstance(robot.executor, CompiledExecutor)
    condition = conditions(plain, motion)
    for name in MODELS:
        found = ask(robot, name, motion, wrench, forces)
        expected = ask(plain, name, motion, wrench, forces)
        size = condition if name != "condition_number" else condition**2
        assert_agree(found, expected, size, shape)


@pytest.mark.second_tier_from(1)
@pytest.mark.parametrize(
    ("kind", "legs", "options", "names"),
    [
        ("UPS", 8, {}, ("inverse_dynamics", "direct_dynamics")),
        ("PUS", 7, {"axial": False}, ("inverse_dynamics",)),
        ("UPS", 6, {"friction": True}, ("inverse_dynamics", "reactions")),
        ("PUS", 6, {"friction": True}, ("inverse_dynamics", "direct_dynamics")),
        ("PUS", 6, {"friction": True, "width": 0.2}, ("inverse_dynamics",)),
    ],
)
def test_compiled_equals_numpy_for_other_robots(kind, legs, options, names):
    for seed, shape in enumerate([(3, 1, 2), ()]):
        data, robot, motion, wrench, forces = sample(kind, shape, seed, legs, **options)
        plain = by_numpy(data)
        condition = conditions(plain, motion)
        for name in names:
            found = ask(robot, name, motion, wrench, forces)
            assert_agree(found, ask(plain, name, motion, wrench, forces), condition, shape)
            assert np.all(found["residual"] <= 1e-12)


@pytest.mark.parametrize("name", ["kim-ryu-2002", "long-khalil-martinet-2014"])
def test_catalogue_robots_compiled_equal_numpy(name):
    robot, plain = gough.load(name).rigid, gough.load(name).rigid
    plain.__dict__["executor"] = numpy_executor(plain.mechanism)
    rng = np.random.default_rng(1)
    turns = Rotation.from_rotvec(rng.uniform(-0.1, 0.1, (9, 3)))
    offset = rng.uniform(-0.05, 0.05, (9, 3)) * robot.length_scale
    motion = Motion(robot.home.position + offset, turns, *rng.normal(size=(4, 9, 3)))
    condition = conditions(plain, motion)
    for model in ("inverse_dynamics", "direct_dynamics"):
        found = ask(robot, model, motion, friction=False)
        assert_agree(found, ask(plain, model, motion, friction=False), condition, (9,))


def with_twin_legs(data, distance):
    """The robot with its last leg so far from the first: at 0 every pose is singular."""
    legs = {
        key: list(value) if isinstance(value, list) else value
        for key, value in data["legs"].items()
    }
    shift = distance * np.random.default_rng(3).uniform(-1, 1, (2, 3))
    base = KINDS[legs["kind"]].place
    shared = ("axis", "reference", "rail_direction", "length", "branch")
    for key in (*shared, "motor_axis", "crank_zero", "crank_length"):
        if key in legs:
            legs[key][-1] = legs[key][0]
    legs[base][-1] = (np.array(legs[base][0]) + shift[0]).tolist()
    legs["platform"][-1] = (np.array(legs["platform"][0]) + shift[1]).tolist()
    return {**data, "legs": legs}


@pytest.mark.second_tier_from(1)
@pytest.mark.filterwarnings("ignore::gough.errors.ArchitectureWarning")
@each_kind
def test_near_singular_robots_are_flagged_the_same_way(kind):
    data, _, motion, wrench, _ = sample(kind, (5,))
    motion = motion.replace(velocity=[0.1, 0.2, -0.3])
    flagged = set()
    for distance in (1e-2, 1e-5, 1e-7, 3e-9, 1e-9, 3e-10, 1e-10, 1e-12, 1e-15, 0.0):
        twin = with_twin_legs(data, distance)
        robot, plain = Robot.from_dict(twin), by_numpy(twin)
        condition = conditions(plain, motion)
        for name in ("inverse_dynamics", "direct_dynamics"):
            found = ask(robot, name, motion, wrench, on_error="nan")
            expected = ask(plain, name, motion, wrench, on_error="nan")
            assert_agree(found, expected, condition, (5,))
        bad = np.isnan(plain.inverse_dynamics(motion, wrench, on_error="nan").forces[:, 0])
        assert not np.any(~bad & (plain.condition_number(motion) > 1e10))
        flagged |= {int(bad.sum())}
        for one in (robot, plain) if bad.any() else ():
            with pytest.raises(SingularError) as raised:
                one.inverse_dynamics(motion, wrench)
            samples = {failure.sample for failure in raised.value.failures}
            assert samples == {(int(i),) for i in np.flatnonzero(bad)}
    assert flagged >= {0, 5}


@each_kind
def test_poses_out_of_reach_and_legs_along_their_axis_are_flagged_the_same_way(kind):
    data, robot, motion, wrench, _ = sample(kind, (6,))
    plain = by_numpy(data)
    position = motion.position.copy()
    if kind != "UPS":
        position[1] += [0, 0, 5.0]
        position[4] += [9.0, 0, 0]
        error = ReachError
    else:  # put tip 1 of samples 1 and 4 on its base joint's axis, nearly and fully
        leg = robot.description.legs
        base, axis = leg.base[:, 0, 0], leg.axis[:, 0, 0]
        arm = motion.rotation @ robot.description.platform_points[:, 0, 0]
        position[1] = base + 1.2 * axis - arm[1]
        position[4] = base + 1.2 * axis - arm[4] + 1e-11 * np.cross(axis, [1.0, 2.0, 3.0])
        error = SingularError
    motion = motion.replace(position=position)
    for name in ("inverse_kinematics", "inverse_dynamics", "direct_dynamics", "mass_matrix"):
        found = ask(robot, name, motion, wrench, on_error="nan")
        expected = ask(plain, name, motion, wrench, on_error="nan")
        for key, value in found.items():
            assert_array_equal(np.isnan(value), np.isnan(expected[key]))
            if key not in ("residual", "elastic", "elastic_acceleration"):
                bad = np.isnan(value.reshape(6, -1)).all(axis=1)
                assert_array_equal(bad, [False, True, False, False, True, False])
        with pytest.raises(error) as compiled:
            ask(robot, name, motion, wrench)
        with pytest.raises(error) as numpys:
            ask(plain, name, motion, wrench)
        assert compiled.value.failures == numpys.value.failures


# Structure


@pytest.mark.second_tier_from(2)
@each_kind
@pytest.mark.parametrize("function", ["inverse_dynamics", "direct_dynamics"])
def test_structural_zeros_give_the_same_as_tiny_numbers(kind, function):
    name = "kim-ryu-2002" if kind == "PUS" else "long-khalil-martinet-2014"
    robot = gough.load(name).rigid
    machine = robot.mechanism

    def nearly(leaf):
        leaf = np.where(leaf == 0, 1e-200, leaf)
        return np.where(np.abs(leaf) == 1, np.nextafter(leaf, 0), leaf)

    general = map_arrays(machine, nearly)
    special, dense = (CompiledExecutor(one, fields_of(one)) for one in (machine, general))
    assert set(dense.structure.marks) == {3}
    assert set(special.structure.marks) > {0, 3}
    rng = np.random.default_rng(2)
    turns = Rotation.from_rotvec(rng.uniform(-0.1, 0.1, (5, 3)))
    position = robot.home.position + rng.uniform(-0.02, 0.02, (5, 3))
    motion = Motion(position, turns, *rng.normal(size=(4, 5, 3)))
    fields = {one: getattr(motion, one) for one in FIELDS} | {"wrench": rng.normal(size=(5, 6))}
    inputs = {"wrench": (6,)}
    if function == "direct_dynamics":
        fields["forces"], inputs["forces"] = rng.normal(size=(5, 6)), (6,)
    program = getattr(programs, function)
    found, expected = dense(program, 5, fields), special(program, 5, fields)
    assert_agree(found, expected, conditions(robot, motion), (5,))
    few, most = (trace(program, one, inputs).tally().total() for one in (machine, general))
    assert few < 0.9 * most


def test_structure_marks_zero_and_plus_and_minus_one():
    values = np.array([0.0, -0.0, 1.0, -1.0, 2.0, 1e-300, np.nextafter(1, 2)])
    assert list(structure((values[:, np.newaxis],)).marks) == [0, 0, 1, 2, 3, 3, 3]
