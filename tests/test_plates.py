"""Plates: frequencies of the literature, exact integrals, any outline."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cases.plates import HEXAGON, LONG_MATERIAL, TABLE_2, TIPS, omega
from gough.description.modal.body import ModalBody
from gough.description.modal.plate import _Plate, plate_body, regular_polygon
from gough.description.modal.triangulation import signed_area, triangulate
from gough.errors import InputError

NO_TIPS = np.zeros((0, 3))


@pytest.fixture(scope="module")
def fine_plate() -> ModalBody:
    return plate_body(HEXAGON, LONG_MATERIAL, TIPS, 10, refinements=3)


def test_frequencies_of_longs_plate(long_plate, fine_plate):
    found = omega(long_plate)
    assert np.abs(found[:5] / TABLE_2[:5] - 1).max() < 0.008
    assert np.abs(found[5:7] / TABLE_2[5:] - 1).max() < 0.011
    assert_allclose(np.diagonal(long_plate.stiffness), found**2, rtol=1e-9)
    assert_allclose(np.diagonal(long_plate.damping), 2 * 0.4 * found, rtol=1e-9)
    assert np.abs(found / omega(fine_plate) - 1).max() < 1e-4


def test_few_unknowns_are_enough(fine_plate):
    plate = _Plate(*triangulate(HEXAGON), LONG_MATERIAL, TIPS, "free", False, "plate")
    small = plate.solve(2, 10)
    assert small.basis.N < 600
    assert np.abs(np.sqrt(small.squares[:10]) / omega(fine_plate) - 1).max() < 1e-3


def test_nodes_of_a_plate_integrate_exactly(long_plate):
    area = 3 * np.sqrt(3) / 2 * 0.25
    mass = 7500 * 0.015 * area
    assert_allclose(long_plate.mass, mass, rtol=1e-13)
    inertia = mass * 0.25 * 5 / 24 * np.diag([1, 1, 2])
    assert_allclose(long_plate.inertia, inertia, rtol=1e-12, atol=1e-13)
    assert_allclose(long_plate.modal_mass, np.eye(10), atol=1e-12)
    assert np.abs(long_plate.report.translation).max() < 1e-9
    assert np.abs(long_plate.report.rotation).max() < 1e-9
    assert not long_plate.shapes[:, :2].any()
    assert long_plate.positions[long_plate.faces].shape[1:] == (3, 3)


@pytest.mark.parametrize("rotary", [False, True])
def test_rotations_are_the_slopes_of_the_shapes(rotary):
    step, at = 1e-4, np.array([0.11, -0.2, 0.004])
    near = [at + step * d for d in np.vstack([np.zeros(3), np.eye(3)[:2], -np.eye(3)[:2]])]
    body = plate_body(HEXAGON, LONG_MATERIAL, near, 5, rotary_inertia=rotary, refinements=2)
    w = body.tip_shapes[:, 2]
    dx, dy = (w[1] - w[3]) / (2 * step), (w[2] - w[4]) / (2 * step)
    scale = np.abs(body.tip_rotations).max()
    assert_allclose(body.tip_rotations[0, 0], dy, atol=1e-6 * scale)
    assert_allclose(body.tip_rotations[0, 1], -dx, atol=1e-6 * scale)
    assert_allclose(body.tip_shapes[0, 0], -0.004 * dx, atol=1e-8 * scale)
    assert_allclose(body.tip_shapes[0, 1], -0.004 * dy, atol=1e-8 * scale)
    assert_array_equal(body.tip_rotations[:, 2], 0)


def test_rotary_inertia_lowers_frequencies_as_rayleigh_says(long_plate):
    body = plate_body(HEXAGON, LONG_MATERIAL, TIPS, 10, rotary_inertia=True, refinements=2)
    assert_allclose(body.modal_mass, np.eye(10), atol=1e-12)
    assert_allclose(body.mass, long_plate.mass, rtol=1e-12)
    thick = long_plate.mass * 0.015**2 / 12
    assert_allclose(body.inertia[0, 0] - long_plate.inertia[0, 0], thick, rtol=1e-9)
    slopes = np.sum(long_plate.rotations**2, axis=1)
    share = 0.015**2 / 12 * long_plate.masses @ slopes
    assert_allclose((omega(long_plate) / omega(body)) ** 2 - 1, share, rtol=0.02)


def nondimensional(body: ModalBody, length: float = 1.0) -> np.ndarray:
    """ω L² √(ρh/D), as tables have it."""
    return (
        omega(body)
        * length**2
        * np.sqrt(LONG_MATERIAL.surface_density / LONG_MATERIAL.bending_stiffness)
    )


@pytest.mark.second_tier_from(1)
def test_squares_of_the_literature():
    square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    free = nondimensional(plate_body(square, LONG_MATERIAL, NO_TIPS, 5, refinements=2))
    assert_allclose(free, [13.468, 19.596, 24.270, 34.801, 34.801], rtol=2e-3)  # ν = 0.3
    clamped = nondimensional(
        plate_body(square, LONG_MATERIAL, NO_TIPS, 4, boundary="clamped", refinements=2)
    )
    assert_allclose(clamped, [35.985, 73.394, 73.394, 108.217], rtol=1e-4)  # Leissa 1973


def test_a_pinned_plate_stays_at_its_tips():
    tips = np.array([[-0.3, -0.1, 0], [0.2, -0.3, 0], [0.1, 0.3, 0]])
    body = plate_body(HEXAGON, LONG_MATERIAL, tips, 4, boundary="pinned", refinements=1)
    assert np.abs(body.tip_shapes).max() < 1e-12
    assert np.abs(body.tip_rotations).max() > 0.1
    free = plate_body(HEXAGON, LONG_MATERIAL, tips, 4, refinements=1)
    # three constraints: each frequency lies between the free plate's three places apart
    both = np.concatenate([np.zeros(3), omega(free)])
    assert np.all(omega(body) >= both[:4] * (1 - 1e-9))
    assert np.all(omega(body) <= both[3:7] * (1 + 1e-9))


def test_modes_are_the_same_however_the_plate_is_given(long_plate):
    backwards = plate_body(HEXAGON[::-1], LONG_MATERIAL, TIPS, 10, refinements=2)
    assert_allclose(backwards.tip_shapes, long_plate.tip_shapes, atol=1e-6)
    # pairs are turned to the x axis: every mode is even or odd in y
    top = long_plate.tip_shapes[[3, 4], 2]
    low = long_plate.tip_shapes[[1, 0], 2]
    assert np.minimum(np.abs(top - low), np.abs(top + low)).max() < 1e-6
    first = [column[np.abs(column) > 0.02][0] for column in long_plate.tip_shapes[:, 2].T
             if np.abs(column).max() > 0.02]  # fmt: skip
    assert min(first) > 0


def test_any_outline_and_mesh():
    corner = np.array([[0, 0], [1, 0], [1, 0.4], [0.4, 0.4], [0.4, 1], [0, 1]])
    points, triangles = triangulate(corner)
    body = plate_body(corner, LONG_MATERIAL, NO_TIPS, 3, refinements=1)
    assert_allclose(body.mass, LONG_MATERIAL.surface_density * 0.64, rtol=1e-12)
    assert body.origin_shapes is not None
    meshed = plate_body(points, LONG_MATERIAL, NO_TIPS, 3, triangles=triangles, refinements=1)
    assert_allclose(meshed.frequencies, body.frequencies, rtol=1e-9)
    moved = plate_body(corner + np.array([3, 2]), LONG_MATERIAL, NO_TIPS, 3, refinements=1)
    assert_allclose(moved.frequencies, body.frequencies, rtol=1e-6)
    assert moved.origin_shapes is None


@pytest.mark.parametrize("sides", [3, 4, 5, 6, 7, 12, 40])
def test_triangles_fill_polygons(sides):
    outline = regular_polygon(2.0, sides)
    rng = np.random.default_rng(sides)
    star = outline * rng.uniform(0.35, 1.0, (sides, 1))
    for polygon in (outline, star):
        points, triangles = triangulate(polygon)
        a, b, c = np.moveaxis(points[triangles], 1, 0)
        u, v = b - a, c - a
        area = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]).sum() / 2
        assert_allclose(area, abs(signed_area(polygon)), rtol=1e-9)


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        ("crosses itself", {"outline": [[0, 0], [1, 1], [1, 0], [0, 1]]}),
        ("no area", {"outline": [[0, 0], [1, 0], [2, 0]]}),
        ("twice in a row", {"outline": [[0, 0], [1, 0], [1, 0], [0, 1]]}),
        ("three or more points", {"outline": [[0, 0], [1, 0]]}),
        ("tip of leg 2 at (0.6, 0) is 0.1 m outside", {"tips": [[0, 0, 0], [0.6, 0, 0]]}),
        ("tip of leg 1 is 0.02 m off the plate's mid-surface", {"tips": [[0, 0, 0.02]]}),
        ("damping_ratio has 3 values, there are 4 modes", {"damping_ratio": [0.1] * 3}),
        ("damping_ratio is negative", {"damping_ratio": -0.1}),
        ("thickness must be positive", {"material": LONG_MATERIAL._replace(thickness=0.0)}),
        ("poisson must be", {"material": LONG_MATERIAL._replace(poisson=0.6)}),
        ("boundary needs", {"boundary": "glued"}),
        ("modes must be", {"modes": -1}),
    ],
)
def test_bad_plates_say_what_is_wrong(message, changes):
    arguments = {"outline": HEXAGON, "material": LONG_MATERIAL, "tips": TIPS, "modes": 4} | changes
    with pytest.raises(InputError) as caught:
        plate_body(**arguments, refinements=0)
    assert message in str(caught.value)
