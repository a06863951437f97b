"""The modes that `gough modes` prints and draws are those of K x = ω² m x."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

from cases.command import run
from cases.plates import TIPS, arrays, ignore_coupling, robot_with
from gough.description.modal.body import ModalBody
from gough.description.modal.npz import write_npz
from gough.show.pictures.modes import mode_sheet


def full_matrices(seed):
    """A stiffness and a damping that couple shapes, 0.02 of critical each mode by itself."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3))
    stiffness = 1e4 * (root @ root.T + 0.5 * np.eye(3))
    return stiffness, 2e-4 * stiffness


@ignore_coupling
@pytest.mark.parametrize("mixed", [False, True])
def test_frequencies_and_ratios_of_full_matrices(tmp_path, mixed):
    stiffness, damping = full_matrices(0)
    body = arrays(0, stiffness=stiffness, damping=damping, tip_positions=TIPS)
    if mixed:  # shapes that are not orthogonal: m_ee is full, too
        body["shapes"] = body["shapes"] @ (np.eye(3) + 0.3)
    write_npz(ModalBody(**body), tmp_path / "body.npz")
    robot_with({"modes": {"file": "body.npz"}}, tmp_path).save(tmp_path / "robot.toml")
    code, text, _ = run("modes", tmp_path / "robot.toml", "--json")
    assert code == 0
    rows = json.loads(text)["modes"]
    mass = np.einsum("n,nij,nik->jk", body["masses"], body["shapes"], body["shapes"])
    squares, vectors = linalg.eigh(stiffness, mass)
    rates = np.sqrt(squares)
    assert_allclose([row["frequency"] for row in rows], rates / (2 * np.pi), rtol=1e-9)
    ratios = np.diagonal(vectors.T @ damping @ vectors) / (2 * rates)
    assert_allclose([row["damping_ratio"] for row in rows], ratios, rtol=1e-9)
    assert_allclose(ratios, 1e-4 * rates, rtol=1e-9)
    code, text, _ = run("modes", tmp_path / "robot.toml")
    assert code == 0
    assert all(f"{rate / (2 * np.pi):.3f}" in text for rate in rates)
    assert "combinations" in text
    titles = [axes.get_title() for axes in mode_sheet(ModalBody(**body), "body").axes]
    for k, rate in enumerate(rates):
        assert titles[k] == f"mode {k + 1} · {rate / (2 * np.pi):.4g} Hz"


def test_uncoupled_shapes_keep_their_order_and_size(tmp_path):
    body = ModalBody(**arrays(1, stiffness=np.array([9e4, 1e4, 4e4])))
    assert_allclose(2 * np.pi * body.own_modes.frequencies, [300, 100, 200])
    assert_allclose(2 * np.pi * body.frequencies, [100, 200, 300])
    assert_allclose(body.own_modes.vectors, np.eye(3))
