"""Meshes of other programs: solids, CalculiX and Nastran agree with our plate."""

import shutil
import subprocess
import warnings
from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cases.errors import refusal
from cases.plates import HEXAGON, TIPS, omega, robot_with
from gough.description.modal.calculix import read_calculix
from gough.description.modal.elements import FAMILIES, Solid, mass_points, nodal_rotations, skin
from gough.description.modal.meshed import Selection
from gough.description.modal.nastran import read_nastran
from gough.description.modal.plate import Material, plate_body
from gough.errors import FileError, ModalBodyWarning
from gough.show.reproduction import load_paper
from nastran_files import write_bdf, write_op2


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
    import_module(f"{load_paper('peers').__name__}.plate").deck(folder / "plate.inp", 4, 16)
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
        with refusal(FileError, "bad.frd"):
            read_calculix(bad, inp, wanted)
    for old, new, message in (
        ("E-01", "X-01", "is no number"),
        ("    2C ", "    7C ", "no nodes"),
        ("MODAL", "OTHER", "no modes"),
        (" DISP ", " TEMP ", "no modes"),
        (" 9999", "", "truncated"),
    ):
        bad.write_text(text.replace(old, new))
        with refusal(FileError, "bad.frd") as caught:
            read_calculix(bad, inp, wanted)
        assert message in str(caught.value)
    bad.write_bytes(bytes(range(256)) * 40)
    with refusal(FileError, "bad.frd", "ASCII"):
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
        with refusal(FileError, "bad.inp") as caught:
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
        with refusal(FileError, "bad.op2"):
            read_nastran(tmp_path / "bad.op2", bdf, wanted)
    for junk in ("", text[:50], text[:900], text.replace("PSHELL", "PSHELF"), "\x00" * 500):
        (tmp_path / "bad.bdf").write_text(junk)
        with refusal(FileError, "bad.bdf"):
            read_nastran(op2, tmp_path / "bad.bdf", wanted)
    with refusal(FileError, "no.op2"):
        read_nastran(tmp_path / "no.op2", bdf, wanted)
    with refusal(FileError, "leg 1", 1):
        read_nastran(op2, bdf, wanted._replace(tips=wanted.tips + 0.01))
    assert capfd.readouterr() == ("", "")
