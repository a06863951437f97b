"""The engine: compiled answers are NumPy's, whatever the batch looks like; graph, passes, fallbacks."""

import io
import json
import math
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from rich.console import Console
from scipy.spatial.transform import Rotation

import gough
from gough import Motion, Robot
from gough.engine.emit.llvm import lanes
from gough.engine.graph import CONSTANT, INPUT, Graph
from gough.engine.program import HOISTED, PARAMETERS, assemble
from gough.engine.run import cache as disk
from gough.engine.run import threads as pool
from gough.engine.run.compiled import BLOCK, BoundKernel, CompiledExecutor, in_all_lanes
from gough.engine.run.evaluate import hoisted
from gough.engine.run.execute import NumPyExecutor
from gough.engine.trace import structure
from gough.engine.tree import map_arrays
from gough.errors import InputError, NotFiniteError, ReachError, SingularError
from gough.mechanics import programs, vectors
from gough.model.execution import fields_of, numpy_executor, trace
from gough.show import installation as doctor
from oracles.random_robot import random_motion, random_robot

pytestmark = pytest.mark.filterwarnings("ignore::gough.errors.ImpossibleBodyWarning")

KINDS = ("UPS", "PUS")
SHAPES = [(), (1,), (7,), (3, 1, 2), (0,)]
FIELDS = ("position", "rotation", "velocity", "angular_velocity")
FIELDS += ("acceleration", "angular_acceleration")
KINEMATICS = ("inverse_kinematics", "jacobian", "condition_number")
WITH_WRENCH = ("inverse_dynamics", "reactions", "direct_dynamics", "contributions")
MODELS = (*KINEMATICS, *WITH_WRENCH, "mass_matrix", "bias", "energy")
each_kind = pytest.mark.parametrize("kind", KINDS)
each_model = pytest.mark.parametrize("name", MODELS)
seeds, kinds = st.integers(0, 2**32), st.sampled_from(KINDS)
# seeds say nothing smaller: a failing example is not shrunk
repeatable = settings(deadline=None, derandomize=True, phases=[Phase.generate])


def by_numpy(data):
    """A robot whose programs run on NumPy."""
    robot = Robot.from_dict(data)
    robot.__dict__["executor"] = numpy_executor(robot.mechanism)
    return robot


def sample(kind, shape=(), seed=0, legs=6, **options):
    """A random robot's dictionary, the robot, a motion of it, wrenches and forces."""
    rng = np.random.default_rng([seed, KINDS.index(kind), legs])
    data = random_robot(rng, kind, legs, **options)
    motion = Motion(**random_motion(rng, data, shape))
    wrench, forces = 50 * rng.normal(size=(*shape, 6)), 100 * rng.normal(size=(*shape, legs))
    return data, Robot.from_dict(data), motion, wrench, forces


def ask(robot, name, motion, wrench=None, forces=None, **options):
    """Every array that a model returns, by name."""
    more = {"wrench": wrench} if name in WITH_WRENCH else {}
    if name == "direct_dynamics":
        more["forces"] = np.ones(robot.leg_count) if forces is None else forces
    found = getattr(robot, name)(motion, **more, **options)
    named = {name: found} if isinstance(found, np.ndarray) else vars(found)
    return {key: value for key, value in named.items() if value is not None}


def conditions(robot, motion):
    """The worse condition number (...) of the Jacobian and of the mass matrix, made comparable."""
    scale = np.array([1.0] * 3 + [1 / robot.length_scale] * 3)
    matrix = robot.mass_matrix(motion, on_error="nan") * scale * scale[:, np.newaxis]
    jacobian = robot.jacobian(motion, on_error="nan") * scale
    bad = ~np.isfinite(matrix).all((-2, -1)) | ~np.isfinite(jacobian).all((-2, -1))
    matrix, jacobian = np.where(bad[..., None, None], np.eye(6), matrix), np.nan_to_num(jacobian)
    with np.errstate(divide="ignore"):
        return np.maximum(np.linalg.cond(matrix), np.linalg.cond(jacobian))


def sizes(found, shape):
    """The largest number (...) in an answer for each sample."""
    return np.max([worst(value, shape) for value in found.values()], axis=0)


def worst(value, shape):
    """The largest number (...) in an array for each sample; NaN counts as 0."""
    axes = tuple(range(len(shape), value.ndim))
    return np.max(np.nan_to_num(np.abs(value)), axis=axes, initial=0.0)


def assert_agree(compiled, plain, condition, shape):
    """Equal to 1e-12 times the condition number, NaN in the same places."""
    assert compiled.keys() == plain.keys()
    allowed = 1e-12 * condition * sizes(plain, shape)
    for name, expected in plain.items():
        found = compiled[name]
        assert found.shape == expected.shape, name
        if name == "residual":  # of the friction loop: rounding errors, and below their limit
            continue
        assert_array_equal(np.isnan(found), np.isnan(expected), err_msg=name)
        error = worst(found - expected, shape)
        assert np.all(error <= allowed), (name, error, allowed)


def assert_same_bits(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert_array_equal(found[name].view(np.int64), value.view(np.int64), err_msg=name)


# Compiled equals NumPy


@settings(repeatable, max_examples=10)
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
    base = "base" if legs["kind"] == "UPS" else "rail_origin"
    for key in ("axis", "reference", "rail_direction", "length", "branch"):
        if key in legs:
            legs[key][-1] = legs[key][0]
    legs[base][-1] = (np.array(legs[base][0]) + shift[0]).tolist()
    legs["platform"][-1] = (np.array(legs["platform"][0]) + shift[1]).tolist()
    return {**data, "legs": legs}


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
        bad = {(int(i),) for i in np.flatnonzero(plain.condition_number(motion) > 1e10)}
        flagged |= {len(bad)}
        for one in (robot, plain) if bad else ():
            with pytest.raises(SingularError, match="condition number") as raised:
                one.inverse_dynamics(motion, wrench)
            assert {failure.sample for failure in raised.value.failures} == bad
    assert flagged >= {0, 5}


@each_kind
def test_poses_out_of_reach_and_legs_along_their_axis_are_flagged_the_same_way(kind):
    data, robot, motion, wrench, _ = sample(kind, (6,))
    plain = by_numpy(data)
    position = motion.position.copy()
    if kind == "PUS":
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


# Whatever the batch looks like


@each_kind
@each_model
def test_bits_do_not_depend_on_the_batch_shape(kind, name):
    _, robot, motion, wrench, forces = sample(kind, (12,))
    whole = ask(robot, name, motion, wrench, forces)
    for shape in ((3, 1, 4), (2, 3, 2, 1)):
        found = ask(
            robot,
            name,
            motion.reshape(*shape),
            wrench.reshape(*shape, 6),
            forces.reshape(*shape, 6),
        )
        assert all(value.shape[: len(shape)] == shape for value in found.values())
        flat = {key: value.reshape(12, *value.shape[len(shape) :]) for key, value in found.items()}
        assert_same_bits(flat, whole)
    for i in (0, 7, 11):
        alone = ask(robot, name, motion[i], wrench[i], forces[i])
        assert_same_bits(alone, {key: value[i] for key, value in whole.items()})
        one = ask(robot, name, motion[i : i + 1], wrench[i : i + 1], forces[i : i + 1])
        assert_same_bits(one, {key: value[i : i + 1] for key, value in whole.items()})


def packed(values):
    """The same numbers as a field of records of odd length: strides are no multiple of 8."""
    records = np.zeros(len(values), dtype=[("flag", "i4"), ("values", "f8", values.shape[1:])])
    records["values"] = values
    return records["values"]


def spread(values):
    """The same numbers as every third row of a larger array."""
    larger = np.full((3 * len(values), *values.shape[1:]), np.nan)
    larger[1::3] = values
    return larger[1::3]


def unaligned(values):
    """The same numbers at an odd address."""
    raw = np.zeros(values.nbytes + 1, dtype=np.uint8)
    shifted = raw[1:].view(np.float64).reshape(values.shape)
    shifted[...] = values
    return shifted


LAYOUTS = {
    "columns first": np.asfortranarray,
    "reversed": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "every third row": spread,
    "components reversed": lambda a: np.ascontiguousarray(a[..., ::-1])[..., ::-1],
    "matrix transposed": lambda a: np.ascontiguousarray(np.swapaxes(a, 0, -1)).swapaxes(0, -1),
    "big-endian": lambda a: a.astype(">f8"),
    "lists": lambda a: a.tolist(),
    "in records": packed,
    "unaligned": unaligned,
}


@each_kind
@pytest.mark.parametrize("layout", LAYOUTS)
def test_bits_do_not_depend_on_how_arrays_lie_in_memory(kind, layout):
    _, robot, motion, wrench, forces = sample(kind, (7,))
    laid = LAYOUTS[layout]
    other = Motion(**{name: laid(getattr(motion, name)) for name in FIELDS})
    for name in ("inverse_kinematics", "inverse_dynamics", "direct_dynamics"):
        plain = ask(robot, name, motion, wrench, forces)
        assert_same_bits(ask(robot, name, other, laid(wrench), laid(forces)), plain)


@each_kind
def test_views_of_motions_and_broadcast_inputs(kind):
    _, robot, motion, wrench, forces = sample(kind, (9,))
    for name in ("inverse_kinematics", "inverse_dynamics", "direct_dynamics"):
        whole = ask(robot, name, motion, wrench, forces)
        for part in (slice(None, None, -1), slice(1, None, 3), [4, 4, 0], slice(3, 3)):
            found = ask(robot, name, motion[part], wrench[part], forces[part])
            assert_same_bits(found, {key: value[part] for key, value in whole.items()})
        # one wrench for all, one motion for all wrenches, all against all
        repeated = np.repeat(wrench[:1], 9, axis=0)
        assert_same_bits(
            ask(robot, name, motion, wrench[0], forces), ask(robot, name, motion, repeated, forces)
        )
        if name in WITH_WRENCH:
            every = ask(robot, name, motion[:, np.newaxis], wrench[:4], forces[:, np.newaxis])
            for i, j in ((0, 0), (5, 3), (8, 1)):
                one = ask(robot, name, motion[i], wrench[j], forces[i])
                assert_same_bits({key: value[i, j] for key, value in every.items()}, one)


@each_kind
@each_model
def test_any_field_may_be_the_same_for_all_samples(kind, name):
    data, robot, motion, wrench, forces = sample(kind, (4,))
    plain = by_numpy(data)
    arrays = {field: getattr(motion, field) for field in FIELDS}
    chosen = [FIELDS[:1], FIELDS[1:2], FIELDS[2:3], FIELDS[:4], FIELDS[3:], FIELDS[1:], FIELDS[::2]]
    for constant in (*chosen, FIELDS[:1] + FIELDS[2:], FIELDS):
        once = Motion(**{f: a[0] if f in constant else a for f, a in arrays.items()})
        spelled = Motion(
            **{f: np.repeat(a[:1], 4, axis=0) if f in constant else a for f, a in arrays.items()}
        )
        if not once.shape:
            once = once[np.newaxis][[0, 0, 0, 0]]
        for one in (robot, plain):
            found = ask(one, name, once, wrench, forces)
            assert_same_bits(found, ask(one, name, spelled, wrench, forces))


@pytest.fixture(scope="module", params=KINDS)
def many(request):
    """A robot and more states than two blocks hold."""
    _, robot, motion, wrench, _ = sample(request.param, (2 * BLOCK + 2 * lanes() + 3,))
    return robot, motion, wrench


def test_bits_do_not_depend_on_batch_size_position_or_threads(many, monkeypatch):
    robot, motion, wrench = many
    width = lanes()
    monkeypatch.setenv("GOUGH_THREADS", "1")
    whole = ask(robot, "inverse_dynamics", motion, wrench)
    for threads in ("2", "3", "64"):
        monkeypatch.setenv("GOUGH_THREADS", threads)
        assert_same_bits(ask(robot, "inverse_dynamics", motion, wrench), whole)
    monkeypatch.setenv("GOUGH_THREADS", "2")
    near = [*range(1, 2 * width + 2)]
    near += [m * BLOCK + k for m in (1, 2) for k in (-width - 1, -1, 0, 1, width, width + 1)]
    for count in near:
        found = ask(robot, "inverse_dynamics", motion[:count], wrench[:count])
        assert_same_bits(found, {key: value[:count] for key, value in whole.items()})
    for start in (1, width - 1, width, BLOCK - 1, BLOCK + 3):
        found = ask(robot, "inverse_dynamics", motion[start:], wrench[start:])
        assert_same_bits(found, {key: value[start:] for key, value in whole.items()})
    mixed = np.random.default_rng(0).permutation(len(motion))
    found = ask(robot, "inverse_dynamics", motion[mixed], wrench[mixed])
    assert_same_bits(found, {key: value[mixed] for key, value in whole.items()})


@each_kind
@pytest.mark.parametrize("strength", [1, 20])  # at 20 the loop's plain passes do not suffice
def test_bits_with_friction_do_not_depend_on_the_batch(kind, strength):
    data, _, motion, _, _ = sample(kind, (24,), friction=True)
    for key in ("universal_coulomb", "spherical_coulomb"):
        data["legs"]["friction"][key] = [strength * k for k in data["legs"]["friction"][key]]
    robot = Robot.from_dict(data)
    still = np.where(np.arange(24)[:, np.newaxis] % 5 == 0, 0.0, motion.angular_velocity)
    motion = motion.replace(angular_velocity=still)
    whole = ask(robot, "inverse_dynamics", motion, on_error="nan")
    alone = [slice(i, i + 1) for i in range(0, 24, 2)]
    for part in (*alone, slice(3, 9), slice(None, None, -1)):
        found = ask(robot, "inverse_dynamics", motion[part], on_error="nan")
        assert_same_bits(found, {key: value[part] for key, value in whole.items()})


def test_many_python_threads_share_a_robot():
    _, robot, motion, wrench, _ = sample("UPS", (64,))
    whole = robot.inverse_dynamics(motion, wrench).forces
    fresh = Robot.from_text(robot.text)

    def one(i):
        return fresh.inverse_dynamics(motion[i % 64], wrench[i % 64]).forces

    with ThreadPoolExecutor(8) as pool:
        for i, forces in enumerate(pool.map(one, range(512))):
            assert_array_equal(forces, whole[i % 64])


# NaN is neither invented nor hidden


@each_kind
@each_model
@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_bad_numbers_stay_in_their_row(kind, name, bad):
    _, robot, motion, wrench, forces = sample(kind, (11,))
    clean = ask(robot, name, motion, wrench, forces)
    arrays = {field: np.array(getattr(motion, field)) for field in FIELDS}
    rows = [1, 4, 5, 10]
    arrays["position"][1, 2] = bad
    arrays["velocity"][4, 0] = bad
    arrays["rotation"][5, 1, 1] = np.nan  # Motion refuses an infinite one
    hidden = name == "direct_dynamics"  # accelerations are ignored there
    arrays["acceleration"][10, 1] = bad
    if name in WITH_WRENCH:
        wrench = wrench.copy()
        wrench[7, 5] = bad
        rows.append(7)
    broken = Motion(**arrays)
    found = ask(robot, name, broken, wrench, forces, on_error="nan")
    lost = np.isin(np.arange(11), [row for row in rows if not (hidden and row == 10)])
    for key, value in clean.items():
        if value.size == 0:
            continue
        assert np.isnan(found[key][lost]).all(), key
        assert_array_equal(found[key][~lost], value[~lost], err_msg=key)
    with pytest.raises(NotFiniteError) as raised:
        ask(robot, name, broken, wrench, forces)
    assert {one.sample for one in raised.value.failures} == {(i,) for i in np.flatnonzero(lost)}


@each_kind
def test_opposite_infinities_and_huge_numbers_give_no_warnings(kind):
    data, robot, motion, wrench, _ = sample(kind, (5,))
    wrench[0, 0], wrench[1, 1] = np.inf, -np.inf
    wrench[2, 2:4] = np.inf, -np.inf
    wrench[3] = 1.7e308
    for one in (robot, by_numpy(data)):
        found = one.inverse_dynamics(motion, wrench, on_error="nan").forces
        assert_array_equal(np.isnan(found).any(axis=1)[[0, 1, 2, 4]], [True, True, True, False])


def test_nan_reaches_every_kernel_output_that_depends_on_it():
    """The kernel alone, without the checks around it: in lane order and alone in its vector."""
    robot = sample("UPS")[1]
    motion, width = sample("UPS", (3 * lanes(),))[2], lanes()
    fields = {name: np.array(getattr(motion, name)) for name in FIELDS}
    fields["wrench"] = np.zeros((1, 6))
    clean = robot.executor(programs.inverse_dynamics, len(motion), fields)
    for row in (0, width - 1, width, 3 * width - 1):
        broken = {**fields, "velocity": fields["velocity"].copy()}
        broken["velocity"][row, 1] = np.nan
        found = robot.executor(programs.inverse_dynamics, len(motion), broken)
        others = np.arange(len(motion)) != row
        for name, value in found.items():
            assert np.isnan(value[row]).all(), name
            assert_array_equal(value[others], clean[name][others])


# Structure


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


# The graph


def symbols(graph, count=3, field="state"):
    return graph.inputs(field, (count,))


def shown(symbol):
    """A node as text, inputs being x0, x1, …"""
    graph, number = symbol.graph, symbol.number
    if graph.operations[number] == CONSTANT:
        return f"{graph.leaves[number]:g}"
    if graph.operations[number] == INPUT:
        return f"x{graph.leaves[number][1]}"
    arguments = (shown(type(symbol)(graph, one)) for one in graph.arguments[number])
    return f"{graph.operations[number]}({', '.join(arguments)})"


FOLDED = {
    "0 + x": lambda x, y: 0 + x,
    "x + 0": lambda x, y: x + 0,
    "x - 0": lambda x, y: x - 0.0,
    "1 * x": lambda x, y: 1 * x,
    "x * 1": lambda x, y: x * 1,
    "x / 1": lambda x, y: x / 1,
    "0 - (0 - x)": lambda x, y: 0 - (0 - x),
    "0 - -x": lambda x, y: 0 - -x,
    "-1 * -x": lambda x, y: -1 * -x,
    "-x / -1": lambda x, y: -x / -1,
}


@pytest.mark.parametrize("rule", FOLDED)
def test_folding_to_the_symbol_itself(rule):
    x, y, _ = symbols(Graph())
    assert FOLDED[rule](x, y).number == x.number


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (lambda x, y: 0 * x, "0"),
        (lambda x, y: x * 0, "0"),
        (lambda x, y: 0 / x, "0"),
        (lambda x, y: x - x, "0"),
        (lambda x, y: x + -x, "0"),
        (lambda x, y: x * y - y * x, "0"),
        (lambda x, y: 0 - x, "neg(x0)"),
        (lambda x, y: -1 * x, "neg(x0)"),
        (lambda x, y: x / -1, "neg(x0)"),
        (lambda x, y: x + -y, "sub(x0, x1)"),
        (lambda x, y: -x + y, "sub(x1, x0)"),
        (lambda x, y: x - -y, "add(x0, x1)"),
        (lambda x, y: -(x - y), "sub(x1, x0)"),
        (lambda x, y: -x * -y, "mul(x0, x1)"),
        (lambda x, y: -x / y, "neg(div(x0, x1))"),
        (lambda x, y: abs(-x), "abs(x0)"),
        (lambda x, y: -x - y, "neg(add(x0, x1))"),
        (lambda x, y: (x * 0 + 2) * 3 - 5, "1"),
        (lambda x, y: (0 * x + 4).sqrt(), "2"),
        (lambda x, y: (0 * x).or_one(), "1"),
        (lambda x, y: (0 * x - 3).minimum(2), "-3"),
        (lambda x, y: (0 * x - 3).maximum(2), "2"),
        (lambda x, y: (0 * x + 3).copysign(-2), "-3"),
        (lambda x, y: (0 * x + 1).arctan2(1), f"{math.pi / 4:g}"),
        (lambda x, y: y * x, "mul(x0, x1)"),
        (lambda x, y: y.maximum(x), "max(x0, x1)"),
        (lambda x, y: y / x, "div(x1, x0)"),
        (lambda x, y: y.copysign(x), "copysign(x1, x0)"),
    ],
)
def test_folding_rules(expression, text):
    x, y, _ = symbols(Graph())
    assert shown(expression(x, y)) == text


@pytest.mark.parametrize(
    "expression",
    [
        lambda c: c / 0,
        lambda c: (c - 5).sqrt(),
        lambda c: (c / 0).minimum(1),
        lambda c: (c / 0).maximum(1),
        lambda c: (c * 0 + 1).minimum(c / 0),
    ],
)
def test_folding_never_hides_an_impossible_constant(expression):
    constant = Graph().constant(2.0)
    assert not math.isfinite(expression(constant).graph.leaves[expression(constant).number])


def test_the_same_operation_is_one_node():
    graph = Graph()
    x, y, z = symbols(graph)
    first = (x * y + z).sqrt() / (y * x + z)
    count = len(graph)
    second = (z + y * x).sqrt() / (z + x * y)
    assert first.number == second.number
    assert len(graph) == count


def test_dead_code_is_left_out_and_parameter_work_is_hoisted():
    graph = Graph()
    x, y, _ = symbols(graph)
    a, b, _ = symbols(graph, field=PARAMETERS)
    heavy = (a * a + b * b).sqrt()
    unused = (x + y) / (x - y) * (a - b)
    outputs = {"out": np.array([heavy * x + 2.0 * heavy, heavy, x, graph.constant(7.0)])}
    program = assemble(graph, outputs, {"state": (3,)})
    assert program.tally() == {"mul": 1, "add": 1}
    kinds = [step.operation for step in program.prologue if step.operation not in (CONSTANT, INPUT)]
    assert sorted(kinds) == ["add", "mul", "mul", "mul", "sqrt"]
    assert len(program.hoisted) == 2  # heavy and 2 heavy
    read = {step.leaf for step in program.body if step.operation == INPUT}
    assert read == {("state", 0), (HOISTED, 0), (HOISTED, 1)}
    assert unused.number not in graph.reachable(s.number for s in outputs["out"])
    assert program.outputs["out"].shape == (4,)
    assert_array_equal(compute(program, {"state": [[3.0, 4.0, 0.0]]}, [3.0, 4.0])[0]["out"][0],
                       [25.0, 5.0, 3.0, 7.0])  # fmt: skip


def test_arguments_come_before_what_needs_them():
    machine = gough.load("kim-ryu-2002").mechanism
    program = trace(programs.inverse_dynamics, machine, {"wrench": (6,)})
    for steps in (program.prologue, program.body):
        for place, step in enumerate(steps):
            assert all(argument < place for argument in step.arguments)
    everything = [step[:2] for step in program.body if step.operation not in (CONSTANT, INPUT)]
    assert len(set(everything)) == len(everything)  # nothing is computed twice
    needed = {place for output in program.outputs.values() for place in output.places}
    for place in range(len(program.body) - 1, -1, -1):
        assert place in needed  # nothing is computed in vain
        needed.update(program.body[place].arguments)
    assert set(program.hoisted) <= set(range(len(program.prologue)))


# Random expressions


BINARY = ("add", "sub", "mul", "div", "min", "max", "copysign", "atan2")
UNARY = ("neg", "abs", "sqrt", "or_one")
LEAVES = st.one_of(
    st.tuples(st.just("state"), st.integers(0, 3)),
    st.tuples(st.just(PARAMETERS), st.integers(0, 2)),
    st.tuples(st.just("number"), st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0, -0.25])),
)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(BINARY), inner, inner), st.tuples(st.sampled_from(UNARY), inner)
    ),
    max_leaves=25,
)
NUMPY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative,
    "min": vectors.minimum, "max": vectors.maximum, "copysign": vectors.copysign,
    "atan2": np.arctan2, "abs": np.abs, "sqrt": np.sqrt, "or_one": vectors.or_one,
}  # fmt: skip


def run_expression(expression, inputs):
    """The expression on arrays: of numbers, or of symbols."""
    kind, *parts = expression
    if kind == "number":
        return np.full_like(inputs["state"][0], parts[0]) + 0 * inputs["state"][0]
    if kind in inputs:
        return inputs[kind][parts[0]]
    return NUMPY[kind](*(run_expression(part, inputs) for part in parts))


def bound(expression, inputs):
    """Values and, rounding being 1, first-order bounds of their errors; None where a branch is near."""
    kind, *parts = expression
    if kind == "number" or kind in inputs:
        value = run_expression(expression, inputs)
        return value, 0 * value
    arguments = [bound(part, inputs) for part in parts]
    if any(argument is None for argument in arguments):
        return None
    (a, da), (b, db) = arguments[0], arguments[-1]
    with np.errstate(all="ignore"):
        value = NUMPY[kind](*(argument[0] for argument in arguments))
    if not np.all(np.isfinite(value)) or np.any(np.abs(value) > 1e100):
        return None
    clear = np.abs(b) > 1e-3 * (1 + db)
    if kind in ("div", "copysign", "or_one", "sqrt") and not np.all(clear):
        return None
    if kind == "atan2" and not np.all(np.hypot(a, b) > 1e-3 * (1 + da + db)):
        return None
    if kind == "atan2" and np.any((np.abs(a) < 1e-3 * (1 + da)) & (b < 0)):
        return None  # on the cut
    with np.errstate(all="ignore"):
        error = {
            "add": da + db + np.abs(a) + np.abs(b),
            "sub": da + db + np.abs(a) + np.abs(b),
            "mul": np.abs(a) * db + np.abs(b) * da,
            "div": (da + np.abs(value) * db) / np.abs(b),
            "sqrt": da / (2 * value),
            "copysign": da,
            "atan2": (da + db) / np.hypot(a, b),
        }.get(kind, np.maximum(da, db))
    return value, error + 2 * np.abs(value)


def compute(program, inputs, parameters):
    """A program's outputs by name: interpreted by NumPy, and compiled."""
    known = np.asarray(parameters, dtype=float)[np.newaxis]
    numbers = hoisted(program.prologue, program.hoisted, known)[0]
    fields = {name: np.array(inputs[name], dtype=float) for name in program.fields}
    rows = len(next(iter(fields.values())))
    values = []
    for step in program.body:
        if step.operation == CONSTANT:
            values.append(np.full(rows, step.leaf))
        elif step.operation == INPUT:
            field, index = step.leaf
            known = (
                numbers[index] if field == HOISTED else fields[field].reshape(rows, -1)[:, index]
            )
            values.append(known * np.ones(rows))
        else:
            with np.errstate(all="ignore"):
                values.append(NUMPY[step.operation](*(values[a] for a in step.arguments)))
    interpreted = {}
    for name, output in program.outputs.items():
        stacked = np.stack([values[place] for place in output.places], axis=-1)
        interpreted[name] = stacked.reshape(rows, *output.shape)
    description = {
        "prologue": [list(step) for step in program.prologue],
        "hoisted": program.hoisted,
        "fields": program.fields,
        "outputs": {name: output.shape for name, output in program.outputs.items()},
    }
    kernel = disk._load(json.loads(json.dumps(description)), disk._compile(program))
    compiled = BoundKernel(kernel, in_all_lanes(kernel, numbers)).run(rows, fields)
    return interpreted, compiled


@settings(repeatable, max_examples=150)
@given(st.lists(EXPRESSIONS, min_size=1, max_size=3), seeds)
def test_a_traced_expression_is_the_expression(expressions, seed):
    rng = np.random.default_rng(seed)
    rows = 2 * lanes() + 1
    state = rng.uniform(0.5, 2, (4, rows)) * rng.choice([-1, 1], (4, rows))
    parameters = rng.uniform(0.5, 2, 3) * rng.choice([-1, 1], 3)
    inputs = {"state": state, PARAMETERS: parameters[:, np.newaxis] * np.ones(rows)}
    expected = [bound(one, inputs) for one in expressions]
    assume(all(one is not None for one in expected))
    graph = Graph()
    symbolic = {name: graph.inputs(name, (len(a), 1)) for name, a in inputs.items()}
    outputs = [run_expression(one, symbolic)[0] for one in expressions]
    program = assemble(graph, {"out": np.array(outputs)}, {"state": (4,)})
    interpreted, compiled = compute(program, {"state": state.T.copy()}, parameters)
    for k, (value, error) in enumerate(expected):
        assert_array_equal(interpreted["out"][:, k], value)  # folding rounds nothing
        assert np.all(np.abs(compiled["out"][:, k] - value) <= 4e-16 * error)


@pytest.mark.parametrize("operation", [*BINARY, *UNARY])
def test_every_operation_on_special_numbers(operation):
    """NaN, infinities and zeros come out compiled as NumPy has them; the sign of a zero may differ."""
    special = np.array([np.nan, np.inf, -np.inf, 0.0, 1.0, -1.0, 2.5, -1e-300, 1e300])
    pairs = np.array([(a, b) for a in special for b in special])
    graph = Graph()
    symbolic = graph.inputs("state", (2, 1))
    used = symbolic if operation in BINARY else symbolic[:1]
    program = assemble(graph, {"out": NUMPY[operation](*used)}, {"state": (2,)})
    interpreted, compiled = compute(program, {"state": pairs}, np.zeros(0))
    with np.errstate(all="ignore"):
        direct = NUMPY[operation](*(pairs.T if operation in BINARY else pairs.T[:1]))
    assert_array_equal(interpreted["out"][:, 0], direct)
    assert_array_equal(compiled["out"][:, 0], direct)


# Settings and fallbacks


@pytest.mark.parametrize("threads", ["abc", "0", "-1", "1.5", "", "²"])
def test_a_bad_number_of_threads_is_a_clear_error(many, monkeypatch, threads):
    robot, motion, _ = many
    monkeypatch.setenv("GOUGH_THREADS", threads)
    with pytest.raises(
        InputError, match=f"GOUGH_THREADS is a positive whole number, not '{threads}'"
    ):
        robot.inverse_kinematics(motion)


@pytest.mark.parametrize("name", ["inverse_dynamics", "jacobian"])
def test_no_kernel_runs_for_an_empty_batch(name):
    """A kernel takes one state at least: for none it would write past its arrays."""
    _, robot, motion, _, _ = sample("UPS", (3,))
    ask(robot, name, motion, np.zeros(6))
    for bound in robot.executor._ready.values():
        bound.function = bound._few = bound._single = None  # not callable
    found = ask(robot, name, motion[:0], np.zeros(6))
    assert all(len(value) == 0 for value in found.values())


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True, float("nan")])
def test_a_bad_threads_argument_is_a_clear_error(many, threads):
    robot, motion, _ = many
    for states in (motion, motion[0]):
        with pytest.raises(InputError, match="threads is a positive whole number, not"):
            robot.inverse_kinematics(states, threads=threads)


def test_threads_of_a_call_go_before_the_environment(many, monkeypatch):
    robot, motion, wrench = many
    pools = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, count, **options):
            pools.append(count)
            super().__init__(count, **options)

    monkeypatch.setattr(pool, "ThreadPoolExecutor", Pool)
    monkeypatch.setenv("GOUGH_THREADS", "1")
    pool._pool.cache_clear()
    forces = robot.inverse_dynamics(motion, wrench).forces
    models = {
        "inverse_dynamics": lambda n: robot.inverse_dynamics(motion, wrench, threads=n),
        "reactions": lambda n: robot.reactions(motion, wrench, threads=n),
        "direct_dynamics": lambda n: robot.direct_dynamics(motion, forces, threads=n),
        "inverse_kinematics": lambda n: robot.inverse_kinematics(motion, threads=n),
        "jacobian": lambda n: robot.jacobian(motion, threads=n),
        "mass_matrix": lambda n: robot.mass_matrix(motion, threads=n),
        "bias": lambda n: robot.bias(motion, threads=n),
    }
    assert pools == []
    for count, call in enumerate(models.values(), start=2):
        call(count)
    assert pools == [*range(2, 2 + len(models))]
    robot.jacobian(motion)
    assert len(pools) == len(models)
    pool._pool.cache_clear()


def test_an_unknown_engine_is_a_clear_error(monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "abc")
    with pytest.raises(InputError, match="GOUGH_ENGINE is 'llvm' or 'numpy', not 'abc'"):
        gough.load("kim-ryu-2002").inverse_kinematics(gough.load("kim-ryu-2002").home)


def test_numpy_on_request(monkeypatch):
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    assert isinstance(gough.load("kim-ryu-2002").executor, NumPyExecutor)
    monkeypatch.setenv("GOUGH_ENGINE", "llvm")
    assert isinstance(gough.load("kim-ryu-2002").executor, CompiledExecutor)


ASK = """
    import json, numpy as np, gough
    robot = gough.load("kim-ryu-2002")
    motion = gough.Motion([0.01, 0.02, 0.8], None, [0.1, 0.2, 0.3], [0.3, 0.2, 0.1])
    motion = gough.Motion.stack([motion, motion.replace(position=[0, 0, 0.82])])
    forces = robot.inverse_dynamics(motion).forces
    print(json.dumps([type(robot.executor).__name__, forces.tolist()]))
"""


def in_a_process(before="", timeout=60, **environment):
    """What ASK prints in a new process after some other lines."""
    script = textwrap.dedent(before) + textwrap.dedent(ASK)
    result = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, **environment},
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


BROKEN = """
    import sys, pathlib, tempfile
    place = pathlib.Path(tempfile.mkdtemp())
    (place / "llvmlite").mkdir()
    (place / "llvmlite" / "__init__.py").write_text("raise {error}")
    sys.path.insert(0, str(place))
"""


@pytest.mark.parametrize(
    "before",
    [
        "import sys; sys.modules['llvmlite'] = None",
        BROKEN.format(error="ImportError('no')"),
        BROKEN.format(error="OSError('libLLVM.so: cannot open shared object file')"),
    ],
    ids=["missing", "not importable", "library missing"],
)
def test_without_llvmlite_the_equations_run_on_numpy(before):
    engine, forces = in_a_process(before)
    assert engine == "NumPyExecutor"
    robot = gough.load("kim-ryu-2002")
    motion = Motion([0.01, 0.02, 0.8], None, [0.1, 0.2, 0.3], [0.3, 0.2, 0.1])
    motion = Motion.stack([motion, motion.replace(position=[0, 0, 0.82])])
    expected = robot.inverse_dynamics(motion).forces
    allowed = 1e-12 * conditions(robot, motion).max() * np.abs(expected).max()
    assert np.max(np.abs(np.array(forces) - expected)) < allowed


def test_doctor_says_which_engine_runs_and_why(monkeypatch):
    def engine():
        (found,) = [one for one in doctor.report() if one.what == "engine"]
        return found

    found = doctor.report()
    assert all(one.ok for one in found), found
    assert [one.what for one in found].count("self-check") == 2
    assert engine().finding.startswith("LLVM")
    monkeypatch.setattr(doctor, "CHECKED", ())
    monkeypatch.setenv("GOUGH_ENGINE", "numpy")
    assert engine().finding == "NumPy, because GOUGH_ENGINE=numpy"
    monkeypatch.delenv("GOUGH_ENGINE")
    monkeypatch.setenv("GOUGH_THREADS", "many")
    (threads,) = [one for one in doctor.report() if one.what == "threads"]
    assert not threads.ok
    assert "not 'many'" in threads.finding
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    assert engine().finding == "NumPy, because llvmlite is not installed"
    assert "pip install llvmlite" in engine().advice
    console = Console(file=io.StringIO(), width=80)
    assert not doctor.print_report(console)
    assert "→ pip install llvmlite" in console.file.getvalue()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_computes_large_batches_too():
    script = """
        import os, numpy as np, gough
        robot = gough.load("kim-ryu-2002")
        many = gough.Motion(np.tile(robot.home.position, (20000, 1)), None)
        expected = robot.inverse_kinematics(many).q
        child = os.fork()
        if child == 0:
            right = np.array_equal(robot.inverse_kinematics(many).q, expected)
            os._exit(0 if right else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)]
    process = subprocess.Popen(
        command, env={**os.environ, "GOUGH_THREADS": "2"}, start_new_session=True
    )
    try:
        assert process.wait(timeout=12) == 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
            process.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="needs glibc's memory settings")
def test_an_interrupted_batch_leaves_memory_alone():
    """Ctrl-C, again and again, while threads compute; freed arrays leave the address space at once."""
    script = """
        import random, signal, time, gough
        from gough.show.speed import states
        robot = gough.load("kim-ryu-2002")
        motion = states(robot, 200_000)
        expected = robot.inverse_dynamics(motion, friction=False).forces
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        rng, end, interrupts = random.Random(1), time.monotonic() + 2, 0
        while time.monotonic() < end:
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.002, 0.03))
                robot.inverse_dynamics(motion, friction=False)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except (KeyboardInterrupt, RuntimeError):
                interrupts += 1  # in the standard library's locks it may become a RuntimeError
        assert interrupts > 3
        assert (robot.inverse_dynamics(motion, friction=False).forces == expected).all()
    """
    settings = {"GOUGH_THREADS": "4", "MALLOC_MMAP_THRESHOLD_": "100000"}
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)]
    result = subprocess.run(
        command, env={**os.environ, **settings}, timeout=60, check=False, capture_output=True
    )
    assert result.returncode == 0, result.stderr[-300:]
