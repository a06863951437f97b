"""Outlines of plates as people write them: closed on their first point, with a spike."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cases.plates import LONG_MATERIAL
from gough.description.modal.plate import plate_body
from gough.errors import InputError

NO_TIPS = np.zeros((0, 3))
SQUARE = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])


def test_a_closed_outline_is_the_open_one():
    closed = plate_body(np.vstack([SQUARE, SQUARE[:1]]), LONG_MATERIAL, NO_TIPS, 3, refinements=1)
    bare = plate_body(SQUARE, LONG_MATERIAL, NO_TIPS, 3, refinements=1)
    assert_allclose(closed.frequencies, bare.frequencies, rtol=1e-12)
    assert_allclose(bare.mass, LONG_MATERIAL.surface_density, rtol=1e-12)


@pytest.mark.parametrize("half", [1e-4, 1e-7])
def test_a_spike_is_named(half):
    spike = [[half, 0.5], [0, 1.5], [-half, 0.5]]
    outline = np.vstack([SQUARE[:3], spike, SQUARE[3:]])
    with pytest.raises(InputError, match=r"plate: the outline is too thin near \(0, 0.5\) m"):
        plate_body(outline, LONG_MATERIAL, NO_TIPS, 3)
