"""Where flexible platforms come from: arrays, plates (Table 2, literature), CalculiX, Nastran."""

import io
import json
import shutil
import subprocess
import warnings
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gough
from gough.cli import app as cli
from gough.description.modal.body import ModalBody
from gough.description.modal.calculix import read_calculix
from gough.description.modal.elements import FAMILIES, Solid, mass_points, nodal_rotations, skin
from gough.description.modal.meshed import Selection
from gough.description.modal.nastran import read_nastran
from gough.description.modal.npz import KEYS, read_npz, write_npz
from gough.description.modal.plate import Material, _Plate, plate_body, regular_polygon
from gough.description.modal.triangulation import signed_area, triangulate
from gough.errors import FileError, GoughError, InputError, ModalBodyWarning
from gough.show import plots
from gough.show.pictures.modes import mode_sheet
from gough.show.reproduction import load_paper
from nastran_files import write_bdf, write_op2

LONG = Material(thickness=0.015, density=7500.0, young=2e10, poisson=0.3)
HEXAGON = regular_polygon(0.5, 6)
TIPS = np.column_stack([np.roll(HEXAGON, 2, axis=0), np.zeros(6)])
TABLE_2 = np.array(  # Long, Khalil & Martinet 2014, rad/s
    [188.7473, 188.7475, 315.7169, 401.0187, 474.7468, 709.5586, 709.5814]
)
NO_TIPS = np.zeros((0, 3))
ignore_coupling = pytest.mark.filterwarnings("ignore:.*not orthogonal")


@pytest.fixture(scope="module")
def long_plate() -> ModalBody:
    return plate_body(HEXAGON, LONG, TIPS, 10, damping_ratio=0.4)


@pytest.fixture(scope="module")
def fine_plate() -> ModalBody:
    return plate_body(HEXAGON, LONG, TIPS, 10, refinements=3)


def omega(body: ModalBody) -> np.ndarray:
    return 2 * np.pi * body.frequencies


def arrays(seed: int = 0, nodes: int = 12, modes: int = 3, **changes) -> dict:
    """A general body, 3-D, with orthogonal shapes that have rigid-body content."""
    rng = np.random.default_rng(seed)
    masses = rng.uniform(0.5, 2.0, nodes)
    root = np.sqrt(masses)[:, None, None]
    columns = np.linalg.qr(rng.normal(size=(3 * nodes, modes)))[0]
    return {
        "positions": rng.uniform(-0.3, 0.3, (nodes, 3)),
        "masses": masses,
        "shapes": columns.reshape(nodes, 3, modes) / root,
        "stiffness": rng.uniform(1e3, 1e5, modes),
        "damping": rng.uniform(1, 10, modes),
        "tip_positions": rng.normal(size=(6, 3)),
        "tip_shapes": rng.normal(size=(6, 3, modes)),
    } | changes


# ---- bodies ------------------------------------------------------------------------------------


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
        with pytest.raises(FileError, match=r"bad\.npz: ") as caught:
            read_npz(tmp_path / "bad.npz")
        assert message in str(caught.value)


def test_what_is_odd_is_a_warning(long_plate):
    data = arrays()
    mix = np.array([[1, 0.1, 0], [0, 1, 0], [0, 0, 1]])
    for stiffness in (data["stiffness"], mix.T @ np.diag(data["stiffness"]) @ mix):
        with pytest.warns(ModalBodyWarning, match="not orthogonal: m_ee couples modes 1 and 2"):
            ModalBody(**data | {"shapes": data["shapes"] @ mix, "stiffness": stiffness})
    with pytest.warns(ModalBodyWarning, match="feeds energy in"):
        ModalBody(**data | {"damping": -data["damping"]})
    with pytest.warns(ModalBodyWarning, match="not symmetric"):
        ModalBody(**data | {"damping": np.eye(3) + np.tri(3, k=-1)})
    plate = {key: getattr(long_plate, key) for key in KEYS}
    for factor in (1000, 1e-3):
        with pytest.warns(ModalBodyWarning, match="every modal mass is 1e"):
            ModalBody(**plate | {"masses": factor * long_plate.masses})
        rescaled = data["shapes"] * [1.0, 2.0, 3.0]  # not mass-normalised: the density tells
        with pytest.warns(ModalBodyWarning, match="implausible"):
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
    with pytest.raises(FileError, match=r"body\.npz: ") as caught:
        read_npz(tmp_path / "body.npz")
    assert message in str(caught.value)


def test_a_truncated_npz_is_refused_wherever_it_ends(tmp_path):
    whole = saved(**arrays())
    for part in np.linspace(0, 0.999, 23):
        (tmp_path / "cut.npz").write_bytes(whole[: int(part * len(whole))])
        with pytest.raises(FileError, match=r"cut\.npz: "):
            read_npz(tmp_path / "cut.npz")
    damaged = bytearray(whole)
    damaged[len(whole) // 3] ^= 255
    (tmp_path / "cut.npz").write_bytes(damaged)
    with pytest.raises(FileError, match=r"cut\.npz: "):
        read_npz(tmp_path / "cut.npz")


def test_unknown_arrays_are_named(tmp_path):
    np.savez(tmp_path / "body.npz", **arrays(), tip_rotation=np.zeros((6, 3, 3)))
    with pytest.warns(ModalBodyWarning, match="'tip_rotation' is not known.*'tip_rotations'"):
        assert read_npz(tmp_path / "body.npz").tip_rotations is None


# ---- plates ------------------------------------------------------------------------------------


def test_frequencies_of_longs_plate(long_plate, fine_plate):
    found = omega(long_plate)
    assert np.abs(found[:5] / TABLE_2[:5] - 1).max() < 0.008
    assert np.abs(found[5:7] / TABLE_2[5:] - 1).max() < 0.011
    assert_allclose(np.diagonal(long_plate.stiffness), found**2, rtol=1e-9)
    assert_allclose(np.diagonal(long_plate.damping), 2 * 0.4 * found, rtol=1e-9)
    assert np.abs(found / omega(fine_plate) - 1).max() < 1e-4


def test_few_unknowns_are_enough(fine_plate):
    plate = _Plate(*triangulate(HEXAGON), LONG, TIPS, "free", False, "plate")
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
    body = plate_body(HEXAGON, LONG, near, 5, rotary_inertia=rotary, refinements=2)
    w = body.tip_shapes[:, 2]
    dx, dy = (w[1] - w[3]) / (2 * step), (w[2] - w[4]) / (2 * step)
    scale = np.abs(body.tip_rotations).max()
    assert_allclose(body.tip_rotations[0, 0], dy, atol=1e-6 * scale)
    assert_allclose(body.tip_rotations[0, 1], -dx, atol=1e-6 * scale)
    assert_allclose(body.tip_shapes[0, 0], -0.004 * dx, atol=1e-8 * scale)
    assert_allclose(body.tip_shapes[0, 1], -0.004 * dy, atol=1e-8 * scale)
    assert_array_equal(body.tip_rotations[:, 2], 0)


def test_rotary_inertia_lowers_frequencies_as_rayleigh_says(long_plate):
    body = plate_body(HEXAGON, LONG, TIPS, 10, rotary_inertia=True, refinements=2)
    assert_allclose(body.modal_mass, np.eye(10), atol=1e-12)
    assert_allclose(body.mass, long_plate.mass, rtol=1e-12)
    thick = long_plate.mass * 0.015**2 / 12
    assert_allclose(body.inertia[0, 0] - long_plate.inertia[0, 0], thick, rtol=1e-9)
    slopes = np.sum(long_plate.rotations**2, axis=1)
    share = 0.015**2 / 12 * long_plate.masses @ slopes
    assert_allclose((omega(long_plate) / omega(body)) ** 2 - 1, share, rtol=0.02)


def nondimensional(body: ModalBody, length: float = 1.0) -> np.ndarray:
    """ω L² √(ρh/D), as tables have it."""
    return omega(body) * length**2 * np.sqrt(LONG.surface_density / LONG.bending_stiffness)


def test_squares_of_the_literature():
    square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    free = nondimensional(plate_body(square, LONG, NO_TIPS, 5, refinements=2))
    assert_allclose(free, [13.468, 19.596, 24.270, 34.801, 34.801], rtol=2e-3)  # ν = 0.3
    clamped = nondimensional(
        plate_body(square, LONG, NO_TIPS, 4, boundary="clamped", refinements=2)
    )
    assert_allclose(clamped, [35.985, 73.394, 73.394, 108.217], rtol=1e-4)  # Leissa 1973


def test_a_pinned_plate_stays_at_its_tips():
    tips = np.array([[-0.3, -0.1, 0], [0.2, -0.3, 0], [0.1, 0.3, 0]])
    body = plate_body(HEXAGON, LONG, tips, 4, boundary="pinned", refinements=1)
    assert np.abs(body.tip_shapes).max() < 1e-12
    assert np.abs(body.tip_rotations).max() > 0.1
    free = plate_body(HEXAGON, LONG, tips, 4, refinements=1)
    # three constraints: each frequency lies between the free plate's three places apart
    both = np.concatenate([np.zeros(3), omega(free)])
    assert np.all(omega(body) >= both[:4] * (1 - 1e-9))
    assert np.all(omega(body) <= both[3:7] * (1 + 1e-9))


def test_modes_are_the_same_however_the_plate_is_given(long_plate):
    backwards = plate_body(HEXAGON[::-1], LONG, TIPS, 10, refinements=2)
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
    body = plate_body(corner, LONG, NO_TIPS, 3, refinements=1)
    assert_allclose(body.mass, LONG.surface_density * 0.64, rtol=1e-12)
    assert body.origin_shapes is not None
    meshed = plate_body(points, LONG, NO_TIPS, 3, triangles=triangles, refinements=1)
    assert_allclose(meshed.frequencies, body.frequencies, rtol=1e-9)
    moved = plate_body(corner + np.array([3, 2]), LONG, NO_TIPS, 3, refinements=1)
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
        ("thickness must be positive", {"material": LONG._replace(thickness=0.0)}),
        ("poisson must be", {"material": LONG._replace(poisson=0.6)}),
        ("boundary needs", {"boundary": "glued"}),
        ("modes must be", {"modes": -1}),
    ],
)
def test_bad_plates_say_what_is_wrong(message, changes):
    arguments = {"outline": HEXAGON, "material": LONG, "tips": TIPS, "modes": 4} | changes
    with pytest.raises(InputError) as caught:
        plate_body(**arguments, refinements=0)
    assert message in str(caught.value)


# ---- robot files -------------------------------------------------------------------------------


PLATE = {"radius": 0.5, "sides": 6, "thickness": 0.015, "density": 7500, "young": 2e10, "modes": 4}


SHORT = {key: value for key, value in PLATE.items() if key != "young"}


def robot_with(platform: dict, folder=None) -> gough.Robot:
    angles = np.array([10, 50, 130, 170, 250, 290]) * np.pi / 180  # in pairs: no regular hexagon
    base = 0.9 * np.column_stack([np.cos(angles), np.sin(angles)])
    return gough.Robot.from_dict(
        {
            "format": 1,
            "name": "bending",
            "home": {"position": [0, 0, 1.0]},
            "legs": {
                "kind": "UPS",
                "base": np.column_stack([base, np.zeros(6)]),
                "platform": TIPS,
            },
            "platform": platform,
        },
        folder,
    )


def test_a_plate_in_a_robot_file(tmp_path):
    robot = robot_with({"plate": PLATE | {"damping_ratio": [0.1, 0.2, 0.3, 0.4]}})
    body = robot.description.modal
    assert_allclose(omega(body)[:3] / TABLE_2[:3], 1, atol=0.008)
    assert_allclose(np.diagonal(body.damping) / (2 * omega(body)), [0.1, 0.2, 0.3, 0.4])
    assert robot.description.platform.mass.item() == body.mass
    assert_array_equal(robot.description.platform.inertia[..., 0, 0], body.inertia)
    assert robot.description.platform.first_moment.shape == (3, 1, 1)
    thicker = robot.edited({"platform.plate.thickness": 0.03, "platform.plate.damping_ratio": 0})
    assert_allclose(thicker.description.modal.frequencies, 2 * body.frequencies, rtol=1e-9)
    robot.save(tmp_path / "plate.toml")
    assert_array_equal(gough.load(tmp_path / "plate.toml").description.modal.shapes, body.shapes)
    assert gough.load("kim-ryu-2002").description.modal is None


def test_an_npz_in_a_robot_file(tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    body = ModalBody(**arrays(tip_positions=TIPS))
    write_npz(body, tmp_path / "body.npz")
    robot = robot_with({"modes": {"file": "body.npz"}}, tmp_path)
    assert_array_equal(robot.description.modal.shapes, body.shapes)
    assert robot.edited({"gravity": [0, 0, 0]}).description.modal.modes == 3
    for place in (tmp_path / "robot.toml", tmp_path / "deep" / "robot.toml"):
        robot.save(place)
        assert gough.load(place).description.modal.mass == body.mass
    monkeypatch.chdir(tmp_path)
    assert robot_with({"modes": {"file": "body.npz"}}).description.modal.modes == 3
    absolute = robot_with({"modes": {"file": str(tmp_path / "body.npz")}}, "/")
    assert absolute.description.modal.modes == 3


def test_bad_flexible_platforms_say_what_is_wrong(tmp_path):
    moved = TIPS.copy()
    moved[2, 1] += 2e-9
    write_npz(ModalBody(**arrays(tip_positions=moved)), tmp_path / "moved.npz")
    write_npz(ModalBody(**arrays(tip_positions=TIPS[:5], tip_shapes=np.zeros((5, 3, 3)))),
              tmp_path / "five.npz")  # fmt: skip
    for message, platform in {
        "has mass as well as plate": {"mass": 3.0, "plate": PLATE},
        "has payload as well as modes": {"payload": [{"mass": 1.0}], "modes": {"file": "a.npz"}},
        "has both plate and modes": {"plate": PLATE, "modes": {"file": "a.npz"}},
        "unknown key platform.plate.radios; the nearest known key is radius": {
            "plate": PLATE | {"radios": 1}
        },
        "missing key platform.plate.young": {"plate": SHORT},
        "needs either radius and sides, or outline": {"plate": PLATE | {"sides": None}},
        "has radius as well as an outline": {
            "plate": PLATE | {"outline": [[0, 0], [1, 0], [0, 1]]}
        },
        "tip of leg 1 at (-0.25, -0.433013) is": {"plate": PLATE | {"radius": 0.4}},
        "missing.npz: No such file": {"modes": {"file": "missing.npz"}},
        "must end in .npz, .op2 or .frd": {"modes": {"file": "body.mat"}},
        "geometry does not go with an .npz": {"modes": {"file": "a.npz", "geometry": "b"}},
        "an .op2 file needs geometry = '….bdf'": {"modes": {"file": "a.op2"}},
        "the tip of leg 3 in": {"modes": {"file": "moved.npz"}},
        "has 5 tips, the robot has 6 legs": {"modes": {"file": "five.npz"}},
    }.items():
        with pytest.raises(FileError) as caught:
            robot_with(platform, tmp_path)
        assert message in str(caught.value)


# ---- meshed sources ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_solid_elements(name):
    family = FAMILIES[name]
    assert_allclose(family.values(family.nodes), np.eye(len(family.nodes)), atol=1e-12)
    rng = np.random.default_rng(0)
    places = rng.uniform(0, 0.3, (5, 3))
    assert_allclose(family.values(places).sum(axis=1), 1, rtol=1e-12)
    step = 1e-6 * np.eye(3)
    slopes = [(family.values(places + d) - family.values(places - d)) / 2e-6 for d in step]
    assert_allclose(family.slopes(places), np.stack(slopes, -1), atol=1e-8)
    # a linear map of the element: volume, moments and curl are known
    turn = rng.normal(size=(3, 3))
    nodes = family.nodes @ turn.T
    solid = Solid(family, np.arange(len(nodes))[np.newaxis], np.array([2.0]))
    spin = np.array([0.3, -0.2, 0.5])
    field = (np.cross(spin, nodes) + np.arange(1, 4))[..., np.newaxis]
    where, masses, there = mass_points(solid, nodes, field)
    volume = {8: 8.0, 6: 1.0, 4: 1 / 6}[len(family.corners)]
    assert_allclose(masses.sum(), 2 * volume * abs(np.linalg.det(turn)), rtol=1e-12)
    center = family.corners.mean(axis=0) @ turn.T
    assert_allclose(masses @ where / masses.sum(), center, atol=1e-12)
    assert_allclose(there[..., 0], np.cross(spin, where) + np.arange(1, 4), atol=1e-12)
    assert_allclose(nodal_rotations([solid], nodes, field, np.arange(2))[..., 0], [spin, spin])
    assert len(skin([solid])) == {8: 6, 6: 5, 4: 4}[len(family.corners)]


def brick_deck(path, cuts: int, modes: int) -> None:
    """Long's plate for CalculiX: three rhombi of C3D8I bricks."""
    numbers: dict[tuple[float, float, float], int] = {}
    elements = []

    def node(x: float, y: float, z: float) -> int:
        key = round(x, 9), round(y, 9), round(z, 9)
        return numbers.setdefault(key, len(numbers) + 1)

    for r in range(3):
        u, v = HEXAGON[2 * r] / cuts, HEXAGON[(2 * r + 2) % 6] / cuts
        for i, j in np.ndindex(cuts, cuts):
            corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            elements.append(
                [node(*(a * u + b * v), z) for z in (-0.0075, 0.0075) for a, b in corners]
            )
    lines = ["** a hexagon", "*Node, NSET=NALL"]
    lines += [f"{i}, {x:.12g}, {y:.12g}, {z:.12g}" for (x, y, z), i in numbers.items()]
    lines.append("*ELEMENT, TYPE=C3D8I, ELSET=PLATE")
    lines += [f"{i}, " + ", ".join(map(str, e)) for i, e in enumerate(elements, 1)]
    lines += ["*MATERIAL, NAME=M", "*ELASTIC", "2e10, 0.3", "*DENSITY", "7500"]
    lines += ["*SOLID SECTION, ELSET=PLATE, MATERIAL=M"]
    lines += ["*STEP", "*FREQUENCY", str(modes), "*NODE FILE", "U", "*END STEP"]
    path.write_text("\n".join(lines) + "\n")


def run_calculix(folder, name: str) -> None:
    if shutil.which("ccx") is None:
        pytest.skip("CalculiX is not installed here (Debian: calculix-ccx)")
    subprocess.run(["ccx", name], cwd=folder, check=True, capture_output=True, timeout=120)


@pytest.fixture(scope="module")
def calculix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calculix")
    load_paper("long-khalil-martinet-2014").plate.calculix_deck(folder / "plate.inp", 4, 16)
    run_calculix(folder, "plate")
    return folder


def test_calculix_agrees_with_our_plate(calculix, long_plate):
    wanted = Selection(TIPS, None, 10, 0.4)
    body = read_calculix(calculix / "plate.frd", calculix / "plate.inp", wanted)
    assert np.abs(body.frequencies[:7] / long_plate.frequencies[:7] - 1).max() < 0.011
    assert_allclose(body.mass, long_plate.mass, rtol=1e-5)
    assert_allclose(body.modal_mass, np.eye(10), atol=1e-9)
    assert body.report.rigid_content.max() < 1e-9
    assert_array_equal(body.tip_positions, TIPS)
    for k in (2, 3):  # single modes: the same shapes up to their sign
        ours, theirs = long_plate.tip_shapes[:, 2, k], body.tip_shapes[:, 2, k]
        sign = np.sign(ours @ theirs)
        assert_allclose(sign * theirs, ours, atol=0.02 * np.abs(ours).max())
        turns = long_plate.tip_rotations[..., k]
        off = np.abs(sign * body.tip_rotations[..., k] - turns).max()
        assert off < 0.06 * np.abs(turns).max()
    pair = [np.sum(one.tip_shapes[:, 2, :2] ** 2, axis=1) for one in (body, long_plate)]
    assert_allclose(*pair, rtol=0.05)  # of a pair of equal frequency the sum of squares
    platform = {"file": "plate.frd", "geometry": "plate.inp", "modes": 4, "damping_ratio": 0.1}
    robot = robot_with({"modes": platform}, calculix)
    assert_allclose(robot.description.modal.frequencies, body.frequencies[:4], rtol=1e-12)


def test_calculix_solids(tmp_path, long_plate):
    brick_deck(tmp_path / "solid.inp", 8, 10)
    run_calculix(tmp_path, "solid")
    tips = TIPS - [0, 0, 0.0075]
    wanted = Selection(tips, None, None, 0.0)
    body = read_calculix(tmp_path / "solid.frd", tmp_path / "solid.inp", wanted)
    assert body.modes == 4
    assert_allclose(body.frequencies, long_plate.frequencies[:4], rtol=0.03)
    assert_allclose(body.mass, long_plate.mass, rtol=1e-5)


def test_bad_calculix_files_are_refused(calculix, tmp_path):
    frd, inp = calculix / "plate.frd", calculix / "plate.inp"
    wanted = Selection(TIPS, None, 4, 0.0)
    text = frd.read_text()
    bad = tmp_path / "bad.frd"
    for part in (0, 0.001, 0.01, 0.05, 0.1, 0.3, 0.5, 0.77, 0.95):
        bad.write_text(text[: int(part * len(text))])
        with pytest.raises(FileError, match=r"bad\.frd: "):
            read_calculix(bad, inp, wanted)
    for old, new, message in (
        ("E-01", "X-01", "is no number"),
        ("    2C ", "    7C ", "no nodes"),
        ("MODAL", "OTHER", "no modes"),
        (" DISP ", " TEMP ", "no modes"),
        (" 9999", "", "truncated"),
    ):
        bad.write_text(text.replace(old, new))
        with pytest.raises(FileError, match=r"bad\.frd: ") as caught:
            read_calculix(bad, inp, wanted)
        assert message in str(caught.value)
    bad.write_bytes(bytes(range(256)) * 40)
    with pytest.raises(FileError, match=r"bad\.frd: not an ASCII"):
        read_calculix(bad, inp, wanted)
    for message, tips, nodes, modes in (
        ("tip of leg 2 is not on the mesh: node", TIPS * [[1], [1.02], *[[1]] * 4], None, 4),
        ("leg 1: no node 99999", TIPS, [99999] * 6, 4),
        ("tips names 2 nodes, there are 6 legs", TIPS, [1, 2], 4),
        ("40 modes wanted", TIPS, None, 40),
    ):
        with pytest.raises(FileError) as caught:
            read_calculix(frd, inp, Selection(tips, nodes, modes, 0.0))
        assert message in str(caught.value)
    deck = inp.read_text()
    for old, new, message in (
        ("*DENSITY\n7500\n", "", "has no *DENSITY"),
        ("ELSET=PLATE, MATERIAL", "ELSET=PLATO, MATERIAL", "no element set PLATO"),
        ("TYPE=S8R", "TYPE=B31", "type B31 are not read"),
        ("7500", "heavy", "is no number"),
        ("*Node", "*INCLUDE, INPUT=x\n*Node", "*INCLUDE is not followed"),
    ):
        (tmp_path / "bad.inp").write_text(deck.replace(old, new))
        with pytest.raises(FileError, match=r"bad\.inp: ") as caught:
            read_calculix(frd, tmp_path / "bad.inp", wanted)
        assert message in str(caught.value)


@pytest.fixture(scope="module")
def nastran(tmp_path_factory):
    """A square plate of ours, as Nastran would write it: rigid-body modes first."""
    pytest.importorskip("pyNastran", reason="pyNastran is not installed here")
    folder = tmp_path_factory.mktemp("nastran")
    material = Material(0.01, 2700.0, 7e10, 0.3)
    count = 17
    line = np.linspace(-0.3, 0.3, count)
    points = np.array([[x, y, 0.0] for x in line for y in line])
    quads = [
        [i * count + j, (i + 1) * count + j, (i + 1) * count + j + 1, i * count + j + 1]
        for i in range(count - 1)
        for j in range(count - 1)
    ]
    square = np.array([[-0.3, -0.3], [0.3, -0.3], [0.3, 0.3], [-0.3, 0.3]])
    body = plate_body(square, material, points, 5, refinements=1)
    elastic = np.concatenate([body.tip_shapes, body.tip_rotations], axis=1).transpose(2, 0, 1)
    motions = np.zeros((3, len(points), 6))
    motions[0, :, 2] = 1
    motions[1, :, 2], motions[1, :, 3] = points[:, 1], 1
    motions[2, :, 2], motions[2, :, 4] = -points[:, 0], 1
    squares = np.concatenate([[1e-4] * 3, np.diagonal(body.stiffness)])
    write_bdf(folder / "plate.bdf", points, quads, material)
    write_op2(folder / "plate.op2", np.concatenate([motions, elastic]), squares)
    write_bdf(folder / "lump.bdf", points, quads, material, "CONM2,9001,1,,2.5,.01,.02,.03")
    return folder, body, [0, 16, 272]


def test_nastran(nastran):
    folder, plate, corners = nastran
    wanted = Selection(plate.tip_positions[corners], None, None, 0.02)
    body = read_nastran(folder / "plate.op2", folder / "plate.bdf", wanted)
    assert body.modes == 5
    assert_allclose(body.frequencies, plate.frequencies, rtol=1e-6)
    assert_allclose(np.diagonal(body.damping), 0.04 * omega(body), rtol=1e-9)
    assert_allclose(body.mass, plate.mass, rtol=1e-6)
    for key in ("tip_shapes", "tip_rotations"):  # masses are lumped: a per cent
        theirs, ours = getattr(body, key), getattr(plate, key)[corners]
        assert np.abs(theirs - ours).max() < 0.03 * np.abs(ours).max()
    assert_allclose(body.origin_shapes, plate.tip_shapes[144], atol=0.02)
    by_number = wanted._replace(tip_nodes=[corner + 1 for corner in corners])
    again = read_nastran(folder / "plate.op2", folder / "plate.bdf", by_number)
    assert_array_equal(again.tip_shapes, body.tip_shapes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModalBodyWarning)  # the lump is not in the modes
        lumped = read_nastran(folder / "plate.op2", folder / "lump.bdf", wanted)
    assert_allclose(lumped.mass, body.mass + 2.5, rtol=1e-6)
    moment = 2.5 * (plate.tip_positions[0] + [0.01, 0.02, 0.03])
    assert_allclose(lumped.first_moment, moment, atol=1e-6)


def test_bad_nastran_files_are_refused(nastran, tmp_path, capfd):
    folder, plate, corners = nastran
    op2, bdf = folder / "plate.op2", folder / "plate.bdf"
    wanted = Selection(plate.tip_positions[corners], None, 4, 0.0)
    data, text = op2.read_bytes(), bdf.read_text()
    for cut in (0, 3, 10, 100, 500, 2000, len(data) // 2, len(data) - 10):
        (tmp_path / "bad.op2").write_bytes(data[:cut])
        with pytest.raises(FileError, match=r"bad\.op2: "):
            read_nastran(tmp_path / "bad.op2", bdf, wanted)
    for junk in ("", text[:50], text[:900], text.replace("PSHELL", "PSHELF"), "\x00" * 500):
        (tmp_path / "bad.bdf").write_text(junk)
        with pytest.raises(FileError, match=r"bad\.bdf: "):
            read_nastran(op2, tmp_path / "bad.bdf", wanted)
    with pytest.raises(FileError, match=r"no\.op2: no such file"):
        read_nastran(tmp_path / "no.op2", bdf, wanted)
    with pytest.raises(FileError, match="tip of leg 1 is not on the mesh: node 1 is"):
        read_nastran(op2, bdf, wanted._replace(tips=wanted.tips + 0.01))
    assert capfd.readouterr() == ("", "")


# ---- the command line --------------------------------------------------------------------------


def gough_modes(monkeypatch, capsys, *arguments) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["gough", "modes", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return (stop.value.code or 0, *capsys.readouterr())


def test_gough_modes(tmp_path, monkeypatch, capsys):
    robot = robot_with({"plate": PLATE | {"damping_ratio": 0.1}})
    robot.save(tmp_path / "robot.toml")
    picture = tmp_path / "modes.png"
    code, text, _ = gough_modes(monkeypatch, capsys, tmp_path / "robot.toml", "-o", picture)
    assert code == 0
    assert "30.126" in text
    assert picture.stat().st_size > 20_000
    code, text, _ = gough_modes(monkeypatch, capsys, tmp_path / "robot.toml", "--json")
    numbers = json.loads(text)
    assert_array_equal(numbers["frequencies"], robot.description.modal.frequencies)
    assert [row["mode"] for row in numbers["modes"]] == [1, 2, 3, 4]
    assert_allclose([row["damping_ratio"] for row in numbers["modes"]], 0.1)
    code, _, text = gough_modes(monkeypatch, capsys, "kim-ryu-2002")
    assert (code, text.count("\n")) == (2, 1)
    assert "rigid platform" in text


@ignore_coupling
@pytest.mark.parametrize("modes", [1, 7])
def test_pictures_of_bodies_without_faces(tmp_path, modes):
    plots.save(mode_sheet(ModalBody(**arrays(modes=modes)), "arm"), tmp_path / "modes.svg")
    assert (tmp_path / "modes.svg").stat().st_size > 10_000
    with pytest.raises(GoughError, match="no modes"):
        mode_sheet(ModalBody(**arrays(modes=0)), "arm")
