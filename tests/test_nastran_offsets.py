"""Where Nastran's masses are: CONM2 in the basic system, bars and shells beside their grid points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gough.description.modal.meshed import Selection
from gough.description.modal.nastran import read_nastran
from gough.description.modal.plate import Material
from gough.errors import FileError
from nastran_files import write_bdf, write_op2

pytest.importorskip("pyNastran", reason="pyNastran is not installed here")
pytestmark = pytest.mark.filterwarnings("ignore::gough.errors.ModalBodyWarning")
THIN = Material(0.01, 2700.0, 7e10, 0.3)
LINE = np.linspace(-0.3, 0.3, 5)
POINTS = np.array([[x, y, 0.0] for x in LINE for y in LINE])
QUADS = [[5 * i + j, 5 * i + j + 5, 5 * i + j + 6, 5 * i + j + 1]
         for i in range(4) for j in range(4)]  # fmt: skip
PLATE_MASS = 2700.0 * 0.01 * 0.36


def fields():
    """Two bending fields with their rotations, (modes, n, 6)."""
    x, y, z = POINTS.T
    found = []
    for w, wx, wy in ((x * y, y, x), (x**2 - y**2, 2 * x, -2 * y)):
        found.append(np.stack([z, z, w, wy, -wx, z], axis=1))
    return np.stack(found)


def read(folder, extra="", change=None):
    write_bdf(folder / "plate.bdf", POINTS, QUADS, THIN, extra)
    if change is not None:
        text = (folder / "plate.bdf").read_text()
        (folder / "plate.bdf").write_text(change(text))
    write_op2(folder / "plate.op2", fields(), np.array([1e4, 4e4]))
    wanted = Selection(POINTS[[0, 4, 20]], None, None, 0.0)
    return read_nastran(folder / "plate.op2", folder / "plate.bdf", wanted)


def moments(body, mass, place):
    """First moment and modal content of a mass at a place that is bolted to the node below it."""
    assert_allclose(body.mass, PLATE_MASS + mass, rtol=1e-6)
    assert_allclose(body.first_moment, mass * np.asarray(place), atol=1e-6)


def test_conm2_in_the_basic_system(tmp_path):
    body = read(tmp_path, "CONM2,9001,25,-1,2.5,.31,.28,.05")  # grid 25 is at (0.3, 0.3, 0)
    moments(body, 2.5, [0.31, 0.28, 0.05])
    offset = read(tmp_path, "CONM2,9001,25,,2.5,.01,-.02,.05")
    assert_allclose(body.positions, offset.positions, atol=1e-12)
    assert_allclose(body.modal_mass, offset.modal_mass, rtol=1e-9)


def test_bars_beside_their_grid_points(tmp_path):
    bar = (
        "PBAR,7,1,1e-3,1e-8,1e-8,1e-8\n"
        "CBAR,9001,7,1,21,0.,0.,1.,GGG\n"
        ",,,0.,0.,.06,0.,0.,.06"
    )  # from (-0.3, -0.3) to (0.3, -0.3), 60 mm above
    body = read(tmp_path, bar)
    mass = 2700.0 * 1e-3 * 0.6
    moments(body, mass, [0, -0.3, 0.06])
    at_ends = body.positions[np.abs(body.positions[:, 2] - 0.06) < 1e-9]
    assert_allclose(np.sort(at_ends[:, 0]), [-0.3, 0.3])
    tilted = bar.replace("0.,0.,.06,0.,0.,.06", "0.,0.,.06,.2,0.,.06")
    assert_allclose(read(tmp_path, tilted).mass, PLATE_MASS + mass * 0.8 / 0.6, rtol=1e-6)
    with pytest.raises(FileError, match="CBAR 9001: offsets by OFFT = GOO are not read"):
        read(tmp_path, bar.replace("GGG", "GOO"))


def test_shells_beside_their_grid_points(tmp_path):
    def raised(text):
        lines = text.splitlines()
        return "\n".join(
            f"{line}{'':8}{0.04:8.3f}" if line.startswith("CQUAD4") else line for line in lines
        )

    body = read(tmp_path, change=raised)
    assert_allclose(body.mass, PLATE_MASS, rtol=1e-6)
    assert_allclose(body.first_moment, [0, 0, 0.04 * PLATE_MASS], atol=1e-7)
    # material above the grid moves in the plane, too: −z w_x, −z w_y
    flat, _ = fields()[0][:, 2], None
    heavy = body.masses > 0
    ratio = np.linalg.norm(body.shapes[heavy, 0, 0]) / np.linalg.norm(body.shapes[heavy, 2, 0])
    share = np.full(25, 4.0)
    edge = np.abs(POINTS[:, :2]).max(axis=1) > 0.29
    corner = np.abs(POINTS[:, :2]).min(axis=1) > 0.29
    share[edge], share[corner] = 2.0, 1.0
    copies = np.repeat(np.arange(25), share.astype(int))
    y = POINTS[copies, 1]
    assert_allclose(ratio, 0.04 * np.linalg.norm(y) / np.linalg.norm(flat[copies]), rtol=1e-5)
