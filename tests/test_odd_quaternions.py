"""Quaternions of any length are rotations; their truth is Rodrigues' formula, written out."""

from __future__ import annotations

import numpy as np
import pytest

import gough

ANGLE = 0.7
ABOUT_Z = np.array(
    [[np.cos(ANGLE), -np.sin(ANGLE), 0], [np.sin(ANGLE), np.cos(ANGLE), 0], [0, 0, 1.0]]
)
QUATERNION = np.array([np.cos(ANGLE / 2), 0, 0, np.sin(ANGLE / 2)])


@pytest.mark.parametrize("length", [1e-300, 1e-170, 1.0, 1e200])
@pytest.mark.parametrize("shape", [(), (1,), (3, 1, 2), (0,)])
def test_any_length_is_the_same_rotation(length, shape):
    motion = gough.Motion([0, 0, 1.0], quaternion=np.broadcast_to(length * QUATERNION, (*shape, 4)))
    assert motion.rotation.shape == (*shape, 3, 3)
    np.testing.assert_allclose(
        motion.rotation, np.broadcast_to(ABOUT_Z, (*shape, 3, 3)), atol=1e-15
    )


def test_a_sample_without_an_answer_stays_one():
    motion = gough.Motion([0, 0, 1.0], quaternion=[QUATERNION, [np.nan, 0, 0, 1]])
    np.testing.assert_allclose(motion.rotation[0], ABOUT_Z, atol=1e-15)
    assert np.isnan(motion.rotation[1]).all()


@pytest.mark.parametrize(("row", "word"), [([0, 0, 0, 0], "zero"), ([np.inf, 0, 0, 1], "infinite")])
def test_no_direction_is_named_with_its_sample(row, word):
    with pytest.raises(gough.errors.InputError, match=f"sample 1 .*{word}"):
        gough.Motion([0, 0, 1.0], quaternion=[QUATERNION, row])
