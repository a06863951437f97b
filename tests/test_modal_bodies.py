"""Modal bodies: their sums over nodes, what is refused, and .npz files of them."""

import io
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cases.errors import refusal, warning
from cases.plates import arrays, ignore_coupling
from gough.description.modal.body import ModalBody
from gough.description.modal.npz import KEYS, read_npz, write_npz
from gough.errors import FileError, InputError, ModalBodyWarning


def test_sums_over_nodes_are_those_of_the_definitions():
    data = arrays(modes=4)
    body = ModalBody(**data)
    m, r, phi = data["masses"], data["positions"], data["shapes"]
    inertia = sum(m[i] * -np.linalg.matrix_power(np.cross(np.eye(3), r[i]), 2) for i in range(12))
    assert_allclose(body.inertia, inertia, rtol=1e-12, atol=1e-15)
    assert_allclose(body.center_of_mass, (m[:, None] * r).sum(0) / m.sum(), rtol=1e-12)
    mee = [[sum(m * (phi[..., j] * phi[..., k]).sum(1)) for k in range(4)] for j in range(4)]
    assert_allclose(body.modal_mass, mee, atol=1e-12)
    s = [[(m * phi[:, i, k]).sum() for k in range(4)] for i in range(3)]
    assert_allclose(body.report.translation, s, atol=1e-12)
    assert_allclose(
        body.report.rotation[:, 2], sum(m[i] * np.cross(r[i], phi[i, :, 2]) for i in range(12))
    )
    assert_allclose(body.frequencies, np.sort(np.sqrt(data["stiffness"])) / (2 * np.pi))
    assert_array_equal(body.damping, np.diag(data["damping"]))
    assert not body.shapes.flags.writeable


def test_rigid_content_is_the_part_that_a_rigid_motion_explains():
    data = arrays()
    basis = np.column_stack([np.tile(np.eye(3), (12, 1)), np.zeros((36, 3))])
    basis[:, 3:] = np.concatenate([-np.cross(np.eye(3), r).T.T for r in data["positions"]])
    root = np.sqrt(np.repeat(data["masses"], 3))
    body = ModalBody(**data)
    for k in range(3):
        y = root * data["shapes"][..., k].ravel()
        fit = np.linalg.lstsq(root[:, None] * basis, y, rcond=None)[0]
        left = np.sum((y - root * (basis @ fit)) ** 2) / np.sum(y**2)
        assert_allclose(1 - body.report.rigid_content[k], left, rtol=1e-10)


def test_no_modes_is_a_rigid_body():
    body = ModalBody(**arrays(modes=0))
    assert (body.modes, body.frequencies.shape, body.modal_mass.shape) == (0, (0,), (0, 0))
    assert body.report.rigid_content.shape == (0,)


def rigid(data: dict, k: int, add: float = 0.0) -> dict:
    shapes = data["shapes"].copy()
    motion = np.array([1.0, 2, 3]) + np.cross([0.5, -1, 2], data["positions"])
    shapes[..., k] = motion + add * shapes[..., 0]
    return {"shapes": shapes}


def nearly_dependent(d: dict) -> dict:
    """Digits that the difference of two shapes loses are those of forces: 2e-7 of them."""
    shapes = d["shapes"].copy()
    shapes[..., 1] = shapes[..., 0] + 1e-5 * shapes[..., 1]
    return {"shapes": shapes}


def dependent(data: dict) -> dict:
    shapes = data["shapes"].copy()
    shapes[..., 2] = shapes[..., 0] - 2 * shapes[..., 1]
    return {"shapes": shapes}


def spoilt(array: np.ndarray, value: float) -> np.ndarray:
    array = array.copy()
    array.flat[array.size // 2] = value
    return array


BAD = {
    "masses[6] is negative": lambda d: {"masses": spoilt(d["masses"], -1.0)},
    "is nan": lambda d: {"tip_shapes": spoilt(d["tip_shapes"], np.nan)},
    "is inf": lambda d: {"positions": spoilt(d["positions"], np.inf)},
    "mode 2 is a rigid-body motion": lambda d: rigid(d, 1),
    "modes 1, 2 together make a rigid-body motion": lambda d: rigid(d, 1, 1.0),
    "modes 1, 2, 3 are linearly dependent": dependent,
    "modes 1, 2 are linearly dependent": nearly_dependent,
    "stiffness of mode 2 is negative": lambda d: {"stiffness": spoilt(d["stiffness"], -5.0)},
    "stiffness has a negative eigenvalue": lambda d: {"stiffness": np.ones((3, 3)) * 2 - np.eye(3)},
    "stiffness is not symmetric": lambda d: {"stiffness": np.tri(3)},
    "stiffness has shape (2,), needs (3, 3)": lambda d: {"stiffness": np.ones(2)},
    "positions has shape (11, 3)": lambda d: {"positions": d["positions"][1:]},
    "tip_shapes has shape (5, 3, 3)": lambda d: {"tip_shapes": d["tip_shapes"][1:]},
    "rotations has shape": lambda d: {"rotations": d["shapes"][1:]},
    "shapes needs (nodes, 3, modes)": lambda d: {"shapes": d["shapes"][:, :2]},
    "moves no mass": lambda d: {"shapes": d["shapes"] * [1, 0, 1]},
    "is not an array of real numbers": lambda d: {"masses": ["heavy"] * 12},
    "the 12 nodes count from 0": lambda d: {"faces": np.array([[0, 1, 12]])},
    "faces needs whole numbers": lambda d: {"faces": np.array([[0.0, 1, 2]])},
}


@ignore_coupling
@pytest.mark.parametrize("message", BAD)
def test_bad_bodies_are_refused_with_the_fact(message, tmp_path):
    data = arrays()
    data |= BAD[message](data)
    with pytest.raises(InputError) as caught:
        ModalBody(**data, name="arm")
    assert str(caught.value).startswith("arm: ")
    assert message in str(caught.value)
    if data["masses"] is not None and np.asarray(data["masses"]).dtype.kind == "f":
        np.savez(tmp_path / "bad.npz", **data)
        with refusal(FileError, "bad.npz") as caught:
            read_npz(tmp_path / "bad.npz")
        assert message in str(caught.value)


def test_what_is_odd_is_a_warning(long_plate):
    data = arrays()
    mix = np.array([[1, 0.1, 0], [0, 1, 0], [0, 0, 1]])
    for stiffness in (data["stiffness"], mix.T @ np.diag(data["stiffness"]) @ mix):
        with warning(ModalBodyWarning, "m_ee", 1, 2):
            ModalBody(**data | {"shapes": data["shapes"] @ mix, "stiffness": stiffness})
    with pytest.warns(ModalBodyWarning):
        ModalBody(**data | {"damping": -data["damping"]})
    with pytest.warns(ModalBodyWarning):
        ModalBody(**data | {"damping": np.eye(3) + np.tri(3, k=-1)})
    plate = {key: getattr(long_plate, key) for key in KEYS}
    for factor in (1000, 1e-3):
        with pytest.warns(ModalBodyWarning):
            ModalBody(**plate | {"masses": factor * long_plate.masses})
        rescaled = data["shapes"] * [1.0, 2.0, 3.0]  # not mass-normalised: the density tells
        with pytest.warns(ModalBodyWarning):
            ModalBody(**data | {"masses": factor * data["masses"], "shapes": rescaled})


@pytest.mark.parametrize("modes", [0, 1, 3])
def test_npz_round_trip(tmp_path, modes):
    rng = np.random.default_rng(modes)
    more = {
        "rotations": rng.normal(size=(12, 3, modes)),
        "tip_rotations": rng.normal(size=(6, 3, modes)),
        "origin_shapes": rng.normal(size=(3, modes)),
        "faces": np.array([[0, 1, 2], [2, 3, 4]]),
    }
    body = ModalBody(**arrays(modes=modes), **more)
    write_npz(body, tmp_path / "body.npz")
    again = read_npz(tmp_path / "body.npz")
    assert again.origin_rotations is None
    for key in KEYS:
        if key != "origin_rotations":
            assert_array_equal(getattr(again, key), getattr(body, key), strict=True)


def member(name: str, header: str, data: bytes) -> bytes:
    """An .npz with one array of our own making."""
    text = header.encode().ljust(117) + b"\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        start = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little")
        archive.writestr(f"{name}.npy", start + text + data)
    return packed.getvalue()


def saved(**data) -> bytes:
    packed = io.BytesIO()
    np.savez(packed, **data)
    return packed.getvalue()


HUGE = "{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999,)}"
HOSTILE = {
    "not a whole .npz": lambda: b"PK\x03\x04 nonsense",
    "holds pickled objects": lambda: saved(positions=np.array([{}, []], dtype=object)),
    "needs real numbers": lambda: saved(masses=np.array(["a", "b"])),
    "says shape (999999999999,)": lambda: member("masses", HUGE, b"12345678"),
    "is not a NumPy array": lambda: member("masses", "__import__('os').abort()", b""),
    "no array 'damping'": lambda: saved(**{k: v for k, v in arrays().items() if k != "damping"}),
}


@pytest.mark.parametrize("message", HOSTILE)
def test_hostile_npz_files_are_refused(tmp_path, message):
    (tmp_path / "body.npz").write_bytes(HOSTILE[message]())
    with refusal(FileError, "body.npz") as caught:
        read_npz(tmp_path / "body.npz")
    assert message in str(caught.value)


def test_a_truncated_npz_is_refused_wherever_it_ends(tmp_path):
    whole = saved(**arrays())
    for part in np.linspace(0, 0.999, 23):
        (tmp_path / "cut.npz").write_bytes(whole[: int(part * len(whole))])
        with refusal(FileError, "cut.npz"):
            read_npz(tmp_path / "cut.npz")
    damaged = bytearray(whole)
    damaged[len(whole) // 3] ^= 255
    (tmp_path / "cut.npz").write_bytes(damaged)
    with refusal(FileError, "cut.npz"):
        read_npz(tmp_path / "cut.npz")


def test_unknown_arrays_are_named(tmp_path):
    np.savez(tmp_path / "body.npz", **arrays(), tip_rotation=np.zeros((6, 3, 3)))
    with warning(ModalBodyWarning, "tip_rotation", "tip_rotations"):
        assert read_npz(tmp_path / "body.npz").tip_rotations is None
