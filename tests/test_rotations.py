"""Euler angles and rotation vectors with rates, against matrix exponentials and the papers."""

from fractions import Fraction
from math import factorial, pi
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from cases.common import each_shape
from cases.errors import refusal
from gough.base.rotations import Sequence, convention, euler, euler_angles, exponential
from gough.errors import InputError

SEQUENCES = get_args(Sequence)

unit = st.floats(-1, 1, allow_subnormal=False)
triples = hnp.arrays(np.float64, (3, 3), elements=unit)


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def jet_exponential(v, vd, vdd):
    """exp(v×) to second order in time, block Toeplitz: products are products of jets."""
    x, xd, xdd, o = skew(v), skew(vd), skew(vdd) / 2, np.zeros((3, 3))
    return expm(np.block([[x, xd, xdd], [o, x, xd], [o, o, x]]))


def rates_of_jet(jet):
    """R, ω, ω̇ from R, Ṙ = ω× R and R̈ = (ω̇× + ω× ω×) R."""
    rotation, rotation_d, rotation_dd = jet[:3, :3], jet[:3, 3:6], 2 * jet[:3, 6:]
    spin = rotation_d @ rotation.T
    spin_dot = rotation_dd @ rotation.T - spin @ spin
    return rotation, *(
        np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]) / 2
        for m in (spin, spin_dot)
    )


def assert_same(got, wanted, tolerance):
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance)


@settings(max_examples=50)
@given(triples, st.sampled_from([0.0, 1e-150, 1e-8, 1e-5, 1e-3, 0.1, 1.0, 1.3, 3.0, 10.0]))
def test_exponential_is_the_matrix_exponential_and_its_derivatives(values, scale):
    v, vd, vdd = values * np.array([scale, 1.0, 1.0])[:, None]
    tolerance = 1e-13 if scale < 3 else 2e-12  # what expm reaches
    assert_same(exponential(v, vd, vdd), rates_of_jet(jet_exponential(v, vd, vdd)), tolerance)


@pytest.mark.parametrize(
    "phi", [1e-150, 1e-8, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 1.0, 1.999, 2.0, 2.001, 2.5, 3.0, 5.0]
)
def test_exponential_loses_no_digits(phi):
    """b, c and b₁ stand alone in some components: their relative errors against exact series."""
    square = Fraction(phi) ** 2
    b, c, b1 = (
        sum(
            factor * (-1) ** k * square ** (k - shift) / Fraction(factorial(2 * k + order))
            for k in range(shift, 30)
            for factor in [Fraction(2 * k) if shift else Fraction(1)]
        )
        for order, shift in ((2, 0), (3, 0), (2, 1))
    )
    _, omega, across = exponential([phi, 0, 0], [0, 1, 0])
    _, _, slanted = exponential([phi, 0, 0], [1, 1, 0])
    assert omega[2] == pytest.approx(float(b * Fraction(phi)), rel=1e-15, abs=0)
    assert across[0] == pytest.approx(float(c * Fraction(phi)), rel=1e-15, abs=0)
    assert slanted[2] == pytest.approx(float(b1 * square), rel=4e-15, abs=0)


def test_exponential_near_a_full_turn():
    """1 − cos φ is small here: taken as a difference it would lose half its digits."""
    phi = 6.2831
    omega = exponential([phi, 0, 0], [0, 1, 0])[1]
    assert omega[2] == pytest.approx(2 * np.sin(phi / 2) ** 2 / phi, rel=1e-10, abs=0)


@settings(max_examples=50)
@given(hnp.arrays(np.float64, 3, elements=st.floats(-50, 50)))
def test_exponential_is_orthogonal_and_undone_by_its_negative(vector):
    rotation = exponential(vector)[0]
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(3), atol=2e-15)
    np.testing.assert_allclose(exponential(-vector)[0], rotation.T, atol=1e-15)
    np.testing.assert_allclose(
        rotation, Rotation.from_rotvec(vector).as_matrix(), rtol=0, atol=3e-14
    )


@settings(max_examples=50)
@given(st.sampled_from(SEQUENCES), triples)
def test_euler_is_a_product_of_three_exponentials(sequence, values):
    values = values * np.array([pi, 1, 1])[:, None]
    jet = np.eye(9)
    for letter, (q, qd, qdd) in zip(sequence, values.T, strict=True):
        axis = np.eye(3)["XYZ".index(letter)]
        jet = jet @ jet_exponential(q * axis, qd * axis, qdd * axis)
    assert_same(euler(sequence, *values), rates_of_jet(jet), 1e-13)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_agrees_with_scipy(sequence):
    angles = np.random.default_rng(1).uniform(-pi, pi, (20, 3))
    expected = Rotation.from_euler(sequence, angles).as_matrix()
    np.testing.assert_allclose(euler(sequence, angles)[0], expected, atol=1e-15)


@settings(max_examples=50)
@given(triples)
def test_kim_ryu_equations_1_2_and_corrected_3(values):
    """Kim & Ryu 2002, with the second derivatives that Eq. 3 lost their dots for."""
    (psi, theta, phi), (psi_d, theta_d, phi_d), (psi_dd, theta_dd, phi_dd) = values
    cp, sp, ct, st_, cf, sf = (f(angle) for angle in (psi, theta, phi) for f in (np.cos, np.sin))
    rotation = [
        [ct * cf + sp * st_ * sf, -ct * sf + sp * st_ * cf, cp * st_],
        [cp * sf, cp * cf, -sp],
        [-st_ * cf + sp * ct * sf, st_ * sf + sp * ct * cf, cp * ct],
    ]
    omega = [
        psi_d * ct + phi_d * st_ * cp,
        theta_d - phi_d * sp,
        -psi_d * st_ + phi_d * ct * cp,
    ]
    omega_dot = [
        psi_dd * ct - theta_d * psi_d * st_ + phi_dd * st_ * cp
        - phi_d * psi_d * st_ * sp + phi_d * theta_d * ct * cp,
        theta_dd - phi_dd * sp - phi_d * psi_d * cp,
        -psi_dd * st_ - psi_d * theta_d * ct + phi_dd * ct * cp
        - phi_d * theta_d * st_ * cp - phi_d * psi_d * ct * sp,
    ]  # fmt: skip
    assert_same(euler("kim-ryu-2002", *values), (rotation, omega, omega_dot), 2e-15)


@settings(max_examples=50)
@given(triples)
def test_sinatra_equations_4_5_and_9(values):
    """Sinatra, Xi & Staicu 2009: their R takes world to platform axes."""
    angles, rates, _ = values
    (c1, c2, c3), (s1, s2, s3) = np.cos(angles), np.sin(angles)
    first = np.array([[1, 0, 0], [0, c1, s1], [0, -s1, c1]])
    second = np.array([[c2, 0, -s2], [0, 1, 0], [s2, 0, c2]])
    third = np.array([[c3, s3, 0], [-s3, c3, 0], [0, 0, 1]])
    theirs = third @ second @ first
    u1, u2, u3 = np.eye(3)
    omega = rates[0] * first.T @ u1 + rates[1] * first.T @ second.T @ u2 + rates[2] * theirs.T @ u3
    got = euler("sinatra-xi-staicu-2009", angles, rates)
    assert_same(got[:2], (theirs.T, omega), 2e-15)


@pytest.mark.parametrize("name", [*SEQUENCES, "kim-ryu-2002", "sinatra-xi-staicu-2009"])
@each_shape
def test_euler_angles_inverts_euler(name, shape):
    letters, order = convention(name)
    angles = np.random.default_rng(2).uniform(-1.5, 1.5, (*shape, 3))
    if letters[0] == letters[2]:
        angles[..., order[1]] = np.abs(angles[..., order[1]]) + 0.05
    found = euler_angles(name, euler(name, angles)[0])
    np.testing.assert_allclose(found, angles, atol=1e-13)


def test_euler_angles_where_two_axes_align():
    rotation = euler("ZYX", [0.3, pi / 2, 0.1])[0]
    with pytest.warns(UserWarning, match="Gimbal lock"):
        angles = euler_angles("ZYX", rotation)
    np.testing.assert_allclose(euler("ZYX", angles)[0], rotation, atol=1e-7)


@each_shape
def test_batches_are_single_states_side_by_side(shape):
    values = np.random.default_rng(3).normal(size=(3, *shape, 3)) * 2
    for function in (exponential, lambda *a: euler("kim-ryu-2002", *a)):
        batch = function(*values)
        assert [part.shape for part in batch] == [(*shape, 3, 3), (*shape, 3), (*shape, 3)]
        for index in np.ndindex(shape):
            single = function(*(value[index] for value in values))
            assert_same(single, [part[index] for part in batch], 1e-15)


def test_batch_axes_broadcast_and_missing_rates_are_zero():
    vector, rate = np.full((4, 1, 3), 0.3), np.arange(6.0).reshape(2, 3)
    for function in (exponential, lambda *a: euler("ZXZ", *a)):
        rotation, omega, omega_dot = function(vector, rate)
        assert rotation.shape == (4, 2, 3, 3)
        explicit = function(np.full((4, 2, 3), 0.3), np.tile(rate, (4, 1, 1)), np.zeros((4, 2, 3)))
        assert_same((rotation, omega, omega_dot), explicit, 0)
        assert not np.any(function(vector)[1])


def test_nan_stays_nan():
    rotation, omega, omega_dot = exponential([[np.nan, 0, 0], [0.1, 0, 0]], [1, 0, 0])
    assert np.isnan(rotation[0]).all()
    assert np.isnan(omega[0]).all()
    assert np.isfinite(rotation[1]).all()
    assert np.isfinite(omega_dot[1]).all()


@pytest.mark.parametrize("name", ["xyz", "XXY", "XYY", "XY", "XYZX", "ABC", "kim", "", None, 3])
def test_unknown_conventions_are_refused(name):
    with refusal(InputError, "kim-ryu-2002", "ZYX"):
        euler(name, [0, 0, 0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exponential([1, 2]), ("vector", "(2,)", "(..., 3)")),
        (lambda: exponential(1.0), ("vector", "shape")),
        (lambda: exponential([1, 2, 3], "turn"), ("rate", "array")),
        (
            lambda: exponential(np.zeros((2, 3)), acceleration=np.zeros((3, 3))),
            ("(2, 3)", "(3,)", "(3, 3)"),
        ),
        (lambda: euler("XYZ", np.zeros((3, 2))), ("angles", "(3, 2)")),
        (lambda: euler_angles("XYZ", np.eye(4)), ("rotation", "(4, 4)")),
    ],
)
def test_wrong_shapes_are_refused(call, message):
    with refusal(InputError, *message):
        call()
