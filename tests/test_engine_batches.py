"""Answers do not depend, bit for bit, on what the batch looks like; NaN stays in its row."""

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from cases.common import LEG_KINDS, each_kind, impossible_bodies
from cases.engine import FIELDS, WITH_WRENCH, ask, assert_same_bits, by_numpy, each_model, sample
from cases.errors import refusal
from gough import Motion, Robot
from gough.engine.emit.llvm import lanes
from gough.engine.run import lent
from gough.engine.run import threads as run_threads
from gough.engine.run.compiled import BLOCK
from gough.errors import InputError, NotFiniteError, SampleError
from gough.mechanics import programs

pytestmark = impossible_bodies


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


def test_a_state_alone_is_refused_as_in_a_batch():
    _, robot, motion, wrench, _ = sample("UPS", (2,))
    robot.inverse_dynamics(motion[0], wrench[0])  # its kernel is at hand from now on
    off = motion.replace(position=motion.position + 1e3)
    for wrong, pushed in ((off, wrench), (motion, np.full((2, 6), np.nan))):
        with pytest.raises(SampleError) as of_batch:
            robot.inverse_dynamics(wrong, pushed)
        with pytest.raises(
            type(of_batch.value), match=re.escape(of_batch.value.failures[0].reason)
        ):
            robot.inverse_dynamics(wrong[0], pushed[0])
        assert np.isnan(robot.inverse_dynamics(wrong[0], pushed[0], on_error="nan").forces).all()
    with refusal(InputError, "wrench", "shape"):
        robot.inverse_dynamics(motion[0], np.zeros(5))
    with refusal(InputError, "on_error"):
        robot.inverse_dynamics(motion[0], on_error="ignore")
    assert robot.inverse_dynamics(motion[0], wrench).forces.shape == (2, 6)


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


@pytest.mark.second_tier_from(3)
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


@pytest.fixture(scope="module", params=LEG_KINDS)
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


@pytest.mark.second_tier_from(20)
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


# Threads


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
        with refusal(InputError, "threads", "positive"):
            robot.inverse_kinematics(states, threads=threads)


def test_threads_of_a_call_go_before_the_environment(many, monkeypatch):
    robot, motion, wrench = many
    crews = []
    crew = run_threads._crew
    monkeypatch.setattr(run_threads, "_crew", lambda count: crews.append(count) or crew(count))
    monkeypatch.setenv("GOUGH_THREADS", "1")
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
    assert crews == []
    for count, call in enumerate(models.values(), start=2):
        call(count)
    assert sorted({*crews}) == [*range(1, 1 + len(models))]  # and the caller
    crews.clear()
    robot.jacobian(motion)
    assert crews == []


def test_memory_of_results_is_lent_again_when_nobody_shows_it(monkeypatch):
    monkeypatch.setattr(lent, "_idle", {})
    shape = (lent.LARGE // 8, 2)
    first = lent.empty(shape)
    first[...] = 1.0
    place, part = first.ctypes.data, first[3:7, 0]
    del first
    other = lent.empty(shape)  # the part still shows the first one's memory
    other[...] = 2.0
    assert other.ctypes.data != place
    assert_array_equal(part, 1.0)
    del part
    assert lent.empty(shape).ctypes.data == place
    monkeypatch.setattr(lent, "MOST_IDLE", 0)
    del other
    assert [len(each) for each in lent._idle.values()] == [1]
    assert lent.empty((0, 3)).shape == (0, 3)
