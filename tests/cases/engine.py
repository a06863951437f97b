"""Robots and motions on which engines are compared, and how."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from cases.common import LEG_KINDS, numbers_of
from cases.robots import run_by
from gough import Motion, Robot
from oracles.random_robot import random_motion, random_robot

FIELDS = ("position", "rotation", "velocity", "angular_velocity")
FIELDS += ("acceleration", "angular_acceleration")
KINEMATICS = ("inverse_kinematics", "jacobian", "condition_number")
WITH_WRENCH = ("inverse_dynamics", "reactions", "direct_dynamics", "contributions")
MODELS = (*KINEMATICS, *WITH_WRENCH, "mass_matrix", "bias", "energy")
each_model = pytest.mark.parametrize("name", MODELS)


def by_numpy(data):
    """A robot whose programs run on NumPy."""
    return run_by("numpy", Robot.from_dict(data))


def sample(kind, shape=(), seed=0, legs=6, **options):
    """A random robot's dictionary, the robot, a motion of it, wrenches and forces."""
    rng = np.random.default_rng([seed, LEG_KINDS.index(kind), legs])
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
    return numbers_of(robot, name, found)


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
