"""Motion: shapes, broadcasting, indexing as NumPy does, joining, and refusal of what is no pose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.transform import Rotation

from cases.common import each_shape, repeatable
from cases.errors import refusal
from gough import Motion
from gough.errors import InputError

VECTORS = ("position", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
ELASTIC = ("elastic", "elastic_velocity", "elastic_acceleration")
CORES = dict.fromkeys(VECTORS, (3,)) | dict.fromkeys(ELASTIC, (2,)) | {"rotation": (3, 3)}
CORES |= {"time": ()}
tried = settings(repeatable, max_examples=60)


def rotations(shape):
    """Random rotation matrices (*shape, 3, 3)."""
    vectors = np.random.default_rng(1).normal(size=(*shape, 3))
    return Rotation.from_rotvec(vectors.reshape(-1, 3)).as_matrix().reshape(*shape, 3, 3)


def random_fields(shape):
    """Every field of a motion of this batch shape, no two numbers alike."""
    rng = np.random.default_rng(0)
    fields = {name: rng.normal(size=shape + core) for name, core in CORES.items()}
    return fields | {"rotation": rotations(shape)}


def assert_fields(motion, fields):
    for name, value in fields.items():
        np.testing.assert_array_equal(getattr(motion, name), value, err_msg=name)


@each_shape
def test_fields_come_back_as_given(shape):
    fields = random_fields(shape)
    motion = Motion(**fields)
    assert motion.shape == shape
    assert motion.modes == 2
    assert_fields(motion, fields)


@each_shape
def test_what_is_left_out_is_zero(shape):
    position = np.ones((*shape, 3))
    motion = Motion(position)
    assert motion.shape == shape
    assert motion.time is None
    assert motion.modes == 0
    np.testing.assert_array_equal(motion.rotation, np.broadcast_to(np.eye(3), (*shape, 3, 3)))
    for name in VECTORS[1:]:
        np.testing.assert_array_equal(getattr(motion, name), 0 * position)
    for name in ELASTIC:
        assert getattr(motion, name).shape == (*shape, 0)


def test_a_missing_elastic_field_takes_the_others_length():
    motion = Motion(np.zeros((4, 3)), elastic_velocity=np.ones(5))
    np.testing.assert_array_equal(motion.elastic, np.zeros((4, 5)))
    np.testing.assert_array_equal(motion.elastic_velocity, np.ones((4, 5)))


@tried
@given(hnp.mutually_broadcastable_shapes(num_shapes=len(CORES), max_dims=3, max_side=3))
def test_fields_broadcast(shapes):
    fields = {
        name: rotations(shape) if name == "rotation" else random_fields(shape)[name]
        for name, shape in zip(CORES, shapes.input_shapes, strict=True)
    }
    motion = Motion(**fields)
    assert motion.shape == shapes.result_shape
    broadcast = {
        name: np.broadcast_to(value, motion.shape + CORES[name]) for name, value in fields.items()
    }
    assert_fields(motion, broadcast)


def samples_of(index, shape):
    """Flat numbers of the samples that an index picks, in NumPy's arrangement."""
    return np.arange(np.prod(shape, dtype=int)).reshape(shape)[index]


def assert_indexed(index, shape):
    fields = random_fields(shape)
    picked = Motion(**fields)[index]
    places = samples_of(index, shape)
    assert picked.shape == places.shape
    flat = {name: value.reshape(-1, *CORES[name])[places] for name, value in fields.items()}
    assert_fields(picked, flat)


@tried
@given(hnp.basic_indices((4, 1, 3), allow_newaxis=True, allow_ellipsis=True))
def test_basic_indexing_is_numpys(index):
    assert_indexed(index, (4, 1, 3))


@tried
@given(hnp.integer_array_indices((4, 2, 3), result_shape=hnp.array_shapes(max_dims=2, max_side=3)))
def test_integer_arrays_index_as_in_numpy(index):
    assert_indexed(index, (4, 2, 3))


MASK = np.array([True, False, True, True])
INDICES = [
    2,
    -1,
    [0, 2],
    slice(None, None, -2),
    slice(2, 2),
    MASK,
    ~MASK & MASK,
    np.arange(24).reshape(4, 2, 3) % 5 == 0,
    (MASK, 1),
    (MASK, slice(None), 0),
    (MASK, ..., [0, 1, 2]),
    (..., [2, 0], None),
    (slice(None), [1, 0], slice(1, None)),
    ([[0], [3]], [0, 1]),
    (None, 1, ..., None, 2),
    np.int64(3),
    (),
    ...,
    None,
]


@pytest.mark.parametrize("index", INDICES, ids=lambda index: repr(index)[:40])
def test_indexing_is_numpys(index):
    assert_indexed(index, (4, 2, 3))


def test_a_single_state_takes_the_indices_of_a_scalar():
    motion = Motion(**random_fields(()))
    assert motion[...].shape == ()
    assert motion[None].shape == (1,)
    np.testing.assert_array_equal(motion[None].rotation[0], motion.rotation)
    with pytest.raises(IndexError, match=r"batch shape \(\)"):
        motion[0]


@pytest.mark.parametrize("index", [4, (0, 0, 0, 0), (..., 3), np.ones(3, dtype=bool), "position"])
def test_indices_out_of_the_batch_are_refused(index):
    motion = Motion(**random_fields((4, 2, 3)))
    with pytest.raises(IndexError, match=r"motion of batch shape \(4, 2, 3\)"):
        motion[index]


def test_iteration_and_length():
    fields = random_fields((4, 2))
    motion = Motion(**fields)
    assert len(motion) == 4
    states = list(motion)
    assert len(states) == 4
    assert_fields(states[3], {name: value[3] for name, value in fields.items()})
    with pytest.raises(TypeError):
        len(motion[0, 0])


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_stack_joins_along_a_new_axis(axis):
    fields = random_fields((4, 2))
    other = {name: value[::-1] for name, value in fields.items()}
    motion = Motion.stack([Motion(**fields), Motion(**other)], axis)
    place = axis % 3
    assert motion.shape == tuple(np.insert([4, 2], place, 2))
    for which, given_fields in enumerate((fields, other)):
        index = (slice(None),) * place + (which,)
        assert_fields(motion[index], given_fields)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concatenate_joins_along_an_axis(axis):
    fields = random_fields((4, 2))
    whole = Motion(**fields)
    parts = [whole[:1], whole[1:]] if axis == 0 else [whole[:, :1], whole[:, 1:]]
    assert_fields(Motion.concatenate(parts, axis), fields)


def test_motions_that_do_not_fit_are_not_joined():
    timed, plain = Motion(np.zeros((2, 3)), time=[0.0, 1.0]), Motion(np.zeros((2, 3)))
    with refusal(InputError, "time"):
        Motion.stack([timed, plain])
    with refusal(InputError, "join"):
        Motion.stack([plain, plain[:1]])
    with refusal(InputError, "join"):
        Motion.concatenate([plain, Motion(np.zeros((2, 3)), elastic=np.zeros(4))])
    with refusal(InputError, "motions"):
        Motion.stack([])
    with refusal(InputError, 2):
        Motion.stack([plain, plain], axis=2)
    with refusal(InputError, 0):
        Motion.concatenate([plain[0], plain[1]])


def test_reshape_keeps_the_samples():
    fields = random_fields((4, 3))
    motion = Motion(**fields).reshape(2, -1)
    assert motion.shape == (2, 6)
    assert_fields(motion, {name: v.reshape(2, 6, *CORES[name]) for name, v in fields.items()})
    with refusal(InputError, "reshape"):
        motion.reshape(5, -1)


def test_replace_gives_elastic_coordinates_to_a_motion_without():
    bare = Motion(np.zeros((4, 3)), velocity=[1.0, 2.0, 3.0])
    motion = bare.replace(elastic=np.ones(5))
    assert motion.modes == 5
    assert motion.shape == (4,)
    np.testing.assert_array_equal(motion.elastic_velocity, np.zeros((4, 5)))
    np.testing.assert_array_equal(motion.velocity, bare.velocity)
    assert bare.replace(time=np.arange(4.0)).modes == 0
    with refusal(InputError, "differ", "their"):
        motion.replace(elastic=np.ones(4))


def test_replace_changes_only_what_it_names():
    fields = random_fields((4,))
    motion = Motion(**fields).replace(velocity=np.zeros(3))
    assert_fields(motion, fields | {"velocity": np.zeros((4, 3))})
    with refusal(InputError, "speed"):
        motion.replace(speed=1.0)
    with refusal(InputError, "orthogonal"):
        motion.replace(rotation=2 * np.eye(3))


def test_from_samples_goes_through_them_with_the_rates_of_the_path():
    t = np.linspace(2.0, 3.0, 201)
    position = np.stack([np.sin(t), t**2, np.exp(-t)], axis=-1)
    turn = Rotation.from_rotvec(np.outer(np.sin(t), [0.6, 0.0, 0.8]))
    motion = Motion.from_samples(t, position, turn)
    assert motion.shape == (201,)
    np.testing.assert_array_equal(motion.time, t)
    np.testing.assert_allclose(motion.position, position, atol=1e-13)
    np.testing.assert_allclose(motion.rotation, turn.as_matrix(), atol=1e-13)
    velocity = np.stack([np.cos(t), 2 * t, -np.exp(-t)], axis=-1)
    acceleration = np.stack([-np.sin(t), 2 + 0 * t, np.exp(-t)], axis=-1)
    np.testing.assert_allclose(motion.velocity, velocity, atol=1e-8)
    np.testing.assert_allclose(motion.acceleration, acceleration, atol=1e-5)
    axis = np.array([0.6, 0.0, 0.8])
    np.testing.assert_allclose(motion.angular_velocity, np.outer(np.cos(t), axis), atol=1e-8)
    np.testing.assert_allclose(motion.angular_acceleration, np.outer(-np.sin(t), axis), atol=1e-5)


@pytest.mark.parametrize(
    ("times", "positions"),
    [
        ([0.0], [[0, 0, 0]]), ([0.0, 0.0], np.zeros((2, 3))), ([0.0, 1.0], np.zeros((3, 3))),
        ([0.0, 1e-300, 1e-10], np.zeros((3, 3))), ([-1e50, 0.0, 1.0], np.zeros((3, 3))),
        ([0.0, 1e40], np.zeros((2, 3))), ([0.0, 1.0], [[1e300, 0, 0], [0, 0, 0]]),
    ],
)  # fmt: skip
def test_samples_that_are_no_path_are_refused(times, positions):
    with pytest.raises(InputError):
        Motion.from_samples(times, positions)


@pytest.mark.parametrize("name", [*VECTORS, "rotation"])
@pytest.mark.parametrize(
    "value", [0.0, np.zeros(4), np.zeros((2, 3, 2)), [[1.0], [1.0, 2.0]], "abc"], ids=repr
)
def test_a_wrong_shape_names_the_field(name, value):
    with pytest.raises(InputError, match=name):
        Motion(**{"position": np.zeros(3), name: value})


@pytest.mark.parametrize("name", ELASTIC)
@pytest.mark.parametrize("value", [0.0, [[1.0], [1.0, 2.0]], "abc"], ids=repr)
def test_a_wrong_elastic_field_is_named(name, value):
    with pytest.raises(InputError, match=name):
        Motion(np.zeros(3), **{name: value})


def test_elastic_fields_agree_in_their_number_of_modes():
    with refusal(InputError, "elastic", "elastic_velocity", "(2,)", "(3,)"):
        Motion(np.zeros(3), elastic=np.zeros(2), elastic_velocity=np.zeros(3))


def test_batches_that_do_not_broadcast_are_named():
    with refusal(InputError, "position", "velocity", "(4,)", "(3,)"):
        Motion(np.zeros((4, 3)), velocity=np.zeros((3, 3)))


def test_what_is_no_rotation_is_refused():
    good = rotations((5,))
    for change in (1e-6 * np.eye(3), 1e-8 * np.ones((3, 3)), np.full((3, 3), np.inf)):
        bad = good.copy()
        bad[3] += change
        with refusal(InputError, "(3,)", 1e-09):
            Motion(np.zeros(3), bad)
    mirrored = good.copy()
    mirrored[2, :, 0] *= -1
    with refusal(InputError, "(2,)"):
        Motion(np.zeros(3), mirrored)
    with refusal(InputError, "orthogonal"):
        Motion(np.zeros(3), 1e200 * np.eye(3))


def test_rounding_does_not_make_a_rotation_bad():
    R = rotations(())
    scaled = R * (1 + 1e-10)
    np.testing.assert_array_equal(Motion(np.zeros(3), scaled).rotation, scaled)


@pytest.mark.parametrize("name", CORES)
def test_nan_is_a_sample_without_an_answer(name):
    fields = random_fields((3,))
    fields[name][1] = np.nan
    motion = Motion(**fields)
    assert_fields(motion, fields)
    assert np.isnan(getattr(motion, name)[1]).all()


def test_scipy_rotations_are_taken():
    one = Rotation.from_rotvec([0.1, 0.2, 0.3])
    np.testing.assert_array_equal(Motion(np.zeros(3), one).rotation, one.as_matrix())
    several = Rotation.from_rotvec(np.random.default_rng(0).normal(size=(4, 3)))
    motion = Motion(np.zeros(3), several)
    assert motion.shape == (4,)
    np.testing.assert_array_equal(motion.rotation, several.as_matrix())


def test_arrays_are_copies_that_cannot_be_written():
    position = np.zeros((2, 3))
    motion = Motion(position, velocity=np.ones(3))
    position[:] = 7
    np.testing.assert_array_equal(motion.position, 0)
    for each in (motion, motion[[1, 0]], motion.reshape(1, 2)):
        for name in (*VECTORS, "rotation"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(each, name)[...] = 1.0


@each_shape
def test_repr_tells_the_shape(shape):
    assert repr(shape) in repr(Motion(np.zeros((*shape, 3))))


@tried
@given(st.floats(allow_nan=True, allow_infinity=True), st.integers(0, 2))
def test_any_number_may_be_held(number, place):
    position = np.zeros(3)
    position[place] = number
    np.testing.assert_array_equal(Motion(position).position, position)
